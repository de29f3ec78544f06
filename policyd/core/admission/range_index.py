"""Ranges, of which all around a given one are found."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

_Leaf = TypeVar("_Leaf")


class RangeIndex(Generic[_Leaf]):
    """Ranges with a value each: a tree over the starts, whose nodes know the largest end below them.

    Finding costs the logarithm of the number of distinct ranges for each range that is found.
    """

    __slots__ = ("_ends", "_items", "_make", "_size", "_starts", "_tree")

    def __init__(self, make: Callable[[], _Leaf]) -> None:
        self._make = make
        self._items: dict[tuple[int, int], _Leaf] = {}
        self._starts: list[int] = []
        self._ends: list[_Leaf] = []
        self._tree: list[int] = []
        self._size = 0

    def at(self, first: int, last: int) -> _Leaf:
        """The value of exactly this range, made if it is new."""
        found = self._items.get((first, last))
        if found is None:
            found = self._items[(first, last)] = self._make()
        return found

    def freeze(self) -> None:
        """Build the tree; to be called once, when all ranges are in."""
        ordered = sorted(self._items.items(), key=lambda item: item[0])
        self._starts = [first for (first, _), _ in ordered]
        self._ends = [leaf for _, leaf in ordered]
        self._size = 1
        while self._size < len(ordered):
            self._size *= 2
        tree = [-1] * (2 * self._size)
        for i, ((_, last), _) in enumerate(ordered):
            tree[self._size + i] = last
        for i in range(self._size - 1, 0, -1):
            tree[i] = max(tree[2 * i], tree[2 * i + 1])
        self._tree = tree

    def around(self, first: int, last: int) -> Iterator[_Leaf]:
        """Every value whose range starts at or before `first` and ends at or behind `last`."""
        count = bisect_right(self._starts, first)
        if not count:
            return
        size, tree = self._size, self._tree
        waiting = [(1, 0, size)]
        while waiting:
            node, low, high = waiting.pop()
            if low >= count or tree[node] < last:
                continue
            if node >= size:
                yield self._ends[low]
                continue
            middle = (low + high) // 2
            waiting.append((2 * node + 1, middle, high))
            waiting.append((2 * node, low, middle))
