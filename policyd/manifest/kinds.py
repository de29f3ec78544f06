"""The vocabulary in which the structures of a manifest are described.

The expected type decides what a scalar means, so a structure is a table of such kinds.

Source: manifest-format 0.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True, eq=False)
class NameRule:
    """What a name must look like, and how to say so."""

    noun: str
    pattern: re.Pattern[str]
    says: str

    def holds(self, name: str) -> bool:
        """Whether `name` follows the rule."""
        return self.pattern.fullmatch(name) is not None


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A text; a plain scalar is taken as written."""

    rule: NameRule | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Flag:
    """A boolean, never quoted."""


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """Only the literal `true`."""


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """An integer from `low` to `high`, never quoted."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of some texts."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Free:
    """Any value; `only_map` where it has to be a map, `was_list` where older documents have a list."""

    only_map: bool = False
    was_list: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Many:
    """A list of `item`."""

    item: Kind


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """A map by name; the last of repeated names counts.

    Attributes:
        value: what stands under each name.
        rule: what the names must look like.
        special: names with a meaning of their own.
        was_list: whether older documents have a list here.
    """

    value: Kind
    rule: NameRule | None = None
    special: Mapping[str, Field] = field(default_factory=dict)
    was_list: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One key of a fixed structure.

    Attributes:
        kind: what stands there.
        required: whether it must be given.
        since: the switch under whose newer value the key exists, `edition` for edition `next`; empty for always.
        until: the switch under whose newer value the key is gone.
        refused: why the loader refuses it although the schema has it; empty for not at all.
        gone_in: the manifest version that no longer has it.
        only_in: the manifest version in whose older form alone it stands.
    """

    kind: Kind
    required: bool = False
    since: str = ""
    until: str = ""
    refused: str = ""
    gone_in: str = ""
    only_in: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """A fixed structure: unknown and repeated keys are refused.

    Attributes:
        noun: what messages call it.
        fields: its keys.
        exactly_one: groups of keys of which exactly one has to be given.
        at_most_one: groups of keys of which two together are refused.
        some_of: keys of which one should be given (a warning).
    """

    noun: str
    fields: Mapping[str, Field]
    exactly_one: tuple[tuple[str, ...], ...] = ()
    at_most_one: tuple[tuple[str, ...], ...] = ()
    some_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ByKey:
    """One of several fixed structures, told apart by a key that only it has; the last one else."""

    options: Mapping[str, Fields]


@dataclass(frozen=True, slots=True, eq=False)
class ByTag:
    """One of several fixed structures, told apart by the text under `key`; scalars are typed first."""

    noun: str
    key: str
    options: Mapping[str, Fields]


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Text, list or map: the scalar is typed before the shape is chosen.

    Attributes:
        says: what is wanted, for messages.
        words: the only texts allowed; empty for any.
        text: whether a text is a shape at all.
        items: the shape of a list's items.
        structure: the shape of a map.
        not_items: texts that may not stand in the list.
    """

    says: str
    words: tuple[str, ...] = ()
    text: bool = True
    items: Kind | None = None
    structure: Fields | ByKey | None = None
    not_items: tuple[str, ...] = ()


Kind: TypeAlias = Text | Flag | Marker | Whole | Choice | Free | Many | Names | Fields | ByKey | ByTag | Shapes
"""Anything that may be wanted somewhere."""
