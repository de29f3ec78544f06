"""Exit codes.

Source: interface, Verbs.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a run says to the shell."""

    YES = 0
    NO = 1
    NOT_ASKED = 2
    UNDECIDED = 3
    DEFECT = 70
