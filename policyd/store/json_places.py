"""Where the values of a JSON text stand: every path with its first and last character.

Only called on text that has been read as JSON already, so it needs no checks of its own.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from policyd.findings import Span

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*", re.ASCII)


def step(name: str) -> str:
    """A member name as part of a path.

    >>> step("cards"), step("a b")
    ('.cards', '["a b"]')
    """
    if _PLAIN.fullmatch(name):
        return f".{name}"
    whole = name.encode("utf-8", "backslashreplace").decode()
    return f"[{json.dumps(whole, ensure_ascii=False)}]"


@dataclass(slots=True)
class JsonText:
    """The text of one JSON value, and where it stands in its source.

    Attributes:
        source: the name of the source.
        text: the value as written.
        path: its own path in the document.
        line, column: 1-based, of its first character.
        offset: of its first character in the source.
    """

    source: str
    text: str
    path: str
    line: int
    column: int
    offset: int
    _found: dict[str, tuple[int, int]] = field(default_factory=dict)
    _lines: list[int] = field(default_factory=list)

    def span(self, path: str) -> Span:
        """The place of the value at `path`, or of the nearest value around it."""
        if not self._found:
            self._read()
        shown = path
        while path not in self._found and path != self.path:
            path = _parent(path)
        start, end = self._found.get(path, (0, len(self.text)))
        line = bisect_right(self._lines, start)
        if line == 0:
            return Span(self.source, self.line, self.column + start, self.offset + start, self.offset + end, shown)
        column = start - self._lines[line - 1] + 1
        return Span(self.source, self.line + line, column, self.offset + start, self.offset + end, shown)

    def _read(self) -> None:
        self._lines = [found.end() for found in re.finditer("\n", self.text)]
        containers: list[tuple[str, int, int]] = []
        """Path, start and next index of each open list; the index of an object is -1."""
        path, key = self.path, ""
        for token in _TOKEN.finditer(self.text):
            sign = token.group()
            first = sign[0]
            if first in ",:":
                if first == ":":
                    path = containers[-1][0] + step(json.loads(key))
                elif containers[-1][2] >= 0:
                    outer, start, index = containers[-1]
                    containers[-1] = (outer, start, index + 1)
                    path = f"{outer}[{index + 1}]"
                else:
                    path = ""
            elif first in "{[":
                containers.append((path, token.start(), 0 if first == "[" else -1))
                path = f"{path}[0]" if first == "[" else ""
            elif first in "}]":
                outer, start, _ = containers.pop()
                self._found[outer] = (start, token.end())
            elif path:
                self._found[path] = token.span()
            else:
                key = sign


def _parent(path: str) -> str:
    if path.endswith('"]'):
        return path[: path.rfind('["')]
    if path.endswith("]"):
        return path[: path.rfind("[")]
    return path[: max(path.rfind("."), 0)] or "$"
