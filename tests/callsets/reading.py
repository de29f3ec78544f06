"""Reads the cases of tests/cases/callsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from policyd.core.callsets import Below, Everything, below, below_prefix
from policyd.core.cards import Bounds, Card, CardId, Surface, surface_of
from policyd.core.grants import Grant, PermissionClass, Recipient
from policyd.core.grants.resources import Resource
from policyd.syntax import Form, parse_grant, parse_recipient, parse_resource

CASES = Path(__file__).parent.parent / "cases" / "callsets"
ENVIRONMENT, COMPONENT = "ana@lab.io/shop/prod", "ana@lab.io/shop/prod/shop:cart"
HOLDER: Recipient = parse_recipient(f"{COMPONENT}/Cart")


def filled(text: str) -> str:
    return text.replace("⟨E⟩", ENVIRONMENT).replace("⟨C⟩", COMPONENT).replace("⟨H⟩", f"{COMPONENT}/Cart")


def cases(name: str) -> list[Any]:
    return list(YAML(typ="safe").load((CASES / f"{name}.yaml").read_text("utf-8")))


def titles(name: str) -> list[str]:
    return [case["title"] for case in cases(name)]


def grant(text: str) -> Grant:
    return parse_grant(filled(text), Form.CONCRETE)


def card(lists: Mapping[str, Sequence[str]], number: int = 0) -> Card:
    bounds = Bounds(*(tuple(grant(text) for text in lists.get(name, ())) for name in ("l+", "l-", "u+", "u-")))
    return Card(CardId(str(number)), bounds)


def cards(wallet: Sequence[Mapping[str, Sequence[str]]]) -> list[Card]:
    return [card(lists, number) for number, lists in enumerate(wallet)]


def surface(wallet: Sequence[Mapping[str, Sequence[str]]], holder: Recipient = HOLDER) -> Surface:
    return surface_of(cards(wallet), holder)


def asked(text: str, cls: PermissionClass, verb: str) -> Resource | Below | Everything:
    if text == "any":
        return Everything()
    if text.startswith("under("):
        inner = text[6:-1]
        return below_prefix(cls.resource, inner) or below(parse_resource(inner, cls, verb))
    return parse_resource(text, cls, verb)
