"""Target texts (cards 1.11 P13)."""

import pytest

from policyd.core.grants import AgentContext
from policyd.syntax import GrantSyntaxError, parse_grant, parse_target, parse_target_fields

SELF = AgentContext("ana@lab.io", "atlas", "qa", "geo:core", "Mapper", 'Mapper("n1")')
I = 'ana@lab.io/atlas/qa/geo:core/Mapper("n1")'  # noqa: E741 - the specification's letter


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("kv(a/b/c) : read : s.k", "kv(a/b/c) : read : s.k"),
        ("  kv ( A@X/b/c ) :  read  :  s.k  ", "kv(a@x/b/c) : read : s.k"),
        ("system() : view-default-plan :", "system() : view-default-plan : "),
        ("system() : view-default-plan : ", "system() : view-default-plan : "),
        ("kv(a/b/c) : read : s.a : b", "kv(a/b/c) : read : s.a : b"),
        ("kv(a/b/c) : read : s.a) : b", "kv(a/b/c) : read : s.a) : b"),
        ("kv(a/b/c) : read : s.a) @ b", "kv(a/b/c) : read : s.a) @ b"),
        (f"agent({I}) : * : *", f"agent({I}) : * : *"),
        ("kv(*/*/*) : * : *.**", "kv(*/*/*) : * : *.**"),
    ],
)
def test_what_is_read(text, canonical):
    assert parse_target(text).text == canonical
    assert parse_target(canonical).text == canonical


@pytest.mark.parametrize(
    "text, kind",
    [
        ("kv(a/b/c) : read :s.k", "Malformed"),
        ("kv(a/b/c): read : s.k", "Malformed"),
        ("kv(a/b/c) @ * : read : s.k", "Malformed"),
        ("kv(a) @ b/b/c) : read : s.k", "Malformed"),
        ("warp(?env) : z : q", "SlotVariableInConcreteGrant"),
        ("warp(x) : z : q", "UnknownClass"),
        ("kv(x) : z : q", "InvalidOwnerPath"),
        ("kv(a/b/c) : z : q", "UnknownVerb"),
        ("kv(a/b/c) : read : q", "InvalidResource"),
        ("card(a) : install : a/b", "InvalidRecipientPath"),
        ("agent(a/b/c/d/*) : debug : *", "UnknownVerb"),
    ],
)
def test_the_order_of_checks(text, kind):
    with pytest.raises(GrantSyntaxError) as told:
        parse_target(text)
    assert told.value.kind.value == kind


def test_slots_are_filled_from_the_holder():
    target = parse_target("env(?agent) : read : KEY", slots=True)
    assert target.filled(SELF) == parse_target(f"env({I}) : read : KEY")


@pytest.mark.parametrize("text", ["kv(?env) : read : ?x.k", "kv(?agent) : read : s.k", "kv(?self) : read : s.k"])
def test_slots_where_they_may_not_stand(text):
    with pytest.raises(GrantSyntaxError):
        parse_target(text, slots=True)


def test_four_fields_name_owners_that_no_text_can():
    """An id that holds `) : ` or `) @ ` is cut in the text form; the fields take it as it is."""
    odd = 'ana@lab.io/atlas/qa/geo:core/Mapper("a) : b) @ c")'
    target = parse_target_fields("agent", odd, "view", "")
    assert target.owner.known[-1] == 'Mapper("a) : b) @ c")'
    with pytest.raises(GrantSyntaxError):
        parse_target(target.text)


@pytest.mark.parametrize("owner", [" a/b/c", "a/b/c "])
def test_four_fields_are_not_trimmed(owner):
    if owner.startswith(" "):
        assert parse_target_fields("kv", owner, "read", "s.k").owner.known[0] == " a"
    else:
        with pytest.raises(GrantSyntaxError):
            parse_target_fields("kv", owner, "read", "s.k")


def test_a_target_is_what_a_grant_names():
    assert parse_target("kv(a/b/c) : read : s.k") == parse_grant("kv(a/b/c) @ * : read : s.k").target
