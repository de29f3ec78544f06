"""Finds the products near another one without looking at all.

Every product has two words: the known part of its owner, and the literal beginning of its resource. Two
products whose words contradict each other share no call. The answer is a superset of those that overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.core.callsets.below import words_of
from policyd.core.grants import ANY_VERB, Owner, OwnerKind, Target
from policyd.core.grants.resources import CardTarget, Invocation, Resource
from policyd.core.grants.resources.segments import GLOBSTAR, STAR

Word = tuple[str, ...]

SMALL = 24
"""Up to so many products are simply listed."""


def owner_word(owner: Owner) -> Word:
    """The leading owner segments that every call of the product has; an agent id counts as its type, then itself."""
    known = owner.known
    if len(known) < 5 or owner.kind is not OwnerKind.AGENT:
        return known
    name = known[4].partition("(")[0]
    return (*known[:4], name) if owner.is_type_wildcard else (*known[:4], name, known[4])


def resource_word(resource: Resource) -> Word:
    """The leading words of the resource that every call of the product has."""
    match resource:
        case CardTarget(recipient):
            return recipient.known
        case Invocation():
            return (resource.text,)
        case _:
            words = words_of(resource)
            for place, word in enumerate(words):
                if word in (STAR, GLOBSTAR):
                    return words[:place]
            return words


class _Trie:
    """Products by one of their words."""

    __slots__ = ("at", "under")

    def __init__(self, words: Sequence[Word]) -> None:
        self.at: dict[Word, list[int]] = {}
        self.under: dict[Word, list[int]] = {}
        for number, word in enumerate(words):
            self.at.setdefault(word, []).append(number)
            for count in range(len(word) + 1):
                self.under.setdefault(word[:count], []).append(number)

    def near(self, word: Word) -> list[int]:
        """The products with a word that begins this one or is begun by it."""
        found: list[int] = []
        for count in range(len(word)):
            found += self.at.get(word[:count], ())
        found += self.under.get(word, ())
        return found


class ClassIndex:
    """The products of one class in one list, in order.

    Attributes:
        boxes: the products.
    """

    __slots__ = ("_owners", "_resources", "_words", "boxes")

    def __init__(self, boxes: Sequence[Target]) -> None:
        self.boxes = tuple(boxes)
        self._owners: _Trie | None = None
        self._resources: _Trie | None = None
        self._words: list[tuple[Word, Word]] = []

    def near(self, verb: str, around: Target | None, without: int | None = None) -> Iterator[Target]:
        """The products that have `verb` and may overlap `around`, all that have it where that is None.

        Args:
            verb: a verb, `*` for any.
            around: a product of the same class.
            without: a position in the list that is left out.
        """
        numbers: Sequence[int] = range(len(self.boxes))
        if around is not None:
            numbers = self._nearest(around)
        for number in numbers:
            box = self.boxes[number]
            if (box.verb in (ANY_VERB, verb) or verb == ANY_VERB) and number != without:
                yield box

    def _nearest(self, around: Target) -> Sequence[int]:
        owner, resource = owner_word(around.owner), resource_word(around.resource)
        if not self._words:
            self._words = [(owner_word(b.owner), resource_word(b.resource)) for b in self.boxes]
        if len(self.boxes) <= SMALL:
            return [n for n, (o, r) in enumerate(self._words) if _agree(r, resource) and _agree(o, owner)]
        if self._owners is None or self._resources is None:
            self._owners = _Trie([owner for owner, _ in self._words])
            self._resources = _Trie([resource for _, resource in self._words])
        by_resource = self._resources.near(resource)
        by_owner = self._owners.near(owner)
        fewer, place, word = (by_owner, 1, resource) if len(by_owner) < len(by_resource) else (by_resource, 0, owner)
        return [n for n in fewer if _agree(self._words[n][place], word)]


def _agree(left: Word, right: Word) -> bool:
    size = min(len(left), len(right))
    return left[:size] == right[:size]
