"""The canonical form: policies, predicates and rules as manifests, the REST interface and the command line write them.

Reads decoded JSON or YAML (mappings with text keys, lists, texts, numbers, truth values, null).

Source: retry 1.5, 1.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from policyd.core.retry.errors import Label, Path, RetryFormError
from policyd.core.retry.kinds import BY_CANONICAL, Field, Kind, Layout, Sort
from policyd.core.retry.policy import NamedPolicy, Policy
from policyd.core.retry.predicate import Predicate
from policyd.core.retry.scalars import (
    plain_value,
    read_count,
    read_duration,
    read_factor,
    read_text,
    read_value,
    write_duration,
    write_factor,
)
from policyd.core.retry.tree import Bounds, Opened, build_tree, fold_tree

_KIND_LABEL = {Sort.POLICY: Label.POLICY_KIND, Sort.PREDICATE: Label.PREDICATE_KIND}
_SHAPE_LABEL = {Sort.POLICY: Label.POLICY_SHAPE, Sort.PREDICATE: Label.PREDICATE_SHAPE}
_BARE = {
    Sort.POLICY: ("immediate", "never"),
    Sort.PREDICATE: ("true", "false"),
}
RULE_KEYS = ("name", "priority", "predicate", "policy")
MANIFEST_RULE_KEYS = RULE_KEYS[1:]


def read_policy(document: object, path: Path = ()) -> Policy:
    """Read a policy.

    Args:
        document: decoded JSON or YAML.
        path: where it stands, for the errors.

    Raises:
        RetryFormError: the first error met, with its place.
    """
    return cast(Policy, _read(Sort.POLICY, document, path))


def read_predicate(document: object, path: Path = ()) -> Predicate:
    """Read a predicate.

    Raises:
        RetryFormError: the first error met, with its place.
    """
    return cast(Predicate, _read(Sort.PREDICATE, document, path))


def _read(sort: Sort, document: object, path: Path) -> Policy | Predicate:
    bounds = Bounds()

    def open_node(sort: Sort, document: object, path: Path, depth: int) -> Opened:
        bounds.enter(depth, path)
        return _open(sort, document, path)

    return build_tree(sort, document, path, open_node, read_field)


def _open(sort: Sort, document: object, path: Path) -> Opened:
    """Find the kind of a node and cut its payload into fields."""
    if isinstance(document, bool) and sort is Sort.PREDICATE:
        document = "true" if document else "false"
    if isinstance(document, str):
        if document in _BARE[sort]:
            return Opened(BY_CANONICAL[sort][document], (), ())
        raise RetryFormError.at(_KIND_LABEL[sort], path, f"`{document[:40]}` is no {sort.value} by itself")
    if not isinstance(document, Mapping) or len(document) != 1:
        raise RetryFormError.at(_SHAPE_LABEL[sort], path, f"a {sort.value} is an object with exactly one key")
    (key,) = document
    kind = BY_CANONICAL[sort].get(key) if isinstance(key, str) else None
    if kind is None or kind.layout is Layout.BARE:
        raise RetryFormError.at(_KIND_LABEL[sort], path, f"`{str(key)[:40]}` is no kind of {sort.value}")
    return _cut(kind, document[key], (*path, kind.canonical))


def _cut(kind: Kind, payload: object, path: Path) -> Opened:
    if kind.name == "PropExists":
        return _cut_exists(kind, payload, path)
    if kind.layout is Layout.SINGLE:
        return Opened(kind, (payload,), (path,))
    count = len(kind.fields)
    if isinstance(payload, list | tuple) and len(payload) == count:
        return Opened(kind, payload, [(*path, i) for i in range(count)])
    if kind.layout is Layout.PAIR:
        raise RetryFormError.at(Label.PAIR, path, f"`{kind.canonical}` takes an array of exactly two")
    if not isinstance(payload, Mapping):
        names = ", ".join(f"`{f.canonical}`" for f in kind.fields)
        raise RetryFormError.at(Label.PAYLOAD, path, f"`{kind.canonical}` takes an object with {names}")
    found = [_member(payload, f, path) for f in kind.fields]
    return Opened(kind, [value for value, _ in found], [place for _, place in found])


def _cut_exists(kind: Kind, payload: object, path: Path) -> Opened:
    match payload:
        case str():
            return Opened(kind, (payload,), (path,))
        case {"property": str(name)}:
            return Opened(kind, (name,), ((*path, "property"),))
        case _:
            message = "`propExists` takes a text, or an object with the text `property`"
            raise RetryFormError.at(Label.EXISTS, path, message)


def _member(payload: Mapping[Any, object], field: Field, path: Path) -> tuple[object, Path]:
    """The value of a field by its name or by its alias, never both."""
    named, aliased = field.canonical in payload, bool(field.alias) and field.alias in payload
    if named and aliased:
        raise RetryFormError.at(Label.PAYLOAD, path, f"`{field.canonical}` and `{field.alias}` are the same field")
    if not named and not aliased:
        raise RetryFormError.at(Label.PAYLOAD, path, f"the field `{field.canonical}` is missing")
    key = field.canonical if named else field.alias
    return payload[key], (*path, key)


def read_field(sort: Sort, document: object, path: Path) -> object:
    """Read a field of the canonical form that holds no node."""
    match sort:
        case Sort.DURATION:
            return read_duration(document, path)
        case Sort.FACTOR:
            return read_factor(document, path)
        case Sort.COUNT:
            return read_count(document, path)
        case Sort.TEXT:
            return read_text(document, path)
        case Sort.VALUE:
            return read_value(document, path)
        case _:
            if not isinstance(document, list | tuple):
                raise RetryFormError.at(Label.PAYLOAD, path, "`values` is an array")
            return tuple(read_value(v, (*path, i)) for i, v in enumerate(document))


def read_rule(document: object, path: Path = ()) -> NamedPolicy:
    """Read a rule as the REST interface and agent configuration carry it; unknown keys are ignored.

    Raises:
        RetryFormError: the first error met, with its place.
    """
    if isinstance(document, list | tuple) and len(document) == len(RULE_KEYS):
        document = dict(zip(RULE_KEYS, document, strict=True))
    if not isinstance(document, Mapping):
        raise RetryFormError.at(Label.PAYLOAD, path, "a rule is an object")
    for key in RULE_KEYS:
        if key not in document:
            raise RetryFormError.at(Label.PAYLOAD, path, f"the field `{key}` is missing")
    return NamedPolicy(
        read_text(document["name"], (*path, "name")),
        read_count(document["priority"], (*path, "priority")),
        read_predicate(document["predicate"], (*path, "predicate")),
        read_policy(document["policy"], (*path, "policy")),
    )


def read_manifest_rule(name: str, document: object, path: Path = ()) -> NamedPolicy:
    """Read the body of a rule in a manifest, where the three keys are all there may be.

    Raises:
        RetryFormError: RETRY112 for a key too many or too few, else the first error met.

    Source: retry 1.6.
    """
    if not isinstance(document, Mapping):
        raise RetryFormError.at(Label.RULE_FIELD, path, "a rule has `priority`, `predicate` and `policy`")
    for key in document:
        if key not in MANIFEST_RULE_KEYS:
            raise RetryFormError.at(Label.RULE_FIELD, (*path, str(key)), f"unknown key `{str(key)[:40]}` of a rule")
    for key in MANIFEST_RULE_KEYS:
        if key not in document:
            raise RetryFormError.at(Label.RULE_FIELD, path, f"the key `{key}` of the rule is missing")
    return read_rule({**document, "name": name}, path)


def write_canonical(node: Policy | Predicate) -> Any:
    """The canonical form: durations as `{secs, nanos}`, values as plain JSON.

    Source: retry 1.5.
    """
    return fold_tree(node, _write_node, _write_field)


def _write_node(kind: Kind, forms: tuple[Any, ...]) -> Any:
    match kind.layout:
        case Layout.BARE:
            return kind.canonical if kind.sort is Sort.POLICY else kind.name == "True"
        case Layout.SINGLE:
            return {kind.canonical: forms[0]}
        case Layout.PAIR:
            return {kind.canonical: list(forms)}
        case Layout.RECORD:
            return {kind.canonical: {f.canonical: form for f, form in zip(kind.fields, forms, strict=True)}}


def _write_field(sort: Sort, part: Any) -> Any:
    match sort:
        case Sort.DURATION:
            return write_duration(part)
        case Sort.FACTOR:
            return write_factor(part)
        case Sort.VALUE:
            return plain_value(part)
        case Sort.VALUES:
            return [plain_value(v) for v in part]
        case _:
            return part


def write_rule(rule: NamedPolicy) -> dict[str, Any]:
    """The canonical form of a rule."""
    return {
        "name": rule.name,
        "priority": rule.priority,
        "predicate": write_canonical(rule.selector),
        "policy": write_canonical(rule.policy),
    }
