"""The core and the model of `tests/reference` agree on what covers what."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import RECIPIENTS, grant_texts, owners_of, resources_of
from reference.grants_model import (
    files_cover,
    grant_covers,
    owner_covers,
    recipient_covers,
    resource_covers,
    target_covers,
)

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import ANY_VERB, classes_of
from policyd.core.grants.resources import FilePath
from policyd.syntax import Form, parse_grant, parse_owner, parse_recipient, parse_resource


@given(grant_texts(), grant_texts())
def test_grants(a, b):
    left, right = parse_grant(a), parse_grant(b)
    assert left.covers(right) == grant_covers(a, b)
    assert left.target.covers(right.target) == target_covers(a, b)


@pytest.mark.parametrize("cls", [pytest.param(c, id=c.name) for c in classes_of(NEXT)])
def test_all_resources_of_a_class(cls):
    """Every pair of the world, with every verb on either side that S2 lets meet."""
    values = [
        (verb, text, parse_resource(text, cls, verb))
        for verb in (ANY_VERB, *cls.verbs)
        for text in resources_of(cls, verb)
    ]
    for (verb_a, text_a, a), (verb_b, text_b, b) in product(values, repeat=2):
        if verb_a in (ANY_VERB, verb_b):
            expected = resource_covers(cls.name, (verb_a, text_a), (verb_b, text_b))
            assert a.covers(b) == expected, (verb_a, text_a, verb_b, text_b)


@pytest.mark.parametrize("cls", [pytest.param(c, id=c.name) for c in classes_of(NEXT)])
def test_all_owners_of_a_class(cls):
    texts = owners_of(cls.owner, Form.CONCRETE)
    for a, b in product(texts, repeat=2):
        core = parse_owner(a, cls.owner).covers(parse_owner(b, cls.owner))
        assert core == owner_covers(a, b, cls.name), (a, b)


@pytest.mark.parametrize("rules", [SNAPSHOT, NEXT], ids=lambda r: r.label)
def test_all_recipients(rules):
    for a, b in product(RECIPIENTS, repeat=2):
        core = parse_recipient(a, rules=rules).covers(parse_recipient(b, rules=rules))
        assert core == recipient_covers(a, b, tool_owner=rules is NEXT), (a, b)


SYMBOLS = ("a", "b", "*", "**")


def test_all_short_paths():
    """Every pattern of up to four segments over two literals and the stars, against every other."""
    paths = [p for size in range(5) for p in product(SYMBOLS, repeat=size)]
    for a, b in product(paths, repeat=2):
        assert FilePath(a).covers(FilePath(b)) == files_cover(a, b), (a, b)


_path = st.lists(st.sampled_from(SYMBOLS), max_size=12).map(tuple)


@given(_path, _path)
def test_longer_paths(a, b):
    assert FilePath(a).covers(FilePath(b)) == files_cover(a, b)


def test_the_longest_paths_compare_too():
    """The comparison is not exponential, and not slow on 10,000 segments."""
    tree = FilePath(("**", "a") * 5_000 + ("b",))
    assert not tree.covers(FilePath(("a",) * 10_000))
    assert tree.covers(FilePath(("a",) * 10_000 + ("b",)))
