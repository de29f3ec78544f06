"""Lines of a decision log: what is read, what is refused with which code, and that memory stays bounded."""

import io
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from policyd.findings.codes import is_code
from policyd.usecases.decision_log import MAX_LINE_BYTES, BadLine, LogLine, lines_of, read_log

ROOT = Path(__file__).parents[2]
CASES = YAML(typ="safe").load(ROOT / "tests" / "cases" / "unused" / "lines.yaml")
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "docs" / "schemas" / "decision-log.schema.json").read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["line"][:60])
def test_lines(case):
    """Read or refused; the schema says the same, but for what it cannot see."""
    (found,) = read_log([case["line"].encode()])
    if "code" in case:
        assert isinstance(found, BadLine)
        assert found.code == case["code"]
        assert case.get("says", "") in found.message
        assert "hunter2" not in found.message
    else:
        assert isinstance(found, LogLine)
        assert found.ignored == case.get("ignored", 0)
    if case.get("schema", True) and case.get("code") != "STORE020":
        assert SCHEMA.is_valid(json.loads(case["line"])) is isinstance(found, LogLine)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA.schema)


def test_numbers_count_all_lines_and_empty_ones_say_nothing():
    good = CASES[0]["line"].encode()
    found = list(read_log(lines_of(io.BytesIO(b"\xef\xbb\xbf" + good + b"\n\n  \r\nx\n" + good))))
    assert [(type(line).__name__, line.number) for line in found] == [("LogLine", 1), ("BadLine", 4), ("LogLine", 5)]


def test_an_endless_line_is_cut_and_the_next_one_read():
    good = CASES[0]["line"].encode()
    stream = io.BytesIO(b"x" * (3 * MAX_LINE_BYTES) + b"\n" + good + b"\n")
    lines = lines_of(stream)
    first = next(lines)
    assert len(first) == MAX_LINE_BYTES + 1
    bad, line = read_log([first, *lines])
    assert (bad.code, line.number) == ("STORE022", 2)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.binary(max_size=80), st.text(max_size=40).map(lambda t: json.dumps({"time": t, "agent": t}).encode()))
)
def test_anything_is_told_and_nothing_raises(data):
    for found in read_log(data.splitlines()):
        assert isinstance(found, LogLine) or (is_code(found.code) and found.message)
