"""HOST021: a negative on all tables, which statements without a table go past. Page: table_less.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import denials
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants.resources import TableName
from policyd.core.grants.resources.segments import STAR
from policyd.findings import Confidence, Finding, Severity

_ALL = TableName(STAR, STAR, STAR)


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report the first negative of each card on every table there is."""
    for card in subject.explicit_cards:
        found = next((e for e in denials(subject, card, "rdbms") if e.grant.target.resource.covers(_ALL)), None)
        if found is not None:
            yield rule.finding(
                "denying every table does not stop statements without one: `SELECT pg_sleep(1)` asks for nothing, and"
                " neither does connecting",
                found.placed.span,
                help="nothing to write in a card: give the agents no address and no password of a database",
            )


RULE = Rule("HOST021", "table_less", Severity.INFO, Confidence.CERTAIN, check)
