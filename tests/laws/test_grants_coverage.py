"""Coverage is an order up to mutual cover: on owners, recipients, resources and whole grants."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from laws.strategies import RECIPIENTS, grants, owners_of, resources_of, targets

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import ANY_VERB, OwnerKind, classes_of
from policyd.syntax import Form, parse_grant, parse_owner, parse_recipient, parse_resource


def _pools():
    yield from (("owner " + k.value, [parse_owner(t, k) for t in owners_of(k, Form.CONCRETE)]) for k in OwnerKind)
    for rules in (SNAPSHOT, NEXT):
        yield f"recipient {rules.label}", [parse_recipient(t, rules=rules) for t in RECIPIENTS]
    seen = set()
    for cls in classes_of(NEXT):
        if cls.resource in seen:
            continue
        seen.add(cls.resource)
        values = {parse_resource(t, cls, v) for v in (ANY_VERB, *cls.verbs) for t in resources_of(cls, v)}
        yield f"resource {cls.resource.value}", sorted(values, key=repr)


POOLS = list(_pools())


@pytest.mark.parametrize("pool", [pytest.param(values, id=name) for name, values in POOLS])
def test_coverage_is_reflexive_and_transitive(pool):
    """On every part of a grant, for all triples of the world."""
    for a in pool:
        assert a.covers(a)
        inside = [b for b in pool if a.covers(b)]
        for b in inside:
            for c in pool:
                assert not b.covers(c) or a.covers(c), (a.text, b.text, c.text)


@given(grants())
def test_a_grant_covers_itself(grant):
    assert grant.covers(grant)
    assert grant.target.covers(grant.target)


@st.composite
def _chains(draw):
    """Three grants of one class, so that the premises of transitivity hold often."""
    name = draw(st.sampled_from([c.name for c in classes_of(NEXT)]))
    return tuple(draw(grants(names=(name,))) for _ in range(3))


@given(_chains())
def test_grants_are_transitive(chain):
    a, b, c = chain
    assume(a.covers(b) and b.covers(c))
    assert a.covers(c)
    assert a.target.covers(c.target)


@given(grants(), grants())
def test_the_recipient_is_all_that_tells_patterns_from_targets(a, b):
    """S3, S4."""
    assert a.covers(b) == (a.target.covers(b.target) and a.recipient.covers(b.recipient))


@given(grants(), targets())
def test_classes_never_cover_each_other(grant, target):
    """S1."""
    assume(grant.target.cls != target.cls)
    assert not grant.target.covers(target)


@given(grants(), grants())
@example(
    parse_grant("oplog(*/*/*/*/*) @ * : read : start=0"),
    parse_grant("oplog(*/*/*/*/*) @ * : read : end=18446744073709551615"),
)
def test_what_covers_each_other_differs_in_the_resource_only(a, b):
    """Antisymmetry up to the pairs of `test_grants_mutual.py`: class, owner, recipient and verb are equal."""
    assume(a.covers(b) and b.covers(a))
    assert (a.target.cls, a.target.owner, a.target.verb) == (b.target.cls, b.target.owner, b.target.verb)
    assert a.recipient == b.recipient
