"""Worked examples beside forms, selection and stepping: manifests, the REST interface, arithmetic, schedules."""

from typing import Any

import pytest
from retry_notation import case_ids, load_cases, policy_of, predicate_of, rule_of

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.retry import (
    DMAX_NS,
    Domain,
    Elapsed,
    Failed,
    GiveUp,
    Integer,
    LimitClass,
    NamedPolicy,
    Retry,
    RuleSet,
    effective_rules,
    evaluate_strict,
    limits_of,
    parse_duration,
    read_policy,
    run_schedule,
    through_manifest,
)
from policyd.core.retry.compiled_schedule import compile_problem, nodes_problem
from policyd.core.retry.context import Context, saga_bag
from policyd.core.retry.duration import scale_duration
from policyd.core.retry.events import Event, event_answers
from policyd.core.retry.predicate import ALWAYS
from policyd.core.retry.resolve import Resolver
from policyd.core.retry.rest import Operation, Request, reply_to
from policyd.core.retry.saga import Circumstances, SagaRules, run_saga, wait_left_ns
from policyd.core.retry.step import leaf_delay
from policyd.core.retry.together import nested_calls
from policyd.manifest import load_text, load_texts
from policyd.manifest.retry_defaults import retry_policies_of

SECOND = 1_000_000_000
HEAD = "manifestVersion: 1.6.0\napp: shop\nenvironments: {prod: {server: cloud}}\n"
RULES = "retryPolicyDefaults: {prod: {x: {priority: 1, predicate: true, policy: {periodic: 500us}}}}\n"


def test_26_and_27_durations_are_floored_by_a_deployment_only() -> None:
    """A manifest goes through whole milliseconds, the REST interface keeps nanoseconds."""
    rule = NamedPolicy("x", 1, ALWAYS, read_policy({"periodic": "500us"}))
    assert through_manifest(rule).policy == policy_of("per(0)")
    assert rule.policy == policy_of("per(500us)")
    (placed,), findings = retry_policies_of(load_text(HEAD + RULES).application, "prod")
    assert (placed.rule.policy, placed.written.policy) == (policy_of("per(0)"), policy_of("per(500us)"))
    assert findings == ()


def test_28_two_documents_for_one_environment() -> None:
    """Two documents that define the rules of one environment are an error of the manifest."""
    loaded = load_texts([("golem.yaml", HEAD + RULES), ("more.yaml", "manifestVersion: 1.6.0\n" + RULES)])
    assert any(
        f.severity.value == "error" and "retryPolicyDefaults" in f.message + (f.span.path if f.span else "")
        for f in loaded.findings
    )


def test_31_a_name_that_no_card_can_spell() -> None:
    """The registry takes it, and we say what it costs."""
    text = HEAD + "retryPolicyDefaults: {prod: {my policy: {priority: 1, predicate: true, policy: never}}}\n"
    policies, findings = retry_policies_of(load_text(text).application, "prod")
    assert [p.rule.name for p in policies] == ["my policy"]
    assert [f.code for f in findings] == ["RETRY130"]


@pytest.mark.parametrize("case", load_cases("rest.yaml"), ids=case_ids)
def test_rest(case: dict[str, Any]) -> None:
    """The REST interface looks in its order and answers as documented."""
    request = Request(Operation(case["ask"]), frozenset(case["verbs"]), **dict.fromkeys(case.get("not", ()), False))
    reply = reply_to(request)
    assert f"{reply.status} {reply.code}".strip() == str(case["is"])


def test_97_without_the_environment_the_default_decides() -> None:
    """Where the environment's policies cannot be fetched its tier is empty."""
    rules = RuleSet.of(e.rule for e in effective_rules(()))
    selected = rules.select({}, Resolver.STRICT).rule
    assert selected is not None
    assert selected.name == "default"


def test_109_and_110_arithmetic() -> None:
    """Delays saturate, then fall to nothing; rounding works on the exact binary value."""
    leaf = policy_of("exp(1s,2)")
    delays = [leaf_delay(leaf, n) for n in (33, 64, 1024)]  # type: ignore[arg-type]
    assert delays == [8_589_934_592 * SECOND, DMAX_NS, 0]
    assert (scale_duration(3, 0.5), scale_duration(5, 0.5)) == (1, 3)


def test_193_what_changes_back_is_not_noticed() -> None:
    """Only decision points are compared."""
    rule = SagaRules((rule_of("r@5 | true | cb(2,per(1s))"),))
    assert run_saga("urn:worker:1/A(1)", Circumstances(lambda _: rule)).end.verdict.value == "EXHAUSTED"


def test_195_a_crash_within_a_wait() -> None:
    """The remaining time is waited, and the attempt keeps its number."""
    assert wait_left_ns(parse_duration("30s"), parse_duration("10s")) == parse_duration("20s")


