"""A log of decisions as JSON lines: read one by one, bounded, bad lines told and passed over.

Source: interface, Files and queries; questions 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from policyd.core.cards import Timestamp
from policyd.store.codes import StoreCode
from policyd.syntax.mistakes import shown

MAX_LINE_BYTES = 1024 * 1024
"""A longer line is passed over and told."""

MAX_COUNT = 10**12
"""The greatest `count` of one line."""

MEMBERS = ("time", "holder", "agent", "target", "operation", "arguments", "outcome", "edition", "count")
"""The members that are read; others are ignored and counted."""

OUTCOMES = {"admitted": True, "denied": False}

NOT_JSON = StoreCode.JSON_SYNTAX.value
TOO_LARGE = StoreCode.TOO_LARGE.value
BAD_MEMBER = StoreCode.BAD_MEMBER.value


@dataclass(frozen=True, slots=True)
class LogLine:
    """One decision that was logged.

    Attributes:
        number: of its line, from 1.
        time: when it was decided.
        holder: `account/app/env/component/Type` or an account; empty where only `agent` is given.
        agent: a type or a full id; empty where only `holder` is given.
        target: as logged; empty where an operation is.
        operation: its id; empty where a target is.
        arguments: of the operation.
        is_admitted: the outcome; None where the log itself has no yes or no.
        edition: empty where the log does not say it.
        count: how often it happened.
        ignored: how many members of the line are not known.
    """

    number: int
    time: Timestamp
    holder: str
    agent: str
    target: str
    operation: str
    arguments: Mapping[str, object] = field(hash=False)
    is_admitted: bool | None
    edition: str = ""
    count: int = 1
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not understood.

    Attributes:
        number: of the line, from 1.
        code: of the mistake.
        message: one line; values of arguments are never repeated.
    """

    number: int
    code: str
    message: str


class _Bad(Exception):  # noqa: N818 - what the line is
    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(message)


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, each at most one byte longer than is read, so that memory stays bounded."""
    while line := stream.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = stream.readline(MAX_LINE_BYTES)
        yield line


def read_log(lines: Iterable[bytes]) -> Iterator[LogLine | BadLine]:
    """The decisions in a log, line by line; empty lines are passed over."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _line(number, line)
        except _Bad as bad:
            yield BadLine(number, bad.code, bad.message)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object, whose members have different names: which of two counts would be a guess."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Bad(BAD_MEMBER, "an object names a member twice")
    return found


def _line(number: int, line: bytes) -> LogLine:
    if len(line) > MAX_LINE_BYTES:
        raise _Bad(TOO_LARGE, f"the line is longer than {MAX_LINE_BYTES} bytes")
    try:
        value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"), object_pairs_hook=_members)
    except UnicodeDecodeError:
        raise _Bad(NOT_JSON, "the line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _Bad(NOT_JSON, f"not JSON: {error.msg.lower()} at column {error.colno}") from None
    except (RecursionError, ValueError):
        raise _Bad(NOT_JSON, "not JSON that can be read: nested too deeply, or a number is too long") from None
    if not isinstance(value, dict):
        raise _Bad(BAD_MEMBER, "the line is no object")
    holder, agent = _text(value, "holder"), _text(value, "agent")
    if not holder and not agent:
        raise _Bad(BAD_MEMBER, "neither `holder` nor `agent` says who asked")
    target, operation = _text(value, "target"), _text(value, "operation")
    if bool(target) is bool(operation):
        raise _Bad(BAD_MEMBER, "one of `target` and `operation` says what was asked")
    return LogLine(
        number,
        _time(value),
        holder,
        agent,
        target,
        operation,
        _arguments(value, operation),
        _outcome(value),
        _text(value, "edition"),
        _count(value),
        sum(1 for name in value if name not in MEMBERS),
    )


def _text(value: Mapping[str, object], name: str) -> str:
    found = value.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise _Bad(BAD_MEMBER, f"`{name}` is no text")
    return found


def _time(value: Mapping[str, object]) -> Timestamp:
    text = _text(value, "time")
    if not text:
        raise _Bad(BAD_MEMBER, "`time` is missing")
    try:
        return Timestamp.parse(text)
    except ValueError as why:
        raise _Bad(BAD_MEMBER, f"`time` {shown(text)} is no moment: {why}") from None


def _outcome(value: Mapping[str, object]) -> bool:
    text = _text(value, "outcome")
    if text not in OUTCOMES:
        raise _Bad(BAD_MEMBER, "`outcome` is neither `admitted` nor `denied`")
    return OUTCOMES[text]


def _count(value: Mapping[str, object]) -> int:
    count = value.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_COUNT:
        raise _Bad(BAD_MEMBER, f"`count` is no whole number from 1 to {MAX_COUNT}")
    return count


def _arguments(value: Mapping[str, object], operation: str) -> Mapping[str, object]:
    found = value.get("arguments")
    if found is None:
        return {}
    if not operation:
        raise _Bad(BAD_MEMBER, "`arguments` belong to an `operation`")
    if not isinstance(found, dict):
        raise _Bad(BAD_MEMBER, "`arguments` are no object")
    return found
