"""Finding the grants of a list that cover a given one, without comparing all pairs.

Source: cards 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policyd.analysis.effect import THIS_AGENT
from policyd.analysis.subject import Entry
from policyd.core.admission.postings import Postings
from policyd.core.admission.resource_index import ResourceIndex
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB, Owner, OwnerKind, Target

_OwnerKey = tuple[tuple[str, ...], bool]


class GrantIndex:
    """Grants, of which those that cover a given target are found by look-ups."""

    __slots__ = ("_agent_type", "_entries", "_index")

    def __init__(self, entries: Iterable[Entry], agent_type: str = "") -> None:
        """Take up `entries`.

        Args:
            entries: with their owners filled.
            agent_type: where given, the agent itself (`?agent`) is an ordinary instance of it, so that
                `Type(*)` covers it; where not it may be a phantom, which `Type(*)` does not cover.
        """
        self._entries = tuple(entries)
        self._agent_type = agent_type
        self._index: dict[tuple[str, str], dict[_OwnerKey, ResourceIndex]] = {}
        for position, entry in enumerate(self._entries):
            target = entry.grant.target
            owners = self._index.setdefault((target.cls.name, target.verb), {})
            key = (target.owner.known, target.owner.is_type_wildcard)
            resources = owners.get(key)
            if resources is None:
                resources = owners[key] = ResourceIndex()
            resources.at(target.resource).add(0, Bound.LOWER_POSITIVE, position)
        for owners in self._index.values():
            for resources in owners.values():
                resources.freeze()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def covering(self, target: Target, limit: int = 0) -> list[Entry]:
        """The entries whose target covers `target`, whatever their recipients, in order of the list.

        Args:
            target: filled.
            limit: at most so many of each pattern, the first ones; 0 for all.
        """
        hits: list[Postings] = []
        for verb in dict.fromkeys((target.verb, ANY_VERB)):
            owners = self._index.get((target.cls.name, verb))
            if owners is None:
                continue
            for key in _owner_keys(target.owner, self._agent_type):
                resources = owners.get(key)
                if resources is not None:
                    resources.covering(target.resource, hits)
        found = {position for hit in hits for _, _, position in (hit.places[:limit] if limit else hit.places)}
        return [self._entries[position] for position in sorted(found)]


def _owner_keys(owner: Owner, agent_type: str) -> list[_OwnerKey]:
    """The keys under which owner patterns that cover `owner` stand (O5, O6)."""
    known = owner.known
    keys: list[_OwnerKey] = [(known[:count], False) for count in range(len(known))]
    if owner.is_type_wildcard:
        return [*keys, (known, True)]
    keys.append((known, False))
    if agent_type and known[4:] == (THIS_AGENT,):
        keys.append(((*known[:4], agent_type), True))
    if owner.kind is OwnerKind.AGENT and len(known) == owner.kind.depth and known[4].endswith(")"):
        leaf = known[4]
        at = leaf.find("(")
        while 0 <= at < len(leaf) - 1:
            keys.append(((*known[:4], leaf[:at]), True))
            at = leaf.find("(", at + 1)
    return keys