def test_196_a_replay_reads_no_rules() -> None:
    """A recorded decision is returned as it is."""
    assert any("recorded result" in sentence for sentence in event_answers(Event.REPLAY, NEXT))


def test_198_sagas_have_no_names() -> None:
    """Two sagas of an agent show the same bag, so that one rule decides both."""
    assert set(saga_bag("urn:worker:1/A(1)", 1).properties) == {
        "verb", "noun-uri", "uri-scheme", "uri-path", "attempt", "error-kind",
    }  # fmt: skip


def test_200_and_201_nested_retries_multiply() -> None:
    """Executions multiply, not retries."""
    assert nested_calls(3, 2) == 12
    assert nested_calls(2, 2) == 9


def test_206_a_schedule_ignores_the_selector() -> None:
    """A named policy gives its tree only."""
    rule = rule_of("x@5 | false | cb(3,imm)")
    assert len(run_schedule(rule.policy, {}, 10).delays_ns) == 3


def test_207_to_209_what_a_schedule_sees() -> None:
    """Without properties every test fails; pairs are given by the caller, the last of one name counts."""
    policy = policy_of("flt(attempt < 3,imm)")
    assert isinstance(run_schedule(policy, {}, 5).decisions[0].verdict, Failed)
    counted = run_schedule(policy, lambda k: {"attempt": Integer(k)}, 9)
    assert (len(counted.delays_ns), counted.stopped) == (2, True)
    assert isinstance(counted.decisions[-1].verdict, GiveUp)
    bag = Context().with_pairs([("x", Integer(1)), ("x", Integer(2))]).properties
    assert evaluate_strict(predicate_of("x = 1"), bag) is False


def test_210_a_schedule_may_be_unbounded() -> None:
    """Nothing checks that a schedule ends."""
    policy = policy_of("per(1s)")
    assert compile_problem(policy) is None
    assert limits_of(policy, Elapsed.REAL, Domain()).limit_class is LimitClass.UNBOUNDED
    assert not run_schedule(policy, {}, 500).stopped


def test_211_executions_count() -> None:
    """The time of executions counts against a time box."""
    schedule = run_schedule(policy_of("tb(10s,per(4s))"), {}, 9, execution_ns=SECOND)
    assert [d.elapsed_ns // SECOND for d in schedule.decisions] == [1, 6, 11]
    assert [isinstance(d.verdict, Retry) for d in schedule.decisions] == [True, True, False]


@pytest.mark.parametrize(
    ("nodes", "error"),
    [
        ([], "EmptyPolicy"),
        ([{"count-box": {"max-retries": 1, "inner": 5}}], "InvalidPolicyNodeIndex"),
        ([{"count-box": {"max-retries": 1, "inner": 0}}], "CyclicPolicyNode"),
        (
            [{"clamp-delay": {"min-delay": 2 * SECOND, "max-delay": SECOND, "inner": 1}}, "immediate"],
            "InvalidClampRange",
        ),
        ([{"exponential": {"base-delay": 1, "factor": 0.0}}], "InvalidExponentialFactor"),
        ([{"jitter": {"factor": -1.0, "inner": 1}}, "immediate"], "InvalidJitterFactor"),
    ],
)
def test_212_what_does_not_compile(nodes: list[object], error: str) -> None:
    """The first problem is told by the name that the SDK gives it."""
    problem = nodes_problem(nodes)
    assert problem is not None
    assert problem.error == error


@pytest.mark.parametrize(("wrappers", "compiles"), [(257, False), (256, True)])
def test_213_and_214_depth(wrappers: int, compiles: bool) -> None:
    """A leaf at depth 256 is the deepest that compiles."""
    nodes: list[object] = [{"add-delay": {"delay": 0, "inner": i + 1}} for i in range(wrappers)]
    assert (nodes_problem([*nodes, "immediate"]) is None) is compiles


@pytest.mark.parametrize(("doublings", "compiles"), [(12, False), (11, True)])
def test_215_and_216_shared_nodes(doublings: int, compiles: bool) -> None:
    """A shared node counts once for each path to it."""
    nodes: list[object] = [{"and-then": [i + 1, i + 1]} for i in range(doublings)]
    assert (nodes_problem([*nodes, "immediate"]) is None) is compiles


def test_217_each_call_starts_anew() -> None:
    """A second use of a schedule has its whole budget."""
    policy = policy_of("cb(2,per(1s))")
    assert run_schedule(policy, {}, 9) == run_schedule(policy, {}, 9)


@pytest.mark.parametrize("event", Event)
def test_every_event_is_answered(event: Event) -> None:
    """Every event has an answer under both editions, with and without idempotence."""
    for rules in (NEXT, SNAPSHOT):
        assert event_answers(event, rules)
        assert event_answers(event, rules, assumes_idempotence=False)
