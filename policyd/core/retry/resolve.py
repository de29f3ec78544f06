"""Which rule decides: the effective list, the resolvers, and why each rule does or does not win.

Source: retry 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from policyd.core.edition import Rules
from policyd.core.retry.compiled import LenientTest, Strict, compile_lenient, compile_strict
from policyd.core.retry.evaluate import Lenient, body_applies
from policyd.core.retry.policy import NamedPolicy, RetryConfig, default_rule, mentions
from policyd.core.retry.value import Bag, EvaluationError, PropertyNotFound


class Resolver(Enum):
    """The ways to select."""

    STRICT = "strict"
    SKIP_MISSING = "missing as no match"
    APPLICABLE = "applicable"


class Outcome(Enum):
    """What became of one rule in a selection."""

    SELECTED = "selected"
    NO_MATCH = "its selector is false"
    MISSING = "its selector reads a missing property"
    BODY_NO_MATCH = "its body does not apply"
    ERROR = "its selector or body fails"
    NOT_REACHED = "a rule before it decided"
    FILTERED = "it does not mention the status code"


@dataclass(frozen=True, slots=True)
class Considered:
    """One rule of a selection with what became of it.

    Attributes:
        rule: the rule.
        outcome: what became of it.
        error: the failure, or the missing property; None where there is neither.
    """

    rule: NamedPolicy
    outcome: Outcome
    error: EvaluationError | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """The outcome of a selection.

    Attributes:
        resolver: the way it was made.
        considered: every rule in the order of the selection, status-filtered ones at their place.
    """

    resolver: Resolver
    considered: tuple[Considered, ...]

    @property
    def rule(self) -> NamedPolicy | None:
        """The rule that decides, or None."""
        return next((c.rule for c in self.considered if c.outcome is Outcome.SELECTED), None)

    @property
    def error(self) -> EvaluationError | None:
        """The error that ended the selection, or None."""
        return next((c.error for c in self.considered if c.outcome is Outcome.ERROR), None)


def by_priority(rules: Iterable[NamedPolicy]) -> tuple[NamedPolicy, ...]:
    """The rules with larger priorities first, equal ones in the order given.

    Source: retry 3.3.
    """
    return tuple(sorted(rules, key=lambda rule: -rule.priority))


@dataclass(frozen=True, slots=True)
class _Ready:
    """A rule with its selector made ready for both evaluations."""

    rule: NamedPolicy
    strict: Strict
    lenient: LenientTest
    mentions_status: bool


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules in the order of selection, made ready for many bags."""

    ready: tuple[_Ready, ...]

    @classmethod
    def of(cls, rules: Iterable[NamedPolicy]) -> RuleSet:
        """The rules in any order; sorted by priority, equal ones keep their order."""
        return cls(
            tuple(
                _Ready(r, compile_strict(r.selector), compile_lenient(r.selector), mentions_status(r))
                for r in by_priority(rules)
            )
        )

    @property
    def rules(self) -> tuple[NamedPolicy, ...]:
        """The rules in the order of selection."""
        return tuple(ready.rule for ready in self.ready)

    def select(self, bag: Bag, resolver: Resolver, *, status_filter: bool = False) -> Selection:
        """Select a rule and say what became of every one.

        Args:
            bag: what selectors see.
            resolver: the way to select.
            status_filter: consider only rules that mention `status-code`, as sites for response statuses do.

        Source: retry 3.3, 3.4.
        """
        judge = _JUDGES[resolver]
        considered: list[Considered] = []
        decided = False
        for ready in self.ready:
            if status_filter and not ready.mentions_status:
                outcome, error = Outcome.FILTERED, None
            elif decided:
                outcome, error = Outcome.NOT_REACHED, None
            else:
                outcome, error = judge(ready, bag)
                decided = outcome in _DECIDING
            considered.append(Considered(ready.rule, outcome, error))
        return Selection(resolver, tuple(considered))

    def pick(
        self, bag: Bag, resolver: Resolver, *, status_filter: bool = False
    ) -> NamedPolicy | EvaluationError | None:
        """What `select` comes to, without a record: the rule, the error that ends it, or None."""
        judge = _JUDGES[resolver]
        for ready in self.ready:
            if status_filter and not ready.mentions_status:
                continue
            outcome, error = judge(ready, bag)
            if outcome is Outcome.SELECTED:
                return ready.rule
            if outcome is Outcome.ERROR:
                return error
        return None


def select(rules: Iterable[NamedPolicy], bag: Bag, resolver: Resolver, *, status_filter: bool = False) -> Selection:
    """Select one of `rules` (in any order) for one bag; `RuleSet.select` is faster for many bags.

    Source: retry 3.3, 3.4.
    """
    return RuleSet.of(rules).select(bag, resolver, status_filter=status_filter)


