"""The base of all errors that policyd raises on purpose."""

from __future__ import annotations

from policyd.findings.finding import Finding, Severity
from policyd.findings.span import Span


class PolicydError(Exception):
    """An error that carries what to tell: one finding or more.

    Attributes:
        findings: at least one, the first one is the main one.
    """

    def __init__(self, *findings: Finding) -> None:
        self.findings = findings
        super().__init__("; ".join(f"{f.code}: {f.message}" for f in findings))


class InputError(PolicydError):
    """A question that could not be asked: unreadable or unusable input (exit code 2)."""

    @classmethod
    def of(cls, code: str, message: str, span: Span | None = None, help: str = "") -> InputError:
        """An input error with one finding of severity *error*."""
        return cls(Finding(code, Severity.ERROR, message, span, help))


class NoSuchName(InputError):  # noqa: N818 - what happened, not what is wrong
    """A question about something that the input does not have (exit code 1 on verbs that show)."""


class InternalDefect(PolicydError):  # noqa: N818 - the word that exit code 70 uses
    """A defect of policyd itself (exit code 70); never caused by input alone."""

    @classmethod
    def of(cls, message: str) -> InternalDefect:
        """A defect with the stable code `SOLVE900`."""
        return cls(
            Finding("SOLVE900", Severity.ERROR, message, None, "please report this with the input that led here")
        )
