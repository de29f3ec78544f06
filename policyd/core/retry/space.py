"""All contexts of a site at once: what every predicate and every selection comes to in each of them.

A set of contexts is an integer whose bits are the contexts, so that one operation decides for all of them.

Source: retry 3.3, 8.2, 8.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from policyd.core.edition import Rules
from policyd.core.retry.cells import NOTHING_KNOWN, Group, Known, groups_at
from policyd.core.retry.evaluate import evaluate_strict
from policyd.core.retry.nouns import Fragment
from policyd.core.retry.policy import (
    AddDelay,
    AndThen,
    Clamp,
    CountBox,
    FilteredOn,
    Intersect,
    Jitter,
    NamedPolicy,
    Policy,
    TimeBox,
    Union,
    nodes_of,
)
from policyd.core.retry.predicate import And, Constant, Not, Or, Predicate, properties_of
from policyd.core.retry.representatives import Leaf, tests_of
from policyd.core.retry.resolve import Resolver, mentions_status
from policyd.core.retry.sites import Site
from policyd.core.retry.value import PropertyNotFound, PropertyValue

MAX_CONTEXTS = 200_000
"""Contexts of one site; past them representatives are left out, and nothing is proved."""

Contexts = int
"""A set of contexts of one space."""


class Outcomes(NamedTuple):
    """Where a predicate is true, false, reads a missing property, or fails to compare."""

    true: Contexts
    false: Contexts
    missing: Contexts
    error: Contexts

    @property
    def fails(self) -> Contexts:
        """Where a strict evaluation fails."""
        return self.missing | self.error


class Applies(NamedTuple):
    """Where the body of a policy applies, does not, or fails."""

    yes: Contexts
    no: Contexts
    error: Contexts


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of one rule at a site, over all contexts.

    Attributes:
        rule: the rule.
        match: where it would be selected were it alone.
        fails: where it would end the selection were it alone.
        win: where it is selected.
        ends: where it ends the selection.
        is_considered: whether the site looks at it at all.
    """

    rule: NamedPolicy
    match: Contexts
    fails: Contexts
    win: Contexts
    ends: Contexts
    is_considered: bool = True


@dataclass(frozen=True, slots=True)
class Picked:
    """The outcome of a selection over all contexts.

    Attributes:
        judged: every rule in the order of selection.
        none: where no rule is selected and none ends the selection.
    """

    judged: tuple[Judged, ...]
    none: Contexts

    def within(self, contexts: Contexts) -> Picked:
        """The same selection in some of the contexts only."""
        return Picked(
            tuple(
                replace(
                    j,
                    match=j.match & contexts,
                    fails=j.fails & contexts,
                    win=j.win & contexts,
                    ends=j.ends & contexts,
                )
                for j in self.judged
            ),
            self.none & contexts,
        )

    def of(self, name: str) -> Judged | None:
        """What becomes of the rule of that name."""
        return next((j for j in self.judged if j.rule.name == name), None)


