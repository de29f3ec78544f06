"""Parts of one noun: what is told of them together is not told from each alone."""

import pytest

from policyd.core.edition import NEXT
from policyd.core.retry import Integer, NamedPolicy, Text, site_named
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q
from policyd.core.retry.space import Space, names_read
from policyd.solver.retry_questions import Exists, satisfiable

TOGETHER = (
    ("http-send-p3", "noun-uri contains ?q=1", "uri-path == /v1"),
    ("http-send-p3", "noun-uri contains ?q=1", "uri-host == h.com"),
    ("http-send-p3", "noun-uri starts https://a.com:8080/v", "uri-port == 8080"),
    ("rpc", "noun-uri contains zzz", "target-agent-type == Cart"),
    ("rdbms", "noun-uri contains abc", "db-type == mysql"),
    ("saga", "noun-uri contains xyz", "uri-path contains abc"),
)
TESTS = {"contains": q.TextTest.CONTAINS, "starts": q.TextTest.STARTS_WITH}


def _test(text: str) -> q.Predicate:
    name, word, value = text.split(" ", 2)
    if word in TESTS:
        return q.PropText(TESTS[word], name, value)
    return q.PropCompare(q.Comparison.EQ, name, Integer(int(value)) if value.isdigit() else Text(value))


@pytest.mark.parametrize(("slug", "one", "other"), TOGETHER)
def test_parts_that_overlap_are_not_proved_apart(slug: str, one: str, other: str) -> None:
    """The representatives find a noun or say that they may have missed one, and the solver finds it."""
    site = site_named(slug)
    assert site is not None
    both = q.And(_test(one), _test(other))
    rule = NamedPolicy("a", 1, both, p.Immediate())
    space = Space.of(site, NEXT, (rule,))
    assert space.pick((rule,)).judged[0].match or not space.is_exact(names_read(rule))
    assert isinstance(satisfiable(site, NEXT, both), Exists)


def test_parts_that_are_too_many_to_cross_are_not_proved_apart() -> None:
    """Three parts out of thirty each: not every combination is made, and nothing is proved from those that are."""
    site = site_named("http-send-p3")
    assert site is not None
    any_of = [q.PropIn(name, tuple(values)) for name, values in (
        ("uri-host", [Text(f"h{i}.com") for i in range(30)]),
        ("uri-path", [Text(f"/p{i}") for i in range(30)]),
        ("uri-port", [Integer(9000 + i) for i in range(30)]),
    )]  # fmt: skip
    triple = q.And(_test("uri-host == h9.com"), q.And(_test("uri-path == /p17"), _test("uri-port == 9005")))
    rules = [NamedPolicy("a", 9, triple, p.Immediate())]
    rules += [NamedPolicy(name, 1, test, p.Immediate()) for name, test in zip("bcd", any_of, strict=True)]
    space = Space.of(site, NEXT, rules)
    assert space.pick(rules).judged[0].match or not space.is_exact(names_read(rules[0]))


def test_many_tests_on_ports_take_bounded_work() -> None:
    """Ports are no longer tried one by one where that is too much, and then nothing is proved."""
    site = site_named("http-send-p3")
    assert site is not None
    globs = (q.PropText(q.TextTest.MATCHES, "uri-port", f"{i}*[0-9]*{i}") for i in range(60))
    rules = [NamedPolicy(f"r{i}", 1, test, p.Immediate()) for i, test in enumerate(globs)]
    space = Space.of(site, NEXT, rules)
    assert not space.is_exact(("uri-port",))
    few = Space.of(site, NEXT, rules[:2])
    assert few.is_exact(("uri-port",))
