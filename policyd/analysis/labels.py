"""The labels of the specification for tools, chains and callers, with the code and severity of each.

Source: middleware A; style 8.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.findings import Severity

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One label.

    Attributes:
        label: as the specification writes it.
        code: of our findings.
        severity: how bad.
        section: of the specification.
    """

    label: str
    code: str
    severity: Severity
    section: str


LABELS: tuple[LabelRow, ...] = (
    LabelRow("INVALID_DEFINITION", "SCHEMA020", _E, "middleware 1.3, 4.2"),
    LabelRow("TOOL_NAME_MISMATCH", "SCHEMA021", _E, "middleware 3.5"),
    LabelRow("NOT_STRICTLY_EQUAL", "SCHEMA022", _E, "middleware 3.5"),
    LabelRow("COMMAND_MISSING", "SCHEMA023", _E, "middleware 3.5"),
    LabelRow("CONSTRAINT_NOT_GUARANTEED", "SCHEMA024", _E, "middleware 3.10"),
    LabelRow("STREAM_CONTRACT_DIFFERS", "SCHEMA025", _E, "middleware 3.9"),
    LabelRow("INNER_INPUT_WITHOUT_DEFAULT", "SCHEMA026", _E, "middleware 3.6"),
    LabelRow("INPUT_NOT_SUBSTITUTABLE", "SCHEMA027", _E, "middleware 3.6"),
    LabelRow("RESULT_PRESENCE_DIFFERS", "SCHEMA028", _E, "middleware 3.5"),
    LabelRow("RESULT_NOT_SUBSTITUTABLE", "SCHEMA029", _E, "middleware 3.5"),
    LabelRow("INNER_ONLY_ERROR", "SCHEMA030", _E, "middleware 3.8"),
    LabelRow("EXPECTED_ONLY_ERROR", "SCHEMA031", _E, "middleware 3.8"),
    LabelRow("ERROR_KIND_DIFFERS", "SCHEMA032", _E, "middleware 3.8"),
    LabelRow("ERROR_PAYLOAD_PRESENCE_DIFFERS", "SCHEMA033", _E, "middleware 3.8"),
    LabelRow("ERROR_PAYLOAD_NOT_SUBSTITUTABLE", "SCHEMA034", _E, "middleware 3.8"),
    LabelRow("PROJECTION_TOO_LARGE", "SCHEMA035", _E, "middleware 3.12"),
    LabelRow("NO_CANONICAL_INPUT", "SCHEMA036", _E, "middleware 1.5"),
    LabelRow("INPUT_DISCARDED", "SCHEMA040", _W, "middleware 3.6"),
    LabelRow("NOMINAL_POSITIONAL_HAZARD", "SCHEMA041", _E, "middleware 3.7"),
    LabelRow("NOMINAL_ALWAYS_FAILS", "SCHEMA042", _W, "middleware 3.7"),
    LabelRow("NOMINAL_PARTIAL", "SCHEMA043", _I, "middleware 3.7"),
    LabelRow("CONSTRAINT_DEFAULT_DRIFT", "SCHEMA044", _W, "middleware 3.10"),
    LabelRow("VALUE_IS_REINDEX", "SCHEMA045", _W, "middleware 3.10"),
    LabelRow("TAIL_BOUNDS_DRIFT", "SCHEMA046", _W, "middleware 3.11"),
    LabelRow("COUNT_MAX_DRIFT", "SCHEMA047", _W, "middleware 3.11"),
    LabelRow("NOT_NEGATABLE_DRIFT", "SCHEMA048", _W, "middleware 3.11"),
    LabelRow("DEFAULT_DRIFT", "SCHEMA049", _I, "middleware 3.11"),
    LabelRow("RISK_QUANTITY_UNITS", "SCHEMA050", _W, "middleware 3.11, 9.8"),
    LabelRow("RISK_UNION_DISCRIMINATOR", "SCHEMA051", _W, "middleware 3.11, 9.10"),
    LabelRow("RISK_SECRET_REF", "SCHEMA052", _W, "middleware 3.2, 3.11"),
    LabelRow("FILESYSTEM_NEED_HIDDEN", "SCHEMA053", _W, "middleware 3.11, 9.17"),
    LabelRow("ANNOTATION_WEAKENED", "SCHEMA054", _W, "middleware 3.11"),
    LabelRow("FEATURE_REQUIRED", "SCHEMA055", _W, "middleware 8.3"),
    LabelRow("ENGINE_MISSING", "SCHEMA056", _W, "middleware 8.4"),
    LabelRow("GOLEM_WOULD_REJECT", "SCHEMA057", _I, "middleware 3.6"),
    LabelRow("DUPLICATE_IDENTITY", "CHAIN010", _E, "middleware 2.1, 4.2"),
    LabelRow("RESERVED_NAME", "CHAIN011", _E, "middleware 1.3, 4.2"),
    LabelRow("DECLARATION_MISMATCH", "CHAIN012", _E, "middleware 1.7, 4.2"),
    LabelRow("UNKNOWN_MIDDLEWARE", "CHAIN013", _E, "middleware 2.4"),
    LabelRow("VERSION_MISMATCH", "CHAIN014", _E, "middleware 2.4"),
    LabelRow("ACCOUNT_MISMATCH", "CHAIN015", _E, "middleware 2.4"),
    LabelRow("MERGE_MODE_NOT_ALLOWED", "CHAIN016", _E, "middleware 2.4"),
    LabelRow("WRONG_SCOPE", "CHAIN017", _E, "middleware 2.4, 9.1"),
    LabelRow("INVALID_PARAMETERS", "CHAIN018", _E, "middleware 2.5"),
    LabelRow("INHERITED_ERROR_CONFLICT", "CHAIN020", _E, "middleware 4.3"),
    LabelRow("INVALID_SYNTHESIZED_TOOL", "CHAIN021", _E, "middleware 4.3"),
    LabelRow("CALLER_INPUT_NOT_EQUIVALENT", "CHAIN022", _E, "middleware 4.4"),
    LabelRow("CALLER_ERROR_DRIFT", "CHAIN023", _E, "middleware 4.4"),
    LabelRow("CALLER_RESULT_PRESENCE", "CHAIN024", _E, "middleware 4.4"),
    LabelRow("CALLER_RESULT_DRIFT", "CHAIN025", _W, "middleware 4.4"),
    LabelRow("CALLER_UNKNOWN_ERROR", "CHAIN026", _W, "middleware 4.4"),
    LabelRow("CALLER_COMMAND_MISSING", "CHAIN027", _E, "middleware 4.4"),
    LabelRow("NAME_DRIFT", "CHAIN028", _W, "middleware 3.11, 9.6"),
    LabelRow("GRANT_ARGS_DRIFT", "CHAIN029", _W, "middleware 4.6"),
    LabelRow("UNEXPRESSIBLE_GRANT", "CHAIN030", _W, "middleware 4.6"),
    LabelRow("TARGET_CONFUSION", "CHAIN031", _W, "middleware 4.6"),
    LabelRow("INHERITED_UNREACHABLE", "CHAIN032", _I, "middleware 4.3"),
    LabelRow("ERROR_ERASED", "CHAIN033", _I, "middleware 2.3"),
    LabelRow("CALLER_RESULT_MISMATCH", "CHAIN034", _E, "middleware 4.4"),
    LabelRow("BINDING_MISSING", "ADMIT070", _E, "middleware 4.6"),
    LabelRow("PERMISSION_DENIED", "ADMIT071", _E, "middleware 4.6"),
)
"""Every label, by code within its family."""

_BY_LABEL = {row.label: row for row in LABELS}


def label_row(label: str) -> LabelRow:
    """The row of a label.

    >>> label_row("NAME_DRIFT").code
    'CHAIN028'
    """
    return _BY_LABEL[label]
