"""Many applications: how long one, two and more workers take for the same fleet, start of the workers included.

    python bench/bench_fleet.py [--manifests 1000] [--agents 10]

Bar: two workers at least 1.7 times as fast as one, and the same bytes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from random import Random
from time import perf_counter

SEED = 11


def manifest(number: int, agents: int, rng: Random) -> str:
    """Ten grants an agent, a part of them without effect."""
    out = ["manifestVersion: 1.6.0", f"app: app{number}", "environments:", "  prod:"]
    out += ["    account: acme@example.com", "    server: cloud", "agents:"]
    for agent in range(agents):
        out += [f"  Agent{agent}:", "    initialCard:", "      lowerBound:", "        positive:"]
        for _ in range(8):
            verb, key = rng.choice(("read", "write")), rng.randrange(6)
            out.append(f'          - "kv(?env) @ ?agent : {verb} : area{agent}.k{key}"')
        out += ["        negative:", '          - "network() @ ?agent : connect : h.example.com:443"']
        out += ["      upperBound:", "        positive:", '          - "kv(?env) @ ?agent : * : *.**"']
    return "\n".join(out) + "\n"


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--manifests", type=int, default=1_000)
    options.add_argument("--agents", type=int, default=10)
    asked = options.parse_args()
    rng = Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.manifests):
            place = Path(folder) / f"app{number:05}"
            place.mkdir()
            (place / "golem.yaml").write_text(manifest(number, asked.agents, rng), encoding="utf-8")
        print(f"{asked.manifests} manifests of {asked.agents} agents, {os.cpu_count()} processors")
        first = 0.0
        seen: set[str] = set()
        for workers in (1, 2):
            command = [sys.executable, "-m", "policyd", "fleet", "audit", folder, "--no-keep"]
            start = perf_counter()
            done = subprocess.run([*command, "--workers", str(workers)], capture_output=True, check=False)
            took = perf_counter() - start
            assert done.returncode == 0, done.stderr
            seen.add(sha256(done.stdout).hexdigest())
            first = first or took
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(f"{workers} workers: {took:.1f} s, {first / took:.2f} times, largest process {peak:.0f} MB")
        print("the same bytes" if len(seen) == 1 else "DIFFERENT BYTES")


if __name__ == "__main__":
    main()
