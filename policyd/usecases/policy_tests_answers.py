"""One expectation put to the use case that decides it: what came of it, and what the verb would show.

Source: questions 1, 2, 3; interface, `test`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from policyd.core.admission import FacetName
from policyd.core.admission.verdict import Verdict
from policyd.core.cards import GrantRef
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext
from policyd.core.operations import Ports
from policyd.core.operations.durable import NOTHING_DECLARED
from policyd.core.retry import Facet
from policyd.core.retry.continuation import IdentityChoice
from policyd.core.retry.saga import Admission, Body, Compensation, Form, SelfView
from policyd.findings import InputError
from policyd.policytests import (
    CallExpectation,
    ChainExpectation,
    Facets,
    OperationExpectation,
    QueryExpectation,
    ReachExpectation,
    RetryExpectation,
    SagaExpectation,
)
from policyd.report.durations import duration_words
from policyd.syntax import parse_target
from policyd.syntax.durable import read_declarations
from policyd.syntax.mistakes import shown
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.queries import parse_query
from policyd.syntax.sql import SqlTables
from policyd.usecases.answer import Answer
from policyd.usecases.chain_check import ChainReport, ChainRow
from policyd.usecases.chain_report import word
from policyd.usecases.operation_answer import OperationAnswer, OperationQuestion, answer_operation
from policyd.usecases.operation_listing import operation_named
from policyd.usecases.operation_sdk import sdk_of
from policyd.usecases.policy_tests_subjects import UNFIT, Holds, Subject, When
from policyd.usecases.proofs import Proof, effort_for, prove_query, steps_for
from policyd.usecases.reach import Reach, reach_to
from policyd.usecases.retry_bags import bag_at, properties_given, site_of
from policyd.usecases.retry_resolve import Resolved, resolve_at
from policyd.usecases.retry_saga import SagaAnswer, SagaQuestion
from policyd.usecases.retry_simulate import Course, course_of

SAGA_SITE = "saga"
SAGA_RETRY = "saga.retry"


@dataclass(frozen=True, slots=True)
class RetryTold:
    """What `retry resolve` and `retry simulate` say.

    Attributes:
        resolved: which rule decides, None where a rule was named.
        course: how its retries go, None where no rule decides.
    """

    resolved: Resolved | None
    course: Course | None


Told = Answer | OperationAnswer | Proof | Reach | RetryTold | SagaAnswer | ChainReport
"""What a verb says; front ends show it as that verb does."""


@dataclass(frozen=True, slots=True)
class Touch:
    """A part of a deployment that an expectation rests on.

    Attributes:
        kind: `grant`, `class` (all grants of a class), `policy` or `layer`.
        owner: the card of a grant, the agent type of a class (empty for all), the environment, or the chain.
        name: the list of a grant, the name of a class, of a policy or of a layer.
        index: in the list or the chain.
    """

    kind: str
    owner: str
    name: str
    index: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What came of an expectation.

    Attributes:
        failures: what does not hold, empty if all does.
        told: the whole answer.
        touched: what it rests on.
    """

    failures: tuple[str, ...]
    told: Told
    touched: frozenset[Touch] = field(default=frozenset())


def ask_call(holds: Holds, agent: str, call: CallExpectation, when: When) -> Found:
    """A single call, as `check` decides it."""
    answer = holds.answer(agent, call.target, when)
    failures = _facets(answer.verdict, call.facets, answer.exceptions)
    failures += _because({reason.why.value for reason in answer.verdict.reasons}, call.because)
    if failures:
        answer = holds.answer(agent, call.target, when, in_full=True)
    return Found(tuple(failures), answer, _grants(answer.verdict))


def ask_operation(holds: Holds, agent: str, wanted: OperationExpectation, when: When) -> Found:
    """An operation of the catalogue, as `check --op` decides it.

    Raises:
        InputError: for an unknown operation or argument.
    """
    operation = operation_named(wanted.operation, catalogue(), holds.rules)
    if operation.id == SAGA_RETRY:
        raise InputError.of(UNFIT, f"policies decide `{SAGA_RETRY}`, too", None, "expect it under `sagas`")
    arguments: dict[str, object] = dict(wanted.arguments)
    carrier = arguments.pop("carrier", None)
    question = OperationQuestion(
        operation,
        arguments,
        sdk_of(wanted.sdk),
        NOTHING_DECLARED if wanted.durable is None else read_declarations(wanted.durable),
        carrier=operation_named(str(carrier), catalogue(), holds.rules) if carrier is not None else None,
    )
    holding = holds.holding(agent, when)
    answer = answer_operation(holding, question, Ports(SqlTables(), OutboundUrls()))
    failures = _facets(answer.verdict, wanted.facets, answer.answer.exceptions)
    verdicts = (answer.verdict, *(each.verdict for each in answer.targets))
    if wanted.targets is not None:
        failures += _targets(answer, wanted.targets, holding.wallet.context, holds.rules)
    failures += _because({reason.why.value for verdict in verdicts for reason in verdict.reasons}, wanted.because)
    return Found(tuple(failures), answer, frozenset().union(*map(_grants, verdicts)))


