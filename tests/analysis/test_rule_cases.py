"""What an audit tells of whole manifests, case by case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from rule_manifests import audited

from policyd.core.cards import Bounds, Card, CardId, account_root_bounds
from policyd.findings import Finding
from policyd.syntax import Form, parse_grants

CASES = sorted((Path(__file__).parents[1] / "cases" / "rules").glob("*.yaml"))


def card(number: int, given: dict[str, Any]) -> Card:
    """A card of the deployer: `root` names an account, else the lists that are given."""
    if "root" in given:
        return Card(CardId(f"card-{number}"), account_root_bounds(given["root"]))
    names = ("lower", "negative", "upper", "upper negative")
    lists = (tuple(g for text in given.get(name, ()) for g in parse_grants(text, Form.CONCRETE)) for name in names)
    return Card(CardId(f"card-{number}"), Bounds(*lists))


def told(finding: Finding, expected: str) -> str:
    """A finding as cases write it; severity and related places only where the case has them."""
    words = expected.split()
    parts = [finding.code]
    if len(words) > 2 and words[1].isalpha():
        parts.append(finding.severity.value)
    parts.append(f"{finding.span.line}:{finding.span.column}" if finding.span else "-")
    if "->" in words:
        parts += ["->", *(f"{r.span.line}:{r.span.column}" for r in finding.related)]
    return " ".join(parts)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    """The audit tells exactly the findings that the case expects, with its words and what it leaves out."""
    case = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    ask = dict(case.get("ask") or {})
    deployer = ask.pop("deployer", None)
    cards = None if deployer is None else [card(i, given) for i, given in enumerate(deployer)]
    report = audited(case["manifest"], cards, **ask)
    expected = [str(line) for line in case["expect"]]
    by_code = {line.split()[0]: line for line in expected}
    assert sorted(told(f, by_code.get(f.code, "")) for f in report) == sorted(expected)
    words = "\n".join(f"{f.message}\n{f.help}\n" + "\n".join(r.message for r in f.related) for f in report)
    for text in case.get("says", ()):
        assert text in words
    for text in case.get("leaves out", ()):
        assert text in report.not_analysed
