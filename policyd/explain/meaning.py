"""What a grant means, part by part, and samples of what it covers and what it does not.

The samples are only candidates here; the algebra decides on which side each of them stands.

Source: cards 2.2, 3, 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policyd.core.grants import ANY_VERB, Grant, Level, Owner, OwnerKind, Recipient, Slot, Target
from policyd.core.grants.resources import (
    AnyResource,
    CardTarget,
    Exact,
    FilePath,
    HttpRoute,
    Invocation,
    NetworkResource,
    NoResource,
    OplogRange,
    Ports,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.exact import ANY, EMPTY
from policyd.core.grants.resources.network import ANY_PORT
from policyd.core.grants.resources.segments import GLOBSTAR, STAR
from policyd.core.grants.resources.tools import Argument


@dataclass(frozen=True, slots=True)
class Meaning:
    """A grant explained.

    Attributes:
        owner: whose things.
        recipient: for which holders.
        verb: what may be done.
        resource: to which of them.
        covers: resources (and verbs) of samples that it covers, as text.
        misses: of samples that it does not cover.
        remarks: what people often get wrong here.
    """

    owner: str
    recipient: str
    verb: str
    resource: str
    covers: tuple[str, ...]
    misses: tuple[str, ...]
    remarks: tuple[str, ...]


def meaning(grant: Grant) -> Meaning:
    """Explain `grant` (any form)."""
    target = grant.target
    covers: list[str] = []
    misses: list[str] = []
    for sample in _samples(target.resource):
        shown = sample.text or "(empty)"
        side = covers if target.resource.covers(sample) else misses
        if shown not in side:
            side.append(shown)
    return Meaning(
        _owner(target.owner),
        _recipient(grant.recipient),
        _verb(target),
        _resource(target),
        tuple(covers[:6]),
        tuple(misses[:6]),
        tuple(_remarks(grant)),
    )


_SLOTS = {
    Slot.ACCOUNT: "the account of the agent's component",
    Slot.APP: "the application of the agent's component",
    Slot.ENV: "the environment of the agent's component",
    Slot.COMPONENT: "the component of the agent",
    Slot.AGENT: "the agent itself",
}
_LEVELS = ("account", "application", "environment", "component", "agent")


def _owner(owner: Owner) -> str:
    if owner.kind is OwnerKind.EMPTY:
        return "nobody's: this class has no owner"
    parts = [_SLOTS[owner.slot]] if owner.slot else []
    start = owner.slot.depth if owner.slot else 0
    for offset, name in enumerate(owner.known):
        level = _LEVELS[start + offset] if owner.kind is not OwnerKind.TOOL or start + offset < 4 else "tool"
        if owner.is_type_wildcard and offset == len(owner.known) - 1:
            parts.append(f"every ordinary agent of type `{name}` (phantoms are not among them)")
        else:
            parts.append(f"{level} `{name}`")
    if owner.known_depth < owner.kind.depth:
        below = _LEVELS[owner.known_depth : owner.kind.depth]
        last = "tool" if owner.kind is OwnerKind.TOOL else below[-1]
        parts.append(f"every {last} below" if owner.known_depth else f"every {last} of everyone")
    return ", ".join(parts)


def _recipient(recipient: Recipient) -> str:
    if recipient.level is Level.ANY:
        return "every holder"
    if recipient.is_external_tool_owner:
        return "the tools of that component that run outside agents"
    slot = {
        Slot.ACCOUNT: "the account of the component",
        Slot.APP: "the application of the component",
        Slot.ENV: "the environment of the component",
        Slot.COMPONENT: "the component",
        Slot.AGENT: "the agent type whose card it is",
    }
    head = slot[recipient.slot] if recipient.slot else ""
    known = "/".join(recipient.known)
    place = " ".join(p for p in (head, f"`{known}`" if known else "") if p)
    depth = (recipient.slot.depth if recipient.slot else 0) + len(recipient.known)
    if depth == recipient.level:
        what = {Level.ACCOUNT: "the account {0} and everything below it", Level.ENVIRONMENT: "{0} and its agents"}
        return what.get(recipient.level, "agents of type {0}").format(place) if head != slot[Slot.AGENT] else head
    return f"every {'agent' if recipient.level is Level.AGENT else 'environment and agent'} of {place}"


def _verb(target: Target) -> str:
    if target.verb != ANY_VERB:
        return f"`{target.verb}`"
    return "any of " + ", ".join(f"`{v}`" for v in target.cls.verbs)


def _resource(target: Target) -> str:
    resource = target.resource
    match resource:
        case AnyResource():
            return "anything"
        case NoResource():
            return "the thing itself: this class has no resources"
        case FilePath(segments) if not segments:
            return "the root directory, and nothing below it"
        case FilePath(segments) if segments[-1] == GLOBSTAR:
            return "that directory and everything below it, at any depth"
        case FilePath(segments) if STAR in segments or GLOBSTAR in segments:
            return "paths of that pattern: `*` is one segment, `**` any number of them, also none"
        case FilePath():
            return "exactly that path, and nothing below it"
        case SegmentPath(segments) if segments[:1] == (GLOBSTAR,):
            return "every value with a name, but not a request for all of them at once"
        case SegmentPath(segments) if STAR in segments or GLOBSTAR in segments:
            return f"names of exactly {len(segments)} segments of that pattern; `**` is one segment here, like `*`"
        case NetworkResource(host, ports):
            at = (
                "at any port, name resolution included"
                if ports is ANY_PORT or ports.form == "any"
                else (
                    f"at {'ports' if ports.form == 'range' else 'port'} {ports.text[1:]}, name resolution not included"
                )
            )
            return f"{'any host' if host == '*' else 'that host'} {at}"
        case OplogRange():
            return f"oplog entries {resource.first} to {'the end' if resource.end is None else resource.last}"
        case StoreKey(store, key):
            where = "every store" if store == "*" else f"store `{store}`"
            return f"{'every key' if key in ('*', '**') else f'exactly the key `{key}`'} of {where}"
        case TableName():
            return "tables of that name; a `*` stands for every name of its part"
        case Invocation():
            return "exactly this call, arguments in this order"
        case CardTarget():
            return "holders of that pattern (only `install` looks at it)"
        case Exact(kind, _) if kind == "empty":
            return "the agent itself (the empty resource)"
        case _:
            return "exactly that one"


def _samples(resource: Resource) -> Iterator[Resource]:
    """Candidates around a resource: equal, narrower, wider and beside it."""
    yield resource
    match resource:
        case FilePath(segments):
            for filling in ((), ("a",), ("a", "b")):
                yield FilePath(_filled(segments, filling))
            yield FilePath((*_filled(segments, ()), "below"))
            yield FilePath(_filled(segments, ())[:-1])
            yield FilePath(("**",))
        case SegmentPath(segments, separator):
            plain = tuple("a" if s in (STAR, GLOBSTAR) else s for s in segments)
            yield SegmentPath(plain, separator)
            yield SegmentPath((*plain, "b"), separator)
            if len(plain) > 1:
                yield SegmentPath(plain[:-1], separator)
            yield ANY
        case NetworkResource(host, ports):
            yield from _hosts(host, ports)
        case OplogRange():
            yield OplogRange(resource.first, resource.first)
            yield OplogRange(resource.first + 1, resource.last)
            yield OplogRange(0, None)
            yield ANY
        case StoreKey(store, key):
            a_store = "store" if store == "*" else store
            a_key = "key" if key in ("*", "**") else key
            yield from (StoreKey(a_store, a_key), StoreKey(a_store, f"{a_key}2"), StoreKey(a_store, "**"))
            yield StoreKey("other", a_key)
        case TableName(database, schema, table):
            named = TableName(*("name" if part == "*" else part for part in (database, schema, table)))
            yield named
            yield replace(named, table="other")
            yield replace(named, table="*")
            yield replace(named, database="other")
        case Invocation(command, arguments):
            yield Invocation(command, (*arguments, Argument("more")))
            yield Invocation(command, arguments[:-1])
            yield ANY
        case AnyResource():
            yield Exact("name", "anything")
        case HttpRoute(domain, path):
            yield HttpRoute("example" if domain == "*" else domain, path)
            yield HttpRoute(domain, f"{path}/below")
        case Exact(kind, text):
            if kind != "empty":
                yield Exact(kind, f"{text}2")
            yield ANY if kind != "empty" else Exact("method", "method")
            if kind == "method":
                yield EMPTY
        case CardTarget(recipient):
            yield CardTarget(
                Recipient(Level.AGENT, (*recipient.known, *("x" for _ in range(5 - len(recipient.known)))))
            )
            yield ANY
        case _:
            return


def _filled(segments: tuple[str, ...], run: tuple[str, ...]) -> tuple[str, ...]:
    out: list[str] = []
    for segment in segments:
        out += run if segment == GLOBSTAR else ("a",) if segment == STAR else (segment,)
    return tuple(out)


def _hosts(host: str, ports: Ports) -> Iterator[Resource]:
    plain = "host.example" if host == "*" else host.replace("*", "a")
    port = ports.low if ports.form != "any" else 443
    yield NetworkResource(plain, Ports(port, port, "single"))
    yield NetworkResource(plain, ANY_PORT)
    yield NetworkResource(f"sub.{plain}", Ports(port, port, "single"))
    yield NetworkResource(plain, Ports(ports.high + 1 if ports.high < 65535 else 1, ports.high + 1, "single"))
    if "." in host and host.startswith("*."):
        yield NetworkResource(host[2:], ports)


def _remarks(grant: Grant) -> Iterator[str]:
    target = grant.target
    resource = target.resource
    match resource:
        case NetworkResource(_, ports) if ports.form != "any":
            yield "looking the name up asks for the host at any port, which this does not cover"
        case StoreKey(_, key) if key not in ("*", "**") and "*" in key:
            yield "a star that is only part of a key is an ordinary character: this is no prefix pattern"
        case SegmentPath(segments) if GLOBSTAR in segments[1:]:
            yield "`**` behind the first place is exactly one segment, like `*`"
        case Invocation(_, arguments) if any(a.symbol for a in arguments):
            yield "a star as an argument is a symbol that no real call carries: only the bare `*` is wide"
        case NetworkResource(host, _) if "/" in host:
            yield "ranges of addresses are not understood: this is an ordinary name that no host has"
        case _:
            pass
    if target.owner.is_type_wildcard:
        yield "phantom agents, whose ids end in a bracketed UUID, are not covered; `*` as the last segment covers them"
    leaf = grant.recipient.known[-1] if grant.recipient.known else ""
    if grant.recipient.level is Level.AGENT and "(" in leaf:
        yield "recipients name agent types, never instances, so this one applies to no holder"
    if "{{" in grant.text:
        yield "`{{ }}` in a grant is taken literally"
