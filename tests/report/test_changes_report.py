"""Differences for pull requests: what is undecided, and what a list leaves out, is never told as no change."""

from __future__ import annotations

from typing import Any

import pytest

from policyd.report.changes import changes_github, changes_markdown, changes_sarif, changes_text

WITNESS = {
    "call": "kv(?env) : read : a.b",
    "agent": 'Cart("a")',
    "class": "kv",
    "verb": "read",
    "cause": "",
    "obstacle": "",
}


def side(count: int = 0, more: int = 0, *undecided: str) -> dict[str, Any]:
    return {"count": count + more, "witnesses": [WITNESS] * count, "more": more, "undecided": list(undecided)}


def changes(*holders: tuple[str, dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    rows = [
        {"name": name, "started": started, "stopped": stopped, "classes": 38, "leftOut": []}
        for name, started, stopped in holders
    ]
    return {"old": "a", "new": "b", "holders": rows, "notes": [], "edition": "next", "switches": {}}


UNKNOWN = changes(("Cart", side(0, 0, "`kv`: too long"), side()))


@pytest.mark.parametrize("report", [changes_text, changes_markdown, changes_github])
def test_what_is_undecided_is_told_and_nothing_else_claimed(report: Any) -> None:
    """In text, in a comment, in annotations."""
    told = report(UNKNOWN)
    assert "undecided" in told
    assert "too long" in told
    assert "no change" not in told.lower()
    assert "is the same" not in told


def test_what_is_undecided_is_a_result_in_sarif() -> None:
    """So are kinds of calls that no witness stands for."""
    (run,) = changes_sarif(UNKNOWN, "1")["runs"]  # type: ignore[misc, attr-defined]
    assert [r["message"]["text"] for r in run["results"]] == ["Cart: undecided: `kv`: too long"]
    (run,) = changes_sarif(changes(("Cart", side(1, 7), side())), "1")["runs"]  # type: ignore[misc, attr-defined]
    assert [r["message"]["text"] for r in run["results"]] == [
        'Cart: kv(?env) : read : a.b (asked by Cart("a"))',
        "Cart: 7 more kinds of calls",
    ]


def test_a_comment_keeps_apart_who_is_decided_and_who_is_not() -> None:
    """The proof is claimed for those it was made for."""
    told = changes_markdown(
        changes(("Cart", side(1), side()), ("Peer", side(0, 0, "why"), side()), ("T", side(), side()))
    )
    assert 'Cart, asked by Cart("a")' in told
    assert "No change for T." in told
    assert "proved over all 38 classes, undecided ones aside" in told


def test_annotations_count_what_they_leave_out() -> None:
    told = changes_github(changes(("Cart", side(1, 7), side()))).split("\n")
    assert told == [
        '::warning title=policyd Cart::newly admitted: kv(?env) : read : a.b (asked by Cart("a"))',
        "::warning title=policyd Cart::newly admitted: 7 more kinds of calls",
    ]
    assert changes_github(changes(("Cart", side(), side()))).startswith("::notice title=policyd::no change")
