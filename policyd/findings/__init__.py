"""What policyd tells a person: findings with a code, a place and a way out."""

from policyd.findings.errors import InputError, InternalDefect, NoSuchName, PolicydError
from policyd.findings.finding import Confidence, Finding, Related, Severity
from policyd.findings.report import Report
from policyd.findings.span import Place, Span
from policyd.findings.suggest import nearest
from policyd.findings.visible import visible, visible_lines

__all__ = [
    "Confidence",
    "Finding",
    "InputError",
    "InternalDefect",
    "NoSuchName",
    "Place",
    "PolicydError",
    "Related",
    "Report",
    "Severity",
    "Span",
    "nearest",
    "visible",
    "visible_lines",
]