@dataclass
class Space:
    """The contexts of one site for one set of rules.

    Attributes:
        site: the place.
        edition: the edition.
        groups: the properties that vary together.
        is_capped: whether representatives were left out because they were too many.
        instead: properties that have another value, or None for missing, whatever the context says.
    """

    site: Site
    edition: Rules
    groups: tuple[Group, ...]
    is_capped: bool = False
    instead: Mapping[str, PropertyValue | None] = field(default_factory=dict)
    _leaves: dict[Leaf, Outcomes] = field(default_factory=dict)
    _strict: dict[int, tuple[Predicate, Outcomes]] = field(default_factory=dict)
    _lenient: dict[int, tuple[Predicate, Outcomes]] = field(default_factory=dict)
    _masks: dict[int, tuple[Contexts, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        site: Site,
        edition: Rules,
        policies: Iterable[NamedPolicy],
        known: Known = NOTHING_KNOWN,
        shared: dict[object, Group] | None = None,
    ) -> Space:
        """The contexts in which the selectors and filters of `policies` can be told apart.

        Args:
            site: the place.
            edition: the edition.
            policies: all rules that will be asked about.
            known: what is known of the operation.
            shared: groups already made for other sites with the same rules and the same knowledge.
        """
        tests = tests_of(predicates_of(policies))
        groups = list(groups_at(site, edition, tests, known, {} if shared is None else shared))
        capped = False
        while _size(groups) > MAX_CONTEXTS:
            largest = max(range(len(groups)), key=lambda i: len(groups[i].cells))
            group = groups[largest]
            half = len(group.cells) // 2
            outcomes = {leaf: kinds[:half] for leaf, kinds in group.outcomes.items()}
            groups[largest] = Group(
                group.names, group.cells[:half], False, group.is_stable, group.spread[:half], outcomes
            )
            capped = True
        return cls(site, edition, tuple(groups), capped)

    @cached_property
    def size(self) -> int:
        """How many contexts there are."""
        return _size(self.groups)

    @cached_property
    def all(self) -> Contexts:
        """Every context."""
        return (1 << self.size) - 1

    @cached_property
    def _strides(self) -> tuple[int, ...]:
        strides, stride = [], 1
        for group in self.groups:
            strides.append(stride)
            stride *= len(group.cells)
        return tuple(strides)

    @cached_property
    def _group_of(self) -> Mapping[str, int]:
        return {name: i for i, group in enumerate(self.groups) for name in group.names}

    def seen_with(self, instead: Mapping[str, PropertyValue | None]) -> Space:
        """The same contexts, seen with some properties changed."""
        return Space(self.site, self.edition, self.groups, self.is_capped, instead)

    def bag(self, contexts: Contexts) -> dict[str, PropertyValue] | None:
        """The bag of the first context of a set, with what the site always says; None for the empty set."""
        if not contexts:
            return None
        return self.bag_at((contexts & -contexts).bit_length() - 1)

    def bag_at(self, index: int) -> dict[str, PropertyValue]:
        """The bag of one context."""
        bag: dict[str, PropertyValue] = {}
        for group, stride in zip(self.groups, self._strides, strict=True):
            bag |= group.cells[index // stride % len(group.cells)]
        return bag

    def bags(self, contexts: Contexts) -> Iterator[dict[str, PropertyValue]]:
        """The bags of a set of contexts."""
        while contexts:
            lowest = contexts & -contexts
            yield self.bag_at(lowest.bit_length() - 1)
            contexts ^= lowest

    def where(self, names: Iterable[str], wanted: Fragment) -> Contexts:
        """The contexts in which the properties `names` have the values of `wanted`, or are missing there too."""
        found = self.all
        for name in names:
            place = self._group_of.get(name)
            if place is None:
                continue
            cells = [i for i, cell in enumerate(self.groups[place].cells) if cell.get(name) == wanted.get(name)]
            found &= self.cells(place, cells)
        return found

    def cells(self, place: int, chosen: Sequence[int]) -> Contexts:
        """The contexts in which one group has one of the chosen cells."""
        stride = self._strides[place]
        block = (1 << stride) - 1
        pattern = 0
        for cell in chosen:
            pattern |= block << (cell * stride)
        return self._repeated(pattern, stride * len(self.groups[place].cells))

    def cell_masks(self, place: int) -> tuple[Contexts, ...]:
        """For each cell of a group the contexts that have it."""
        known = self._masks.get(place)
        if known is None:
            count = len(self.groups[place].cells)
            known = self._masks[place] = tuple(self.cells(place, (i,)) for i in range(count))
        return known

    def stride(self, place: int) -> int:
        """How far apart contexts are that differ in the next cell of one group."""
        return self._strides[place]

    def _repeated(self, pattern: int, period: int) -> Contexts:
        while period < self.size:
            pattern |= pattern << period
            period *= 2
        return pattern & self.all

    def is_exact(self, names: Iterable[str]) -> bool:
        """Whether nothing about the properties `names` can come out otherwise than in some context here."""
        places = {self._group_of[name] for name in names if name in self._group_of}
        return not self.is_capped and all(self.groups[place].exact for place in places)

    def has(self, name: str) -> bool:
        """Whether the property exists at the site in some context; False also where no rule reads it."""
        place = self._group_of.get(name)
        return place is not None and any(name in cell for cell in self.groups[place].cells)

    # Predicates.

    def leaf(self, leaf: Leaf) -> Outcomes:
        """What one test comes to."""
        known = self._leaves.get(leaf)
        if known is None:
            known = self._leaves[leaf] = self._leaf(leaf)
        return known

    def _leaf(self, leaf: Leaf) -> Outcomes:
        place = self._group_of.get(leaf.property)
        fragments: Sequence[Fragment] = ({},) if place is None else self.groups[place].cells
        if leaf.property in self.instead:
            value = self.instead[leaf.property]
            place, fragments = None, ({} if value is None else {leaf.property: value},)
        sorted_cells: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
        known = None if place is None else self.groups[place].outcomes.get(leaf)
        if known is not None and place is not None:
            for index, kind in enumerate(known):
                sorted_cells[kind].append(index)
            return Outcomes(*(self.cells(place, cells) if cells else 0 for cells in sorted_cells))
        for index, fragment in enumerate(fragments):
            outcome = evaluate_strict(leaf, fragment)
            if isinstance(outcome, bool):
                sorted_cells[0 if outcome else 1].append(index)
            else:
                sorted_cells[2 if isinstance(outcome, PropertyNotFound) else 3].append(index)
        if place is None:
            return Outcomes(*(self.all if cells else 0 for cells in sorted_cells))
        return Outcomes(*(self.cells(place, cells) if cells else 0 for cells in sorted_cells))

    def strict(self, predicate: Predicate) -> Outcomes:
        """What a strict evaluation comes to.

        Source: retry 3.3.
        """
        known = self._strict.get(id(predicate))
        if known is not None and known[0] is predicate:
            return known[1]
        found = self._strictly(predicate)
        self._strict[id(predicate)] = (predicate, found)
        return found

    def _strictly(self, predicate: Predicate) -> Outcomes:
        match predicate:
            case And(left, right):
                a, b = self.strict(left), self.strict(right)
                return Outcomes(
                    a.true & b.true,
                    a.false | (a.true & b.false),
                    a.missing | (a.true & b.missing),
                    a.error | (a.true & b.error),
                )
            case Or(left, right):
                a, b = self.strict(left), self.strict(right)
                return Outcomes(
                    a.true | (a.false & b.true),
                    a.false & b.false,
                    a.missing | (a.false & b.missing),
                    a.error | (a.false & b.error),
                )
            case Not(inner):
                a = self.strict(inner)
                return Outcomes(a.false, a.true, a.missing, a.error)
            case Constant(value):
                return Outcomes(self.all, 0, 0, 0) if value else Outcomes(0, self.all, 0, 0)
            case _:
                return self.leaf(predicate)

    def lenient(self, predicate: Predicate) -> Outcomes:
        """What a lenient evaluation comes to.

        Source: retry 3.3.
        """
        known = self._lenient.get(id(predicate))
        if known is not None and known[0] is predicate:
            return known[1]
        found = self._leniently(predicate)
        self._lenient[id(predicate)] = (predicate, found)
        return found

    def _leniently(self, predicate: Predicate) -> Outcomes:
        match predicate:
            case And(left, right) | Or(left, right):
                a, b = self.lenient(left), self.lenient(right)
                error = a.error | b.error
                true = (a.true & b.true) if isinstance(predicate, And) else (a.true | b.true)
                true &= ~error
                missing = (a.missing | b.missing) & ~error & ~true
                return Outcomes(true, self.all & ~(true | missing | error), missing, error)
            case Not(inner):
                a = self.lenient(inner)
                return Outcomes(a.false, a.true, a.missing, a.error)
            case _:
                return self.strict(predicate)

    def applies(self, policy: Policy) -> Applies:
        """Where the body of a policy applies.

        Source: retry 3.3.
        """
        match policy:
            case FilteredOn(predicate, inner):
                sees = self.lenient(predicate)
                below = self.applies(inner)
                return Applies(
                    sees.true & below.yes,
                    sees.false | sees.missing | (sees.true & below.no),
                    sees.error | (sees.true & below.error),
                )
            case CountBox() | TimeBox() | Clamp() | AddDelay() | Jitter():
                return self.applies(policy.inner)
            case AndThen(left, right) | Union(left, right):
                a, b = self.applies(left), self.applies(right)
                return Applies(a.yes | (a.no & b.yes), a.no & b.no, a.error | (a.no & b.error))
            case Intersect(left, right):
                a, b = self.applies(left), self.applies(right)
                return Applies(a.yes & b.yes, a.no | (a.yes & b.no), a.error | (a.yes & b.error))
            case _:
                return Applies(self.all, 0, 0)

    # Selection.

    @property
    def resolver(self) -> Resolver:
        """How the site selects."""
        return self.site.resolver.resolver(self.edition)

    def judged_alone(self, rule: NamedPolicy, resolver: Resolver | None = None) -> tuple[Contexts, Contexts]:
        """Where a rule would be selected, and where it would end the selection, were it alone."""
        match resolver or self.resolver:
            case Resolver.STRICT:
                sees = self.strict(rule.selector)
                return sees.true, sees.fails
            case Resolver.SKIP_MISSING:
                sees = self.strict(rule.selector)
                return sees.true, sees.error
            case Resolver.APPLICABLE:
                sees = self.lenient(rule.selector)
                body = self.applies(rule.policy)
                return sees.true & body.yes, sees.error | (sees.true & body.error)

    def pick(self, rules: Sequence[NamedPolicy], *, status_filter: bool | None = None) -> Picked:
        """The selection in every context.

        Args:
            rules: in the order of selection.
            status_filter: whether rules must mention the status code; by default as the site does.
        """
        filters = self.site.resolver.filters_status if status_filter is None else status_filter
        remaining = self.all
        judged: list[Judged] = []
        for rule in rules:
            match_, fails = self.judged_alone(rule)
            if filters and not mentions_status(rule):
                judged.append(Judged(rule, 0, 0, 0, 0, is_considered=False))
                continue
            judged.append(Judged(rule, match_, fails, remaining & match_, remaining & fails))
            remaining &= ~(match_ | fails)
        return Picked(tuple(judged), remaining)


def predicates_of(policies: Iterable[NamedPolicy]) -> Iterator[Predicate]:
    """The selectors and filters of some rules."""
    for rule in policies:
        yield rule.selector
        yield from (node.predicate for node in nodes_of(rule.policy) if isinstance(node, FilteredOn))


def names_read(rule: NamedPolicy) -> frozenset[str]:
    """The properties that a rule reads, in its selector or its filters."""
    return frozenset().union(*(properties_of(p) for p in predicates_of((rule,))))


def _size(groups: Sequence[Group]) -> int:
    size = 1
    for group in groups:
        size *= len(group.cells)
    return size
