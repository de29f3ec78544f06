"""Where the values of a JSON text stand, so that a finding about `$.cards[0].holder` has a line and a column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # the reader's own scanner of strings

from policyd.findings import Finding, Span
from policyd.findings.span import span_of_text

MAX_VALUES = 2_000_000
"""Beyond so many values places are left out; the answer itself does not depend on them."""

_SPACE = re.compile(r"[ \t\r\n]*")
_ATOM = re.compile(r"[^\s,\]}\[{\"]+")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def places(text: str) -> dict[str, tuple[int, int]]:
    """Document path to the first character of a value and the one behind its last.

    Args:
        text: valid JSON; of anything else the places up to the first mistake are given.
    """
    found: dict[str, tuple[int, int]] = {}
    # open containers: path, whether an object, next index, start
    stack: list[tuple[str, bool, int, int]] = []
    position = _skip(text, 0)
    path = "$"
    try:
        while len(found) < MAX_VALUES:
            char = text[position]
            if char in "{[":
                stack.append((path, char == "{", 0, position))
                position = _skip(text, position + 1)
                if text[position] not in "}]":
                    path, position = _enter(text, stack, position)
                    continue
            elif char == '"':
                _, end = scanstring(text, position + 1)
                found[path] = (position, end)
                position = end
            else:
                atom = _ATOM.match(text, position)
                if atom is None:
                    return found
                found[path] = (position, atom.end())
                position = atom.end()
            # a value has ended: close what ends with it, then go on behind the comma
            position = _skip(text, position)
            while stack and text[position] in "}]":
                closed, _, _, start = stack.pop()
                found[closed] = (start, position + 1)
                position = _skip(text, position + 1)
            if not stack or text[position] != ",":
                return found
            top, is_object, index, start = stack.pop()
            stack.append((top, is_object, index + 1, start))
            path, position = _enter(text, stack, _skip(text, position + 1))
    except (IndexError, ValueError):
        return found
    return found


def _skip(text: str, position: int) -> int:
    matched = _SPACE.match(text, position)
    return matched.end() if matched else position


def _enter(text: str, stack: list[tuple[str, bool, int, int]], position: int) -> tuple[str, int]:
    """The path of the next member or item, and where its value begins."""
    path, is_object, index, _ = stack[-1]
    if not is_object:
        return f"{path}[{index}]", position
    key, end = scanstring(text, position + 1)
    colon = _skip(text, end)
    if text[colon] != ":":
        raise ValueError("no colon")
    name = f".{key}" if _PLAIN.fullmatch(key) else f'["{key}"]'
    return path + name, _skip(text, colon + 1)


def span_at(source: str, text: str, where: Mapping[str, tuple[int, int]], path: str) -> Span:
    """The span of the value at `path`, or of the nearest value around it."""
    probe = path
    while probe and probe not in where:
        probe = probe[: max(probe.rfind("."), probe.rfind("["))]
    if not probe:
        return Span(source, path=path)
    start, end = where[probe]
    first, last = (start + 1, end - 1) if text[start] == '"' else (start, min(end, start + 1))
    return span_of_text(source, text, first, last, path)


def relocated(findings: tuple[Finding, ...], source: str, text: str) -> tuple[Finding, ...]:
    """The findings about a value, with the places of the file it came from."""
    where = places(text)
    return tuple(
        Finding(f.code, f.severity, f.message, span_at(source, text, where, f.span.path), f.help, f.related)
        if f.span is not None and not f.span.line
        else f
        for f in findings
    )
