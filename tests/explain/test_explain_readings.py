"""Denials that several operations show: all of them are told, each with its verdict, and none stands for the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from policyd.core.admission import Facet
from policyd.core.cards import CardId, ScopeCard
from policyd.core.edition import NEXT
from policyd.core.operations import Operation, Ports
from policyd.manifest import load_text
from policyd.syntax.denials import recognise
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables
from policyd.usecases.deployments import Selection, described
from policyd.usecases.explain_denial import explain
from policyd.usecases.explain_fixes import Means
from policyd.usecases.explain_holding import Holding, in_manifest
from policyd.usecases.explain_values import Asked, Explained, Outcome

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "explain" / "readings.yaml").read_text(encoding="utf-8"))
HERE = Selection("prod")
HEAD = """manifestVersion: 1.6.0
app: shop
environments: {prod: {server: cloud, account: dev@acme.io}}
components: {"shop:cart": {dir: cart}}
agents:
  Cart:
"""
WIDE = {
    "filesystem": ("?agent", "/**"),
    "network": ("", "*"),
    "env": ("?agent", "*"),
    "config": ("?agent", "**"),
    "secret": ("?env", "*"),
    "kv": ("?env", "*.**"),
    "blob": ("?env", "*.**"),
    "rdbms": ("?env", "*.*.*"),
    "agent": ("?env/*/*", "*"),
    "oplog": ("?env/*/*", "*"),
    "tool": ("?env/*/*", "*"),
    "card": ("?account", "*"),
}
_WITHOUT_RESOURCE = ("update-revision", "fork", "delete", "interrupt", "resume")


def holding(card: str) -> Holding:
    """An agent with a card."""
    return in_manifest(described(load_text(HEAD + card), HERE, NEXT), HERE, "Cart", NEXT)


def explained(held: Holding, text: str) -> tuple[Outcome, Explained]:
    asked = Asked(recognise(text))
    found = explain(held, asked, Ports(SqlTables(), OutboundUrls()), catalogue().operations, Means())
    assert len(found.items) == 1, text
    return found.outcome, found.items[0]


def _rows(names: list[str]) -> list[str]:
    return [f"          - '{name}'" for name in names]


def _wide(cls: str, verb: str) -> str:
    owner, resource = WIDE[cls]
    return f"{cls}({owner}) @ ?agent : {verb} : {'' if verb in _WITHOUT_RESOURCE else resource}".rstrip()


def card_without(operation: Operation) -> str:
    """A card that grants everything but what the operation asks for first."""
    template = operation.targets[0]
    verb = "*" if template.verb == "{verb}" else template.verb
    rows = ["    initialCard:", "      lowerBound:", "        positive:", *_rows([_wide(cls, "*") for cls in WIDE])]
    return "\n".join([*rows, "        negative:", *_rows([_wide(template.cls.name, verb)]), ""])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['shape']} {case['text'][:40]}")
def test_a_text_names_all_operations_that_show_it(case: dict[str, Any]) -> None:
    """Exactly those of the table, whichever of them comes first."""
    reading = recognise(case["text"])
    assert [d.shape for d in reading.denials] == [case["shape"]]
    assert sorted(g.operation for g in reading.denials[0].operations) == sorted(case["operations"])


def test_the_table_has_every_operation_that_a_card_can_refuse_without_a_target() -> None:
    """Operations of agents whose error carries no target stand at one shape at least."""
    told = {name for case in CASES for name in case["operations"]}
    silent = {"agent.get-metadata", "agent.resolve-strict", "config.get-all", "agent.complete-promise"}
    silent |= {"stream.read", "stream.append", "card.wallet"}
    missing = {
        operation.id
        for operation in catalogue().operations.values()
        if operation.side.value == "agent" and operation.targets and operation.id not in told | silent
    }
    assert missing == set()


PAIRS = [
    pytest.param(case["text"], name, id=f"{case['shape']} {name} {case['text'][:16]}")
    for case in CASES
    for name in case["operations"]
    if not name.startswith("rdbms") and case["shape"] != "B-01" and name != "agent.invoke.callee"
]


@pytest.mark.parametrize("text, name", PAIRS)
def test_whichever_operation_it_was_the_cards_are_not_cleared(text: str, name: str) -> None:
    """The cards refuse one of the operations alone: no answer says that the denial came from elsewhere."""
    outcome, item = explained(holding(card_without(catalogue().operations[name])), text)
    mine = next(r for r in item.operations if r.operation == name)
    assert mine.admitted is not Facet.YES
    assert "came from elsewhere" not in item.sentence
    readings = {r.admitted for r in item.operations}
    certain = [r for r in item.operations if r.how_sure == "certain"]
    if len(readings) > 1 and not certain:
        assert outcome is Outcome.DIFFERENT
        assert item.verdict is None


def test_readings_that_differ_are_ranked_and_have_their_changes() -> None:
    """The refused ones come first, each with its own line; nothing is said of all of them together."""
    held = holding("    initialCard: {lowerBound: {positive: ['agent(?agent) @ ?agent : view :']}}\n")
    outcome, item = explained(held, "AgentOperationError::PermissionDenied")
    assert outcome is Outcome.DIFFERENT
    assert [(r.operation, r.admitted.value) for r in item.operations] == [
        ("agent.list", "no"),
        ("agent.update", "no"),
        ("agent.fork", "no"),
        ("agent.revert", "no"),
        ("agent.get-self-metadata", "yes"),
    ]
    lines = {r.operation: r.detail.fixes.fixes[0].lines for r in item.operations if r.detail and r.detail.fixes.fixes}
    assert lines == {
        "agent.list": ("lower positive: agent(?component/*) @ ?agent : view :",),
        "agent.fork": ("lower positive: agent(?agent) @ ?agent : fork :",),
    }
    assert item.sentence.startswith("an operation of the host is denied, and the text does not tell which call it was")


def test_readings_that_agree_are_one_answer() -> None:
    """With none of them granted the cause is plain although the call is not."""
    held = holding("    initialCard: {lowerBound: {positive: ['network() @ ?agent : connect : *']}}\n")
    outcome, item = explained(held, "OplogReadError::PermissionDenied")
    assert outcome is Outcome.EXPLAINED
    assert item.sentence.startswith("whichever it was of `oplog.read`, `oplog.search`, the cards refuse it: ")
    assert all(r.admitted is Facet.NO for r in item.operations)


@pytest.mark.parametrize(
    "grant, facet",
    [("read : /**", Facet.UNKNOWN), ("* : /**", Facet.YES), ("stat : /**", Facet.NO), ("read : /other", Facet.NO)],
)
def test_flags_that_are_not_told_stay_open(grant: str, facet: Facet) -> None:
    """An open without its flags may have asked for any of three verbs."""
    held = holding(f"    initialCard: {{lowerBound: {{positive: ['filesystem(?agent) @ ?agent : {grant}']}}}}\n")
    _, item = explained(held, "golem: EPERM: operation not permitted, open '/data/a'")
    assert [(r.operation, r.admitted) for r in item.operations] == [("fs.open", facet)]
    assert "asks no card" not in item.sentence
    assert item.fixes.fixes == ()


def test_an_agent_of_another_component_is_not_taken_for_one_of_the_own() -> None:
    """The component of an agent that an error names comes from the manifest, or stays open."""
    held = holding("    initialCard: {lowerBound: {positive: ['agent(?component/*) @ ?agent : * : *']}}\n")
    text = 'Remote agent Pay("9").refund errored: {"tag":"denied","val":"cut off'
    outcome, item = explained(held, text)
    assert outcome is Outcome.DIFFERENT
    assert {r.admitted for r in item.operations if r.operation.startswith("agent.invoke")} == {Facet.UNKNOWN}


@pytest.mark.parametrize("text", ["permission denied", "Error: permission denied", "Forbidden", "PermissionDenied"])
def test_common_words_alone_are_a_denial_with_families(text: str) -> None:
    """What it may have been is told, and what to paste instead."""
    outcome, item = explained(holding("    initialCard: {}\n"), text)
    families = {r.operation.partition(".")[0] for r in item.operations}
    assert {"fs", "net", "dns", "http", "websocket", "config", "secret", "oplog", "agent", "tool"} <= families
    assert "paste the whole error" in item.fixes.ask or outcome is Outcome.EXPLAINED
    outcome, item = explained(
        holding("    initialCard: {lowerBound: {positive: ['network() @ ?agent : connect : *']}}\n"), text
    )
    assert outcome is Outcome.DIFFERENT
    assert "paste the whole error" in item.fixes.ask


def test_a_target_that_holds_a_secret_is_not_repeated() -> None:
    """An answer and its change would name the key; the paste is not told again."""
    text = (
        "key-value permission denied: The permission target Kv(ClassPermissionTarget { verb: Some(Write), owner:"
        ' Environment { account: AccountEmail("dev@acme.io"), application: ApplicationName("shop"), environment:'
        ' EnvironmentName("prod") }, resource: StoreKey { store: "orders", key_pattern: "password=hunter2" } })'
        " is not allowed"
    )
    outcome, item = explained(holding("    initialCard: {}\n"), text)
    assert outcome is Outcome.DIFFERENT
    assert "hunter2" not in repr((item.sentence, item.targets, item.fixes, item.causes, item.operations))


def test_a_hidden_part_is_no_argument() -> None:
    """A path of which a part is hidden is not decided upon as if it were the path."""
    held = holding("    initialCard: {lowerBound: {positive: ['filesystem(?agent) @ ?agent : * : /data/*']}}\n")
    outcome, item = explained(held, "golem: EPERM: operation not permitted, open '/data/token=hunter2'")
    assert outcome is Outcome.DIFFERENT
    assert [r.admitted for r in item.operations] == [Facet.UNKNOWN]


def test_a_refused_scope_card_is_told_as_such() -> None:
    """A scope card without roots refuses the invocation, whatever the cards; an empty card is no defect then."""
    held = holding("    initialCard: {}\n")
    scope = ScopeCard(CardId("7d0f0f0f-0000-4000-8000-0000000000aa"))
    asked = Asked(operation=catalogue().operations["fs.read"], arguments={"path": "/a"})
    found = explain(replace(held, scope=scope), asked, Ports(), catalogue().operations, Means())
    assert any("the scope card of the invocation is refused" in text for text in found.items[0].fixes.instead)
