"""Whether the same policy is selected at every decision of a saga, and who could change that.

Source: retry 6.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from policyd.core.retry.context import saga_bag
from policyd.core.retry.continuation import IdentityChoice, identity_of
from policyd.core.retry.domain import ATTEMPT
from policyd.core.retry.fingerprint import tree_fingerprint
from policyd.core.retry.limits import Facet, Limits
from policyd.core.retry.policy import NamedPolicy, Policy, default_rule, mentions
from policyd.core.retry.predicate import Constant, PropText, leaves
from policyd.core.retry.representatives import constants_of
from policyd.core.retry.resolve import Effective, RuleSet, Tier
from policyd.core.retry.saga import SagaRules, error_text, unfit
from policyd.core.retry.value import EvaluationError, Integer, Text

MAX_ATTEMPTS = 10_000
"""Attempts that are looked at one by one."""


class Source(Enum):
    """What can make the selection another one; the value is its label.

    Source: retry 6.7.
    """

    READS_ATTEMPT = "U1"
    FAILS_LATER = "U2"
    TIE = "U3"
    EXPOSES_LOWER = "U4"
    BODY_SETS = "U5"
    ENVIRONMENT_EDITED = "U6"
    DEPLOY_ADDS = "U7"
    FETCH_FAILS = "U8"
    CONFIGURATION_TWICE = "U9"
    RELIES_ON_DEFAULT = "U10"
    DEFAULT_REMOVED = "U11"
    FILTER_READS_ATTEMPT = "U12"
    SELF_VIEW_REVOKED = "U13"

    @property
    def needs_an_actor(self) -> bool:
        """Whether somebody must act for it; where the data show such an actor the saga is not stable."""
        return self in (Source.BODY_SETS, Source.ENVIRONMENT_EDITED, Source.DEPLOY_ADDS, Source.SELF_VIEW_REVOKED)

    @property
    def words(self) -> str:
        """What it is."""
        return _WORDS[self]


_WORDS = {
    Source.READS_ATTEMPT: "a predicate reads `attempt`, and another policy is selected later",
    Source.FAILS_LATER: "a predicate fails at a later attempt",
    Source.TIE: "two rules of one priority match, so that a new name changes the choice",
    Source.EXPOSES_LOWER: "removing or editing the rule exposes a lower one",
    Source.BODY_SETS: "the body or a compensation sets or removes retry policies",
    Source.ENVIRONMENT_EDITED: "someone may edit the environment's policies",
    Source.DEPLOY_ADDS: "a deployment may add a rule that comes first",
    Source.FETCH_FAILS: "the environment's policies may be out of reach at one decision",
    Source.CONFIGURATION_TWICE: "the agent's configuration may change, or holds one name twice",
    Source.RELIES_ON_DEFAULT: "the executor's own default decides, and executors may differ",
    Source.DEFAULT_REMOVED: "the built-in rule was removed at run time",
    Source.FILTER_READS_ATTEMPT: "a filter of the policy reads `attempt`, which does not change its identity",
    Source.SELF_VIEW_REVOKED: "self-view may be revoked or expire meanwhile",
}


@dataclass(frozen=True, slots=True)
class Actors:
    """Who can act during a saga, as far as the data show; each names whom, empty for nobody known.

    Attributes:
        body: whether the body is known to set or remove policies.
        editors: who may create, update or delete the environment's policies.
        deployers: who may deploy.
        revokers: who may take self-view away, or when it expires.
    """

    body: bool = False
    editors: tuple[str, ...] = ()
    deployers: tuple[str, ...] = ()
    revokers: tuple[str, ...] = ()


class Intrinsic(Enum):
    """Whether the selection stays the same where nobody acts."""

    STABLE = "stable"
    UNSTABLE = "unstable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Stability:
    """The answer.

    Attributes:
        intrinsic: where nobody acts.
        at: the first attempt with another selection, None for none.
        why: what happens there, in words; empty for nothing.
        is_certain: whether the run surely gets there.
        sources: everything that applies, in order.
        actors: who the data show.
        uncertain_identity: whether definitions of the same policy give different answers.
    """

    intrinsic: Intrinsic
    at: int | None
    why: str
    is_certain: bool
    sources: tuple[Source, ...]
    actors: Actors
    uncertain_identity: bool = False

    @property
    def word(self) -> str:
        """`yes`, `yes_if_frozen`, `no` or `unknown`, as the rules say it."""
        match self.intrinsic:
            case Intrinsic.UNSTABLE:
                return "no" if self.is_certain else "unknown"
            case Intrinsic.UNKNOWN:
                return "unknown"
            case Intrinsic.STABLE:
                return "yes_if_frozen" if self.operational else "yes"

    @property
    def operational(self) -> tuple[Source, ...]:
        """What somebody or something could change."""
        return tuple(s for s in self.sources if s in _OPERATIONAL)

    @property
    def acting(self) -> tuple[Source, ...]:
        """What the data show somebody for."""
        shown = {
            Source.BODY_SETS: self.actors.body,
            Source.ENVIRONMENT_EDITED: bool(self.actors.editors),
            Source.DEPLOY_ADDS: bool(self.actors.deployers),
            Source.SELF_VIEW_REVOKED: bool(self.actors.revokers),
        }
        return tuple(s for s in self.sources if shown.get(s))

    @property
    def facet(self) -> Facet:
        """The facet `replay-stable`.

        Source: questions 5.
        """
        match self.word:
            case "yes":
                return Facet.YES
            case "no":
                return Facet.NO
            case "yes_if_frozen":
                return Facet.NO if self.acting else Facet.UNKNOWN
            case _:
                return Facet.UNKNOWN


_OPERATIONAL = (
    Source.EXPOSES_LOWER,
    Source.BODY_SETS,
    Source.ENVIRONMENT_EDITED,
    Source.DEPLOY_ADDS,
    Source.FETCH_FAILS,
    Source.CONFIGURATION_TWICE,
    Source.RELIES_ON_DEFAULT,
    Source.SELF_VIEW_REVOKED,
)


def stability_of(
    urn: str,
    rules: SagaRules,
    effective: Iterable[Effective],
    *,
    actors: Actors = Actors(),
    default_is_removed: bool = False,
    twice_configured: bool = False,
) -> Stability:
    """Whether the selection stays the same, and what could change it.

    Args:
        urn: of the agent.
        rules: what decides.
        effective: the same rules with the tiers they come from.
        actors: who can act, as far as the data show.
        default_is_removed: whether the agent removed the built-in rule.
        twice_configured: whether the agent's configuration holds one name twice.

    Source: retry 6.7.
    """
    ready = RuleSet.of(rules.policies)
    tiers = {e.rule: e.tier for e in effective}
    found = _intrinsic(urn, rules, ready)
    first = _chosen(urn, rules, ready, 1)
    chosen = first[0] if isinstance(first, tuple) else None
    sources: list[Source] = []
    if found.intrinsic is Intrinsic.UNSTABLE:
        sources.append(Source.FAILS_LATER if found.fails else Source.READS_ATTEMPT)
    matching = _matching(urn, rules)
    if chosen is not None:
        same = [r for r in matching if r.priority == chosen.priority and r is not chosen]
        if any(tree_fingerprint(r.policy) != tree_fingerprint(chosen.policy) for r in same):
            sources.append(Source.TIE)
        lower = [r for r in matching if r.priority < chosen.priority]
        if any(tree_fingerprint(r.policy) != tree_fingerprint(chosen.policy) for r in lower):
            sources.append(Source.EXPOSES_LOWER)
    if actors.body:
        sources.append(Source.BODY_SETS)
    tier = Tier.BUILT_IN if chosen is None else tiers.get(chosen, Tier.ENVIRONMENT)
    if tier is not Tier.OVERLAY:
        sources.append(Source.ENVIRONMENT_EDITED)
    sources.append(Source.DEPLOY_ADDS)
    if tier is Tier.ENVIRONMENT:
        sources.append(Source.FETCH_FAILS)
    if twice_configured or tier is Tier.AGENT_CONFIGURATION:
        sources.append(Source.CONFIGURATION_TWICE)
    if tier is Tier.BUILT_IN:
        sources.append(Source.RELIES_ON_DEFAULT)
    if default_is_removed:
        sources.append(Source.DEFAULT_REMOVED)
    policy = default_rule(rules.config).policy if chosen is None else chosen.policy
    if mentions(policy, ATTEMPT):
        sources.append(Source.FILTER_READS_ATTEMPT)
    sources.append(Source.SELF_VIEW_REVOKED)
    return Stability(
        found.intrinsic, found.at, found.why, found.is_certain, tuple(sources), actors, found.uncertain_identity
    )


def _matching(urn: str, rules: SagaRules) -> list[NamedPolicy]:
    """The rules that match the first decision."""
    bag = saga_bag(urn, 1).properties
    return [r for r in rules.policies if RuleSet.of((r,)).pick(bag, rules.resolver) is r]


_Chosen = tuple[NamedPolicy | None, Policy]


def _chosen(urn: str, rules: SagaRules, ready: RuleSet, attempt: int) -> _Chosen | EvaluationError:
    picked = ready.pick(saga_bag(urn, attempt).properties, rules.resolver)
    if picked is None:
        return None, default_rule(rules.config).policy
    if isinstance(picked, NamedPolicy):
        return picked, picked.policy
    return picked


@dataclass(frozen=True, slots=True)
class _Found:
    """What is seen where nobody acts; as in `Stability`, and whether the selection fails at `at`."""

    intrinsic: Intrinsic
    at: int | None = None
    why: str = ""
    is_certain: bool = True
    uncertain_identity: bool = False
    fails: bool = False


def _intrinsic(urn: str, rules: SagaRules, ready: RuleSet) -> _Found:
    """Whether the selection stays the same where nobody acts."""
    first = _chosen(urn, rules, ready, 1)
    if not isinstance(first, tuple):
        return _Found(Intrinsic.UNSTABLE, 1, f"a predicate fails: {error_text(first)}", fails=True)
    limits = rules.limits(first[1], urn)
    if next(unfit(first[1], limits, rules), None) is not None:
        return _Found(Intrinsic.STABLE)  # the first decision is the only one
    if not any(mentions(rule.selector, ATTEMPT) for rule in rules.policies):
        return _Found(Intrinsic.STABLE)
    wanted = identity_of(first[0], first[1], rules.identity)
    uncertain = False
    attempts, is_cut = _attempts(rules.policies, limits)
    for k in attempts:
        now = _chosen(urn, rules, ready, k)
        if isinstance(now, tuple) and now[0] is first[0]:
            continue  # the same rule, or again none
        certain = limits.retries.exact or k <= limits.retries.at_least + 1
        if not isinstance(now, tuple):
            why = f"at attempt {k} a predicate fails: {error_text(now)}"
            return _Found(Intrinsic.UNSTABLE, k, why, certain, uncertain, fails=True)
        if identity_of(now[0], now[1], rules.identity) != wanted:
            name = "the configured default" if now[0] is None else f"`{now[0].name}`"
            return _Found(Intrinsic.UNSTABLE, k, f"at attempt {k} {name} is selected instead", certain, uncertain)
        uncertain |= any(identity_of(now[0], now[1], c) != identity_of(first[0], first[1], c) for c in IdentityChoice)
    if is_cut and _reads_attempt_as_text(rules.policies):
        why = "a predicate reads `attempt` as text"
        return _Found(Intrinsic.UNKNOWN, why=why, uncertain_identity=uncertain)
    return _Found(Intrinsic.STABLE, uncertain_identity=uncertain)


def _attempts(policies: Sequence[NamedPolicy], limits: Limits) -> tuple[list[int], bool]:
    """The attempts to look at in order, and whether others are left out."""
    last = None if limits.retries.at_most is None else limits.retries.at_most + 1
    is_whole = last is not None and last <= MAX_ATTEMPTS
    # compared as an integer it can only come out otherwise around a constant
    by_constants = not _reads_attempt_as_text(policies)
    if is_whole and not by_constants:
        return list(range(1, (last or 0) + 1)), False
    found = {1} if by_constants else set(range(1, MAX_ATTEMPTS + 1))
    for policy in policies:
        for leaf in leaves(policy.selector):
            if isinstance(leaf, Constant) or leaf.property != ATTEMPT:
                continue
            for value in constants_of(leaf):
                if isinstance(value, Integer):
                    found |= {value.value - 1, value.value, value.value + 1}
    return sorted(k for k in found if k >= 1 and (last is None or k <= last)), not is_whole


def _reads_attempt_as_text(policies: Iterable[NamedPolicy]) -> bool:
    for policy in policies:
        for leaf in leaves(policy.selector):
            if isinstance(leaf, Constant) or leaf.property != ATTEMPT:
                continue
            if isinstance(leaf, PropText) or any(isinstance(v, Text) for v in constants_of(leaf)):
                return True
    return False


def pinning_advice(chosen: NamedPolicy | None) -> str:
    """How an agent keeps its policy the same during a saga.

    Source: retry 6.7.
    """
    name = "default" if chosen is None else chosen.name
    return (
        f"set an overlay copy of `{name}` in the agent before the saga: it outranks edits of that name in the"
        " environment, but not a new rule of higher priority"
    )
