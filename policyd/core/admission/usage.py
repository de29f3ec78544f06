"""Which grants of a surface a call uses, and without which of them it would be decided otherwise.

Source: cards 5.1, 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policyd.core.cards import GrantRef, Surface
from policyd.core.cards.surface import Part
from policyd.core.grants import Target


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call does with the grants of a surface.

    Attributes:
        is_admitted: the decision, as `decide` gives it.
        covering: of an admitted call, the floor grants that lend it and the ceiling grants that let it through.
        stopping: of a refused call, the negatives that cover it: in floors that would lend it, and in ceilings.
        needed: the grants of which each by itself, if it were removed, would turn the decision.
    """

    is_admitted: bool
    covering: tuple[GrantRef, ...] = ()
    stopping: tuple[GrantRef, ...] = ()
    needed: tuple[GrantRef, ...] = ()


class _IndexedPart:
    """One part of a card with its grants by class."""

    def __init__(self, part: Part) -> None:
        self.positive = part.positive
        self._positive = _by_class(part.positive)
        self._negative = _by_class(part.negative)

    def look(self, target: Target) -> tuple[list[GrantRef], list[GrantRef]]:
        """The positives and the negatives that cover the whole target."""
        name = target.cls.name
        return (
            [ref for ref in self._positive.get(name, ()) if ref.grant.target.covers(target)],
            [ref for ref in self._negative.get(name, ()) if ref.grant.target.covers(target)],
        )


def _by_class(refs: Iterable[GrantRef]) -> dict[str, list[GrantRef]]:
    found: dict[str, list[GrantRef]] = {}
    for ref in refs:
        found.setdefault(ref.grant.target.cls.name, []).append(ref)
    return found


class UsageIndex:
    """A surface made ready for many calls."""

    def __init__(self, surface: Surface) -> None:
        """Index the grants of `surface` by class."""
        self._lower = [_IndexedPart(part) for part in surface.lower]
        self._upper = [_IndexedPart(part) for part in surface.upper]

    def usage(self, target: Target) -> Usage:
        """What the call does with the grants; a grant is needed exactly where `decide` turns without it."""
        lower = [part.look(target) for part in self._lower]
        upper = [(part, *part.look(target)) for part in self._upper]
        lending = [positive for positive, negative in lower if positive and not negative]
        blocked = [
            (part, positive, negative)
            for part, positive, negative in upper
            if negative or (part.positive and not positive)
        ]
        if lending and not blocked:
            return _admitted(lending, [(part, positive) for part, positive, _ in upper])
        stopping = [ref for positive, negative in lower if positive for ref in negative] if not lending else []
        needed = list(_alone(lower)) if not lending and not blocked else []
        stopping += [ref for _, _, negative in blocked for ref in negative]
        if lending and len(blocked) == 1:
            part, positive, negative = blocked[0]
            is_listed = bool(positive) or not part.positive
            if is_listed and len(negative) == 1:
                needed += negative
            elif not negative and len(part.positive) == 1:
                needed += part.positive  # the last positive of a ceiling: without it there is no ceiling (E4)
        return Usage(False, (), tuple(stopping), tuple(needed))


def _admitted(lending: list[list[GrantRef]], ceilings: list[tuple[_IndexedPart, list[GrantRef]]]) -> Usage:
    covering = [ref for positive in lending for ref in positive]
    needed = list(covering) if len(covering) == 1 else []
    for part, positive in ceilings:
        covering += positive
        if len(positive) == 1 and len(part.positive) > 1:
            needed += positive
    return Usage(True, tuple(covering), (), tuple(needed))


def _alone(lower: Iterable[tuple[list[GrantRef], list[GrantRef]]]) -> Iterable[GrantRef]:
    """The negatives that alone keep a floor from lending."""
    return (negative[0] for positive, negative in lower if positive and len(negative) == 1)
