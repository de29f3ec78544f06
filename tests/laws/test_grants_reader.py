"""The parser and the reader of `tests/reference` agree on every text: canonical form, or kind and detail."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import UUID, disturbed, grant_texts, odd_text
from reference.grant_reader import Unreadable, read

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import classes_of
from policyd.syntax import Form, GrantSyntaxError, parse_grant

CLASSES = {rules: {c.name: (c.owner.value, c.verbs) for c in classes_of(rules)} for rules in (SNAPSHOT, NEXT)}
UNCOMPARED = ("Malformed", "InvalidRecipientPath")

TRICKY = (
    *("0" * 32, "9" * 32, "abcdef" * 5 + "ab", UUID.upper(), f"{{{UUID}}}", f"urn:uuid:{UUID}", f"URN:UUID:{UUID}"),
    *("+007", "+", "-1", str(2**64 - 1), str(2**64), "start=+1:end=02", "end=1:start=", "start=1:", "start=1:start=2"),
    *("rev=3", "@rev=+1", "@@rev=1", "rev=", "@rev=" + str(2**64)),
    *("a.b:080", "a.b:0-65535", "a.b:65536", "a.b:1-", "A.B.:1", "a.b. :1", " a :1", "*.", "*.:1", "*:1", "[::1]:4"),
    *("1.2.3.4", "1.2.3.4.", "01.2.3.4", "1.2.3.256", "1.2.3", "*.2.3", "a:b:1", "10.0.0.0/8"),
    *("**", "***", "/", "//", "/a/", "/***", "/a*", "/**/**", "a.*.b", "a..b", ".a", "a."),
    *("--a=", "--a=b=c", "-a-", "-", "--", "-ab --c=* d", "a.b --c", "a. b", "a\u3000b", "* b"),
    *("s.k", "s..k", ".k", "*.**", "a.b.c", "a.b.c.d", "a./x", "a.b./x", "gh/", "/gh", "gh//", "?", "? x", "a?b"),
)


@st.composite
def _tricky(draw, rules):
    text = draw(grant_texts(Form.CONCRETE, rules))
    return text[: text.rindex(" : ") + 3] + draw(st.sampled_from(TRICKY))


def _texts(form, rules):
    return st.one_of(disturbed(grant_texts(form, rules)), _tricky(rules), disturbed(_tricky(rules)), odd_text)


def _answers(text, form, rules):
    try:
        core = parse_grant(text, form, rules).text
    except GrantSyntaxError as error:
        core = (error.kind.value,) if error.kind.value in UNCOMPARED else (error.kind.value, error.detail)
    try:
        return core, read(text, form.value, CLASSES[rules])
    except Unreadable as error:
        return core, error.args


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("rules", [SNAPSHOT, NEXT], ids=lambda r: r.label)
@given(data=st.data())
def test_every_text_is_read_alike(form, rules, data):
    core, reference = _answers(data.draw(_texts(form, rules)), form, rules)
    assert core == reference


@pytest.mark.acceptance
@pytest.mark.parametrize("form", list(Form))
@settings(max_examples=3000, derandomize=True)
@given(data=st.data())
def test_many_texts_are_read_alike(form, data):
    core, reference = _answers(data.draw(_texts(form, NEXT)), form, NEXT)
    assert core == reference
