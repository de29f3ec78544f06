"""Owner texts to owners.

Source: cards 1.4, 3.1, 7.1.
"""

from __future__ import annotations

from functools import lru_cache

from policyd.core.grants.names import ascii_lower, is_application, is_environment
from policyd.core.grants.owner import Owner, OwnerKind
from policyd.core.grants.slots import SLOTS_BY_TEXT, Slot
from policyd.syntax.parser import Mismatch, Piece, parse_pieces

_EXAMPLES = {
    OwnerKind.EMPTY: "`()`",
    OwnerKind.ACCOUNT: "`account`, `*` or `?account`",
    OwnerKind.APPLICATION: "`account/app` or `?app`",
    OwnerKind.ENVIRONMENT: "`account/app/env` or `?env`",
    OwnerKind.COMPONENT: "`account/app/env/component` or `?component`",
    OwnerKind.AGENT: '`account/app/env/component/Type("id")`, `…/Type(*)` or `?agent`',
    OwnerKind.TOOL: "`account/app/env/component/tool` or `?component/tool`",
}


class OwnerRefused(Exception):  # noqa: N818 - told onwards as a GrantSyntaxError by the caller
    """The text is no owner of this kind; `why` is for people, `start` and `end` mark the part at fault."""

    def __init__(self, why: str, help: str, start: int, end: int) -> None:
        self.why, self.help, self.start, self.end = why, help, start, end
        super().__init__(why)


@lru_cache(maxsize=8192)
def parse_owner(text: str, kind: OwnerKind, *, slots: bool = False) -> Owner:
    """The owner that `text` (already trimmed) writes for a class of owner kind `kind`.

    Args:
        text: as written.
        kind: fixes the number of segments.
        slots: whether the owner may begin with a slot.

    Raises:
        OwnerRefused: if it is none.
    """
    example = f"write {_EXAMPLES[kind]}"
    if kind is OwnerKind.EMPTY:
        if text:
            raise OwnerRefused("this class has no owner", example, 0, len(text))
        return Owner(kind)
    try:
        segments = parse_pieces("owner", text)
    except Mismatch as refusal:
        raise OwnerRefused("a segment of the owner is empty", example, refusal.offset, refusal.offset + 1) from None
    return _assemble(text, kind, segments, slots, example)


def _assemble(text: str, kind: OwnerKind, segments: list[Piece], slots: bool, example: str) -> Owner:
    slot: Slot | None = None
    if segments and segments[0].rule == "marked":
        slot = SLOTS_BY_TEXT.get(segments[0].text) if slots else None
        if slot is None:
            raise OwnerRefused("this is no slot of an owner", example, 0, len(segments[0].text))
        if slot.depth > kind.depth or (slot is Slot.AGENT and kind is not OwnerKind.AGENT):
            raise OwnerRefused(
                f"`{slot.value}` is deeper than the owner of this class", example, 0, len(segments[0].text)
            )
        segments = segments[1:]
    level = slot.depth if slot else 0
    if level + len(segments) != kind.depth:
        raise OwnerRefused(
            f"the owner has {_segments(level + len(segments))}, this class needs {kind.depth}",
            example,
            0,
            len(text),
        )
    known: list[str] = []
    starred = False
    for segment in segments:
        form, word, start, end = segment.rule, segment.text, segment.start, segment.end
        if form == "star":
            starred = True
            continue
        if starred:
            raise OwnerRefused("nothing concrete may follow a `*`", example, start, end)
        if form == "marked" or (slot and "?" in word):
            raise OwnerRefused("a `?` may not stand here", example, start, end)
        position = level + len(known) + 1
        if position == 1:
            word = ascii_lower(word)
        elif position == 2 and not is_application(word):
            raise OwnerRefused("application names are lower-case letters, digits and hyphens", example, start, end)
        elif position == 3 and not is_environment(word):
            raise OwnerRefused(
                "environment names are lower-case letters, digits and single inner hyphens", example, start, end
            )
        known.append(word)
    is_wildcard = False
    if kind is OwnerKind.AGENT and known and level + len(known) == 5:
        leaf = known[-1]
        if leaf.endswith("(*)") and len(leaf) > 3:
            known[-1] = leaf[:-3]
            is_wildcard = True
    return Owner(kind, tuple(known), slot, is_wildcard)


def _segments(count: int) -> str:
    return "no segments" if count == 0 else "1 segment" if count == 1 else f"{count} segments"
