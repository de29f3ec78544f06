"""RETRY006: a property compared with a constant of another type. Page: type_confusion.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Boolean, Integer, PropertyType, PropertyValue, Text, property_named
from policyd.core.retry.predicate import Comparison, PropCompare, PropIn, PropText
from policyd.core.retry.representatives import Leaf, tests_of
from policyd.core.retry.space import predicates_of
from policyd.findings import Confidence, Finding, Severity

_DOMAIN = {"status-code": (100, 999), "uri-port": (0, 65_535), "attempt": (1, 20_000)}
_EQUALITY = (Comparison.EQ, Comparison.NEQ)


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every test whose constant does not have the type of its property."""
    view = view_of(subject)
    for policy in view.rules:
        for name, leaves in sorted(tests_of(predicates_of((policy,))).items()):
            known = property_named(name)
            if known is None:
                continue
            for leaf in leaves:
                told = confusion(leaf, known.type)
                if told is None:
                    continue
                severity, message = told
                yield rule.finding(
                    f"retry policy `{policy.name}`: {message}",
                    view.span(policy),
                    help=f"`{name}` is of type {known.type.value}" if severity is not Severity.INFO else "",
                    severity=severity,
                )


def confusion(leaf: Leaf, wanted: PropertyType) -> tuple[Severity, str] | None:
    """How bad a test is whose constant has another type than the property, and in words; None where nothing is.

    Source: retry 8.4, F06.
    """
    name = leaf.property
    match leaf:
        case PropText() if wanted is PropertyType.BOOLEAN:
            return Severity.ERROR, f"a text test on the boolean `{name}` always fails"
        case PropCompare(comparison, _, value):
            return _of_constant(name, wanted, comparison, value)
        case PropIn(_, values):
            told = [t for v in values if (t := _of_constant(name, wanted, Comparison.EQ, v)) is not None]
            return min(told, key=lambda t: t[0].rank, default=None)
        case _:
            return None


def _of_constant(
    name: str, wanted: PropertyType, comparison: Comparison, value: PropertyValue
) -> tuple[Severity, str] | None:
    match value:
        case Boolean() if wanted is not PropertyType.BOOLEAN:
            return Severity.ERROR, f"`{name}` compared with a boolean always fails"
        case Text() | Integer() if wanted is PropertyType.BOOLEAN:
            return Severity.ERROR, f"the boolean `{name}` compared with `{value.value}` always fails"
        case Integer(number) if wanted is PropertyType.TEXT:
            return Severity.ERROR, f"the text `{name}` compared with {number} fails unless it is a number"
        case Text(text) if wanted is PropertyType.INTEGER:
            return _by_text(name, comparison, text)
        case _:
            return None


def _by_text(name: str, comparison: Comparison, text: str) -> tuple[Severity, str] | None:
    """A number compared as text: equality is exact for canonical numerals, order is that of the bytes."""
    numeral = text.isascii() and text.isdigit() and str(int(text)) == text if len(text) < 20 else False
    if comparison in _EQUALITY:
        if numeral:
            return None
        return Severity.WARNING, f"`{name}` compared as text never equals `{text}`"
    if not numeral:
        return Severity.WARNING, f"`{name}` is compared with `{text}` byte by byte"
    low, high = _DOMAIN[name]
    constant = int(text)
    for number in range(low, high + 1):
        shown = str(number)
        as_text = comparison.holds((shown > text) - (shown < text))
        if as_text != comparison.holds((number > constant) - (number < constant)):
            message = f"`{name}` is compared with `{text}` byte by byte: {number} comes out the wrong way"
            return Severity.WARNING, message
    return (
        Severity.INFO,
        f"`{name}` is compared with the text `{text}`; for all its values that is the order of numbers",
    )


RULE = Rule("RETRY006", "type_confusion", Severity.ERROR, Confidence.CERTAIN, check)
