"""A set of contexts of a site in words: for each property the values that it has there.

Source: retry 8.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.retry.cells import Group
from policyd.core.retry.space import Contexts, Space
from policyd.core.retry.value import Boolean, Integer, PropertyValue

MAX_VALUES = 6
"""More values of a property are counted, not told."""


@dataclass(frozen=True, slots=True)
class Region:
    """Which calls are meant.

    Attributes:
        parts: property and its values in words, sorted; a property that makes no difference is left out.
    """

    parts: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """The region in one line.

        >>> Region((("status-code", "502 to 504"), ("verb", "GET"))).words
        'status-code 502 to 504, verb GET'
        """
        return ", ".join(f"{name} {values}" for name, values in self.parts) or "every call"


def region_of(space: Space, contexts: Contexts, known: dict[object, tuple[tuple[str, str], ...]]) -> Region:
    """The region that encloses some contexts, property by property.

    Args:
        space: the site.
        contexts: what is described.
        known: parts already put into words; grows.
    """
    parts: list[tuple[str, str]] = []
    for place, group in enumerate(space.groups):
        inside = tuple(i for i, mask in enumerate(space.cell_masks(place)) if mask & contexts)
        if len(inside) == len(group.cells):
            continue
        key = (id(group), inside)
        if key not in known:
            known[key] = tuple(_parts(group, set(inside)))
        parts += known[key]
    return Region(tuple(sorted(parts)))


def _parts(group: Group, inside: set[int]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(leaf.property for leaf in group.outcomes):
        values = group.spread or tuple((cell.get(name),) for cell in group.cells)
        have = list(dict.fromkeys(v for i, some in enumerate(values) if i in inside for v in some))
        lack = list(dict.fromkeys(v for i, some in enumerate(values) if i not in inside for v in some))
        if set(lack) <= set(have):
            continue
        yield name, _values(have, lack)


def _values(have: list[PropertyValue | None], lack: list[PropertyValue | None]) -> str:
    words = []
    numbers = sorted({v.value for v in have if isinstance(v, Integer)})
    beside = sorted({v.value for v in lack if isinstance(v, Integer)} - set(numbers))
    words += _intervals(numbers, beside)
    texts = dict.fromkeys(_text(v) for v in have if v is not None and not isinstance(v, Integer))
    words += list(texts)
    if None in have:
        words.append("missing")
    shown = words[:MAX_VALUES]
    more = f" and {len(words) - len(shown)} more" if len(words) > len(shown) else ""
    return " or ".join(shown) + more


def _text(value: PropertyValue) -> str:
    if isinstance(value, Boolean):
        return str(value.value).lower()
    return f"`{value.value}`"


def _intervals(numbers: list[int], beside: list[int]) -> list[str]:
    """Representatives as intervals: those with none between them that is outside belong together."""
    found: list[list[int]] = []
    for number in numbers:
        if found and not any(found[-1][1] < other < number for other in beside):
            found[-1][1] = number
        else:
            found.append([number, number])
    return [str(low) if low == high else f"{low} to {high}" for low, high in found]
