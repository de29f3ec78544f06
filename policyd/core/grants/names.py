"""The primitive lexemes of the grant language, and the names inside owners and recipients.

Python's own tests (`str.strip`, `int`, `uuid.UUID`, `str.isdigit`) accept more than the
platform does, so each lexeme is an explicit ASCII pattern here.

Source: cards 1.2, 1.3, 1.7.
"""

from __future__ import annotations

import re

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029"
    "\u202f\u205f\u3000"
)
"""The Unicode `White_Space` property (`str.strip` alone also removes U+001C to U+001F)."""

U64_MAX = 2**64 - 1

_IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_ENVVAR = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_U64 = re.compile(r"\+?0*([0-9]{1,20})", re.ASCII)
_APP = re.compile(r"[a-z][a-z0-9-]*", re.ASCII)
_ENV = re.compile(r"[a-z](?:-?[a-z0-9])*", re.ASCII)
_SLOT_REF = re.compile(r"\?[A-Za-z0-9_-]+", re.ASCII)
_HYPHENATED = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_PLAIN_HEX = re.compile(r"[0-9a-fA-F]{32}", re.ASCII)
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def trim(text: str) -> str:
    """`text` without leading and trailing white space (rule P2)."""
    return text.strip(WHITE_SPACE)


def ascii_lower(text: str) -> str:
    """`text` with only A to Z lowered (rule P11).

    >>> ascii_lower("ÄNA@Lab.io")
    'Äna@lab.io'
    """
    return text.translate(_ASCII_LOWER)


def is_ident(text: str) -> bool:
    """Whether `text` is an IDENT."""
    return _IDENT.fullmatch(text) is not None


def is_env_var(text: str) -> bool:
    """Whether `text` is an ENVVAR: an IDENT without hyphens."""
    return _ENVVAR.fullmatch(text) is not None


def is_application(text: str) -> bool:
    """Whether `text` is an application name (N1)."""
    return _APP.fullmatch(text) is not None


def is_environment(text: str) -> bool:
    """Whether `text` is an environment name (N2); tool and middleware names follow the same rule (RS-tname).

    >>> is_environment("q-a"), is_environment("q--a"), is_environment("q-")
    (True, False, False)
    """
    return _ENV.fullmatch(text) is not None


def slot_reference(text: str) -> str | None:
    """The first slot reference anywhere in `text`, with its question mark, or None (SLOTREF)."""
    found = _SLOT_REF.search(text)
    return found.group() if found else None


def parse_u64(text: str) -> int | None:
    """The number that `text` writes (U1), or None when it is none or needs more than 64 bits.

    >>> parse_u64("+007"), parse_u64("-1"), parse_u64("18446744073709551616")
    (7, None, None)
    """
    found = _U64.fullmatch(text)
    if found is None:
        return None
    value = int(found.group(1))
    return value if value <= U64_MAX else None


def parse_uuid(text: str) -> str | None:
    """The UUID that `text` writes in one of the four forms of U2, lower-case and hyphenated, or None.

    >>> parse_uuid("{7D0F0F0F-0000-4000-8000-00000000000B}")
    '7d0f0f0f-0000-4000-8000-00000000000b'
    """
    if len(text) == 32 and _PLAIN_HEX.fullmatch(text):
        low = text.lower()
        return "-".join((low[:8], low[8:12], low[12:16], low[16:20], low[20:]))
    if len(text) == 38 and text[0] == "{" and text[-1] == "}":
        text = text[1:-1]
    elif len(text) == 45 and text.startswith("urn:uuid:"):
        text = text[9:]
    return text.lower() if _HYPHENATED.fullmatch(text) else None
