"""The handlers for recorded questions: each operation answers in the form that is compared."""

from __future__ import annotations

import pytest

from policyd.conformance import schema, tools

U8 = {"root": {"kind": "u8", "value": {}}}
SEVEN = {"kind": "u8", "value": 7}
BARE = {"version": "1", "commands": {"nodes": [{"name": "t", "body": {"flags": [
    {"long": "f", "shape": {"kind": "bool-flag", "value": {"default": False, "negatable": False}}}]}}]}}  # fmt: skip
RECORD = {"kind": "record", "value": {"fields": [{"kind": "bool", "value": True}]}}
MODES = {mode: {"ok": True} for mode in ("strict-equality", "structural-subtype", "nominal")}

QUESTIONS = [
    ("well_formed", {"graph": {"root": {"kind": "enum", "value": {"cases": []}}}},
     {"ok": False, "errors": [{"kind": "EmptyEnum"}]}),
    ("assignable", {"graph": U8, "other": U8["root"]}, {"forward": True, "backward": True}),
    ("equivalent", {"a": U8, "b": U8}, {"equivalent": True}),
    ("validate_value", {"graph": U8, "value": RECORD},
     {"ok": False, "errors": [{"kind": "ShapeMismatch", "path": []}]}),
    ("json_to_value", {"graph": U8, "text": "7"}, {"ok": True, "value": SEVEN, "valid": True, "json": 7}),
    ("json_to_value", {"graph": U8, "text": "7x"}, {"ok": False, "error": "Syntax"}),
    ("value_to_json", {"graph": U8, "value": SEVEN}, {"ok": True, "json": 7}),
    ("value_to_json", {"graph": U8, "value": {"kind": "u8", "value": 300}}, {"ok": False, "malformed": True}),
    ("json_schema", {"graph": U8, "policy": "embedded"}, {"schema": {"type": "integer", "minimum": 0, "maximum": 255}}),
    ("read", {"type": "value", "json": {**SEVEN, "x": 1}}, {"ok": True, "json": SEVEN}),
    ("read", {"type": "type", "json": {}}, {"ok": False}),
    ("project_type", {"source": U8, "target": U8, "mode": "nominal", "values": [SEVEN]},
     {"ok": True, "values": [{"ok": True, "value": SEVEN}]}),
    ("tool_validate", {"tool": {**BARE, "version": ""}}, {"ok": False, "errors": [{"kind": "EmptyVersion"}]}),
    ("middleware_validate", {"middleware": {"name": "m", "version": "1", "scope": {"kind": "universal"},
                                            "parameter_schema": U8}}, {"ok": True}),
    ("canonical_input", {"tool": BARE, "command": ["x"]}, {"ok": False, "error": "InvalidCommandPath"}),
    ("constraints", {"tool": BARE, "command": [], "value": RECORD}, {"ok": True, "valid": True}),
    ("constraints", {"tool": BARE, "command": [], "value": SEVEN}, {"ok": False, "error": "decode"}),
    ("compatibility", {"expected": BARE, "inner": BARE}, {**MODES, "warnings": [], "commands": [
        {"path": [], "input": [{"name": "f", "from": "f"}], "discard": [], "result": False, "errors": []}]}),
    ("project", {"expected": BARE, "inner": BARE, "mode": "nominal", "command": [], "kind": "result", "values": []},
     {"ok": False, "stage": "none"}),
    ("project", {"expected": BARE, "inner": BARE, "mode": "nominal", "command": [], "kind": "input",
                 "values": [RECORD]}, {"ok": True, "values": [{"ok": True, "value": RECORD}]}),
    ("tool_args", {"tool": BARE, "command": [], "value": RECORD}, {"ok": True, "args": ["--f"]}),
]  # fmt: skip


@pytest.mark.parametrize("op, question, answer", QUESTIONS)
def test_answers(op, question, answer):
    """Each operation gives the whole answer object."""
    assert {**schema.HANDLERS, **tools.HANDLERS}[op](question) == answer


def test_comparison():
    """Errors are multisets, 32-bit numbers are rounded, any refusal meets a malformed question."""
    one, other = {"errors": [{"kind": "A"}, {"kind": "B"}]}, {"errors": [{"kind": "B"}, {"kind": "A"}]}
    assert schema.compare_answers(one, other) == []
    assert schema.compare_answers(one, {"errors": [{"kind": "A"}]}) == ["errors"]
    tenth = {"value": {"kind": "f32", "value": 0.1}}
    assert schema.compare_answers(tenth, {"value": {"kind": "f32", "value": 0.10000000149011612}}) == []
    assert schema.compare_answers({"ok": False, "malformed": True}, {"ok": False, "errors": []}) == []
    assert schema.compare_answers({"ok": False, "malformed": True}, {"ok": True}) == ["ok"]
    assert schema.compare_answers({"ok": True}, {"ok": 1}) == ["ok"]
