"""The kinds of nodes as a table: their names and fields in every form.

All forms of policies and predicates are read and written from these rows.

Source: retry 1.2, 1.3, 1.5, 1.7, 1.9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from typing import Any

from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q


class Sort(Enum):
    """What a field holds."""

    DURATION = "duration"
    FACTOR = "number"
    COUNT = "count"
    TEXT = "text"
    VALUE = "value"
    VALUES = "values"
    POLICY = "policy"
    PREDICATE = "predicate"

    @property
    def is_tree(self) -> bool:
        """Whether the field holds another node."""
        return self in (Sort.POLICY, Sort.PREDICATE)


class Layout(Enum):
    """How the canonical form and the node list carry the fields of a node."""

    BARE = "a name alone"
    SINGLE = "the only field itself"
    PAIR = "an array of the two fields"
    RECORD = "an object"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a kind.

    Attributes:
        sort: what it holds.
        canonical: its name in the canonical form.
        alias: a second name that the canonical form takes on input.
        api: its name in the API form.
        wit: its name in the node list.
    """

    sort: Sort
    canonical: str
    alias: str
    api: str
    wit: str


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of node.

    Attributes:
        name: as the rules and the API form spell it.
        canonical: its key in the canonical form.
        wit: its case in the node list.
        sort: policy or predicate.
        layout: how its fields are carried.
        fields: in their order.
        build: makes the node from the field values.
        parts: takes a node apart into the field values.
    """

    name: str
    canonical: str
    wit: str
    sort: Sort
    layout: Layout
    fields: tuple[Field, ...]
    build: Callable[..., Any]
    parts: Callable[[Any], tuple[Any, ...]]


def _camel(name: str) -> str:
    head, *rest = name.split("-")
    return head + "".join(word.capitalize() for word in rest)


def _duration(name: str) -> Field:
    snake = name.replace("-", "_")
    camel = _camel(name)
    return Field(Sort.DURATION, camel, snake if snake != camel else "", camel + "Ms", name)


def _field(sort: Sort, name: str, *, canonical: str = "", alias: str = "", api: str = "") -> Field:
    return Field(sort, canonical or _camel(name), alias, api or canonical or _camel(name), name)


_INNER = _field(Sort.POLICY, "inner")
_FACTOR = _field(Sort.FACTOR, "factor")


def _parts(*names: str) -> Callable[[Any], tuple[Any, ...]]:
    if not names:
        return lambda node: ()
    if len(names) == 1:
        get = attrgetter(names[0])
        return lambda node: (get(node),)
    return attrgetter(*names)


def _policy(
    name: str, node: type[Any], layout: Layout, fields: tuple[Field, ...], attributes: tuple[str, ...], wit: str
) -> Kind:
    canonical = name[0].lower() + name[1:]
    return Kind(name, canonical, wit, Sort.POLICY, layout, fields, node, _parts(*attributes))


_PAIR_FIELDS = (_field(Sort.POLICY, "first"), _field(Sort.POLICY, "second"))
_BOTH = ("left", "right")

POLICY_KINDS: tuple[Kind, ...] = (
    _policy("Periodic", p.Periodic, Layout.SINGLE, (_duration("delay"),), ("delay_ns",), "periodic"),
    _policy(
        "Exponential", p.Exponential, Layout.RECORD, (_duration("base-delay"), _FACTOR), ("base_ns", "factor"),
        "exponential",
    ),
    _policy(
        "Fibonacci", p.Fibonacci, Layout.RECORD, (_duration("first"), _duration("second")), ("first_ns", "second_ns"),
        "fibonacci",
    ),
    _policy("Immediate", p.Immediate, Layout.BARE, (), (), "immediate"),
    _policy("Never", p.Never, Layout.BARE, (), (), "never"),
    _policy(
        "CountBox", p.CountBox, Layout.RECORD, (_field(Sort.COUNT, "max-retries", alias="max_retries"), _INNER),
        ("max_retries", "inner"), "count-box",
    ),
    _policy("TimeBox", p.TimeBox, Layout.RECORD, (_duration("limit"), _INNER), ("limit_ns", "inner"), "time-box"),
    _policy(
        "Clamp", p.Clamp, Layout.RECORD, (_duration("min-delay"), _duration("max-delay"), _INNER),
        ("low_ns", "high_ns", "inner"), "clamp-delay",
    ),
    _policy("AddDelay", p.AddDelay, Layout.RECORD, (_duration("delay"), _INNER), ("delay_ns", "inner"), "add-delay"),
    _policy("Jitter", p.Jitter, Layout.RECORD, (_FACTOR, _INNER), ("factor", "inner"), "jitter"),
    _policy(
        "FilteredOn", p.FilteredOn, Layout.RECORD, (_field(Sort.PREDICATE, "predicate"), _INNER),
        ("predicate", "inner"), "filtered-on",
    ),
    _policy("AndThen", p.AndThen, Layout.PAIR, _PAIR_FIELDS, _BOTH, "and-then"),
    _policy("Union", p.Union, Layout.PAIR, _PAIR_FIELDS, _BOTH, "policy-union"),
    _policy("Intersect", p.Intersect, Layout.PAIR, _PAIR_FIELDS, _BOTH, "policy-intersect"),
)  # fmt: skip

_PROPERTY = Field(Sort.TEXT, "property", "", "property", "property-name")


def _comparison(comparison: q.Comparison) -> Kind:
    name = "Prop" + comparison.value
    fields = (_PROPERTY, _field(Sort.VALUE, "value"))
    return Kind(
        name, "p" + name[1:], "prop-" + comparison.value.lower(), Sort.PREDICATE, Layout.RECORD, fields,
        lambda prop, value: q.PropCompare(comparison, prop, value), _parts("property", "value"),
    )  # fmt: skip


def _text_test(test: q.TextTest, operand: str, wit: str) -> Kind:
    name = "Prop" + test.value
    fields = (_PROPERTY, Field(Sort.TEXT, operand, "", operand, "pattern"))
    return Kind(
        name, "p" + name[1:], wit, Sort.PREDICATE, Layout.RECORD, fields,
        lambda prop, text: q.PropText(test, prop, text), _parts("property", "operand"),
    )  # fmt: skip


def _logic(name: str, node: type[Any]) -> Kind:
    fields = (_field(Sort.PREDICATE, "left"), _field(Sort.PREDICATE, "right"))
    wit = "pred-" + name.lower()
    return Kind(name, name.lower(), wit, Sort.PREDICATE, Layout.PAIR, fields, node, _parts(*_BOTH))


def _constant(name: str, value: q.Constant) -> Kind:
    wit = "pred-" + name.lower()
    return Kind(name, name.lower(), wit, Sort.PREDICATE, Layout.BARE, (), lambda: value, _parts())


PREDICATE_KINDS: tuple[Kind, ...] = (
    *map(_comparison, q.Comparison),
    Kind(
        "PropExists", "propExists", "prop-exists", Sort.PREDICATE, Layout.SINGLE, (_PROPERTY,), q.PropExists,
        _parts("property"),
    ),
    Kind(
        "PropIn", "propIn", "prop-in", Sort.PREDICATE, Layout.RECORD, (_PROPERTY, _field(Sort.VALUES, "values")),
        q.PropIn, _parts("property", "values"),
    ),
    _text_test(q.TextTest.MATCHES, "pattern", "prop-matches"),
    _text_test(q.TextTest.STARTS_WITH, "prefix", "prop-starts-with"),
    _text_test(q.TextTest.CONTAINS, "substring", "prop-contains"),
    _logic("And", q.And),
    _logic("Or", q.Or),
    Kind(
        "Not", "not", "pred-not", Sort.PREDICATE, Layout.SINGLE, (_field(Sort.PREDICATE, "predicate"),), q.Not,
        _parts("predicate"),
    ),
    _constant("True", q.ALWAYS),
    _constant("False", q.NEVER_TRUE),
)  # fmt: skip

_KINDS_OF = {Sort.POLICY: POLICY_KINDS, Sort.PREDICATE: PREDICATE_KINDS}
BY_CANONICAL = {sort: {k.canonical: k for k in kinds} for sort, kinds in _KINDS_OF.items()}
BY_NAME = {sort: {k.name: k for k in kinds} for sort, kinds in _KINDS_OF.items()}
BY_WIT = {sort: {k.wit: k for k in kinds} for sort, kinds in _KINDS_OF.items()}
_NAME_OF_TYPE = {
    p.Periodic: "Periodic", p.Exponential: "Exponential", p.Fibonacci: "Fibonacci", p.Immediate: "Immediate",
    p.Never: "Never", p.CountBox: "CountBox", p.TimeBox: "TimeBox", p.Clamp: "Clamp", p.AddDelay: "AddDelay",
    p.Jitter: "Jitter", p.FilteredOn: "FilteredOn", p.AndThen: "AndThen", p.Union: "Union",
    p.Intersect: "Intersect", q.PropExists: "PropExists", q.PropIn: "PropIn", q.And: "And", q.Or: "Or", q.Not: "Not",
}  # fmt: skip


def kind_of(node: p.Policy | q.Predicate) -> Kind:
    """The row of a node."""
    match node:
        case q.PropCompare(comparison, _, _):
            return BY_NAME[Sort.PREDICATE]["Prop" + comparison.value]
        case q.PropText(test, _, _):
            return BY_NAME[Sort.PREDICATE]["Prop" + test.value]
        case q.Constant(value):
            return BY_NAME[Sort.PREDICATE]["True" if value else "False"]
        case _:
            name = _NAME_OF_TYPE[type(node)]
            return BY_NAME[Sort.POLICY].get(name) or BY_NAME[Sort.PREDICATE][name]
