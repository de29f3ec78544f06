"""Small manifests for the tests of rules: fragments that are completed to whole documents."""

from __future__ import annotations

import json
import re

from policyd.core.cards import Card
from policyd.findings import Report
from policyd.manifest import load_text
from policyd.syntax.cards import CardForm, read_card
from policyd.usecases.audit_manifest import audit_manifest

HEADER = {
    "manifestVersion": "manifestVersion: 1.6.0",
    "app": "app: shop",
    "environments": "environments:\n  prod:\n    server: cloud\n    account: acme@example.com",
    "components": 'components:\n  "shop:cart":\n    dir: cart',
}
"""What a fragment may leave out."""


def completed(fragment: str) -> str:
    """`fragment` with every root key that it leaves out, behind it so that its lines keep their numbers."""
    missing = [text for key, text in HEADER.items() if not re.search(rf"^{key}:", fragment, re.MULTILINE)]
    return "\n".join([fragment.rstrip("\n"), *missing, ""])


def audited(fragment: str, deployer: list[Card] | None = None, **asked: object) -> Report:
    """The report on a completed fragment."""
    return audit_manifest(load_text(completed(fragment)), deployer=deployer, **asked)  # type: ignore[arg-type]


def cards_of(text: str) -> list[Card]:
    """The cards of a JSON list."""
    return [card for value in json.loads(text) if isinstance(card := read_card(value, CardForm.CARD), Card)]
