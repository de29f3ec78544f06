"""Frames: one way in which resources of calls are products of axes.

Source: cards 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from policyd.core.callsets.axes import ALL, Axis
from policyd.core.callsets.below import Below, Everything
from policyd.core.callsets.budget import check_parts
from policyd.core.grants.resources import Resource
from policyd.core.grants.resources.exact import AnyResource
from policyd.core.grants.resources.segments import STAR

Parts = tuple[object, ...]
"""One component or value per axis."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One way in which resources of calls are products.

    Attributes:
        axes: the dimensions behind the owner.
        project: the components of a resource pattern, None where it contains no value of this frame.
        build: the resource of chosen values, None where it cannot occur.
        memory: what of the values chosen so far later steps depend on besides which products contain them.
    """

    axes: tuple[Axis, ...]
    project: Callable[[Resource], Parts | None]
    build: Callable[[Parts], Resource | None]
    memory: Callable[[Parts], object] = lambda _: None


def symbol_frame(value: Resource) -> Frame:
    """A frame of one value."""
    return Frame((), lambda r: () if r.covers(value) else None, lambda _: value)


def product_frame(
    axes: Sequence[Axis],
    of: Callable[[Resource], Parts | None],
    build: Callable[[Parts], Resource | None],
    memory: Callable[[Parts], object] = lambda _: None,
) -> Frame:
    """A frame in which the pattern for everything has `ALL` everywhere."""
    everything: Parts = (ALL,) * len(axes)

    def project(resource: Resource) -> Parts | None:
        return everything if isinstance(resource, AnyResource | Everything) else of(resource)

    return Frame(tuple(axes), project, build, memory)


def starred(text: str) -> object:
    """The component of a part: `*` contains every value."""
    return ALL if text == STAR else text


def padded(words: tuple[str, ...], size: int) -> Parts | None:
    """The components of `under(…)`: its words, then anything; None if it is longer than the values."""
    return (*map(starred, words), *(ALL,) * (size - len(words))) if len(words) <= size else None


def texts_of(values: Parts) -> tuple[str, ...]:
    """Chosen values that are texts."""
    return tuple(str(v) for v in values)


def lengths_of(named: set[int], resources: Sequence[Resource], least: int) -> set[int]:
    """Which numbers of parts have to be told apart: the named ones, and unnamed ones below every query.

    Every other number lies above the same queries as one of these.
    """
    starts = {least, *(max(least, len(r.words)) for r in resources if isinstance(r, Below))}
    found = {n for n in named if n >= least}
    check_parts(max((*starts, *named)))
    for start in starts:
        while start in named:
            start += 1
        found.add(start)
    return found
