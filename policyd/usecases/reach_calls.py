"""Calls that an actor may make to another one, first by what its grants name, then by exact search.

Source: questions 2 (reach); host 2.8, 2.10; cards O5, O6.
"""

from __future__ import annotations

from policyd.core.callsets import Fails, Undecided, never, query
from policyd.core.callsets.budget import Steps
from policyd.core.grants import ANY_VERB, Owner, Target
from policyd.core.grants.resources import Exact
from policyd.usecases.reach_nodes import Node, platform_class


def invocation(x: Node, owner: Owner, steps: Steps) -> Target | Undecided | None:
    """A call by which X may invoke some method of an agent, or None."""
    cls = platform_class("agent")
    is_near = False
    for ref in x.lending(("agent",)):
        target = ref.grant.target
        if target.verb not in (ANY_VERB, "invoke") or not target.owner.covers(owner):
            continue
        is_near = True
        resource = target.resource if isinstance(target.resource, Exact) else Exact("method", "call")
        asked = Target(cls, owner, "invoke", resource)
        if resource.kind == "method" and x.allows(asked):
            return asked
    return searched(x, "agent", owner, "invoke", steps) if is_near else None


def searched(x: Node, name: str, owner: Owner | None, verb: str, steps: Steps) -> Target | Undecided | None:
    """Any call of a class and verb that X may make, or None."""
    answer = never(x.admitted, query(x.universe, platform_class(name), owner, verb), x.universe, steps=steps)
    match answer:
        case Undecided():
            return answer
        case Fails():
            return answer.witness
        case _:
            return None
