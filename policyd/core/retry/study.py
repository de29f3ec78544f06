"""One set of rules over all sites: what each rule matches, where it wins, and where its retries end there.

Everything is computed once, when it is first asked for.

Source: retry 5.3, 8.2, 8.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from policyd.core.edition import Rules
from policyd.core.retry.cells import NOTHING_KNOWN, Group, Known
from policyd.core.retry.domain import ATTEMPT, Choice, Domain
from policyd.core.retry.limits import Effort, Elapsed, Limits, effort_for, limits_of, worst_of
from policyd.core.retry.policy import FilteredOn, NamedPolicy, Policy, nodes_of
from policyd.core.retry.predicate import (
    NEVER_TRUE,
    And,
    Constant,
    Not,
    Or,
    Predicate,
    PropIn,
    leaves,
)
from policyd.core.retry.representatives import Leaf
from policyd.core.retry.rewrite import with_predicates
from policyd.core.retry.sites import SITES, Noun, Site
from policyd.core.retry.space import Contexts, Judged, Picked, Space
from policyd.core.retry.value import PropertyValue, Text

MAX_CLASSES = 64
"""Ways in which stable filters can come out together; past them they count as free."""

_ALWAYS_MISSING = PropIn("\0", ())
"""A test whose evaluation always fails: no bag has the property."""


@dataclass
class Study:
    """The rules of one environment under one edition.

    Attributes:
        policies: in the order of selection.
        edition: the edition.
        known: what is known of every operation.
        witnesses: the rules whose constants count when contexts are made, so that studies can be compared; empty for
            the policies themselves.
    """

    policies: tuple[NamedPolicy, ...]
    edition: Rules
    known: Known = NOTHING_KNOWN
    witnesses: tuple[NamedPolicy, ...] = ()
    _shared: dict[object, Group] = field(default_factory=dict)
    _spaces: dict[str, Space] = field(default_factory=dict)
    _picked: dict[str, Picked] = field(default_factory=dict)
    _limits: dict[object, Limits] = field(default_factory=dict)

    @classmethod
    def pair(cls, one: tuple[NamedPolicy, ...], other: tuple[NamedPolicy, ...], edition: Rules) -> tuple[Study, Study]:
        """Two studies over the same contexts, so that what they say about each context can be compared."""
        both = tuple(dict.fromkeys((*one, *other)))
        first = cls(one, edition, witnesses=both)
        second = cls(other, edition, witnesses=both, _shared=first._shared, _spaces=first._spaces)
        return first, second

    @property
    def elapsed(self) -> Elapsed:
        """What the host gives as the elapsed time."""
        return Elapsed.REAL if self.edition.is_next("elapsed") else Elapsed.ZERO

    @property
    def sites(self) -> tuple[Site, ...]:
        """The sites of the host that ask for decisions; the guest's own call is left out."""
        return tuple(s for s in SITES if s.is_asked(self.edition) and s.noun is not Noun.GUEST)

    def space(self, site: Site) -> Space:
        """The contexts of a site."""
        found = self._spaces.get(site.slug)
        if found is None:
            rules = self.witnesses or self.policies
            found = Space.of(site, self.edition, rules, self.known, self._shared)
            self._spaces[site.slug] = found
        return found

    def picked(self, site: Site) -> Picked:
        """The selection at a site, in every context."""
        found = self._picked.get(site.slug)
        if found is None:
            space = self.space(site)
            found = self._picked[site.slug] = space.pick(self.policies).within(self._asked(site, space))
        return found

    def _asked(self, site: Site, space: Space) -> Contexts:
        """The contexts in which the site is asked at all: the second step of a status only after a rule was found.

        Source: retry 2.3, sites 7 and 10.
        """
        if not (site.follows and "status-code" in site.always_present(self.edition)):
            return space.all
        first = space
        if site.error_type != "http-status":
            first = space.seen_with({"error-type": Text("http-status"), "agent-type": None})
        found = 0
        for judged in first.pick(self.policies, status_filter=True).judged:
            found |= judged.win
        return found

    def judged(self, site: Site, rule: NamedPolicy) -> Judged:
        """What becomes of one of the rules at a site."""
        return self.picked(site).judged[self._places[rule.name]]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {rule.name: place for place, rule in enumerate(self.policies)}

    def winning_sites(self, rule: NamedPolicy) -> Iterator[tuple[Site, Judged]]:
        """The sites at which the rule is selected in some context."""
        for site in self.sites:
            judged = self.judged(site, rule)
            if judged.win:
                yield site, judged

    def limits(self, site: Site, rule: NamedPolicy, within: Contexts | None = None) -> Limits:
        """Where the retries of a rule end at a site, in the contexts where it is selected (or in `within`)."""
        space = self.space(site)
        contexts = self.judged(site, rule).win if within is None else within
        effort = effort_for(rule.policy, len(self.policies))
        return limits_within(space, rule.policy, contexts, self.elapsed, self._limits, effort)

    def limits_anywhere(self, rule: NamedPolicy) -> Limits:
        """Where the retries of a rule end wherever it is selected; whatever its filters see where it never is."""
        found = [self.limits(site, rule) for site, _ in self.winning_sites(rule)]
        if found:
            return worst_of(found)
        key = ("anywhere", rule.policy)
        if key not in self._limits:
            effort = effort_for(rule.policy, len(self.policies))
            self._limits[key] = limits_of(rule.policy, self.elapsed, Domain(open_world=True), effort)
        return self._limits[key]


