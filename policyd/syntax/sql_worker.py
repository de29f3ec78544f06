"""Reading hazardous SQL in a process of its own, which can be given up.

A parse cannot be interrupted from within Python, and a tree that is too deep ends the process that holds it.

Source: host 4.7 (cost).
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear
from policyd.core.operations.sql import Engine, NamedTable
from policyd.syntax.sql_reading import read_tables

MAX_CPU_SECONDS = 1
"""How much of the processor the reading may take: so the answer does not depend on what else runs."""
MAX_SECONDS = 6.0
"""How long is waited for it on the clock, the start of the process included."""
_ROOT = str(Path(__file__).resolve().parents[2])
_START = "import sys; sys.path.insert(0, sys.argv[1]); from policyd.syntax.sql_worker import main; main(sys.argv[2])"


def read_apart(engine: Engine, sql: str, seconds: float = MAX_SECONDS) -> tuple[NamedTable, ...] | Refusal | Unclear:
    """The tables of one statement, read in another process within a time."""
    command = [sys.executable, "-c", _START, _ROOT, engine.value]
    try:
        done = subprocess.run(
            command, input=json.dumps(sql), capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Unclear("sql", f"the statement takes the parser more than {seconds:g} seconds")
    except OSError:
        return Unclear("sql", "the statement is too deep to be read here, and no other process can be started")
    if done.returncode in _OUT_OF_TIME:
        return Unclear("sql", f"the statement takes the parser more than {MAX_CPU_SECONDS} second of the processor")
    if done.returncode:
        return Unclear("sql", "the statement is too deep for the parser")
    return _read(json.loads(done.stdout))


def main(engine: str) -> None:
    """Read one statement from standard input and write what it names."""
    _limit()
    sys.stdout.write(json.dumps(_written(read_tables(Engine(engine), json.load(sys.stdin)))))


_OUT_OF_TIME = frozenset({-getattr(signal, "SIGXCPU", 0), -getattr(signal, "SIGKILL", 0)} - {0})


def _limit() -> None:
    """Let the system end this process when its share of the processor is used up; elsewhere the clock does."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = int(used.ru_utime + used.ru_stime) + MAX_CPU_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 1))


def _written(found: tuple[NamedTable, ...] | Refusal | Unclear) -> object:
    match found:
        case Refusal(kind, message, reason):
            return {"refusal": [kind.value, message, reason]}
        case Unclear(about, message):
            return {"unclear": [about, message]}
        case _:
            return {"tables": [[table.verb, table.parts] for table in found]}


def _read(answer: object) -> tuple[NamedTable, ...] | Refusal | Unclear:
    match answer:
        case {"refusal": [kind, message, reason]}:
            return Refusal(RefusalKind(kind), message, reason)
        case {"unclear": [about, message]}:
            return Unclear(about, message)
        case {"tables": tables}:
            return tuple(NamedTable(verb, None if parts is None else tuple(parts)) for verb, parts in tables)
        case _:
            return Unclear("sql", "the statement could not be read apart")
