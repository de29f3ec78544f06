"""Every rule has a page whose examples say what they promise."""

from __future__ import annotations

import json
import re

import pytest
from rule_manifests import audited, cards_of

from policyd.analysis import RULES, Rule, page_of
from policyd.core.edition import Edition, Rules
from policyd.core.retry import Overlay, read_rule
from policyd.core.retry.placed import RetryFacts
from policyd.findings.codes import is_code

SECTIONS = ["What it says", "Why it matters", "Example", "Instead", "Known misses", "Source"]


def blocks(code: str, mark: str) -> list[str]:
    """The fenced blocks of a page with that mark."""
    return re.findall(rf"```{mark}\n(.*?)```", page_of(code) or "", re.DOTALL)


def asked(rule: Rule) -> dict[str, object]:
    """What a page says beside its examples: an edition, and retry policies that exist or are set at run time."""
    out: dict[str, object] = {}
    edition = blocks(rule.code, "text edition")
    if edition:
        out["rules"] = Rules(Edition(edition[0].strip()))
    existing, overlay = blocks(rule.code, "json existing"), blocks(rule.code, "json overlay")
    if existing or overlay:
        said = json.loads(overlay[0]) if overlay else {}
        set_by_agent = tuple(map(read_rule, said.get("set", [])))
        policies = tuple(map(read_rule, json.loads(existing[0]))) if existing else None
        out["retry"] = RetryFacts(policies, Overlay(set_by_agent, frozenset(said.get("removed", []))))
    return out


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
class TestPage:
    def test_has_the_sections(self, rule: Rule) -> None:
        """The sections stand in their order, under the code as title."""
        page = page_of(rule.code) or ""
        assert page.startswith(f"# {rule.code}: ")
        assert re.findall(r"^## (.*)$", page, re.MULTILINE) == SECTIONS

    def test_bad_example_gives_exactly_this_code(self, rule: Rule) -> None:
        """Each bad example gives findings of this code and of no other."""
        examples = blocks(rule.code, "yaml bad")
        assert examples
        for example in examples:
            report = audited(example, self.deployer(rule), **asked(rule))
            assert {f.code for f in report} == {rule.code}, [(f.code, f.message) for f in report]
            assert all(f.span is not None and f.span.line > 0 for f in report)

    def test_good_example_gives_none(self, rule: Rule) -> None:
        """Each good example is clean."""
        examples = blocks(rule.code, "yaml good")
        assert examples
        for example in examples:
            report = audited(example, self.deployer(rule), **asked(rule))
            assert [(f.code, f.message) for f in report] == []

    @staticmethod
    def deployer(rule: Rule):  # type: ignore[no-untyped-def]
        found = blocks(rule.code, "json deployer")
        return cards_of(found[0]) if found else None


def test_rules_are_listed_once_and_in_order() -> None:
    """Codes are unique, well formed, and sorted within their family."""
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes)
    assert all(is_code(code) for code in codes)
    for family in {rule.family for rule in RULES}:
        own = [rule.code for rule in RULES if rule.family == family]
        assert own == sorted(own)
