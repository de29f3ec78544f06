"""Values that are kept while they are asked for.

Keys name the contents (a digest, a stamp), so that nothing kept is ever out of date.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import TypeVar, cast

_Value = TypeVar("_Value")


class Recent:
    """Values made once and kept while they are asked for; the longest unused go first.

    Attributes:
        hits, misses: how often a value was at hand, and how often it was not.
    """

    def __init__(self, room: int) -> None:
        """Keep values whose weights come to `room` at most; the newest one is kept in any case."""
        self._room = room
        self._kept: OrderedDict[object, tuple[object, int]] = OrderedDict()
        self._making: dict[object, Future[object]] = {}
        self._weight = 0
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def get(self, key: object, make: Callable[[], _Value], weight: Callable[[_Value], int]) -> _Value:
        """The value of `key`, made by `make` if it is not at hand; who asks meanwhile waits for it.

        Args:
            key: equal keys must make equal values.
            make: makes the value; what it raises, all who wait get.
            weight: how much room the value takes.
        """
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                self.hits += 1
                return cast("_Value", kept[0])
            self.misses += 1
            waiting = self._making.get(key)
            mine: Future[object] | None = None
            if waiting is None:
                mine = self._making[key] = Future()
        if mine is None:
            assert waiting is not None  # somebody makes it, or we do
            return cast("_Value", waiting.result())
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                del self._making[key]
            mine.set_exception(error)
            raise
        self._keep(key, value, 1 + weight(value))
        mine.set_result(value)
        return value

    def kept(self, key: object) -> object | None:
        """The value of `key` if it is at hand; nothing is made and nobody is waited for."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            self.hits += 1
            return found[0]

    def _keep(self, key: object, value: object, size: int) -> None:
        with self._lock:
            self._making.pop(key, None)
            self._kept[key] = (value, size)
            self._weight += size
            while self._weight > self._room and len(self._kept) > 1:
                _, (_, gone) = self._kept.popitem(last=False)
                self._weight -= gone

    def values(self) -> tuple[object, ...]:
        """What is kept, the longest unused first."""
        with self._lock:
            return tuple(value for value, _ in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)
