"""Finds the products near another one without looking at all.

Every product fixes some words of a call at fixed places: leading owner segments, host labels from the right,
path segments before the first `**`. Each product is filed under the rarest word that it fixes. Two products
that fix different words at one place share no call, so what is filed elsewhere need not be looked at. The
answer is a superset of the products that overlap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from policyd.core.callsets.below import Below, Everything, words_of
from policyd.core.callsets.budget import Budget
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


def fixed_words(target: Target) -> tuple[Words, Words]:
    """The words of owner and resource."""
    return owner_words(target.owner), resource_words(target.resource)


_RESOURCE = 16
"""Places of resources are numbered from here on, those of owners below."""


class ClassIndex:
    """The products of one class in one list, in order.

    Attributes:
        boxes: the products.
    """

    __slots__ = ("_filed", "_words", "boxes")

    def __init__(self, boxes: Sequence[Target]) -> None:
        self.boxes = tuple(boxes)
        self._words: list[tuple[Words, Words]] = []
        self._filed: dict[str, _Filed] = {}

    def near(self, verb: str, around: Target | None, without: int | None = None) -> Iterator[Target]:
        """The products that have `verb` and may overlap `around`, all that have it where that is None.

        Args:
            verb: a verb, `*` for any.
            around: a product of the same class.
            without: a position in the list that is left out.
        """
        boxes = self.boxes
        numbers = range(len(boxes)) if around is None else self.numbers_near(verb, fixed_words(around))
        for number in numbers:
            box = boxes[number]
            if (box.verb in (ANY_VERB, verb) or verb == ANY_VERB) and number != without:
                yield box

    def numbers_near(self, verb: str, around: tuple[Words, Words], budget: Budget | None = None) -> Sequence[int]:
        """The positions of the products that have `verb` and may overlap a product with these words, in no order.

        Args:
            verb: a verb, `*` for any.
            around: as `fixed_words` gives them.
            budget: pays for every product looked at.

        Raises:
            ExhaustedError: when the budget ends first.
        """
        boxes, size = self.boxes, len(self.boxes)
        if not self._words:
            self._words = [fixed_words(b) for b in boxes]
            if size > SMALL:
                self._file()
        words = self._words
        owner, resource = around
        numbers: Sequence[int] = range(size)
        if size > SMALL:
            verbs = self._filed if verb == ANY_VERB else (ANY_VERB, verb)
            numbers = []
            for filed in (self._filed[v] for v in verbs if v in self._filed):
                for bucket in filed.around(owner, resource):
                    if budget is not None:
                        budget.spend(len(bucket))
                    numbers += bucket
        elif budget is not None:
            budget.spend(size)
        return [
            n
            for n in numbers
            if (verb == ANY_VERB or boxes[n].verb in (ANY_VERB, verb))
            and words[n][1].agrees(resource)
            and words[n][0].agrees(owner)
        ]

    def _file(self) -> None:
        """File every product by its verb, then under the rarest word that it fixes."""
        fixed = [[*_places(owner, 0), *_places(resource, _RESOURCE)] for owner, resource in self._words]
        counts = Counter(place for places in fixed for place in places)
        for number, places in enumerate(fixed):
            filed = self._filed.setdefault(self.boxes[number].verb, _Filed())
            if places:
                place, word = min(places, key=counts.__getitem__)
                filed.places.setdefault(place, {}).setdefault(word, []).append(number)
            else:
                filed.loose.append(number)


@dataclass(slots=True)
class _Filed:
    """The products of one verb, by place and word; loose ones fix no word."""

    places: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    loose: list[int] = field(default_factory=list)

    def around(self, owner: Words, resource: Words) -> Iterator[list[int]]:
        """The products that are filed under no word, or under one that does not contradict these."""
        yield self.loose
        for place, filed in self.places.items():
            words, offset = (resource, place - _RESOURCE) if place >= _RESOURCE else (owner, place)
            word = words.at[offset] if offset < len(words.at) else None
            if word is not None:
                found = filed.get(word)
                if found is not None:
                    yield found
            elif offset < len(words.at) or words.is_open:
                yield from filed.values()


def _places(words: Words, first: int) -> Iterator[tuple[int, str]]:
    for offset, word in enumerate(words.at):
        if word is not None:
            yield first + offset, word
