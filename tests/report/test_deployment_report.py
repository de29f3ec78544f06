"""The report for an auditor: one file, everything escaped, the same bytes each time, the same answers as the verbs."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt
from stored_shops import stored_shop

from policyd.cli.main import run
from policyd.report.deployment_html import SECTIONS, deployment_html
from policyd.report.deployment_markdown import deployment_markdown

ROOT = Path(__file__).parents[2]
SHOP = (ROOT / "examples" / "shop" / "golem.yaml").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "deployment-report.schema.json").read_text(encoding="utf-8"))
VALID = jsonschema.Draft202012Validator(SCHEMA)
AT = "2026-12-01T00:00:00Z"
BASELINE = {
    "suppress": [
        {"code": "CARD018", "reason": "templates <b>are</b> public \u202e", "until": "2027-01-01"},
        {"code": "HOST005", "reason": "an old decision", "until": "2026-01-01"},
    ]
}
HOSTILE = "<script>alert(1)</script>\u202e\x07\x1b[31m`|\"'&\ud800"
"""What a name may hold in the worst case."""


class Page(HTMLParser):
    """Elements, attributes, ids, and whether tags are closed."""

    VOID = ("meta", "br", "link", "img", "input")

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.ids, self.links, self.open = set(), set(), [], [], []
        self.scopes = self.captions = self.tables = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def told(args, capsys, code=0):
    assert run(["report", *args]) == code, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("golem.yaml").write_text(SHOP, encoding="utf-8")
    Path("baseline.json").write_text(json.dumps(BASELINE), encoding="utf-8")
    return ["golem.yaml", "--env", "prod", "--at", AT]


def test_the_json_has_its_schema_and_the_answers_of_the_verbs(shop, capsys):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    report = json.loads(told([*shop, "--format", "json"], capsys))
    VALID.validate(report)
    assert run(["audit", "golem.yaml", "--env", "prod", "--at", AT, "--format", "json"]) == 0
    audit = json.loads(capsys.readouterr().out)
    strip = [{k: v for k, v in f.items() if k != "fingerprint"} for f in report["findings"]]
    assert strip == audit["findings"]
    assert report["deploys"] == audit["deploys"]
    for agent in report["agents"]:
        assert run(["show", "golem.yaml", "--env", "prod", "--agent", agent["agent"], "--format", "json"]) == 0
        shown = json.loads(capsys.readouterr().out)["grants"]
        names = ("bound", "origin", "place")
        assert [[g[name] for name in names] for g in shown] == [[g[name] for name in names] for g in agent["grants"]]
        assert [g["written"].rstrip() for g in shown] == [g["written"] for g in agent["grants"]]
    for row in report["reach"]:
        run(["reach", "golem.yaml", "--env", "prod", "--to", row["query"], "--format", "json"])
        found = json.loads(capsys.readouterr().out)
        assert (found["answer"], found["reaching"]) == (row["answer"], row["reaching"])
    assert run(["retry", "limits", "golem.yaml", "--env", "prod", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["policies"] == report["retry"]["policies"]
    for agent in report["agents"]:
        run(["saga", "golem.yaml", "--env", "prod", "--agent", agent["agent"], "--format", "json"])
        saga = json.loads(capsys.readouterr().out)
        facets = ("admitted", "bounded", "replayStable")
        assert [saga[name] for name in facets] == [agent["saga"][name] for name in facets]
    assert "secret stripe.key" in [row["name"] for row in report["reach"]]


def test_accepted_findings_are_told_with_their_reasons_and_expired_ones_are_findings(shop, capsys):
    report = json.loads(told([*shop, "--baseline", "baseline.json", "--format", "json"], capsys))
    VALID.validate(report)
    (accepted,) = report["suppressed"]
    assert accepted["code"] == "CARD018"
    assert accepted["until"] == "2027-01-01T23:59:59Z"
    assert accepted["by"].startswith("baseline.json:")
    assert {"HOST005", "CHAIN008"} <= {f["code"] for f in report["findings"]}
    assert report["summary"]["suppressed"] == 1
    page = told([*shop, "--baseline", "baseline.json"], capsys)
    assert "templates &lt;b&gt;are&lt;/b&gt; public \\u202e" in page


def test_comments_accept_too(shop, capsys):
    text = SHOP.replace("  Report: {}", "  # policyd: ignore CARD007 reason=it is to be replaced\n  Report: {}")
    Path("golem.yaml").write_text(text, encoding="utf-8")
    report = json.loads(told([*shop, "--format", "json"], capsys))
    assert [(f["code"], f["reason"]) for f in report["suppressed"]] == [("CARD007", "it is to be replaced")]


def test_the_page_is_one_file_that_loads_and_runs_nothing(shop, capsys):
    text = told(shop, capsys)
    assert text == told(shop, capsys), "the same input gives the same bytes"
    page = Page(text)
    assert not page.open
    assert not page.names & {"script", "link", "img", "iframe", "object", "form", "a\u200b"}
    assert not {name for name in page.attributes if name.startswith("on") or name in ("src", "srcset")}
    assert "style" not in page.attributes
    assert "Content-Security-Policy" in text
    assert "default-src 'none'" in text
    assert "@media print" in text
    assert page.captions == page.tables
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} == {anchor for anchor, _ in SECTIONS} <= set(page.ids)
    assert re.findall(r"https?://", text) == []
    assert text.count("<h1>") == 1
    assert '<html lang="en">' in text


def test_values_of_secrets_stay_out(shop, capsys, monkeypatch):
    monkeypatch.setenv("STRIPE_KEY", "sk_live_hunter2")
    Path("golem.yaml").write_text(SHOP.replace('"{{ STRIPE_KEY }}"', "sk_live_hunter2"), encoding="utf-8")
    for form in ("html", "json", "markdown"):
        assert "hunter2" not in told([*shop, "--format", form], capsys)


def test_markdown_is_made_of_whole_tables(shop, capsys):
    text = told([*shop, "--format", "markdown"], capsys)
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    for title in ("Findings", "Reach", "Retries", "Agent types", "Chains", "Not analysed"):
        assert f"<h3>{title}</h3>" in html
    assert html.count("<table>") == 5


def _spoiled(value):
    """The same report with a hostile text in the place of each name and sentence."""
    match value:
        case dict():
            return {key: _spoiled(part) if key not in ("bound", "severity") else part for key, part in value.items()}
        case list():
            return [_spoiled(part) for part in value]
        case str():
            return HOSTILE + value
        case _:
            return value


def test_hostile_names_are_escaped_in_every_place(shop, capsys):
    report = _spoiled(json.loads(told([*shop, "--baseline", "baseline.json", "--format", "json"], capsys)))
    text = deployment_html(report)
    page = Page(text)
    assert not page.open
    assert "script" not in page.names
    assert "\\u202e" in text
    markdown = deployment_markdown(report)
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    assert "<script" not in rendered
    assert rendered.count("<table>") == 6
    for form in (text, markdown):
        assert not {"\u202e", "\x07", "\x1b", "\ud800"} & set(form)


def test_a_snapshot_says_which_it_is(tmp_path, monkeypatch, capsys):
    place, digest = stored_shop(tmp_path, monkeypatch, SHOP)
    report = json.loads(told([place, "--at", AT, "--format", "json"], capsys))
    VALID.validate(report)
    assert report["header"]["digest"] == digest
    assert report["header"]["snapshot"] == "@1"
    assert any("a snapshot does not hold it" in text for text in report["notAnalysed"])
    assert digest in told([place, "--at", AT], capsys)
    assert run(["report", place, "--env", "prod"]) == 2
    assert run(["report", place, "--edition", "snapshot"]) == 2
    assert run(["report", "@99"]) in (1, 2)


def test_a_deployment_with_mistakes_still_has_a_report(shop, capsys):
    bad = SHOP.replace('"network() @ ?agent : connect : mail.example.com"', '"nonsense @ ?agent : x : y"')
    Path("golem.yaml").write_text(bad, encoding="utf-8")
    report = json.loads(told([*shop, "--format", "json"], capsys))
    VALID.validate(report)
    assert report["summary"]["findings"]["error"] >= 1
    assert report["summary"]["deploys"]["refused"] == 1
    assert [a["agent"] for a in report["agents"] if a["unreadable"]] == ["Receipt"]
    assert "cannot be read" in told(shop, capsys)


def test_an_empty_deployment_has_one_too(shop, capsys):
    Path("golem.yaml").write_text(SHOP[: SHOP.index("agents:")], encoding="utf-8")
    report = json.loads(told([*shop, "--format", "json"], capsys))
    VALID.validate(report)
    assert Page(told(shop, capsys)).names >= {"main", "table"}
    assert run(["report", "golem.yaml", "--env", "nowhere"]) == 2
