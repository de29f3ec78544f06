"""Texts of queries: read, or refused with a place; never anything else."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policyd.core.callsets import Below
from policyd.core.edition import NEXT, SNAPSHOT, Rules
from policyd.core.grants import classes_of
from policyd.core.grants.resources import FilePath
from policyd.findings import InputError
from policyd.syntax import GrantSyntaxError, parse_target
from policyd.syntax.queries import is_grantable, parse_query

CLASSES = [cls.name for cls in classes_of(NEXT)]
WORDS = st.sampled_from(
    [*CLASSES, "any", "*", "under(", "under(x)", ")", "(", " : ", ":", "?env", "?agent", "a.b", "a.b.c", "**", "/", "@",
     "read", "connect", "x", "", " ", "?", "GOLEM", "[1]", "\x00", "é"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(WORDS, max_size=12).map("".join),
    st.builds(
        "{}({}) : {} : {}".format,
        st.sampled_from(CLASSES),
        st.one_of(WORDS, st.just("a@x.io/shop/prod")),
        st.one_of(WORDS, st.just("any")),
        st.one_of(WORDS, WORDS.map("under({})".format), st.lists(WORDS, max_size=4).map("".join)),
    ),
)


@given(TEXTS, st.sampled_from([NEXT, SNAPSHOT]))
@example("kv(any) : any : under()", NEXT)
@example("kv(any) : any : under(*)", NEXT)
@example("rdbms(any) : any : under(..)", NEXT)
@example("blob(any) : any : under(under(x))", NEXT)
@example("env(any) : any", NEXT)
@example("tool(any) : any : any", NEXT)
def test_a_text_is_a_query_or_is_refused(text: str, rules: Rules) -> None:
    """Nothing but our own errors, and what is read has a class that exists."""
    try:
        found = parse_query(text, rules)
    except (GrantSyntaxError, InputError):
        return
    assert found.cls in classes_of(rules)
    assert found.verb == "*" or found.verb in found.cls.verbs


@given(TEXTS)
def test_a_target_is_a_query_for_itself(text: str) -> None:
    """Whatever can be asked of `check` can be asked of `prove`, and means the same."""
    try:
        target = parse_target(text, NEXT, slots=True)
    except GrantSyntaxError:
        return
    words = {"any"} & {target.verb, target.resource.text, target.owner.text.strip()}
    if words or target.resource.text.startswith("under("):
        return
    found = parse_query(text, NEXT)
    assert (found.cls, found.owner, found.verb, found.resource) == (
        target.cls, target.owner, target.verb, target.resource
    )  # fmt: skip


def test_every_class_has_any_of_everything() -> None:
    for name in CLASSES:
        found = parse_query(f"{name}(any) : any : any")
        assert (found.owner, found.verb, found.resource) == (None, "*", None)


def test_stores_and_databases_have_an_inside() -> None:
    """A bucket, a container, a database, a schema: no grant can be written for them, a query can."""
    for text, words in (
        ("kv(?env) : any : under(orders)", ("orders",)),
        ("blob(?env) : read : under(images)", ("images",)),
        ("rdbms(any) : any : under(shop)", ("shop",)),
        ("rdbms(any) : any : under(shop.public)", ("shop", "public")),
        ("rdbms(any) : any : under(shop.public.orders)", ("shop", "public", "orders")),
        ("kv(?env) : read : under(orders.42)", ("orders", "42")),
        ("secret(?env) : reveal : under(stripe)", ("stripe",)),
    ):
        found = parse_query(text)
        assert isinstance(found.resource, Below), text
        assert found.resource.words == words
        assert not is_grantable(found)
    assert isinstance(parse_query("filesystem(?agent) : any : under(/data/*/logs)").resource, FilePath)


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("kv(?env) : any : under(*.**)", "write `any`"),
        ("secret(?env) : any : under(*)", "write `any`"),
        ("filesystem(?agent) : read : under(/**)", "write `any`"),
        ("network() : connect : under(*)", "write `any`"),
        ("network() : connect : under(*:443)", "write `any`"),
        ("filesystem(?agent) : read : under(/a/**)", "or `under(/a)` for all depths"),
        ("filesystem(?agent) : read : under(/a/*)", "write `/a/*` for what such a grant covers"),
        ("kv(?env) : read : under(orders.**)", "or `under(orders)` for all depths"),
        ("rdbms(?env) : query : under(shop.audit.*)", "or `under(shop.audit)` for all depths"),
        ("rdbms(?env) : query : under(shop.*.*)", "or `under(shop)` for all depths"),
        ("secret(?env) : reveal : under(stripe.**)", "or `under(stripe)` for all depths"),
        ("network() : connect : under(*.example.com:443)", "or `under(example.com:443)` for all depths"),
        ("env(?agent) : read : under(HOME)", "write `HOME` itself, or `any` for every resource"),
        ("oplog(?agent) : read : under(start=1:end=2)", "write `start=1:end=2` itself"),
        ("agent(?agent) : invoke : under(run)", "write `run` itself"),
        ("tool(?env/*/*) : invoke : under(run)", "write `run` itself"),
        ("card(?account) : install : under(*)", "write `*` itself"),
        ("plan() : view : under(basic)", "write `basic` itself"),
        ("kv(?env) : read : under()", "write `any` for all of them"),
        ("kv(?env) : read :   under(under(a))  ", "write `any` for all of them"),
    ],
)
def test_what_has_nothing_below_it_is_refused(text: str, help: str) -> None:
    """The refusal stands at the word, says why, and what to write instead."""
    with pytest.raises(GrantSyntaxError) as refused:
        parse_query(text)
    (finding,) = refused.value.findings
    assert finding.code == "GRANT009"
    assert help in finding.help
    assert finding.span is not None
    assert text[finding.span.start : finding.span.end] == text[text.index("under(") :].strip()


def test_a_class_that_does_not_exist_is_told_as_that() -> None:
    with pytest.raises(GrantSyntaxError) as refused:
        parse_query("nothing(?env) : read : under(x)")
    assert refused.value.findings[0].code == "GRANT002"


MISTAKES = [
    ("any(any) : any : any", 0, 3),
    ("foo(any) : read : any", 0, 3),
    ("env(any) : foo : any", 11, 14),
    ("network(any) : foo : under(a.com)", 15, 18),
    ("env(?x) : any : any", 4, 6),
    ("filesystem(any) : any :   under(/a//b)", 35, 36),
    ("kv(any) : any : a", 17, 17),
]


@pytest.mark.parametrize(("text", "start", "end"), MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_a_mistake_is_shown_in_the_query_as_it_was_written(text: str, start: int, end: int) -> None:
    """Not in what `any` and `under(…)` were replaced by, wherever these stand."""
    with pytest.raises(GrantSyntaxError) as refused:
        parse_query(text)
    assert (refused.value.text, refused.value.start, refused.value.end) == (text, start, end)


@given(
    st.sampled_from(["env", "kv", "agent", "network", "filesystem", "tool", "card", "anything"]),
    st.sampled_from(["any", " any ", "", "?env", "?agent", "a/b", "?nothing", "*/*/*"]),
    st.sampled_from(["any", "read", "*", "nothing", " any"]),
    st.sampled_from(["any", "under(a.b)", " under(/a) ", "under(", "a..b", "", "under(a:0)", "any any", "under()"]),
)
def test_every_mistake_lies_in_what_was_written(cls: str, owner: str, verb: str, resource: str) -> None:
    """Whatever is wrong, the text that is shown is the query, and the place is inside it."""
    text = f"{cls}({owner}) : {verb} : {resource}"
    try:
        parse_query(text)
    except GrantSyntaxError as refusal:
        shown = refusal
    else:
        return
    assert shown.text == text
    assert 0 <= shown.start <= shown.end <= len(text)
