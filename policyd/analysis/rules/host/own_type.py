"""HOST024: a grant on all agents of the own type, which phantoms of the type lack. Page: own_type.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import own_call, written
from policyd.analysis.card_index import index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import OwnerKind
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

_CLASSES = ("agent", "oplog", "filesystem", "env", "config")


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant on `Type(*)` of the card's own type that gives a phantom nothing on itself."""
    for card in subject.explicit_cards:
        own = (*card.context.segments, card.agent.name)
        for name in _CLASSES:
            for entry in written(subject, card, Bound.LOWER_POSITIVE, name):
                target = entry.grant.target
                if target.owner.kind is not OwnerKind.AGENT or not target.owner.is_type_wildcard:
                    continue
                if target.owner.known != own or target.verb == "invoke":
                    continue  # an agent does not invoke itself
                itself = own_call(card, name, target.verb, target.resource)
                if index_of(subject, card).for_all_instances(Bound.LOWER_POSITIVE).covering(itself, 1):
                    continue
                kind = shown(f"{card.agent.name}(*)")
                resource = target.resource.text
                line = f"{name}(?agent) @ ?agent : {target.verb} : {resource}".rstrip()
                yield rule.finding(
                    f"phantoms of {shown(card.agent.name)} lack this for themselves: {kind} covers ids that end in `)`"
                    " only",
                    entry.placed.span,
                    help=f"write {shown(line)} for the agent itself, whatever its id; other phantoms need"
                    " `?component/*`",
                )


RULE = Rule("HOST024", "own_type", Severity.INFO, Confidence.LIKELY, check)
