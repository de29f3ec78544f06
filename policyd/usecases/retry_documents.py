"""Documents with rules, policies and plans: read, and what is wrong in them told with line and column.

Source: retry 1.5, 1.10; interface (exit codes).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from policyd.findings import Finding, InputError, Span
from policyd.findings.span import span_of_text
from policyd.syntax.json_places import relocated
from policyd.syntax.mistakes import shown
from policyd.syntax.retry_yaml import load_yaml
from policyd.syntax.yaml_places import yaml_places

MAX_BYTES = 16 * 1024 * 1024
"""A larger document is refused unread."""


def text_of_file(path: Path) -> str:
    """The text of a file.

    Raises:
        InputError: where it cannot be read, is too large or is not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "it is no file name").lower()
        raise InputError.of("MANIF001", f"{shown(str(path))} cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise InputError.of("MANIF001", f"{shown(str(path))} is larger than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.of("MANIF001", f"{shown(str(path))} is not UTF-8 at byte {error.start}") from None


def json_document(text: str, source: str) -> Any:
    """The value of a JSON text.

    Raises:
        InputError: RETRY106, with the line and column of the first mistake.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        span = span_of_text(source, text, error.pos, error.pos + 1)
        raise InputError.of("RETRY106", f"not JSON: {error.msg.lower()}", span) from None
    except (RecursionError, ValueError):
        message = "not JSON that can be read: nested too deeply, or a number is too long"
        raise InputError.of("RETRY106", message, Span(source)) from None


def yaml_document(text: str, source: str) -> Any:
    """The value of a YAML text.

    Raises:
        InputError: RETRY128, with the line and column of the first mistake.
    """
    try:
        return load_yaml(text)
    except InputError as error:
        mark = getattr(error.__cause__, "problem_mark", None)
        line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        span = Span(source, line, column)
        raise InputError(*(replace(f, span=span) for f in error.findings)) from None


@contextmanager
def placed_in_json(text: str, source: str) -> Iterator[None]:
    """What is wrong in the value of a JSON text is told with its place in it."""
    try:
        yield
    except InputError as error:
        raise InputError(*relocated(error.findings, source, text)) from None


@contextmanager
def placed_in_yaml(text: str, source: str) -> Iterator[None]:
    """What is wrong in the value of a YAML text is told with its place in it."""
    try:
        yield
    except InputError as error:
        where = yaml_places(text)
        raise InputError(*(_at(finding, source, where) for finding in error.findings)) from None


def _at(finding: Finding, source: str, where: dict[str, tuple[int, int]]) -> Finding:
    if finding.span is None or finding.span.line:
        return finding
    probe = finding.span.path
    while probe and probe not in where:
        probe = probe[: max(probe.rfind("."), probe.rfind("["), 0)]
    line, column = where.get(probe, (1, 1))
    return replace(finding, span=Span(source, line, column, path=finding.span.path))


def read_document(text: str, source: str, read: Callable[[Any], Any], *, is_json: bool) -> Any:
    """What `read` makes of the value of a text.

    Raises:
        InputError: with the line and column of what is wrong.
    """
    if is_json:
        document = json_document(text, source)
        with placed_in_json(text, source):
            return read(document)
    document = yaml_document(text, source)
    with placed_in_yaml(text, source):
        return read(document)
