"""The families of codes, and the promise that goes with each."""

from __future__ import annotations

FAMILIES: dict[str, str] = {
    "GRANT": "reading grants, targets and their parts",
    "CARD": "cards, attenuation, initial cards and deploy",
    "ADMIT": "why a call is not admitted",
    "HOST": "lints on host operations",
    "RETRY": "retry policies, predicates and sagas",
    "SCHEMA": "schemas, pairs of types, regular expressions and URLs",
    "CHAIN": "tools, middleware chains and the caller's edge",
    "MANIF": "reading the manifest",
    "SOLVE": "solver effort, undecided questions and defects of policyd",
    "STORE": "the database, imports, the service and its tokens",
    "TEST": "policy tests",
}
"""Family prefix to what it is about. Codes are a family and three digits, never renumbered, never reused."""


def is_code(text: str) -> bool:
    """Whether `text` has the form of a code of a known family.

    >>> is_code("CARD001"), is_code("CARD1")
    (True, False)
    """
    return text[:-3] in FAMILIES and text[-3:].isascii() and text[-3:].isdigit()
