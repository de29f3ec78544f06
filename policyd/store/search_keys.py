"""Keys by which the database finds the grants that may cover a target.

A grant is stored under one owner key and one resource key. A question has a small set of each, such
that whatever covers the target is stored under a pair of them; the exact evaluator decides what remains.

Source: cards 2.2, 4.1, 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from policyd.core.grants import Owner, OwnerKind, Recipient, Slot, Target
from policyd.core.grants.names import ascii_lower
from policyd.core.grants.resources import (
    AnyResource,
    CardTarget,
    FilePath,
    HttpRoute,
    NetworkResource,
    OplogRange,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.segments import GLOBSTAR, STAR

_SEPARATOR = "\0"
_ANY = "any"
_ENVIRONMENT_DEPTH = Slot.ENV.depth


@dataclass(frozen=True, slots=True)
class Home:
    """The environment of a snapshot, which fills the slots down to `?env` when grants are stored."""

    account: str
    application: str
    environment: str

    @property
    def segments(self) -> tuple[str, str, str]:
        """As an owner names it."""
        return (self.account, self.application, self.environment)


def hashed(key: str) -> int:
    """64 bits of `key` with a sign, as both engines can store and index them; equal keys only differ by accident."""
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def _owner(known: Iterable[str], *, is_type: bool = False, slot: str = "") -> str:
    return _SEPARATOR.join((slot, "type" if is_type else "", *known))


def owner_key(owner: Owner, recipient: Recipient, home: Home) -> str:
    """Where a grant with this owner for this recipient is stored.

    Slots down to `?env` are filled from `home`. `?component` and `?agent` stay, because only a holder
    fills them; they carry the component and the type of the holders that the recipient names.
    """
    if owner.slot is None:
        return _owner(owner.known, is_type=owner.is_type_wildcard)
    if owner.slot.depth <= _ENVIRONMENT_DEPTH:
        return _owner((*home.segments[: owner.slot.depth], *owner.known), is_type=owner.is_type_wildcard)
    named = recipient.known[_ENVIRONMENT_DEPTH : owner.slot.depth] if recipient.slot is None else ()
    return _owner(owner.known, is_type=owner.is_type_wildcard, slot=_slot(owner.slot, named))


def _slot(slot: Slot, named: Iterable[str]) -> str:
    return "@".join((slot.value, *named))


def owner_lookups(owner: Owner, home: Home) -> frozenset[str]:
    """The owner keys under which a grant must be stored if its owner can cover the concrete `owner` for any holder.

    A holder fills `?agent` with an id that begins with its type and a bracket.
    """
    keys = {_owner(owner.known[:count]) for count in range(len(owner.known) + 1)}
    is_leaf = owner.kind is OwnerKind.AGENT and len(owner.known) == OwnerKind.AGENT.depth
    types = _types(owner) if is_leaf else set()
    keys |= {_owner((*owner.known[:4], name), is_type=True) for name in types}
    if owner.known[:_ENVIRONMENT_DEPTH] != home.segments or len(owner.known) <= _ENVIRONMENT_DEPTH:
        return frozenset(keys)
    component, rest = owner.known[_ENVIRONMENT_DEPTH], owner.known[_ENVIRONMENT_DEPTH + 1 :]
    for slot in (_slot(Slot.COMPONENT, ()), _slot(Slot.COMPONENT, (component,))):
        keys |= {_owner(rest[:count], slot=slot) for count in range(len(rest) + 1)}
        keys |= {_owner((name,), is_type=True, slot=slot) for name in types}
    if is_leaf:
        holders = [(), (component,), *((component, name) for name in _before_brackets(owner.known[4]))]
        keys |= {_owner((), slot=_slot(Slot.AGENT, named)) for named in holders}
    return frozenset(keys)


def _types(owner: Owner) -> set[str]:
    """The names of the type wildcards that can cover the leaf (O6)."""
    leaf = owner.known[4]
    if owner.is_type_wildcard:
        return {leaf}
    return _before_brackets(leaf) if leaf.endswith(")") else set()


def _before_brackets(leaf: str) -> set[str]:
    return {leaf[:at] for at, sign in enumerate(leaf) if sign == "(" and at}


def resource_key(resource: Resource) -> str:
    """Where a grant with this resource is stored: its literal part, as far as that can be looked up.

    >>> resource_key(FilePath(("data", "*", "x"))) == resource_key(FilePath(("data", "**")))
    True
    """
    match resource:
        case AnyResource():
            return _ANY
        case FilePath(segments):
            return _run("files", segments)
        case SegmentPath(segments):
            if segments[:1] == (GLOBSTAR,):
                return _ANY
            return _run(f"segments {len(segments)}", segments)
        case NetworkResource(host, _):
            return _host(host)
        case StoreKey(store, key):
            return _parts("store", (store, STAR if key == GLOBSTAR else key))
        case TableName(database, schema, table):
            return _parts("table", (database, schema, table))
        case HttpRoute(domain, path):
            return _parts("route", (domain, path))
        case OplogRange():
            return "oplog"
        case CardTarget():
            return "card"
        case _:
            return _parts("exact", (resource.text,))


def resource_lookups(resource: Resource) -> frozenset[str]:
    """The resource keys under which a grant must be stored if its resource can cover `resource`."""
    keys = {_ANY}
    match resource:
        case AnyResource():
            pass
        case FilePath(segments):
            keys |= {_literal("files", segments[:count], ended=False) for count in range(len(segments) + 1)}
            keys.add(_literal("files", segments, ended=True))
        case SegmentPath(segments):
            name = f"segments {len(segments)}"
            keys |= {_literal(name, segments[:count], ended=False) for count in range(len(segments) + 1)}
            keys.add(_literal(name, segments, ended=True))
        case NetworkResource(host, _):
            labels = ascii_lower(host).split(".")
            keys |= {_host(host), _host(STAR)}
            keys |= {_parts("labels", (str(len(labels)), last)) for last in (labels[-1], STAR)}
        case StoreKey(store, key):
            plain = STAR if key == GLOBSTAR else key
            keys |= {_parts("store", (s, k)) for s in (store, STAR) for k in (plain, STAR)}
        case TableName(database, schema, table):
            keys |= {
                _parts("table", (d, s, t)) for d in (database, STAR) for s in (schema, STAR) for t in (table, STAR)
            }
        case HttpRoute(domain, path):
            keys |= {_parts("route", (d, path)) for d in (domain, STAR)}
        case _:
            keys.add(resource_key(resource))
    return frozenset(keys)


def resource_prefix(resource: Resource) -> str:
    """The literal text with which every value of `resource` begins, for people and for search; may be empty."""
    match resource:
        case AnyResource():
            return ""
        case FilePath(segments) | SegmentPath(segments):
            head = _head(segments)
            return resource.text if len(head) == len(segments) else _joined(resource, head)
        case StoreKey(store, key):
            return "" if store == STAR else f"{store}." if key in (STAR, GLOBSTAR) else resource.text
        case TableName(database, schema, table):
            head = _head((database, schema, table))
            return resource.text if len(head) == 3 else "".join(f"{part}." for part in head)
        case _:
            return resource.text.partition(STAR)[0]


def _joined(resource: FilePath | SegmentPath, head: tuple[str, ...]) -> str:
    separator = "/" if isinstance(resource, FilePath) else resource.separator
    lead = "/" if separator == "/" else ""
    return lead + "".join(f"{segment}{separator}" for segment in head)


def _head(segments: tuple[str, ...]) -> tuple[str, ...]:
    for count, segment in enumerate(segments):
        if segment in (STAR, GLOBSTAR):
            return segments[:count]
    return segments


def _parts(name: str, parts: tuple[str, ...]) -> str:
    return _SEPARATOR.join((name, *parts))


def _literal(name: str, segments: tuple[str, ...], *, ended: bool) -> str:
    return _SEPARATOR.join((name, "=" if ended else "<", *segments))


def _run(name: str, segments: tuple[str, ...]) -> str:
    """The segments before the first wildcard; a `*` of the question is a symbol, so it is looked up as it is."""
    head = _head(segments)
    return _literal(name, head, ended=len(head) == len(segments))


def _host(host: str) -> str:
    host = ascii_lower(host)
    labels = host.split(".")
    if host == STAR or STAR not in labels:
        return _parts("host", (host,))
    return _parts("labels", (str(len(labels)), labels[-1]))


MAX_LOOKUPS = 400
"""A question with more keys of one kind (a path of hundreds of segments) is narrowed by the other kind only."""


@dataclass(frozen=True, slots=True)
class Lookups:
    """The hashed keys of a question, each sorted; None where they are too many to look up."""

    owners: tuple[int, ...] | None
    resources: tuple[int, ...] | None


def lookups(target: Target, home: Home) -> Lookups:
    """Under which keys everything is stored that can cover the concrete `target`, for any holder."""
    owners = None
    if _brackets(target.owner) < MAX_LOOKUPS:
        owners = _hashes(owner_lookups(target.owner, home))
    resources = None
    if not isinstance(target.resource, FilePath | SegmentPath) or len(target.resource.segments) < MAX_LOOKUPS:
        resources = _hashes(resource_lookups(target.resource))
    return Lookups(owners, resources)


def _brackets(owner: Owner) -> int:
    return sum(segment.count("(") for segment in owner.known)


def _hashes(keys: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted(hashed(key) for key in keys))
