"""Deciding on wallets of 20 to 50,000 grants: the index against the plain evaluator, in one run.

    python bench/bench_decide.py [--sizes 20,500,5000,50000]

Prints, per size: µs per bare decision, with reasons, and of the plain evaluator; µs of loading and
bytes per grant; and the ratios that are promised.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable

from wallets import calls, wallet

from policyd.core.admission import CompiledWallet, decide, surface_at
from policyd.core.grants import Target


def per_call(ask: Callable[[Target], object], targets: list[Target], rounds: int) -> float:
    """Median over rounds of the mean µs per call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for target in targets:
            ask(target)
        times.append((time.perf_counter() - start) / len(targets) * 1e6)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="20,500,5000,50000")
    sizes = [int(word) for word in parser.parse_args().sizes.split(",")]
    bare: dict[int, float] = {}
    plain: dict[int, float] = {}
    print(" grants  admitted  bare µs  reasons µs  plain µs  load µs/grant  bytes/grant  reasons/bare  digest")
    for size in sizes:
        holding = wallet(size)
        targets = calls(holding, 400)
        gc.collect()
        start = time.perf_counter()
        compiled = CompiledWallet(holding)
        load = (time.perf_counter() - start) / size * 1e6
        gc.collect()
        tracemalloc.start()
        again = CompiledWallet(holding)
        memory = tracemalloc.get_traced_memory()[0] / size
        tracemalloc.stop()
        assert again.digest == compiled.digest
        surface = surface_at(holding, None)
        sample = targets[: max(8, min(400, 200_000 // size))]
        for target in sample:
            assert compiled.decide(target) == decide(surface, target)
        bare[size] = per_call(compiled.admits, targets, 15)
        reasons = per_call(compiled.decide, targets, 15)
        plain[size] = per_call(surface.allows, sample, 5)
        share = sum(compiled.admits(t) for t in targets) / len(targets)
        print(
            f"{size:>7} {share:>9.0%} {bare[size]:>8.1f} {reasons:>11.1f} {plain[size]:>9.0f} {load:>14.1f}"
            f" {memory:>12.0f} {reasons / bare[size]:>13.2f}  {compiled.digest[:12]}"
        )
    if 20 in bare and 5000 in bare:
        print(f"bare at 5,000 / bare at 20: {bare[5000] / bare[20]:.2f} (promised: at most 1.5)")
        print(f"plain / bare at 5,000: {plain[5000] / bare[5000]:.0f} (promised: at least 150)")


if __name__ == "__main__":
    main()
