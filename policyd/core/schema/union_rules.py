"""The rules of unions: which body a discriminator needs, and which two can be told apart.

Source: middleware 1.3 (union rules).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import assert_never

from policyd.core.schema.engines import Engines
from policyd.core.schema.faults import Fault, FaultKind
from policyd.core.schema.graph import Definitions
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    Branch,
    Discriminator,
    FieldAbsent,
    FieldEquals,
    PathType,
    PlainKind,
    PlainType,
    RecordType,
    SchemaType,
    StringRule,
    TextRule,
    UnionType,
    UrlType,
)


def union_faults(union: UnionType, definitions: Definitions, engines: Engines) -> Iterator[Fault]:
    """The faults of the rules of one union; its bodies are judged elsewhere."""
    for branch in union.branches:
        yield from _branch_faults(branch, definitions, engines)
    spend(len(union.branches) * (len(union.branches) - 1) // 2)
    for one, other in combinations(union.branches, 2):
        if not are_disjoint(one.discriminator, other.discriminator):
            yield Fault(FaultKind.UNION_AMBIGUOUS_DISCRIMINATORS, tags=(one.tag, other.tag))


def _branch_faults(branch: Branch, definitions: Definitions, engines: Engines) -> Iterator[Fault]:
    body = definitions.resolve(branch.body).type
    match branch.discriminator:
        case StringRule(rule, pattern):
            if rule is TextRule.REGEX:
                yield from _regex_faults(branch.tag, pattern, engines)
            if body is not None and not is_stringly(body):
                yield Fault(FaultKind.UNION_STRING_RULE_ON_NON_STRING_BODY, tag=branch.tag)
        case FieldEquals() | FieldAbsent() as rule:
            yield from _field_faults(branch.tag, rule, body, definitions)
        case _:
            assert_never(branch.discriminator)


def _regex_faults(tag: str, pattern: str, engines: Engines) -> Iterator[Fault]:
    verdict = pattern_verdict(pattern, engines) if pattern else False
    if verdict is None:
        yield Fault(FaultKind.NEEDS_PATTERNS, tag=tag)
    elif not verdict:
        yield Fault(FaultKind.INVALID_REGEX, tag=tag)


def pattern_verdict(pattern: str, engines: Engines) -> bool | None:
    """Whether the pattern compiles; None without an engine that can tell."""
    return None if engines.patterns is None else engines.patterns.is_valid(pattern)


def is_stringly(body: SchemaType) -> bool:
    """Whether a string rule may stand on a body of this (resolved) type; `text` is not one of them."""
    return (isinstance(body, PlainType) and body.kind is PlainKind.STRING) or isinstance(body, (UrlType, PathType))


def _field_faults(
    tag: str, rule: FieldEquals | FieldAbsent, body: SchemaType | None, definitions: Definitions
) -> Iterator[Fault]:
    if body is None:
        return
    if not isinstance(body, RecordType):
        yield Fault(FaultKind.UNION_FIELD_RULE_ON_NON_RECORD_BODY, tag=tag)
        return
    declared = next((f.body for f in body.fields if f.name == rule.field_name), None)
    if isinstance(rule, FieldAbsent):
        if declared is not None:
            yield Fault(FaultKind.UNION_UNSATISFIABLE_FIELD_ABSENT, tag=tag, field=rule.field_name)
        return
    if declared is None:
        yield Fault(FaultKind.UNION_FIELD_RULE_MISSING_FIELD, tag=tag, field=rule.field_name)
    elif rule.literal is not None:
        resolved = definitions.resolve(declared).type
        if resolved is not None and not is_stringly(resolved):
            yield Fault(FaultKind.UNION_FIELD_EQUALS_LITERAL_ON_NON_STRING_FIELD, tag=tag, field=rule.field_name)


def are_disjoint(one: Discriminator, other: Discriminator) -> bool:
    """Whether no body satisfies both rules, or that cannot be told (a regex against another string rule).

    >>> are_disjoint(StringRule(TextRule.PREFIX, "a:"), StringRule(TextRule.PREFIX, "b:"))
    True
    """
    match one, other:
        case StringRule(TextRule.REGEX, a), StringRule(TextRule.REGEX, b):
            return a != b
        case (StringRule(TextRule.REGEX, _), StringRule()) | (StringRule(), StringRule(TextRule.REGEX, _)):
            return True
        case StringRule(TextRule.PREFIX, a), StringRule(TextRule.PREFIX, b):
            return not (a.startswith(b) or b.startswith(a))
        case StringRule(TextRule.SUFFIX, a), StringRule(TextRule.SUFFIX, b):
            return not (a.endswith(b) or b.endswith(a))
        case StringRule(), StringRule():
            return False
        case (StringRule(), _) | (_, StringRule()):
            return True
        case FieldEquals(f, x), FieldEquals(g, y):
            return f == g and x is not None and y is not None and x != y
        case (FieldEquals(f), FieldAbsent(g)) | (FieldAbsent(f), FieldEquals(g)):
            return f == g
        case _:
            return False
