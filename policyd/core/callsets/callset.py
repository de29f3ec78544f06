"""Sets of calls as Boolean combinations of products.

A product is a target pattern: it contains the calls that it covers. Because coverage is always by one
grant alone, a union of products contains exactly the calls that one of them covers, symbolic requests
included. All wallets, ceilings, queries and their differences are combinations of such unions.

Source: questions 2; cards 4.3, 5.2; style 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import assert_never

from policyd.core.callsets.formula import FALSE, TRUE, Formula, all_of, any_of, not_of
from policyd.core.callsets.index import ClassIndex
from policyd.core.grants import Target


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """The calls that one of these target patterns covers.

    Attributes:
        boxes: 0..n patterns of any classes.
        without: the position of a pattern that does not count, None where all do.
    """

    boxes: tuple[Target, ...]
    without: int | None = None
    _classes: dict[str, tuple[ClassIndex, list[int]]] = field(default_factory=dict, repr=False)

    def of_class(self, name: str) -> tuple[ClassIndex, list[int]] | None:
        """The patterns of a class and their positions, None where there are none; sorted out once."""
        if not self._classes and self.boxes:
            found: dict[str, list[int]] = {}
            for number, box in enumerate(self.boxes):
                found.setdefault(box.cls.name, []).append(number)
            for cls, numbers in found.items():
                self._classes[cls] = (ClassIndex([self.boxes[n] for n in numbers]), numbers)
        return self._classes.get(name)

    @property
    def classes(self) -> Set[str]:
        """The names of the classes of the patterns."""
        self.of_class("")
        return self._classes.keys()

    def lacking(self, position: int) -> Products:
        """The same without one pattern; what was sorted out is shared."""
        self.of_class("")
        return Products(self.boxes, position, self._classes)


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """The calls of any part; none for no parts."""

    parts: tuple[CallSet, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Intersection:
    """The calls of all parts; all calls for no parts."""

    parts: tuple[CallSet, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Complement:
    """The calls that the part does not contain."""

    part: CallSet


CallSet = Products | Union | Intersection | Complement

NO_CALLS: CallSet = Union(())
ALL_CALLS: CallSet = Intersection(())


def calls_of(targets: Iterable[Target]) -> CallSet:
    """The calls that any of these targets or target patterns covers."""
    return Products(tuple(targets))


def minus(calls: CallSet, others: CallSet) -> CallSet:
    """The calls of the first set that are not in the second."""
    return Intersection((calls, Complement(others)))


def contains(calls: CallSet, target: Target) -> bool:
    """Whether one call belongs to the set, tried product by product."""
    match calls:
        case Products(boxes, without):
            return any(box.covers(target) for n, box in enumerate(boxes) if n != without)
        case Union(parts):
            return any(contains(part, target) for part in parts)
        case Intersection(parts):
            return all(contains(part, target) for part in parts)
        case Complement(part):
            return not contains(part, target)
        case _:
            assert_never(calls)


def classes_named(calls: CallSet) -> Set[str] | None:
    """Names of classes outside which the set has no call, None where any class may have one."""
    match calls:
        case Products():
            return calls.classes
        case Union(parts):
            each = [classes_named(part) for part in parts]
            known = [names for names in each if names is not None]
            return frozenset().union(*known) if len(known) == len(each) else None
        case Intersection(parts):
            fewest: Set[str] | None = None
            for part in parts:
                names = classes_named(part)
                if names is not None and (fewest is None or len(names) < len(fewest)):
                    fewest = names
                if fewest is not None and len(fewest) <= 1:  # it does not get better
                    break
            return fewest
        case Complement():
            return None
        case _:
            assert_never(calls)


def within_class(calls: CallSet, name: str) -> CallSet:
    """The same set among the calls of one class, without the products of others; done once per class."""
    match calls:
        case Products(_, without):
            indexed = calls.of_class(name)
            if indexed is None:
                return NO_CALLS
            index, numbers = indexed
            place = numbers.index(without) if without in numbers else None
            return Products(index.boxes, place, {name: (index, list(range(len(index.boxes))))})
        case Union(parts):
            return _union([within_class(part, name) for part in parts])
        case Intersection(parts):
            found = []
            for part in parts:
                inner = within_class(part, name)
                if inner is NO_CALLS:  # what follows cannot add anything
                    return NO_CALLS
                found.append(inner)
            return _intersection(found)
        case Complement(part):
            inner = within_class(part, name)
            return ALL_CALLS if inner is NO_CALLS else NO_CALLS if inner is ALL_CALLS else Complement(inner)
        case _:
            assert_never(calls)


def _union(parts: Sequence[CallSet]) -> CallSet:
    if any(part is ALL_CALLS for part in parts):
        return ALL_CALLS
    kept = [part for part in parts if part is not NO_CALLS]
    return NO_CALLS if not kept else kept[0] if len(kept) == 1 else Union(tuple(kept))


def _intersection(parts: Sequence[CallSet]) -> CallSet:
    if any(part is NO_CALLS for part in parts):
        return NO_CALLS
    kept = [part for part in parts if part is not ALL_CALLS]
    return ALL_CALLS if not kept else kept[0] if len(kept) == 1 else Intersection(tuple(kept))


def formula_of(calls: CallSet, name: str, verb: str, around: Target | None, boxes: list[Target]) -> Formula:
    """The formula of a set near a product; the products it speaks of are appended to `boxes`.

    Args:
        calls: a set as `within_class` gives it.
        name: the class.
        verb: a concrete verb.
        around: the product inside which the formula will be asked, None for everywhere.
        boxes: bit `n` of the formula stands for `boxes[n]`.
    """
    match calls:
        case Products(_, without):
            found = calls.of_class(name)
            if found is None:
                return FALSE
            first = len(boxes)
            boxes.extend(found[0].near(verb, around, without))
            return ((1 << len(boxes)) - 1) ^ ((1 << first) - 1)
        case Union(parts):
            return any_of(formula_of(part, name, verb, around, boxes) for part in parts)
        case Intersection(parts):
            return all_of(formula_of(part, name, verb, around, boxes) for part in parts)
        case Complement(part):
            inner = formula_of(part, name, verb, around, boxes)
            return TRUE if inner == 0 else not_of(inner)
        case _:
            assert_never(calls)
