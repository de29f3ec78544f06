"""Places of elements, and of characters within texts."""

from __future__ import annotations

import pytest

from policyd.manifest.compose import MAX_DEPTH, MAX_EXPANSION, compose
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar
from policyd.manifest.source import decode


def tree(text: str) -> Located:
    source, readable, _ = decode("x.yaml", text)
    found, findings = compose(source)
    assert readable
    assert found is not None, findings
    return found


def scalar(text: str, key: str = "a") -> LocatedScalar:
    root = tree(text)
    assert isinstance(root, LocatedMap)
    value = root.get(key)
    assert isinstance(value, LocatedScalar)
    return value


@pytest.mark.parametrize(
    "text, start, end, where, characters",
    [
        ("a: network() x\n", 0, 7, "x.yaml:1:4", "network"),
        ("a: 'kv(?env) y'\n", 3, 7, "x.yaml:1:8", "?env"),
        ('é: 1\na: "kv(?env) y"\n', 3, 7, "x.yaml:2:8", "?env"),
        ("a: >-\n    kv(?env) y\n", 3, 7, "x.yaml:2:8", "?env"),
        ("a: |\n    kv(?env) y\n", 3, 7, "x.yaml:2:8", "?env"),
        ("a: !t &x 'kv(?env) y'\n", 3, 7, "x.yaml:1:14", "?env"),
        ("a: 'abc'\n", 2, 99, "x.yaml:1:7", "c"),
        ("a: 'abc'\n", 9, 99, "x.yaml:1:8", ""),
    ],
)
def test_places_within_a_text(text: str, start: int, end: int, where: str, characters: str) -> None:
    """Characters of a one-line text have their own place, whatever the quotes."""
    span = scalar(text).span_of(start, end)
    assert span.where == where
    assert text[span.start : span.end] == characters
    assert span.path == "$.a"


@pytest.mark.parametrize(
    "text", ["a: 'it''s'\n", 'a: "x\\ty"\n', "a: x\n  y\n", "a: |\n  x\n  y\n", "a: >-\n  x\n  y\n"]
)
def test_changed_texts_have_one_place(text: str) -> None:
    """A text that the source shows otherwise has the place of the whole."""
    value = scalar(text)
    assert value.span_of(1, 2) == value.span


def test_paths() -> None:
    """Paths name keys and indexes, odd keys in brackets."""
    root = tree('agents: {Cart: [{"shop:cart": x}, y]}\n')
    assert isinstance(root, LocatedMap)
    agents = root.get("agents")
    assert isinstance(agents, LocatedMap)
    cart = agents.get("Cart")
    assert isinstance(cart, LocatedList)
    first = cart.items[0]
    assert isinstance(first, LocatedMap)
    assert first.entries[0][1].path == '$.agents.Cart[0]["shop:cart"]'
    assert first.entries[0][0].path == '$.agents.Cart[0]["shop:cart"]'
    assert cart.items[1].path == "$.agents.Cart[1]"


def test_spans_of_collections() -> None:
    """A collection reaches from its first character to the end of its last element."""
    text = "a:\n  - b\n  - {c: d}   \n\n# end\n"
    root = tree(text)
    assert isinstance(root, LocatedMap)
    value = root.get("a")
    assert isinstance(value, LocatedList)
    assert text[value.start : value.end] == "- b\n  - {c: d}"
    assert text[root.start : root.end] == text[: value.end]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_a_finding(opening: str) -> None:
    """A million levels are refused at the limit, at once."""
    source, _, _ = decode("x.yaml", opening * 1_000_000)
    found, findings = compose(source)
    assert found is None
    assert [finding.code for finding in findings] == ["MANIF011"]


def test_depth_limit_is_exact() -> None:
    """So many levels are read, one more is not, aliases counted."""
    assert tree("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for text in (
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "a: &a " + "[" * 100 + "]" * 100 + "\nb: " + "[" * 28 + "*a" + "]" * 28,
    ):
        source, _, _ = decode("x.yaml", text)
        assert [finding.code for finding in compose(source)[1]] == ["MANIF011"]
    assert tree("a: &a " + "[" * 100 + "]" * 100 + "\nb: " + "[" * 27 + "*a" + "]" * 27)


def test_alias_bombs_are_refused_by_name() -> None:
    """Both bounds on aliases: how often they are followed, and what they expand to."""
    laughs = "a0: &a0 [x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 20))
    wide = "a: &a [" + "x, " * 5000 + "]\nb: [" + "*a, " * 500 + "]\n"
    for text, says in ((laughs, "followed"), (wide, str(MAX_EXPANSION))):
        source, _, _ = decode("x.yaml", text)
        found, findings = compose(source)
        assert found is None
        assert [finding.code for finding in findings] == ["MANIF015"]
        assert says in findings[0].message
