"""Absences, oplogs, limits and places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from policyd.syntax.denials import CardEvent, Surface, recognise
from policyd.syntax.denials.paste import MAX_CHARS
from policyd.syntax.denials.recognise import MAX_DENIALS, WHAT_TO_PASTE

CASES = Path(__file__).parents[2] / "cases" / "denials"


@pytest.mark.parametrize(
    "case", yaml.safe_load((CASES / "absences.yaml").read_text(encoding="utf-8")), ids=lambda c: c["words"][:40]
)
def test_an_absence_is_recognised_in_the_words_of_users(case: dict[str, Any]) -> None:
    """The words tell the row of the table, unless the paste does."""
    reading = recognise(case.get("paste", ""), absence=case["words"])
    if case["shape"] is None:
        assert reading.denials == ()
        assert reading.unrecognised == WHAT_TO_PASTE
        return
    assert len(reading.denials) == case.get("count", 1)
    denial = reading.denials[0]
    assert (denial.shape, denial.kind) == (case["shape"], case["kind"])
    assert denial.is_denial is case.get("is_denial", True)
    assert Surface.ABSENCE in denial.surfaces
    if "operation" in case:
        assert denial.operations[0].operation == case["operation"]
    for name, value in case.get("facts", {}).items():
        assert denial.facts[name] == value


def test_nothing_is_made_of_a_text_without_words_about_an_absence() -> None:
    """An empty paste is told to be one that says nothing."""
    assert recognise("").denials == ()
    assert recognise("").unrecognised == WHAT_TO_PASTE
    assert recognise("").lines == 0


def test_card_entries_of_an_oplog_are_told_in_order() -> None:
    """What tells the wallet at a place, with its index and its card."""
    text = (
        "#3: card installed 7d0f0f0f-0000-4000-8000-00000000000b\n"
        "#9: invocation started\n"
        "00000012 | card-revoked 7D0F0F0F-0000-4000-8000-00000000000B\n"
        '{"index": 20, "type": "CardExpired", "card": "7d0f0f0f-0000-4000-8000-00000000000c"}\n'
        "oplog index 30 CARD TRANSFER\n"
        "the card installed by the printer shop\n"
    )
    first, second = "7d0f0f0f-0000-4000-8000-00000000000b", "7d0f0f0f-0000-4000-8000-00000000000c"
    assert recognise(text).events == (
        CardEvent("installed", first, "3", 1),
        CardEvent("revoked", first, "00000012", 3),
        CardEvent("expired", second, "20", 4),
        CardEvent("transferred", "", "30", 5),
    )


def test_a_recorded_denial_in_an_oplog_names_its_operation() -> None:
    """The function of the entry tells what was called."""
    text = (
        '#17: start wasi:keyvalue/eventual.set {"bucket":"s","key":"a"}\n'
        '#18: end -> Err("key-value permission denied: …")\n'
    )
    denial = recognise(text).denials[0]
    assert denial.operations[0].operation == "kv.set"
    assert Surface.OPLOG in denial.surfaces


@pytest.mark.parametrize(
    "text, line, column",
    [
        ("AgentOperationError::PermissionDenied", 1, 1),
        ("a\nb\n  AgentOperationError::PermissionDenied", 3, 3),
        ("a\r\n\x1b[31m  AgentOperationError::PermissionDenied", 2, 8),
        ("x AgentOperationError::\nPermissionDenied", 1, 3),
    ],
)
def test_a_denial_is_told_at_its_place_in_the_paste(text: str, line: int, column: int) -> None:
    """Lines, columns and offsets are those of what was pasted, colour codes included."""
    denial = recognise(text).denials[0]
    assert (denial.line, denial.column) == (line, column)
    assert text[denial.start : denial.end].startswith("AgentOperationError::")
    assert text[denial.start : denial.end].endswith("PermissionDenied")


def test_more_denials_than_are_listed_are_counted() -> None:
    """The list is bounded, the number is not lost, and repeated ones count once."""
    text = "\n".join(f"golem api: Account ann{n}@acme.io not found" for n in range(MAX_DENIALS + 30))
    reading = recognise(text)
    assert len(reading.denials) == MAX_DENIALS
    assert reading.more == 30
    repeated = recognise("\n".join(["WebhookError::PermissionDenied"] * 5_000))
    assert [d.count for d in repeated.denials] == [5_000]
    assert repeated.more == 0


def test_a_paste_beyond_the_limit_is_cut_and_that_is_said() -> None:
    """What stands in front is read; a finding says that the rest was not."""
    reading = recognise("WebhookError::PermissionDenied\n" + "x" * MAX_CHARS)
    assert [d.shape for d in reading.denials] == ["E-16"]
    assert [f.code for f in reading.findings] == ["HOST101"]
    assert recognise("x" * 100).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "Unauthorized: " + "(" * 50_000,
        '"{{{{' * 10_000,
        "\\" * 50_000,
        "\0" * 50_000,
        "\ud800" * 50_000,
        "The permission target Kv(ClassPermissionTarget { a: " + "[" * 50_000,
        "The permission target Kv(ClassPermissionTarget { a: " + "B(" * 50_000,
        'Kv(ClassPermissionTarget { x: ["' * 2_000,
        "Remote agent " * 4_000,
        "\x1b]8;;" * 10_000,
    ],
    ids=lambda t: repr(t[:20]),
)
def test_hostile_texts_are_read_to_the_end(text: str) -> None:
    """They take their time by length and say nothing but what stands there."""
    reading = recognise(text)
    assert all(d.target is None for d in reading.denials)
    assert len(reading.denials) <= 1


def test_layers_of_one_error_are_one_denial_and_two_errors_are_two() -> None:
    """A stack of different errors on neighbouring lines is not taken for one."""
    text = (
        "AgentOperationError::PermissionDenied\n"
        "OplogReadError::PermissionDenied\n"
        "WebhookError::PermissionDenied\n"
        'Upstream("permission denied"), secret permission denied\n'
        "tool 'x' is not bound to agent type 'Cart'\n"
        '{"code":"AUTH_FORBIDDEN","error":"The permission target X is not allowed"}\n'
        '{"code":"AUTH_UNAUTHORIZED","error":"expired"}\n'
    )
    assert [d.shape for d in recognise(text).denials] == [
        "E-09",
        "E-11",
        "E-16",
        "E-13",
        "E-14",
        "E-18",
        "E-30",
        "E-31",
    ]
