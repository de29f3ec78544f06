"""Entries of an oplog: a refused secret in an input, and what tells the wallet at a place.

Source: host 5.6.
"""

from __future__ import annotations

import re

from policyd.syntax.denials.hits import Hit, Scene
from policyd.syntax.denials.paste import Lines, Page
from policyd.syntax.denials.reading import CardEvent, Surface

MAX_EVENTS = 1_000
"""Card entries that are listed."""

_EVENTS = {"installed": "installed", "revoked": "revoked", "expired": "expired", "transfer": "transferred"}
_FORMS = tuple(
    (form.format(word if form.islower() else word.upper() if form.isupper() else word.capitalize()), event)
    for word, event in _EVENTS.items()
    for form in ("card {}", "card-{}", "card_{}", "CARD {}", "CARD_{}", "Card{}", "Card {}")
)
_INDEX = re.compile(
    r"^\s{0,16}\W{0,4}(?:#|[Oo]plog[ _]?[Ii]ndex\W{1,4}|[\"']?index[\"']?\W{1,4})?([0-9]{1,20})\s{0,4}[:|\])\s]"
)
_MEMBER = re.compile(r"[Ii]ndex[\"']?\s{0,4}[:=]?\s{0,4}([0-9]{1,20})\b")
_LINE = re.compile(r"^\s{0,16}(?:#[0-9]{1,20}|[0-9]{5,20})\s{0,4}[:|\])]|[Oo]plog|OPLOG|[\"'](?:oplog_?)?[Ii]ndex[\"']")
_ENTRY = re.compile(r"[Oo]plog|OPLOG|[\"']index[\"']|#[0-9]")
_CARD = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CANCELLED = re.compile(r"cancel[-_ ]?pending", re.IGNORECASE)
_ERROR = re.compile(r"error", re.IGNORECASE)
_BEFORE = 1_000
MAX_LINES_APART = 3
"""Lines between the cancellation and the error entry."""


def on_refused_input(scene: Scene, at: int) -> Hit | None:
    """O-01 at `ermission-denied` and its like: an error entry behind the cancellation of a pending invocation."""
    if scene.text[max(0, at - 1) : at] not in ("p", "P"):
        return None
    line_start = scene.line_start(at, 300)
    entry = scene.text[line_start:at]
    before = scene.text[max(0, at - _BEFORE) : at]
    cancelled = [found.end() for found in _CANCELLED.finditer(before)]
    if not cancelled or before.count("\n", cancelled[-1]) > MAX_LINES_APART:
        return None
    if not _ERROR.search(entry) or scene.is_foreign(at):
        return None
    end = at + len("ermissionDenied" if scene.text.startswith("ermissionD", at) else "ermission-denied")
    return Hit("O-01", at - 1, end, surfaces=(Surface.OPLOG,))


def is_entry(line: str) -> bool:
    """Whether a line looks like an entry of an oplog."""
    return _LINE.search(line[:400]) is not None


def card_events(text: str, lines: Lines, page: Page) -> tuple[CardEvent, ...]:
    """The card entries of an oplog, in order; texts that are no oplog have none."""
    places: dict[int, str] = {}
    for form, event in _FORMS:
        at = text.find(form)
        while at >= 0 and len(places) < MAX_EVENTS:
            places.setdefault(at, event)
            at = text.find(form, at + len(form))
    events: list[CardEvent] = []
    for at, event in sorted(places.items()):
        start = max(text.rfind("\n", max(0, at - 400), at) + 1, at - 400, 0)
        end = text.find("\n", at, at + 400)
        line = text[start : end if end >= 0 else at + 400]
        index = _INDEX.match(line) or _MEMBER.search(line)
        if index is None and not _ENTRY.search(line):
            continue
        card = _CARD.search(line)
        place = lines.place(page.origin(at))
        events.append(CardEvent(event, card[0].lower() if card else "", index[1] if index else "", place[0]))
    return tuple(events)
