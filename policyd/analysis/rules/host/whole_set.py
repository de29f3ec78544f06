"""HOST014: a negative on a part that an operation on the whole goes past. Page: whole_set.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policyd.analysis.card_calls import SOME_NAME, agent_templates, denials, own_call, written_call, written_owner
from policyd.analysis.card_index import CardIndex, index_of
from policyd.analysis.effect import THIS_AGENT
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.grants import ANY_VERB, Owner, Target
from policyd.core.grants.names import U64_MAX
from policyd.core.grants.resources import OplogRange, StoreKey, TableName
from policyd.core.grants.resources.exact import ANY, EMPTY
from policyd.core.grants.resources.segments import GLOBSTAR, STAR
from policyd.core.operations.agents import GUEST_PAGE
from policyd.core.operations.catalogue import Operation, TargetTemplate
from policyd.core.operations.owners import OwnerHole
from policyd.core.operations.parameters import ParameterKind
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

_CLASSES = ("kv", "blob", "rdbms", "agent", "oplog")
_ON_MEMBERS = frozenset({"delete", "list"})
"""Verbs with which a request for a whole store is about what is in it, and not about the store alone."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Operations on a whole that are admitted although a part is denied."""

    operations: tuple[str, ...]
    call: Target


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every negative narrower than what an admitted operation on the whole asks for."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not _is_decided(card):
            continue
        for name in _CLASSES:
            if name not in _ASKED_OF_MANY and not index.is_exact:
                continue
            for entry in denials(subject, card, name):
                gap = _gap(card, index, entry)
                if gap is None:
                    continue
                named = ", ".join(f"`{operation}`" for operation in gap.operations)
                ask = "ask" if len(gap.operations) > 1 else "asks"
                yield rule.finding(
                    f"the negative on {_part(card, entry)} does not stop {named}, which {ask} for"
                    f" {shown(written_call(card, gap.call))} as a whole",
                    entry.placed.span,
                    help=_HELP["transaction" if name == "rdbms" else "members"],
                    severity=Severity.INFO if gap.call.verb == "list" else None,
                    witness=written_call(card, gap.call),
                )


_HELP = {
    "members": "grant by name what may be used, instead of granting all and denying a part: a negative stops a request"
    " only if it covers the whole of it",
    "transaction": "the statements in a transaction are still asked for by their own tables; to forbid transactions"
    " grant the tables by name instead of the database",
}


_ASKED_OF_MANY = frozenset({"agent"})
"""Classes asked for all agents of a component, which no grant on a single instance covers."""


def _is_decided(card: AuditedCard) -> bool:
    """Whether every text was read and every recipient decided."""
    return card.is_readable and all(e.is_for_holder or not e.may_be_for_holder for e in card.entries)


def _part(card: AuditedCard, entry: Entry) -> str:
    """What the negative is about, as it names it."""
    target = entry.grant.target
    return shown(written_owner(card, target.owner) if target.cls.name == "agent" else target.resource.text)


def _gap(card: AuditedCard, index: CardIndex, entry: Entry) -> Gap | None:
    """The first whole that is admitted past the negative, with all operations that ask for it."""
    denied = entry.grant.target
    found: dict[Target, list[str]] = {}
    for operation, template in agent_templates(denied.cls.name):
        if denied.verb not in (template.verb, ANY_VERB):
            continue
        for whole in _wholes(card, operation, template, denied):
            if all(index.admits(call) for call in whole):
                operations = found.setdefault(whole[0], [])
                if operation.id not in operations:
                    operations.append(operation.id)
                break
    if not found:
        return None
    call = next(iter(found))
    return Gap(tuple(found[call]), call)


def _wholes(
    card: AuditedCard, operation: Operation, template: TargetTemplate, denied: Target
) -> Iterator[tuple[Target, ...]]:
    """What the operation may ask for all at once so that a part of it is what the negative denies."""
    match denied.resource:
        case StoreKey(store, key) if template.resource.endswith(f".{GLOBSTAR}") and key not in (STAR, GLOBSTAR):
            if template.verb in _ON_MEMBERS:
                name = SOME_NAME if store == STAR else store
                yield (own_call(card, denied.cls.name, template.verb, StoreKey(name, GLOBSTAR)),)
        case TableName(database, schema, table) if template.resource.endswith(".*.*") and (schema, table) != (
            STAR,
            STAR,
        ):
            name = SOME_NAME if database == STAR else database
            whole = TableName(name, STAR, STAR)
            yield tuple(own_call(card, denied.cls.name, t.verb, whole) for t in operation.targets)
        case resource if template.owner is OwnerHole.COMPONENT_AGENTS and resource in (EMPTY, ANY):
            if len(denied.owner.known) == denied.owner.kind.depth:
                owner = Owner(denied.owner.kind, denied.owner.known[:4])
                yield (Target(denied.cls, owner, template.verb, EMPTY),)
        case OplogRange() if any(p.kind is ParameterKind.GUEST_PAGE for p in operation.parameters):
            read = _read_owner(card, denied.owner)
            if read is not None:
                for start in _starts(denied.resource):
                    yield (Target(denied.cls, read, template.verb, OplogRange(start, start + GUEST_PAGE - 1)),)
        case _:
            return


def _read_owner(card: AuditedCard, owner: Owner) -> Owner | None:
    """An agent of the own environment, no other can be read, whose log the negative is about."""
    own = Owner(owner.kind, (*card.context.segments, THIS_AGENT))
    if owner.is_exact:
        return owner if owner.known[:3] == own.known[:3] else None
    return own if owner.covers(own) else None


def _starts(denied: OplogRange) -> Iterator[int]:
    """First indexes of pages that reach into the denied range and out of it, on either side."""
    if denied.first > denied.last:
        return
    behind = denied.first if denied.last - denied.first < GUEST_PAGE - 1 else denied.last
    if behind + GUEST_PAGE <= U64_MAX:
        yield max(1, behind)
    if denied.first > 1:
        yield denied.first - 1


RULE = Rule("HOST014", "whole_set", Severity.WARNING, Confidence.CERTAIN, check)
