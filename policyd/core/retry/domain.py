"""What the filters of a policy may see during one sequence, and what they make of it.

Source: retry 5.2, 5.3, 8.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from itertools import islice, product

from policyd.core.retry.evaluate import evaluate_strict
from policyd.core.retry.policy import FilteredOn, Policy, nodes_of
from policyd.core.retry.predicate import Comparison, Constant, Predicate, PropCompare, PropExists, PropIn, leaves
from policyd.core.retry.value import Boolean, Integer, PropertyValue, Text

MAX_COMBINATIONS = 4_096
"""Combinations of free values that are tried; past them every filter counts as free by itself."""

MAX_PHASES = 2_000
"""Attempt numbers that are tried to classify a filter."""

ATTEMPT = "attempt"


class Truth(IntEnum):
    """What a filter comes to at one decision."""

    FALSE = 0
    TRUE = 1
    ERROR = 2


Row = tuple[Truth, ...]
"""What every filter of a tree comes to at one decision, in the order of `nodes_of`."""

Choice = tuple[str, tuple[PropertyValue | None, ...]]
"""A property with the values that it may have; None among them where it may be absent."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The property bags of one sequence.

    Attributes:
        fixed: properties with one known value.
        stable: properties with one of several values, the same at every decision.
        free: properties with one of several values, anew at every decision.
        attempt: whether the bag of decision k holds `attempt` = k.
        open_world: whether filters on other properties may come out in any way; False means that
            no other property exists, so that reading one is an error.
    """

    fixed: Mapping[str, PropertyValue] = field(default_factory=dict)
    stable: tuple[Choice, ...] = ()
    free: tuple[Choice, ...] = ()
    attempt: bool = False
    open_world: bool = False

    def assignments(self, limit: int) -> Iterator[Domain] | None:
        """The domains with every stable property fixed; None when there are more than `limit`."""
        count = 1
        for _, values in self.stable:
            count *= len(values)
        if count > limit:
            return None
        return (self._assigned(values) for values in product(*(values for _, values in self.stable)))

    def _assigned(self, values: tuple[PropertyValue | None, ...]) -> Domain:
        chosen = {name: v for (name, _), v in zip(self.stable, values, strict=True) if v is not None}
        return replace(self, fixed={**self.fixed, **chosen}, stable=())

    def loosened(self) -> Domain:
        """A wider domain, where what is stable is free."""
        return replace(self, free=(*self.free, *self.stable), stable=())


def _breakpoints(predicate: Predicate) -> frozenset[int] | None:
    """The attempt numbers at which a predicate may change, with their successors; None where there is no end."""
    found: set[int] = set()
    for leaf in leaves(predicate):
        match leaf:
            case Constant() | PropExists():
                constants: tuple[PropertyValue, ...] = ()
            case PropCompare(comparison, name, value):
                if name == ATTEMPT and isinstance(value, Text) and comparison not in (Comparison.EQ, Comparison.NEQ):
                    return None
                constants = (value,) if name == ATTEMPT else ()
            case PropIn(name, values):
                constants = values if name == ATTEMPT else ()
            case _:
                if leaf.property == ATTEMPT:
                    return None
                constants = ()
        for constant in constants:
            match constant:
                case Integer(number):
                    found |= {number, number + 1}
                case Text(text) if text.isascii() and text.isdigit() and len(text) < 20:
                    found |= {int(text), int(text) + 1}
                case Text() | Boolean():
                    pass
    return frozenset(n for n in found if n > 1)


@dataclass(frozen=True)
class Filters:
    """The filters of one tree over one domain without stable choices.

    Attributes:
        predicates: in the order of `nodes_of`.
        domain: what they see.
    """

    predicates: tuple[Predicate, ...]
    domain: Domain
    _rows: dict[int, tuple[Row, ...]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, policy: Policy, domain: Domain) -> Filters:
        """The filters of `policy`."""
        return cls(tuple(n.predicate for n in nodes_of(policy) if isinstance(n, FilteredOn)), domain)

    @cached_property
    def phases(self) -> tuple[int, ...] | None:
        """The decisions at which rows may change, after the first; None when they may change for ever."""
        if not self.domain.attempt:
            return ()
        found: set[int] = set()
        for predicate in self.predicates:
            points = _breakpoints(predicate)
            if points is None:
                return None
            found |= points
        return tuple(sorted(found))

    def held(self, k: int) -> int:
        """A number that stands for decision `k` and all with the same rows from there on."""
        if self.phases is None:
            return k
        last = self.phases[-1] if self.phases else 1
        return min(k, last)

    def steady(self, k: int) -> int | None:
        """For how many decisions from `k` on the rows stay the same; None for ever."""
        if self.phases is None:
            return 1
        later = next((p for p in self.phases if p > k), None)
        return None if later is None else later - k

    @cached_property
    def is_tractable(self) -> bool:
        """Whether all combinations of free values are tried."""
        count: int = 3 ** len(self._unknown)
        for _, values in self._read_choices:
            count *= len(values)
        return count <= MAX_COMBINATIONS

    @cached_property
    def _read(self) -> frozenset[str]:
        return frozenset(leaf.property for p in self.predicates for leaf in leaves(p) if not isinstance(leaf, Constant))

    @cached_property
    def _read_choices(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in self.domain.free if choice[0] in self._read)

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """The filters that may come out in any way, because they read what the domain does not know."""
        if not self.domain.open_world:
            return frozenset()
        known = {*self.domain.fixed, *(name for name, _ in self.domain.free)}
        known |= {ATTEMPT} if self.domain.attempt else set()
        return frozenset(
            place
            for place, predicate in enumerate(self.predicates)
            if any(not isinstance(leaf, Constant) and leaf.property not in known for leaf in leaves(predicate))
        )

    @property
    def is_exact(self) -> bool:
        """Whether the rows are all and only what can happen."""
        return not self._unknown

    @cached_property
    def is_forced(self) -> bool:
        """Whether the filters leave no choice at any decision."""
        if not self._unknown and all(len(values) == 1 for _, values in self._read_choices):
            return True
        samples = self.samples()
        return self.is_tractable and samples is not None and all(len(self.rows(k)) == 1 for k in samples)

    def rows(self, k: int) -> tuple[Row, ...]:
        """What the filters may come to at decision `k`, each possibility once; one row where nothing is free."""
        k = self.held(k)
        known = self._rows.get(k)
        if known is None:
            known = self._rows[k] = tuple(dict.fromkeys(self._evaluated(k)))
        return known

    def _evaluated(self, k: int) -> Iterator[Row]:
        bag = dict(self.domain.fixed)
        if self.domain.attempt:
            bag[ATTEMPT] = Integer(k)
        for values in islice(product(*(values for _, values in self._read_choices)), MAX_COMBINATIONS):
            seen = {**bag, **{n: v for (n, _), v in zip(self._read_choices, values, strict=True) if v is not None}}
            for name, value in zip((n for n, _ in self._read_choices), values, strict=True):
                if value is None:
                    seen.pop(name, None)
            options = [
                tuple(Truth) if place in self._unknown else (_truth(predicate, seen),)
                for place, predicate in enumerate(self.predicates)
            ]
            yield from product(*options)

    def samples(self) -> tuple[int, ...] | None:
        """Decisions that stand for all, the last for ever; None where there are too many or no end."""
        if self.phases is None or len(self.phases) > MAX_PHASES:
            return None
        return (1, *self.phases)


def _truth(predicate: Predicate, bag: Mapping[str, PropertyValue]) -> Truth:
    outcome = evaluate_strict(predicate, bag)
    if isinstance(outcome, bool):
        return Truth.TRUE if outcome else Truth.FALSE
    return Truth.ERROR
