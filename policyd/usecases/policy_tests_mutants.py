"""Changes of one grant: dropped, widened by one step, narrowed by one step; each is a line that can be written.

A step is the smallest that the grammar has: a star more or less, an owner one level further up or down.

Source: cards 2.2, 3.1, 3.2; questions 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policyd.core.application import InitialCard, PlacedGrant
from policyd.core.cards import Bound
from policyd.core.edition import Rules
from policyd.core.grants import ANY_VERB, Grant, Level, Owner, OwnerKind, Recipient, Slot, Target
from policyd.core.grants.resources import (
    AnyResource,
    FilePath,
    NetworkResource,
    OplogRange,
    Ports,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.solver.candidates import candidates_of
from policyd.syntax import Form, GrantSyntaxError, parse_grant

FRESH = "narrowed"
"""A name that a narrowed pattern is left with."""

_EXAMPLES = (FRESH, "NARROWED", f"{FRESH}.example", "start=1:end=", "@rev=0", "*:443", "*.*")
"""Texts of which one is a resource narrower than `*`, whatever the class."""

_SLOTS = (Slot.ACCOUNT, Slot.APP, Slot.ENV, Slot.COMPONENT, Slot.AGENT)


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one grant.

    Attributes:
        words: what is done.
        grant: what stands there instead, None where it is dropped.
    """

    words: str
    grant: Grant | None


def changes_of(grant: Grant, rules: Rules) -> tuple[Change, ...]:
    """All changes of a grant that can be written, each once."""
    found: dict[Grant, Change] = {}
    for words, other in (*_wider(grant), *_narrower(grant, rules)):
        if other != grant and other not in found and _is_writable(other, rules):
            found[other] = Change(f"{words} `{other.text.rstrip()}`", other)
    return (Change("dropped", None), *found.values())


def _is_writable(grant: Grant, rules: Rules) -> bool:
    try:
        return parse_grant(grant.text, Form.MANIFEST, rules) == grant
    except GrantSyntaxError:
        return False


def _wider(grant: Grant) -> Iterator[tuple[str, Grant]]:
    target = grant.target
    if target.verb != ANY_VERB:
        yield "verb widened to", _with(grant, replace(target, verb=ANY_VERB))
    steps = [
        c.filled
        for c in candidates_of((target,), None)
        if c.filled.owner == target.owner and c.filled.verb == target.verb and c.filled.resource != target.resource
    ]
    above = [s for s in steps if _is_beyond(s.resource, target.resource)]
    for step in above:
        # who notices the smallest step notices those further up as well
        if not any(_is_beyond(step.resource, other.resource) for other in above):
            yield "resource widened to", _with(grant, step)
    owner = _owner_above(target.owner)
    if owner is not None:
        yield "owner widened to", _with(grant, replace(target, owner=owner))
    recipient = _recipient_above(grant.recipient)
    if recipient is not None:
        yield "recipient widened to", Grant(target, recipient)


def _is_beyond(wide: Resource, narrow: Resource) -> bool:
    return wide.covers(narrow) and not narrow.covers(wide)


def _narrower(grant: Grant, rules: Rules) -> Iterator[tuple[str, Grant]]:
    target = grant.target
    if target.verb == ANY_VERB:
        yield "verb narrowed to", _with(grant, replace(target, verb=target.cls.verbs[0]))
    for resource in _resources_below(grant, rules):
        yield "resource narrowed to", _with(grant, replace(target, resource=resource))
    owner = _owner_below(target.owner)
    if owner is not None:
        yield "owner narrowed to", _with(grant, replace(target, owner=owner))


def _with(grant: Grant, target: Target) -> Grant:
    return Grant(target, grant.recipient)


def _owner_above(owner: Owner) -> Owner | None:
    """One level up: an instance to its type, a slot to the one before it."""
    if owner.is_type_wildcard:
        return Owner(owner.kind, owner.known[:-1], owner.slot)
    if owner.known:
        leaf = owner.known[-1].partition("(")
        if owner.kind is OwnerKind.AGENT and owner.known_depth == owner.kind.depth and leaf[0] and leaf[1]:
            return Owner(owner.kind, (*owner.known[:-1], leaf[0]), owner.slot, True)
        return Owner(owner.kind, owner.known[:-1], owner.slot)
    if owner.slot is None:
        return None
    depth = owner.slot.depth
    return Owner(owner.kind, (), _SLOTS[depth - 2] if depth > 1 else None)


