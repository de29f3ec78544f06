"""Grants that could let a call through, from the exact one upwards, one widening step after the other.

Source: cards 2.2, 3.1; questions 2 (synthesis).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from policyd.core.grants import ANY_VERB, AgentContext, Owner, OwnerKind, ResourceKind, Slot, Target
from policyd.core.grants.classes import has_any
from policyd.core.grants.recipient import Level, Recipient
from policyd.core.grants.resources import (
    CardTarget,
    FilePath,
    NetworkResource,
    OplogRange,
    Ports,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.exact import ANY, AnyResource
from policyd.core.grants.resources.network import ANY_PORT

MAX_JOINED = 40
"""Up to so many wanted calls of one class are generalised pair by pair."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A target pattern that a new grant may have.

    Attributes:
        target: as it is written, with a slot where the agent's own names stand.
        filled: the same for the agent.
        steps: how many widening steps it lies above the call; 0 for the exact one.
    """

    target: Target
    filled: Target
    steps: int


def candidates_of(wanted: Sequence[Target], context: AgentContext | None) -> tuple[Candidate, ...]:
    """All candidates for some calls: those of each, and those that two of them share.

    Args:
        wanted: the calls.
        context: the agent whose own names are written as slots, None to write all names out.
    """
    found: dict[Target, Candidate] = {}
    for call in wanted:
        resources = dict(_resources(call.cls.resource, call.resource, call.verb))
        same = [w for w in wanted if w.cls == call.cls and w.verb == call.verb and w is not call]
        for other in same[:MAX_JOINED]:
            for joined, steps in _joined(call.resource, other.resource):
                resources.setdefault(joined, steps)
        for (owner, up), (verb, across), (resource, wider) in product(
            _owners(call.owner), ((call.verb, 0), (ANY_VERB, 1)), resources.items()
        ):
            if verb == ANY_VERB and not _fits_every_verb(call.cls.resource, resource):
                continue
            filled = Target(call.cls, owner, verb, resource)
            steps = up + across + wider
            if filled not in found or steps < found[filled].steps:
                found[filled] = Candidate(slotted(filled, context), filled, steps)
    return tuple(sorted(found.values(), key=lambda c: (c.steps, c.target.text)))


def _fits_every_verb(kind: ResourceKind, resource: Resource) -> bool:
    """Whether the resource can be written beside the verb `*`; a plugin or a named invocation is read otherwise."""
    return kind is not ResourceKind.AGENT or getattr(resource, "kind", "") not in ("plugin", "invocation-name")


def _owners(owner: Owner) -> Iterator[tuple[Owner, int]]:
    """The owner, its type, and every shorter prefix."""
    kind, known = owner.kind, owner.known
    steps = 0
    yield owner, steps
    if kind is OwnerKind.AGENT and len(known) == 5 and not owner.is_type_wildcard:
        name = known[4].partition("(")[0]
        typed = Owner(kind, (*known[:4], name), None, True)
        if name and typed.covers(owner):
            steps += 1
            yield typed, steps
    for count in range(len(known) - 1, -1, -1):
        steps += 1
        yield Owner(kind, known[:count]), steps


def slotted(target: Target, context: AgentContext | None) -> Target:
    """The target with the longest slot in its owner that means the same for the agent; without one, itself."""
    owner = target.owner
    if context is None or not owner.known:
        return target
    own = (*context.segments, context.agent_id)
    if owner.known == own and not owner.is_type_wildcard:
        return Target(target.cls, Owner(owner.kind, (), Slot.AGENT), target.verb, target.resource)
    depth = 0
    while depth < min(4, len(owner.known)) and owner.known[depth] == own[depth]:
        depth += 1
    if depth == 0:
        return target
    slot = (Slot.ACCOUNT, Slot.APP, Slot.ENV, Slot.COMPONENT)[depth - 1]
    slotted = Owner(owner.kind, owner.known[depth:], slot, owner.is_type_wildcard)
    return Target(target.cls, slotted, target.verb, target.resource)


def _resources(kind: ResourceKind, resource: Resource, verb: str) -> Iterator[tuple[Resource, int]]:
    """The resource and its generalisations, with their steps."""
    steps = -1
    last: Resource | None = None
    for wider, steps in _ladder(resource):
        last = wider
        yield wider, steps
    has_star = has_any(kind) and not (kind is ResourceKind.AGENT and verb in _ONLY_EMPTY)
    if has_star and not isinstance(last, AnyResource):
        yield ANY, steps + 1


_ONLY_EMPTY = frozenset({"delete", "interrupt", "resume", "update-revision", "fork"})


def _ladder(resource: Resource) -> Iterator[tuple[Resource, int]]:
    yield resource, 0
    match resource:
        case FilePath(segments):
            if segments and segments[-1] not in ("*", "**"):
                yield FilePath((*segments[:-1], "*")), 1
            for count in range(len(segments) - 1, -1, -1):
                yield FilePath((*segments[:count], "**")), len(segments) - count + 1
        case SegmentPath(segments, separator):
            for count in range(1, len(segments) + 1):
                yield SegmentPath((*segments[: len(segments) - count], *("*",) * count), separator), count
            if separator == "/":
                yield SegmentPath(("**",), "/"), len(segments) + 1
        case StoreKey(store, key):
            if key != "**":
                yield StoreKey(store, "**"), 1
            yield StoreKey("*", "**"), 2
        case TableName(database, schema, table):
            if table != "*":
                yield TableName(database, schema, "*"), 1
            if schema != "*":
                yield TableName(database, "*", "*"), 2
            if database != "*":
                yield TableName("*", "*", "*"), 3
        case NetworkResource(host, ports):
            labels = host.split(".")
            wider_ports = [(ports, 0)] if ports == ANY_PORT else [(ports, 0), (ANY_PORT, 1)]
            hosts = [(".".join(("*",) * n + tuple(labels[n:])), n) for n in range(len(labels))]
            for (name, up), (range_, across) in product([*hosts, ("*", len(labels))], wider_ports):
                if name == "*" and range_ == ANY_PORT:
                    continue  # that is `*`, which stands at the end of every ladder
                if (up, across) != (0, 0):
                    yield NetworkResource(name, range_), up + across
        case OplogRange(start, end):
            if end is not None:
                yield OplogRange(start, None), 1
            if start:
                yield OplogRange(0, None), 2
        case CardTarget(recipient):
            known = recipient.known
            for count in range(len(known) - 1, 0, -1):
                yield CardTarget(Recipient(Level.AGENT, known[:count])), len(known) - count
        case _:
            return


def _joined(left: Resource, right: Resource) -> Iterator[tuple[Resource, int]]:
    """What two resources of the same shape have in common, stars where they differ."""
    match left, right:
        case FilePath(a), FilePath(b) if len(a) == len(b):
            parts = _stars(a, b)
            yield FilePath(parts), parts.count("*")
        case SegmentPath(a, separator), SegmentPath(b, _) if len(a) == len(b):
            parts = _stars(a, b)
            yield SegmentPath(parts, separator), parts.count("*")
        case NetworkResource(a_host, a_ports), NetworkResource(b_host, b_ports):
            a_labels, b_labels = a_host.split("."), b_host.split(".")
            low, high = min(a_ports.low, b_ports.low), max(a_ports.high, b_ports.high)
            same = a_ports == b_ports
            ports = (
                a_ports if same else ANY_PORT if "any" in (a_ports.form, b_ports.form) else Ports(low, high, "range")
            )
            if len(a_labels) == len(b_labels):
                labels = _stars(tuple(a_labels), tuple(b_labels))
                if set(labels) != {"*"}:
                    yield NetworkResource(".".join(labels), ports), labels.count("*") + (not same)
        case OplogRange(), OplogRange():
            yield OplogRange(min(left.first, right.first), max(left.last, right.last)), 1
        case _:
            return


def _stars(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(a if a == b else "*" for a, b in zip(left, right, strict=True))
