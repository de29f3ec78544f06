"""Denials without an error, where the user says what is missing.

Source: host 5.4.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from policyd.syntax.denials.reading import NO_FACTS, Denial, Surface
from policyd.syntax.denials.shapes import SHAPES

MAX_WORDS = 1_000
"""Characters of the user's words that are read."""

_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("A-01", re.compile(r"\b(?:env|environment|variable|getenv|process\.env|notpresent)\b")),
    ("A-02", re.compile(r"\b(?:config|configuration|setting|settings)\b")),
    (
        "A-05",
        re.compile(
            r"\b(?:does not exist|doesn't exist|no such file|exists|existence|enoent|missing file|file is missing)\b"
        ),
    ),
    ("A-04", re.compile(r"\b(?:empty (?:stream|file|read|directory|folder)|stream is empty|reads nothing|no bytes)\b")),
    (
        "A-08",
        re.compile(
            r"\bagent[ -]?types?\b.*\b(?:404|not found|missing)\b|\b(?:404|not found)\b.*\bagent[ -]?type\b"
            r"|resource_not_found"
        ),
    ),
    (
        "A-06",
        re.compile(
            r"\b(?:empty|fewer|shorter|incomplete|missing|no)\b[\w ]{0,40}"
            r"\b(?:list|listing|entries|entry|items|results|result)\b"
            r"|\b(?:list|listing) is empty\b|^\s*(?:empty|\[\]|nothing)\s*$"
        ),
    ),
    ("A-07", re.compile(r"\b404\b|\bnot[ _]found\b")),
    ("E-43", re.compile(r"\b409\b|domain_not_registered")),
    ("A-03", re.compile(r"\b(?:none|undefined|null|nothing|nil)\b")),
    ("E-31", re.compile(r"\b401\b")),
)
_NAME = re.compile(r"\b[A-Z][A-Z0-9_]{2,80}\b")
_NOT_NAMES = frozenset({"HTTP", "REST", "CLI", "API", "JSON", "NONE", "NULL", "URL"})


def absence_denials(words: str | None, paste: str, found: tuple[Denial, ...]) -> tuple[Denial, ...]:
    """The absence that the user's words describe, unless the paste itself already told it.

    Args:
        words: what the user says is missing; None if nothing was said.
        paste: the paste, whose length is the place of the answer when it is empty.
        found: what the paste told.
    """
    if words is None:
        return ()
    low = " ".join(words[:MAX_WORDS].lower().split())
    shape = next((id for id, pattern in _WORDS if pattern.search(low)), "")
    if not shape or any(shape in denial.shapes or denial.kind == SHAPES[shape].kind for denial in found):
        return ()
    row = SHAPES[shape]
    names = [n for n in _NAME.findall(words[:MAX_WORDS]) if n not in _NOT_NAMES and not n.endswith("_NOT_FOUND")]
    facts = MappingProxyType({"variable": names[0]}) if shape == "A-01" and names else NO_FACTS
    return (
        Denial(
            shape=shape,
            surfaces=(Surface.ABSENCE,),
            kind=row.kind,
            operations=row.operations,
            end=0,
            facts=facts,
            is_denial=not row.not_policy,
            not_policy=row.not_policy,
            remark=row.remark,
            shapes=(shape,),
        ),
    )
