"""Source lines with a caret under the part that is meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from policyd.findings import Span

Lines = Callable[[str, int], str | None]
"""Gives line `number` (from 1) of a source as it may be shown, values masked, or None where it is not at hand."""

MAX_WIDTH = 160
"""Longer lines are cut around the part that is meant."""


def no_lines(source: str, number: int) -> str | None:
    """For when no source is at hand."""
    return None


def _visible(text: str) -> str:
    """Tabs as one space, and control, bidi and other invisible characters as a mark, so nothing hides."""
    return "".join(" " if c == "\t" else c if c.isprintable() else "·" for c in text)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def snippet(span: Span, lines: Lines) -> list[str]:
    """The line of `span` with carets below it; empty where the source is not at hand."""
    if not span.line:
        return []
    text = lines(span.source, span.line)
    if text is None:
        return []
    start = min(max(span.column - 1, 0), len(text))
    end = min(start + max(span.end - span.start, 1), len(text))
    cut = max(0, min(start - 40, len(text) - MAX_WIDTH)) if len(text) > MAX_WIDTH else 0
    shown = text[cut : cut + MAX_WIDTH]
    lead = "…" if cut else ""
    tail = "…" if cut + MAX_WIDTH < len(text) else ""
    gutter = str(span.line)
    pad = " " * len(gutter)
    before = _width(_visible(text[cut:start])) + len(lead)
    carets = "^" * max(1, _width(_visible(text[start : min(end, cut + MAX_WIDTH)])))
    return [
        f"{pad} |",
        f"{gutter} | {lead}{_visible(shown)}{tail}".rstrip(),
        f"{pad} | {' ' * before}{carets}",
    ]
