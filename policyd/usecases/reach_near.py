"""From whom a hop to an actor is possible at all: indexes of what grants name, so that not every pair is tried.

What is left out surely has no hop; what is given is asked the exact evaluator.

Source: cards O5, O6 (owner patterns), 3.4 (stores).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policyd.core.callsets.index import fixed_words
from policyd.core.grants import ANY_VERB, Owner, Target
from policyd.core.grants.resources import StoreKey, TableName
from policyd.usecases.reach_nodes import Node

STORES = (("kv", "write", "read"), ("blob", "write", "read"), ("rdbms", "mutate", "query"))
"""The classes of shared stores, with the verb by which data enters and the one by which it leaves."""

_EVERY = "*"


class Near:
    """The candidates of one search: whoever was found is dropped from the lists as they are read.

    Args:
        nodes: everybody.
        follows_data: whether ways of data count.
        is_onward: whether the search goes from an actor to what it comes by, rather than back from that.
    """

    def __init__(self, nodes: Sequence[Node], *, follows_data: bool, is_onward: bool = False) -> None:
        """Index the grants and the owners of all nodes."""
        self._follows_data, self._is_onward = follows_data, is_onward
        self._always = [] if is_onward else [n for n in nodes if n.is_account or n.party is None]
        self._held: dict[Node, list[Node]] = defaultdict(list)
        self._naming: dict[object, dict[Node, None]] = defaultdict(dict)
        self._named: dict[object, dict[Node, None]] = defaultdict(dict)
        self._reading: dict[tuple[str, str], dict[Node, None]] = defaultdict(dict)
        for node in nodes:
            # what somebody holds of others counts as its own where the hop is an act of its own
            actors = (node,) if node.receiver is None else (node, node.receiver)
            for ref in node.lending(("agent", "oplog") if follows_data else ("agent",)):
                self._naming[_key(ref.grant.target.owner)].update(dict.fromkeys(actors))
            if node.receiver is not None:
                self._held[node.receiver].append(node)
            if node.owner is not None and (follows_data or is_onward):
                for key in owner_keys(node.owner, node.agent_type):
                    self._named[key][node] = None
            for name, writing, reading in STORES if follows_data else ():
                for target in _lent(node, name, writing if is_onward else reading):
                    self._reading[name, _first(target)].update(dict.fromkeys(actors))

    def onward(self, start: Node, left: dict[Node, None]) -> Iterable[Node]:
        """Those of `left` to which a hop from `start` may exist."""
        if start.party is None or start.is_account:
            return list(left)
        found = {node: None for node in self._held.get(start, ()) if node in left}
        return found | self._listed(start, left)

    def to(self, goal: Node, left: dict[Node, None]) -> Iterable[Node]:
        """Those of `left` from which a hop to `goal` may exist."""
        if goal.receiver is not None:
            return [goal.receiver] if goal.receiver in left else []
        return self._listed(goal, left)

    def _listed(self, goal: Node, left: dict[Node, None]) -> dict[Node, None]:
        found = {node: None for node in self._always if node in left}
        for listed in self._lists(goal):
            gone = []
            for node in listed:
                if node in left:
                    found[node] = None
                else:
                    gone.append(node)
            for node in gone:
                del listed[node]
        return found

    def _lists(self, goal: Node) -> Iterator[dict[Node, None]]:
        actors = (goal, *self._held.get(goal, ()))
        if goal.owner is not None:
            for key in owner_keys(goal.owner, goal.agent_type):
                if key in self._naming:
                    yield self._naming[key]
        if self._follows_data:
            for name, writing, reading in STORES:
                verb = reading if self._is_onward else writing
                firsts = {_first(target): None for actor in actors for target in _lent(actor, name, verb)}
                yield from self._readers(name, firsts)
        if self._follows_data or self._is_onward:
            named = ("agent", "oplog") if self._is_onward else ("agent",)
            for key in {_key(ref.grant.target.owner): None for actor in actors for ref in actor.lending(named)}:
                if key in self._named:
                    yield self._named[key]

    def _readers(self, name: str, parts: dict[str, None]) -> Iterator[dict[Node, None]]:
        if _EVERY in parts:
            for (cls, _), listed in list(self._reading.items()):
                if cls == name:
                    yield listed
        elif parts:
            for part in (*parts, _EVERY):
                if (name, part) in self._reading:
                    yield self._reading[name, part]


def _lent(node: Node, name: str, verb: str) -> Iterator[Target]:
    for ref in node.lending((name,)):
        if ref.grant.target.verb in (ANY_VERB, verb):
            yield ref.grant.target


def may_meet(one: Iterable[Target], other: Iterable[Target]) -> bool:
    """Whether a target of each side may cover the same call, but for its verb; told by the words that they fix."""
    there = [fixed_words(target) for target in other]
    return any(
        resource.agrees(other_resource) and owner.agrees(other_owner)
        for owner, resource in map(fixed_words, one)
        for other_owner, other_resource in there
    )


def _first(target: Target) -> str:
    """The store that a grant names, or `*` for any."""
    match target.resource:
        case StoreKey(store=part) | TableName(database=part):
            return _EVERY if part == _EVERY else f"={part}"
        case _:
            return _EVERY


def _key(owner: Owner) -> object:
    return owner.known, owner.is_type_wildcard


def owner_keys(owner: Owner, agent_type: str) -> Iterator[object]:
    """The keys of all owner patterns that cover an agent: prefixes, its type, itself."""
    known = owner.known
    for depth in range(5):
        yield known[:depth], False
    yield (*known[:4], agent_type), True
    yield known, False
