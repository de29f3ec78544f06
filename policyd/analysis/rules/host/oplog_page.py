"""HOST027: a range of the oplog into which no page fits. Page: oplog_page.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import written, written_call
from policyd.analysis.card_index import index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import Target
from policyd.core.grants.resources import OplogRange
from policyd.core.operations.agents import GUEST_PAGE
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant on fewer entries than one page asks for, unless another grant covers the page."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        for entry in written(subject, card, Bound.LOWER_POSITIVE, "oplog"):
            target = entry.grant.target
            held = target.resource
            if not isinstance(held, OplogRange) or not held.first <= held.last <= held.first + GUEST_PAGE - 2:
                continue
            page = OplogRange(max(1, held.first), max(1, held.first) + GUEST_PAGE - 1)
            call = Target(target.cls, target.owner, "read", page)
            if index.covering(Bound.LOWER_POSITIVE, call):
                continue
            yield rule.finding(
                f"no page fits into {shown(held.text)}: reading and searching the oplog ask for {GUEST_PAGE} entries at"
                " a time",
                entry.placed.span,
                help=f"end the range {GUEST_PAGE - 1} entries behind its start or later, or write `*`; of one entry"
                " only `oplog.enrich` asks",
                witness=written_call(card, call),
            )


RULE = Rule("HOST027", "oplog_page", Severity.WARNING, Confidence.LIKELY, check)
