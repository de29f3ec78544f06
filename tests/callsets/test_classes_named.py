"""A set is searched only in the classes that it names: outside them it has no call."""

from itertools import product

import pytest

from policyd.core.callsets.callset import (
    ALL_CALLS,
    NO_CALLS,
    Complement,
    Intersection,
    Union,
    calls_of,
    classes_named,
    contains,
)
from policyd.syntax import parse_target

TARGETS = [
    parse_target(text)
    for text in (
        "kv(acme@x.io/shop/prod) : read : orders.1",
        "env(acme@x.io/shop/prod/a:b/Cart) : read : HOME",
        "network() : connect : a.example:443",
    )
]
PARTS = [
    calls_of(()),
    calls_of(TARGETS[:1]),
    calls_of(TARGETS[:2]),
    Complement(calls_of(TARGETS[:1])),
    ALL_CALLS,
    NO_CALLS,
]
SETS = [
    *PARTS,
    *(form(pair) for form in (Union, Intersection) for pair in product(PARTS, PARTS)),
    *(Complement(Intersection(pair)) for pair in product(PARTS, PARTS)),
]


@pytest.mark.parametrize("calls", SETS, ids=range(len(SETS)))
def test_no_call_lies_outside(calls):
    names = classes_named(calls)
    assert all(names is None or target.cls.name in names for target in TARGETS if contains(calls, target))


def test_an_intersection_names_the_fewest():
    assert classes_named(Intersection((PARTS[2], PARTS[1], PARTS[3]))) == {"kv"}
    assert classes_named(PARTS[3]) is None
