"""The worked examples on sagas: verdicts, whole runs, stability."""

from typing import Any

import pytest
from retry_notation import case_ids, load_cases, rule_of

from policyd.core.edition import Edition, Rules
from policyd.core.retry import NamedPolicy, Overlay, Resolver, effective_rules, parse_duration
from policyd.core.retry.continuation import (
    Continuation,
    IdentityChoice,
    continuation_from_json,
    continuation_to_json,
)
from policyd.core.retry.saga import (
    Admission,
    Attempt,
    Body,
    Circumstances,
    Compensation,
    Form,
    SagaRules,
    SagaVerdict,
    SelfView,
    decide,
    run_saga,
)
from policyd.core.retry.saga_stability import Actors, Source, stability_of

Case = dict[str, Any]
CASES = load_cases("sagas.yaml")


def _effective(case: Case, texts: list[str]) -> Any:
    return effective_rules(map(rule_of, texts), overlay=Overlay((), frozenset(case.get("removed", ()))))


def _rules(case: Case, attempt: int = 1) -> SagaRules:
    texts = case.get("rules", [])
    for number, later in case.get("later", {}).items():
        texts = later if attempt >= number else texts
    policies: tuple[NamedPolicy, ...] = tuple(e.rule for e in _effective(case, texts))
    return SagaRules(
        policies,
        edition=Rules(Edition(case.get("edition", "next"))),
        identity=IdentityChoice(case.get("identity", "tree")),
        admission=Admission(case.get("admission", "lenient")),
        resolver=Resolver.APPLICABLE if case.get("resolver") == "applicable" else Resolver.STRICT,
    )


def _urn(case: Case) -> str:
    return f"urn:worker:1111/{case.get('agent', 'Counter(1)')}"


def _first(case: Case) -> Attempt:
    continuation = None
    if "continuation_of" in case:
        there = Circumstances(lambda _: _rules(case))
        run = run_saga(_urn(case), there, max_decisions=case["continuation_of"])
        continuation = run.end.continuation
    return Attempt(
        _urn(case),
        case.get("attempt", 1),
        Form(case.get("form", "infallible")),
        Body.OK if case.get("succeeds") else Body.FAILED,
        Compensation(case.get("compensation", "ok")),
        SelfView(case.get("self_view", "granted")),
        continuation,
        parse_duration("60s") if continuation else 0,
    )


@pytest.mark.parametrize("case", [c for c in CASES if "verdict" in c], ids=case_ids)
def test_decision(case: Case) -> None:
    """The decision after the attempt is the one of the example, and so is what the caller gets."""
    decided = decide(_first(case), _rules(case))
    assert decided.verdict.value == case["verdict"]
    if "result" in case:
        assert decided.verdict.result == case["result"]
    if "rule" in case:
        assert decided.rule == case["rule"]
    if "storm" in case:
        assert decided.limits is not None
        assert decided.limits.storm is case["storm"]


@pytest.mark.parametrize("case", [c for c in CASES if "waits" in c], ids=case_ids)
def test_run(case: Case) -> None:
    """A saga that fails at every attempt waits as the example says, and then ends as it says."""
    seen = case.get("denied_from", 10**9)
    there = Circumstances(lambda k: _rules(case, k), lambda k: SelfView.DENIED if k >= seen else SelfView.GRANTED)
    run = run_saga(_urn(case), there, body_ns=parse_duration(case.get("body", "0")))
    assert [low for low, _ in run.waits_ns] == [parse_duration(w) for w in case["waits"]]
    if "longest" in case:
        assert [high for _, high in run.waits_ns] == [parse_duration(w) for w in case["longest"]]
    assert run.end.verdict.value == case["end"]
    if "at" in case:
        assert len(run.decisions) == case["at"]
    if "elapsed" in case:
        assert run.elapsed_ns[-1] == parse_duration(case["elapsed"])


@pytest.mark.parametrize("case", [c for c in CASES if "stable" in c or "sources" in c], ids=case_ids)
def test_stability(case: Case) -> None:
    """Whether the selection stays the same, and what could change it, is as the example says."""
    effective = _effective(case, case.get("rules", []))
    removed = "default" in case.get("removed", ())
    found = stability_of(_urn(case), _rules(case), effective, default_is_removed=removed)
    if "stable" in case:
        assert found.word == case["stable"]
    if "first" in case:
        assert found.at == case["first"]
    assert {Source(label) for label in case.get("sources", ())} <= set(found.sources)
    assert found.uncertain_identity is case.get("uncertain", False)


def test_unstable_run_ends_where_stability_says() -> None:
    """The first attempt with another selection is the one at which the run is refused."""
    for case in CASES:
        if case.get("stable") != "no" or "waits" not in case:
            continue
        found = stability_of(_urn(case), _rules(case), _effective(case, case["rules"]))
        run = run_saga(_urn(case), Circumstances(lambda _, case=case: _rules(case)))
        assert found.at == len(run.decisions)
        assert run.end.verdict in (SagaVerdict.REJECTED_POLICY_CHANGED, SagaVerdict.REJECTED_PREDICATE_ERROR)


def test_actor_makes_it_unstable() -> None:
    """Where the data show somebody who can edit policies the facet is no, otherwise unknown."""
    case = {"rules": ["r@5 | true | cb(3,per(1s))"]}
    effective = _effective(case, case["rules"])
    assert stability_of(_urn(case), _rules(case), effective).facet.value == "unknown"
    shown = stability_of(_urn(case), _rules(case), effective, actors=Actors(editors=("Admin",)))
    assert shown.facet.value == "no"
    assert shown.acting == (Source.ENVIRONMENT_EDITED,)


def test_continuation_reads_back() -> None:
    """The JSON form of a continuation is read as the same value."""
    run = run_saga("urn:worker:1111/A(1)", Circumstances(lambda _: _rules({})), max_decisions=1)
    onward = run.end.continuation
    assert isinstance(onward, Continuation)
    assert continuation_from_json(continuation_to_json(onward)) == onward
