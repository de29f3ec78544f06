"""The answers to recorded questions: their form, and how limits are compared."""

from typing import Any

import pytest

from policyd.conformance.retry import HANDLERS, compare_limits
from policyd.core.retry import Elapsed, limits_of, read_policy
from policyd.core.retry.limits import Effort

SECOND = {"secs": 1, "nanos": 0}
POLICY = {"countBox": {"maxRetries": 2, "inner": {"periodic": "1s"}}}


def _recorded(**changed: Any) -> dict[str, Any]:
    figures = {
        "max_retries": 2, "min_retries": 2, "always_ends": True,
        "total_delay": {"min": {"secs": 2, "nanos": 0}, "max": {"secs": 2, "nanos": 0}},
    }  # fmt: skip
    return {"real": {**figures, "horizon": None, **changed}, "zero": figures}


def test_exact_limits_agree() -> None:
    """An exact answer has every figure and says nothing of being undecided."""
    given = HANDLERS["retry_limits"]({"policy": POLICY})
    assert compare_limits(_recorded(), given) == []
    assert "undecided" not in given


def test_a_wrong_figure_is_told() -> None:
    """An exact figure that differs from the recorded one is a disagreement."""
    given = HANDLERS["retry_limits"]({"policy": POLICY})
    assert compare_limits(_recorded(max_retries=3, horizon=SECOND), given) == ["real.max_retries", "real.horizon"]


@pytest.mark.parametrize(
    "at_most, wrong", ((5, []), (1, ["real.max_retries"])), ids=("a bound that holds", "a bound that is too low")
)
def test_bounds_are_undecided_or_wrong(at_most: int, wrong: list[str]) -> None:
    """A bound that holds leaves the line undecided; one that does not is a disagreement."""
    given = HANDLERS["retry_limits"]({"policy": POLICY})
    given["real"]["max_retries"] = {"inexact": True, "at_least": 0, "at_most": at_most}
    given["undecided"] = ["real.max_retries"]
    assert compare_limits(_recorded(), given) == (wrong or ["undecided: real.max_retries"])
    assert ("undecided" in given) is not bool(wrong)


def test_little_effort_leaves_bounds() -> None:
    """Without effort the answer is a bound that says so."""
    limits = limits_of(read_policy(POLICY), Elapsed.REAL, effort=Effort(0, 0))
    assert (limits.retries.at_most, limits.retries.exact) == (2, False)


@pytest.mark.parametrize(
    "op, question, answer",
    (
        ("duration_parse", {"text": "1h"}, {"ok": True, "duration": {"secs": 3600, "nanos": 0}}),
        ("glob", {"pattern": "a*", "text": "ab"}, {"matches": True}),
        ("retry_references", {"predicate": {"not": {"propExists": "x"}}, "property": "x"}, {"references": True}),
        ("retry_policy_yaml", {"yaml": "periodic: 1s"}, {"ok": True, "json": {"periodic": SECOND}}),
        ("retry_applicable", {"policy": "never", "properties": {}}, {"ok": True}),
        (
            "retry_step",
            {"policy": "never", "properties": {}, "state": {"Counter": 1}, "elapsed": "0", "jitter_u": 0.0},
            {
                "verdict": {"error": {"kind": "invalidState"}}, "state": "Terminal", "retry_count": 0,
                "exhausted": True, "marked_exhausted": "Terminal",
            },
        ),
        (
            "retry_from_config",
            {"config": {"max_attempts": 0, "min_delay": "1s", "max_delay": "1s", "multiplier": 2}},
            {
                "name": "default", "priority": 0, "predicate": True,
                "policy": {"countBox": {"maxRetries": 0, "inner": {"clamp": {
                    "minDelay": SECOND, "maxDelay": SECOND,
                    "inner": {"exponential": {"baseDelay": SECOND, "factor": 2.0}},
                }}}},
            },
        ),
    ),
    ids=lambda x: x if isinstance(x, str) else "",
)  # fmt: skip
def test_answers(op: str, question: dict[str, Any], answer: dict[str, Any]) -> None:
    """A question is answered in the form of the records."""
    assert HANDLERS[op](question) == answer


@pytest.mark.parametrize("op", ("retry_policy_parse", "retry_policy_from_nodes", "retry_context"))
def test_refusals_say_so(op: str) -> None:
    """What is refused is answered with `ok: false` and the label."""
    question = {"policy": 1, "nodes": [], "kind": "rdbms", "verb": "query", "address": "nope"}
    answer = HANDLERS[op](question)
    assert answer["ok"] is False
    assert answer["label"]
