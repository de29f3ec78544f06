"""Bytes of a document to text with places; nothing in it is ever executed or constructed.

Source: manifest-format 0.1.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from policyd.findings import Finding, Severity, Span
from policyd.manifest import codes

MAX_DOCUMENT_BYTES = 32 * 1024 * 1024
"""Larger files are refused unread."""

MAX_INVISIBLE_FINDINGS = 20
"""At most so many invisible characters of one document are told one by one."""

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INVISIBLE = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One document as text.

    Attributes:
        name: as the user named it; the source of every span.
        text: decoded, without a leading byte order mark.
        line_starts: offset of the first character of each line; lines end at line feeds.
    """

    name: str
    text: str = field(repr=False)
    line_starts: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, name: str, text: str) -> Source:
        """The source of `text`."""
        starts = [0]
        position = text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = text.find("\n", position + 1)
        return cls(name, text, tuple(starts))

    def span(self, start: int, end: int, path: str = "") -> Span:
        """The place of the characters `start` to `end`, cut to the text."""
        start = min(max(start, 0), len(self.text))
        line = bisect_right(self.line_starts, start)
        return Span(self.name, line, start - self.line_starts[line - 1] + 1, start, max(start, end), path)

    def line(self, number: int) -> str:
        """Line `number` (1-based) without its line end; empty outside the text."""
        if not 0 < number <= len(self.line_starts):
            return ""
        start, end = self.line_bounds(number)
        return self.text[start:end]

    def line_bounds(self, number: int) -> tuple[int, int]:
        """Offsets of line `number` without its line end; the line must exist."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] - 1 if number < len(self.line_starts) else len(self.text)
        if end > start and self.text[end - 1] == "\r":
            end -= 1
        return start, end


def decode(name: str, data: bytes | str) -> tuple[Source, bool, tuple[Finding, ...]]:
    """The text of a document, whether it can be read as YAML, and what is odd about its characters.

    A document that is too large or no UTF-8 has an empty text.

    Source: manifest-format 0.1.
    """
    if isinstance(data, str):
        text, findings = data, ()
        if len(data) > MAX_DOCUMENT_BYTES:
            return _too_large(name)
    else:
        if len(data) > MAX_DOCUMENT_BYTES:
            return _too_large(name)
        try:
            text, findings = data.decode("utf-8"), ()
        except UnicodeDecodeError as error:
            return Source.of(name, ""), False, (_not_utf8(name, data, error.start),)
    source = Source.of(name, text.removeprefix("\ufeff"))
    forbidden = _FORBIDDEN.search(source.text)
    if forbidden:
        shown = f"U+{ord(forbidden.group()):04X}"
        finding = Finding(
            codes.CONTROL_CHARACTER,
            Severity.ERROR,
            f"the control character {shown} is not allowed in YAML",
            source.span(forbidden.start(), forbidden.end()),
            "remove it, or write it as an escape in a double-quoted text",
        )
        return source, False, (*findings, finding)
    return source, True, _invisible(source)


def _too_large(name: str) -> tuple[Source, bool, tuple[Finding, ...]]:
    message = f"the document is larger than {MAX_DOCUMENT_BYTES} bytes"
    return Source.of(name, ""), False, (Finding(codes.TOO_LARGE, Severity.ERROR, message, Span(name, 1, 1)),)


def _not_utf8(name: str, data: bytes, position: int) -> Finding:
    before = data[:position].decode("utf-8", "replace").removeprefix("\ufeff")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    help_text = "save the file as UTF-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        help_text = "this looks like UTF-16; save the file as UTF-8"
    return Finding(
        codes.NOT_UTF8,
        Severity.ERROR,
        f"byte 0x{data[position]:02x} is not UTF-8",
        Span(name, line, column, len(before), len(before) + 1),
        help_text,
    )


def _invisible(source: Source) -> tuple[Finding, ...]:
    if source.text.isascii():
        return ()
    found: list[Finding] = []
    for match in _INVISIBLE.finditer(source.text):
        if len(found) == MAX_INVISIBLE_FINDINGS:
            break
        found.append(
            Finding(
                codes.INVISIBLE_CHARACTER,
                Severity.WARNING,
                f"the invisible character U+{ord(match.group()):04X} makes the text look different from what it is",
                source.span(match.start(), match.end()),
                "remove it, or write it as an escape in a double-quoted text",
            )
        )
    return tuple(found)
