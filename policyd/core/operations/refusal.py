"""Operations for which no target can be made, and questions that say too little.

Source: host 1.2 (3), 1.8; vectors, Permission targets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class RefusalKind(Enum):
    """What could not be turned into a target."""

    ADDRESS = "address"
    PATH = "path"
    RANGE = "range"
    RESOURCE = "resource"
    SQL = "sql"
    URL = "url"


@dataclass(frozen=True, slots=True)
class Refusal:
    """No target can be made: the platform denies the operation without asking any card.

    Attributes:
        kind: what could not be read.
        message: one line for a person, in the platform's words where it has some.
        reason: for SQL, a fixed text, `recursion` or `syntax`.
    """

    kind: RefusalKind
    message: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unclear:
    """The targets cannot be told from what is given; never a ground for an admission.

    Attributes:
        about: the parameter or the fact that is missing.
        message: one line for a person.
    """

    about: str
    message: str
