"""The short notation of the worked examples: `cb(5,exp(200ms,2))`, `and(status-code >= 500, exists x)`."""

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from policyd.core.retry import (
    Bag,
    Boolean,
    Integer,
    NamedPolicy,
    Policy,
    Predicate,
    PropertyValue,
    Text,
    parse_duration,
)
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q

CASES = Path(__file__).parent.parent / "cases" / "retry"
_TOKEN = re.compile(r"""\s*([(),\[\]]|"[^"]*"|[^\s(),\[\]]+)""")
_COMPARISONS = {
    "=": q.Comparison.EQ, "!=": q.Comparison.NEQ, ">": q.Comparison.GT, ">=": q.Comparison.GTE,
    "<": q.Comparison.LT, "<=": q.Comparison.LTE,
}  # fmt: skip
_TESTS = {"matches": q.TextTest.MATCHES, "starts": q.TextTest.STARTS_WITH, "contains": q.TextTest.CONTAINS}
BAGS: dict[str, dict[str, Any]] = {
    "H": {
        "verb": "GET", "noun-uri": "https://api.acme.test/v1", "status-code": 503, "error-type": "http-status",
        "is-idempotent": True, "uri-scheme": "https", "uri-host": "api.acme.test", "uri-path": "/v1",
    },
    "K": {"error-type": "transient"},
    "P1": {
        "verb": "POST", "noun-uri": "https://api.acme.test/v1", "error-type": "transient", "uri-scheme": "https",
        "uri-host": "api.acme.test", "uri-path": "/v1",
    },
    "empty": {},
}  # fmt: skip


def load_cases(name: str) -> list[dict[str, Any]]:
    """The cases of one file."""
    cases: list[dict[str, Any]] = YAML(typ="safe").load(CASES / name)
    return cases


def case_ids(case: dict[str, Any]) -> str:
    """What pytest calls a case."""
    return str(case.get("n", case.get("policy", case.get("title", "case"))))


def value_of(document: object) -> PropertyValue:
    """A property value from plain data."""
    match document:
        case bool():
            return Boolean(document)
        case int():
            return Integer(document)
        case str():
            return Text(document)
    raise ValueError(document)


def bag_of(document: str | dict[str, Any]) -> Bag:
    """A bag by its name, or from plain data."""
    members = BAGS[document] if isinstance(document, str) else document
    return {name: value_of(v) for name, v in members.items()}


class _Words:
    def __init__(self, text: str) -> None:
        self.words = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, wanted: str = "") -> str:
        word = self.peek()
        assert not wanted or word == wanted, (self.words, self.at, wanted)
        self.at += 1
        return word


_POLICIES: dict[str, tuple[Any, str]] = {
    "per": (p.Periodic, "d"), "exp": (p.Exponential, "df"), "fib": (p.Fibonacci, "dd"), "imm": (p.Immediate, ""),
    "never": (p.Never, ""), "cb": (p.CountBox, "np"), "tb": (p.TimeBox, "dp"), "clamp": (p.Clamp, "ddp"),
    "add": (p.AddDelay, "dp"), "jit": (p.Jitter, "fp"), "flt": (p.FilteredOn, "qp"), "then": (p.AndThen, "pp"),
    "union": (p.Union, "pp"), "inter": (p.Intersect, "pp"),
}  # fmt: skip


def _policy(words: _Words) -> Policy:
    build, kinds = _POLICIES[words.take()]
    fields: list[Any] = []
    for place, kind in enumerate(kinds):
        words.take("," if place else "(")
        match kind:
            case "p":
                fields.append(_policy(words))
            case "q":
                fields.append(_predicate(words))
            case "d":
                fields.append(parse_duration(words.take()))
            case "f":
                fields.append(float(words.take()))
            case _:
                fields.append(int(words.take()))
    if kinds:
        words.take(")")
    node: Policy = build(*fields)
    return node


def _constant(words: _Words) -> PropertyValue:
    word = words.take()
    if word.startswith('"'):
        return Text(word[1:-1])
    if word in ("true", "false"):
        return Boolean(word == "true")
    return Integer(int(word)) if re.fullmatch(r"-?\d+", word) else Text(word)


def _predicate(words: _Words) -> Predicate:
    word = words.take()
    if word in ("and", "or"):
        words.take("(")
        left = _predicate(words)
        words.take(",")
        right = _predicate(words)
        words.take(")")
        return (q.And if word == "and" else q.Or)(left, right)
    if word == "not":
        words.take("(")
        inner = _predicate(words)
        words.take(")")
        return q.Not(inner)
    if word in ("true", "false"):
        return q.Constant(word == "true")
    if word == "exists":
        return q.PropExists(words.take())
    operator = words.take()
    if operator == "in":
        words.take("[")
        values = []
        while words.peek() != "]":
            values.append(_constant(words))
            if words.peek() == ",":
                words.take()
        words.take("]")
        return q.PropIn(word, tuple(values))
    constant = _constant(words)
    if operator in _TESTS:
        assert isinstance(constant, Text)
        return q.PropText(_TESTS[operator], word, constant.value)
    return q.PropCompare(_COMPARISONS[operator], word, constant)


def policy_of(text: str) -> Policy:
    """A policy in the short notation."""
    words = _Words(text)
    tree = _policy(words)
    assert words.at == len(words.words), text
    return tree


def predicate_of(text: str) -> Predicate:
    """A predicate in the short notation."""
    words = _Words(text)
    tree = _predicate(words)
    assert words.at == len(words.words), text
    return tree


def rule_of(text: str) -> NamedPolicy:
    """A rule as `name@priority | predicate | policy`."""
    head, predicate, policy = (part.strip() for part in text.split("|"))
    name, priority = head.split("@")
    return NamedPolicy(name, int(priority), predicate_of(predicate), policy_of(policy))
