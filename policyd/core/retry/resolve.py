"""Which rule decides: the effective list, the resolvers, and why each rule does or does not win.

Source: retry 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from policyd.core.edition import Rules
from policyd.core.retry.evaluate import Lenient, body_applies, evaluate_lenient, evaluate_strict
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


def select(rules: Iterable[NamedPolicy], bag: Bag, resolver: Resolver, *, status_filter: bool = False) -> Selection:
    """Select a rule and say what became of every one.

    Args:
        rules: in any order; sorted by priority, equal ones keep their order.
        bag: what selectors see.
        resolver: the way to select.
        status_filter: consider only rules that mention `status-code`, as sites for response statuses do.

    Source: retry 3.3, 3.4.
    """
    judge = _JUDGES[resolver]
    considered: list[Considered] = []
    decided = False
    for rule in by_priority(rules):
        if status_filter and not mentions_status(rule):
            considered.append(Considered(rule, Outcome.FILTERED))
        elif decided:
            considered.append(Considered(rule, Outcome.NOT_REACHED))
        else:
            verdict = judge(rule, bag)
            considered.append(verdict)
            decided = verdict.outcome in (Outcome.SELECTED, Outcome.ERROR)
    return Selection(resolver, tuple(considered))


def pick(sorted_rules: Sequence[NamedPolicy], bag: Bag, resolver: Resolver) -> NamedPolicy | EvaluationError | None:
    """The rule that `select` selects, the error that ends it, or None; without a record.

    Args:
        sorted_rules: as `by_priority` or `effective_rules` gives them.
        bag: what selectors see.
        resolver: the way to select.
    """
    judge = _JUDGES[resolver]
    for rule in sorted_rules:
        verdict = judge(rule, bag)
        if verdict.outcome is Outcome.SELECTED:
            return rule
        if verdict.outcome is Outcome.ERROR:
            return verdict.error
    return None


def _strict(rule: NamedPolicy, bag: Bag) -> Considered:
    outcome = evaluate_strict(rule.selector, bag)
    if outcome is False:
        return Considered(rule, Outcome.NO_MATCH)
    if outcome is True:
        return Considered(rule, Outcome.SELECTED)
    return Considered(rule, Outcome.ERROR, outcome)


def _skip_missing(rule: NamedPolicy, bag: Bag) -> Considered:
    verdict = _strict(rule, bag)
    if isinstance(verdict.error, PropertyNotFound):
        return replace(verdict, outcome=Outcome.MISSING)
    return verdict


def _applicable(rule: NamedPolicy, bag: Bag) -> Considered:
    outcome = evaluate_lenient(rule.selector, bag)
    if outcome is Lenient.NO_MATCH:
        return Considered(rule, Outcome.NO_MATCH)
    if outcome is Lenient.MISSING:
        return Considered(rule, Outcome.MISSING)
    if not isinstance(outcome, Lenient):
        return Considered(rule, Outcome.ERROR, outcome)
    applies = body_applies(rule.policy, bag)
    if isinstance(applies, bool):
        return Considered(rule, Outcome.SELECTED if applies else Outcome.BODY_NO_MATCH)
    return Considered(rule, Outcome.ERROR, applies)


_JUDGES: dict[Resolver, Callable[[NamedPolicy, Bag], Considered]] = {
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
