"""HOST022: network negatives, which do not hold for databases. Page: database_server.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import denials, written
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report the first database grant of each card that denies hosts or addresses."""
    for card in subject.explicit_cards:
        lent = written(subject, card, Bound.LOWER_POSITIVE, "rdbms")
        denied = next(denials(subject, card, "network"), None)
        if lent and denied is not None:
            yield rule.finding(
                "the network negatives of this card do not hold for databases: the server of a connection is not asked"
                " for",
                lent[0].placed.span,
                help="keep addresses and passwords of other database servers from the agents, if they must not reach"
                " them",
                related=[Related("a negative on hosts", denied.placed.span)] if denied.placed.span else [],
            )


RULE = Rule("HOST022", "database_server", Severity.INFO, Confidence.POSSIBLE, check)
