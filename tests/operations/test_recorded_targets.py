"""Recorded questions about targets are answered by way of the catalogue."""

from __future__ import annotations

import json
from pathlib import Path

from policyd.conformance.run import check_sources
from policyd.conformance.targets import HANDLERS

RECORDED = Path(__file__).parent.parent / "cases" / "operations" / "recorded.jsonl"


def test_every_line_agrees() -> None:
    """Each kind of question once at least, and all answers as written."""
    outcome = check_sources([str(RECORDED)])
    assert [count.first for count in outcome.counts.values() if count.disagree] == []
    assert sum(count.agree for count in outcome.counts.values()) == len(RECORDED.read_text().splitlines())
    assert set(outcome.counts) == set(HANDLERS)


def test_what_cannot_be_analysed_is_undecided() -> None:
    """Neither an admission nor a refusal."""
    question = {"engine": "mysql", "address": "mysql://h/app", "sql": "UPDATE t SET x = 1 ORDER BY y"}
    answer = HANDLERS["sql_targets"](question)
    assert (answer["ok"], answer["undecided"]) == (False, True)
    assert "newer" in answer["reason"]


def test_answers_can_be_written_as_json() -> None:
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        assert json.loads(json.dumps(HANDLERS[record["op"]](record["in"])))
