"""The dimensions of a call, and which values of each are worth trying.

Along one axis, infinitely many values fall into finitely many classes: two values that lie in the
same components cannot be told apart by any grant. An axis yields one value of every class that
its components make (and may yield several of one), so trying its choices is trying all values.

Source: cards 2.2; questions 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from policyd.core.callsets.budget import Budget
from policyd.core.grants.names import U64_MAX
from policyd.core.grants.resources.network import PORT_MAX, Ports

Group = tuple[object, int]
"""A component, and the mask of the products that have it on this axis."""

Choice = tuple[object, int]
"""A value, and the mask of the products whose component contains it."""


class _All:
    """The component that contains every value of its axis."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ALL"


ALL = _All()


@dataclass(frozen=True, slots=True)
class Situation:
    """What an axis may know when it is asked for choices.

    Attributes:
        chosen: the values on the axes before.
        within: the component in which the value must lie, `ALL` where it may lie anywhere.
        viable: whether masks of possible and of certain products (on this axis) can still lead to an answer.
        budget: to be charged by axes that search.
    """

    chosen: tuple[object, ...]
    within: object
    viable: Callable[[int, int], bool]
    budget: Budget


class Axis(Protocol):
    """One dimension; `ALL` components never reach it."""

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """One value of every class of values at least, the most natural first."""


@dataclass(frozen=True, slots=True)
class TextAxis:
    """Texts of which components name single ones; all others are alike.

    Attributes:
        words: what an unnamed value may be called, the best first.
        is_value: whether a text can occur in a call at all.
        numbered: what it is called where all those are taken; None for the first with a number behind it.
    """

    words: tuple[str, ...]
    is_value: Callable[[str], bool] = bool
    numbered: Callable[[int], str] | None = None

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """A text that nobody names, then the named ones."""
        within = at.within
        if within is ALL:
            yield fresh(self.words, {text for text, _ in groups}, self.numbered), 0
        for text, mask in groups:
            if (within is ALL or text == within) and isinstance(text, str) and self.is_value(text):
                yield text, mask


def fresh(words: Sequence[str], taken: set[object], numbered: Callable[[int], str] | None = None) -> str:
    """The first of `words` that is not taken; when all are, one with a number, which `numbered` spells.

    >>> fresh(["a"], {"a", "a2"})
    'a3'
    >>> fresh(["T(1)"], {"T(1)", "T(2)"}, lambda n: f"T({n})")
    'T(3)'
    """
    for word in words:
        if word not in taken:
            return word
    spelled = numbered or (lambda n: f"{words[0]}{n}")
    number = 2
    while spelled(number) in taken:
        number += 1
    return spelled(number)


UUIDS = ("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002")
"""What unnamed things with a UUID are called, and phantoms."""


def numbered_uuid(number: int) -> str:
    """A further one."""
    return f"{UUIDS[0][:-12]}{number:012d}"


ANY_PORT_ASKED = "any port"
"""The value on the port axis of a name resolution, which asks for every port at once."""

_USUAL_PORTS = (443, 80, 8080, 5432)


@dataclass(frozen=True, slots=True)
class PortAxis:
    """Single ports, and the request for any port, which only a grant without ports covers (RS-net)."""

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """A port of every interval between bounds, the usual ones first, then any port."""
        ports = [(p, mask) for p, mask in groups if isinstance(p, Ports)]
        cuts = sorted({0, *(p.low for p, _ in ports), *(p.high + 1 for p, _ in ports)})
        bounds = [c for c in cuts if c <= PORT_MAX]
        found = []
        for low, after in zip(bounds, [*bounds[1:], PORT_MAX + 1], strict=True):
            value = next((u for u in _USUAL_PORTS if low <= u < after), low or min(1, after - 1))
            found.append((value, sum(mask for p, mask in ports if p.low <= value <= p.high)))
        yield from sorted(found, key=_by_habit)
        yield ANY_PORT_ASKED, 0


def _by_habit(choice: tuple[int, int]) -> tuple[int, int]:
    port = choice[0]
    return (_USUAL_PORTS.index(port) if port in _USUAL_PORTS else len(_USUAL_PORTS), port)


@dataclass(frozen=True, slots=True)
class StartAxis:
    """First indexes of oplog ranges; a component contains every start from its own on (RS-oplog)."""

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """The least start of every interval, so that every end of its class stays within reach."""
        starts = [(s, mask) for s, mask in groups if isinstance(s, int)]
        for value in sorted({0, *(s for s, _ in starts)}):
            yield value, sum(mask for s, mask in starts if s <= value)


_PAGE = 99
"""The host reads pages of a hundred entries, so the natural end lies this far behind the start."""


@dataclass(frozen=True, slots=True)
class EndAxis:
    """Last indexes of oplog ranges, never before the start chosen; a component contains every end up to its own."""

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """One end of every interval that reaches the start."""
        start = at.chosen[-1]
        assert isinstance(start, int)
        ends = [(e, mask) for e, mask in groups if isinstance(e, int)]
        low = 0
        for high in sorted({U64_MAX, *(e for e, _ in ends)}):
            if high >= start:
                value = start + _PAGE if low <= start + _PAGE <= high else max(low, start)
                yield value, sum(mask for e, mask in ends if value <= e)
            low = high + 1


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """Whole values compared by equality, such as tool invocations.

    Attributes:
        others: values that stand for all unnamed ones, the best first; enough of them that one is always free.
        is_value: whether a value can occur in a call at all.
    """

    others: Callable[[int], object]
    is_value: Callable[[object], bool]

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """An unnamed value, then the named ones."""
        within = at.within
        if within is ALL:
            taken = {value for value, _ in groups}
            yield next(o for o in map(self.others, range(len(taken) + 1)) if o not in taken), 0
        for value, mask in groups:
            if (within is ALL or value == within) and self.is_value(value):
                yield value, mask
