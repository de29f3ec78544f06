"""The package against a plain second reading of the rules, on random rule sets, bags, trees and sagas."""

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import retry_reference as plain

from policyd.core.edition import Edition, Rules
from policyd.core.retry import (
    Boolean,
    Elapsed,
    GiveUp,
    Integer,
    Overlay,
    PropertyValue,
    Resolver,
    Retry,
    RuleSet,
    Text,
    Verdict,
    effective_rules,
    initial_state,
    limits_of,
    read_policy,
    read_rule,
    run_schedule,
    step,
)
from policyd.core.retry.continuation import Continuation, IdentityChoice
from policyd.core.retry.domain import Domain
from policyd.core.retry.saga import Admission, Attempt, Body, Compensation, Form, SagaRules, SelfView, decide
from policyd.core.retry.saga_stability import Intrinsic, Source, stability_of
from policyd.core.retry.state import state_to_json
from policyd.core.retry.step import fraction_of

SHARE = 20
FAR = 60
Json = Any
NAMES = ("a", "status-code", "attempt", "uri-host", "verb", "noun-uri", "error-kind", "nope")
VALUES = ("", "a", "5", "-3", "+7", "007", "9223372036854775808", "GET", "saga", "é", 0, 1, 3, 5, -3, 503, 2**63 - 1,
          -(2**63), True, False)  # fmt: skip
COMPARISONS = ("propEq", "propNeq", "propGt", "propGte", "propLt", "propLte")
RESOLVERS = {"strict": Resolver.STRICT, "skip": Resolver.SKIP_MISSING, "applicable": Resolver.APPLICABLE}
COUNTS = (0, 1, 2, 3, 5, 2**32 - 1)
TIMES = (0, 1, 250_000_000, 10**9, 3 * 10**9, 2**64 - 1, 2**64, plain.DMAX - 1, plain.DMAX)
FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0, 1e-9, 1e300, 0.0, -2.0, -0.5)


