"""What the editions read differently (cards 2.4, 10.1)."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from policyd.core.edition import NEXT, SNAPSHOT, Edition, Rules
from policyd.core.grants import AgentContext, Level, classes_of
from policyd.syntax import Form, GrantSyntaxError, parse_grant, parse_recipient

CASES = YAML(typ="safe").load(
    (Path(__file__).parents[2] / "cases" / "grants" / "next.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("rules", [SNAPSHOT, NEXT], ids=lambda r: r.label)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c["text"])
def test_what_each_edition_reads(case, rules):
    expected = case[rules.edition.value]
    try:
        answer = parse_grant(case["text"], Form.CONCRETE, rules).text
    except GrantSyntaxError as error:
        answer = error.kind.value
    assert answer == expected


def test_the_classes_of_next_begin_with_those_of_the_snapshot():
    assert classes_of(NEXT)[:34] == classes_of(SNAPSHOT)
    assert [c.name for c in classes_of(NEXT)[34:]] == [
        "account.tool-release",
        "account.tool-middleware-release",
        "environment.tool-grant",
        "environment.tool-middleware-grant",
    ]


def test_the_switch_may_be_set_apart_from_the_edition():
    text = "environment.tool-grant(a/b/c) @ * : view : *"
    assert parse_grant(text, Form.CONCRETE, Rules.of(Edition.SNAPSHOT, {"card_classes": "38"})).text == text
    with pytest.raises(GrantSyntaxError):
        parse_grant(text, Form.CONCRETE, Rules.of(Edition.NEXT, {"card_classes": "34"}))


C = "ana@lab.io/atlas/qa/geo:core"
OWNER = parse_recipient(f"{C}/~external-tool-owner", rules=NEXT)
AS_TYPE = parse_recipient(f"{C}/~external-tool-owner", rules=SNAPSHOT)


def test_the_external_tool_owner_is_a_shape_of_its_own_under_next():
    assert OWNER.is_external_tool_owner
    assert not AS_TYPE.is_external_tool_owner
    assert OWNER.text == AS_TYPE.text
    assert not OWNER.covers(AS_TYPE)
    assert not AS_TYPE.covers(OWNER)
    assert OWNER.covers(OWNER)


@pytest.mark.parametrize(
    "wide", ["*", "ana@lab.io", "ana@lab.io/*/*", "ana@lab.io/*/*/*/*", "ana@lab.io/atlas/qa/*/*", f"{C}/*"]
)
def test_the_wider_shapes_cover_the_external_tool_owner(wide):
    assert parse_recipient(wide).covers(OWNER)
    assert not OWNER.covers(parse_recipient(wide))


@pytest.mark.parametrize("name", ["~External-tool-owner", "~external-tool-owner2", "~other", "external-tool-owner"])
def test_other_last_segments_stay_types(name):
    assert not parse_recipient(f"{C}/{name}").is_external_tool_owner


def test_only_the_fifth_segment_counts():
    assert not parse_recipient("a/b/c/~external-tool-owner/*").is_external_tool_owner
    assert parse_recipient("~external-tool-owner").level is Level.ACCOUNT


def test_a_slot_may_stand_before_the_external_tool_owner():
    slotted = parse_recipient("?component/~external-tool-owner", slots=True)
    filled = slotted.filled(AgentContext("ana@lab.io", "atlas", "qa", "geo:core", "Mapper"))
    assert slotted.text == "?component/~external-tool-owner"
    assert filled == OWNER
