"""The API form: what a deployment request and the public operation log carry, durations in whole milliseconds.

Source: retry 1.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from policyd.core.retry.duration import U64_MAX
from policyd.core.retry.errors import Label, Path, RetryFormError
from policyd.core.retry.kinds import BY_NAME, Kind, Sort
from policyd.core.retry.policy import NamedPolicy, Policy
from policyd.core.retry.predicate import Predicate
from policyd.core.retry.scalars import is_integer, plain_value, read_text, tag_of, write_factor
from policyd.core.retry.scalars import read_count as _count
from policyd.core.retry.scalars import read_factor as _factor
from policyd.core.retry.tree import Bounds, Opened, build_tree, fold_tree
from policyd.core.retry.value import I64_MAX, I64_MIN, Boolean, Integer, PropertyValue, Text

_MS = 1_000_000


def policy_from_api(document: object, path: Path = ()) -> Policy:
    """Read a policy of the API form; unknown fields are ignored.

    Raises:
        RetryFormError: RETRY124, with the place.
    """
    return cast(Policy, _from_api(Sort.POLICY, document, path))


def predicate_from_api(document: object, path: Path = ()) -> Predicate:
    """Read a predicate of the API form; unknown fields are ignored.

    Raises:
        RetryFormError: RETRY124, with the place.
    """
    return cast(Predicate, _from_api(Sort.PREDICATE, document, path))


def _from_api(sort: Sort, document: object, path: Path) -> Policy | Predicate:
    bounds = Bounds()

    def open_node(sort: Sort, document: object, path: Path, depth: int) -> Opened:
        bounds.enter(depth, path)
        if not isinstance(document, Mapping):
            raise _wrong(path, f"a {sort.value} is an object")
        tag = document.get("type")
        kind = BY_NAME[sort].get(tag) if isinstance(tag, str) else None
        if kind is None:
            raise _wrong(path, f"`type` names no kind of {sort.value}")
        for field in kind.fields:
            if field.api not in document:
                raise _wrong(path, f"the field `{field.api}` is missing")
        return Opened(kind, [document[f.api] for f in kind.fields], [(*path, f.api) for f in kind.fields])

    return build_tree(sort, document, path, open_node, _read_field)


def _wrong(path: Path, message: str) -> RetryFormError:
    return RetryFormError.at(Label.API_SHAPE, path, message)


def _read_field(sort: Sort, document: object, path: Path) -> object:
    match sort:
        case Sort.DURATION:
            if is_integer(document, 0, U64_MAX):
                return cast(int, document) * _MS
            raise _wrong(path, "an integer number of milliseconds is wanted")
        case Sort.FACTOR:
            return _factor(document, path, Label.API_SHAPE)
        case Sort.COUNT:
            return _count(document, path, Label.API_SHAPE)
        case Sort.TEXT:
            return read_text(document, path, Label.API_SHAPE)
        case Sort.VALUE:
            return _read_value(document, path)
        case _:
            if not isinstance(document, list | tuple):
                raise _wrong(path, "`values` is an array")
            return tuple(_read_value(v, (*path, i)) for i, v in enumerate(document))


def _read_value(document: object, path: Path) -> PropertyValue:
    match document:
        case {"type": "Text", "value": str(text)}:
            return Text(read_text(text, path, Label.API_SHAPE))
        case {"type": "Integer", "value": int(number)} if is_integer(number, I64_MIN, I64_MAX):
            return Integer(number)
        case {"type": "Boolean", "value": bool(truth)}:
            return Boolean(truth)
        case _:
            raise _wrong(path, "a value is an object with `type` and `value`")


def floored_ms(ns: int) -> int:
    """The whole milliseconds that the API form carries for a duration; larger ones wrap around.

    Source: retry 1.7.
    """
    return (ns // _MS) % (U64_MAX + 1)


def write_api(node: Policy | Predicate) -> dict[str, Any]:
    """The API form of a tree."""
    return cast(dict[str, Any], fold_tree(node, _write_node, _write_field))


def _write_node(kind: Kind, forms: tuple[Any, ...]) -> dict[str, Any]:
    return {"type": kind.name, **{f.api: form for f, form in zip(kind.fields, forms, strict=True)}}


def _write_field(sort: Sort, part: Any) -> Any:
    match sort:
        case Sort.DURATION:
            return floored_ms(part)
        case Sort.FACTOR:
            return write_factor(part)
        case Sort.VALUE:
            return _write_value(part)
        case Sort.VALUES:
            return [_write_value(v) for v in part]
        case _:
            return part


def _write_value(value: PropertyValue) -> dict[str, Any]:
    return {"type": tag_of(value).capitalize(), "value": plain_value(value)}


def through_manifest(rule: NamedPolicy) -> NamedPolicy:
    """The rule that is in force after a deployment: every duration floored to whole milliseconds.

    Source: retry 1.6.
    """
    return NamedPolicy(rule.name, rule.priority, rule.selector, policy_from_api(write_api(rule.policy)))
