"""Every rule has a page whose examples say what they promise."""

from __future__ import annotations

import re

import pytest
from rule_manifests import audited, cards_of

from policyd.analysis import RULES, Rule, page_of
from policyd.findings.codes import is_code

SECTIONS = ["What it says", "Why it matters", "Example", "Instead", "Known misses", "Source"]


def blocks(code: str, mark: str) -> list[str]:
    """The fenced blocks of a page with that mark."""
    return re.findall(rf"```{mark}\n(.*?)```", page_of(code) or "", re.DOTALL)


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
            report = audited(example, self.deployer(rule))
            assert {f.code for f in report} == {rule.code}, [(f.code, f.message) for f in report]
            assert all(f.span is not None and f.span.line > 0 for f in report)

    def test_good_example_gives_none(self, rule: Rule) -> None:
        """Each good example is clean."""
        examples = blocks(rule.code, "yaml good")
        assert examples
        for example in examples:
            report = audited(example, self.deployer(rule))
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
