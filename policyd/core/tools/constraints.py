"""Evaluating the constraints of a command on an input record.

Source: middleware 1.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.values import (
    BoolValue,
    FixedListValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
    RecordValue,
    SchemaValue,
)
from policyd.core.tools.canonical_input import InputField
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
from policyd.core.tools.tool import BoolFlag, Flag, Option, Positional


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of one call by name and alias; the first field that bears a name counts."""

    by_name: dict[str, tuple[InputField, SchemaValue]]

    @classmethod
    def of(cls, fields: tuple[InputField, ...], record: RecordValue) -> Given:
        """The fields with their values; as many of both."""
        by_name: dict[str, tuple[InputField, SchemaValue]] = {}
        for field, value in zip(fields, record.fields, strict=True):
            for name in (field.name, *field.aliases):
                by_name.setdefault(name, (field, value))
        return cls(by_name)


def first_broken(constraints: tuple[Constraint, ...], given: Given) -> int | None:
    """The index of the first constraint that does not hold, or None when all do."""
    return next((index for index, constraint in enumerate(constraints) if not holds(constraint, given)), None)


def holds(constraint: Constraint, given: Given) -> bool:
    """Whether one constraint holds."""
    match constraint:
        case RequiresAll(refs):
            return all(_verdicts(refs, given))
        case RequiresAny(refs):
            return any(_verdicts(refs, given))
        case AllOrNone(refs):
            verdicts = list(_verdicts(refs, given))
            return all(verdicts) or not any(verdicts)
        case MutexGroups(groups):
            return sum(all(_verdicts(group, given)) for group in groups) <= 1
        case Implies(left_quantifier, left, right_quantifier, right):
            return not _side(left_quantifier, left, given) or _side(right_quantifier, right, given)
        case Forbids(left_quantifier, left, right):
            return not _side(left_quantifier, left, given) or not any(_verdicts(right, given))
        case _:
            assert_never(constraint)


def _side(quantifier: Quantifier, refs: tuple[ArgumentRef, ...], given: Given) -> bool:
    verdicts = _verdicts(refs, given)
    return all(verdicts) if quantifier is Quantifier.ALL else any(verdicts)


def _verdicts(refs: tuple[ArgumentRef, ...], given: Given) -> Iterator[bool]:
    return (_ref_holds(ref, given) for ref in refs)


def _ref_holds(ref: ArgumentRef, given: Given) -> bool:
    found = given.by_name.get(ref.name)
    if found is None:
        return False
    field, value = found
    match ref:
        case Present():
            return is_present(field, value)
        case ValueIs(_, literal):
            return contains(value, literal)
        case _:
            assert_never(ref)


def is_present(field: InputField, value: SchemaValue) -> bool:
    """Whether an argument is given something else than its default and than nothing."""
    match field.argument:
        case Flag(_, BoolFlag(default)):
            return value != BoolValue(default)
        case Flag():
            return value != NumberValue(NumberKind.U32, 0)
        case (Option() | Positional()) as argument if argument.default is not None and argument.default == value:
            return False
        case _:
            return _is_something(value)


def _is_something(value: SchemaValue) -> bool:
    match value:
        case OptionValue(inner):
            return inner is not None
        case ListValue(parts) | FixedListValue(parts):
            return bool(parts)
        case MapValue(entries):
            return bool(entries)
        case BoolValue(truth):
            return truth
        case NumberValue(NumberKind.U32, number):
            return number != 0
        case _:
            return True


def contains(value: SchemaValue, literal: SchemaValue) -> bool:
    """Whether the value is the literal, or holds it inside options, list elements or map values at any depth."""
    pending = [value]
    while pending:
        current = pending.pop()
        if current == literal:
            return True
        match current:
            case OptionValue(inner) if inner is not None:
                pending.append(inner)
            case ListValue(parts) | FixedListValue(parts):
                pending.extend(parts)
            case MapValue(entries):
                pending.extend(part for _, part in entries)
            case _:
                continue
    return False
