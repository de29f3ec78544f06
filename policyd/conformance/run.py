"""Running recorded question and answer files: stream, ask, compare, count.

Source: vectors, "Checking an implementation".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from glob import glob, has_magic
from importlib import import_module
from pathlib import Path
from typing import Any

from policyd.conformance.compare import differences
from policyd.findings import Finding, InputError, PolicydError, Severity, Span

MAX_LINE = 16 * 1024 * 1024
"""A longer line is a diagnostic; recorded ones stay under 100 kB."""
SHOWN = 3
"""How many disagreements per operation are shown."""
_MAX_PROBLEMS = 50

_MODULES = ("cards", "retry", "schema", "tools", "targets")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the vectors: how it is answered, and how its answers are compared."""

    answer: Callable[[Mapping[str, Any]], object]
    compare: Callable[[object, object], list[str]]


@cache
def operations() -> Mapping[str, Operation]:
    """Every operation that this build can answer, by name."""
    known: dict[str, Operation] = {}
    for name in _MODULES:
        module = import_module(f"policyd.conformance.{name}")
        comparers = getattr(module, "COMPARE", {})
        for op, answer in module.HANDLERS.items():
            known[op] = Operation(answer, comparers.get(op, differences))
    return known


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One line on which this build and the record differ."""

    source: str
    line: int
    places: tuple[str, ...]
    recorded: object
    given: object


@dataclass(slots=True)
class OperationCount:
    """What came of one operation."""

    agree: int = 0
    disagree: int = 0
    panics: int = 0
    unchecked: int = 0
    undecided: int = 0
    first: list[Disagreement] = field(default_factory=list)


@dataclass(slots=True)
class Outcome:
    """What came of a run.

    Attributes:
        counts: per operation, in the order in which they were met.
        problems: lines and files that could not be read.
    """

    counts: dict[str, OperationCount] = field(default_factory=dict)
    problems: list[Finding] = field(default_factory=list)

    @property
    def disagreements(self) -> int:
        """How many lines differ."""
        return sum(c.disagree for c in self.counts.values())

    @property
    def unchecked(self) -> int:
        """How many lines ask for an operation that this build does not know."""
        return sum(c.unchecked for c in self.counts.values())


def files_of(sources: Iterable[str]) -> list[Path]:
    """The vector files that the arguments name: files, folders (their `*.jsonl`) and globs, sorted.

    Raises:
        InputError: if an argument names nothing.
    """
    found: dict[Path, None] = {}
    for source in sources:
        path = Path(source)
        if path.is_dir():
            matches = sorted(path.glob("*.jsonl"))
        elif path.exists():
            matches = [path]
        else:
            matches = sorted(Path(m) for m in glob(source, recursive=True)) if has_magic(source) else []
        if not matches:
            raise InputError.of("STORE060", f"no recorded questions at `{source}`", None, "name a file, folder or glob")
        found.update(dict.fromkeys(m for m in matches if not m.is_dir()))
    return list(found)


def check_sources(sources: Iterable[str]) -> Outcome:
    """Ask every recorded question and compare; one line at a time, whatever the size of a file.

    Raises:
        InputError: if an argument names nothing.
    """
    outcome = Outcome()
    for path in files_of(sources):
        try:
            for number, raw in _lines(path):
                _check_line(str(path), number, raw, outcome)
        except OSError as error:
            why = error.strerror or "it cannot be read"
            outcome.problems.append(
                Finding("STORE061", Severity.ERROR, f"unreadable file: {why.lower()}", Span(str(path)))
            )
    return outcome


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as stream:
        number = 0
        while raw := stream.readline(MAX_LINE + 1):
            number += 1
            yield number, raw
            while len(raw) > MAX_LINE and not raw.endswith(b"\n"):
                raw = stream.readline(MAX_LINE + 1)


def _problem(outcome: Outcome, source: str, line: int, message: str) -> None:
    if len(outcome.problems) < _MAX_PROBLEMS:
        outcome.problems.append(Finding("STORE062", Severity.ERROR, message, Span(source, line, 1)))


def _check_line(source: str, number: int, raw: bytes, outcome: Outcome) -> None:
    if len(raw) > MAX_LINE:
        _problem(outcome, source, number, f"a line of more than {MAX_LINE} bytes is not read")
        return
    if not raw.strip():
        return
    try:
        record = json.loads(raw, parse_int=_integer)
    except (ValueError, RecursionError):
        _problem(outcome, source, number, "this line is no JSON value")
        return
    match record:
        case {"op": str(op), "in": question, "out": recorded}:
            pass
        case _:
            _problem(outcome, source, number, "a line needs the members `op`, `in` and `out`")
            return
    count = outcome.counts.setdefault(op, OperationCount())
    operation = operations().get(op)
    if operation is None:
        count.unchecked += 1
        return
    given = _ask(operation, question)
    if isinstance(recorded, Mapping) and recorded.get("panic") is True:
        count.panics += 1
        return
    places = operation.compare(recorded, given)
    if not places:
        count.agree += 1
        return
    if isinstance(given, Mapping) and given.get("undecided"):
        count.undecided += 1
        return
    count.disagree += 1
    if len(count.first) < SHOWN:
        count.first.append(Disagreement(source, number, tuple(places), recorded, given))


def _integer(digits: str) -> int | float:
    """Integers exactly; `-0` is a floating point number to the platform's reader."""
    return -0.0 if digits == "-0" else int(digits)


def _ask(operation: Operation, question: object) -> object:
    """The answer of this build; a question that it cannot take is an answer that agrees with nothing."""
    try:
        return operation.answer(question)  # type: ignore[arg-type]  # the handler checks what it reads
    except PolicydError as error:
        return {"ok": False, "refused": str(error)}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, AssertionError, IndexError) as error:
        return {"unanswered": f"{type(error).__name__}: {error}"}
    except Exception as error:  # a handler must not stop the run: the line counts as a disagreement
        return {"unanswered": f"{type(error).__name__}: {error}"}
