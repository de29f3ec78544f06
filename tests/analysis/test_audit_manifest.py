"""The audit as a whole: environments, deploy answers, limits, odd input."""

from __future__ import annotations

import pytest
from rule_manifests import audited, completed

from policyd.analysis.audit import MAX_NAMED
from policyd.analysis.deploy import MAX_CANDIDATES, MAX_OFFENDERS
from policyd.core.cards import Bounds, Card, CardId
from policyd.findings import Report
from policyd.manifest import load_text
from policyd.syntax import Form, parse_grants
from policyd.usecases.audit_manifest import (
    DeployAnswer,
    audit_manifest,
    audit_with_deploys,
    deploy_answers,
    deploy_lines,
)

THREE = """
environments:
  a: {server: cloud, account: acme@example.com}
  b: {server: cloud, account: acme@example.com}
  c: {server: cloud, account: acme@example.com}
agents:
  Cart:
    presets:
      "app-env:c":
        initialCard: {}
"""


def card_with(*lower: str, agent: str = "Cart") -> str:
    grants = "".join(f"          - '{text}'\n" for text in lower)
    return f"agents:\n  {agent}:\n    initialCard:\n      lowerBound:\n        positive:\n{grants}"


def test_names_the_environments() -> None:
    """A finding that holds in some of the environments names those."""
    messages = {f.code: f.message for f in audited(THREE)}
    assert messages["CARD007"].endswith("(in environments `a`, `b`)")
    assert messages["CARD006"].endswith("(in environment `c`)")


def test_many_environments_are_counted() -> None:
    """A finding that holds in many environments names the first ones and counts the others."""
    named = ", ".join(f"e{n}: {{server: cloud, account: a@b.example}}" for n in range(MAX_NAMED + 3))
    text = f"environments: {{last: {{server: cloud, account: a@b.example}}, {named}}}\n" + (
        "agents: {Cart: {presets: {'app-env:last': {initialCard: {}}}}}\n"
    )
    messages = {f.code: f.message for f in audited(text)}
    assert messages["CARD007"].endswith(f"`e{MAX_NAMED - 1}` and 3 more)")


