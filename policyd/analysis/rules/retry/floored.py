"""RETRY017: a duration with a part below a millisecond. Page: floored.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Policy
from policyd.core.retry.duration import duration_text
from policyd.core.retry.kinds import Sort, kind_of
from policyd.core.retry.policy import nodes_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every duration of a manifest that a deployment makes shorter."""
    view = view_of(subject)
    for placed in view.placed.values():
        for name, before, after in shortened(placed.written.policy, placed.rule.policy):
            yield rule.finding(
                f"`{name}` of retry policy `{placed.rule.name}` is in force as `{duration_text(after)}`, not"
                f" `{duration_text(before)}`: a deployment keeps whole milliseconds",
                placed.span,
                help="write whole milliseconds",
                severity=Severity.ERROR if after == 0 else None,
            )


def shortened(written: Policy, in_force: Policy) -> Iterator[tuple[str, int, int]]:
    """The fields whose duration is another in force: name, as written, in force."""
    for before, after in zip(nodes_of(written), nodes_of(in_force), strict=True):
        kind = kind_of(before)
        for field, old, new in zip(kind.fields, kind.parts(before), kind.parts(after), strict=True):
            if field.sort is Sort.DURATION and old != new:
                yield (field.canonical if len(kind.fields) > 1 else kind.canonical), old, new


RULE = Rule("RETRY017", "floored", Severity.WARNING, Confidence.CERTAIN, check)
