"""The service for minutes under a mixed load: latency, memory and errors, minute by minute.

    python bench/soak.py [--minutes 10] [--url postgresql+psycopg://…]     # also: make soak

`policyd serve` runs as users run it, on SQLite unless another database is named. Eight clients ask for decisions,
batches, proofs, lists, explanations and pages; a ninth imports a changed manifest every two seconds, so that snapshots
come and caches turn over. Exit 1 if an answer had a status of 400 or more, if the answers of a snapshot changed, or if
the memory of the last third is more than a tenth above that of the middle third.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from statistics import median

import httpx

SHOP = Path(__file__).parents[1] / "examples" / "shop" / "golem.yaml"
PLACE = "@acme@example.com/shop/prod"
CLIENTS = 8
IMPORT_EVERY_S = 2.0


class Seen:
    """What the clients saw."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.times: list[tuple[float, float]] = []
        self.statuses: Counter[int] = Counter()
        self.answers: dict[tuple[str, str], str] = {}
        self.changed: list[str] = []

    def note(self, began: float, took: float, status: int) -> None:
        """One answer."""
        with self.lock:
            self.times.append((began, took))
            self.statuses[status] += 1

    def same(self, digest: str, question: str, answer: str) -> None:
        """The answer to a question about a snapshot is always the same."""
        with self.lock:
            if self.answers.setdefault((digest, question), answer) != answer:
                self.changed.append(question)


def ask(base: str, until: float, seed: int, seen: Seen) -> None:
    """One client."""
    dice = random.Random(seed)
    with httpx.Client(base_url=base, timeout=60) as client:
        while time.monotonic() < until:
            key = f"orders.{dice.randrange(200)}"
            target = f"kv(?env) : {dice.choice(('read', 'write', 'delete'))} : {key}"
            decision = {"snapshot": PLACE, "agent": "Cart", "target": target}
            kind = dice.random()
            began = time.monotonic()
            if kind < 0.6:
                answer = client.post("/v1/decisions", json=decision)
                if answer.status_code == 200:
                    told = answer.json()
                    seen.same(told["digest"], target, told["admitted"])
            elif kind < 0.7:
                asked = {"snapshot": PLACE, "questions": [{"agent": "Cart", "target": target}] * 20}
                answer = client.post("/v1/decisions/batch", json=asked)
            elif kind < 0.78:
                query = "secret(any) : reveal : under(stripe)"
                answer = client.post("/v1/proofs", json={"snapshot": PLACE, "never": query})
            elif kind < 0.86:
                answer = client.post(
                    "/v1/who-can", json={"snapshot": PLACE, "target": f"kv({PLACE[1:]}) : read : {key}"}
                )
            elif kind < 0.92:
                answer = client.post("/v1/explanations", json={"snapshot": PLACE, "agent": "Cart", "target": target})
            else:
                answer = client.get(dice.choice(("/", "/check", "/rules", "/snapshots/1", "/diff")))
            seen.note(began, time.monotonic() - began, answer.status_code)


def imports(base: str, until: float, seen: Seen) -> None:
    """The client that changes the deployment: a handful of versions, over and over."""
    text = SHOP.read_text(encoding="utf-8")
    number = 0
    with httpx.Client(base_url=base, timeout=60) as client:
        while time.monotonic() < until:
            number += 1
            version = text.replace("orders.*", f"orders{number % 40}.*")
            body = {"documents": [{"name": "golem.yaml", "text": version}], "environment": "prod"}
            began = time.monotonic()
            answer = client.post("/v1/imports/manifest", json=body)
            seen.note(began, time.monotonic() - began, answer.status_code)
            if answer.status_code >= 400:
                print(answer.text, file=sys.stderr)
            time.sleep(IMPORT_EVERY_S)


def memory(process: int) -> float:
    """Resident memory of a process, in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(next(line for line in status.split("\n") if line.startswith("VmRSS")).split()[1]) / 1024


def main() -> int:
    """Soak, and tell."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--url", default="")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        environment = {**os.environ, "POLICYD_DATABASE_URL": asked.url or f"sqlite:///{folder}/policyd.db"}
        policyd = [sys.executable, "-m", "policyd"]
        subprocess.run([*policyd, "db", "upgrade"], env=environment, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            [*policyd, "import", str(SHOP), "--env", "prod"], env=environment, check=True, stdout=subprocess.DEVNULL
        )
        with (Path(folder) / "log").open("wb") as log:
            server = subprocess.Popen([*policyd, "serve", "--port", str(port)], env=environment, stdout=log, stderr=log)
            try:
                return soak(f"http://127.0.0.1:{port}", server.pid, asked.minutes * 60)
            finally:
                server.terminate()
                server.wait()


def soak(base: str, process: int, seconds: float) -> int:
    """The load, and a line for each minute."""
    while True:
        try:
            httpx.get(f"{base}/readyz")
            break
        except httpx.TransportError:
            time.sleep(0.1)
    seen, begin = Seen(), time.monotonic()
    until = begin + seconds
    threads = [threading.Thread(target=ask, args=(base, until, seed, seen)) for seed in range(CLIENTS)]
    threads.append(threading.Thread(target=imports, args=(base, until, seen)))
    for thread in threads:
        thread.start()
    samples: list[tuple[float, float]] = []
    while time.monotonic() < until:
        time.sleep(min(2.0, max(0.0, until - time.monotonic())))
        samples.append((time.monotonic() - begin, memory(process)))
    for thread in threads:
        thread.join()
    print("minute  answers  p50 ms  p99 ms  memory MB")
    for minute in range(max(1, round(seconds / 60))):
        took = sorted(t for began, t in seen.times if minute * 60 <= began - begin < (minute + 1) * 60)
        held = [mb for at, mb in samples if minute * 60 <= at < (minute + 1) * 60]
        if took and held:
            p50, p99 = 1e3 * took[len(took) // 2], 1e3 * took[int(len(took) * 0.99)]
            print(f"{minute + 1:6}  {len(took):7}  {p50:6.1f}  {p99:6.1f}  {median(held):9.0f}")
    thirds = [[mb for at, mb in samples if seconds * n / 3 <= at < seconds * (n + 1) / 3] for n in range(3)]
    growth = median(thirds[2]) / median(thirds[1])
    errors = {status: count for status, count in seen.statuses.items() if status >= 400}
    print(json.dumps({"statuses": dict(seen.statuses), "growth": round(growth, 3), "changed": seen.changed[:5]}))
    bad = bool(errors) or bool(seen.changed) or growth > 1.1
    print("not flat, or with errors" if bad else "flat, without errors")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