_Judged = tuple[Outcome, EvaluationError | None]
_DECIDING = (Outcome.SELECTED, Outcome.ERROR)
_NO: _Judged = (Outcome.NO_MATCH, None)
_YES: _Judged = (Outcome.SELECTED, None)


def _strict(ready: _Ready, bag: Bag) -> _Judged:
    outcome = ready.strict(bag)
    if isinstance(outcome, bool):
        return _YES if outcome else _NO
    return Outcome.ERROR, outcome


def _skip_missing(ready: _Ready, bag: Bag) -> _Judged:
    outcome, error = _strict(ready, bag)
    return (Outcome.MISSING, error) if isinstance(error, PropertyNotFound) else (outcome, error)


def _applicable(ready: _Ready, bag: Bag) -> _Judged:
    outcome = ready.lenient(bag)
    if outcome is Lenient.NO_MATCH:
        return _NO
    if outcome is Lenient.MISSING:
        return Outcome.MISSING, None
    if not isinstance(outcome, Lenient):
        return Outcome.ERROR, outcome
    applies = body_applies(ready.rule.policy, bag)
    if isinstance(applies, bool):
        return _YES if applies else (Outcome.BODY_NO_MATCH, None)
    return Outcome.ERROR, applies


_JUDGES: dict[Resolver, Callable[[_Ready, Bag], _Judged]] = {
    Resolver.STRICT: _strict,
    Resolver.SKIP_MISSING: _skip_missing,
    Resolver.APPLICABLE: _applicable,
}


def mentions_status(rule: NamedPolicy) -> bool:
    """Whether a rule is considered at sites for response statuses.

    Source: retry 3.4.
    """
    return mentions(rule.selector, "status-code") or mentions(rule.policy, "status-code")


class Tier(Enum):
    """Where an effective rule comes from; later tiers replace rules of the same name."""

    BUILT_IN = 0
    AGENT_CONFIGURATION = 1
    ENVIRONMENT = 2
    OVERLAY = 3


@dataclass(frozen=True, slots=True)
class Overlay:
    """What one agent has set and removed at run time."""

    rules: tuple[NamedPolicy, ...] = ()
    removed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Effective:
    """An effective rule with the tier it comes from and the tiers it hides."""

    rule: NamedPolicy
    tier: Tier
    hides: tuple[Tier, ...] = ()


def effective_rules(
    environment: Iterable[NamedPolicy],
    *,
    agent_configuration: Iterable[NamedPolicy] = (),
    overlay: Overlay = Overlay(),
    config: RetryConfig | None = RetryConfig(),  # noqa: B008 - a frozen value
) -> tuple[Effective, ...]:
    """Merge the tiers by name and sort by priority, then name.

    Args:
        environment: the environment's policies; the last of one name counts.
        agent_configuration: the policies in the agent's configuration.
        overlay: what the agent set and removed; a removal hides the name in every tier.
        config: makes the built-in rule `default`; None for none.

    Source: retry 3.1.
    """
    tiers: tuple[tuple[Tier, Iterable[NamedPolicy]], ...] = (
        (Tier.BUILT_IN, () if config is None else (default_rule(config),)),
        (Tier.AGENT_CONFIGURATION, agent_configuration),
        (Tier.ENVIRONMENT, environment),
        (Tier.OVERLAY, overlay.rules),
    )
    merged: dict[str, Effective] = {}
    for tier, rules in tiers:
        for rule in rules:
            below = merged.get(rule.name)
            hides = () if below is None else (*below.hides, *((below.tier,) if below.tier is not tier else ()))
            merged[rule.name] = Effective(rule, tier, hides)
    kept = (e for e in merged.values() if e.rule.name not in overlay.removed)
    return tuple(sorted(kept, key=lambda e: (-e.rule.priority, e.rule.name)))


class SiteResolver(Enum):
    """How a site selects, before the edition is known."""

    STRICT = "strict"
    APPLICABLE = "applicable"
    STATUS = "applicable, status rules only"
    GUEST = "strict at the guest's own call"
    SAGA = "strict at a saga"

    def resolver(self, rules: Rules) -> Resolver:
        """The way to select under `rules`.

        Source: retry 0.1, 3.3.
        """
        match self:
            case SiteResolver.STRICT:
                skips = rules.is_next("strict_missing")
                return Resolver.SKIP_MISSING if skips else Resolver.STRICT
            case SiteResolver.GUEST | SiteResolver.SAGA:
                return Resolver.STRICT
            case SiteResolver.APPLICABLE | SiteResolver.STATUS:
                return Resolver.APPLICABLE
            case _:
                assert_never(self)

    @property
    def filters_status(self) -> bool:
        """Whether only rules that mention the status code are considered."""
        return self is SiteResolver.STATUS
