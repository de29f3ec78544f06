"""Is a saga retry of an agent admitted, bounded and replay-stable?

Source: questions 1; retry 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from policyd.core.edition import Rules
from policyd.core.retry import Effective, Facet, Limits, Text
from policyd.core.retry.continuation import Continuation, IdentityChoice
from policyd.core.retry.nouns import SOME_COMPONENT
from policyd.core.retry.saga import (
    Admission,
    Attempt,
    Body,
    Circumstances,
    Compensation,
    Decided,
    Form,
    SagaRules,
    SagaRun,
    SagaVerdict,
    SelfView,
    decide,
    run_saga,
)
from policyd.core.retry.saga_stability import Actors, Stability, pinning_advice, stability_of
from policyd.core.retry.sites import site_named
from policyd.core.retry.study import Study
from policyd.usecases.deployments import Described, Selection, agent_name
from policyd.usecases.retry_sources import RetryEnvironment
from policyd.usecases.saga_actors import actors_of
from policyd.usecases.saga_self_view import (
    GIVEN,
    NOT_NEEDED,
    AgentCards,
    SagaSelfView,
    cards_of_manifest,
    self_view_of,
)

_ASKS_NOTHING = frozenset(
    {
        SagaVerdict.COMMITTED,
        SagaVerdict.NOT_RETRIED_FALLIBLE,
        SagaVerdict.NOT_RETRIED_PARTIAL_ROLLBACK,
        SagaVerdict.NOT_A_SAGA_DECISION,
        SagaVerdict.REWIND_UNBOUNDED,
    }
)
"""Outcomes that need no permission (retry 6.3)."""

MAX_INSTANCES = 20
"""So many names of agents are tried where predicates tell instances apart."""

FOLLOWED = 200
"""Decisions of the run that is shown."""


@dataclass(frozen=True, slots=True)
class SagaQuestion:
    """A question about the sagas of an agent.

    Attributes:
        agent: type or full id.
        attempt: the failed attempt, None for the whole sequence.
        continuation: of the decision before.
        elapsed_ns: time since the saga began.
        form: of the transaction.
        body: how the body ended.
        compensation: how the compensations ended.
        body_ns: what each body takes, for the whole sequence.
        compensation_ns: what each pass of compensations takes.
        identity: what counts as the same policy.
        admission: how the host's test is read.
        self_view: set apart from the cards; None for what the cards say.
        component_id: of the agent, empty for not known.
        sets_policies: whether the body is known to set or remove policies.
    """

    agent: str
    attempt: int | None = None
    continuation: Continuation | None = None
    elapsed_ns: int = 0
    form: Form = Form.INFALLIBLE
    body: Body = Body.FAILED
    compensation: Compensation = Compensation.OK
    body_ns: int = 0
    compensation_ns: int = 0
    identity: IdentityChoice = IdentityChoice.TREE
    admission: Admission = Admission.LENIENT
    self_view: SelfView | None = None
    component_id: str = ""
    sets_policies: bool = False


@dataclass(frozen=True, slots=True)
class SagaAnswer:
    """The answer.

    Attributes:
        agent: as asked.
        admitted: may the retry happen (the first one, for the whole sequence).
        bounded: has the effective policy an end.
        replay_stable: is the same policy selected at every decision.
        decided: the decision asked about, the first one for the whole sequence.
        run: the whole sequence without jitter; None where one attempt was asked about, or no policy decides.
        longest: the same with all jitter.
        stability: None where no policy decides.
        alternatives: other verdicts that are possible, each with its reason; empty where the answer is certain.
        seen: whether the saga may look at its agent, by what the cards say.
        rules: the edition.
        warnings: what is uncertain.
        advice: how to keep the policy the same, empty where nothing helps.
    """

    agent: str
    admitted: Facet
    bounded: Facet
    replay_stable: Facet
    decided: Decided
    run: SagaRun | None
    longest: SagaRun | None
    stability: Stability | None
    alternatives: tuple[str, ...]
    seen: SagaSelfView
    rules: Rules
    warnings: tuple[str, ...]
    advice: str

    @property
    def limits(self) -> Limits | None:
        """Where the retries of the policy end."""
        return self.decided.limits


def ask_saga(
    question: SagaQuestion,
    environment: RetryEnvironment,
    described: Described,
    selection: Selection,
    rules: Rules,
    cards: AgentCards | None = None,
) -> SagaAnswer:
    """The answer for an agent of a manifest.

    Args:
        question: what is asked.
        environment: its retry policies.
        described: the deployment, for the agent's cards.
        selection: what the manifest may leave open.
        rules: the edition.
        cards: of the agents; None for the initial cards of the manifest.

    Raises:
        InputError: where the agent type is probably misspelled.
    """
    cards = cards or cards_of_manifest(described, selection, rules)
    effective = environment.effective
    saga_rules = SagaRules(
        tuple(e.rule for e in effective), edition=rules, identity=question.identity, admission=question.admission
    )
    asks = rules.is_next("saga")
    seen = _self_view(question, cards, rules) if asks else NOT_NEEDED
    actors = Actors()
    if asks:
        types = [agent.name for agent in described.deployment.agents]
        names = [policy.rule.name for policy in environment.policies]
        own, _ = agent_name(question.agent)
        actors = actors_of(types, own, cards, names, sets_policies=question.sets_policies)
    every = urns_of(question, saga_rules)
    urns = every[:MAX_INSTANCES]
    views = (seen.view,) if seen.view is not None else (SelfView.GRANTED, SelfView.DENIED)
    # the course is that of the first; of the others only what they are decided
    answers = [
        _one(question, saga_rules, effective, urn, view, actors, follows=place == 0)
        for place, (urn, view) in enumerate(product(urns, views))
    ]
    first = answers[0]
    alternatives = _alternatives(answers)
    untried = len(every) - len(urns)
    if untried:
        others = f"not tried: {untried} more names of agents that the predicates tell apart"
        alternatives = (*(alternatives or (f"{first.decided.verdict.value}: {first.decided.why}",)), others)
    admitted = _agreed([a.admitted for a in answers])
    return replace(
        first,
        admitted=Facet.UNKNOWN if untried else admitted,
        bounded=Facet.UNKNOWN if untried else _agreed([a.bounded for a in answers]),
        replay_stable=Facet.UNKNOWN if untried else _agreed([a.replay_stable for a in answers]),
        alternatives=alternatives,
        seen=NOT_NEEDED if all(a.decided.verdict in _ASKS_NOTHING for a in answers) else seen,
    )


def _agreed(facets: Sequence[Facet]) -> Facet:
    return facets[0] if len(set(facets)) == 1 else Facet.UNKNOWN


def _alternatives(answers: Sequence[SagaAnswer]) -> tuple[str, ...]:
    found = dict.fromkeys(f"{a.decided.verdict.value}: {a.decided.why}" for a in answers)
    return tuple(found) if len(found) > 1 else ()


def urns_of(question: SagaQuestion, rules: SagaRules) -> tuple[str, ...]:
    """The names under which the agent may be known: one, or those that predicates tell apart."""
    type_name, agent_id = agent_name(question.agent)
    head = f"urn:worker:{question.component_id or SOME_COMPONENT}/"
    first = head + (agent_id or f"{type_name}(1)")
    site = site_named("saga")
    assert site is not None  # it is in the table
    if agent_id is not None and question.component_id:
        return (first,)
    found = [first]
    for group in Study(rules.policies, rules.edition).space(site).groups:
        for cell in group.cells if "noun-uri" in group.names else ():
            noun = cell.get("noun-uri")
            if not isinstance(noun, Text):
                continue
            component, _, name = noun.value.removeprefix("urn:worker:").partition("/")
            if question.component_id and component != question.component_id:
                continue
            if (agent_id is not None and name == agent_id) or (
                agent_id is None and name.startswith(f"{type_name}(") and name.endswith(")")
            ):
                found.append(noun.value)
    if agent_id is None:
        found += (f'{head}{type_name}("a/b")', f"{head}{type_name}()")
    return tuple(dict.fromkeys(found))


def _one(
    question: SagaQuestion,
    rules: SagaRules,
    effective: tuple[Effective, ...],
    urn: str,
    view: SelfView,
    actors: Actors,
    *,
    follows: bool,
) -> SagaAnswer:
    attempt = Attempt(
        urn,
        question.attempt or 1,
        question.form,
        question.body,
        question.compensation,
        view,
        question.continuation,
        question.elapsed_ns if question.attempt is not None else question.body_ns + question.compensation_ns,
    )
    decided = decide(attempt, rules)
    run = longest = None
    if follows and question.attempt is None and decided.policy is not None:
        there = Circumstances(lambda _: rules, lambda _: view)
        run, longest = (
            run_saga(
                urn,
                there,
                body_ns=question.body_ns,
                compensation_ns=question.compensation_ns,
                max_decisions=FOLLOWED,
                high=high,
            )
            for high in (False, True)
        )
    stability = None
    if decided.selection is not None:
        stability = stability_of(urn, rules, effective, actors=actors)
    return SagaAnswer(
        question.agent,
        _admitted(decided),
        _bounded(decided),
        _stable(decided, stability),
        decided,
        run,
        longest,
        stability,
        (),
        NOT_NEEDED,
        rules.edition,
        tuple(_warnings(question, decided, stability)),
        _advice(decided, effective, stability),
    )


def _admitted(decided: Decided) -> Facet:
    """The facet `admitted`.

    Source: questions 5.
    """
    match decided.verdict:
        case SagaVerdict.ADMITTED_RETRY | SagaVerdict.REWIND_UNBOUNDED:
            return Facet.YES
        case SagaVerdict.NOT_A_SAGA_DECISION:
            return Facet.UNKNOWN
        case _:
            return Facet.NO


def _bounded(decided: Decided) -> Facet:
    match decided.verdict:
        case SagaVerdict.REWIND_UNBOUNDED:
            return Facet.NO
        case SagaVerdict.NOT_A_SAGA_DECISION:
            return Facet.UNKNOWN
        case _:
            # Without a policy there is no retry at all.
            return Facet.YES if decided.limits is None else decided.limits.bounded


def _stable(decided: Decided, stability: Stability | None) -> Facet:
    if stability is not None:
        return stability.facet
    match decided.verdict:
        case SagaVerdict.NOT_A_SAGA_DECISION:
            return Facet.UNKNOWN
        case _:
            # No policy is asked, so that none can be another one; outcomes of operations are in the log.
            return Facet.YES


def _warnings(question: SagaQuestion, decided: Decided, stability: Stability | None) -> list[str]:
    found = []
    if stability is not None and stability.uncertain_identity:
        found.append(
            "rules of another name or selector but with the same tree follow each other: whether the host takes that"
            " for the same policy is not published (W-SAGA-IDENTITY-UNCERTAIN)"
        )
    limits = decided.limits
    if limits is not None and limits.is_admissible and not limits.is_strictly_admissible:
        found.append("the host may admit only policies with a count (W-HOST-ADMISSION-UNCERTAIN)")
    if limits is not None and limits.storm:
        found.append("retries can follow each other without a wait worth the name")
    if decided.selection is not None:
        found.append("that the saga selects strictly, and its exact name of the agent, are not published")
    if decided.verdict is SagaVerdict.ADMITTED_RETRY and question.attempt is None:
        found.append("self-view is taken to be needed at every decision")
    return found


def _advice(decided: Decided, effective: Sequence[Effective], stability: Stability | None) -> str:
    if stability is None or stability.facet is Facet.YES or decided.policy is None:
        return ""
    chosen = next((e.rule for e in effective if e.rule.name == decided.rule), None)
    return pinning_advice(chosen)


# What the cards say.


def _self_view(question: SagaQuestion, cards: AgentCards, rules: Rules) -> SagaSelfView:
    if question.self_view is not None:
        return GIVEN[question.self_view]
    return self_view_of(question.agent, cards, rules)
