"""Recorded card answers and the golden cases: every line agrees, none is left unchecked."""

import json
from pathlib import Path

from policyd.conformance import check_sources, operations

CASES = Path(__file__).parents[2] / "cases" / "conformance"

CARD_OPERATIONS = {
    "agent_allows",
    "allows",
    "allows_grants",
    "attenuate",
    "card_json",
    "class_metadata",
    "default_grants",
    "envelope",
    "envelope_subsumes",
    "instantiate",
    "monomorphize",
    "monomorphize_recipient",
    "parse",
    "parse_recipient",
    "subsumes",
    "subsumes_owner",
    "subsumes_recipient",
    "tool_invocation",
    "wallet_id",
}


def _lines(name):
    return [json.loads(line) for line in (CASES / name).read_bytes().split(b"\n") if line]


def test_every_sampled_line_agrees():
    outcome = check_sources([str(CASES / "cards-*.jsonl")])
    assert outcome.problems == []
    assert {op: c.first for op, c in outcome.counts.items() if c.first} == {}
    assert (outcome.disagreements, outcome.unchecked) == (0, 0)
    assert set(outcome.counts) == CARD_OPERATIONS
    assert sum(c.agree for c in outcome.counts.values()) > 2500


def test_every_golden_case_agrees():
    outcome = check_sources([str(CASES / "golden.jsonl")])
    assert outcome.problems == []
    assert {op: c.first for op, c in outcome.counts.items() if c.first} == {}
    assert (outcome.disagreements, outcome.unchecked) == (0, 0)
    assert sum(c.agree for c in outcome.counts.values()) == 308


def test_the_golden_cases_are_all_there():
    """G001 to G321 each stand in exactly one of the three files."""
    here = [line["id"] for line in _lines("golden.jsonl")]
    for other in ("../grants/structured.jsonl", "../cards/deploy.jsonl"):
        here += [line["id"] for line in _lines(other)]
    assert sorted(here) == [f"G{n:03d}" for n in range(1, 322)]


def test_the_card_operations_are_known():
    assert set(operations()) >= CARD_OPERATIONS
