"""Finding the grants of a list that cover a given one, without comparing all pairs.

Source: cards 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from policyd.analysis.effect import THIS_AGENT
from policyd.analysis.subject import Entry
from policyd.core.admission.postings import Postings
from policyd.core.admission.resource_index import ResourceIndex, index_for
from policyd.core.grants import Target
from policyd.core.grants.resources import FilePath, NetworkResource, OplogRange, Resource, SegmentPath
from policyd.core.grants.resources.segments import GLOBSTAR

MAX_SEGMENTS = 32
"""Paths and keys with more segments are left out: walking them costs the product of their depths."""

MAX_GLOBSTARS = 3
"""Paths with more `**` are left out, likewise."""

MAX_RANGES = 64
"""So many ranges of ports or oplog indexes are taken up: nested ones cover each other, all in all."""


def is_light(resource: Resource) -> bool:
    """Whether patterns of this size are taken up and asked about; the others are found nowhere."""
    match resource:
        case FilePath(segments) | SegmentPath(segments):
            return len(segments) <= MAX_SEGMENTS and segments.count(GLOBSTAR) <= MAX_GLOBSTARS
        case NetworkResource():
            return resource.host.count(".") < MAX_SEGMENTS
        case _:
            return True


def _is_range(resource: Resource) -> bool:
    match resource:
        case OplogRange():
            return True
        case NetworkResource():
            return resource.ports.form == "range"
        case _:
            return False


class GrantIndex:
    """Grants, of which those that cover a given target are found by look-ups.

    Oversized patterns, and ranges past the first few, are left out: what they cover is then not found.
    """

    __slots__ = ("_agent_type", "_entries", "_index", "_places")

    def __init__(self, entries: Iterable[Entry], agent_type: str = "") -> None:
        """Take up `entries`.

        Args:
            entries: with their owners filled.
            agent_type: where given, the agent itself (`?agent`) is an ordinary instance of it, so that
                `Type(*)` covers it; where not it may be a phantom, which `Type(*)` does not cover.
        """
        self._entries = tuple(entries)
        self._agent_type = agent_type
        self._index: dict[str, ResourceIndex] = {}
        # postings are told apart by identity: the index keeps them, and equal patterns share one
        self._places: dict[int, list[int]] = {}
        ranges = 0
        for position, entry in enumerate(self._entries):
            target = entry.grant.target
            ranges += _is_range(target.resource)
            if not is_light(target.resource) or (ranges > MAX_RANGES and _is_range(target.resource)):
                continue
            index = self._index.get(target.cls.name)
            if index is None:
                index = self._index[target.cls.name] = index_for(target.cls.resource)
            postings = index.at(target.resource).at(target.owner, target.verb)
            self._places.setdefault(id(postings), []).append(position)
        for index in self._index.values():
            index.freeze()

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
        index = self._index.get(target.cls.name)
        if index is None or not is_light(target.resource):
            return []
        hits: list[Postings] = []
        index.covering(target, hits)
        if self._agent_type and target.owner.known[4:] == (THIS_AGENT,):
            instance = replace(target.owner, known=(*target.owner.known[:4], f"{self._agent_type}({THIS_AGENT})"))
            index.covering(replace(target, owner=instance), hits)
        lists = [self._places[id(hit)] for hit in hits]
        found = {position for places in lists for position in (places[:limit] if limit else places)}
        return [self._entries[position] for position in sorted(found)]
