"""Prices of questions about all calls: differences of wallets and of deployments, and hard shapes.

Run: python bench/bench_callsets.py [--quick]. Times are processor time of this process, so that other work on
the machine counts little; every ratio is taken within one run: the price of one bare decision on the same wallet
is measured beside the difference, the two in turns. String solvers are asked beside it: z3, and cvc5 where it is
installed, on the same hosts and ports.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from policyd.core.callsets.admitted import admitted_by
from policyd.core.callsets.difference import difference
from policyd.core.callsets.universe import Universe
from policyd.core.cards import Bounds, Card, CardId, Surface, surface_of
from policyd.core.edition import NEXT
from policyd.core.grants import Grant, Level, Recipient, Target, class_named
from policyd.solver.questions import contained
from policyd.syntax import Form, parse_grant

Result = TypeVar("Result")

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
    """The shortest of several runs, in seconds of processor time."""
    return min(once(work)[0] for _ in range(times))


def once(work: Callable[[], Result]) -> tuple[float, Result]:
    """How long one run takes in seconds of processor time, and what comes of it."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def one_agent(size: int) -> None:
    """The difference of one wallet against a changed one, beside bare decisions on it."""
    old = surface_of(wallet(size, 1), HOLDER)
    for share in (0.05, 1.0):
        new = surface_of(wallet(size, 1, share), HOLDER)

        def both(new: Surface = new) -> int:
            left, right = admitted_by(old), admitted_by(new)
            return difference(right, left).count + difference(left, right).count

        kinds = both()
        targets = [r.grant.target for p in old.lower for r in p.positive][:200]

        def decisions(targets: list[Target] = targets) -> list[bool]:
            return [old.allows(target) for target in targets]

        took = bare = float("inf")
        for _ in range(3 if size > 1000 else 10):  # in turns, so that both meet the same machine
            took = min(took, once(both)[0])
            bare = min(bare, fastest(decisions, 1) / len(targets))
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
    paths are intersections of ceilings that each remember another distance; grids are negatives that cross
    positives; nests lend what is below one folder without what is below the next.
    """
    nobody = surface_of([], HOLDER)
    for labels in (8, 12, 16, 20, 24, 28, 32, 40):
        print(
            f"  {labels:3} labels, {round(4.3 * labels):3} overlapping negatives: {_measured(_clauses(labels), nobody)}"
        )
    for count in (2, 4, 6, 8, 10, 12):
        ceilings = [
            Card(CardId(f"u{n}"), Bounds((), (), (_path("/".join(["**", "ab"[n % 2], *("*",) * n])),)))
            for n in range(1, count + 1)
        ]
        paths = surface_of([Card(CardId("l"), Bounds((_path("**"),))), *ceilings], HOLDER)
        print(f"  {count:3} ceilings of paths with two kinds of stars: {_measured(paths, nobody)}")
    for count in (25, 50, 100, 200, 400):
        positive = tuple(_path(f"data/*/x{n}") for n in range(count))
        negative = tuple(_path(f"data/y{n}/*") for n in range(count))
        grid = surface_of([Card(CardId("l"), Bounds(positive, negative))], HOLDER)
        whole = surface_of([Card(CardId("l"), Bounds((_path("data/*/*"),), negative))], HOLDER)
        print(f"  {count:3} positives crossed by {count:3} negatives: {_measured(grid, whole)}")
    for depth in (10, 20, 40, 60, 80, 160):
        folders = ["/".join(["n"] * n) for n in range(1, depth + 1)]
        nest = [
            Card(CardId(f"c{n:04}"), Bounds((_path(f"{outer}/**"),), (_path(f"{inner}/**"),)))
            for n, (outer, inner) in enumerate(itertools.pairwise(folders))
        ]
        inside = surface_of([Card(CardId("l"), Bounds((_path("n/**"),), (_path(f"{folders[-1]}/**"),)))], HOLDER)
        print(f"  {depth:3} nested folders with exceptions: {_measured(inside, surface_of(nest, HOLDER))}")


def _clauses(labels: int) -> Surface:
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
    return surface_of([Card(CardId("l"), Bounds((_network("*"),), tuple(clauses))), *binary], HOLDER)


def _starred(size: int, place: int, label: str) -> list[str]:
    return [label if i == place else "*" for i in range(size)]


def _measured(left: Surface, right: Surface) -> str:
    seconds, answer = once(lambda: difference(admitted_by(left), admitted_by(right)))
    took = seconds * 1e3
    word = "undecided" if answer.undecided else "witness" if answer.witnesses else "proved empty"
    return f"{took:8.1f} ms, {word}"


def _network(host: str) -> Grant:
    return parse_grant(f"network() @ * : connect : {host}", Form.CONCRETE)


def _path(path: str) -> Grant:
    return parse_grant(f"filesystem({COMPONENT}/*) @ * : read : /{path}", Form.CONCRETE)


STRING_TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class Pattern:
    """Hosts and ports as a string solver is asked about them."""

    host: str
    low: int
    high: int

    @property
    def grant(self) -> Grant:
        """The same as a grant."""
        return _network(f"{self.host}:{self.low}-{self.high}" if self.low < self.high else f"{self.host}:{self.low}")


@dataclass(frozen=True)
class Containment:
    """Whether everything that some patterns admit, others admit, the same ones denied on both sides."""

    narrow: tuple[Pattern, ...]
    wide: tuple[Pattern, ...]
    denied: tuple[Pattern, ...]

    @classmethod
    def of(cls, size: int, *, holds: bool) -> Containment:
        """A question of this size; where it does not hold, one pattern in the middle is too wide."""
        rng = random.Random(size)
        wide = []
        for number in range(size):
            low = rng.choice((80, 443, 8000))
            host = f"{rng.choice('ab*')}.h{number}.example.{rng.choice(['com', '*'])}"
            wide.append(Pattern(host, low, low + rng.choice((0, 999))))
        narrow = [Pattern(p.host.replace("*", "c"), p.low, (p.low + p.high) // 2) for p in wide]
        if not holds:
            some = narrow[size // 2]
            narrow[size // 2] = Pattern(some.host, some.low, wide[size // 2].high + 1)
        return cls(tuple(narrow), tuple(wide), tuple(wide[3::4]))


def beside_strings(sizes: tuple[int, ...]) -> None:
    """The same containment questions to solvers with hosts as strings and patterns as regular expressions."""
    judges = _string_solvers()
    if "cvc5" not in judges:
        print("  cvc5 is not installed and is left out")
    for size in sizes:
        for holds in (True, False):
            asked = Containment.of(size, holds=holds)
            denied = tuple(p.grant for p in asked.denied)
            narrow, wide = (
                surface_of([Card(CardId("c"), Bounds(tuple(p.grant for p in side), denied))], HOLDER)
                for side in (asked.narrow, asked.wide)
            )
            took, found = once(lambda n=narrow, w=wide: difference(admitted_by(n), admitted_by(w)))
            words = [f"structure {took * 1e3:8.2f} ms ({'a witness' if found.witnesses else 'proved empty'})"]
            network = class_named("network", NEXT)
            assert network is not None
            took, answer = once(
                lambda n=narrow, w=wide, c=network: contained(n, w, c, "connect", Universe(), STRING_TIMEOUT_MS)
            )
            words.append(f"z3 over names {took * 1e3:8.1f} ms ({type(answer).__name__.lower()})")
            for name, api in judges.items():
                start = time.perf_counter()
                verdict = _by_strings(api, asked)
                words.append(f"{name} strings {(time.perf_counter() - start) * 1e3:8.1f} ms ({verdict})")
            print(f"  {size:4} grants: {', '.join(words)}")


def _string_solvers() -> dict[str, Any]:
    import z3

    found: dict[str, Any] = {"z3": z3}
    try:
        import cvc5.pythonic as cvc5
    except ImportError:
        return found
    return {**found, "cvc5": cvc5}


def _by_strings(api: Any, asked: Containment) -> str:
    host, port = api.String("host"), api.Int("port")
    letter = api.Union(api.Range("a", "z"), api.Range("0", "9"))

    def fits(pattern: Pattern) -> Any:
        parts = []
        for place, label in enumerate(pattern.host.split(".")):
            if place:
                parts.append(api.Re("."))
            parts.append(api.Plus(letter) if label == "*" else api.Re(label))
        return api.And(api.InRe(host, api.Concat(*parts)), port >= pattern.low, port <= pattern.high)

    def any_of(patterns: tuple[Pattern, ...]) -> Any:
        return api.Or(*map(fits, patterns)) if len(patterns) > 1 else fits(patterns[0])

    solver = api.Solver()
    if api.__name__ == "z3":
        solver.set("timeout", STRING_TIMEOUT_MS)
    else:
        solver.setOption("tlimit-per", str(STRING_TIMEOUT_MS))
    solver.add(any_of(asked.narrow), api.Not(any_of(asked.denied)), api.Not(any_of(asked.wide)))
    verdict = str(solver.check())
    return {"sat": "a witness", "unsat": "proved empty"}.get(verdict, f"unknown after {STRING_TIMEOUT_MS} ms")


def main() -> None:
    quick = "--quick" in sys.argv
    print("difference of one agent, both directions, from parsed values:")
    for size in (20, 500) if quick else (20, 500, 5000):
        one_agent(size)
    print("deployment of 200 agents with 50 grants:")
    deployment()
    print("hard shapes, budget 200,000 steps:")
    hard_shapes()
    print(f"the same containment by solvers, time-out {STRING_TIMEOUT_MS} ms:")
    beside_strings((5, 20) if quick else (5, 20, 100, 500))


if __name__ == "__main__":
    main()
