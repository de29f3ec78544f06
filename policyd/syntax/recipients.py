"""Recipient texts to recipients.

Source: cards 1.4, 1.8, 3.2, 3.3, 10.1.
"""

from __future__ import annotations

from functools import lru_cache

from policyd.core.edition import NEXT, Rules
from policyd.core.grants.names import ascii_lower, is_application, is_environment
from policyd.core.grants.recipient import ANYONE, EXTERNAL_TOOL_OWNER, Level, Recipient
from policyd.core.grants.slots import SLOTS_BY_TEXT, Slot
from policyd.syntax.parser import Mismatch, Piece, parse_pieces

_SHAPES = "recipients are `*`, `account`, `account/app/env`, `account/app/env/component/Type`, or slots like `?agent`"

# How many segments of a slotted recipient are concrete names: cards 3.3 lists exactly these.
_SLOT_TAILS: dict[Slot, tuple[tuple[int, int], ...]] = {
    # slot -> pairs (concrete segments, stars behind them)
    Slot.ACCOUNT: ((0, 0), (0, 2), (0, 4)),
    Slot.APP: ((0, 1), (0, 3)),
    Slot.ENV: ((0, 0), (0, 2), (2, 0)),
    Slot.COMPONENT: ((0, 1), (1, 0)),
    Slot.AGENT: ((0, 0),),
}
_SLOT_SHAPES: dict[Slot, str] = {
    Slot.ACCOUNT: "`?account`, `?account/*/*` or `?account/*/*/*/*`",
    Slot.APP: "`?app/*` or `?app/*/*/*`",
    Slot.ENV: "`?env`, `?env/*/*` or `?env/component/Type`",
    Slot.COMPONENT: "`?component/*` or `?component/Type`",
    Slot.AGENT: "`?agent` alone",
}


class RecipientRefused(Exception):  # noqa: N818 - told onwards as a GrantSyntaxError by the caller
    """The text is no recipient; `value` is what the platform names, `start` and `end` mark the part at fault."""

    def __init__(self, why: str, value: str, start: int, end: int, help: str = _SHAPES) -> None:
        self.why, self.value, self.start, self.end, self.help = why, value, start, end, help
        super().__init__(why)


def parse_recipient(text: str, *, slots: bool = False, rules: Rules = NEXT) -> Recipient:
    """The recipient that `text` (already trimmed) writes.

    Args:
        text: as written.
        slots: whether it may begin with a slot (manifest form).
        rules: decide whether `~external-tool-owner` is a shape of its own.

    Raises:
        RecipientRefused: if it is none.
    """
    return _parsed(text, slots, EXTERNAL_TOOL_OWNER in text and rules.is_next("external_tool_owner"))


@lru_cache(maxsize=8192)
def _parsed(text: str, slots: bool, has_external: bool) -> Recipient:
    """The recipient; only whether external tool owners exist depends on the edition, and only where one is named."""
    if text == "*":
        return ANYONE
    try:
        segments = parse_pieces("recipient", text)
    except Mismatch as refusal:
        raise RecipientRefused("a segment is empty", text, refusal.offset, refusal.offset + 1) from None
    if slots and segments[0].rule == "marked":
        return _slotted(text, segments, has_external)
    return _concrete(text, segments, has_external)


def _stars_behind(segments: list[Piece]) -> int:
    count = 0
    for segment in reversed(segments):
        if segment.rule != "star":
            break
        count += 1
    return count


def _concrete(text: str, segments: list[Piece], has_external: bool) -> Recipient:
    if len(segments) not in (1, 3, 5):
        raise RecipientRefused(f"no recipient has {len(segments)} segments", text, 0, len(text))
    stars = _stars_behind(segments)
    known = segments[: len(segments) - stars]
    if not known or any(segment.rule == "star" for segment in known):
        raise RecipientRefused("a `*` may only stand at the end, behind an account", text, 0, len(text))
    for segment in known:
        if "*" in segment.text or "?" in segment.text:
            raise RecipientRefused("a segment holds `*` or `?`", segment.text, segment.start, segment.end)
    names = [ascii_lower(known[0].text), *(segment.text for segment in known[1:])]
    _check_names(known, 0)
    return _made(len(segments), tuple(names), None, has_external)


def _slotted(text: str, segments: list[Piece], has_external: bool) -> Recipient:
    slot = SLOTS_BY_TEXT.get(segments[0].text)
    if slot is None:
        raise RecipientRefused("this is no slot of a recipient", text, 0, len(segments[0].text))
    rest = segments[1:]
    stars = _stars_behind(rest)
    known = rest[: len(rest) - stars]
    if (len(known), stars) not in _SLOT_TAILS[slot] or any(segment.rule == "star" for segment in known):
        why = f"`{slot.value}` does not stand with this rest" if rest else f"`{slot.value}` alone names no holders"
        raise RecipientRefused(why, text, 0, len(text), f"write {_SLOT_SHAPES[slot]}")
    for segment in known:
        if "?" in segment.text:
            raise RecipientRefused("a segment holds `?`", segment.text, segment.start, segment.end)
    return _made(slot.depth + len(rest), tuple(segment.text for segment in known), slot, has_external)


def _check_names(known: list[Piece], level: int) -> None:
    for position, segment in enumerate(known, level + 1):
        word, start, end = segment.text, segment.start, segment.end
        if position == 2 and not is_application(word):
            raise RecipientRefused("application names are lower-case letters, digits and hyphens", word, start, end)
        if position == 3 and not is_environment(word):
            raise RecipientRefused(
                "environment names are lower-case letters, digits and single inner hyphens", word, start, end
            )


def _made(depth: int, known: tuple[str, ...], slot: Slot | None, has_external: bool) -> Recipient:
    full = (slot.depth if slot else 0) + len(known) == Level.AGENT
    external = full and bool(known) and known[-1] == EXTERNAL_TOOL_OWNER and has_external
    return Recipient(Level(depth), known, slot, external)
