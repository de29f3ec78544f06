"""Finds the products near another one without looking at all.

Every product fixes some words of a call at fixed places: leading owner segments, host labels from the right,
path segments before the first `**`. Each product is filed under the rarest word that it fixes. Two products
that fix different words at one place share no call, so what is filed elsewhere need not be looked at. The
answer is a superset of the products that overlap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policyd.core.callsets.below import Below, Everything, words_of
from policyd.core.grants import ANY_VERB, Owner, OwnerKind, Target
from policyd.core.grants.resources import CardTarget, FilePath, Invocation, NetworkResource, OplogRange, Resource
from policyd.core.grants.resources.exact import AnyResource, NoResource
from policyd.core.grants.resources.segments import GLOBSTAR, STAR

SMALL = 24
"""Up to so many products are simply compared one by one."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a product fixes of one part of a call.

    Attributes:
        at: the word at each place, None where any word may stand.
        is_open: whether further words may follow behind the last place.
    """

    at: tuple[str | None, ...]
    is_open: bool

    def agrees(self, other: Words) -> bool:
        """Whether some call may have the words of both.

        >>> Words(("a", None), False).agrees(Words(("a",), True)), Words(("a",), False).agrees(Words(("a", "b"), True))
        (True, False)
        """
        if len(self.at) > len(other.at) and not other.is_open:
            return False
        if len(other.at) > len(self.at) and not self.is_open:
            return False
        return all(a is None or b is None or a == b for a, b in zip(self.at, other.at, strict=False))


_ANYTHING = Words((), True)


def owner_words(owner: Owner) -> Words:
    """The words of an owner; an agent id counts as its type, then itself."""
    known = owner.known
    if len(known) < 5 or owner.kind is not OwnerKind.AGENT:
        return Words(known, True)
    name = known[4].partition("(")[0]
    return Words((*known[:4], name), True) if owner.is_type_wildcard else Words((*known[:4], name, known[4]), True)


def resource_words(resource: Resource) -> Words:
    """The words of a resource."""
    match resource:
        case AnyResource() | Everything() | NoResource() | OplogRange():
            return _ANYTHING
        case CardTarget(recipient):
            return Words(recipient.known, True)
        case Invocation():
            return Words((resource.text,), False)
        case Below(words):
            return Words(tuple(None if w == STAR else w for w in words), True)
        case NetworkResource(host) if host == STAR:
            return _ANYTHING
        case FilePath(segments):
            count = segments.index(GLOBSTAR) if GLOBSTAR in segments else len(segments)
            return Words(tuple(None if s == STAR else s for s in segments[:count]), count < len(segments))
        case _:
            words = words_of(resource)
            if words[:1] == (GLOBSTAR,):
                return _ANYTHING  # a key of any length; a store of this name is only looked at too often
            return Words(tuple(None if w in (STAR, GLOBSTAR) else w for w in words), False)


_RESOURCE = 16
"""Places of resources are numbered from here on, those of owners below."""


class ClassIndex:
    """The products of one class in one list, in order.

    Attributes:
        boxes: the products.
    """

    __slots__ = ("_filed", "_loose", "_words", "boxes")

    def __init__(self, boxes: Sequence[Target]) -> None:
        self.boxes = tuple(boxes)
        self._words: list[tuple[Words, Words]] = []
        self._filed: dict[int, dict[str, list[int]]] = {}
        self._loose: list[int] = []

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
        owner, resource = owner_words(around.owner), resource_words(around.resource)
        if not self._words:
            self._words = [(owner_words(b.owner), resource_words(b.resource)) for b in self.boxes]
            if len(self.boxes) > SMALL:
                self._file()
        numbers: Sequence[int] = range(len(self.boxes))
        if len(self.boxes) > SMALL:
            numbers = [*self._loose, *self._found(owner, 0), *self._found(resource, _RESOURCE)]
        words = self._words
        return [n for n in numbers if words[n][1].agrees(resource) and words[n][0].agrees(owner)]

    def _file(self) -> None:
        fixed = [[*_places(owner, 0), *_places(resource, _RESOURCE)] for owner, resource in self._words]
        counts = Counter(place for places in fixed for place in places)
        for number, places in enumerate(fixed):
            if places:
                place, word = min(places, key=counts.__getitem__)
                self._filed.setdefault(place, {}).setdefault(word, []).append(number)
            else:
                self._loose.append(number)

    def _found(self, words: Words, first: int) -> Iterator[int]:
        """The products filed under a word that does not contradict `words`."""
        for place, filed in self._filed.items():
            offset = place - first
            if not 0 <= offset < _RESOURCE and not (first and offset >= 0):
                continue
            word = words.at[offset] if offset < len(words.at) else None
            if word is not None:
                yield from filed.get(word, ())
            elif offset < len(words.at) or words.is_open:
                for numbers in filed.values():
                    yield from numbers


def _places(words: Words, first: int) -> Iterator[tuple[int, str]]:
    for offset, word in enumerate(words.at):
        if word is not None:
            yield first + offset, word
