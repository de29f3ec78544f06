"""The node list of the component interface: trees flattened, the root first, children by index.

Source: retry 1.9, 7.2, 7.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from policyd.core.retry.duration import U32_MAX, U64_MAX
from policyd.core.retry.errors import Label, Path, RetryFormError
from policyd.core.retry.kinds import BY_WIT, Kind, Layout, Sort, kind_of
from policyd.core.retry.policy import Policy
from policyd.core.retry.predicate import Predicate
from policyd.core.retry.scalars import is_integer, is_unicode, plain_value, tag_of, write_factor
from policyd.core.retry.tree import MAX_DEPTH, Bounds, Opened, build_tree
from policyd.core.retry.value import I64_MAX, I64_MIN, Boolean, Integer, PropertyValue, Text

MAX_LIST_NODES = 4096
"""Nodes of one list, and compiled nodes of one tree with its predicates."""

MAX_PAYLOAD_BYTES = 1_048_576
"""Bytes of names, texts and patterns of one tree, with `VALUE_BYTES` for each element of a set."""

VALUE_BYTES = 16


def policy_from_nodes(nodes: object, *, compiled: bool = False) -> Policy:
    """Read a policy from its node list; a node with two parents is read twice.

    Args:
        nodes: the list as JSON.
        compiled: also refuse the parameters that a user-space schedule refuses.

    Raises:
        RetryFormError: RETRY119 to RETRY123 for the list; with `compiled` also RETRY116 to
            RETRY118 and RETRY008. The first problem met from the root.
    """
    return cast(Policy, _Decoder(compiled).read(Sort.POLICY, nodes))


def predicate_from_nodes(nodes: object) -> Predicate:
    """Read a predicate from its node list.

    Raises:
        RetryFormError: RETRY119 to RETRY123, the first problem met from the root.
    """
    return cast(Predicate, _Decoder(compiled=False).read(Sort.PREDICATE, nodes))


class _List:
    """One node list with the indexes that are open between the root and the present node."""

    def __init__(self, nodes: object, path: Path) -> None:
        if isinstance(nodes, Mapping):
            nodes = nodes.get("nodes")
        if not isinstance(nodes, list | tuple):
            raise RetryFormError.at(Label.NODES_SHAPE, path, "a list of nodes is wanted")
        if not nodes:
            raise RetryFormError.at(Label.NODES_EMPTY, path, "the list of nodes is empty")
        if len(nodes) > MAX_LIST_NODES:
            raise RetryFormError.at(Label.NODES_TOO_COMPLEX, path, f"the list has more than {MAX_LIST_NODES} nodes")
        self.nodes = nodes
        self.path = path
        self.open: set[int] = set()


class _Ref:
    """A node of a list, still to be read."""

    def __init__(self, nodes: _List, index: object) -> None:
        self.nodes, self.index = nodes, index


class _Decoder:
    """One reading of a node list."""

    def __init__(self, compiled: bool) -> None:
        self.compiled = compiled
        self.bounds = Bounds(MAX_LIST_NODES, MAX_DEPTH, Label.NODES_TOO_COMPLEX)
        self.bytes = 0

    def read(self, sort: Sort, nodes: object) -> Policy | Predicate:
        return build_tree(sort, _Ref(_List(nodes, ()), 0), (), self.open, self.field)

    def open(self, sort: Sort, document: object, path: Path, depth: int) -> Opened:
        if not isinstance(document, _Ref):
            document = _Ref(_List(document, path), 0)
        where, index = document.nodes, document.index
        if sort is Sort.POLICY:
            self.bounds.enter(depth, path)
        if not is_integer(index, 0, len(where.nodes) - 1):
            raise RetryFormError.at(Label.NODES_INDEX, path, f"index `{str(index)[:20]}` leads to no node")
        if sort is Sort.PREDICATE:
            self.bounds.enter(depth, path)
        index = cast(int, index)
        if index in where.open:
            raise RetryFormError.at(Label.NODES_CYCLE, path, f"node `{index}` is below itself")
        where.open.add(index)
        opened = self.cut(sort, where, index)
        opened.leave = lambda: where.open.discard(index)
        if self.compiled:
            _check_parameters(opened)
        return opened

    def cut(self, sort: Sort, where: _List, index: int) -> Opened:
        path: Path = (*where.path, index)
        case = where.nodes[index]
        payload: object = None
        if isinstance(case, Mapping) and len(case) == 1:
            ((case, payload),) = case.items()
        kind = BY_WIT[sort].get(case) if isinstance(case, str) else None
        if kind is None or (kind.layout is Layout.BARE) != (payload is None):
            raise RetryFormError.at(Label.NODES_SHAPE, path, f"this is no case of a {sort.value} node")
        raw = self.fields(kind, payload, (*path, kind.wit))
        places = [(*path, kind.wit, f.wit) for f in kind.fields]
        children = [
            _Ref(where, value) if field.sort is sort else value for field, value in zip(kind.fields, raw, strict=True)
        ]
        return Opened(kind, children, places)

    @staticmethod
    def fields(kind: Kind, payload: object, path: Path) -> list[object]:
        """The fields of a node as written."""
        match kind.layout:
            case Layout.BARE:
                return []
            case Layout.SINGLE:
                return [payload]
            case Layout.PAIR:
                if isinstance(payload, list | tuple) and len(payload) == 2:
                    return list(payload)
            case Layout.RECORD:
                if isinstance(payload, Mapping) and all(f.wit in payload for f in kind.fields):
                    return [payload[f.wit] for f in kind.fields]
        raise RetryFormError.at(Label.NODES_SHAPE, path, f"these are not the fields of `{kind.wit}`")

    def field(self, sort: Sort, document: object, path: Path) -> object:
        """Read a field that holds no node."""
        match sort:
            case Sort.DURATION if is_integer(document, 0, U64_MAX):
                return document
            case Sort.COUNT if is_integer(document, 0, U32_MAX):
                return document
            case Sort.FACTOR if isinstance(document, int | float) and not isinstance(document, bool):
                try:
                    return float(document)
                except OverflowError:
                    return math.inf
            case Sort.TEXT if isinstance(document, str) and is_unicode(document):
                self.charge(len(document.encode()), path)
                return document
            case Sort.VALUE:
                return self.value(document, path)
            case Sort.VALUES if isinstance(document, list | tuple):
                self.charge(VALUE_BYTES * len(document), path)
                return tuple(self.value(v, (*path, i)) for i, v in enumerate(document))
            case _:
                raise RetryFormError.at(Label.NODES_SHAPE, path, f"a {sort.value} is wanted")

    def value(self, document: object, path: Path) -> PropertyValue:
        match document:
            case {"text": str(text)} if is_unicode(text):
                self.charge(len(text.encode()), path)
                return Text(text)
            case {"integer": int(number)} if is_integer(number, I64_MIN, I64_MAX):
                return Integer(number)
            case {"boolean": bool(truth)}:
                return Boolean(truth)
            case _:
                raise RetryFormError.at(Label.NODES_SHAPE, path, "a value is `text`, `integer` or `boolean`")

    def charge(self, count: int, path: Path) -> None:
        self.bytes += count
        if self.bytes > MAX_PAYLOAD_BYTES:
            raise RetryFormError.at(Label.NODES_TOO_COMPLEX, path, f"more than {MAX_PAYLOAD_BYTES} bytes of text")


def _check_parameters(opened: Opened) -> None:
    """Refuse what a user-space schedule refuses.

    Source: retry 7.3.
    """
    fields = dict(zip((f.wit for f in opened.kind.fields), opened.raw, strict=True))
    factor, place = fields.get("factor"), opened.places[0][:-1] if opened.places else ()
    if isinstance(factor, int | float) and not isinstance(factor, bool):
        is_jitter = opened.kind.name == "Jitter"
        if isinstance(factor, float) and not math.isfinite(factor):
            raise RetryFormError.at(Label.FACTOR_NOT_FINITE, place, "the factor is not finite")
        if not is_jitter and factor <= 0:
            raise RetryFormError.at(Label.EXPONENTIAL_FACTOR, place, "the factor is not above 0")
        if is_jitter and factor < 0:
            raise RetryFormError.at(Label.JITTER_FACTOR, place, "the factor is below 0")
    low, high = fields.get("min-delay"), fields.get("max-delay")
    if isinstance(low, int) and isinstance(high, int) and low > high:
        raise RetryFormError.at(Label.CLAMP_RANGE, place, "the smallest delay is above the largest")


def write_nodes(root: Policy | Predicate) -> list[Any]:
    """The node list of a tree: depth first, parents before children, left before right.

    Source: retry 1.9.
    """
    out: list[Any] = []
    kind = kind_of(root)
    # Each entry is a node and where its index goes: a form and the key in it.
    pending: list[tuple[Policy | Predicate, Any, Any]] = [(root, None, None)]
    while pending:
        node, form, key = pending.pop()
        if form is not None:
            form[key] = len(out)
        kind = kind_of(node)
        out.append(_write_node(kind, kind.parts(node), pending))
    return out


def _write_node(kind: Kind, parts: tuple[Any, ...], pending: list[tuple[Policy | Predicate, Any, Any]]) -> Any:
    """The form of one node; its children are put on `pending`, the leftmost on top."""
    match kind.layout:
        case Layout.BARE:
            return kind.wit
        case Layout.SINGLE:
            form: Any = {kind.wit: None}
            slots: list[tuple[Any, Any]] = [(form, kind.wit)]
        case Layout.PAIR:
            pair = [None, None]
            form, slots = {kind.wit: pair}, [(pair, 0), (pair, 1)]
        case Layout.RECORD:
            record: dict[str, Any] = {}
            form, slots = {kind.wit: record}, [(record, f.wit) for f in kind.fields]
    below = []
    for field, part, (holder, key) in zip(kind.fields, parts, slots, strict=True):
        holder[key] = None
        if field.sort is kind.sort:
            below.append((part, holder, key))
        elif field.sort is Sort.PREDICATE:
            holder[key] = {"nodes": write_nodes(part)}
        else:
            holder[key] = _write_field(field.sort, part)
    pending.extend(reversed(below))
    return form


def _write_field(sort: Sort, part: Any) -> Any:
    match sort:
        case Sort.DURATION:
            return min(part, U64_MAX)
        case Sort.FACTOR:
            return write_factor(part)
        case Sort.VALUE:
            return {tag_of(part): plain_value(part)}
        case Sort.VALUES:
            return [{tag_of(v): plain_value(v)} for v in part]
        case _:
            return part
