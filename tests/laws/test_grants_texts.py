"""Reading and writing grants: canonical text gives the value back, and nothing unexpected comes of any text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laws.strategies import disturbed, grant_texts, odd_text, readable

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import classes_of
from policyd.core.grants.names import WHITE_SPACE
from policyd.findings.codes import is_code
from policyd.syntax import Form, GrantSyntaxError, parse_fields, parse_grant, parse_grants, parse_target

FORMS = list(Form)


def _comes_back(grant, form, rules):
    text = grant.text
    again = parse_grant(text, form, rules)
    assert again == grant
    assert again.text == text


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
def test_grants_of_the_world_come_back(form, data):
    """Every class of the edition, every form: parse, render, parse."""
    text = data.draw(grant_texts(form))
    grant = parse_grant(text, form)
    assert grant.text == text
    _comes_back(grant, form, NEXT)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rules", [SNAPSHOT, NEXT], ids=lambda r: r.label)
@given(data=st.data())
def test_whatever_is_read_comes_back(form, rules, data):
    """Texts a few characters away from a grant: refused, or read into something whose text gives it back (P10)."""
    text = data.draw(disturbed(grant_texts(form, rules)))
    for grant in readable(text, form, rules) or ():
        _comes_back(grant, form, rules)


@given(grant_texts(), st.lists(st.text(st.sampled_from(WHITE_SPACE), max_size=3), min_size=8, max_size=8))
def test_white_space_around_the_parts_is_trimmed(text, gaps):
    """P2."""
    cls, rest = text.split("(", 1)
    owner, rest = rest.split(") @ ", 1)
    recipient, verb, resource = rest.split(" : ", 2)
    a, b, c, d, e, f, g, h = gaps
    spaced = f"{a}{cls}{b}({c}{owner}{d}) @ {e}{recipient} : {f}{verb} : {g}{resource}{h}"
    assert parse_grant(spaced).text == text


@given(grant_texts())
def test_the_structured_form_reads_the_parts_of_a_canonical_text(text):
    """P9: on parts without margins it agrees with the text form."""
    cls, rest = text.split("(", 1)
    owner, rest = rest.split(") @ ", 1)
    recipient, verb, resource = rest.split(" : ", 2)
    assert parse_fields(cls, owner, recipient, verb, resource) == parse_grant(text)


def test_a_tool_call_of_nothing_is_the_exception():
    """P10: reachable through the structured form with a blank resource; it renders `*`, which reads as any call."""
    grant = parse_fields("tool", "*/*/*/*/*", "*", "invoke", "  ")
    assert grant.text == "tool(*/*/*/*/*) @ * : invoke : *"
    assert parse_grant(grant.text) != grant


@given(grant_texts())
def test_targets_come_back(text):
    """P13: the target text of what a grant names reads back as the same target."""
    target = parse_grant(text).target
    assert parse_target(target.text) == target


def _survives(text):
    for form in FORMS:
        for rules in (SNAPSHOT, NEXT):
            for read in (parse_grant, parse_grants):
                try:
                    read(text, form, rules)
                except GrantSyntaxError as error:
                    _is_well_told(error, text)
    try:
        parse_target(text)
    except GrantSyntaxError as error:
        _is_well_told(error, text)


def _is_well_told(error, text):
    (finding,) = error.findings
    assert is_code(finding.code)
    assert "\n" not in finding.message
    assert 0 <= error.start <= error.end
    assert error.end <= len(text)
    assert len(finding.message) < 1000
    assert (finding.message + finding.help).isprintable()


@given(odd_text)
def test_any_text_is_read_or_refused(text):
    _survives(text)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(raw):
    _survives(raw.decode("latin-1"))
    _survives(raw.decode("utf-8", "replace"))
    _survives(raw.decode("utf-8", "surrogateescape"))


@given(disturbed(grant_texts(Form.MANIFEST)))
@example("kv(\ud800/a/b) @ * : read : s.\udfff")
@example("kv(a/a/b) @ \x00 : read : s.k")
@example("tool(*/*/*/*/*) @ * : invoke : \u202e run")
def test_near_grants_are_read_or_refused(text):
    _survives(text)


@given(st.sampled_from([c.name for c in classes_of(NEXT)]), odd_text, odd_text, odd_text, odd_text)
def test_any_fields_are_read_or_refused(cls, owner, recipient, verb, resource):
    """The structured form takes its fields as they are."""
    whole = f"{cls}({owner}) @ {recipient} : {verb} : {resource}"
    try:
        grant = parse_fields(cls, owner, recipient, verb, resource)
    except GrantSyntaxError as error:
        _is_well_told(error, whole)
        return
    assert grant.target.cls.name == cls
    assert grant.target.verb == verb
