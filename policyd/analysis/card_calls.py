"""Calls that the agents of a card can make: the written grants they meet by class, and how a call is written down.

Source: host 2; cards B.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from policyd.analysis.effect import THIS_AGENT, with_open_names
from policyd.analysis.grant_index import is_light
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.cards import Bound
from policyd.core.edition import NEXT
from policyd.core.grants import Owner, PermissionClass, Target, class_named
from policyd.core.grants.resources import FilePath, Resource
from policyd.core.grants.resources.segments import GLOBSTAR, STAR
from policyd.core.operations.catalogue import Operation, Side, TargetTemplate
from policyd.syntax.operations import catalogue

SOME_NAME = "some-name"
"""Stands in a call for a name that a pattern leaves open."""

NEGATIVES = (Bound.LOWER_NEGATIVE, Bound.UPPER_NEGATIVE)


def written(subject: Subject, card: AuditedCard, bound: Bound, name: str) -> tuple[Entry, ...]:
    """The written grants of one list and class that certainly apply to the agents of the card; no oversized ones."""
    return subject.once(f"written {card.agent.name}", lambda: _sorted_out(card)).get((bound, name), ())


def _sorted_out(card: AuditedCard) -> Mapping[tuple[Bound, str], tuple[Entry, ...]]:
    found: dict[tuple[Bound, str], list[Entry]] = {}
    for entry in card.entries:
        if entry.is_written and entry.is_for_holder and is_light(entry.grant.target.resource):
            found.setdefault((entry.bound, entry.grant.target.cls.name), []).append(entry)
    return {key: tuple(entries) for key, entries in found.items()}


def denials(subject: Subject, card: AuditedCard, name: str) -> Iterator[Entry]:
    """The written negatives of one class, of the lower list and then of the upper one."""
    for bound in NEGATIVES:
        yield from written(subject, card, bound, name)


@cache
def agent_templates(name: str) -> tuple[tuple[Operation, TargetTemplate], ...]:
    """What operations of agents ask for in a class, in the order of the catalogue."""
    return tuple(
        (operation, template)
        for operation in catalogue().operations.values()
        if operation.side is Side.AGENT
        for template in operation.targets
        if template.cls.name == name
    )


def cls(name: str) -> PermissionClass:
    """The class of that name, which both editions have."""
    found = class_named(name, NEXT)
    assert found is not None  # the callers name classes that exist
    return found


def own_call(card: AuditedCard, name: str, verb: str, resource: Resource) -> Target:
    """What an agent of the card asks for, of a class whose owner is the agent, its environment or nobody."""
    found = cls(name)
    path = (*card.context.segments, THIS_AGENT)
    return Target(found, Owner(found.owner, path[: found.owner.depth]), verb, resource)


def some_path(pattern: FilePath) -> FilePath:
    """A path that a call can ask for inside `pattern`, with a name of its own for each wildcard.

    >>> some_path(FilePath(("data", "**"))).text
    '/data/some-name'
    """
    return FilePath(tuple(SOME_NAME if segment in (STAR, GLOBSTAR) else segment for segment in pattern.segments))


def written_call(card: AuditedCard, target: Target) -> str:
    """`target` in the form that `check` takes, with the slots that fit the agents of the card.

    Names that are not known are shown as what they stand for.
    """
    owner = written_owner(card, target.owner)
    return f"{target.cls.name}({owner}) : {target.verb} : {with_open_names(target.resource.text)}".rstrip()


def written_owner(card: AuditedCard, owner: Owner) -> str:
    """An owner with the slot that fits the agents of the card, as grants write it."""
    known, own = owner.known, card.context.segments
    if known[:4] == own and known[4:] == (THIS_AGENT,):
        return "?agent"
    shared = next((n for n in _SLOTS if len(known) >= n and known[:n] == own[:n]), 0)
    rest = list(known[shared:])
    if owner.is_type_wildcard:
        rest[-1] += "(*)"
    stars = ["*"] * (owner.kind.depth - len(known))
    return with_open_names("/".join([*([_SLOTS[shared]] if shared else []), *rest, *stars]))


_SLOTS = {4: "?component", 3: "?env", 1: "?account"}
