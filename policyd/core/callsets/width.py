"""How much wider: exact counts around a witness, where a dimension is finite.

Source: questions 2; cards 2.2 RS-net.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from policyd.core.callsets.admitted import Admitted
from policyd.core.grants import Target
from policyd.core.grants.resources import Exact, NetworkResource, Ports
from policyd.core.grants.resources.network import ANY_PORT, PORT_MAX

_KINDS_BY_VERB = {
    "method": ("invoke", "view"),
    "oplog-index": ("revert",),
    "invocation-uuid": ("cancel-invocation",),
    "invocation-name": ("cancel-invocation",),
    "plugin": ("activate-plugin", "deactivate-plugin"),
}


@dataclass(frozen=True, slots=True)
class Width:
    """The calls beside a witness that differ in one finite dimension and are in the same difference.

    Attributes:
        verbs: the verbs, in the platform's order, for the same owner and resource.
        ports: inclusive ranges of ports of the same host, ascending and apart; empty outside of `network`.
        resolves: whether resolving the name of the host is in the difference, too.
        methods: those of the known methods that may be called in its place; empty outside of `agent`.
    """

    verbs: tuple[str, ...]
    ports: tuple[tuple[int, int], ...] = ()
    resolves: bool = False
    methods: tuple[str, ...] = ()

    @property
    def port_count(self) -> int:
        """How many ports."""
        return sum(high - low + 1 for low, high in self.ports)


def width_of(call: Target, admitting: Admitted, refusing: Admitted, methods: Iterable[str] = ()) -> Width:
    """The exact extent of a difference around one of its calls, by the plain evaluator.

    Args:
        call: a call that `admitting` admits and `refusing` does not.
        admitting: the wider side.
        refusing: the other side.
        methods: the method names that the manifest declares for the agent.
    """
    ours, theirs = admitting.of_class(call.cls.name), refusing.of_class(call.cls.name)

    def differs(target: Target) -> bool:
        return ours.allows(target) and not theirs.allows(target)

    verbs = tuple(v for v in _verbs(call) if differs(replace(call, verb=v)))
    match call.resource:
        case NetworkResource(host):
            refs = [r for s in (ours, theirs) for p in (*s.lower, *s.upper) for r in (*p.positive, *p.negative)]
            bounds = [
                r.grant.target.resource.ports for r in refs if isinstance(r.grant.target.resource, NetworkResource)
            ]
            ports = tuple(
                (low, high)
                for low, high in _intervals(bounds)
                if differs(replace(call, resource=NetworkResource(host, Ports(low, low, "single"))))
            )
            resolves = differs(replace(call, resource=NetworkResource(host, ANY_PORT)))
            return Width(verbs, _merged(ports), resolves)
        case Exact("method", _):
            named = (Exact("method", name) for name in dict.fromkeys(methods))
            return Width(verbs, (), False, tuple(m.text for m in named if differs(replace(call, resource=m))))
        case _:
            return Width(verbs)


def _verbs(call: Target) -> tuple[str, ...]:
    """The verbs that calls combine with the resource."""
    if call.cls.name != "agent":
        return call.cls.verbs
    return _KINDS_BY_VERB.get(call.resource.kind, (call.verb,)) if isinstance(call.resource, Exact) else (call.verb,)


def _intervals(bounds: Iterable[Ports]) -> list[tuple[int, int]]:
    """All ports in stretches that no grant divides."""
    cuts = sorted({0, *(cut for p in bounds for cut in (p.low, p.high + 1) if cut <= PORT_MAX)})
    return [(low, after - 1) for low, after in zip(cuts, [*cuts[1:], PORT_MAX + 1], strict=True)]


def _merged(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for low, high in ranges:
        if found and found[-1][1] + 1 == low:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return tuple(found)
