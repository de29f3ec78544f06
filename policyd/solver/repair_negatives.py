"""What remains of a negative grant when one call is taken out of it, as far as grants can say it.

Source: cards 2.2, 5.2; host 6.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from policyd.core.grants import ANY_VERB, Grant, Target
from policyd.core.grants.names import U64_MAX
from policyd.core.grants.resources import NetworkResource, OplogRange, Ports, Resource
from policyd.core.grants.resources.exact import EMPTY, AnyResource
from policyd.core.grants.resources.network import ANY_PORT, PORT_MAX


def without(negative: Grant, filled: Target, call: Target, is_writable: Callable[[Target], bool]) -> tuple[Grant, ...]:
    """The grants that deny what `negative` denies except `call` and as little else as can be written; maybe none.

    Args:
        negative: as written, slots open.
        filled: its target for the agent.
        call: what it shall no longer deny; covered by `filled`.
        is_writable: whether a target can be written as a grant.
    """
    return tuple(
        Grant(target, negative.recipient) for target in _pieces(negative.target, filled, call) if is_writable(target)
    )


def _pieces(written: Target, filled: Target, call: Target) -> Iterator[Target]:
    verbs = written.cls.verbs if written.verb == ANY_VERB else (written.verb,)
    for verb in verbs:
        if verb != call.verb:
            yield replace(written, verb=verb, resource=_for_verb(written, verb))
        elif filled.owner == call.owner:
            for resource in _rest(filled.resource, call.resource):
                yield replace(written, verb=verb, resource=resource)


_ONLY_EMPTY = frozenset({"delete", "interrupt", "resume", "update-revision", "fork"})


def _for_verb(written: Target, verb: str) -> Resource:
    """A star beside the verb `*` is also the empty resource, the only one that some verbs of agents have."""
    is_star = isinstance(written.resource, AnyResource)
    return EMPTY if written.cls.name == "agent" and verb in _ONLY_EMPTY and is_star else written.resource


def _rest(wide: Resource, narrow: Resource) -> Iterator[Resource]:
    """Resources that `wide` covers and that do not cover `narrow`, where a complement can be written."""
    match wide, narrow:
        case NetworkResource(host, ports), NetworkResource(other, asked) if host == other and ports != asked:
            if asked == ANY_PORT:
                yield NetworkResource(host, Ports(0, PORT_MAX, "range"))
            elif ports.form != "single":
                yield from (NetworkResource(host, p) for p in _ports(ports.low, asked.low - 1))
                yield from (NetworkResource(host, p) for p in _ports(asked.high + 1, ports.high))
        case OplogRange(), OplogRange():
            if wide.first < narrow.first:
                yield OplogRange(wide.start, narrow.first - 1)
            if narrow.last < wide.last <= U64_MAX:
                yield OplogRange(narrow.last + 1, wide.end)
        case _:
            return


def _ports(low: int, high: int) -> Iterator[Ports]:
    if low == high:
        yield Ports(low, high, "single")
    elif low < high:
        yield Ports(low, high, "range")
