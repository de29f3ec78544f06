"""Everything that is offered while a grant is written makes a grant."""

from __future__ import annotations

import pytest
from lsprotocol.types import CompletionItem

from policyd.core.edition import NEXT, SNAPSHOT, Rules
from policyd.core.grants.classes import PermissionClass, classes_of
from policyd.lsp.completion import Typed, completions, typed_at
from policyd.manifest import load_text
from policyd.syntax import Form, parse_grants
from policyd.usecases.deployments import Selection, described

TEXT = """\
manifestVersion: 1.6.0
app: shop
environments:
  prod: {server: cloud, account: acme@example.com}
components:
  shop:cart: {dir: cart, env: {REGION: eu}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - "kv(?env) @ ?agent : read : a.b"
  Receipt: {}
secretDefaults:
  prod: {stripe: {key: x}}
"""


def offered(text: str, rules: Rules) -> list[CompletionItem]:
    loaded = load_text(TEXT, rules=rules)
    return completions(Typed(text), [described(loaded, Selection("prod"), rules).deployment], rules)


@pytest.mark.parametrize("rules", [NEXT, SNAPSHOT])
def test_every_item_is_part_of_a_grant(rules: Rules) -> None:
    for cls in offered("", rules):
        assert cls.insert_text is not None
        head = cls.insert_text
        verbs = offered(head, rules)
        owners = offered(f"{cls.label}(", rules)
        recipients = offered(f"{head.partition('@')[0]}@ ", rules)
        assert verbs
        assert recipients
        for verb in verbs:
            resources = offered(f"{head}{verb.label} : ", rules)
            for resource in resources:
                assert parse_grants(f"{head}{verb.label} : {resource.label}", Form.MANIFEST, rules)
        tail = head.partition("@")[2] + verbs[0].label + " : " + offered(f"{head}{verbs[0].label} : ", rules)[0].label
        for owner in owners:
            assert parse_grants(f"{cls.label}({owner.label}) @{tail}", Form.MANIFEST, rules)
        for recipient in recipients:
            part = tail.partition(" : ")[2]
            assert parse_grants(f"{head.partition('@')[0]}@ {recipient.label} : {part}", Form.MANIFEST, rules)


@pytest.mark.parametrize("cls", classes_of(NEXT), ids=lambda cls: cls.name)
def test_resources_are_offered_for_every_class(cls: PermissionClass) -> None:
    head = next(item.insert_text for item in offered("", NEXT) if item.label == cls.name)
    for verb in (*cls.verbs, "*"):
        assert offered(f"{head}{verb} : ", NEXT), verb


def test_names_of_the_manifest_are_offered() -> None:
    assert "stripe.key" in [i.label for i in offered("secret(?env) @ ?agent : reveal : ", NEXT)]
    assert "REGION" in [i.label for i in offered("env(?agent) @ ?agent : read : ", NEXT)]
    assert "?component/Receipt(*)" in [i.label for i in offered("agent(", NEXT)]


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ("k", ("class", "k")),
        ("kv(?en", ("owner", "?en")),
        ("kv(?env) @ ?ag", ("recipient", "?ag")),
        ("kv(?env) @ ?agent : re", ("verb", "re")),
        ("kv(?env) @ ?agent : read : a", ("resource", "a")),
    ],
)
def test_the_part_under_the_pointer(typed: str, part: tuple[str, str]) -> None:
    lines = TEXT.split("\n")
    line = next(number for number, text in enumerate(lines) if "kv(?env)" in text)
    found = typed_at(lines, line, lines[line].index("kv(") + len(typed))
    assert found == Typed(typed)
    assert found.part == part


@pytest.mark.parametrize("line", [0, 3, 6, 9, 10, 13, 99, -1])
def test_nothing_is_offered_outside_a_card(line: int) -> None:
    assert typed_at(TEXT.split("\n"), line, 4) is None


def test_a_list_of_the_same_name_elsewhere_is_no_card() -> None:
    text = "agents:\n  A:\n    other:\n      lowerBound:\n        positive:\n          - kv("
    assert typed_at(text.split("\n"), 5, 15) is None
