"""File paths: patterns with any number of stars as automata that read one segment at a time.

Source: cards 2.2 RS-fs; questions 2 (a path of a call holds no star and no dots).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from policyd.core.callsets.axes import Choice, Group, Situation, fresh
from policyd.core.callsets.budget import check_parts
from policyd.core.grants.resources.segments import GLOBSTAR, STAR

_WORDS = ("a", "b", "c", "data", "file")


def is_path_segment(text: str) -> bool:
    """Whether a path that the host asks about can have this segment."""
    return text not in ("", ".", "..") and not any(c in text for c in "*/\0")


@dataclass(slots=True)
class PathAutomaton:
    """One pattern; a state is the set of places that can be reached, as bits.

    Attributes:
        segments: the pattern.
        accepting: the bit of the place behind the last segment.
        closed: bits of the places from which everything is accepted.
    """

    segments: tuple[str, ...]
    accepting: int = 0
    closed: int = 0
    _steps: dict[tuple[int, str | None], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = len(self.segments)
        self.accepting = 1 << size
        place = size
        while place and self.segments[place - 1] == GLOBSTAR:
            place -= 1
            self.closed |= 1 << place

    @property
    def start(self) -> int:
        """The state before anything is read."""
        return self._skipped(1)

    def _skipped(self, state: int) -> int:
        """`state` with every `**` also standing for nothing."""
        for place, segment in enumerate(self.segments):
            if segment == GLOBSTAR and state >> place & 1:
                state |= 2 << place
        return state

    def step(self, state: int, segment: str | None) -> int:
        """The state after one more segment; None is one that no pattern names."""
        found = self._steps.get((state, segment))
        if found is None:
            found = 0
            for place, part in enumerate(self.segments):
                if state >> place & 1:
                    if part == GLOBSTAR:
                        found |= 1 << place
                    elif part in (STAR, segment):
                        found |= 2 << place
            found = self._steps[state, segment] = self._skipped(found)
        return found

    def named(self, state: int) -> Iterator[str]:
        """The segments that are named at the places of `state`."""
        for place, part in enumerate(self.segments):
            if state >> place & 1 and part not in (STAR, GLOBSTAR):
                yield part


MACHINES_PER_STEP = 8
PLACES_PER_STEP = 96
"""So many automata, or so many places of all of them, move in the time of one step of the budget."""


@dataclass(frozen=True, slots=True)
class PathAxis:
    """All paths that a call can ask about; components are segment tuples of patterns."""

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """Paths in order of length, one for every state that can still lead to an answer."""
        machines = [(PathAutomaton(c), mask) for c, mask in groups if isinstance(c, tuple)]
        for machine, _ in machines:
            check_parts(len(machine.segments))
        unnamed = fresh(_WORDS, {part for machine, _ in machines for part in machine.segments})
        first = tuple(machine.start for machine, _ in machines)
        places = sum(len(machine.segments) for machine, _ in machines)
        cost = 1 + max(len(machines) // MACHINES_PER_STEP, places // PLACES_PER_STEP)
        seen = {first}
        waiting: deque[tuple[tuple[str, ...], tuple[int, ...]]] = deque([((), first)])
        while waiting:
            path, states = waiting.popleft()
            taken = possible = certain = 0
            for (machine, mask), state in zip(machines, states, strict=True):
                if state:
                    possible |= mask
                    if state & machine.accepting:
                        taken |= mask
                    if state & machine.closed:
                        certain |= mask
            if not at.viable(possible, certain):
                continue
            yield path, taken
            named = dict.fromkeys(
                part
                for (machine, _), state in zip(machines, states, strict=True)
                for part in machine.named(state)
                if is_path_segment(part)
            )
            for segment in (None, *named):
                at.budget.spend(cost)
                after = tuple(
                    machine.step(state, segment) if state else 0
                    for (machine, _), state in zip(machines, states, strict=True)
                )
                if after not in seen:
                    seen.add(after)
                    waiting.append(((*path, unnamed if segment is None else segment), after))
