"""HOST031: a denial that no log keeps, in a wallet that its holder changes. Page: unrecorded_denial.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from policyd.analysis.card_calls import agent_templates, own_call, written
from policyd.analysis.card_index import CardIndex, index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB, Target
from policyd.core.grants.resources.exact import ANY
from policyd.core.operations.catalogue import RecordClass
from policyd.findings import Confidence, Finding, Related, Severity

_CLASSES = ("filesystem", "network")
"""Classes with operations whose denial leaves no record; those on cards are about the wallet itself."""

_FORGOTTEN = frozenset({RecordClass.NOT_RECORDED, RecordClass.RE_EVALUATED})


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report the first lower negative per class that a card installed later can lift between run and replay."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        change = _wallet_change(card, index)
        if not index.is_exact or change is None:
            continue
        for name in _CLASSES:
            for entry in written(subject, card, Bound.LOWER_NEGATIVE, name):
                verb = entry.grant.target.verb
                named = unrecorded(name, "" if verb == ANY_VERB else verb)
                if not named:
                    continue
                granting = index.lends(change)
                yield rule.finding(
                    f"a denial of {', '.join(f'`{n}`' for n in named[:3])} leaves no record, and the agents may change"
                    " their wallet: a replay can decide otherwise",
                    entry.placed.span,
                    help="deny it under `upperBound.negative`, which no later card lifts; or take"
                    f" `card : {change.verb}` away",
                    related=[Related("with this they change their wallet", granting.placed.span)]
                    if granting is not None and granting.placed.span is not None
                    else [],
                )
                break


def _wallet_change(card: AuditedCard, index: CardIndex) -> Target | None:
    """Installing any card, where that is admitted."""
    call = own_call(card, "card", "install", ANY)
    return call if index.admits(call) else None


@cache
def unrecorded(name: str, verb: str) -> tuple[str, ...]:
    """The operations that ask for a class and verb (empty for any) and leave no record of a denial.

    Where that depends on the generation of the interfaces, an operation counts as one that leaves none.
    """
    return tuple(
        dict.fromkeys(
            operation.id
            for operation, template in agent_templates(name)
            if verb in ("", template.verb) and operation.record.p2 in _FORGOTTEN
        )
    )


RULE = Rule("HOST031", "unrecorded_denial", Severity.INFO, Confidence.POSSIBLE, check)
