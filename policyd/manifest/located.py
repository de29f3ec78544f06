"""A document as a tree that keeps the source text and the place of every element.

Source: manifest-format 0.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from policyd.findings import Span
from policyd.manifest.source import Source

Steps: TypeAlias = "tuple[Steps, str | int] | None"
"""A place in the document as a chain of keys and indexes, the last one first; None is the root."""

MAX_SHOWN = 60
"""Longer texts are cut in messages."""

MAX_TEXT = 1_000
"""So much of an element is kept to know it by."""

MAX_KEY_IN_PATH = 80
"""Longer keys are cut in paths."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""Plain texts that stand for nothing where a value is optional."""

NULL_TAG = "tag:yaml.org,2002:null"

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


def shown(text: str) -> str:
    r"""A text of the user as messages carry it: one line, printable, not too long.

    >>> shown("a" * 70)[-3:], shown("x\ny")
    ('aa…', 'x\\ny')
    """
    cut = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
    return (
        cut
        if cut.isprintable()
        else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
    )


def path_of(steps: Steps) -> str:
    """The place as text.

    >>> path_of(((None, "components"), "shop:cart"))
    '$.components["shop:cart"]'
    """
    parts: list[str] = []
    while steps is not None:
        steps, step = steps
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.match(step) and len(step) <= MAX_KEY_IN_PATH:
            parts.append(f".{step}")
        else:
            cut = step if len(step) <= MAX_KEY_IN_PATH else step[:MAX_KEY_IN_PATH] + "…"
            parts.append(f"[{json.dumps(cut, ensure_ascii=False)}]")
    return "$" + "".join(reversed(parts))


@dataclass(frozen=True, slots=True, eq=False)
class LocatedScalar:
    """One scalar as it was written.

    Attributes:
        text: the decoded text; what it means depends on the type that is wanted.
        style: empty for a plain scalar, else `'`, `"`, `|` or `>`.
        tag: the resolved tag, None where there is none (or only `!`).
        source: where it stands.
        start: offset of its first character, tag and anchor included.
        end: offset behind its last character.
        steps: its place in the document.
    """

    text: str
    style: str
    tag: str | None
    source: Source
    start: int
    end: int
    steps: Steps

    @property
    def is_plain(self) -> bool:
        """Whether it is neither quoted nor a block."""
        return not self.style

    @property
    def is_absent(self) -> bool:
        """Whether it counts as nothing where a value is optional."""
        return not self.style and self.text in NULLS and (self.tag is None or self.tag == NULL_TAG)

    @property
    def path(self) -> str:
        """Its place in the document."""
        return path_of(self.steps)

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self._placed(self.start, self.end)

    def _placed(self, start: int, end: int) -> Span:
        span = self.source.span(start, end, self.path)
        is_element = self.steps is not None and isinstance(self.steps[1], int)
        return replace(span, text=self.text[:MAX_TEXT]) if is_element and ".initialCard." in span.path else span

    def span_of(self, start: int, end: int) -> Span:
        """The place of the characters `start` to `end` of its text.

        Exact where the text stands unchanged on one line, also within quotes; else the whole scalar.
        """
        first = self.text_start
        if first is None:
            return self.span
        start = min(max(start, 0), len(self.text))
        return self._placed(first + start, first + min(max(end, start), len(self.text)))

    @property
    def text_start(self) -> int | None:
        """Offset of the first character of the text in the source, where the source shows it unchanged."""
        shown = self.text.rstrip("\n") if self.style in ("|", ">") else self.text
        if self.style in ("|", ">"):
            if "\n" in shown:
                return None
            line_end = self.source.text.find("\n", self.start)
            found = self.source.text.find(shown, max(line_end, self.start), self.end) if shown and line_end > 0 else -1
            return found if found >= 0 else None
        close = 1 if self.style else 0
        first = self.end - close - len(shown)
        return first if first >= self.start and self.source.text[first : self.end - close] == shown else None


@dataclass(frozen=True, slots=True, eq=False)
class LocatedList:
    """A list with its items in order; `start` and `end` as for a scalar."""

    items: tuple[Located, ...]
    tag: str | None
    source: Source
    start: int
    end: int
    steps: Steps

    @property
    def path(self) -> str:
        """Its place in the document."""
        return path_of(self.steps)

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.source.span(self.start, self.end, self.path)


@dataclass(frozen=True, slots=True, eq=False)
class LocatedMap:
    """A map with all its entries as written, repeated keys too."""

    entries: tuple[tuple[LocatedScalar, Located], ...]
    tag: str | None
    source: Source
    start: int
    end: int
    steps: Steps

    @property
    def path(self) -> str:
        """Its place in the document."""
        return path_of(self.steps)

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.source.span(self.start, self.end, self.path)

    def get(self, key: str) -> Located | None:
        """The value of `key`, the last one where it is repeated, or None."""
        found = None
        for entry_key, value in self.entries:
            if entry_key.text == key:
                found = value
        return found

    def key(self, key: str) -> LocatedScalar | None:
        """The key `key` as it is written, the last one where it is repeated, or None."""
        found = None
        for entry_key, _ in self.entries:
            if entry_key.text == key:
                found = entry_key
        return found

    def last_of_each(self) -> Iterator[tuple[LocatedScalar, Located]]:
        """The entry that counts for each key: the last one, at the place of the first."""
        kept: dict[str, tuple[LocatedScalar, Located]] = {}
        for entry in self.entries:
            kept[entry[0].text] = entry
        return iter(kept.values())


Located: TypeAlias = LocatedScalar | LocatedList | LocatedMap
"""Any element of a document."""
