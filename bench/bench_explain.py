"""How long an explanation takes: recognition, verdict and causes, fixes; wallets of 20 to 5,000 grants.

    python bench/bench_explain.py [--rounds 20]

One agent type with a card of so many grants of several kinds and a ceiling. Denials are spread over the classes. What
fixes cost is told apart by an answer whose budget for them is over before it begins. CPU time stands beside the time
that passes, which says more about the machine where that is busy.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import time

from policyd.core.edition import NEXT
from policyd.core.operations import Ports
from policyd.manifest import load_text
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables
from policyd.usecases.deployments import Editions, Selection
from policyd.usecases.explain_denial import explain
from policyd.usecases.explain_fixes import Means
from policyd.usecases.explain_holding import in_manifest
from policyd.usecases.explain_values import Asked

CALLS = (
    "network() : connect : hooks{n}.example.com:443",
    "kv(?env) : write : bucket{n}.k",
    "secret(?env) : reveal : team{n}.other",
    "rdbms(?env) : mutate : db{n}.public.t",
    "filesystem(?agent) : write : /data/{n}/x",
    "agent(?component/Other(*)) : invoke : run{n}",
)


def manifest(grants: int) -> str:
    """A manifest whose one card has so many grants."""
    kinds = (
        "network() @ ?agent : connect : api{n}.example.com:443",
        "kv(?env) @ ?agent : read : bucket{n}.**",
        "secret(?env) @ ?agent : reveal : team{n}.key",
        "rdbms(?env) @ ?agent : query : db{n}.public.*",
        "filesystem(?agent) @ ?agent : read : /data/{n}/**",
    )
    lines = [kinds[n % len(kinds)].format(n=n) for n in range(grants)]
    ceiling = (
        "network() @ ?agent : * : *",
        "kv(?env) @ ?agent : * : *.**",
        "secret(?env) @ ?agent : * : *",
        "rdbms(?env) @ ?agent : * : *.*.*",
        "filesystem(?agent) @ ?agent : * : /**",
    )
    return "\n".join(
        [
            "manifestVersion: 1.6.0",
            "app: shop",
            "environments: {prod: {server: cloud, account: acme@example.com}}",
            "components: {'shop:all': {dir: all, templates: rust}}",
            "agents:",
            "  Cart:",
            "    initialCard:",
            "      lowerBound:",
            "        positive:",
            *(f"          - '{line}'" for line in lines),
            "      upperBound:",
            "        positive:",
            *(f"          - '{line}'" for line in ceiling),
            "",
        ]
    )


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    gc.set_threshold(100_000, 20, 20)  # as the command line sets it
    ports, operations = Ports(SqlTables(), OutboundUrls()), catalogue().operations
    selection = Selection("prod", None, "", "")
    for size in (20, 500, 5_000):
        read = Editions(load_text(manifest(size)))
        here = read.described(selection, NEXT)
        dice = random.Random(size)
        times: dict[str, list[float]] = {"verdict and causes": [], "with fixes": []}
        computed: dict[str, list[float]] = {name: [] for name in times}
        undecided = 0
        for number in range(given.rounds):
            call = CALLS[number % len(CALLS)].format(n=dice.randrange(size))
            for name, budget in (("verdict and causes", -1.0), ("with fixes", 2.0)):

                def again(rules):  # type: ignore[no-untyped-def]
                    return read.described(selection, rules)  # noqa: B023

                holding = in_manifest(here, selection, "Cart", NEXT, again=again)
                started, begun = time.perf_counter(), time.process_time()
                means = Means(None, lambda: time.perf_counter() - started, budget)  # noqa: B023
                found = explain(holding, Asked(target=call), ports, operations, means)
                times[name].append((time.perf_counter() - started) * 1000)
                computed[name].append((time.process_time() - begun) * 1000)
                undecided += name == "with fixes" and bool(found.items[0].fixes.undecided)
        print(f"{size} grants, {given.rounds} denials:")
        for name, found_times in times.items():
            ordered = sorted(found_times)
            p95, cpu = (sorted(t)[int(0.95 * (len(t) - 1))] for t in (found_times, computed[name]))
            print(
                f"  {name}: median {statistics.median(ordered):.0f} ms, p95 {p95:.0f} ms, slowest {ordered[-1]:.0f} ms;"
                f" p95 of CPU time {cpu:.0f} ms"
            )
        print(f"  fixes cut short by their budget of 2 s: {undecided}")


if __name__ == "__main__":
    main()
