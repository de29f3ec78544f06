"""The worked examples of the rules: forms, durations, predicates, selection, stepping, limits."""

from typing import Any

import pytest
from retry_notation import bag_of, case_ids, load_cases, policy_of, predicate_of, rule_of, value_of

from policyd.core.retry import (
    Aborts,
    Domain,
    Elapsed,
    Failed,
    GiveUp,
    LimitClass,
    Outcome,
    Overlay,
    Resolver,
    Retry,
    RetryFormError,
    RuleSet,
    defects_of,
    effective_rules,
    evaluate_lenient,
    evaluate_strict,
    limits_of,
    lower_end,
    parse_duration,
    policy_from_nodes,
    read_manifest_rule,
    read_policy,
    read_predicate,
    run_schedule,
    upper_end,
    write_canonical,
)
from policyd.core.retry.context import operation_bag
from policyd.core.retry.value import CoercionFailed, PropertyNotFound

Case = dict[str, Any]


def _read(case: Case) -> Any:
    if "policy" in case:
        return read_policy(case["policy"])
    if "nodes" in case:
        return policy_from_nodes(case["nodes"], compiled=case.get("compiled", False))
    if "rule" in case:
        return read_manifest_rule("r", case["rule"])
    return read_predicate(case["predicate"])


@pytest.mark.parametrize("case", load_cases("forms.yaml"), ids=case_ids)
def test_form(case: Case) -> None:
    """A document is read, or refused with the label and at the place that the example names."""
    if case["is"] != "ok":
        with pytest.raises(RetryFormError) as caught:
            _read(case)
        assert caught.value.label.text == case["is"]
        if "at" in case:
            span = caught.value.findings[0].span
            assert span is not None
            assert span.path == case["at"]
        return
    tree = _read(case)
    if "form" in case:
        assert write_canonical(tree) == case["form"]
    assert [d.label.text for d in defects_of(tree)] == case.get("defects", []) if "predicate" not in case else True


@pytest.mark.parametrize("case", load_cases("durations.yaml"), ids=lambda c: repr(c["text"]))
def test_duration(case: Case) -> None:
    """A duration text has exactly one value, or is refused."""
    if case["ns"] is None:
        with pytest.raises(RetryFormError):
            parse_duration(case["text"])
    else:
        assert parse_duration(case["text"]) == case["ns"]


def _shown(outcome: Any) -> Any:
    match outcome:
        case PropertyNotFound():
            return "missing"
        case CoercionFailed():
            return outcome.target.value
        case bool():
            return outcome
        case _:
            return outcome.value


@pytest.mark.parametrize("case", load_cases("predicates.yaml"), ids=case_ids)
def test_predicate(case: Case) -> None:
    """Both evaluations of a predicate come out as the example says."""
    bag = operation_bag("get", case["noun"]).properties if "noun" in case else bag_of(case["on"])
    tree = predicate_of(case["that"])
    assert _shown(evaluate_strict(tree, bag)) == case["strict"]
    assert _shown(evaluate_lenient(tree, bag)) == case["lenient"]


@pytest.mark.parametrize("case", load_cases("selection.yaml"), ids=case_ids)
def test_selection(case: Case) -> None:
    """The rule of the example wins, and the others do not for the reason it gives."""
    overlay = Overlay(tuple(map(rule_of, case.get("overlay", ()))), frozenset(case.get("removed", ())))
    effective = effective_rules(
        map(rule_of, case.get("rules", ())),
        agent_configuration=map(rule_of, case.get("agent", ())),
        overlay=overlay,
    )
    rules = RuleSet.of(e.rule for e in effective)
    by = case["by"]
    resolver = {"strict": Resolver.STRICT, "skip": Resolver.SKIP_MISSING}.get(by, Resolver.APPLICABLE)
    selection = rules.select(bag_of(case["on"]), resolver, status_filter=by == "status")
    if "error" in case:
        assert _shown(selection.error) == case["error"]
        assert selection.rule is None
    else:
        assert (selection.rule.name if selection.rule else None) == case["wins"]
        assert rules.pick(bag_of(case["on"]), resolver, status_filter=by == "status") == selection.rule
    if "policy" in case:
        assert selection.rule is not None
        assert selection.rule.policy == policy_of(case["policy"])
    outcomes = {c.rule.name: c.outcome for c in selection.considered}
    for name, outcome in case.get("because", {}).items():
        assert outcomes[name] is Outcome[outcome]


@pytest.mark.parametrize("case", load_cases("stepping.yaml"), ids=case_ids)
def test_stepping(case: Case) -> None:
    """A policy waits as long as the example says, and then does what it says."""
    waits = [parse_duration(w) for w in case["waits"]]
    bags = [bag_of(b) for b in case.get("bags", ())]
    policy = policy_of(case["policy"])

    def run(draw: Any) -> Any:
        return run_schedule(
            policy,
            (lambda k: bags[min(k, len(bags)) - 1]) if bags else {},
            len(waits) + 1,
            draw=draw,
            execution_ns=parse_duration(case.get("execution", "0")),
            real_elapsed=case.get("elapsed") != "zero",
        )

    schedule = run(upper_end if case.get("draw") == "upper" else lower_end)
    assert list(schedule.delays_ns[: len(waits)]) == waits
    wanted = {"give up": GiveUp, "retry": Retry, "fail": Failed, "abort": Aborts}[case["then"]]
    assert isinstance(schedule.decisions[len(waits)].verdict, wanted)
    if "total" in case:
        assert schedule.total_ns == parse_duration(case["total"])
    if "at_most" in case:
        assert run(upper_end).total_ns == parse_duration(case["at_most"])


@pytest.mark.parametrize("case", load_cases("limits.yaml"), ids=case_ids)
def test_limits(case: Case) -> None:
    """A policy ends where the example says, and nothing in it is a guess."""
    domain = Domain(
        fixed={n: value_of(v) for n, v in case.get("fixed", {}).items()},
        stable=tuple((n, tuple(map(value_of, vs))) for n, vs in case.get("stable", {}).items()),
        free=tuple((n, tuple(map(value_of, vs))) for n, vs in case.get("free", {}).items()),
        attempt=case.get("attempt", False),
    )
    limits = limits_of(policy_of(case["policy"]), Elapsed(case.get("elapsed", "real")), domain)
    assert limits.limit_class is LimitClass(case["is"])
    assert limits.retries.exact
    assert limits.retries.at_most == case["retries"]
    assert limits.executions_max == (None if case["retries"] is None else case["retries"] + 1)
    if "by" in case:
        assert [c.value for c in limits.causes] == case["by"]
    if "storm" in case:
        assert limits.storm is case["storm"]
    if "horizon" in case:
        assert limits.horizon.at_most == parse_duration(case["horizon"])
    if "total" in case:
        assert limits.total.at_most == parse_duration(case["total"])
