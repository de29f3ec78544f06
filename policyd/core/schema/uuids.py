"""UUIDs in the spellings that the platform reads.

Source: middleware 1.4 (capability values).
"""

from __future__ import annotations

import re

_HYPHENATED = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PLAIN = re.compile(r"[0-9a-f]{32}")


def parse_uuid(text: str) -> str | None:
    """The hyphenated lower-case form of a UUID, or None; hyphens may be missing, braces or `urn:uuid:` stand around.

    >>> parse_uuid("{123E4567-E89B-12D3-A456-426614174000}")
    '123e4567-e89b-12d3-a456-426614174000'
    """
    bare = text.removeprefix("urn:uuid:")
    if bare == text and text.startswith("{") and text.endswith("}"):
        bare = text[1:-1]
        if _PLAIN.fullmatch(bare.lower()):
            return None
    bare = bare.lower()
    if _HYPHENATED.fullmatch(bare):
        return bare
    if _PLAIN.fullmatch(bare) and bare == text.lower():
        return f"{bare[:8]}-{bare[8:12]}-{bare[12:16]}-{bare[16:20]}-{bare[20:]}"
    return None