def limits_within(
    space: Space,
    policy: Policy,
    contexts: Contexts,
    elapsed: Elapsed,
    cache: dict[object, Limits],
    effort: Effort | None = None,
) -> Limits:
    """Where the retries of a policy end in some contexts of a site.

    Filters on properties that stay the same within a sequence are decided once; those on others anew each time.

    Source: retry 5.3.
    """
    predicates = [n.predicate for n in nodes_of(policy) if isinstance(n, FilteredOn)]
    if not predicates:
        return _cached(policy, Domain(), elapsed, cache, effort)
    read = {leaf for predicate in predicates for leaf in leaves(predicate) if not isinstance(leaf, Constant)}
    stable = [leaf for leaf in sorted(read, key=repr) if not _is_free(space, leaf.property)]
    classes = _classes(space, stable, contexts)
    if classes is None:
        return limits_of(policy, elapsed, Domain(attempt=space.has(ATTEMPT), open_world=True), effort)
    found = []
    for decided, where in classes:
        fixed = with_predicates(policy, [_decided(p, decided) for p in predicates])
        free = tuple(_choice(space, name, where) for name in sorted({leaf.property for leaf in read - decided.keys()}))
        domain = Domain(free=tuple(c for c in free if c is not None), attempt=space.has(ATTEMPT))
        found.append(_cached(fixed, domain, elapsed, cache, effort))
    return worst_of(found) if found else limits_of(policy, elapsed, Domain())


def _cached(
    policy: Policy, domain: Domain, elapsed: Elapsed, cache: dict[object, Limits], effort: Effort | None
) -> Limits:
    key = (policy, domain.free, domain.attempt, elapsed)
    if key not in cache:
        cache[key] = limits_of(policy, elapsed, domain, effort)
    return cache[key]


def _is_free(space: Space, name: str) -> bool:
    """Whether a property can change within one sequence at the site."""
    return any(name in group.names and not group.is_stable for group in space.groups)


def _classes(
    space: Space, stable: Sequence[Leaf], contexts: Contexts
) -> list[tuple[dict[Leaf, Predicate], Contexts]] | None:
    """The ways in which the tests come out together, with their contexts; None where there are too many."""
    found: list[tuple[dict[Leaf, Predicate], Contexts]] = [({}, contexts)] if contexts else []
    for leaf in stable:
        outcomes = space.leaf(leaf)
        split: list[tuple[dict[Leaf, Predicate], Contexts]] = []
        for decided, where in found:
            for value, mask in (
                (Constant(True), outcomes.true),
                (NEVER_TRUE, outcomes.false),
                (_ALWAYS_MISSING, outcomes.fails),
            ):
                if where & mask:
                    split.append(({**decided, leaf: value}, where & mask))
        if len(split) > MAX_CLASSES:
            return None
        found = split
    return found


def _decided(predicate: Predicate, decided: dict[Leaf, Predicate]) -> Predicate:
    match predicate:
        case And(left, right):
            return And(_decided(left, decided), _decided(right, decided))
        case Or(left, right):
            return Or(_decided(left, decided), _decided(right, decided))
        case Not(inner):
            return Not(_decided(inner, decided))
        case Constant():
            return predicate
        case _:
            return decided.get(predicate, predicate)


def _choice(space: Space, name: str, contexts: Contexts) -> Choice | None:
    """The values of a free property in some contexts; None for `attempt`, which counts itself."""
    if name == ATTEMPT:
        return None
    for place, group in enumerate(space.groups):
        if name in group.names:
            values: dict[PropertyValue | None, None] = {}
            for index, cell in enumerate(group.cells):
                if contexts & space.cells(place, (index,)):
                    values[cell.get(name)] = None
            return name, tuple(values)
    return name, (None,)
