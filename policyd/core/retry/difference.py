"""What a change of the rules changes: at which sites, for which calls, and in which direction.

Source: retry 8.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from policyd.core.edition import Rules
from policyd.core.retry.fingerprint import rule_fingerprint, tree_fingerprint
from policyd.core.retry.limits import Facet, LimitClass, Limits
from policyd.core.retry.policy import NamedPolicy, Policy
from policyd.core.retry.regions import Region, region_of
from policyd.core.retry.sites import Noun, Site
from policyd.core.retry.space import Contexts, Space, names_read
from policyd.core.retry.state import shape_of
from policyd.core.retry.study import Study
from policyd.core.retry.value import PropertyValue

BUILT_IN = "default"


class Change(Enum):
    """One way in which a group of calls fares otherwise.

    Source: retry 8.6.
    """

    SAME_RULE_EDITED = "SAME_RULE_EDITED"
    MOVED_TO_RULE = "MOVED_TO_RULE"
    MOVED_TO_DEFAULT = "MOVED_TO_DEFAULT"
    LOST = "LOST"
    NEW_ERROR = "NEW_ERROR"
    ERROR_FIXED = "ERROR_FIXED"
    RENAMED_ONLY = "RENAMED_ONLY"
    LOOSER = "LOOSER"
    TIGHTER = "TIGHTER"
    INCOMPARABLE = "INCOMPARABLE"
    EQUAL_BOUNDS = "EQUAL_BOUNDS"
    FASTER = "FASTER"
    SLOWER = "SLOWER"
    BECAME_UNBOUNDED = "BECAME_UNBOUNDED"
    BECAME_BOUNDED = "BECAME_BOUNDED"
    STORM_ADDED = "STORM_ADDED"
    SAGA_BLOCKED = "SAGA_BLOCKED"
    SAGA_UNBLOCKED = "SAGA_UNBLOCKED"

    @property
    def allows_more(self) -> bool:
        """Whether there can be more retries, or closer ones."""
        return self in (Change.LOOSER, Change.BECAME_UNBOUNDED, Change.STORM_ADDED, Change.SAGA_UNBLOCKED)

    @property
    def allows_less(self) -> bool:
        """Whether retries are lost."""
        return self in (Change.TIGHTER, Change.LOST, Change.NEW_ERROR, Change.SAGA_BLOCKED)


class InFlight(Enum):
    """What becomes of a sequence that is already running."""

    CONTINUES = "its counters go on"
    RESETS = "its counters start anew"
    ENDS = "it ends with a policy error"


class Kind(Enum):
    """What a selection comes to."""

    RULE = "rule"
    DEFAULT = "default"
    NONE = "none"
    ERROR = "error"


@lru_cache(maxsize=4_096)
def _tree(policy: Policy) -> str:
    return tree_fingerprint(policy)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a selection comes to in some contexts.

    Attributes:
        kind: what it is.
        rule: the rule selected, or that fails; None for no rule.
    """

    kind: Kind
    rule: NamedPolicy | None = None

    @property
    def tree(self) -> str:
        """The fingerprint of the tree that decides, empty where none does."""
        decides = self.kind in (Kind.RULE, Kind.DEFAULT)
        return _tree(self.rule.policy) if decides and self.rule is not None else ""

    @property
    def words(self) -> str:
        """The outcome as a person reads it."""
        match self.kind:
            case Kind.RULE | Kind.DEFAULT:
                assert self.rule is not None  # both have one
                return f"`{self.rule.name}`"
            case Kind.NONE:
                return "no rule"
            case Kind.ERROR:
                assert self.rule is not None  # somebody fails
                return f"an error of `{self.rule.name}`"


