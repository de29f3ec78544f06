"""Stability of sagas by the constants of the selectors, against looking at every attempt."""

import random

import pytest

from policyd.core.retry import Integer, Limits, NamedPolicy, effective_rules, saga_stability
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q
from policyd.core.retry.saga import SagaRules

FAR = 300
URN = "urn:worker:1/C(1)"


def _leaf(source: random.Random) -> q.Predicate:
    value = Integer(source.choice((-1, 0, 1, 2, 3, 5, 7, 8)))
    match source.randrange(4):
        case 0:
            return q.PropIn("attempt", (value, Integer(source.randrange(9))))
        case 1:
            return q.PropExists("attempt")
        case 2 if source.random() < 0.3:
            return q.PropCompare(q.Comparison.EQ, "nope", value)
        case 2:
            return q.Constant(True)
        case _:
            return q.PropCompare(source.choice(tuple(q.Comparison)), "attempt", value)


def _predicate(source: random.Random, depth: int = 2) -> q.Predicate:
    if depth == 0 or source.random() < 0.4:
        return _leaf(source)
    if source.random() < 0.3:
        return q.Not(_predicate(source, depth - 1))
    return source.choice((q.And, q.Or))(_predicate(source, depth - 1), _predicate(source, depth - 1))


def _every(_: object, limits: Limits) -> tuple[list[int], bool]:
    last = FAR if limits.retries.at_most is None else limits.retries.at_most + 1
    return list(range(1, min(last, FAR) + 1)), limits.retries.at_most is None


@pytest.mark.parametrize("part", range(4))
def test_constants_show_what_every_attempt_shows(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answer, first unstable attempt, reason, doubt about identity and sources."""
    by_constants = saga_stability._attempts
    for seed in range(part * 100, part * 100 + 100):
        source = random.Random(seed)
        inner = (p.Immediate(), p.Periodic(5))
        effective = effective_rules(
            NamedPolicy(
                name,
                source.randrange(3),
                _predicate(source),
                p.CountBox(source.randrange(9), source.choice(inner)),
            )
            for name in "abc"[: source.randrange(1, 4)]
        )
        rules = SagaRules(tuple(e.rule for e in effective))
        found = []
        for attempts in (by_constants, _every):
            monkeypatch.setattr(saga_stability, "_attempts", attempts)
            found.append(saga_stability.stability_of(URN, rules, effective))
        assert found[0] == found[1], seed
