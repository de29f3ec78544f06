"""The canonical layout of the grants of a manifest: their text, their quotes, and their order; comments stay.

Grants are sorted within groups: a comment on a line of its own, or an empty line, begins a new one, so that what
a comment heads stays below it; a grant under a suppression stays where it is. Nothing but the lists of cards is
touched, and no grant is added or lost.

Source: cards P10 (canonical text); manifest-format 3; interface, `fmt`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policyd.core.edition import Rules
from policyd.core.grants import Grant
from policyd.findings import InternalDefect, Span
from policyd.manifest.ignores import IGNORING
from policyd.manifest.load import Document, load_text
from policyd.manifest.located import LocatedList, LocatedMap, LocatedScalar
from policyd.manifest.patch_text import TextEdit, applied, quoted
from policyd.manifest.source import Source
from policyd.syntax import Form, parse_grant
from policyd.syntax.mistakes import GrantSyntaxError

_OWNERS = ("agents", "components", "componentTemplates")
_BOUNDS = (
    ("lowerBound", "positive"),
    ("lowerBound", "negative"),
    ("upperBound", "positive"),
    ("upperBound", "negative"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """A document in canonical layout.

    Attributes:
        text: all of it.
        moved: places of grants that were written or placed otherwise.
        unread: places of texts that are no grants, which were left alone.
    """

    text: str
    moved: tuple[Span, ...]
    unread: tuple[Span, ...]


def canonical_layout(document: Document, rules: Rules) -> Layout:
    """The document with the grants of its cards in canonical text and order.

    Raises:
        InternalDefect: if the result does not hold exactly the same grants.
    """
    edits: list[TextEdit] = []
    moved: list[Span] = []
    unread: list[Span] = []
    for items in _lists(document):
        for item in _Sorted(items, document.source, rules).lines():
            match item:
                case TextEdit():
                    edits.append(item)
                case (True, span):
                    unread.append(span)
                case (False, span):
                    moved.append(span)
    if not edits:
        return Layout(document.source.text, (), tuple(unread))
    text = applied(document.source.text, edits)
    _demand_same(document, text, rules)
    return Layout(text, tuple(moved), tuple(unread))


def _lists(document: Document) -> Iterator[LocatedList]:
    root = document.root
    for name in _OWNERS if root is not None else ():
        owners = root.get(name) if root is not None else None
        for _, owner in owners.entries if isinstance(owners, LocatedMap) else ():
            if isinstance(owner, LocatedMap):
                yield from _lists_of(owner)
                presets = owner.get("presets")
                for _, preset in presets.entries if isinstance(presets, LocatedMap) else ():
                    if isinstance(preset, LocatedMap):
                        yield from _lists_of(preset)


def _lists_of(owner: LocatedMap) -> Iterator[LocatedList]:
    card = owner.get("initialCard")
    if isinstance(card, LocatedMap):
        for bound, sign in _BOUNDS:
            part = card.get(bound)
            items = part.get(sign) if isinstance(part, LocatedMap) else None
            if isinstance(items, LocatedList):
                yield items


@dataclass(frozen=True, slots=True)
class _Line:
    """One grant on a line of its own: the line, and the part of it that is the grant."""

    scalar: LocatedScalar
    grant: Grant
    start: int
    end: int
    text: str


class _Sorted:
    """The edits that one list needs."""

    def __init__(self, items: LocatedList, source: Source, rules: Rules) -> None:
        self._items, self._source, self._rules = items, source, rules

    def lines(self) -> Iterator[TextEdit | tuple[bool, Span]]:
        """Edits, and places: of grants that change (False), of texts that are no grants (True)."""
        group: list[_Line] = []
        last = -1
        for item in self._items.items:
            if not isinstance(item, LocatedScalar):
                yield from self._flushed(group)
                group = []
                continue
            grant = self._grant(item)
            if grant is None:
                yield True, item.span
                yield from self._flushed(group)
                group = []
                continue
            line = self._line(item, grant)
            if line is None:
                yield from self._flushed(group)
                group = []
                yield from self._rewritten(item, grant)
                continue
            if group and line.start != last:
                yield from self._flushed(group)
                group = []
            group.append(line)
            last = line.end
            if self._is_meant_alone(line):
                yield from self._flushed(group)
                group = []
        yield from self._flushed(group)

    def _grant(self, scalar: LocatedScalar) -> Grant | None:
        try:
            return parse_grant(scalar.text, Form.MANIFEST, self._rules)
        except GrantSyntaxError:
            return None

    def _canonical(self, scalar: LocatedScalar, grant: Grant) -> str:
        written = self._source.text[scalar.start : scalar.end]
        if scalar.style in ("'", '"') and scalar.text == grant.text.rstrip():
            return written
        return quoted(grant.text.rstrip(), scalar.style)

    def _line(self, scalar: LocatedScalar, grant: Grant) -> _Line | None:
        """The whole line, if the grant and its dash stand alone on it; None if it is not to be moved."""
        source = self._source
        number = source.span(scalar.start, scalar.end).line
        start = source.line_starts[number - 1]
        end = source.line_starts[number] if number < len(source.line_starts) else len(source.text)
        before, behind = source.text[start : scalar.start], source.text[scalar.end : end].strip()
        if scalar.end > end or before.strip() != "-" or (behind and not behind.startswith("#")):
            return None
        if scalar.style not in ("'", '"') or source.text[scalar.start] != scalar.style:
            return None
        if not source.text[start:end].endswith("\n"):
            return None
        text = f"{before}{self._canonical(scalar, grant)}{source.text[scalar.end : end]}"
        return _Line(scalar, grant, start, end, text)

    def _is_meant_alone(self, line: _Line) -> bool:
        """Whether a comment above suppresses findings of this very line, so that no other may take its place."""
        starts = self._source.line_starts
        number = self._source.span(line.start, line.end).line - 1
        while number > 0:
            above = self._source.text[starts[number - 1] : starts[number]].strip()
            if above and not above.startswith("#"):
                return False
            if IGNORING.search(above):
                return True
            number -= 1
        return False

    def _rewritten(self, scalar: LocatedScalar, grant: Grant) -> Iterator[TextEdit | tuple[bool, Span]]:
        """A grant that stays where it is, within a flow list or behind an anchor."""
        if scalar.style not in ("'", '"') or self._source.text[scalar.start] != scalar.style:
            return
        text = self._canonical(scalar, grant)
        if text != self._source.text[scalar.start : scalar.end]:
            yield TextEdit(scalar.start, scalar.end, text)
            yield False, scalar.span

    def _flushed(self, group: Sequence[_Line]) -> Iterator[TextEdit | tuple[bool, Span]]:
        ordered = sorted(group, key=lambda line: self._key(line.grant))
        for old, new in zip(group, ordered, strict=True):
            if new.text != self._source.text[old.start : old.end]:
                yield TextEdit(old.start, old.end, new.text)
                yield False, old.scalar.span

    @staticmethod
    def _key(grant: Grant) -> tuple[str, str, str, str, str]:
        target = grant.target
        return target.cls.name, target.owner.text, target.resource.text, target.verb, grant.recipient.text


def _demand_same(document: Document, text: str, rules: Rules) -> None:
    again = load_text(text, document.name, rules=rules).documents[0]
    before, after = (_counted(d, rules) for d in (document, again))
    if before != after:
        raise InternalDefect.of("formatting would have changed a grant")


def _counted(document: Document, rules: Rules) -> list[Counter[str]]:
    def words(item: object) -> str:
        if not isinstance(item, LocatedScalar):
            return ""
        try:
            return parse_grant(item.text, Form.MANIFEST, rules).text
        except GrantSyntaxError:
            return f"\0{item.text}"

    return [Counter(words(item) for item in items.items) for items in _lists(document)]
