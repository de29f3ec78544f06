"""Guests without a feature, and definitions in the forms that the platform writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from chains.documents import checked, sources
from ruamel.yaml import YAML
from schema.shorthand import graph

from policyd.analysis.labels import LABELS
from policyd.core.schema.engines import NO_ENGINES, Engines
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.validate import validity
from policyd.core.schema.values import StringValue, TextValue, UnionValue, UrlValue
from policyd.core.tools.tool_read import read_tool
from policyd.core.tools.tool_write import tool_json
from policyd.syntax.patterns import Re2Patterns
from policyd.usecases.tool_documents import ENGINES

LABEL_OF = {row.code: row.label for row in LABELS}
LAYERS = YAML(typ="safe").load((Path(__file__).parents[1] / "cases" / "chains" / "layers.yaml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("written", "features", "told"),
    [
        ('text(regex="^a")', {"regex": False}, True),
        ("text(max=3)", {"regex": False}, False),
        ('union(a: string if prefix("x") | b: string if prefix("y"))', {"regex": False}, False),
        ('union(a: string if regex("^x"))', {"regex": False}, True),
        ("url", {"url": False}, True),
        ("url(schemes=[https])", {"url": True}, False),
        ("list<option<url>>", {"url": False}, True),
    ],
)
def test_features(written, features, told):
    """F1 to F7: a type that needs a feature which the guest lacks is told, and refuses nothing."""
    report = checked(
        {
            "profile": {"guestFeatures": features},
            "definitions": {"tools": {"echo": {"options": [{"long": "x", "type": written, "required": True}]}}},
            "chain": {"tool": "echo", "layers": [], "leaf": "echo"},
        }
    )
    assert [LABEL_OF[finding.code] for finding in report.findings] == (["FEATURE_REQUIRED"] if told else [])
    assert report.rows[0].verdict.value == "accept"


@pytest.mark.parametrize(
    ("written", "value", "engines", "answer"),
    [
        ('text(regex="^a")', TextValue("abc"), NO_ENGINES, Validity.UNDECIDED),
        ("text(max=3)", TextValue("abc"), NO_ENGINES, Validity.VALID),
        ('union(a: string if prefix("x"))', UnionValue("a", StringValue("xa")), NO_ENGINES, Validity.VALID),
        ('union(a: string if regex("x"))', UnionValue("a", StringValue("xa")), NO_ENGINES, Validity.UNDECIDED),
        ("url", UrlValue("https://example.com/"), Engines(Re2Patterns(), None), Validity.UNDECIDED),
        ('text(regex="b")', TextValue("abc"), ENGINES, Validity.VALID),
        ("url(hosts=[example.com])", UrlValue("mailto:a@example.com"), ENGINES, Validity.INVALID),
        ("url(schemes=[https])", UrlValue("HTTPS://EXAMPLE.com"), ENGINES, Validity.VALID),
    ],
)
def test_values_without_a_feature(written, value, engines, answer):
    """F2, F5, F6, F9, F11, F12: a missing feature is an outcome of its own, never a yes."""
    assert validity(value, graph(written), engines) is answer


def test_look_around_is_refused():
    """F10: the definition itself is not valid."""
    report = checked(
        {
            "definitions": {"tools": {"echo": {"result": 'text(regex="(?=a)a")'}}},
            "chain": {"tool": "echo", "layers": [], "leaf": "echo"},
        }
    )
    assert report.rows[0].verdict.value == "reject"
    assert [LABEL_OF[finding.code] for finding in report.findings] == ["INVALID_DEFINITION"]


def test_comparison_needs_no_feature():
    """F8: URL lists are compared as sets of texts."""
    tools = {"wide": {"name": "t", "result": "url"}, "narrow": {"name": "t", "result": "url(schemes=[https])"}}
    report = checked(
        {
            "profile": {"guestFeatures": {"url": False}},
            "definitions": {
                "tools": tools,
                "middleware": {"m": {"presents": "wide", "expects": "wide", "version": "1"}},
            },
            "chain": {"tool": "t", "layers": ["m"], "leaf": "narrow"},
        }
    )
    assert report.rows[0].verdict.value == "accept"


@pytest.mark.parametrize("name", sorted(LAYERS["tools"]))
def test_short_forms_have_metadata(name):
    """A tool of the short form is written as metadata JSON and read back as the same tool."""
    tool = sources({"definitions": {"tools": {name: LAYERS["tools"][name]}}}).catalogue.tools[name]
    assert read_tool(tool_json(tool)) == tool


def test_a_record_of_the_registry_is_read():
    """What stands under `definition` counts, whatever stands beside it."""
    metadata = tool_json(sources({"definitions": {"tools": {"echo": {"result": "u8"}}}}).catalogue.tools["echo"])
    record = {"definition": metadata, "metadataVersion": "0.1.0", "ownerAccountEmail": "a@example.com"}
    found = sources({"definitions": {"tools": {"echo": record}}}).catalogue.tools["echo"]
    assert found == read_tool(metadata)


def test_the_whole_short_form():
    """Every member of the short form ends where it belongs."""
    short = {
        "version": "1.0.0",
        "requiresFilesystem": True,
        "commands": {
            "": {
                "doc": "search",
                "globals": {"flags": [{"long": "quiet", "short": "q"}]},
                "positionals": [{"name": "pattern", "type": "text(min=1)"}],
                "tail": {"name": "files", "item": "path(input,file)", "min": 1, "separator": "--"},
                "options": [
                    {"long": "max", "type": "u32(1..)", "default": 100, "aliases": ["limit"], "env": "MAX"},
                    {"long": "tag", "list": "string", "repetition": 'delimited(",")'},
                    {
                        "long": "define",
                        "map": "map<string, string>",
                        "duplicates": "last-wins",
                        "repetition": 'either(",")',
                    },
                    {"long": "colour", "type": "enum(never|always)", "optional": True},
                ],
                "flags": [{"long": "ignore-case", "short": "i", "negatable": True}, {"long": "verbose", "count": 3}],
                "constraints": [
                    {"requires-any": ["pattern", "files"]},
                    {"forbids": {"if-any": ["ignore-case"], "then": ["verbose"]}},
                    {"implies": {"if-all": [{"name": "max", "is": 1}], "then-any": ["ignore-case"]}},
                    {"mutex-groups": [["max"], ["limit"]]},
                    {"all-or-none": [{"name": "tag", "is": "x"}]},
                ],
                "stdin": {"mime": ["text/plain"], "required": False},
                "stdout": {"mime": ["text/plain"]},
                "result": {"type": "list<string>", "formatters": ["text", "json"]},
                "errors": [
                    {"name": "bad-pattern", "kind": "usage-error", "exit": 2, "payload": "string"},
                    {"name": "io"},
                ],
                "annotations": {"readOnly": True, "destructive": False},
            },
            "cache.clear": {"aliases": ["wipe"]},
        },
    }
    tool = sources({"definitions": {"tools": {"grep": short}}}).catalogue.tools["grep"]
    assert read_tool(tool_json(tool)) == tool
    assert [command.name for command in tool.commands] == ["grep", "cache", "clear"]
    assert [command.subcommands for command in tool.commands] == [(1,), (2,), ()]
    assert tool.requires_filesystem
    root = tool.commands[0].body
    assert root is not None
    assert len(root.constraints) == 5
    assert root.result is not None
    assert root.result.default_formatter == "text"
    assert tool.commands[1].body is None
    assert not checked({"definitions": {"tools": {"grep": short}}}).findings
