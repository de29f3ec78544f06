"""Findings that are known and accepted for a while: by fingerprint, by code and place, or by a comment at their line.

Source: interface, Flags (`--baseline`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from policyd.core.cards import Timestamp
from policyd.core.schema.reading import at, elements, fail, member, members, optional, text
from policyd.findings import Finding, Report, Severity, Span, visible
from policyd.manifest import LoadedManifest
from policyd.manifest.ignores import UnreadComment, ignore_comments
from policyd.report.marks import fingerprint
from policyd.usecases.tool_documents import PlainDocument, read_document

MIN_REASON = 3
"""Characters that a reason has at least."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """One entry of the file.

    Attributes:
        fingerprint: of the finding; empty for every finding of `code` at `place`.
        code: of the finding; empty for any.
        place: the place in the document; empty for any.
        reason: why it is accepted.
        until: the last moment for which it counts; None for no end.
        span: where the entry stands.
        line: for a comment: source and line that it is about; None for an entry of a file.
    """

    fingerprint: str
    code: str
    place: str
    reason: str
    until: Timestamp | None
    span: Span | None
    line: tuple[str, int] | None = None

    def is_about(self, finding: Finding) -> bool:
        """Whether a finding is meant."""
        if self.line is not None:
            where = finding.span
            return where is not None and self.code == finding.code and (where.source, where.line) == self.line
        if self.fingerprint:
            return fingerprint(finding) == self.fingerprint
        here = finding.span.path if finding.span is not None else ""
        return self.code == finding.code and self.place in ("", here)


def read_suppressions(path: Path) -> tuple[Suppression, ...]:
    """The entries of a file: `suppress`, a list.

    Raises:
        InputError: CHAIN007, with the place of the mistake.
    """
    document = read_document(path)
    return document.surfaced("CHAIN007", lambda: _entries(document))


def _entries(document: PlainDocument) -> tuple[Suppression, ...]:
    found = members(document.value)
    listed = member(found, "suppress", lambda json: elements(json, lambda item: item))
    return tuple(
        at("suppress", lambda i=index, p=part: at(i, lambda: _entry(p, document.span(("suppress", i)))))  # type: ignore[misc]
        for index, part in enumerate(listed)
    )


def _entry(json: object, span: Span) -> Suppression:
    found = members(json)
    for name in found:
        if name not in ("fingerprint", "code", "place", "reason", "until"):
            at(str(name), lambda: fail("known are fingerprint, code, place, reason, until"))
    mark, code = optional(found, "fingerprint", text) or "", optional(found, "code", text) or ""
    if bool(mark) == bool(code):
        fail("exactly one of `fingerprint` and `code` is wanted")
    reason = member(found, "reason", text).strip()
    if len(reason) < MIN_REASON:
        at("reason", lambda: fail("a reason is wanted"))
    return Suppression(mark, code, optional(found, "place", text) or "", reason, optional(found, "until", _until), span)


def _until(json: object) -> Timestamp:
    written = text(json)
    try:
        return _moment(written)
    except ValueError:
        return fail("a date such as `2026-12-31` is wanted")


def _moment(written: str) -> Timestamp:
    """A moment, or the end of a day.

    Raises:
        ValueError: if it is neither.
    """
    return Timestamp.parse(written if "T" in written else f"{written}T23:59:59Z")


def comment_suppressions(loaded: LoadedManifest) -> tuple[tuple[Suppression, ...], tuple[Finding, ...]]:
    """The entries that comments of a manifest are, and findings on comments that cannot be read."""
    entries: list[Suppression] = []
    found: list[Finding] = []
    for comment in ignore_comments(loaded.documents):
        if isinstance(comment, UnreadComment):
            found.append(_useless(comment.why, comment.span))
            continue
        until = None
        if comment.until:
            try:
                until = _moment(comment.until)
            except ValueError:
                found.append(_useless(f"`{comment.until}` is no date", comment.span))
                continue
        line = (comment.span.source, comment.line)
        entries.append(Suppression("", comment.code, "", comment.reason, until, comment.span, line))
    return tuple(entries), tuple(found)


def _useless(why: str, span: Span) -> Finding:
    help = "write `# policyd: ignore CODE until=2027-01-31 reason=why it is accepted`"
    return Finding("CHAIN007", Severity.WARNING, f"this comment suppresses nothing: {why}", span, help)


def suppressed_report(
    report: Report, loaded: LoadedManifest, entries: tuple[Suppression, ...], now: Timestamp, *, is_whole: bool
) -> Report:
    """The report on a manifest without what its comments and the entries of a file accept.

    Args:
        report: of an audit.
        loaded: the manifest.
        entries: of the file.
        now: entries that ended before count no more.
        is_whole: whether all environments were looked at, so that an entry about nothing is about nothing.
    """
    comments, wrong = comment_suppressions(loaded)
    if not comments and not wrong and not entries:
        return report
    kept, told = suppressed(report.findings, (*comments, *entries), now)
    if not is_whole:
        told = tuple(f for f in told if f.severity is not Severity.INFO)
    return Report.of((*kept, *told, *wrong), report.not_analysed)


def baseline_json(findings: Iterable[Finding], reason: str) -> dict[str, object]:
    """A file that accepts these findings; what it accepts can be read beside each fingerprint."""
    rows = [
        {"fingerprint": fingerprint(finding), "reason": f"{reason}: {finding.code} {visible(finding.message)}"}
        for finding in findings
    ]
    return {"suppress": list({row["fingerprint"]: row for row in rows}.values())}


def suppressed(
    findings: Iterable[Finding], entries: tuple[Suppression, ...], now: Timestamp
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings that remain, and remarks on the entries: expired ones, and ones that are about nothing.

    Args:
        findings: all of them.
        entries: of the file.
        now: entries that ended before count no more.
    """
    kept: list[Finding] = []
    used: set[int] = set()
    for finding in findings:
        match = next((i for i, entry in enumerate(entries) if entry.is_about(finding)), None)
        if match is None:
            kept.append(finding)
            continue
        used.add(match)
        until = entries[match].until
        if until is not None and until < now:
            kept.append(replace(finding, help=f"{finding.help}; its suppression has expired".removeprefix("; ")))
    told: list[Finding] = []
    for index, entry in enumerate(entries):
        if index not in used:
            words = "this suppression is about no finding: remove it"
            told.append(Finding("CHAIN008", Severity.INFO, words, entry.span))
        elif entry.until is not None and entry.until < now:
            words = f"this suppression has expired: {entry.reason}"
            told.append(Finding("CHAIN008", Severity.WARNING, words, entry.span))
    return tuple(kept), tuple(told)
