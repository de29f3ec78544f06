"""Where the values of a YAML text stand, by the same paths as those of JSON.

Source: style 8 (findings have places).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ruamel.yaml import events as ev
from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # libyaml, not re-exported
from ruamel.yaml.error import YAMLError

MAX_PLACES = 200_000
"""Beyond so many values places are left out; the answer itself does not depend on them."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(slots=True)
class _Open:
    """A collection that has not ended."""

    path: str
    is_map: bool
    index: int = 0
    key: str | None = None

    def next_path(self) -> str:
        """The path of the value that comes next."""
        if not self.is_map:
            self.index += 1
            return f"{self.path}[{self.index - 1}]"
        key, self.key = self.key or "", None
        return f"{self.path}.{key}" if _PLAIN.fullmatch(key) else f'{self.path}["{key}"]'


def yaml_places(text: str) -> dict[str, tuple[int, int]]:
    """Document path to the line and the column (from 1) of a value; up to the first mistake of the text."""
    found: dict[str, tuple[int, int]] = {}
    stack: list[_Open] = []
    try:
        parser = CParser(text)
        while len(found) < MAX_PLACES:
            event = parser.get_event()
            match event:
                case ev.StreamEndEvent():
                    break
                case ev.SequenceEndEvent() | ev.MappingEndEvent():
                    stack.pop()
                case ev.ScalarEvent() if stack and stack[-1].is_map and stack[-1].key is None:
                    stack[-1].key = str(event.value)
                case ev.ScalarEvent() | ev.AliasEvent() | ev.SequenceStartEvent() | ev.MappingStartEvent():
                    path = stack[-1].next_path() if stack else "$"
                    found.setdefault(path, (event.start_mark.line + 1, event.start_mark.column + 1))
                    if isinstance(event, ev.SequenceStartEvent | ev.MappingStartEvent):
                        stack.append(_Open(path, isinstance(event, ev.MappingStartEvent)))
                case _:
                    pass
    except (YAMLError, UnicodeError):
        return found
    return found
