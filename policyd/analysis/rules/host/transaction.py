"""HOST023: tables that may be changed, but in no transaction. Page: transaction.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import agent_templates, own_call, written, written_call
from policyd.analysis.card_index import index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB
from policyd.core.grants.resources import TableName
from policyd.core.grants.resources.segments import STAR
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

_WHOLE = "{database}.*.*"


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report each database once in which a card lets tables be changed but no transaction begin."""
    verbs = [template.verb for _, template in agent_templates("rdbms") if template.resource == _WHOLE]
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        told: set[str] = set()
        for entry in written(subject, card, Bound.LOWER_POSITIVE, "rdbms"):
            target = entry.grant.target
            table = target.resource
            if target.verb not in ("mutate", ANY_VERB) or not isinstance(table, TableName) or not index.is_exact:
                continue
            if STAR in table.database or table.database in told or not index.admits(target):
                continue
            calls = [own_call(card, "rdbms", verb, TableName(table.database, STAR, STAR)) for verb in verbs]
            missing = [call for call in calls if not index.covering(Bound.LOWER_POSITIVE, call)]
            if not missing or not target.owner.covers(missing[0].owner):
                continue
            told.add(table.database)
            lines = " and ".join(shown(f"rdbms(?env) @ ?agent : {c.verb} : {c.resource.text}") for c in missing)
            yield rule.finding(
                f"no transaction can begin on {shown(table.database)}: that asks for `query` and `mutate` on the whole"
                " database",
                entry.placed.span,
                help=f"add {lines} if the code uses transactions, which opens every table of it; or let it do without",
                witness=written_call(card, missing[0]),
            )


RULE = Rule("HOST023", "transaction", Severity.INFO, Confidence.POSSIBLE, check)
