"""Values that are kept while they are asked for.

Keys name the contents (a digest, a stamp), so that nothing kept is ever out of date.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

_Value = TypeVar("_Value")


class Recent:
    """Values made once and kept while they are asked for; the longest unused go first.

    Args:
        room: the sum of the weights that are kept.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept: OrderedDict[object, tuple[object, int]] = OrderedDict()
        self._weight = 0
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def get(self, key: object, make: Callable[[], _Value], weight: Callable[[_Value], int]) -> _Value:
        """The value of `key`, made by `make` if it is not at hand; equal keys must make equal values."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                self.hits += 1
                return kept[0]  # type: ignore[return-value]  # a key is always asked for with one type
            self.misses += 1
        value = make()
        size = 1 + weight(value)
        with self._lock:
            before = self._kept.pop(key, None)
            self._weight += size - (before[1] if before is not None else 0)
            self._kept[key] = (value, size)
            while self._weight > self._room and len(self._kept) > 1:
                _, (_, gone) = self._kept.popitem(last=False)
                self._weight -= gone
        return value

    def __len__(self) -> int:
        return len(self._kept)
