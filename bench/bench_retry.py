"""How long questions about retry policies take: selection, limits, lint and difference, on made-up rule sets.

Run it with the interpreter of the environment; it prints one line for each figure, with the bar it is held against.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

from policyd.analysis import RULES, Subject, audit
from policyd.core.application import Deployment
from policyd.core.edition import Rules
from policyd.core.retry import (
    Domain,
    Elapsed,
    Integer,
    NamedPolicy,
    Policy,
    Resolver,
    RuleSet,
    Text,
    effective_rules,
    limits_of,
)
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q
from policyd.core.retry.difference import difference_of
from policyd.core.retry.placed import PlacedPolicy
from policyd.findings import Span

MS = 1_000_000
SEED = 7


def guarded(name: str, test: q.Predicate) -> q.Predicate:
    """A test behind the question whether the property exists."""
    return q.And(q.PropExists(name), test)


def predicate(source: random.Random, number: int) -> q.Predicate:
    """A predicate as rule sets have them."""
    match source.randrange(6):
        case 0:
            values = tuple(Integer(source.choice((429, 500, 502, 503, 504))) for _ in range(3))
            return guarded("status-code", q.PropIn("status-code", values))
        case 1:
            host = Text(f"service{number}.example.com")
            return guarded("uri-host", q.PropCompare(q.Comparison.EQ, "uri-host", host))
        case 2:
            return guarded("uri-host", q.PropText(q.TextTest.MATCHES, "uri-host", f"*.zone{number}.example.com"))
        case 3:
            return guarded("uri-path", q.PropText(q.TextTest.STARTS_WITH, "uri-path", f"/v{number}/"))
        case 4:
            return guarded("verb", q.PropCompare(q.Comparison.EQ, "verb", Text(source.choice(("GET", "invoke")))))
        case _:
            return guarded("function", q.PropCompare(q.Comparison.EQ, "function", Text(f"method{number}")))


def policy(source: random.Random) -> Policy:
    """A policy as rule sets have them."""
    tree: Policy = p.Clamp(100 * MS, 5_000 * MS, p.Exponential(200 * MS, 2.0))
    if source.random() < 0.5:
        tree = p.Jitter(0.15, tree)
    return p.CountBox(source.randrange(1, 9), tree)


def rule_set(count: int, seed: int = SEED) -> tuple[NamedPolicy, ...]:
    """So many rules."""
    source = random.Random(seed)
    return tuple(
        NamedPolicy(f"rule-{i}", source.randrange(1, 60), predicate(source, i), policy(source)) for i in range(count)
    )


def tree(source: random.Random, nodes: int) -> Policy:
    """A tree of so many nodes, filters left aside."""
    if nodes <= 1:
        return source.choice(
            (
                p.Periodic(source.randrange(5) * 100 * MS),
                p.Exponential(100 * MS, 2.0),
                p.Fibonacci(MS, MS),
                p.Immediate(),
                p.Never(),
            )
        )
    if nodes == 2 or source.random() < 0.5:
        inner = tree(source, nodes - 1)
        match source.randrange(5):
            case 0:
                return p.CountBox(source.randrange(1, 30), inner)
            case 1:
                return p.TimeBox(source.randrange(1, 60) * 1_000 * MS, inner)
            case 2:
                return p.Clamp(0, source.randrange(1, 9) * 1_000 * MS, inner)
            case 3:
                return p.AddDelay(source.randrange(9) * MS, inner)
            case _:
                return p.Jitter(0.15, inner)
    left = source.randrange(1, nodes - 1)
    build = source.choice((p.AndThen, p.Union, p.Intersect))
    return build(tree(source, left), tree(source, nodes - 1 - left))


def timed(run: Callable[[], object]) -> float:
    """Seconds of processor time of one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def report(title: str, seconds: float, bar: float) -> None:
    """One figure with its bar."""
    verdict = "ok" if seconds <= bar else "TOO SLOW"
    print(f"{title}: {seconds * 1_000:.3f} ms (bar {bar * 1_000:g} ms) {verdict}")


def bench_resolve() -> None:
    """Selection when the last of 100 rules matches, compiled once."""
    rules = [
        NamedPolicy(f"r{i}", 100 - i, q.PropCompare(q.Comparison.EQ, "verb", Text(f"v{i}")), p.Immediate())
        for i in range(99)
    ]
    rules.append(NamedPolicy("last", 0, q.ALWAYS, p.Immediate()))
    ready = RuleSet.of(rules)
    bag = {"verb": Text("GET"), "status-code": Integer(503)}
    times = [timed(lambda: ready.select(bag, Resolver.STRICT)) for _ in range(2_000)]
    report("resolve, last of 100 rules, with trace, median", statistics.median(times), 0.000_5)


def bench_limits() -> None:
    """Limits of one policy on trees of 200 nodes."""
    source = random.Random(SEED)
    times = []
    for _ in range(300):
        subject = tree(source, 200)
        elapsed = source.choice(tuple(Elapsed))
        times.append(timed(lambda subject=subject, elapsed=elapsed: limits_of(subject, elapsed, Domain())))
    report("limits, trees of 200 nodes, median", statistics.median(times), 0.010)
    report("limits, trees of 200 nodes, slowest of 300", max(times), 0.010)


def bench_lint() -> None:
    """All rules on 50 policies over all sites."""
    placed = tuple(PlacedPolicy(rule, rule, Span("bench", i + 1, 1)) for i, rule in enumerate(rule_set(50)))
    deployment = Deployment("shop", "prod", Span("bench"), (), "", "", retry_policies=placed)
    rules = [rule for rule in RULES if rule.family == "retry"]
    seconds = min(timed(lambda: audit([Subject(deployment, "", Rules())], rules)) for _ in range(3))
    report("lint, 50 policies", seconds, 2.0)


def bench_difference() -> None:
    """Two sets of 50 policies."""
    one, other = (tuple(e.rule for e in effective_rules(rule_set(50, seed))) for seed in (SEED, SEED + 1))
    seconds = min(timed(lambda: difference_of(one, other, Rules())) for _ in range(3))
    report("diff, two sets of 50 policies", seconds, 3.0)


def main() -> None:
    """Every figure."""
    bench_resolve()
    bench_limits()
    bench_lint()
    bench_difference()


if __name__ == "__main__":
    main()
