"""Texts of users on a terminal: whatever would move the cursor, colour, hide or forge a line is shown escaped.

Source: style 8.
"""

from __future__ import annotations

from collections.abc import Iterable


def visible(text: str) -> str:
    r"""`text` on one line: control, bidi and all other characters that do not print are shown as their escapes.

    What it gives it leaves alone, so a text may pass it more than once.

    >>> visible("a\x1b[31m\u202eb\n")
    'a\\x1b[31m\\u202eb\\n'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def visible_lines(lines: Iterable[str]) -> str:
    r"""Lines of a rendering joined to a text; a line break within one of them is shown escaped.

    >>> visible_lines(["a\nb", "c"])
    'a\\nb\nc'
    """
    return "\n".join(map(visible, lines))
