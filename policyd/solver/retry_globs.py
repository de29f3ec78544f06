"""Globs of retry predicates as regular languages, where the matcher is one.

Source: retry 1.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from policyd.solver.retry_texts import text_value

_SPECIAL = frozenset("[]{}\\!")


@dataclass(frozen=True, slots=True)
class GlobPart:
    """One part of a plain glob: a literal text, or one of `?`, `*`, `**`, `**/`."""

    kind: str
    text: str = ""


def plain_parts(pattern: str) -> tuple[GlobPart, ...] | None:
    """The parts of a glob whose meaning is that of its signs; None for one that only the matcher's pass explains.

    Plain are literals, `?`, single stars, and `**` as a whole component.

    >>> [part.kind for part in plain_parts("https://**")]
    ['literal', '**']
    >>> plain_parts("a**b") is None
    True
    """
    if _SPECIAL & set(pattern) or "***" in pattern or not pattern.isascii():
        return None
    parts = tuple(_parts(pattern))
    return None if any(part.kind == "bad" for part in parts) else parts


def _parts(pattern: str) -> Iterator[GlobPart]:
    at = 0
    literal = ""
    while at < len(pattern):
        if pattern[at] not in "*?":
            literal += pattern[at]
            at += 1
            continue
        if literal:
            yield GlobPart("literal", literal)
            literal = ""
        if pattern.startswith("**", at):
            leads = at == 0 or pattern[at - 1] == "/"
            after = pattern[at + 2 : at + 3]
            if not leads or after not in ("", "/"):
                yield GlobPart("bad")
                return
            if after == "/":
                if pattern.startswith("**", at + 3):
                    yield GlobPart("bad")
                    return
                yield GlobPart("**/")
                at += 3
            else:
                yield GlobPart("**")
                at += 2
        else:
            yield GlobPart("?" if pattern[at] == "?" else "*")
            at += 1
    if literal:
        yield GlobPart("literal", literal)


def glob_regex(parts: tuple[GlobPart, ...], context: z3.Context) -> z3.ReRef:
    """The language of a plain glob over ASCII texts."""
    inside = z3.Union(
        z3.Range(text_value("\0", context), text_value(".", context), context),
        z3.Range(text_value("0", context), text_value("\x7f", context), context),
    )
    anything = z3.Range(text_value("\0", context), text_value("\x7f", context), context)
    terms = []
    for part in parts:
        match part.kind:
            case "literal":
                terms.append(z3.Re(text_value(part.text, context), context))
            case "?":
                terms.append(inside)
            case "*":
                terms.append(z3.Star(inside))
            case "**":
                terms.append(z3.Star(anything))
            case _:
                component = z3.Concat(z3.Star(anything), z3.Re(text_value("/", context), context))
                terms.append(z3.Option(component))
    if not terms:
        return z3.Re(text_value("", context), context)
    return terms[0] if len(terms) == 1 else z3.Concat(*terms)
