"""A manifest that is read under a second edition says what a fresh reading under it says."""

from __future__ import annotations

import pytest

from policyd.core.edition import NEXT, SNAPSHOT, Edition, Rules
from policyd.findings import InputError
from policyd.manifest import load_text
from policyd.manifest.rereading import under
from policyd.usecases.deployments import Editions, Selection, accepted, described

HEAD = """manifestVersion: {version}
app: shop
environments: {{prod: {{server: cloud, account: a@b.c}}}}
components: {{'shop:all': {{dir: all, templates: [one, two]}}}}
componentTemplates:
  base: {{env: {{A: b}}}}
  one: {{templates: base}}
  two: {{templates: {two}}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - 'kv(?env) @ ?agent : read : a.**'
          - 'agent(?agent) @ ?agent : debug : *'
          - '{grant}'
{more}
"""
GRANTS = (
    "kv(?env) @ * : read : b.**",
    "account.tool-release(?account) @ ?agent : view : x",
    "kv(?env) @ a@b.c/p/e/c/~external-tool-owner : read : a.b",
    "card(?account) @ ?agent : derive : a@b.c/p/e/c/~external-tool-owner",
    "kv(?env) @ ?agent : eat : a.b",
)
MORE = ("", "tools: {search: {component: 'shop:all'}}", "toolMiddleware: {m: {component: 'shop:all'}}", "nonsense: 1")
TEXTS = tuple(
    HEAD.format(version=version, two=two, grant=grant, more=more)
    for version in ("1.6.0", "2.0.0")
    for two in ("base", "[]")
    for grant in GRANTS
    for more in MORE
)
RULES = (NEXT, SNAPSHOT, Rules.of(Edition.NEXT, {"card_classes": "34", "external_tool_owner": "absent"}))
HERE = Selection("prod")


def outcome(read):  # type: ignore[no-untyped-def]
    """The deployment, or the findings of a refusal."""
    try:
        found = read()
    except InputError as refusal:
        return [f.message for f in refusal.findings]
    cards = [a.initial_card for a in found.deployment.agents]
    return [repr(found.findings), [(c.as_written, [*c.each()], [b.text for b in c.bad]) for c in cards]]


@pytest.mark.parametrize("first", RULES)
@pytest.mark.parametrize("second", RULES)
def test_a_second_edition_is_read_like_a_first(first: Rules, second: Rules) -> None:
    """Findings, refusals and cards with their places, for texts that the editions read differently."""
    compared = refused = 0
    for text in TEXTS:
        loaded = load_text(text, rules=first)
        if loaded.refused:
            refused += 1
            continue
        assert under(loaded, second).findings == load_text(text, rules=second).findings
        manifest = Editions(loaded)
        told = [outcome(lambda r=r: manifest.described(HERE, r)) for r in (first, second, first)]  # noqa: B023
        fresh = outcome(lambda: described(accepted(load_text(text, rules=second)), HERE, second))  # noqa: B023
        assert told[1] == fresh
        assert told[0] == told[2]
        compared += 1
    assert compared
    assert compared + refused == len(TEXTS)


def test_the_editions_do_differ_on_these_texts() -> None:
    """The comparison above is not one of equal things."""
    differ = [t for t in TEXTS if load_text(t, rules=NEXT).findings != load_text(t, rules=SNAPSHOT).findings]
    assert differ
    text = HEAD.format(version="1.6.0", two="[]", grant=GRANTS[1], more="")
    manifest = Editions(load_text(text))
    (new,), (old,) = (manifest.described(HERE, r).deployment.agents for r in (NEXT, SNAPSHOT))
    assert not new.initial_card.bad
    assert old.initial_card.bad
