"""Fingerprints of policies and rules: equal exactly when the trees are written alike.

Source: retry 1.11.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

from policyd.core.retry.kinds import Kind, Sort
from policyd.core.retry.policy import NamedPolicy, Policy
from policyd.core.retry.predicate import Predicate
from policyd.core.retry.tree import fold_tree
from policyd.core.retry.value import Boolean, Integer, PropertyValue


def _text(text: str) -> str:
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char < " ":
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def _number(number: float) -> str:
    if math.isnan(number):
        return '"nan"'
    if math.isinf(number):
        return '"inf"' if number > 0 else '"-inf"'
    return repr(number + 0.0)


def _value(value: PropertyValue) -> str:
    match value:
        case Boolean(truth):
            return '["b",true]' if truth else '["b",false]'
        case Integer(number):
            return f'["i","{number}"]'
        case _:
            return f'["t",{_text(value.value)}]'


def _field(sort: Sort, part: Any) -> str:
    match sort:
        case Sort.DURATION:
            return f'"{part}"'
        case Sort.FACTOR:
            return _number(part)
        case Sort.COUNT:
            return str(part)
        case Sort.TEXT:
            return _text(part)
        case Sort.VALUE:
            return _value(part)
        case _:
            return "[" + ",".join(_value(v) for v in part) + "]"


def _node(kind: Kind, forms: tuple[str, ...]) -> str:
    return "[" + ",".join((f'"{kind.name}"', *forms)) + "]"


def fingerprint_text(node: Policy | Predicate) -> str:
    """The text whose hash is the fingerprint.

    Source: retry 1.11.
    """
    text: str = fold_tree(node, _node, _field)
    return text


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tree_fingerprint(policy: Policy) -> str:
    """The SHA-256 of a policy tree, in hexadecimal; nothing is simplified before."""
    return _hash(fingerprint_text(policy))


def rule_fingerprint(rule: NamedPolicy) -> str:
    """The SHA-256 of a rule with its name, priority and selector."""
    parts = (_text(rule.name), str(rule.priority), fingerprint_text(rule.selector), fingerprint_text(rule.policy))
    return _hash("[" + ",".join(parts) + "]")
