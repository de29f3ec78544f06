"""How middleware lists are folded into one chain.

Source: middleware 2.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class ListMode(Enum):
    """How an owner's list meets the list that is there; the value is the manifest's word."""

    PREPEND = "prepend"
    APPEND = "append"
    REPLACE = "replace"


def folded(environment: Iterable[T] | None, owners: Iterable[tuple[Iterable[T] | None, ListMode]]) -> tuple[T, ...]:
    """The per-tool chain, outermost first.

    Args:
        environment: the list of the environment's binding; None where there is none.
        owners: the lists of the component and of the agent type, in that order; an omitted one (None) leaves what is
            there, also with `replace`.

    >>> folded(["a"], [(["b"], ListMode.PREPEND)]), folded(["a"], [(None, ListMode.REPLACE)])
    (('b', 'a'), ('a',))
    """
    found = tuple(environment or ())
    for listed, mode in owners:
        if listed is None:
            continue
        own = tuple(listed)
        match mode:
            case ListMode.PREPEND:
                found = (*own, *found)
            case ListMode.APPEND:
                found = (*found, *own)
            case ListMode.REPLACE:
                found = own
    return found
