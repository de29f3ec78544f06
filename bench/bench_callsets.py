"""Prices of questions about all calls: differences of wallets and of deployments, and hard shapes.

Run: python bench/bench_callsets.py [--quick]. Every ratio is taken within one run: the price of one bare
decision on the same wallet is measured beside the difference.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from policyd.core.callsets.admitted import admitted_by
from policyd.core.callsets.difference import difference
from policyd.core.cards import Bounds, Card, CardId, Surface, surface_of
from policyd.core.grants import Grant, Level, Recipient
from policyd.syntax import Form, parse_grant

HOLDER = Recipient(Level.AGENT, ("ana@lab.io", "shop", "prod", "shop:cart", "Cart"))
ENV, COMPONENT = "ana@lab.io/shop/prod", "ana@lab.io/shop/prod/shop:cart"

_TEMPLATES = (
    "kv({env}) @ * : {rw} : orders-{n}.**",
    "kv({env}) @ * : read : stock.item-{n}",
    "filesystem({comp}/Cart(*)) @ * : {rw} : /data/{n}/**",
    "filesystem({comp}/*) @ * : read : /static/{n}/*/index",
    "network() @ * : connect : api{n}.example.com:443",
    "network() @ * : connect : *.zone{n}.example.org:8000-8999",
    "env({comp}/Cart(*)) @ * : read : VARIABLE_{n}",
    "config({comp}/*) @ * : read : feature.f{n}.*",
    "secret({env}) @ * : reveal : vendor{n}.key",
    "agent({env}/shop:cart/Peer{n}(*)) @ * : invoke : run",
    "agent({env}/*/*) @ * : view : method{n}",
    "rdbms({env}) @ * : query : shop.public.t{n}",
    "blob({env}) @ * : write : images-{n}.*",
    "tool({env}/shop:tools/tool{n}) @ * : invoke : *",
)


def grant(rng: random.Random, number: int) -> Grant:
    """One grant of the kinds that manifests contain."""
    template = _TEMPLATES[number % len(_TEMPLATES)]
    return parse_grant(
        template.format(env=ENV, comp=COMPONENT, n=number, rw=rng.choice(("read", "write", "*"))), Form.CONCRETE
    )


def ceiling() -> tuple[Grant, ...]:
    """A ceiling that lets most of it through."""
    texts = (
        f"kv({ENV}) @ * : * : *.**", f"filesystem({COMPONENT}/*) @ * : * : /**", "network() @ * : connect : *",
        f"env({COMPONENT}/*) @ * : read : *", f"config({COMPONENT}/*) @ * : read : *", f"secret({ENV}) @ * : * : *",
        f"agent({ENV}/*/*) @ * : * : *", f"rdbms({ENV}) @ * : query : *.*.*", f"blob({ENV}) @ * : * : *.**",
        f"tool({ENV}/*/*) @ * : invoke : *",
    )  # fmt: skip
    return tuple(parse_grant(text, Form.CONCRETE) for text in texts)


def wallet(size: int, seed: int, changed: float = 0.0) -> list[Card]:
    """Three cards with `size` grants in all, an eighth of them negative; a share of them replaced."""
    rng = random.Random(seed)
    other = random.Random(seed + 1)
    grants = [grant(rng, n) for n in range(size)]
    if changed:
        for place in other.sample(range(size), max(1, round(size * changed))):
            grants[place] = grant(other, place + 10 * size)
    negative = grants[7::8]
    positive = [g for n, g in enumerate(grants) if n % 8 != 7]
    half = len(positive) // 2
    return [
        Card(CardId("00000000-0000-4000-8000-000000000001"), Bounds(tuple(positive[:half]), tuple(negative[::2]))),
        Card(CardId("00000000-0000-4000-8000-000000000002"), Bounds(tuple(positive[half:]), (), ceiling(), ())),
        Card(CardId("00000000-0000-4000-8000-000000000003"), Bounds((), (), (), tuple(negative[1::2]))),
    ]


def fastest(work: Callable[[], object], times: int) -> float:
    """The shortest of several runs, in seconds."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def one_agent(size: int) -> None:
    """The difference of one wallet against a changed one, beside bare decisions on it."""
    old = surface_of(wallet(size, 1), HOLDER)
    for share in (0.05, 1.0):
        new = surface_of(wallet(size, 1, share), HOLDER)

        def both(new: Surface = new) -> int:
            left, right = admitted_by(old), admitted_by(new)
            return difference(right, left).count + difference(left, right).count

        kinds = both()
        took = fastest(both, 3 if size > 1000 else 10)
        targets = [r.grant.target for p in old.lower for r in p.positive][:200]
        bare = fastest(lambda t=targets: [old.allows(x) for x in t], 2) / len(targets)
        ratio = took / (bare * size)
        print(
            f"  {size:5} grants, {share:4.0%} changed: {took * 1e3:8.2f} ms, {kinds:5} kinds,"
            f" bare decision {bare * 1e6:7.1f} us, {ratio:6.2f} x that many decisions"
        )


def deployment() -> None:
    """Two hundred agents against their successors, one in twenty changed."""
    old = [surface_of(wallet(50, n), HOLDER) for n in range(200)]
    new = [s if n % 20 else surface_of(wallet(50, n, 0.2), HOLDER) for n, s in enumerate(old)]
    every = [surface_of(wallet(50, n, 0.05), HOLDER) for n in range(200)]

    def compared(successors: list[Surface]) -> int:
        found = 0
        for a, b in zip(old, successors, strict=True):
            if a is not b:
                left, right = admitted_by(a), admitted_by(b)
                found += difference(right, left).count + difference(left, right).count
        return found

    print(f"  5 % of the agents changed: {fastest(lambda: compared(new), 2) * 1e3:.0f} ms")
    print(f"  5 % of every agent's grants changed: {fastest(lambda: compared(every), 2) * 1e3:.0f} ms")


