"""In which fields a grant misses a call, and how the two differ there, in words.

Source: host 6.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from policyd.core.grants import ANY_VERB, Grant, Owner, OwnerKind, Recipient, Target
from policyd.core.grants.resources import (
    AnyResource,
    FilePath,
    NetworkResource,
    OplogRange,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.exact import EMPTY
from policyd.core.grants.resources.network import ANY_PORT


class Dimension(Enum):
    """One of the five parts in which a grant can miss a call, the weightiest first."""

    CLASS = "class"
    OWNER = "owner"
    VERB = "verb"
    RESOURCE = "resource"
    RECIPIENT = "recipient"


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field that differs.

    Attributes:
        field: the dimension, or a part of it (`host`, `port`, `bucket`, `key`, `schema`, …).
        granted: what the grant says there.
        asked: what the call says.
        remark: why it does not cover although it looks like it; empty where that is plain.
    """

    field: str
    granted: str
    asked: str
    remark: str = ""

    @property
    def text(self) -> str:
        """The difference in one phrase: `host differs: a.x is granted, b.x was asked`."""
        behind = f" ({self.remark})" if self.remark else ""
        return f"{self.field} differs: {self.granted} is granted, {self.asked} was asked{behind}"


def missed(grant: Grant, target: Target, holder: Recipient) -> tuple[Dimension, ...]:
    """The dimensions in which a grant (slots filled) does not cover a call of a holder."""
    own = grant.target
    found = []
    if own.cls != target.cls:
        found.append(Dimension.CLASS)
    if own.owner.kind is not target.owner.kind or not own.owner.covers(target.owner):
        found.append(Dimension.OWNER)
    if own.verb not in (ANY_VERB, target.verb):
        found.append(Dimension.VERB)
    if not own.resource.covers(target.resource):
        found.append(Dimension.RESOURCE)
    if not grant.recipient.covers(holder):
        found.append(Dimension.RECIPIENT)
    return tuple(found)


def differences(grant: Grant, target: Target, holder: Recipient) -> tuple[FieldDifference, ...]:
    """Field by field, how a grant misses a call."""
    return tuple(_differences(grant, target, holder))


def _differences(grant: Grant, target: Target, holder: Recipient) -> Iterator[FieldDifference]:
    own = grant.target
    for dimension in missed(grant, target, holder):
        match dimension:
            case Dimension.CLASS:
                yield FieldDifference("class", own.cls.name, target.cls.name)
            case Dimension.OWNER:
                yield FieldDifference(
                    "owner", own.owner.text or "none", target.owner.text or "none", _owner_remark(own.owner, target)
                )
            case Dimension.VERB:
                yield FieldDifference("verb", own.verb, target.verb)
            case Dimension.RESOURCE:
                yield from resource_differences(own.resource, target.resource)
            case Dimension.RECIPIENT:
                yield FieldDifference("recipient", grant.recipient.text, holder.text)


def _owner_remark(granted: Owner, target: Target) -> str:
    asked = target.owner
    if granted.is_type_wildcard and asked.known and asked.known[-1].endswith("]"):
        return "a phantom is none of `Type(*)`"
    if granted.is_type_wildcard and granted.known_depth > len(asked.known):
        return "all agents of the component were asked for at once"
    for level, (left, right) in enumerate(zip(granted.known, asked.known, strict=False)):
        if left != right:
            tool = granted.kind is OwnerKind.TOOL
            return (
                f"another {('account', 'application', 'environment', 'component', 'tool' if tool else 'agent')[level]}"
            )
    return ""


def resource_differences(granted: Resource, asked: Resource) -> Iterator[FieldDifference]:
    """The parts in which one resource misses another."""
    match granted, asked:
        case _, AnyResource():
            yield FieldDifference("resource", granted.text or "the empty resource", "all of it at once")
        case NetworkResource(), NetworkResource():
            yield from _network(granted, asked)
        case StoreKey(), StoreKey():
            if not StoreKey(granted.store, asked.key).covers(asked):
                yield FieldDifference("store", granted.store, asked.store, _cased(granted.store, asked.store))
            if not StoreKey(asked.store, granted.key).covers(asked):
                all_keys = "all keys at once" if asked.key in ("*", "**") else asked.key
                yield FieldDifference("key", granted.key, all_keys, _glob(granted.key))
        case TableName(), TableName():
            parts = (
                ("database", granted.database, asked.database),
                ("schema", granted.schema, asked.schema),
                ("table", granted.table, asked.table),
            )
            for name, left, right in parts:
                if left not in ("*", right):
                    yield FieldDifference(name, left or "an empty name", right or "an empty name", _cased(left, right))
        case OplogRange(), OplogRange():
            yield FieldDifference("range", granted.text or "all entries", asked.text or "all entries")
        case FilePath(), FilePath():
            yield FieldDifference("path", granted.text, asked.text, _path(granted, asked))
        case SegmentPath(segments), SegmentPath(other):
            remark = "`**` behind the first part is one segment" if "**" in segments[1:] else ""
            remark = remark or _cased(granted.text, asked.text)
            if not remark and len(segments) != len(other):
                remark = f"{len(segments)} segments, not {len(other)}"
            yield FieldDifference("path", granted.text, asked.text, remark)
        case _:
            left = granted.text or ("the empty resource" if granted == EMPTY else "nothing")
            right = asked.text or ("the empty resource" if asked == EMPTY else "nothing")
            yield FieldDifference("resource", left, right, _cased(granted.text, asked.text))


def _network(granted: NetworkResource, asked: NetworkResource) -> Iterator[FieldDifference]:
    if not NetworkResource(granted.host, asked.ports).covers(asked):
        labels = granted.host.split(".")
        stars = "*" in labels and len(labels) != len(asked.host.split("."))
        remark = "a `*` label stands for exactly one label" if stars else ""
        yield FieldDifference("host", granted.host, asked.host, remark)
    if not granted.ports.covers(asked.ports):
        is_any = asked.ports == ANY_PORT
        right = "name resolution, which asks for any port," if is_any else asked.ports.text[1:]
        yield FieldDifference("port", granted.ports.text[1:], right)


def _glob(key: str) -> str:
    return "a star inside a key is no wildcard" if "*" in key and key not in ("*", "**") else ""


def _path(granted: FilePath, asked: FilePath) -> str:
    if granted.segments[-1:] == ("*",) and len(asked.segments) > len(granted.segments):
        return "`*` is one segment, `**` is any number of them"
    if granted.segments == asked.segments[: len(granted.segments)] and "*" not in granted.text:
        return "a literal path covers nothing below it"
    return _cased(granted.text, asked.text)


def _cased(left: str, right: str) -> str:
    return "they differ in letter case only" if left != right and left.casefold() == right.casefold() else ""