def duration(source: random.Random) -> Json:
    """Often an edge of a range."""
    ns = source.choice(TIMES) if source.random() < 0.7 else source.randrange(20 * 10**9)
    return {"secs": ns // 10**9, "nanos": ns % 10**9}


def leaf(source: random.Random) -> Json:
    """A test, often on what sagas see."""
    name = source.choice(NAMES)
    match source.randrange(8):
        case 0:
            return {"propExists": name}
        case 1:
            return {"propIn": {"property": name, "values": source.choices(VALUES, k=source.randrange(3))}}
        case 2:
            return {"propMatches": {"property": name, "pattern": source.choice(("*", "a*", "urn:*/C(**", "[0-9]"))}}
        case 3:
            return {"propStartsWith": {"property": name, "prefix": source.choice(("", "u", "5"))}}
        case 4:
            return {"propContains": {"property": name, "substring": source.choice(("", "/C(", "0"))}}
        case 5:
            return source.random() < 0.7
        case _:
            return {source.choice(COMPARISONS): {"property": name, "value": source.choice(VALUES)}}


def attempt_leaf(source: random.Random) -> Json:
    """A test that sagas get along with."""
    if source.random() < 0.2:
        return leaf(source)
    return {source.choice(COMPARISONS): {"property": "attempt", "value": source.randrange(7)}}


def predicate(source: random.Random, make: Callable[[random.Random], Json], depth: int = 2) -> Json:
    """A small tree of tests."""
    if depth == 0 or source.random() < 0.45:
        return make(source)
    if source.random() < 0.25:
        return {"not": predicate(source, make, depth - 1)}
    sides = [predicate(source, make, depth - 1) for _ in range(2)]
    return {source.choice(("and", "or")): sides}


def tree(source: random.Random, leaves: int, tests: Callable[[random.Random], Json] = leaf) -> Json:
    """A policy; clamps are the right way round."""
    if leaves > 1 and source.random() < 0.6:
        left = source.randrange(1, leaves)
        sides = [tree(source, left, tests), tree(source, leaves - left, tests)]
        return {source.choice(("andThen", "union", "intersect")): sides}
    if leaves <= 1 and source.random() < 0.55:
        return source.choice(
            (
                "immediate",
                "never",
                {"periodic": duration(source)},
                {"exponential": {"baseDelay": duration(source), "factor": source.choice(FACTORS)}},
                {"fibonacci": {"first": duration(source), "second": duration(source)}},
            )
        )
    inner = tree(source, leaves, tests)
    match source.randrange(7):
        case 0 | 1:
            return {"countBox": {"maxRetries": source.choice(COUNTS), "inner": inner}}
        case 2:
            return {"timeBox": {"limit": duration(source), "inner": inner}}
        case 3:
            low, high = sorted((duration(source), duration(source)), key=plain.ns)
            return {"clamp": {"minDelay": low, "maxDelay": high, "inner": inner}}
        case 4:
            return {"addDelay": {"delay": duration(source), "inner": inner}}
        case 5:
            return {"jitter": {"factor": source.choice((0.0, 0.15, 1.0, 3.0, 1e300)), "inner": inner}}
        case _:
            return {"filteredOn": {"predicate": predicate(source, tests, 1), "inner": inner}}


def typed(value: Json) -> PropertyValue:
    """A value of a bag as the package has it."""
    return Boolean(value) if isinstance(value, bool) else Integer(value) if isinstance(value, int) else Text(value)


def bag_of(source: random.Random) -> dict[str, Json]:
    """Some properties."""
    return {name: source.choice(VALUES) for name in NAMES[:-1] if source.random() < 0.6}


def rules_of(source: random.Random, most: int, make: Callable[[random.Random], Json]) -> list[Json]:
    """Rules of different names, often of one priority."""
    many = source.sample(("a", "b", "default", "zz", "é", "B", "fails"), source.randrange(most + 1))
    return [
        {
            "name": name,
            "priority": source.choice((0, 1, 2, 2**32 - 1)),
            "predicate": predicate(source, make),
            "policy": tree(source, source.randrange(1, 3), make),
        }
        for name in many
    ]


def _compare_selections(seeds: range) -> None:
    for seed in seeds:
        source = random.Random(seed)
        tiers = [rules_of(source, 3, leaf) for _ in range(3)]
        removed = source.sample(("a", "default", "zz"), source.randrange(2))
        wanted = plain.merged([plain.DEFAULT], *tiers, removed=removed)
        settings, environment, own = (tuple(map(read_rule, tier)) for tier in tiers)
        found = effective_rules(environment, agent_configuration=settings, overlay=Overlay(own, frozenset(removed)))
        assert [(e.rule.name, e.rule) for e in found] == [(r["name"], read_rule(r)) for r in wanted], seed
        ready = RuleSet.of(e.rule for e in found)
        for _ in range(4):
            bag = bag_of(source)
            values = {name: typed(value) for name, value in bag.items()}
            for word, resolver in RESOLVERS.items():
                for status in (False, True):
                    selection = ready.select(values, resolver, status_filter=status)
                    outcomes = [(c.rule.name, c.outcome.name) for c in selection.considered]
                    assert outcomes == plain.trace(wanted, bag, word, status=status), (seed, word, bag)


def _told(verdict: Verdict) -> plain.Verdict:
    if isinstance(verdict, Retry):
        return "retry", verdict.delay_ns
    return plain.GIVE_UP if isinstance(verdict, GiveUp) else plain.ERROR


def _compare_steps(seeds: range) -> None:
    for seed in seeds:
        source = random.Random(seed)
        document = tree(source, source.randrange(1, 6))
        policy = read_policy(document)
        state, known = initial_state(policy), plain.start(document)
        elapsed, part = 0, source.choice((0.0, 0.5, 0.999))
        for _ in range(12):
            bag = bag_of(source)
            values = {name: typed(value) for name, value in bag.items()}
            state, verdict = step(policy, state, elapsed, values, fraction_of(part))
            known, wanted = plain.stepped(document, known, elapsed, bag, part)
            assert (_told(verdict), state_to_json(state)) == (wanted, known), seed
            elapsed = min(plain.DMAX, elapsed + source.choice(TIMES) + wanted[1])


@cache
def _limits(policy: Any, urn: str) -> Any:
    fixed = {"verb": "saga", "error-kind": "operation-error", "noun-uri": urn, "uri-scheme": "urn"}
    path = {"uri-path": Text(urn.removeprefix("urn:"))}
    return limits_of(
        policy, Elapsed.REAL, Domain(fixed={**{n: Text(v) for n, v in fixed.items()}, **path}, attempt=True)
    )


def _compare_decisions(seeds: range) -> None:
    for seed in seeds:
        source = random.Random(seed)
        component, agent = "1111", source.choice(("C(1)", 'C("a/b")', "Other()"))
        urn = f"urn:worker:{component}/{agent}"
        documents = rules_of(source, 3, attempt_leaf)
        if documents and source.random() < 0.1:
            inner = documents[0]["policy"]
            second, first = {"secs": 2, "nanos": 0}, {"secs": 1, "nanos": 0}
            documents[0]["policy"] = {"clamp": {"minDelay": second, "maxDelay": first, "inner": inner}}
        if len(documents) > 1 and source.random() < 0.4:
            documents[1]["policy"] = documents[0]["policy"]
        removed = ["default"] if source.random() < 0.2 else []
        effective = effective_rules(map(read_rule, documents), overlay=Overlay((), frozenset(removed)))
        known = plain.merged([plain.DEFAULT], documents, removed=removed)
        admission = source.choice(tuple(Admission))
        edition = Edition.NEXT if source.random() < 0.9 else Edition.SNAPSHOT
        choice = source.choice(tuple(IdentityChoice))
        rules = SagaRules(
            tuple(e.rule for e in effective), edition=Rules(edition), identity=choice, admission=admission
        )

        def admits(document: Json, urn: str = urn, admission: Admission = admission) -> bool:
            limits = _limits(read_policy(document), urn)
            kind = limits.limit_class.value
            if admission is Admission.LENIENT:
                return kind in ("degenerate", "attempt_bounded", "time_bounded", "terminating")
            by = {cause.value for cause in limits.causes}
            return kind == "degenerate" or (kind == "attempt_bounded" and by != {"predicate"})

        onward: Continuation | None = None
        kept: Json = None
        elapsed = 0
        for k in range(1, 8):
            elapsed += source.choice((0, 1, 10**9))
            asked: dict[str, Json] = {
                "edition": edition.value,
                "form": "fallible" if source.random() < 0.03 else "infallible",
                "body": source.choice(("failed",) * 30 + ("ok", "trapped")),
                "compensation": source.choice(("ok",) * 30 + ("failed", "trapped")),
                "self_view": "denied" if source.random() < 0.03 else "granted",
                "attempt": k if source.random() < 0.95 else k + 1,
                "elapsed": elapsed if source.random() < 0.95 else max(0, elapsed - 2 * 10**9),
                "identity": choice.value,
                "component": component,
                "agent": agent,
                "continuation": kept,
            }
            attempt = Attempt(
                urn, asked["attempt"], Form(asked["form"]), Body(asked["body"]), Compensation(asked["compensation"]),
                SelfView(asked["self_view"]), onward, asked["elapsed"],
            )  # fmt: skip
            answer = decide(attempt, rules)
            verdict, name, waits, state = plain.decided(asked, known, admits)
            assert answer.verdict.value == verdict, (seed, k)
            if verdict in ("EXHAUSTED", "ADMITTED_RETRY"):
                assert answer.rule == name, (seed, k)
            if verdict != "ADMITTED_RETRY":
                break
            assert (answer.delay_low_ns, answer.delay_high_ns) == waits, (seed, k)
            onward = answer.continuation
            assert onward is not None
            assert state_to_json(onward.state) == state, (seed, k)
            rule = next((r for r in known if r["name"] == name), None)
            kept = {
                "identity": plain.identity(rule, choice.value),
                "attempt": onward.attempt,
                "state": state,
                "elapsed": asked["elapsed"],
            }
            elapsed = min(plain.DMAX, max(elapsed, asked["elapsed"]) + waits[0])
            if source.random() < 0.05:  # somebody edits a rule meanwhile
                break
        _compare_stability(seed, rules, effective, known, (component, agent))


def _compare_stability(seed: int, rules: SagaRules, effective: Any, known: list[Json], who: tuple[str, str]) -> None:
    if rules.edition.edition is not Edition.NEXT:
        return
    urn = f"urn:worker:{who[0]}/{who[1]}"
    found = stability_of(urn, rules, effective)
    first = decide(Attempt(urn), rules)
    refused = first.verdict.value in ("REJECTED_INVALID_POLICY", "REJECTED_UNBOUNDED")
    retries = first.limits.retries.at_most if first.limits is not None else None
    wanted = None if refused else plain.first_unstable(*who, known, rules.identity.value, retries, FAR)
    if found.intrinsic is Intrinsic.UNKNOWN or (found.at or 0) > FAR:
        return
    assert found.at == (None if wanted is None else wanted[0]), seed
    if wanted is not None:
        kind = Source.FAILS_LATER if wanted[1] == "error" else Source.READS_ATTEMPT
        assert [s for s in found.sources if s in (Source.FAILS_LATER, Source.READS_ATTEMPT)] == [kind], seed


def _compare_schedules(seeds: range) -> None:
    for seed in seeds:
        source = random.Random(seed)
        document = tree(source, source.randrange(1, 5))
        bag = bag_of(source)
        values = {name: typed(value) for name, value in bag.items()}
        took, part, real = source.choice((0, 1, 10**9)), source.choice((0.0, 0.5)), source.random() < 0.6
        policy = read_policy(document)
        run = run_schedule(policy, values, 10, draw=fraction_of(part), execution_ns=took, real_elapsed=real)
        state, elapsed = plain.start(document), 0
        for decision in run.decisions:
            elapsed = min(plain.DMAX, elapsed + took)
            assert decision.elapsed_ns == (elapsed if real else 0), seed
            state, wanted = plain.stepped(document, state, decision.elapsed_ns, bag, part)
            assert (_told(decision.verdict), state_to_json(decision.state)) == (wanted, state), seed
            elapsed = min(plain.DMAX, elapsed + wanted[1])
        assert run.stopped is (wanted[0] != "retry"), seed
        assert run.stopped or len(run.decisions) == 10, seed


PARTS = {
    "selections": (_compare_selections, 8_000),
    "steps": (_compare_steps, 20_000),
    "schedules": (_compare_schedules, 8_000),
    "decisions": (_compare_decisions, 12_000),
}


@pytest.mark.parametrize("part", PARTS)
def test_the_same_as_a_second_reading(part: str) -> None:
    """A twentieth of the comparisons."""
    compare, full = PARTS[part]
    compare(range(full // SHARE))


@pytest.mark.acceptance
@pytest.mark.parametrize("part", PARTS)
def test_the_same_as_a_second_reading_in_full(part: str) -> None:
    """All of them, on other seeds."""
    compare, full = PARTS[part]
    compare(range(10**6, 10**6 + full))
