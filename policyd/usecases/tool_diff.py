"""Two states of a tool: may the new one stand under the middleware of the old one, and do old callers still fit.

Source: middleware 3, 4.4; interface, Verbs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.core.schema.graph import Graph
from policyd.core.schema.leaf_witness import NoWitness
from policyd.core.schema.steps import OutOfStepsError, within
from policyd.core.tools.caller_edge import caller_remarks
from policyd.core.tools.chain import Verdict, is_open
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.compat import compatibility
from policyd.core.tools.incompatibility import Incompatibility
from policyd.core.tools.modes import Mode
from policyd.core.tools.profile import Profile
from policyd.core.tools.remarks import pair_remarks
from policyd.core.tools.tool import Tool
from policyd.core.tools.tool_witness import Part, ToolWitness, tool_witness
from policyd.findings import Finding, Report, Severity, Span
from policyd.report import finding_json
from policyd.usecases.chain_words import refusal_finding, remark_finding
from policyd.usecases.tool_documents import ENGINES, TEXTS

MAX_STEPS = 10_000_000
"""Steps of work that two states of a tool may take in each mode, and for callers."""
MAX_STEPS_SERVED = 500_000
"""Over HTTP, where others wait meanwhile."""
OLD, NEW = "the old tool", "the new tool"


@dataclass(frozen=True, slots=True)
class ModeAnswer:
    """Whether the new tool may stand where the old one is expected, in one mode."""

    mode: Mode
    verdict: Verdict
    findings: tuple[Finding, ...]
    undecided: bool = False
    is_too_much: bool = False

    @property
    def open_end(self) -> str:
        """Why it is undecided, in a few words; empty when it is decided."""
        if not self.undecided:
            return ""
        return f"{self.mode.value}: {TOO_MUCH if self.is_too_much else 'a pattern or URL could not be judged'}"


@dataclass(frozen=True, slots=True)
class ToolDiff:
    """What changed between two states of a tool.

    Attributes:
        modes: as inner tool of middleware built for the old one.
        callers: what happens to callers built from the old one.
        added: commands that only the new one has.
        removed: commands that only the old one has.
        callers_undecided: whether it took too many steps to tell what happens to callers.
    """

    modes: tuple[ModeAnswer, ...]
    callers: tuple[Finding, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    callers_undecided: bool = False

    @property
    def caller_verdict(self) -> Verdict:
        """Reject when some old caller is refused or misreads what it gets; undecided when that takes too many steps."""
        if self.callers_undecided:
            return Verdict.UNDECIDED
        refused = any(finding.severity is Severity.ERROR for finding in self.callers)
        return Verdict.REJECT if refused else Verdict.ACCEPT

    @property
    def is_undecided(self) -> bool:
        """Whether something of it could not be judged."""
        return self.callers_undecided or any(answer.undecided for answer in self.modes)

    def told(self, mode: Mode) -> tuple[Finding, ...]:
        """What changed for middleware of `mode` and for callers."""
        return (*(found for answer in self.modes if answer.mode is mode for found in answer.findings), *self.callers)

    def fails(self, mode: Mode, level: Severity) -> bool:
        """Whether something at `level` or worse changed for middleware of `mode` or for callers."""
        return any(finding.severity.at_least(level) for finding in self.told(mode))

    def report(self, mode: Mode, place: Span) -> Report:
        """What changed as findings at the new definition, for the forms of findings."""
        open_ends = [answer.open_end for answer in self.modes if answer.undecided]
        if self.callers_undecided:
            open_ends.append(f"callers: {TOO_MUCH}")
        return Report.of((replace(finding, span=place) for finding in self.told(mode)), open_ends)


def diff_tools(old: Tool, new: Tool, profile: Profile, steps: int = MAX_STEPS) -> ToolDiff:
    """Compare two states of a tool; both may be invalid, which every mode then says.

    Args:
        old: a state of the tool.
        new: another one.
        profile: the switches in force.
        steps: how much work each mode, and the question about callers, may take; past it they are undecided.
    """
    before, after = callable_paths(old), callable_paths(new)

    def names(paths: set[tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(" ".join(path) or "root" for path in sorted(paths))

    wraps = profile.optional_wrapping
    callers: tuple[Finding, ...] | None = None
    try:
        with within(steps):
            remarks = caller_remarks(old, new, ENGINES, wraps_optional=wraps)
            callers = tuple(remark_finding(remark, "callers of the old tool", None) for remark in remarks)
    except OutOfStepsError:
        pass  # told as undecided
    return ToolDiff(
        tuple(_mode_answer(old, new, mode, profile, steps) for mode in Mode),
        callers or (),
        names(set(after) - set(before)),
        names(set(before) - set(after)),
        callers_undecided=callers is None,
    )


def _mode_answer(old: Tool, new: Tool, mode: Mode, profile: Profile, steps: int) -> ModeAnswer:
    try:
        with within(steps):
            return _decided(old, new, mode, profile)
    except OutOfStepsError:
        return ModeAnswer(mode, Verdict.UNDECIDED, (), undecided=True, is_too_much=True)


def _decided(old: Tool, new: Tool, mode: Mode, profile: Profile) -> ModeAnswer:
    wraps = profile.optional_wrapping
    found = compatibility(old, new, mode, ENGINES, error_rule=profile.error_rule, wraps_optional=wraps)
    if found.is_accepted:
        remarks = pair_remarks(old, new, mode, TEXTS, wraps_optional=wraps)
        told = tuple(remark_finding(remark, f"{mode.value}", None) for remark in remarks)
        return ModeAnswer(mode, Verdict.ACCEPT_WITH_WARNINGS if found.discarded else Verdict.ACCEPT, told)
    if all(is_open(reason) for reason in found.errors):
        return ModeAnswer(mode, Verdict.UNDECIDED, (), undecided=True)
    head = f"reject ({mode.value})"
    return ModeAnswer(mode, Verdict.REJECT, tuple(_refusal(old, new, reason, head, wraps) for reason in found.errors))


def _refusal(old: Tool, new: Tool, reason: Incompatibility, head: str, wraps: bool) -> Finding:
    """One reason with its payload, or without one where the steps are taken: the refusal stands."""
    try:
        witness = tool_witness(old, new, reason, TEXTS, wraps_optional=wraps)
        return refusal_finding(reason, witness, OLD, NEW, head, None)
    except OutOfStepsError:
        found = ToolWitness(Part.CALL, Graph(), NoWitness.TOO_LARGE)
        return refusal_finding(reason, found, OLD, NEW, head, None)


TOO_MUCH = "there is more to compare than one question may"


def diff_lines(diff: ToolDiff) -> list[str]:
    """The answer as lines for a person."""
    lines = ["as inner tool of middleware built for the old tool:"]
    for answer in diff.modes:
        lines.append(f"  {answer.mode.value}: {answer.verdict.value}")
        if answer.is_too_much:
            lines.append(f"    {TOO_MUCH}")
        lines += _finding_lines(answer.findings, answer.mode)
    lines.append(f"for existing callers: {diff.caller_verdict.value}")
    if diff.callers_undecided:
        lines.append(f"  {TOO_MUCH}")
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
