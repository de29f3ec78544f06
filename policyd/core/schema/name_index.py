"""Where names stand in a list of names: made once for a list, so that very wide types are compared in one pass.

Source: middleware 3.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def first_places(names: Iterable[Name]) -> dict[Name, int]:
    """The index of the first of each name.

    >>> first_places(("a", "b", "a"))
    {'a': 0, 'b': 1}
    """
    found: dict[Name, int] = {}
    for index, name in enumerate(names):
        found.setdefault(name, index)
    return found


class NameIndex:
    """The places of the names of many lists, each list indexed when it is first asked about.

    Lists are told apart by identity: hashing a list of types would read all of it every time.
    """

    def __init__(self) -> None:
        # keeps the lists, so that no id is used again
        self._known: dict[int, tuple[tuple[object, ...], dict[str, int]]] = {}

    def of(self, owner: tuple[object, ...], names: Iterable[str]) -> dict[str, int]:
        """The first place of each name.

        Args:
            owner: the list that the names are of.
            names: in its order; only read the first time.
        """
        found = self._known.get(id(owner))
        if found is None:
            found = owner, first_places(names)
            self._known[id(owner)] = found
        return found[1]
