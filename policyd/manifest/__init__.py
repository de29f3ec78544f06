"""The manifest loader: `golem.yaml` files to an application with the place of every element."""

from policyd.manifest.application import describe
from policyd.manifest.codes import CODES
from policyd.manifest.load import Document, LoadedManifest, load_manifest, load_text, load_texts, mask_line
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar
from policyd.manifest.model import Application, Card, Environment, InitialFile, Layer, Layered, LayerKind
from policyd.manifest.resolve import (
    EffectiveCard,
    IneffectiveCard,
    ResolvedAgent,
    ResolvedEnvironment,
    resolve_environment,
)
from policyd.manifest.scalars import json_of

__all__ = [
    "CODES",
    "Application",
    "Card",
    "Document",
    "EffectiveCard",
    "Environment",
    "IneffectiveCard",
    "InitialFile",
    "Layer",
    "LayerKind",
    "Layered",
    "LoadedManifest",
    "Located",
    "LocatedList",
    "LocatedMap",
    "LocatedScalar",
    "ResolvedAgent",
    "ResolvedEnvironment",
    "describe",
    "json_of",
    "load_manifest",
    "load_text",
    "load_texts",
    "mask_line",
    "resolve_environment",
]