def hard_shapes() -> None:
    """Where stars at different places overlap without covering each other: the curve, and where it ends.

    Hosts are a satisfiability problem with 4.3 clauses of three labels for each label, the hardest density;
    paths are intersections of ceilings that each remember another distance.
    """
    nobody = surface_of([], HOLDER)
    for labels in (8, 12, 16, 20, 24, 28, 32, 40):
        rng = random.Random(labels)
        clauses = []
        for _ in range(round(4.3 * labels)):
            pattern = ["*"] * labels
            for place in rng.sample(range(labels), 3):
                pattern[place] = rng.choice("ab")
            clauses.append(_network(".".join(pattern)))
        binary = [
            Card(CardId(f"u{i}"), Bounds((), (), tuple(_network(".".join(_starred(labels, i, x))) for x in "ab")))
            for i in range(labels)
        ]
        hosts = surface_of([Card(CardId("l"), Bounds((_network("*"),), tuple(clauses))), *binary], HOLDER)
        print(f"  {labels:3} labels, {len(clauses):3} overlapping negatives: {_measured(hosts, nobody)}")
    for count in (2, 4, 6, 8, 10, 12):
        ceilings = [
            Card(CardId(f"u{n}"), Bounds((), (), (_path("/".join(["**", "ab"[n % 2], *("*",) * n])),)))
            for n in range(1, count + 1)
        ]
        paths = surface_of([Card(CardId("l"), Bounds((_path("**"),))), *ceilings], HOLDER)
        print(f"  {count:3} ceilings of paths with two kinds of stars: {_measured(paths, nobody)}")


def _starred(size: int, place: int, label: str) -> list[str]:
    return [label if i == place else "*" for i in range(size)]


def _measured(left: Surface, right: Surface) -> str:
    start = time.perf_counter()
    answer = difference(admitted_by(left), admitted_by(right))
    took = (time.perf_counter() - start) * 1e3
    word = "undecided" if answer.undecided else "witness" if answer.witnesses else "proved empty"
    return f"{took:8.1f} ms, {word}"


def _network(host: str) -> Grant:
    return parse_grant(f"network() @ * : connect : {host}", Form.CONCRETE)


def _path(path: str) -> Grant:
    return parse_grant(f"filesystem({COMPONENT}/*) @ * : read : /{path}", Form.CONCRETE)


STRING_TIMEOUT_MS = 5_000


def beside_strings(sizes: tuple[int, ...]) -> None:
    """The same containment questions to z3 with hosts as strings and patterns as regular expressions."""
    for size in sizes:
        rng = random.Random(size)
        names = [f"{rng.choice('ab*')}.h{n}.example.{rng.choice(['com', '*'])}" for n in range(size)]
        denied = names[3::4]
        wide = surface_of(
            [Card(CardId("w"), Bounds(tuple(map(_network, names)), tuple(map(_network, denied))))], HOLDER
        )
        fewer = tuple(_network(n.replace("*", "c")) for n in names)
        narrow = surface_of([Card(CardId("n"), Bounds(fewer, tuple(map(_network, denied))))], HOLDER)
        start = time.perf_counter()
        structural = difference(admitted_by(narrow), admitted_by(wide))
        middle = time.perf_counter()
        verdict = _by_strings([n.replace("*", "c") for n in names], names, denied)
        took = time.perf_counter() - middle
        print(
            f"  {size:4} grants: structure {(middle - start) * 1e3:8.2f} ms ({structural.count} kinds),"
            f" z3 strings {took * 1e3:8.1f} ms ({verdict})"
        )


def _by_strings(narrow: list[str], wide: list[str], denied: list[str]) -> str:
    import z3

    context = z3.Context()
    host = z3.String("host", context)
    letter = z3.Union(z3.Range("a", "z", context), z3.Range("0", "9", context))

    def fits(pattern: str) -> object:
        parts = []
        for place, label in enumerate(pattern.split(".")):
            if place:
                parts.append(z3.Re(".", context))
            parts.append(z3.Plus(letter) if label == "*" else z3.Re(label, context))
        return z3.InRe(host, z3.Concat(*parts))

    def any_of(patterns: list[str]) -> object:
        return z3.Or(*map(fits, patterns))

    solver = z3.Solver(ctx=context)
    solver.set("timeout", STRING_TIMEOUT_MS)
    lost = z3.And(any_of(narrow), z3.Not(any_of(denied)))
    solver.add(lost, z3.Or(z3.Not(any_of(wide)), any_of(denied)))
    verdict = solver.check()
    return {"sat": "a witness", "unsat": "proved empty"}.get(str(verdict), f"unknown after {STRING_TIMEOUT_MS} ms")


def main() -> None:
    quick = "--quick" in sys.argv
    print("difference of one agent, both directions, from parsed values:")
    for size in (20, 500) if quick else (20, 500, 5000):
        one_agent(size)
    print("deployment of 200 agents with 50 grants:")
    deployment()
    print("hard shapes, budget 200,000 steps:")
    hard_shapes()
    print("the same containment as strings:")
    beside_strings((5, 20) if quick else (5, 20, 100, 500))


if __name__ == "__main__":
    main()
