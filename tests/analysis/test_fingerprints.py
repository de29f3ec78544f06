"""Fingerprints, on which baselines rest: unrelated edits of a manifest change none of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.core.edition import NEXT
from policyd.manifest import load_text
from policyd.manifest.layout import canonical_layout
from policyd.report.marks import distinct_fingerprints
from policyd.usecases.audit_manifest import audit_manifest

HEAD = """\
manifestVersion: 1.6.0
app: shop
environments: {prod: {server: cloud, account: acme@x.io}}
components: {"a:b": {dir: a, templates: rust}}
agents:
"""
GRANTS = (
    "secret(?env) @ ?agent : * : *",
    "network() @ ?agent : * : *",
    "kv(?env) @ ?agent : read : a.b*",
    "kv(?env) @ ?agent : read : a.*",
    "kv(?env) @ ?agent : read : a.k",
    "config(?agent) @ ?agent : read : a.**",
    "no grant at all",
)
UNRELATED = ("env(?agent) @ ?agent : read : ZZ", "rdbms(?env) @ ?agent : query : other.public.t")


def marks(text):
    findings = audit_manifest(load_text(text)).findings
    return sorted(distinct_fingerprints(findings))


def manifest(agents, lead="", spaces=" "):
    out = HEAD
    for name, grants in agents.items():
        out += f"  {name}:\n    initialCard:\n      lowerBound:\n        positive:\n"
        out += "".join(f"{lead}          - '{grant.replace(' : ', f' :{spaces}')}'\n" for grant in grants)
    return out


grants = st.lists(st.sampled_from(GRANTS), min_size=1, max_size=5, unique=True)


@settings(max_examples=60, deadline=None)
@given(grants, grants, st.data())
def test_unrelated_edits(one, other, data):
    before = marks(manifest({"Cart": one, "Pay": other}))
    moved = data.draw(st.permutations(one))
    assert marks(manifest({"Cart": one, "Pay": other}, lead="\n          # a comment\n")) == before
    assert marks(manifest({"Cart": one, "Pay": other}, spaces="   ")) == before
    assert marks(manifest({"Pay": other, "Cart": one})) == before
    if "no grant at all" not in one:
        at = data.draw(st.integers(0, len(one)))
        longer = [*one[:at], UNRELATED[1], *one[at:]]
        assert set(before) <= set(marks(manifest({"Cart": longer, "Pay": other})))
        assert marks(manifest({"Cart": moved, "Pay": other})) == before


@settings(max_examples=30, deadline=None)
@given(grants)
def test_formatting(one):
    text = manifest({"Cart": one}, spaces="  ")
    assert marks(canonical_layout(load_text(text).documents[0], NEXT).text) == marks(text)


@pytest.mark.parametrize("new", ["secret(?env) @ ?agent : reveal : *", "kv(?env) @ ?agent : read : a.c*"])
def test_another_grant_in_the_place_of_an_accepted_one_is_new(new):
    """A finding is not accepted because one with the same words stood at the same number before."""
    old = marks(manifest({"Cart": ["kv(?env) @ ?agent : read : a.*", "kv(?env) @ ?agent : read : a.b*"]}))
    now = marks(manifest({"Cart": ["kv(?env) @ ?agent : read : a.*", new]}))
    assert set(now) - set(old)