def _targets(
    answer: OperationAnswer, wanted: Sequence[tuple[str, str]], context: AgentContext | None, rules: Rules
) -> Iterator[str]:
    def plain(text: str) -> str:
        target = parse_target(text, rules, slots=context is not None)
        return target.text if context is None else target.filled(context).text

    asked = [(plain(each.target), each) for each in answer.targets]
    named = [(plain(text), expected) for text, expected in wanted]
    if [text for text, _ in asked] != [text for text, _ in named]:
        told = ", ".join(shown(each.target.rstrip()) for _, each in asked) or answer.refusal or "nothing"
        yield f"it asks for {told}"
        return
    for (_, each), (_, expected) in zip(asked, named, strict=True):
        if expected and each.verdict.admitted.value != expected:
            yield f"{shown(each.target.rstrip())} is {each.verdict.admitted.value}, expected {expected}"


def ask_query(holds: Holds, agent: str, wanted: QueryExpectation, when: When, budget: float) -> Found:
    """All calls of a query, as `prove` decides them."""
    parties = holds.parties(agent, when)
    proof = prove_query(parties, wanted.query, holds.rules, is_never=wanted.is_never, steps=steps_for(budget))
    failures = () if proof.word == "holds" else (f"{proof.word}: {proof.claim}",)
    cls = parse_query(wanted.query, holds.rules).cls.name
    return Found(failures, proof, frozenset({Touch("class", agent.partition("(")[0], cls)}))


def ask_reach(subject: Subject, agent: str, wanted: ReachExpectation, when: When, budget: float) -> Found:
    """Chains to a call, as `reach` finds them."""
    start = wanted.start or agent
    world = subject.world([name for name in (start,) if "(" in name], when)
    found = reach_to(
        world,
        wanted.query,
        start=start,
        assume=wanted.assume,
        together=wanted.together,
        steps=effort_for(budget),
    )
    failures = () if found.word == wanted.word else (f"reach is {found.word}, expected {wanted.word}",)
    queries = [text for text in (wanted.query, wanted.together) if text]
    touched = frozenset(Touch("class", "", parse_query(text, subject.rules).cls.name) for text in queries)
    return Found(failures, found, touched)


def ask_retry(subject: Subject, wanted: RetryExpectation) -> Found:
    """Which policy decides, and how its retries end, as `retry resolve` and `retry simulate` say."""
    environment, rules = subject.retries(), subject.rules
    given = properties_given(wanted.properties)
    site = site_of(wanted.site) if wanted.site else None
    resolved = None
    rule = environment.named(wanted.policy).rule if wanted.policy else None
    if rule is None and site is not None:
        resolved = resolve_at(environment.effective, site, given, rules)
        alternative = resolved.alternatives[0]
        if resolved.is_decided and alternative.rule is not None and not alternative.error:
            rule = environment.named(alternative.rule).rule
    failures: list[str] = []
    if resolved is not None:
        decided = "unknown" if not resolved.is_decided else "no" if rule is None else "yes"
        name = f" ({shown(rule.name)})" if rule is not None else ""
        if wanted.decided and wanted.decided != decided:
            failures.append(f"decided is {decided}{name}, expected {wanted.decided}")
        if wanted.rule and (rule is None or rule.name != wanted.rule):
            told = shown(rule.name) if rule is not None else {"no": "no rule", "unknown": "not settled"}[decided]
            failures.append(f"what decides is {told}, expected {shown(wanted.rule)}")
    course = None
    if rule is not None:
        bag = bag_at(site, given, rules).bag if site is not None else given
        course = course_of(rule, rules, bag=bag, counts_attempts=wanted.site == SAGA_SITE)
        failures += _course(course, wanted)
    elif wanted.attempts is not None or wanted.max_wait_ns is not None or wanted.bounded:
        failures.append("no rule decides, so that nothing is said of attempts")
    touched = frozenset() if rule is None else frozenset({Touch("policy", subject.name, rule.name)})
    return Found(tuple(failures), RetryTold(resolved, course), touched)


def _course(course: Course, wanted: RetryExpectation) -> Iterator[str]:
    limits = course.limits
    attempts: int | str = "unbounded" if limits.executions_max is None else limits.executions_max
    if wanted.attempts is not None and attempts != wanted.attempts:
        yield f"attempts are {attempts}, expected {wanted.attempts}"
    if wanted.max_wait_ns is not None and (limits.delay_high_ns or 0) != wanted.max_wait_ns:
        longest = duration_words(limits.delay_high_ns or 0)
        yield f"the longest wait is {longest}, expected {duration_words(wanted.max_wait_ns)}"
    if wanted.bounded and limits.bounded.value != wanted.bounded:
        yield f"bounded is {limits.bounded.value}, expected {wanted.bounded}"


