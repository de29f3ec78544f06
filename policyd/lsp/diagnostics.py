"""Findings as an editor shows them.

Source: style 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lsprotocol.types import (
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Position,
    Range,
)

from policyd.analysis.rules import IDLE_GRANTS
from policyd.findings import Finding, Severity, Span, visible
from policyd.lsp.files import Held
from policyd.lsp.positions import Ruler
from policyd.manifest.source import Source

MAX_SHOWN = 1_000
"""Findings that are sent for one document; the last one says how many there are besides."""

NAME = "policyd"

_SEVERITY = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.INFO: DiagnosticSeverity.Information,
}
_TOP = Range(Position(0, 0), Position(0, 0))


def diagnostics(
    findings: Iterable[Finding], sources: Mapping[Path, Source], paths: Mapping[str, Path], root: Path, held: Held
) -> dict[Path, list[Diagnostic]]:
    """What to show in each document: findings without a place stand at the top of the root.

    Args:
        findings: sorted.
        sources: the text of each document.
        paths: the path of each document, by the name that spans have.
        root: where findings without a place are shown.
        held: the open documents.
    """
    shown: dict[Path, list[Diagnostic]] = {path: [] for path in sources}
    over: dict[Path, int] = {}
    for finding in findings:
        path = paths.get(finding.span.source, root) if finding.span is not None else root
        if path not in shown:
            path = root
        listed = shown.setdefault(path, [])
        if len(listed) >= MAX_SHOWN:
            over[path] = over.get(path, 0) + 1
        else:
            listed.append(_diagnostic(finding, path, sources, paths, held))
    for path, count in over.items():
        message = f"{count} further findings are not shown here: `policyd audit` tells them"
        shown[path].append(Diagnostic(_TOP, message, DiagnosticSeverity.Information, source=NAME))
    return shown


def _diagnostic(
    finding: Finding, path: Path, sources: Mapping[Path, Source], paths: Mapping[str, Path], held: Held
) -> Diagnostic:
    text = visible(finding.message)
    if finding.help:
        text += f"\nhelp: {visible(finding.help)}"
    if finding.witness:
        text += f"\nfor example `{visible(finding.witness)}`"
    related = [
        DiagnosticRelatedInformation(Location(held.uri_of(where), place), visible(r.message))
        for r in finding.related
        if (where := paths.get(r.span.source)) is not None
        and (place := _range(r.span, sources.get(where), held.ruler)) is not None
    ]
    return Diagnostic(
        _range(finding.span, sources.get(path), held.ruler) or _TOP,
        text,
        _SEVERITY[finding.severity],
        finding.code,
        source=NAME,
        tags=[DiagnosticTag.Unnecessary] if finding.code in IDLE_GRANTS else None,
        related_information=related or None,
    )


def _range(span: Span | None, source: Source | None, ruler: Ruler) -> Range | None:
    if span is None or source is None or not span.line:
        return None
    end = span.end if span.end > span.start else span.start + 1
    return ruler.range_of(source, span.start, end)
