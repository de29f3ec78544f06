"""Interchange documents of the cases, and deciding them."""

from __future__ import annotations

import json
from typing import Any

from policyd.core.edition import NEXT, Rules
from policyd.core.tools.profile import Profile
from policyd.usecases.chain_check import ChainReport, check_chains
from policyd.usecases.chain_sources import ChainSources, interchange_sources
from policyd.usecases.tool_documents import document_of

WORDS = {"A": "accept", "A!": "accept with warnings", "R": "reject", "U": "undecided"}


def sources(value: dict[str, Any], rules: Rules = NEXT, profile: Profile | None = None) -> ChainSources:
    """What a document, given as a value, stands for."""
    text = json.dumps({"policyd": 1, **value}, ensure_ascii=False)
    return interchange_sources(document_of("chain.yaml", text), rules, profile or Profile.of(rules))


def checked(value: dict[str, Any], rules: Rules = NEXT, profile: Profile | None = None, **asked: Any) -> ChainReport:
    """The report on a document."""
    return check_chains(sources(value, rules, profile), **asked)


def middleware(layer: str) -> dict[str, Any]:
    """A layer as the cases write it: `U`, or what it presents and expects."""
    if layer == "U":
        return {"scope": "universal", "version": "1.0.0"}
    presented, expected = layer.split()
    return {"presents": presented, "expects": None if expected == "?" else expected, "version": "1.0.0"}