def ask_saga(subject: Subject, agent: str, wanted: SagaExpectation) -> Found:
    """The saga retries of an agent, as `saga` decides them."""
    answer = subject.saga(_saga_question(agent, wanted))
    facets: dict[str, Facet] = {
        "admitted": answer.admitted,
        "bounded": answer.bounded,
        "replay-stable": answer.replay_stable,
    }
    failures = [f"{n} is {facets[n].value}, expected {w}" for n, w in wanted.facets if facets[n].value != w]
    verdicts = {answer.decided.verdict.value, *(step.verdict.value for step in answer.decided.all_reasons)}
    failures += _because(verdicts, wanted.because)
    rule = answer.decided.rule
    touched = frozenset() if rule is None else frozenset({Touch("policy", subject.name, rule)})
    return Found(tuple(failures), answer, touched)


def _saga_question(agent: str, wanted: SagaExpectation) -> SagaQuestion:
    given = wanted.options
    attempt, view = given.get("attempt"), given.get("self-view")
    return SagaQuestion(
        agent,
        int(attempt) if attempt is not None else None,
        None,
        int(given.get("elapsed", 0)),
        Form(given.get("form", Form.INFALLIBLE.value)),
        Body(given.get("body", Body.FAILED.value)),
        Compensation(given.get("compensation", Compensation.OK.value)),
        int(given.get("body-time", 0)),
        int(given.get("compensation-time", 0)),
        IdentityChoice(given.get("identity", IdentityChoice.TREE.value)),
        Admission(given.get("admission", Admission.LENIENT.value)),
        SelfView(view) if view is not None else None,
        str(given.get("component-id", "")),
        given.get("sets-policies") is True,
    )


def ask_chain(subject: Subject, agent: str, wanted: ChainExpectation) -> Found:
    """The chains of a tool, as `chain check` decides them.

    Raises:
        InputError: if the tool is not bound to anybody, or not to the agent.
    """
    report = subject.chains(wanted.tool)
    rows = [row for row in report.rows if not agent or agent.partition("(")[0] in row.agents]
    if not rows:
        message = f"the tool {shown(wanted.tool)} is not bound to {shown(agent)}"
        raise InputError.of(UNFIT, message, None, "leave the agent out, or name one that it is bound to")
    failures: list[str] = []
    codes: set[str] = set()
    touched: set[Touch] = set()
    for row in rows:
        if wanted.verdict and word(row.verdict) != wanted.verdict:
            failures.append(f"the chain is {word(row.verdict)}, expected {wanted.verdict}")
        if wanted.path is not None and path_of(row) != wanted.path:
            failures.append(f"the chain is {' → '.join(path_of(row))}")
        codes |= {finding.code for finding in row.findings}
        touched |= layers_of(row)
    failures += _because(codes, wanted.because)
    return Found(tuple(dict.fromkeys(failures)), report, frozenset(touched))


def path_of(row: ChainRow) -> tuple[str, ...]:
    """The chain from the outside in, the tool last."""
    return (*(layer.name for layer in row.chain.layers), row.tool)


def layers_of(row: ChainRow) -> frozenset[Touch]:
    """The layers of a chain, each an edge inward."""
    owner = f"{row.environment}: {row.tool} for {', '.join(row.agents) or 'nobody'}"
    return frozenset(Touch("layer", owner, layer.name, index) for index, layer in enumerate(row.chain.layers, 1))


def _facets(verdict: Verdict, wanted: Facets, exceptions: Iterable[str]) -> list[str]:
    failures = []
    for name, expected in wanted:
        facet = verdict.of(FacetName(name)).value
        if facet != expected:
            failures.append(f"{name} is {facet}, expected {expected}")
    differing = tuple(exceptions)
    if differing and any(name == FacetName.ADMITTED.value for name, _ in wanted):
        failures.append(f"admitted differs for {', '.join(differing)}")
    return failures


def _because(codes: set[str], wanted: Iterable[str]) -> list[str]:
    told = ", ".join(sorted(codes)) or "nothing"
    return [f"because of {told}, expected {shown(code)}" for code in wanted if code not in codes]


def _grants(verdict: Verdict) -> frozenset[Touch]:
    return frozenset(_touch(ref) for reason in verdict.reasons for ref in reason.refs)


def _touch(ref: GrantRef) -> Touch:
    return Touch("grant", str(ref.card), ref.bound.value, ref.index)
