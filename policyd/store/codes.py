"""What the database and its imports can refuse, each with its code.

Errors of the family `STORE`; a code keeps its meaning for ever.
"""

from __future__ import annotations

from enum import Enum

from policyd.findings import Finding, InputError, PolicydError, Severity, Span


class StoreCode(Enum):
    """The conditions, with the codes that tell them."""

    UNREACHABLE = "STORE001"
    NOT_MIGRATED = "STORE002"
    BUSY = "STORE003"
    MIGRATION_FAILED = "STORE004"
    MODELS_DIFFER = "STORE005"
    UNSUPPORTED_ENGINE = "STORE006"
    FULL = "STORE007"
    NO_SNAPSHOT = "STORE010"
    REFERENCE = "STORE011"
    CONTRADICTION = "STORE012"
    UNSTORABLE_TEXT = "STORE013"
    UNKNOWN_CARD = "STORE014"
    FOREIGN_HOLDER = "STORE015"
    TOO_MANY_ANCESTORS = "STORE016"
    JSON_SYNTAX = "STORE020"
    UNKNOWN_DOCUMENT = "STORE021"
    TOO_LARGE = "STORE022"
    UNKNOWN_MEMBER = "STORE023"
    CARD_CHANGED = "STORE024"
    NOT_A_FACT = "STORE025"
    BAD_MEMBER = "STORE026"
    NOT_EMPTY = "STORE030"
    BAD_DUMP = "STORE031"
    DIGEST_DIFFERS = "STORE032"
    TOKEN_REFUSED = "STORE040"
    NO_TOKEN = "STORE041"
    TOKEN_NAME_TAKEN = "STORE042"

    def error(self, message: str, span: Span | None = None, help: str = "") -> InputError:
        """An input error of this condition."""
        return InputError(self.finding(message, span, help))

    def finding(
        self, message: str, span: Span | None = None, help: str = "", severity: Severity = Severity.ERROR
    ) -> Finding:
        """A finding of this condition."""
        return Finding(self.value, severity, message, span, help)


class StoreError(PolicydError):
    """The database could not do what it was asked; nothing was changed."""

    @classmethod
    def of(cls, code: StoreCode, message: str, help: str = "") -> StoreError:
        """The error `code`, without a place."""
        return cls(code.finding(message, None, help))
