"""All rules, and the manual page of every code.

Source: style 9.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from policyd.analysis.rule import Rule
from policyd.analysis.rules.card import (
    default_card,
    deploy_lower,
    deploy_upper,
    empty,
    inert_negative,
    inert_positive,
    misplaced,
    negative_lost,
    replaced,
)
from policyd.findings.codes import is_code

RULES: tuple[Rule, ...] = (
    deploy_lower.RULE,
    deploy_upper.RULE,
    negative_lost.RULE,
    misplaced.RULE,
    empty.RULE,
    default_card.RULE,
    replaced.RULE,
    inert_negative.RULE,
    inert_positive.RULE,
)
"""Every rule, by code."""

_BY_CODE = {rule.code: rule for rule in RULES}


def rule_of(code: str) -> Rule | None:
    """The rule with that code, None for codes that are told elsewhere."""
    return _BY_CODE.get(code)


@cache
def page_of(code: str) -> str | None:
    """The manual page of a code in Markdown, None where there is none.

    Args:
        code: exact, of any family; rules have a page beside their module, the other codes one in `pages`.
    """
    rule = _BY_CODE.get(code)
    root = files("policyd.analysis.rules")
    if rule is not None:
        return root.joinpath(rule.family, f"{rule.slug}.md").read_text(encoding="utf-8")
    if not is_code(code):
        return None
    page = root.joinpath("pages", f"{code}.md")
    return page.read_text(encoding="utf-8") if page.is_file() else None