@pytest.mark.parametrize("limit", ["MAX_CARDS", "MAX_GRANTS"])
def test_environments_beyond_the_limit_are_told(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many cards or grants no further environment is looked at, and nothing is claimed of it."""
    monkeypatch.setattr(f"policyd.usecases.audit_manifest.{limit}", 0)
    loaded = load_text(completed(THREE))
    report, deploys = audit_with_deploys(loaded)
    (sentence,) = (text for text in report.not_analysed if "`--env`" in text)
    assert sentence.startswith("2 of 3 environments, `b` and those after it")
    assert {a.environment for a in deploys} == {"a"}
    assert [f.message.endswith("(in environment `a`)") for f in report if f.code == "CARD007"] == [True]
    whole, _ = audit_with_deploys(loaded, environments=["c"])
    assert "CARD006" in {f.code for f in whole}
    assert not [text for text in whole.not_analysed if "`--env`" in text]


def test_both_answers_are_those_of_each() -> None:
    """The report and the deploy answers of one reading are the same as those of two."""
    loaded = load_text(completed(THREE))
    assert audit_with_deploys(loaded) == (audit_manifest(loaded), deploy_answers(loaded))


def test_deploy_lines_say_what_is_not_judged() -> None:
    """With the deployer's own cards it is said that a deploy needs more than the check of initial cards."""
    answers = deploy_answers(load_text(completed(THREE)), deployer=[])
    assert "further rights of the deployer" in deploy_lines(answers, is_assumed=False)[-1]
    assert "further rights" not in "".join(deploy_lines(answers, is_assumed=True))


def test_same_bytes_every_time() -> None:
    """Two audits of one manifest are equal, in order too."""
    assert audited(THREE) == audited(THREE)


def test_assumed_root_is_said() -> None:
    """Without the deployer's cards the report says what is assumed, with them it does not."""
    sentence = "the deployer's cards: a plain account root card is assumed, because a manifest does not show them"
    assert sentence in audited(THREE).not_analysed
    assert sentence not in audited(THREE, []).not_analysed


def test_deploy_answers() -> None:
    """Every agent type of every environment is accepted, refused with the platform's text, or open."""
    text = completed(card_with("kv(?env) @ * : read : a.b"))
    (refused,) = deploy_answers(load_text(text))
    assert refused == DeployAnswer(
        "prod",
        "Cart",
        False,
        "Invalid initial permission card for agent type 'Cart': card derivation is not allowed by the creator's"
        " cards: LowerBoundTooBroad(kv(*/*/*) @ * : read : a.b)",
    )
    assert {a.is_accepted for a in deploy_answers(load_text(completed(THREE)))} == {True}
    bad = deploy_answers(load_text(completed(card_with("kv(?agent) @ ?agent : read : a.b"))))
    assert [(a.is_accepted, a.text[:18]) for a in bad] == [(False, "invalid owner path")]


def test_deploy_answer_is_open() -> None:
    """Where the account is not known, an owner in some account may be the own one."""
    text = "environments:\n  prod: {server: cloud}\n" + card_with("kv(bob@example.com/shop/prod) @ ?agent : read : a.b")
    loaded = load_text(completed(text))
    assert [a.is_accepted for a in deploy_answers(loaded)] == [None]
    assert [a.is_accepted for a in deploy_answers(loaded, account="bob@example.com")] == [True]
    assert [a.is_accepted for a in deploy_answers(loaded, account="eve@example.com")] == [False]


FILES = "filesystem(*/*/*/*/*) @ * : * : /**"
KV_OF_BOB = "kv(bob@example.com/shop/prod) @ * : * : *.**"
KV_OF_ALL = "kv(*/*/*) @ * : * : *.**"
KV_OF_CART = "kv(*/*/*) @ bob@example.com/shop/prod : * : *.**"
OWN_KV = card_with("kv(?env) @ ?agent : read : a.b")
CART_KV = card_with("kv(?env) @ bob@example.com/shop/prod : read : a.b")


@pytest.mark.parametrize(
    "manifest, lower, negative, expected",
    [
        ("agents: {Cart: {}}\n", [FILES], [], False),
        (OWN_KV, [FILES], [], False),
        (OWN_KV, [KV_OF_BOB], [], None),
        (OWN_KV, [KV_OF_ALL], [], True),
        (OWN_KV, [KV_OF_CART], [], None),
        (OWN_KV, [KV_OF_ALL], [KV_OF_BOB], False),
        (OWN_KV, [], [], False),
        (CART_KV, [KV_OF_ALL], [], True),
        (card_with("kv(bob@example.com/a/b) @ ?agent : read : a.b"), [KV_OF_BOB], [], False),
        (card_with("kv(?env) @ ?agent : read : a.b", "network() @ ?agent : connect : *"), [KV_OF_BOB], [], False),
        (
            card_with("kv(?env) @ ?agent : read : a.b", "kv(eve@example.com/shop/prod) @ ?agent : read : a.b"),
            [KV_OF_BOB],
            [],
            False,
        ),
    ],
)
def test_deploy_answer_over_all_names(
    manifest: str, lower: list[str], negative: list[str], expected: bool | None
) -> None:
    """Without an account the answer is the one that every account shares, mentioned or not; else it is open."""
    bounds = Bounds(*(tuple(g for t in texts for g in parse_grants(t, Form.CONCRETE)) for texts in (lower, negative)))
    loaded = load_text(completed("environments:\n  prod: {server: cloud}\n" + manifest))
    (answer,) = deploy_answers(loaded, deployer=[Card(CardId("deployer"), bounds)])
    assert answer.is_accepted is expected
    assert bool(answer.text) is (expected is False)
    sentence = "whether the deploy accepts the card of `Cart` in `prod`"
    report = audit_manifest(loaded, deployer=[Card(CardId("deployer"), bounds)])
    assert any(text.startswith(sentence) for text in report.not_analysed) is (expected is None)


def test_first_refused_grant_is_named() -> None:
    """A default card that the deployer's cards do not cover is refused with its first such grant."""
    bounds = Bounds(tuple(parse_grants(FILES, Form.CONCRETE)))
    loaded = load_text(completed("environments:\n  prod: {server: cloud}\nagents: {Cart: {}}\n"))
    (answer,) = deploy_answers(loaded, deployer=[Card(CardId("deployer"), bounds)])
    assert answer.text.endswith("LowerBoundTooBroad(network() @ <account>/shop/prod/shop:cart/Cart : * : *)")


def test_more_names_than_are_tried() -> None:
    """A card that mentions more accounts than are tried stays open."""
    grants = [f"kv(a{number}@example.com/x/y) @ ?agent : read : a.b" for number in range(MAX_CANDIDATES + 1)]
    loaded = load_text(completed("environments:\n  prod: {server: cloud}\n" + card_with(*grants)))
    assert [a.is_accepted for a in deploy_answers(loaded)] == [None]


def test_unknown_names_are_shown_as_such() -> None:
    """The platform's text has no invisible placeholders."""
    text = "environments:\n  prod: {server: cloud}\n" + card_with("system() @ ?agent : create-account :")
    (answer,) = deploy_answers(load_text(completed(text)))
    assert answer.text.endswith("(system() @ <account>/shop/prod/shop:cart/Cart : create-account : )")


def test_many_offenders_are_counted() -> None:
    """Past the limit, refused grants are counted and no longer told one by one."""
    texts = [f"kv(?env) @ * : read : a.k{i}" for i in range(MAX_OFFENDERS + 7)]
    told = [f for f in audited(card_with(*texts)) if f.code == "CARD001"]
    assert len(told) == MAX_OFFENDERS + 1
    assert any(f.message.startswith("7 further lower grants") for f in told)


def test_nothing_is_told_past_the_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the effort is spent there is no finding, and the report counts what is undecided."""
    texts = [f"kv(?env) @ ?agent : read : a.k{n}" for n in range(3)]
    text = card_with(*texts, "kv(?env) @ ?agent : read : a.k0")
    assert not [line for line in audited(text).not_analysed if "undecided" in line]
    monkeypatch.setattr("policyd.analysis.proofs.MAX_LOOKED", 0)
    monkeypatch.setattr("policyd.analysis.proofs.MAX_LOOKED_EACH", 1)
    report = audited(text)
    assert [line for line in report.not_analysed if line.startswith("whether 3 grants of the card of `Cart`")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "agents: 3",
        "agents: {Cart: {initialCard: 7}}",
        "agents: {Cart: {initialCard: {lowerBound: {positive: [[], {}, 1, null]}}}}",
        'agents: {"": {initialCard: {}}}',
        'agents: {"a\\nb\\u0000": {initialCard: {lowerBound: {positive: ["kv(?env) @ ?agent : read : a.b*"]}}}}',
        "agents: {Cart: {files: [{targetPath: '*'}, 3]}}",
        "environments: {prod: {account: '{{ X }}', server: cloud}}\nagents: {Cart: {initialCard: {}}}",
        "components: {'a:b': {initialCard: {}}, 'a:c': 3}",
    ],
)
def test_odd_input_is_told(text: str) -> None:
    """Whatever the document holds, there is a report, and its messages stand on one line."""
    for whole in (text, completed(text)):
        report = audit_manifest(load_text(whole))
        assert isinstance(report, Report)
        assert all("\n" not in f.message for f in report)


def test_deployer_cards_without_lower_grants() -> None:
    """A deployer whose cards only limit grants nothing, so every lower grant is refused."""
    told = audited(card_with("kv(?env) @ ?agent : read : a.b"), [Card(CardId("empty"))])
    assert "CARD001" in {f.code for f in told}
