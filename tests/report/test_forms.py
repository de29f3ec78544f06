"""Every form of a report is what its receiver reads, and carries each finding, whatever its texts hold."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from policyd.findings import Confidence, Finding, Related, Report, Severity, Span
from policyd.report import no_lines
from policyd.report.forms import FORMS, Run, rendered
from policyd.report.marks import distinct_fingerprints

ROOT = Path(__file__).parents[2]
SCHEMAS = {
    "json": ROOT / "docs" / "schemas" / "report.schema.json",
    "sarif": ROOT / "tests" / "cases" / "schemas" / "sarif.schema.json",
    "gitlab": ROOT / "tests" / "cases" / "schemas" / "gitlab.schema.json",
}
RUN = Run("policyd audit", "1.0", Severity.WARNING, (("manifest", "golem.yaml"),))
HOSTILE = (
    "plain",
    "a `<script>alert(1)</script>` b",
    "a | b, c: d 100 % ::error::x",
    "line\nbreak\r\x1b[31m\u202e",
    "``odd` ticks` and \ud800 and \ufffe ]]> & \"'",
    "[link](javascript:x) ![i](x) # *b* @all",
)


def span(text="golem.yaml", line=3):
    return Span(text, line, 5, 40, 44, "$.agents.Cart")


@st.composite
def reports(draw):
    texts = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=12))
    places = st.one_of(
        st.none(), st.just(span()), st.builds(span, st.sampled_from(("a b/ü.yaml", "x:y,z.yaml")), st.integers(0, 9))
    )
    findings = draw(
        st.lists(
            st.builds(
                Finding,
                st.sampled_from(("CARD012", "MANIF030")),
                st.sampled_from(Severity),
                texts,
                places,
                st.one_of(st.just(""), texts),
                st.one_of(st.just(()), st.builds(lambda t: (Related(t, span()),), texts)),
                st.sampled_from(Confidence),
                st.one_of(st.just(""), texts),
            ),
            max_size=5,
        )
    )
    return Report.of(findings, draw(st.lists(texts, max_size=2)))


class Tags(HTMLParser):
    """The elements and attributes of a document."""

    def __init__(self):
        super().__init__()
        self.names, self.attributes, self.codes = set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


@settings(max_examples=60, deadline=None)
@given(reports())
@pytest.mark.parametrize("form", sorted(SCHEMAS))
def test_documents_follow_their_schemas(form, report):
    document = json.loads(rendered(report, form, no_lines, RUN))
    jsonschema.validate(document, json.loads(SCHEMAS[form].read_text()))
    rows = document if form == "gitlab" else document["findings"] if form == "json" else document["runs"][0]["results"]
    assert len(rows) == len(report.findings)


@settings(max_examples=60, deadline=None)
@given(reports())
def test_junit_is_xml_and_fails_where_findings_count(report):
    root = ElementTree.fromstring(rendered(report, "junit", no_lines, RUN).encode("utf-8"))
    (suite,) = root
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases)
    assert len(cases) == (len(report.findings) + len(report.not_analysed) or 1)
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == len(report.at_least(RUN.level))
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped")) == len(report.not_analysed)


@settings(max_examples=60, deadline=None)
@given(reports())
def test_annotations_are_one_command_per_line(report):
    """No text of a finding starts a command of its own or ends a property."""
    lines = rendered(report, "github", no_lines, RUN).splitlines()
    assert len(lines) == len(report.findings) + 1
    for line, finding in zip(lines, report.findings, strict=False):
        found = re.fullmatch(r"::(error|warning|notice) ((?:[a-z]+=[^,:]*,?)*)::(.*)", line)
        assert found, line
        properties = dict(part.split("=", 1) for part in found[2].split(","))
        assert properties["title"] == finding.code
        assert set(properties) <= {"title", "file", "line", "col"}


@settings(max_examples=60, deadline=None)
@given(reports())
def test_html_runs_and_loads_nothing(report):
    text = rendered(report, "html", no_lines, RUN)
    tags = Tags()
    tags.feed(text)
    allowed = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "strong", "section"}
    assert tags.names <= allowed | {"article", "code", "pre", "ul", "li", "table", "tbody", "tr", "th", "td"}
    assert tags.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class", "scope"}
    assert text.count("<article>") == len(report.findings)


@settings(max_examples=60, deadline=None)
@given(reports())
def test_markdown_holds_no_markup_of_others(report):
    """Read by a Markdown reader there is a row per finding, and no link, image, heading or tag of a finding's text."""
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = reader.parse(rendered(report, "markdown", no_lines, RUN))
    rows = sum(t.type == "tr_open" for t in tokens) - sum(t.type == "thead_open" for t in tokens)
    assert rows == len(report.findings)
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "code_inline", "html_inline", "softbreak", "strong_open", "strong_close", "text_special"}
    tags = {child.content for token in tokens for child in token.children or () if child.type == "html_inline"}
    assert tags <= {"<br>"}
    assert sum(t.type == "heading_open" for t in tokens) == 1


@settings(max_examples=40, deadline=None)
@given(reports())
def test_every_form_is_text_that_can_be_written(report):
    for form in FORMS:
        rendered(report, form, no_lines, RUN).encode("utf-8", "backslashreplace")


def test_fingerprints_are_distinct_and_survive_edits():
    """The same finding twice has two, further findings and moved lines change none."""
    one, other = Finding("CARD012", Severity.INFO, "a", span()), Finding("CARD013", Severity.INFO, "b", span())
    first, second = distinct_fingerprints([one, one])
    assert first != second
    assert list(distinct_fingerprints([other, one, one]))[1:] == [first, second]
    assert next(distinct_fingerprints([Finding("CARD012", Severity.INFO, "a", span(line=99))])) == first
