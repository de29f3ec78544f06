"""HOST026: `invoke` where a webhook is meant, or on the own agent. Page: own_invoke.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policyd.analysis.card_calls import agent_templates, own_call, written, written_call, written_owner
from policyd.analysis.card_index import index_of
from policyd.analysis.effect import THIS_AGENT
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import Level
from policyd.core.grants.resources import Exact
from policyd.core.operations.owners import OwnerHole
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant to invoke a method that the platform itself asks for of the agent alone, misplaced."""
    fixed = {_plain(t.resource): t.resource for _, t in agent_templates("agent") if _is_about_itself(t.owner, t.verb)}
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        for entry in written(subject, card, Bound.LOWER_POSITIVE, "agent"):
            target = entry.grant.target
            if target.verb != "invoke" or not isinstance(target.resource, Exact) or target.resource.kind != "method":
                continue
            is_own = target.owner.known[4:] == (THIS_AGENT,) and len(entry.grant.recipient.known) == Level.AGENT
            method = fixed.get(_plain(target.resource.text), "")
            if method:
                call = own_call(card, "agent", "invoke", Exact("method", method))
                if index.covering(Bound.LOWER_POSITIVE, call):
                    continue
                yield rule.finding(
                    f"`{target.resource.text}` of {shown(written_owner(card, target.owner))} is not what a webhook asks"
                    f" for: that is {shown(written_call(card, call))}",
                    entry.placed.span,
                    help=f"write {shown(f'agent(?agent) @ ?agent : invoke : {method}')}",
                    witness=written_call(card, call),
                )
            elif is_own:
                yield rule.finding(
                    f"no agent invokes itself: the platform refuses `{target.resource.text}` of the own agent whatever"
                    " the cards say",
                    entry.placed.span,
                    help="remove it; for other agents of the type write the type as the owner, for a webhook"
                    f" {shown('agent(?agent) @ ?agent : invoke : create-webhook')}",
                    severity=Severity.INFO,
                    confidence=Confidence.POSSIBLE,
                )


def _is_about_itself(owner: OwnerHole, verb: str) -> bool:
    return owner is OwnerHole.SELF and verb == "invoke"


def _plain(name: str) -> str:
    """A method name without what the languages spell differently.

    >>> _plain("create-webhook") == _plain("createWebhook") == _plain("create_webhook")
    True
    """
    return re.sub(r"[-_]", "", name).lower()


RULE = Rule("HOST026", "own_invoke", Severity.WARNING, Confidence.LIKELY, check)
