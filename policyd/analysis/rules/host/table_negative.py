"""HOST020: a negative on a table that a statement can name otherwise. Page: table_negative.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import SOME_NAME, denials, own_call, written_call
from policyd.analysis.card_index import CardIndex, index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.grants import ANY_VERB, Target
from policyd.core.grants.resources import TableName
from policyd.core.grants.resources.segments import STAR
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

MISREAD_TABLE = "ONLY"
"""What the platform takes for the table in `SELECT … FROM ONLY t` (host 4.7)."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every negative on a table past which the card admits the same table in other letters, or misread."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact:
            continue
        for entry in denials(subject, card, "rdbms"):
            denied = entry.grant.target
            if not isinstance(denied.resource, TableName):
                continue
            found = _way_around(card, index, entry, denied.resource)
            if found is None:
                continue
            call, how = found
            yield rule.finding(
                f"the negative on {shown(denied.resource.text)} compares letters only: {how}",
                entry.placed.span,
                help="grant the tables that may be used by name, instead of granting all and denying one",
                witness=written_call(card, call),
            )


def _way_around(card: AuditedCard, index: CardIndex, entry: Entry, denied: TableName) -> tuple[Target, str] | None:
    verb = "query" if entry.grant.target.verb in ("query", ANY_VERB) else entry.grant.target.verb
    database = SOME_NAME if denied.database == STAR else denied.database
    schema = SOME_NAME if denied.schema == STAR else denied.schema
    other = TableName(database, schema, denied.table.swapcase())
    if denied.table == STAR:
        if denied.schema == STAR:
            return None
        other = TableName(database, schema.swapcase(), SOME_NAME)
    call = own_call(card, "rdbms", verb, other)
    if index.admits(call):
        return call, f"{shown(other.text)} is admitted, and many servers take it for the same table"
    if denied.table == STAR:
        return None
    call = own_call(card, "rdbms", verb, TableName(database, schema, MISREAD_TABLE))
    if index.admits(call):
        return call, f"`FROM ONLY {denied.table}` is taken for a table `{MISREAD_TABLE}`, which is admitted"
    return None


RULE = Rule("HOST020", "table_negative", Severity.WARNING, Confidence.LIKELY, check)
