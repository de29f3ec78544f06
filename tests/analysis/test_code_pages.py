"""Every code that is told has a page, and the index lists them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import policyd
from policyd.analysis import RULES, page_of
from policyd.analysis.rules import rule_of
from policyd.manifest import CODES

PACKAGE = Path(policyd.__file__).parent
INDEX = PACKAGE.parent / "docs" / "rules.md"


def told_codes() -> set[str]:
    """The codes of the families that manifests, cards and verdicts use, as they stand in the source."""
    found: set[str] = set()
    for module in PACKAGE.rglob("*.py"):
        found |= set(re.findall(r"\b(?:GRANT|CARD|ADMIT|HOST|MANIF)\d{3}\b", module.read_text(encoding="utf-8")))
    return found


def title(page: str) -> str:
    return page.partition("\n")[0].partition(": ")[2]


@pytest.mark.parametrize("code", sorted(told_codes() | set(CODES)))
def test_has_a_page(code: str) -> None:
    """The page begins with the code and a title, and says what to do and where it comes from."""
    page = page_of(code)
    assert page is not None
    assert page.startswith(f"# {code}: ")
    assert title(page)
    for section in ("What it says", "Instead", "Source"):
        assert f"\n## {section}\n" in page


@pytest.mark.parametrize("code", sorted(told_codes() | set(CODES)))
def test_index_lists_it(code: str) -> None:
    """The index has a line with the title of the page, for rules with severity and confidence."""
    rule = rule_of(code)
    rest = f" {rule.severity.value} | {rule.confidence.value} |" if rule else ""
    assert f"| {code} | {title(page_of(code) or '')} |{rest}" in INDEX.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("code", ["", "CARD999", "card001", "../CARD001", "NONE001", "CARD0011"])
def test_no_page_for_what_is_no_code(code: str) -> None:
    """Texts that are no codes, or codes nobody tells, have no page."""
    assert page_of(code) is None


def test_pages_are_for_codes_that_exist() -> None:
    """No page is left over."""
    folder = PACKAGE / "analysis" / "rules"
    known = {f"{rule.family}/{rule.slug}.md" for rule in RULES}
    for page in folder.rglob("*.md"):
        name = page.relative_to(folder).as_posix()
        assert name in known or re.fullmatch(r"pages/[A-Z]+\d{3}\.md", name)
