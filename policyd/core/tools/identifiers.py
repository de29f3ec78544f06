"""Identifiers of commands, arguments, errors, formatters, tools and middleware.

Source: middleware 1.3.
"""

from __future__ import annotations

import re

_IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_WHITE_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
RESERVED_NAME = "middleware"
"""No tool may have it: the manifest uses it for declarations."""


def is_identifier(text: str) -> bool:
    """Whether the text is in lower-kebab form, as a whole.

    >>> is_identifier("dry-run"), is_identifier("a-")
    (True, False)
    """
    return _IDENTIFIER.fullmatch(text) is not None


def is_blank(text: str) -> bool:
    """Whether there is nothing but white space, in the Unicode sense."""
    return not text.strip(_WHITE_SPACE)
