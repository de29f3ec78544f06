"""Two states of a tool: may the new one stand under the middleware of the old one, and do old callers still fit.

Source: middleware 3, 4.4; interface, Verbs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.core.tools.caller_edge import caller_remarks
from policyd.core.tools.chain import Verdict, is_open
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.compat import compatibility
from policyd.core.tools.modes import Mode
from policyd.core.tools.profile import Profile
from policyd.core.tools.remarks import pair_remarks
from policyd.core.tools.tool import Tool
from policyd.core.tools.tool_witness import tool_witness
from policyd.findings import Finding, Report, Severity, Span
from policyd.report import finding_json
from policyd.usecases.chain_words import refusal_finding, remark_finding
from policyd.usecases.tool_documents import ENGINES, TEXTS

OLD, NEW = "the old tool", "the new tool"


@dataclass(frozen=True, slots=True)
class ModeAnswer:
    """Whether the new tool may stand where the old one is expected, in one mode."""

    mode: Mode
    verdict: Verdict
    findings: tuple[Finding, ...]
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class ToolDiff:
    """What changed between two states of a tool.

    Attributes:
        modes: as inner tool of middleware built for the old one.
        callers: what happens to callers built from the old one.
        added: commands that only the new one has.
        removed: commands that only the old one has.
    """

    modes: tuple[ModeAnswer, ...]
    callers: tuple[Finding, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def caller_verdict(self) -> Verdict:
        """Reject when some old caller is refused or misreads what it gets."""
        refused = any(finding.severity is Severity.ERROR for finding in self.callers)
        return Verdict.REJECT if refused else Verdict.ACCEPT

    def told(self, mode: Mode) -> tuple[Finding, ...]:
        """What changed for middleware of `mode` and for callers."""
        return (*(found for answer in self.modes if answer.mode is mode for found in answer.findings), *self.callers)

    def fails(self, mode: Mode, level: Severity) -> bool:
        """Whether something at `level` or worse changed for middleware of `mode` or for callers."""
        return any(finding.severity.at_least(level) for finding in self.told(mode))

    def report(self, mode: Mode, place: Span) -> Report:
        """What changed as findings at the new definition, for the forms of findings."""
        open_ends = [f"{a.mode.value}: a pattern or URL could not be judged" for a in self.modes if a.undecided]
        return Report.of((replace(finding, span=place) for finding in self.told(mode)), open_ends)


def diff_tools(old: Tool, new: Tool, profile: Profile) -> ToolDiff:
    """Compare two states of a tool; both may be invalid, which every mode then says."""
    before, after = callable_paths(old), callable_paths(new)

    def names(paths: set[tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(" ".join(path) or "root" for path in sorted(paths))

    wraps = profile.optional_wrapping
    remarks = caller_remarks(old, new, ENGINES, wraps_optional=wraps)
    callers = tuple(remark_finding(remark, "callers of the old tool", None) for remark in remarks)
    return ToolDiff(
        tuple(_mode_answer(old, new, mode, profile) for mode in Mode),
        callers,
        names(set(after) - set(before)),
        names(set(before) - set(after)),
    )


def _mode_answer(old: Tool, new: Tool, mode: Mode, profile: Profile) -> ModeAnswer:
    wraps = profile.optional_wrapping
    found = compatibility(old, new, mode, ENGINES, error_rule=profile.error_rule, wraps_optional=wraps)
    if found.is_accepted:
        remarks = pair_remarks(old, new, mode, TEXTS, wraps_optional=wraps)
        told = tuple(remark_finding(remark, f"{mode.value}", None) for remark in remarks)
        return ModeAnswer(mode, Verdict.ACCEPT_WITH_WARNINGS if found.discarded else Verdict.ACCEPT, told)
    if all(is_open(reason) for reason in found.errors):
        return ModeAnswer(mode, Verdict.UNDECIDED, (), undecided=True)
    head = f"reject ({mode.value})"
    shown = (tool_witness(old, new, reason, TEXTS, wraps_optional=wraps) for reason in found.errors)
    pairs = zip(found.errors, shown, strict=True)
    findings = tuple(refusal_finding(reason, witness, OLD, NEW, head, None) for reason, witness in pairs)
    return ModeAnswer(mode, Verdict.REJECT, findings)


def diff_lines(diff: ToolDiff) -> list[str]:
    """The answer as lines for a person."""
    lines = ["as inner tool of middleware built for the old tool:"]
    for answer in diff.modes:
        lines.append(f"  {answer.mode.value}: {answer.verdict.value}")
        lines += _finding_lines(answer.findings, answer.mode)
    lines.append(f"for existing callers: {diff.caller_verdict.value}")
    lines += _finding_lines(diff.callers, None)
    for words, names in (("new commands", diff.added), ("removed commands", diff.removed)):
        if names:
            lines.append(f"{words}: {', '.join(names)}")
    return lines


def _finding_lines(findings: tuple[Finding, ...], mode: Mode | None) -> list[str]:
    lines: list[str] = []
    for finding in findings:
        text = finding.message
        word = "callers of the old tool" if mode is None else mode.value
        text = text.removeprefix(f"reject ({word}): ").removeprefix(f"{word}: ")
        lines.append(f"    {finding.severity.value}[{finding.code}]: {text}")
        if finding.help:
            lines.append(f"      {finding.help}")
    return lines


def diff_json(diff: ToolDiff) -> dict[str, object]:
    """The answer as JSON."""
    return {
        "modes": [
            {
                "mode": answer.mode.value,
                "verdict": answer.verdict.value.replace(" ", "-"),
                "findings": [finding_json(finding) for finding in answer.findings],
            }
            for answer in diff.modes
        ],
        "callers": {
            "verdict": diff.caller_verdict.value,
            "findings": [finding_json(finding) for finding in diff.callers],
        },
        "added": list(diff.added),
        "removed": list(diff.removed),
    }