@dataclass(frozen=True, slots=True)
class Difference:
    """Calls of one or several sites that fare otherwise in the same way.

    Attributes:
        sites: where.
        before: what decided.
        after: what decides.
        changes: the ways, in the order of the rules.
        region: which calls, at the first of the sites.
        witness: one of them.
        limits_before: where retries ended, None where there were none to speak of.
        limits_after: where they end.
        in_flight: what becomes of running sequences, None where none is affected.
        is_certain: whether nothing about the region can be otherwise.
    """

    sites: tuple[Site, ...]
    before: Outcome
    after: Outcome
    changes: tuple[Change, ...]
    region: Region
    witness: Mapping[str, PropertyValue]
    limits_before: Limits | None
    limits_after: Limits | None
    in_flight: InFlight | None
    is_certain: bool

    @property
    def is_behavioural(self) -> bool:
        """Whether anything but a name changes."""
        return Change.RENAMED_ONLY not in self.changes


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference of two sets of rules.

    Attributes:
        differences: sorted by site.
        latent: changed rules that decide nowhere, neither before nor after.
        new_ties: pairs of rules that share a priority only now.
        added, removed, edited: names of rules.
        sampled: sites of which only some values were tried, so that another change is not excluded.
    """

    differences: tuple[Difference, ...]
    latent: tuple[str, ...]
    new_ties: tuple[tuple[str, str], ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]
    sampled: tuple[Site, ...] = ()


def difference_of(before: tuple[NamedPolicy, ...], after: tuple[NamedPolicy, ...], edition: Rules) -> Changes:
    """What `after` changes against `before`, both in the order of selection with the built-in rule.

    Source: retry 8.6.
    """
    old, new = Study.pair(before, after, edition)
    found: list[Difference] = []
    worded: dict[object, tuple[tuple[str, str], ...]] = {}
    for site in old.sites:
        found += _at_site(old, new, site, worded)
    names_before, names_after = ({r.name: r for r in rules} for rules in (before, after))
    common = names_before.keys() & names_after.keys()
    edited = sorted(n for n in common if rule_fingerprint(names_before[n]) != rule_fingerprint(names_after[n]))
    added, removed = sorted(names_after.keys() - common), sorted(names_before.keys() - common)
    live = {r.name for study in (old, new) for r in study.policies if any(True for _ in study.winning_sites(r))}
    latent = tuple(name for name in sorted({*edited, *added, *removed}) if name not in live)
    ties_before = set(_ties(old))
    ties = tuple(pair for pair in _ties(new) if pair not in ties_before)
    sampled = tuple(site for site in old.sites if _is_sampled(old, new, site))
    return Changes(tuple(_merged(found)), latent, ties, tuple(added), tuple(removed), tuple(edited), sampled)


def _is_sampled(old: Study, new: Study, site: Site) -> bool:
    """Whether contexts that were not tried may fare otherwise: some changed rule matches, or may, in some context."""
    space = old.space(site)
    if _is_exact(space):
        return False
    for study, other in ((old, new), (new, old)):
        kept = {rule_fingerprint(rule) for rule in other.policies}
        for rule in study.policies:
            if rule_fingerprint(rule) in kept:
                continue
            judged = study.judged(site, rule)
            is_sure = space.is_exact(names_read(rule))
            if judged.is_considered and (judged.match | judged.fails or not is_sure):
                return True
    return False


def _is_exact(space: Space) -> bool:
    return space.is_exact([name for group in space.groups for name in group.names])


def _ties(study: Study) -> Iterator[tuple[str, str]]:
    for i, one in enumerate(study.policies):
        for other in study.policies[i + 1 :]:
            if one.priority == other.priority and any(
                study.judged(site, one).match & study.judged(site, other).match for site in study.sites
            ):
                yield one.name, other.name


def _outcomes(study: Study, site: Site) -> list[tuple[Outcome, Contexts]]:
    picked = study.picked(site)
    found: list[tuple[Outcome, Contexts]] = []
    for judged in picked.judged:
        kind = Kind.DEFAULT if judged.rule.name == BUILT_IN and judged.rule.priority == 0 else Kind.RULE
        found += [(Outcome(kind, judged.rule), judged.win), (Outcome(Kind.ERROR, judged.rule), judged.ends)]
    found.append((Outcome(Kind.NONE), picked.none))
    return [(outcome, contexts) for outcome, contexts in found if contexts]


def _at_site(
    old: Study, new: Study, site: Site, worded: dict[object, tuple[tuple[str, str], ...]]
) -> Iterator[Difference]:
    space = old.space(site)
    is_exact = _is_exact(space)
    outcomes = _outcomes(new, site)
    for before, was in _outcomes(old, site):
        for after, now in outcomes:
            contexts = was & now
            if not contexts or _is_same(before, after):
                continue
            limits_before = _limits(old, site, before, contexts)
            limits_after = _limits(new, site, after, contexts)
            yield Difference(
                (site,),
                before,
                after,
                tuple(_changes(site, before, after, limits_before, limits_after)),
                region_of(space, contexts, worded),
                space.bag(contexts) or {},
                limits_before,
                limits_after,
                _in_flight(site, before, after),
                is_exact,
            )


def _is_same(before: Outcome, after: Outcome) -> bool:
    if before.kind is Kind.NONE or after.kind is Kind.NONE:
        return before.kind is after.kind
    if before.kind is Kind.ERROR or after.kind is Kind.ERROR:
        return before.kind is after.kind
    same_name = before.rule is not None and after.rule is not None and before.rule.name == after.rule.name
    return same_name and before.tree == after.tree


def _limits(study: Study, site: Site, outcome: Outcome, contexts: Contexts) -> Limits | None:
    if outcome.kind not in (Kind.RULE, Kind.DEFAULT) or outcome.rule is None:
        return None
    return study.limits(site, outcome.rule, contexts)


def _changes(site: Site, before: Outcome, after: Outcome, old: Limits | None, new: Limits | None) -> Iterator[Change]:
    decides = (Kind.RULE, Kind.DEFAULT)
    both = before.kind in decides and after.kind in decides
    if both and before.tree == after.tree:
        yield Change.RENAMED_ONLY
        return
    if before.kind is Kind.ERROR:
        yield Change.ERROR_FIXED
    match after.kind:
        case Kind.ERROR:
            yield Change.NEW_ERROR
        case Kind.NONE:
            yield Change.LOST
        case _ if both and before.rule is not None and after.rule is not None and before.rule.name == after.rule.name:
            yield Change.SAME_RULE_EDITED
        case Kind.DEFAULT:
            yield Change.MOVED_TO_DEFAULT
        case Kind.RULE:
            yield Change.MOVED_TO_RULE
    yield from _bounds(old, new)
    if site.noun is Noun.SAGA:
        was, now = (limits is not None and limits.is_admissible for limits in (old, new))
        # No rule at a saga is the configured default, which is admitted.
        was, now = was or before.kind is Kind.NONE, now or after.kind is Kind.NONE
        if was and not now:
            yield Change.SAGA_BLOCKED
        elif now and not was:
            yield Change.SAGA_UNBLOCKED


def _most(limits: Limits | None) -> tuple[float, float]:
    """The most retries and the longest total wait, infinite for no bound."""
    if limits is None:
        return 0, 0
    retries, total = limits.retries.at_most, limits.total.at_most
    return math.inf if retries is None else retries, math.inf if total is None else total


def _bounds(old: Limits | None, new: Limits | None) -> Iterator[Change]:
    (retries, total), (retries_now, total_now) = _most(old), _most(new)
    grows = retries_now > retries or total_now > total
    shrinks = retries_now < retries or total_now < total
    if grows and shrinks:
        yield Change.INCOMPARABLE
    elif grows:
        yield Change.LOOSER
    elif shrinks:
        yield Change.TIGHTER
    else:
        yield Change.EQUAL_BOUNDS
    low, low_now = (None if x is None else x.delay_low_ns for x in (old, new))
    if low is not None and low_now is not None and low != low_now:
        yield Change.FASTER if low_now < low else Change.SLOWER
    was, now = _is_open(old), _is_open(new)
    if now and not was:
        yield Change.BECAME_UNBOUNDED
    elif was and not now:
        yield Change.BECAME_BOUNDED
    if new is not None and new.storm and not (old is not None and old.storm):
        yield Change.STORM_ADDED


def _is_open(limits: Limits | None) -> bool:
    return limits is not None and limits.bounded is not Facet.YES and limits.limit_class is not LimitClass.DEGENERATE


def _in_flight(site: Site, before: Outcome, after: Outcome) -> InFlight | None:
    """What becomes of running sequences.

    Source: retry 4.5, 6.5, 8.6.
    """
    if before.rule is None or after.rule is None or Kind.ERROR in (before.kind, after.kind):
        return InFlight.ENDS if site.noun is Noun.SAGA and before.kind is not Kind.ERROR else None
    if site.noun is Noun.SAGA:
        return None if before.tree == after.tree else InFlight.ENDS
    same = shape_of(before.rule.policy) == shape_of(after.rule.policy)
    return InFlight.CONTINUES if same else InFlight.RESETS


def _merged(found: Sequence[Difference]) -> Iterator[Difference]:
    """Differences of several sites that are the same, told once."""
    groups: dict[object, list[Difference]] = {}
    for difference in found:
        key = (difference.before, difference.after, difference.changes, difference.region, difference.in_flight)
        groups.setdefault(key, []).append(difference)
    for group in groups.values():
        first = group[0]
        sites = tuple(site for difference in group for site in difference.sites)
        yield Difference(
            sites,
            first.before,
            first.after,
            first.changes,
            first.region,
            first.witness,
            first.limits_before,
            first.limits_after,
            first.in_flight,
            all(difference.is_certain for difference in group),
        )


def after_deploying(
    existing: Sequence[NamedPolicy], manifest: Sequence[NamedPolicy]
) -> tuple[tuple[NamedPolicy, ...], tuple[str, ...]]:
    """The rules of an environment after a deployment, and the names that it skips because they exist.

    Source: retry 1.6, rule 4.
    """
    names = {rule.name for rule in existing}
    skipped = tuple(rule.name for rule in manifest if rule.name in names)
    return (*existing, *(rule for rule in manifest if rule.name not in names)), skipped
