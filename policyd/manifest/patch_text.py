"""Pieces of YAML text: quoting, blocks and flow collections, and edits applied to a document.

Source: manifest-format 0.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Content: TypeAlias = "Mapping[str, Content] | Sequence[str]"
"""What is written: maps of maps, with lists of texts at their ends."""

STEP = 2
"""How far a new block is indented below its key."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True, slots=True)
class TextEdit:
    """The characters `start` to `end` of a text become `text`."""

    start: int
    end: int
    text: str


class CannotPatchError(Exception):
    """A text that cannot be changed without changing more than is wanted; the message says why."""


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after some edits that do not overlap; equal ones count once, those at one place keep their order.

    Raises:
        CannotPatchError: if two of them overlap.
    """
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end))
    out: list[str] = []
    last = 0
    for edit in ordered:
        if edit.start < last:
            raise CannotPatchError("two changes of the document overlap")
        out += [text[last : edit.start], edit.text]
        last = edit.end
    return "".join([*out, text[last:]])


def quoted(text: str, style: str = '"') -> str:
    r"""A text as a quoted YAML scalar; single quotes only where `style` asks for them and the text allows it.

    >>> quoted('agent(a/p/e/c/T("1"))'), quoted("it's", "'")
    ('"agent(a/p/e/c/T(\\"1\\"))"', "'it''s'")
    """
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else _escape(c) for c in escaped) + '"'


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def key_text(key: str) -> str:
    """A key as it is written, quoted where a plain one would be read as something else."""
    return key if _PLAIN_KEY.match(key) and key.lower() not in _WORDS else quoted(key)


def block_text(content: Content, indent: int, newline: str) -> str:
    """A block collection, each line led by a line end, so that it follows its key."""
    pad = newline + " " * indent
    if isinstance(content, Mapping):
        return "".join(
            f"{pad}{key_text(key)}:{block_text(value, indent + STEP, newline)}" for key, value in content.items()
        )
    return "".join(f"{pad}- {quoted(item)}" for item in content)


def flow_text(content: Content) -> str:
    """A flow collection on one line."""
    if isinstance(content, Mapping):
        return "{" + ", ".join(f"{key_text(key)}: {flow_text(value)}" for key, value in content.items()) + "}"
    return "[" + ", ".join(quoted(item) for item in content) + "]"
