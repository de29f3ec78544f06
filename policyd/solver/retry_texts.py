"""Texts to constants of z3 and back.

Source: style 10.
"""

from __future__ import annotations

import re

import z3

_ESCAPED = re.compile(r"\\u\{([0-9a-fA-F]+)\}")


def text_value(text: str, context: z3.Context) -> z3.SeqRef:
    """A text as a constant; a backslash is never the start of an escape of z3."""
    return z3.StringVal(text.replace("\\", "\\u{5c}"), context)


def text_of(term: z3.SeqRef) -> str:
    """The text of a constant in a model."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), term.as_string())
