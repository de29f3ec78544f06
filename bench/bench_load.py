"""Reading grants and auditing large manifests: time, peak memory and growth, in one run.

    python bench/bench_load.py [--sizes 1000,10000,100000]

Each size is measured in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory


def manifest(grants: int, seed: int = 3) -> str:
    """A manifest of about a hundred bytes a grant: agents of 50 grants each, every fifth one negative."""
    rng = Random(seed)
    out = ["manifestVersion: 1.6.0", "app: shop", "environments:", "  prod:", "    account: acme@example.com"]
    out += ["components:", "  shop:cart:", "    dir: cart", "agents:"]
    number = 0
    while number < grants:
        out += [f"  Agent{number // 50}:", "    initialCard:", "      lowerBound:", "        positive:"]
        for _ in range(min(40, grants - number)):
            out.append(f"          - {json.dumps(_grant(rng, number))}")
            number += 1
        if number < grants:
            out.append("        negative:")
        for _ in range(min(10, grants - number)):
            out.append(f"          - {json.dumps(_grant(rng, number))}")
            number += 1
    return "\n".join(out) + "\n"


def _grant(rng: Random, n: int) -> str:
    return rng.choice(
        (
            f"kv(?env) @ ?agent : read : store{n % 90}.a-rather-long-key-name-{n}",
            f"network() @ ?agent : connect : host{n}.internal.example.com:{1 + n % 60000}",
            f"filesystem(?agent) @ ?agent : read : /data/customers/region{n % 9}/file{n}",
            f"secret(?env) @ ?agent : reveal : provider{n}.credentials.key",
            f"agent(?component/Worker(*)) @ ?agent : invoke : method{n}",
            f"rdbms(?env) @ ?agent : query : shop.public.table{n}",
        )
    )


def measure(size: int) -> dict[str, float]:
    """Load and audit one manifest in this process."""
    from policyd.manifest import load_manifest
    from policyd.syntax import Form, parse_grants
    from policyd.usecases.audit_manifest import audit_manifest

    with TemporaryDirectory() as folder:
        path = Path(folder) / "golem.yaml"
        path.write_text(manifest(size), encoding="utf-8")
        rng = Random(4)
        texts = [_grant(rng, n) for n in range(min(size, 20_000))]
        start = time.perf_counter()
        for text in texts:
            parse_grants(text, Form.MANIFEST)
        parsing = len(texts) / (time.perf_counter() - start)
        start = time.perf_counter()
        loaded = load_manifest(path)
        load = time.perf_counter() - start
        start = time.perf_counter()
        report = audit_manifest(loaded)
        audit = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {
            "bytes": path.stat().st_size,
            "parsing": parsing,
            "load": load,
            "audit": audit,
            "peak": peak,
            "findings": len(report.findings),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one)))
        return
    print(" grants       MB  parse grants/s   load s  audit s  total µs/grant  peak MiB  findings")
    for size in (int(word) for word in arguments.sizes.split(",")):
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(size)], check=True, capture_output=True, text=True
        )
        m = json.loads(done.stdout)
        total = (m["load"] + m["audit"]) / size * 1e6
        print(
            f"{size:>7} {m['bytes'] / 1e6:>8.2f} {m['parsing']:>15.0f} {m['load']:>8.2f} {m['audit']:>8.2f}"
            f" {total:>15.0f} {m['peak']:>9.0f} {m['findings']:>9.0f}"
        )


if __name__ == "__main__":
    main()
