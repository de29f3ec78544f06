"""Tool permissions along a chain, as the specification has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from chains.documents import checked, sources
from ruamel.yaml import YAML

from policyd.analysis.labels import LABELS
from policyd.core.edition import NEXT, SNAPSHOT
from policyd.usecases.chain_explain import authority_of, follow_call
from policyd.usecases.chain_outward import Outcome

FILE = YAML(typ="safe").load((Path(__file__).parents[1] / "cases" / "chains" / "permissions.yaml").read_text("utf-8"))
LABEL_OF = {row.code: row.label for row in LABELS}


def asked_of(case):
    return {
        "profile": case.get("profile", {}),
        "definitions": FILE["definitions"],
        "chain": {"tool": case.get("tool", "grep"), "layers": case.get("layers", []), "leaf": case.get("leaf", "grep")},
        "cards": {"X": case["cards"]},
        "agents": {"X": {"component": "support:app"}},
        "tools": {name: {"component": "support:cli"} for name in ("grep", "nudge", "cat", "echo")},
    }


def report_of(case, rules=None):
    asked = asked_of(case)
    return checked(asked) if rules is None else checked(asked, rules)


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["id"])
def test_permissions(case):
    """Each hop is decided as the row says, and the findings are exactly those that it names."""
    row = report_of(case).rows[0]
    for command in ("search", "status"):
        if command in case:
            outer = next(p for p in row.permissions if p.layer is None and p.command == (command,))
            assert outer.decided.value == case[command]
    within = (case.get("within", "search"),)
    inward = [p.decided.value for p in row.permissions if p.layer is not None and p.command == within]
    assert inward == ([case["inward"]] if "inward" in case else inward if case.get("leaf") == "grep-lang" else [])
    told = [LABEL_OF[finding.code] for finding in row.findings]
    assert [
        label for label in told if label in ("PERMISSION_DENIED", "GRANT_ARGS_DRIFT", "UNEXPRESSIBLE_GRANT")
    ] == sorted(case.get("labels", []), key=lambda label: label == "UNEXPRESSIBLE_GRANT")


@pytest.mark.parametrize("case", FILE["calls"], ids=lambda case: case["id"])
def test_calls_with_their_values(case):
    """Each hop of one call is let through or denied as the row says, and a denied one ends the way."""
    rules = SNAPSHOT if case.get("edition") == "snapshot" else NEXT
    row = report_of(case, rules).rows[0]
    profile = sources(asked_of(case), rules).profile
    path = tuple(case["call"].split(".")) if case["call"] else ()
    whose = authority_of(row, "X")
    followed = follow_call(row.chain, path, case["input"], Outcome(), profile, row.tool, whose)
    decided = [
        step.words for step in followed.inward if "cards of" in step.words or step.is_end or "card of" in step.words
    ]
    assert len(decided) == len(case["says"]), decided
    assert all(words in step for words, step in zip(case["says"], decided, strict=True)), decided
    assert followed.reaches_leaf is case.get("reaches", False)
    is_open = any("is not decided" in step.words for step in followed.inward)
    assert followed.reaches == ("no" if not followed.reaches_leaf else "unknown" if is_open else "yes")
    if "the layer sees" in case["says"][-1]:
        assert followed.outward[-1].words == "sees `constraint-violation`"


@pytest.mark.parametrize(
    ("grant", "decided"),
    [
        ("tool(?env/*/*) @ ?agent : invoke : *", "always"),
        ("tool(?env/*/*) @ ?agent : invoke : search 3", "conditional"),
        ("tool(?env/*/*) @ ?agent : invoke : search", "conditional"),
        ("tool(?env/*/*) @ ?agent : invoke : search --pattern=*", "never"),
        ("tool(?env/support:cli/sed) @ ?agent : invoke : *", "never"),
    ],
)
def test_calls_of_a_tool_that_is_not_known(grant, decided):
    """Without a definition a grant for one command is no reason to say never."""
    report = checked(
        {
            "definitions": {"middleware": {"u": {"scope": "universal", "version": "1"}}},
            "chain": {"tool": "grep", "leaf": "grep", "layers": ["u"]},
            "cards": {"X": [grant]},
            "agents": {"X": {"component": "support:cli"}},
            "tools": {"grep": {"component": "support:cli"}},
        }
    )
    (row,) = report.rows[0].permissions
    assert row.decided.value == decided
    assert ("PERMISSION_DENIED" in [LABEL_OF[f.code] for f in report.findings]) is (decided == "never")


def test_no_grant_names_a_negative_number():
    """G15: a grant with such an argument is no grant at all: it is told at its place, and nothing is decided by it."""
    cards = ["tool(?env/*/*) @ ?agent : invoke : *", "tool(?env/*/*) @ ?agent : invoke : by -5"]
    report = report_of({"cards": cards, "tool": "nudge", "leaf": "nudge"})
    assert [(f.code, f.span.path) for f in report.findings] == [("GRANT006", "$.cards.X[1]")]
    assert report.rows[0].verdict.value == "accept"
    assert not report.rows[0].permissions
    assert report.not_analysed == ("the cards of `X`: not all of their grants can be read",)


def test_a_grant_without_a_binding():
    """G3: every call is admitted by the cards, and the tool is not bound, so that the call is denied."""
    report = checked(
        {
            "definitions": FILE["definitions"],
            "environments": {"prod": {"server": "local", "defaultTools": [], "tools": {"rg": {}}}},
            "agents": {"X": {"component": "support:app"}},
            "callers": [{"name": "code", "agent": "X", "tool": "grep", "definition": "grep"}],
            "cards": {"X": ["tool(?env/*/*) @ ?agent : invoke : *"]},
        }
    )
    assert [row.tool for row in report.rows] == ["rg"]
    told = [finding for finding in report.findings if LABEL_OF[finding.code] == "BINDING_MISSING"]
    assert [finding.message for finding in told] == [
        "caller `code`: tool `grep` is not bound to `X`, so that the call is `Denied`"
    ]


def test_a_text_that_looks_like_an_option():
    """G16 at the snapshot: a positional can complete an exact grant that nobody meant for it."""
    read = {
        "commands": {"": {"namespace": True}, "read": {"positionals": [{"name": "path", "type": "path(input,file)"}]}}
    }
    asked = {
        "definitions": {"tools": {"cat": read}},
        "chain": {"tool": "cat", "layers": [], "leaf": "cat"},
        "cards": {"X": ["tool(?env/*/*) @ ?agent : invoke : read --force"]},
        "agents": {"X": {"component": "support:app"}},
    }
    labels = [
        [LABEL_OF[f.code] for f in report.rows[0].findings] for report in (checked(asked, SNAPSHOT), checked(asked))
    ]
    assert labels == [["TARGET_CONFUSION"], ["PERMISSION_DENIED"]]


def test_a_card_that_names_many_calls():
    """Only the grants of a command are looked at for it, whatever else the card names."""
    grant = "tool(?env/*/*) @ ?agent : invoke : {}"
    other = [grant.format(f"search --pattern={number}") for number in range(1000)]
    case = {"cards": [*other, grant.format("status")]}
    decided = {row.command: row.decided.value for row in report_of(case).rows[0].permissions}
    assert decided == {("search",): "conditional", ("status",): "always"}
    case = {"cards": [*other, grant.format("*")]}
    assert {row.decided.value for row in report_of(case).rows[0].permissions} == {"always"}
