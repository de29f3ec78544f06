"""HOST034: a change that is granted without the view that is asked for before it. Page: view_first.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from policyd.analysis.card_calls import written_call
from policyd.analysis.card_index import CardIndex, index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB, Owner, Target
from policyd.core.grants.classes import ResourceKind
from policyd.core.grants.resources import Resource
from policyd.core.grants.resources.exact import ANY, NOTHING
from policyd.core.operations.catalogue import Operation, Side, TargetTemplate
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown
from policyd.syntax.operations import catalogue


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant of a change in the registry no operation of which gets past its views."""
    for card in subject.explicit_cards:
        if not any(e.grant.target.cls.name in _changes() for e in card.of_bound(Bound.LOWER_POSITIVE)):
            continue
        index = index_of(subject, card)
        for entry in card.of_bound(Bound.LOWER_POSITIVE) if index.is_exact else ():
            target = entry.grant.target
            rows = _changes().get(target.cls.name, {}).get(target.verb, ())
            if not rows or not entry.is_written or not entry.is_for_holder or target.verb == ANY_VERB:
                continue
            missing = [_missing(index, target, views) for _, views in rows]
            if not all(missing):
                continue
            wanted = missing[0][0]
            line = written_call(card, wanted)
            yield rule.finding(
                f"`{target.cls.name} : {target.verb}` is never reached: `{rows[0][0]}` asks for {shown(line)} first",
                entry.placed.span,
                help=f"add {shown(line.replace(' : ', ' @ ?agent : ', 1))}",
                witness=line,
            )


@cache
def _changes() -> dict[str, dict[str, tuple[tuple[str, tuple[TargetTemplate, ...]], ...]]]:
    """By class and verb: the operations of the registry that ask for it last, with the views asked for before."""
    found: dict[str, dict[str, list[tuple[str, tuple[TargetTemplate, ...]]]]] = {}
    for operation in catalogue().operations.values():
        if operation.side is Side.SERVICE and operation.family == "registry-service":
            for template, views in _steps(operation):
                verbs = found.setdefault(template.cls.name, {})
                verbs.setdefault(template.verb, []).append((operation.id, views))
    return {name: {verb: tuple(rows) for verb, rows in verbs.items()} for name, verbs in found.items()}


def _steps(operation: Operation) -> Iterator[tuple[TargetTemplate, tuple[TargetTemplate, ...]]]:
    views: list[TargetTemplate] = []
    for template in operation.targets:
        if template.verb == "view":
            if not template.given:
                views.append(template)
        else:
            yield template, tuple(views)


def _missing(index: CardIndex, change: Target, views: tuple[TargetTemplate, ...]) -> list[Target]:
    """The views that the card lacks for the thing that `change` is about."""
    found = []
    for view in views:
        depth = view.cls.owner.depth
        if len(change.owner.known) < min(depth, change.owner.kind.depth):
            continue  # the change is granted for many owners: which of them is meant is not known
        owner = Owner(view.cls.owner, change.owner.known[:depth])
        resource: Resource = change.resource if view.cls == change.cls else ANY
        if view.cls.resource in (ResourceKind.EMPTY, ResourceKind.APPLICATION):
            resource = NOTHING
        wanted = Target(view.cls, owner, "view", resource)
        if not index.covering(Bound.LOWER_POSITIVE, wanted):
            found.append(wanted)
    return found


RULE = Rule("HOST034", "view_first", Severity.INFO, Confidence.LIKELY, check)
