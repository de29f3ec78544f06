"""HOST028: objects in a blob container that cannot be opened. Page: container_handle.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import agent_templates, own_call, written, written_call
from policyd.analysis.card_index import index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants.resources import StoreKey
from policyd.core.grants.resources.segments import GLOBSTAR, STAR
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

_OPENING = ("blob.get-container", "blob.create-container")
"""The operations that give a handle of a container; those on objects take one."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report each container once of which a card grants single objects, but neither opening nor creating it."""
    verbs = [template.verb for operation, template in agent_templates("blob") if operation.id in _OPENING]
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        told: set[str] = set()
        for entry in written(subject, card, Bound.LOWER_POSITIVE, "blob"):
            target = entry.grant.target
            held = target.resource
            if not isinstance(held, StoreKey) or held.store in told or STAR in held.store or not index.is_exact:
                continue
            if target.verb == "list" or not index.admits(target):
                continue  # a list of one object is asked for by nobody
            calls = [own_call(card, "blob", verb, StoreKey(held.store, GLOBSTAR)) for verb in verbs]
            if not target.owner.covers(calls[0].owner):
                continue
            if any(index.covering(Bound.LOWER_POSITIVE, call) for call in calls):
                continue
            told.add(held.store)
            line = shown(f"blob(?env) @ ?agent : {calls[0].verb} : {calls[0].resource.text}")
            yield rule.finding(
                f"the container {shown(held.store)} cannot be opened: `blob.get-container` asks for the whole of it,"
                " before any object is used",
                entry.placed.span,
                help=f"add {line}, which lets every object of it be read as well; there is no narrower grant",
                witness=written_call(card, calls[0]),
            )


RULE = Rule("HOST028", "container_handle", Severity.WARNING, Confidence.LIKELY, check)
