"""YAML text of policies and predicates, read into the same tree as JSON.

The grammar is that of libyaml; the scalar rules are those of the platform's reader, not those of YAML 1.1.

Source: retry 1.5; manifest-format 0.1.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import events as ev
from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # libyaml, not re-exported
from ruamel.yaml.error import YAMLError

from policyd.core.retry.errors import Label, RetryFormError

MAX_YAML_TEXT = 1_048_576
"""Longer texts are refused unread, in characters."""

MAX_YAML_DEPTH = 128
"""Deeper nesting is refused, as the platform does."""

ALIAS_FACTOR = 100
"""Aliases followed for each event of the document before it is refused."""

_TAG = "tag:yaml.org,2002:"
_NULLS = frozenset(("~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INFINITIES = frozenset((".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF"))
_NANS = frozenset((".nan", ".NaN", ".NAN"))
_INTEGER = re.compile(r"[+-]?(?:0x([0-9a-fA-F]+)|0o([0-7]+)|0b([01]+)|([0-9]+))", re.ASCII)
_FLOAT = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]+", re.ASCII)


@dataclass(slots=True)
class _Built:
    """A finished node.

    Attributes:
        value: as JSON.
        depth: levels of collections in it.
        jumps: aliases that are followed in reading it.
        key: its source text when it may be a key.
    """

    value: Any
    depth: int = 0
    jumps: int = 0
    key: str | None = None


@dataclass(slots=True)
class _Collection:
    """A collection under construction."""

    is_map: bool
    anchor: str | None
    items: list[_Built] = field(default_factory=list)

    def finish(self) -> _Built:
        depth = 1 + max((i.depth for i in self.items), default=0)
        jumps = sum(i.jumps for i in self.items)
        if not self.is_map:
            return _Built([i.value for i in self.items], depth, jumps)
        mapping: dict[str, Any] = {}
        for key, value in zip(self.items[::2], self.items[1::2], strict=True):
            if key.key is None:
                raise _refused("a collection is no key")
            mapping[key.key] = value.value
        return _Built(mapping, depth, jumps)


def _refused(message: str) -> RetryFormError:
    return RetryFormError.at(Label.YAML, (), message)


def load_yaml(text: str) -> Any:
    """Read one YAML document as the platform reads a policy or a predicate; an empty one is None.

    Raises:
        RetryFormError: RETRY128, for text that is no YAML, and for what the platform refuses: a second
            document, own tags, unfit standard tags, collections as keys, integers beyond 64 bits, bounds.
    """
    if len(text) > MAX_YAML_TEXT:
        raise _refused(f"the text is longer than {MAX_YAML_TEXT} characters")
    reader = _Reader()
    try:
        parser = CParser(text)
        while True:
            event = parser.get_event()
            reader.count += 1
            reader.take(event)
            if isinstance(event, ev.StreamEndEvent):
                break
    except (YAMLError, UnicodeError) as error:
        raise _refused("this is no YAML") from error
    if reader.result is None:
        return None
    if reader.result.jumps > ALIAS_FACTOR * reader.count:
        raise _refused(f"the aliases repeat more than {ALIAS_FACTOR} times what is written")
    return reader.result.value


class _Reader:
    """One reading of a stream of events."""

    def __init__(self) -> None:
        self.open: list[_Collection] = []
        self.anchors: dict[str, _Built] = {}
        self.result: _Built | None = None
        self.documents = 0
        self.count = 0

    def take(self, event: Any) -> None:
        """Take the next event."""
        match event:
            case ev.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise _refused("there is a second document")
            case ev.ScalarEvent():
                self.add(_scalar(event), event.anchor)
            case ev.AliasEvent():
                target = self.anchors.get(event.anchor)
                if target is None:
                    raise _refused(f"`*{event.anchor}` refers to nothing that is complete")
                self.add(_Built(target.value, target.depth, target.jumps + 1, target.key), None)
            case ev.SequenceStartEvent() | ev.MappingStartEvent():
                tag = _tag_text(event)
                if tag is not None and tag.startswith("!"):
                    raise _refused(f"the tag `{tag[:40]}` is not taken here")
                self.open.append(_Collection(isinstance(event, ev.MappingStartEvent), event.anchor))
                self.check_depth(0)
            case ev.SequenceEndEvent() | ev.MappingEndEvent():
                collection = self.open.pop()
                self.add(collection.finish(), collection.anchor)
            case _:
                pass

    def add(self, built: _Built, anchor: str | None) -> None:
        self.check_depth(built.depth)
        if anchor is not None:
            self.anchors[anchor] = built
        if self.open:
            self.open[-1].items.append(built)
        else:
            self.result = built

    def check_depth(self, below: int) -> None:
        if len(self.open) + below > MAX_YAML_DEPTH:
            raise _refused(f"the nesting is deeper than {MAX_YAML_DEPTH}")


def _tag_text(event: Any) -> str | None:
    """The tag of an event with its handle resolved."""
    tag = getattr(event, "tag", None)
    return None if tag is None else str(tag)


def _scalar(event: Any) -> _Built:
    text, tag = event.value, _tag_text(event)
    plain = not event.style
    return _Built(_Unread(text, tag, plain).read(), key=text)


@dataclass(frozen=True, slots=True)
class _Unread:
    """A scalar as written."""

    text: str
    tag: str | None
    plain: bool

    def read(self) -> Any:
        """The value of the scalar by its tag, or by its form when it is plain."""
        text, tag = self.text, self.tag
        if tag is None:
            return read_plain(text) if self.plain else text
        if tag.startswith("!"):
            raise _refused(f"the tag `{tag[:40]}` is not taken here")
        match tag.removeprefix(_TAG):
            case "bool" if text in _BOOLEANS:
                return _BOOLEANS[text]
            case "null" if text in _NULLS:
                return None
            case "int" if (number := read_integer(text)) is not None:
                return number
            case "float" if (real := read_float(text)) is not None:
                return real if math.isfinite(real) else None
            case "bool" | "null" | "int" | "float":
                raise _refused(f"`{text[:40]}` does not fit its tag")
            case _:
                return text


def read_plain(text: str) -> Any:
    """The value of a plain scalar where any value may stand.

    >>> read_plain("0x1F"), read_plain("007"), read_plain("yes"), read_plain("1."), read_plain(".inf")
    (31, '007', 'yes', 1.0, None)

    Raises:
        RetryFormError: RETRY128, for an integer beyond 64 bits that is still one of 128.

    Source: retry 1.5.
    """
    if not text or text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    number = read_integer(text)
    if number is not None:
        return number
    if not _LEADING_ZERO.fullmatch(text):
        real = read_float(text)
        if real is not None:
            return real if math.isfinite(real) else None
    return text


def read_integer(text: str) -> int | None:
    """The integer that a scalar spells; None where it is none or beyond 128 bits.

    Raises:
        RetryFormError: RETRY128, for one beyond 64 bits.
    """
    found = _INTEGER.fullmatch(text)
    if found is None or _LEADING_ZERO.fullmatch(text):
        return None
    digits = next(g for g in found.groups() if g is not None)
    base = {1: 16, 2: 8, 3: 2, 4: 10}[found.lastindex or 4]
    significant = digits.lstrip("0") or "0"
    if len(significant) > 128:
        return None
    number = int(significant, base)
    number = -number if text.startswith("-") else number
    if -(2**63) <= number < 2**64:
        return number
    if -(2**127) <= number < 2**128:
        raise _refused(f"the integer `{text[:44]}` is beyond 64 bits")
    return None


def read_float(text: str) -> float | None:
    """The number that a scalar spells; infinite and not-a-number forms too; None where it is none."""
    unsigned = text.removeprefix("+")
    if unsigned in _INFINITIES and not (text.startswith("+") and unsigned.startswith("-")):
        return -math.inf if unsigned.startswith("-") else math.inf
    if text in _NANS:
        return math.nan
    if not _FLOAT.fullmatch(unsigned) or text.startswith("+-"):
        return None
    real = float(unsigned)
    return real if math.isfinite(real) else None
