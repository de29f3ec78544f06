"""Finding the owner patterns that cover one owner, under one resource pattern.

Source: cards O5, O6, S2.
"""

from __future__ import annotations

from policyd.core.admission.postings import Postings
from policyd.core.grants import ANY_VERB, Owner, OwnerKind, Target

FEW = 6
"""Up to so many patterns are compared one by one; more are looked up by their leading segments."""

_Key = tuple[tuple[str, ...], bool, str]


class OwnerIndex:
    """Owner patterns with their verbs, each with its postings."""

    __slots__ = ("_all", "_depths", "_few")

    def __init__(self) -> None:
        self._all: dict[_Key, Postings] = {}
        self._few: list[tuple[Owner, str, Postings]] = []
        self._depths: list[int] = []

    def at(self, owner: Owner, verb: str) -> Postings:
        """The postings of exactly this pattern, made if they are new."""
        key = (owner.known, owner.is_type_wildcard, verb)
        found = self._all.get(key)
        if found is None:
            found = self._all[key] = Postings()
            self._few.append((owner, verb, found))
            if len(owner.known) not in self._depths:
                self._depths.append(len(owner.known))
        return found

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """Add the postings of every pattern that covers owner and verb of `target`."""
        if len(self._few) <= FEW:
            asked = target.verb
            for owner, verb, postings in self._few:
                if verb in (ANY_VERB, asked) and owner.covers(target.owner):
                    hits.append(postings)
            return
        owner = target.owner
        known = owner.known
        size = len(known)
        verbs = (ANY_VERB,) if target.verb == ANY_VERB else (target.verb, ANY_VERB)
        for verb in verbs:
            for depth in self._depths:
                if depth > size or (depth == size and owner.is_type_wildcard):
                    continue
                found = self._all.get((known[:depth], False, verb))
                if found is not None:
                    hits.append(found)
            if owner.kind is OwnerKind.AGENT and size == OwnerKind.AGENT.depth:
                for name in _types_of(owner):
                    found = self._all.get(((*known[:4], name), True, verb))
                    if found is not None:
                        hits.append(found)


def _types_of(owner: Owner) -> list[str]:
    """The type names `T` for which `T(*)` covers this full owner."""
    leaf = owner.known[4]
    if owner.is_type_wildcard:
        return [leaf]
    if not leaf.endswith(")"):
        return []
    names = []
    at = leaf.find("(")
    while 0 <= at < len(leaf) - 1:
        names.append(leaf[:at])
        at = leaf.find("(", at + 1)
    return names
