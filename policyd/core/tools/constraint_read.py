"""Reading constraints.

Source: middleware 1.4.
"""

from __future__ import annotations

from policyd.core.schema.reading import elements, fail, list_of, member, members, tagged, text
from policyd.core.schema.value_json import value_at
from policyd.core.tools.constraint import (
    AllOrNone,
    ArgumentRef,
    Constraint,
    Forbids,
    Implies,
    MutexGroups,
    Present,
    Quantifier,
    RequiresAll,
    RequiresAny,
    ValueIs,
)


def constraint_at(json: object) -> Constraint:
    """The constraint that a JSON value stands for, inside of a reading that is under way."""
    kind, content = tagged(json)
    match kind:
        case "requires-all":
            return RequiresAll(elements(content, _ref))
        case "requires-any":
            return RequiresAny(elements(content, _ref))
        case "all-or-none":
            return AllOrNone(elements(content, _ref))
        case "mutex-groups":
            return MutexGroups(elements(content, _group))
        case "implies" | "forbids":
            found = members(content)
            left_quantifier = member(found, "lhs_quant", _quantifier)
            left = member(found, "lhs", list_of(_ref))
            right = member(found, "rhs", list_of(_ref))
            if kind == "forbids":
                return Forbids(left_quantifier, left, right)
            return Implies(left_quantifier, left, member(found, "rhs_quant", _quantifier), right)
        case _:
            return fail(f"`{kind}` is no kind of constraint")


def _group(json: object) -> tuple[ArgumentRef, ...]:
    return member(members(json), "refs", list_of(_ref))


def _quantifier(json: object) -> Quantifier:
    name = text(json)
    if name not in ("all", "any"):
        fail("`all` or `any` is needed")
    return Quantifier(name)


def _ref(json: object) -> ArgumentRef:
    kind, content = tagged(json)
    if kind == "present":
        return Present(text(content))
    if kind != "value-is":
        fail(f"`{kind}` is no reference to an argument")
    found = members(content)
    return ValueIs(
        member(found, "name", text), member(found, "value", lambda literal: value_at(literal, live_streams=True))
    )
