"""The pairs of different texts that cover each other, all named; nothing else does."""

from itertools import combinations
from pathlib import Path

import pytest
from laws.strategies import RECIPIENTS, owners_of, resources_of
from ruamel.yaml import YAML

from policyd.core.edition import NEXT
from policyd.core.grants import OwnerKind, classes_of
from policyd.syntax import Form, parse_owner, parse_recipient, parse_resource

GROUPS = YAML(typ="safe").load(
    (Path(__file__).parents[1] / "cases" / "grants" / "mutual.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("cls", [pytest.param(c, id=c.name) for c in classes_of(NEXT)])
def test_resources_that_cover_each_other(cls):
    named = {frozenset(pair) for group in GROUPS.get(cls.name, ()) for pair in combinations(group, 2)}
    found = set()
    for verb in ("*", *cls.verbs):
        values = {text: parse_resource(text, cls, verb) for text in resources_of(cls, verb)}
        found |= {
            frozenset((a, b))
            for a, b in combinations(values, 2)
            if values[a].covers(values[b]) and values[b].covers(values[a])
        }
    assert found == named


def test_no_two_owners_cover_each_other():
    for kind in OwnerKind:
        for a, b in combinations([parse_owner(t, kind) for t in owners_of(kind, Form.CONCRETE)], 2):
            assert not (a.covers(b) and b.covers(a)), (a.text, b.text)


def test_no_two_recipients_cover_each_other():
    for a, b in combinations([parse_recipient(t) for t in RECIPIENTS], 2):
        assert not (a.covers(b) and b.covers(a)), (a.text, b.text)


FILE_SYNONYMS = [
    ("/a/**", "/a/**/**"),
    ("/**/x", "/**/**/x"),
    ("/a/**/b/**", "/a/**/**/b/**/**"),
]


@pytest.mark.parametrize("one, other", FILE_SYNONYMS)
def test_repeated_globstars_of_paths_mean_one(one, other):
    files = next(c for c in classes_of(NEXT) if c.name == "filesystem")
    a, b = (parse_resource(text, files, "read") for text in (one, other))
    assert a.covers(b)
    assert b.covers(a)


ONE_WAY = [
    ("filesystem", "/**", "/**/*"),
    ("filesystem", "/**/*", "/*/*"),
    ("config", "a.**", "a.*"),
    ("config", "*", "**"),
    ("network", "*", "*:0-65535"),
    ("network", "map.org:80-80", "map.org:80"),
    ("oplog", "*", "start=0"),
    ("oplog", "start=5:end=6", "start=9:end=2"),
    ("kv", "*.k", "**.k"),
    ("agent", "*", ""),
    ("account.oauth2-identity", "*", "gh/*"),
]


@pytest.mark.parametrize("name, broad, narrow", ONE_WAY)
def test_near_synonyms_cover_in_one_direction_only(name, broad, narrow):
    cls = next(c for c in classes_of(NEXT) if c.name == name)
    a, b = (parse_resource(text, cls, "*") for text in (broad, narrow))
    assert a.covers(b)
    assert not b.covers(a)
