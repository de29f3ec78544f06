"""Cursors: where a list goes on, so that nothing is skipped while others write.

A cursor names the last row that was given, never a count of rows.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from http import HTTPStatus
from typing import Annotated

from fastapi import Query

from policyd.service.problems import ServiceCode, ServiceError

DEFAULT_LIMIT = 100
MAX_LIMIT = 500

Cursor = Annotated[
    str, Query(max_length=64, description="`next` of the page before; empty for the first page.", alias="cursor")
]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Rows at most.")]

_FORM = re.compile(r"([a-z]{1,16}):([0-9]{1,18})", re.ASCII)


def cursor_of(kind: str, last: int) -> str:
    """The cursor that goes on behind row `last` of a list.

    >>> last_of("snapshots", cursor_of("snapshots", 12))
    12
    """
    return urlsafe_b64encode(f"{kind}:{last}".encode()).rstrip(b"=").decode()


def last_of(kind: str, cursor: str) -> int:
    """The last row that was given, 0 for the empty cursor.

    Raises:
        ServiceError: 422 for a text that is no cursor of this list.
    """
    if not cursor:
        return 0
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except (Error, UnicodeError, ValueError):
        text = ""
    found = _FORM.fullmatch(text)
    if found is None or found.group(1) != kind:
        raise ServiceError(
            ServiceCode.MALFORMED,
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "this is no cursor of this list",
            "take `next` from the page before, unchanged",
        )
    return int(found.group(2))


def next_of(kind: str, last: int, count: int, limit: int) -> str | None:
    """The cursor of the next page, None where this one was not full."""
    return cursor_of(kind, last) if count == limit else None
