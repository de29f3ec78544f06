"""HOST025: `agent : view` with the name of a method, which no agent asks for. Page: method_view.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import agent_templates, denials, written, written_call, written_owner
from policyd.analysis.card_index import index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Entry, Subject
from policyd.core.cards import Bound
from policyd.core.grants import Target
from policyd.core.grants.resources import Exact
from policyd.core.grants.resources.exact import EMPTY
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every `view` with a method: what agents read of each other is asked for without one."""
    asked = {template.resource for _, template in agent_templates("agent") if template.verb == "view"}
    if asked != {""}:
        return
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        lent = written(subject, card, Bound.LOWER_POSITIVE, "agent")
        for entry in (*lent, *denials(subject, card, "agent")):
            target = entry.grant.target
            if not _is_method_view(entry):
                continue
            whole = Target(target.cls, target.owner, "view", EMPTY)
            if index.covering(entry.bound, whole):
                continue
            effect = "covers" if entry.bound.is_positive else "denies"
            yield rule.finding(
                f"`view : {target.resource.text}` {effect} no metadata: agents are viewed as a whole, without a method",
                entry.placed.span,
                help=f"write {shown(f'agent({written_owner(card, target.owner)}) @ ?agent : view :')}; to let a method"
                " be called, grant `invoke`",
                witness=written_call(card, whole),
            )


def _is_method_view(entry: Entry) -> bool:
    target = entry.grant.target
    return target.verb == "view" and isinstance(target.resource, Exact) and target.resource.kind == "method"


RULE = Rule("HOST025", "method_view", Severity.WARNING, Confidence.LIKELY, check)