def _owner_below(owner: Owner) -> Owner | None:
    """One level down: the next slot where a slot ends, one instance of a type."""
    if owner.is_type_wildcard:
        return Owner(owner.kind, (*owner.known[:-1], f'{owner.known[-1]}("{FRESH}")'), owner.slot)
    depth = owner.known_depth
    if depth >= owner.kind.depth or owner.known:
        return None
    slot = _SLOTS[depth]
    return None if slot is Slot.AGENT and owner.kind is not OwnerKind.AGENT else Owner(owner.kind, (), slot)


def _recipient_above(recipient: Recipient) -> Recipient | None:
    """The same level with one segment less, or everybody."""
    if recipient.level is Level.ANY:
        return None
    if len(recipient.known) > (recipient.slot is None):  # a path without any name is not written
        return Recipient(recipient.level, recipient.known[:-1], recipient.slot)
    if recipient.slot is None or recipient.slot.depth == 1:
        return Recipient(Level.ANY)
    return Recipient(recipient.level, (), _SLOTS[recipient.slot.depth - 2])


def _resources_below(grant: Grant, rules: Rules) -> Iterator[Resource]:
    """One star less, ports or indexes fewer by one."""
    resource = grant.target.resource
    match resource:
        case AnyResource():
            yield from _below_any(grant, rules)
        case FilePath(segments) if segments and segments[-1] == "**":
            yield FilePath((*segments[:-1], "*"))
        case FilePath(segments) if "*" in segments:
            at = len(segments) - 1 - segments[::-1].index("*")
            yield FilePath((*segments[:at], FRESH, *segments[at + 1 :]))
        case SegmentPath(segments, separator) if {"*", "**"} & set(segments):
            at = max(i for i, part in enumerate(segments) if part in ("*", "**"))
            yield SegmentPath((*segments[:at], FRESH, *segments[at + 1 :]), separator)
        case StoreKey("*", key):
            yield StoreKey(FRESH, key)
        case StoreKey(store, "*" | "**"):
            yield StoreKey(store, FRESH)
        case TableName(database, schema, table):
            parts = [database, schema, table]
            if "*" in parts:
                parts[parts.index("*")] = FRESH
                yield TableName(*parts)
        case NetworkResource(host, ports):
            labels = host.split(".")
            if "*" in labels:
                at = len(labels) - 1 - labels[::-1].index("*")
                yield NetworkResource(".".join([*labels[:at], FRESH, *labels[at + 1 :]]), ports)
            if ports.form == "any":
                yield NetworkResource(host, Ports(443, 443, "single"))
            elif ports.form == "range" and ports.low < ports.high:
                yield NetworkResource(host, Ports(ports.low, ports.high - 1, "range"))
        case OplogRange() if resource.first < resource.last:
            yield OplogRange(resource.first + 1, resource.end)
        case _:
            return


def _below_any(grant: Grant, rules: Rules) -> Iterator[Resource]:
    """The first of some examples that the class takes."""
    head = grant.text.removesuffix(grant.target.resource.text)
    for text in _EXAMPLES:
        try:
            found = parse_grant(f"{head}{text}", Form.MANIFEST, rules)
        except GrantSyntaxError:
            continue
        if found.target.resource != grant.target.resource:
            yield found.target.resource
            return


def with_change(card: InitialCard, bound: Bound, index: int, change: Change) -> InitialCard:
    """The card after a change."""
    grants = card.of(bound)
    placed = grants[index]
    new: tuple[PlacedGrant, ...] = () if change.grant is None else (replace(placed, grant=change.grant),)
    listed = (*grants[:index], *new, *grants[index + 1 :])
    match bound:
        case Bound.LOWER_POSITIVE:
            return replace(card, lower_positive=listed)
        case Bound.LOWER_NEGATIVE:
            return replace(card, lower_negative=listed)
        case Bound.UPPER_POSITIVE:
            return replace(card, upper_positive=listed)
        case Bound.UPPER_NEGATIVE:
            return replace(card, upper_negative=listed)
