"""Reading hazardous SQL in a process of its own, which can be given up.

A parse cannot be interrupted from within Python, and a tree that is too deep ends the process that holds it.

Source: host 4.7 (cost).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear
from policyd.core.operations.sql import Engine, NamedTable
from policyd.syntax.sql_reading import read_tables

MAX_SECONDS = 1.0
"""How long a statement may be read, the start of the process included."""
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
    if done.returncode:
        return Unclear("sql", "the statement is too deep for the parser")
    return _read(json.loads(done.stdout))


def main(engine: str) -> None:
    """Read one statement from standard input and write what it names."""
    sys.stdout.write(json.dumps(_written(read_tables(Engine(engine), json.load(sys.stdin)))))


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
