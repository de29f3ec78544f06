"""What is told about an unreadable grant: code, kind, place, message and help."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.findings import Span
from policyd.syntax import (
    Form,
    GrantErrorKind,
    GrantSyntaxError,
    parse_fields,
    parse_grant,
    parse_grants,
    parse_target,
    parse_target_fields,
)
from policyd.syntax.grants import MAX_GRANT_CHARS
from policyd.syntax.mistakes import CODES, shown

CASES = YAML(typ="safe").load(
    (Path(__file__).parents[2] / "cases" / "grants" / "mistakes.yaml").read_text(encoding="utf-8")
)


def refusal_of(read, *args):
    with pytest.raises(GrantSyntaxError) as told:
        read(*args)
    return told.value


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c['code']}-{n}") for n, c in enumerate(CASES)])
def test_what_is_told(case):
    rules = SNAPSHOT if case.get("edition") == "snapshot" else NEXT
    if case.get("target"):
        error = refusal_of(parse_target, case["text"], rules)
    else:
        read = parse_grants if case.get("alias") else parse_grant
        error = refusal_of(read, case["text"], Form(case.get("form", "concrete")), rules)
    (finding,) = error.findings
    assert (finding.code, error.kind.value) == (case["code"], case["kind"])
    marked = " " * error.start + "^" * max(error.end - error.start, 1)
    assert marked == case["mark"]
    assert case.get("says", "") in finding.message
    assert case.get("help", "") in finding.help
    assert finding.span.start == error.start
    assert finding.span.end == error.end


def test_every_kind_has_a_case():
    assert {case["kind"] for case in CASES} == {kind.value for kind in GrantErrorKind}
    assert set(CODES) == set(GrantErrorKind)
    assert len(set(CODES.values())) == len(CODES)


def test_lines_are_counted():
    """A grant of a YAML block may hold line feeds; the span knows its line."""
    error = refusal_of(parse_grant, "kv(\n a/b/c) @ * : raed\n : s.k")
    assert error.findings[0].span.where == "argument:2:15"


def test_the_place_in_a_document_replaces_the_place_in_the_text():
    error = refusal_of(parse_grant, "kv(a/b/c) @ * : raed : s.k")
    place = Span("golem.yaml", 14, 29, path="$.agents.Cart")
    assert error.at(place).span is place
    assert error.at(place).message == error.findings[0].message


@pytest.mark.parametrize("length", [MAX_GRANT_CHARS + 1, 1_000_000])
def test_a_text_beyond_the_limit_is_refused_unread(length):
    for read in (parse_grant, parse_grants, parse_target):
        error = refusal_of(read, "(" * length)
        assert error.findings[0].code == "GRANT008"
        assert error.kind is GrantErrorKind.MALFORMED
        assert str(MAX_GRANT_CHARS) in error.findings[0].help
    fields = "kv", "x" * length, "*", "read", "s.k"
    assert refusal_of(parse_fields, *fields).findings[0].code == "GRANT008"
    assert refusal_of(parse_target_fields, fields[0], fields[1], *fields[3:]).findings[0].code == "GRANT008"


def test_a_text_at_the_limit_is_read():
    text = "kv(a/b/c) @ * : read : s."
    key = "k" * (MAX_GRANT_CHARS - len(text))
    assert parse_grant(text + key).target.resource.key == key


LONG = [
    "filesystem(*/*/*/*/*) @ * : read : " + "/a" * 30_000 + "/",
    "network() @ * : connect : " + "a." * 30_000 + ".",
    "config(*/*/*/*/*) @ * : read : " + "a." * 30_000,
    "tool(*/*/*/*/*) @ * : invoke : " + "a " * 30_000 + "-=",
    "oplog(*/*/*/*/*) @ * : read : start=" + "9" * 60_000,
    "kv(" + "a/" * 30_000 + ") @ * : read : s.k",
    "kv(*/*/*) @ " + "a/" * 30_000 + " : read : s.k",
    "kv(a/b/" + "a-" * 30_000 + ") @ * : read : s.k",
    "x" * 60_000 + "(a) @ * : b : c",
    "kv(a/b/c) @ * : " + "x" * 60_000 + " : c",
]


@pytest.mark.parametrize("text", [pytest.param(t, id=t[:12]) for t in LONG])
def test_long_texts_are_refused_with_a_short_message(text):
    error = refusal_of(parse_grant, text)
    assert len(error.findings[0].message) < 300
    assert len(error.findings[0].help) < 300


@pytest.mark.parametrize(
    "text, seen",
    [
        ("a\x00b", r"`a\x00b`"),
        ("a\u202eb", r"`a\u202eb`"),
        ("a\ud800b", r"`a\ud800b`"),
        ("a\nb", r"`a\nb`"),
        ("é", "`é`"),
        ("x" * 200, "`" + "x" * 60 + "…" + "x" * 40 + "`"),
    ],
)
def test_user_text_is_shown_without_its_tricks(text, seen):
    assert shown(text) == seen


GUEST = [
    (("warp", "a", "*", "b", "c"), ("unknown-resource-class", "warp")),
    (("kv", "a/b/c", "*", "steal", "s.k"), ("invalid-verb", "steal")),
    (("kv", "a/b", "*", "read", "s.k"), ("invalid-owner", "a/b")),
    (("kv", "a/b/c", "a/b", "read", "s.k"), ("invalid-recipient", "a/b")),
    (("kv", "a/b/c", "*", "read", "sk"), ("invalid-pattern", "sk")),
    (("kv", "a/b/c", "*", "read", "?x.k"), ("invalid-pattern", "?x.k")),
    (("card", "a", "*", "install", "a/b"), ("invalid-recipient", "a/b")),
]


@pytest.mark.parametrize("fields, guest", GUEST)
def test_the_error_that_a_guest_sees(fields, guest):
    """Cards 1.8, the last column."""
    assert refusal_of(parse_fields, *fields).guest_error == guest


def test_a_malformed_text_is_an_invalid_pattern():
    assert refusal_of(parse_grant, "kv").guest_error == ("invalid-pattern", "missing class owner open")
