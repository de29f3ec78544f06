"""Comments that accept a finding at its own line: `# policyd: ignore CARD012 until=2027-01-01 reason=…`.

Only comments count: the same text within a value is a value.

Source: manifest-format 0.1 (comments are kept out of the tree); interface, Flags (`--baseline`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policyd.findings import Span
from policyd.manifest.load import Document
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar
from policyd.manifest.source import Source

MARK = "policyd: ignore"
MAX_COMMENTS = 10_000
"""So many comments of one document are read."""

IGNORING = re.compile(r"#[ \t]{0,16}policyd:[ \t]{0,16}ignore\b(?P<rest>[^\n]{0,2000})")
_CODE = re.compile(r"[A-Z]{4,8}[0-9]{3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class IgnoreComment:
    """One comment, for one code.

    Attributes:
        code: of the findings that it accepts.
        line: the line that it is about: its own, or the next one with content where it stands alone.
        until: the date as written, empty for no end.
        reason: why.
        span: of the comment.
    """

    code: str
    line: int
    until: str
    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class UnreadComment:
    """A comment that accepts nothing, because it cannot be read.

    Attributes:
        why: one clause.
        span: of the comment.
    """

    why: str
    span: Span


def ignore_comments(documents: Iterable[Document]) -> Iterator[IgnoreComment | UnreadComment]:
    """All such comments of the documents, in order."""
    for document in documents:
        yield from _of(document)


def _of(document: Document) -> Iterator[IgnoreComment | UnreadComment]:
    source = document.source
    if MARK not in source.text and "policyd:" not in source.text:
        return
    matches = [m for _, m in zip(range(MAX_COMMENTS), IGNORING.finditer(source.text), strict=False)]
    if not matches:
        return
    values = _Values(document.root)
    for match in matches:
        before = source.text[match.start() - 1 : match.start()]
        if (before and before not in " \t\n\r") or values.hold(match.start()):
            continue
        yield from _read(match, source)


class _Values:
    """The scalars of a tree by their places."""

    def __init__(self, root: Located | None) -> None:
        self._ranges = sorted(_ranges(root)) if root is not None else []

    def hold(self, offset: int) -> bool:
        return any(start <= offset < end for start, end in self._ranges)


def _ranges(root: Located) -> Iterator[tuple[int, int]]:
    waiting: list[Located] = [root]
    while waiting:
        node = waiting.pop()
        match node:
            case LocatedScalar():
                if node.style:  # a plain scalar cannot hold a comment
                    yield node.start, node.end
            case LocatedList():
                waiting += node.items
            case LocatedMap():
                for key, value in node.entries:
                    waiting += (key, value)


def _read(match: re.Match[str], source: Source) -> Iterator[IgnoreComment | UnreadComment]:
    span = source.span(match.start(), match.end())
    rest = match["rest"].strip()
    head, mark, reason = rest.partition("reason=")
    codes: list[str] = []
    until = ""
    for word in head.replace(",", " ").split():
        if word.startswith("until="):
            until = word.removeprefix("until=")
        elif _CODE.fullmatch(word):
            codes.append(word)
        else:
            yield UnreadComment(f"`{word}` is neither a code nor `until=` nor `reason=`", span)
            return
    if not codes:
        yield UnreadComment("it names no code", span)
    elif not mark or len(reason.strip()) < 3:
        yield UnreadComment("it gives no reason", span)
    else:
        line = _line_meant(span.line, match.start(), source)
        for code in codes:
            yield IgnoreComment(code, line, until, reason.strip(), span)


def _line_meant(line: int, offset: int, source: Source) -> int:
    start = source.line_starts[line - 1]
    if source.text[start:offset].strip():
        return line
    for number in range(line + 1, len(source.line_starts) + 1):
        text = source.line(number).strip()
        if text and not text.startswith("#"):
            return number
    return line
