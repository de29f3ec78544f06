"""Running recorded files: what is counted, what is a problem, what a bad line does."""

import json

import pytest

from policyd.conformance import check_sources
from policyd.conformance import run as running
from policyd.findings import InputError

AGREES = {"op": "parse_recipient", "in": {"recipient": "*", "polymorphic": False}, "out": {"ok": True, "rendered": "*"}}
DIFFERS = {**AGREES, "out": {"ok": True, "rendered": "**"}}
PANICS = {**AGREES, "out": {"panic": True}}
UNKNOWN = {"op": "tea", "in": {}, "out": {}}


def _file(tmp_path, *lines, name="some.jsonl"):
    path = tmp_path / name
    path.write_bytes(b"\n".join(x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines))
    return str(path)


def test_counts_are_kept_per_operation(tmp_path):
    outcome = check_sources([_file(tmp_path, AGREES, DIFFERS, PANICS, UNKNOWN, b"")])
    count = outcome.counts["parse_recipient"]
    assert (count.agree, count.disagree, count.panics, count.unchecked) == (1, 1, 1, 0)
    assert outcome.counts["tea"].unchecked == outcome.unchecked == outcome.disagreements == 1
    (shown,) = count.first
    assert (shown.line, shown.places) == (2, ("rendered",))


def test_only_the_first_disagreements_are_shown(tmp_path):
    count = check_sources([_file(tmp_path, *[DIFFERS] * 9)]).counts["parse_recipient"]
    assert (count.disagree, len(count.first)) == (9, running.SHOWN)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"op": 1, "in": {}, "out": {}}',
        b'{"op": "parse"}',
        b"[" * 100_000,
        b'"\x00"',
    ],
)
def test_an_unreadable_line_is_a_problem_with_its_place(tmp_path, line):
    outcome = check_sources([_file(tmp_path, AGREES, line, AGREES)])
    (problem,) = outcome.problems
    assert problem.span.line == 2
    assert outcome.counts["parse_recipient"].agree == 2


def test_a_line_beyond_the_limit_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "MAX_LINE", 200)
    outcome = check_sources([_file(tmp_path, b" " * 1000 + b"{}", AGREES)])
    assert [p.span.line for p in outcome.problems] == [1]
    assert outcome.counts["parse_recipient"].agree == 1


@pytest.mark.parametrize(
    "question",
    [None, 1, "x", [], {}, {"recipient": None, "polymorphic": False}, {"recipient": 7}, {"recipient": ["*"]}],
)
def test_a_question_of_another_shape_is_a_disagreement_not_an_abort(tmp_path, question):
    count = check_sources([_file(tmp_path, {**AGREES, "in": question})]).counts["parse_recipient"]
    assert (count.agree, count.disagree) == (0, 1)


def test_folders_globs_and_files_are_read_once(tmp_path):
    path = _file(tmp_path, AGREES)
    outcome = check_sources([str(tmp_path), path, str(tmp_path / "*.jsonl")])
    assert outcome.counts["parse_recipient"].agree == 1


@pytest.mark.parametrize("source", ["no-such-file", "no-such-*.jsonl", ""])
def test_a_source_that_names_nothing_is_refused(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="STORE060"):
        check_sources([source])
