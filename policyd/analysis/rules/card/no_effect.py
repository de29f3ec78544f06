"""CARD026: a grant that changes no decision. Page: no_effect.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from policyd.analysis.proofs import Idle, standings_of
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Related, Severity, Span

MAX_RELATED = 5
"""So many of the grants that do its work are named; the others are counted."""

_ALONE = {
    Bound.LOWER_POSITIVE: "the negatives and the upper bound of its card keep all of it back",
    Bound.LOWER_NEGATIVE: "nothing that it denies would get through its card without it",
    Bound.UPPER_POSITIVE: "the upper negatives of its card deny all of it",
    Bound.UPPER_NEGATIVE: "the ceiling of its card withholds all that it denies",
}
_UNASKED = "no operation can ask for what it names"
_TOGETHER = {
    Bound.LOWER_POSITIVE: "other grants of its card together decide all of it in the same way",
    Bound.LOWER_NEGATIVE: "other negatives of its card together deny all that it takes away",
    Bound.UPPER_POSITIVE: "other grants of its upper bound together decide all of it in the same way",
    Bound.UPPER_NEGATIVE: "other grants of its upper bound together keep all of it back",
}


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant without which the same calls are admitted, proved over all calls."""
    uses: Counter[Span | None] = Counter(
        e.placed.span for card in subject.explicit_cards for e in card.entries if e.is_written
    )
    found = [(card, idle) for card in subject.explicit_cards for idle in standings_of(subject, card).idle]
    inert: Counter[Span | None] = Counter(idle.entry.placed.span for _, idle in found)
    told: set[Span | None] = set()
    for card, idle in found:
        span = idle.entry.placed.span
        if span is None or inert[span] < uses[span] or span in told:
            continue
        told.add(span)
        yield _finding(rule, card, idle)


def _finding(rule: Rule, card: AuditedCard, idle: Idle) -> Finding:
    bound = idle.entry.bound
    reason = (_ALONE if idle.is_dead else _TOGETHER)[bound] if idle.is_asked else _UNASKED
    words = "shadowed by this grant" if len(idle.by) == 1 else "shadowed by this grant and the others named"
    related = [Related(words, e.placed.span) for e in idle.by if e.placed.span is not None]
    more = f"; {len(related) - MAX_RELATED} further grants shadow it with them" if len(related) > MAX_RELATED else ""
    return rule.finding(
        f"this {bound.words} {'grant' if bound.is_positive else ''}".rstrip() + f" has no effect: {reason}",
        idle.entry.placed.span,
        help="remove it: no call is decided otherwise without it, whatever other cards the agents have",
        related=[*related[:MAX_RELATED], Related(f"proved for {idle.over}{more}", card.span)],
        severity=Severity.WARNING if idle.is_dead and bound is Bound.LOWER_POSITIVE else None,
    )


RULE = Rule("CARD026", "no_effect", Severity.INFO, Confidence.CERTAIN, check, Scope.ALL)
