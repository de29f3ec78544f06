"""Why an inner tool may not stand where another is expected: a kind and a place.

Source: middleware 3.12, Appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from policyd.core.schema.project import Mismatch
from policyd.core.tools.tool_faults import ToolFault


class IncompatibilityKind(Enum):
    """The labels of Appendix A that compilation can end in."""

    INVALID_EXPECTED = "INVALID_DEFINITION (expected)"
    INVALID_INNER = "INVALID_DEFINITION (inner)"
    TOOL_NAME_MISMATCH = "TOOL_NAME_MISMATCH"
    NOT_STRICTLY_EQUAL = "NOT_STRICTLY_EQUAL"
    COMMAND_MISSING = "COMMAND_MISSING"
    CONSTRAINT_NOT_GUARANTEED = "CONSTRAINT_NOT_GUARANTEED"
    STREAM_CONTRACT_DIFFERS = "STREAM_CONTRACT_DIFFERS"
    NO_CANONICAL_INPUT = "NO_CANONICAL_INPUT"
    INNER_INPUT_WITHOUT_DEFAULT = "INNER_INPUT_WITHOUT_DEFAULT"
    INPUT_NOT_SUBSTITUTABLE = "INPUT_NOT_SUBSTITUTABLE"
    RESULT_PRESENCE_DIFFERS = "RESULT_PRESENCE_DIFFERS"
    RESULT_NOT_SUBSTITUTABLE = "RESULT_NOT_SUBSTITUTABLE"
    INNER_ONLY_ERROR = "INNER_ONLY_ERROR"
    EXPECTED_ONLY_ERROR = "EXPECTED_ONLY_ERROR"
    ERROR_KIND_DIFFERS = "ERROR_KIND_DIFFERS"
    ERROR_PAYLOAD_PRESENCE_DIFFERS = "ERROR_PAYLOAD_PRESENCE_DIFFERS"
    ERROR_PAYLOAD_NOT_SUBSTITUTABLE = "ERROR_PAYLOAD_NOT_SUBSTITUTABLE"
    PROJECTION_TOO_LARGE = "PROJECTION_TOO_LARGE"


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """One reason.

    Attributes:
        kind: which rule is broken.
        path: the command by canonical names; empty for the root, and where it is about the whole tool.
        place: below the command: `.stdin`, `.input.name…`, `.result…`, `.error.name…`; else empty.
        fault: the violation, for invalid definitions and missing canonical input.
        mismatch: the two types that part, where types are compared.
        subject: the name of an input or error, where there is one.
    """

    kind: IncompatibilityKind
    path: tuple[str, ...] = ()
    place: str = ""
    fault: ToolFault | None = None
    mismatch: Mismatch | None = None
    subject: str = ""

    def within(self, path: tuple[str, ...]) -> Incompatibility:
        """The same reason in a command."""
        return replace(self, path=path)

    @property
    def where(self) -> str:
        """The place as one text: `expected`, `inner`, `name`, `tool`, or the command and what is below it."""
        match self.kind:
            case IncompatibilityKind.INVALID_EXPECTED:
                return "expected"
            case IncompatibilityKind.INVALID_INNER:
                return "inner"
            case IncompatibilityKind.TOOL_NAME_MISMATCH:
                return "name"
            case IncompatibilityKind.NOT_STRICTLY_EQUAL:
                return "tool"
            case _:
                return command_label(self.path) + self.place


def command_label(path: tuple[str, ...]) -> str:
    """`root`, or the names of a command joined by dots."""
    return ".".join(path) or "root"
