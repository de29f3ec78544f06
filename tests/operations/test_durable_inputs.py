"""Durable operations and streams: what is declared, and what a replay makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from operation_questions import PORTS, wallet_of

from policyd.core.admission import OperationCall, admit_operation
from policyd.core.operations.durable import may_snapshot, repeated_parts
from policyd.findings import InputError
from policyd.syntax.durable import read_declarations
from policyd.syntax.operations import catalogue

DOCUMENT: dict[str, Any] = {
    "operations": {
        "pure": {},
        "safe": {"effects": [{"name": "POST /pay", "idempotent": True}], "nested": ["pure"]},
        "charge": {"effects": [{"name": "POST /pay"}]},
        "outer": {"nested": ["safe", "charge", "outer"]},
        "detached": {"detached": True},
        "partly": {"nested": ["unheard-of"]},
    },
    "streams": {
        "plain": {"direction": "writer", "url": "https://s.example/x", "forks": False},
        "forked": {"direction": "writer", "url": "https://s.example/x", "forks": True, "active": True},
        "own": {"direction": "writer", "url": "https://s.example/x", "forks": True, "own-producers": True},
        "silent": {"direction": "writer", "url": "https://s.example/x", "secret": "stream.token"},
    },
}
DECLARED = read_declarations(DOCUMENT)


def verdict(operation: str, arguments: dict[str, Any], cards: list[Any] | None = None) -> Any:
    call = OperationCall(catalogue().operations[operation], arguments, declarations=DECLARED)
    return admit_operation(wallet_of({"cards": cards or [{"initial": True, "default": True}]}), call, PORTS).verdict


@pytest.mark.parametrize(
    "operation, stable, told",
    [
        ("pure", "yes", ""),
        ("safe", "yes", ""),
        ("charge", "no", "`POST /pay` of `charge`"),
        ("outer", "no", "`POST /pay` of `charge`"),
        ("detached", "no", "detached work of `detached`"),
        ("partly", "unknown", "`unheard-of`"),
        ("never declared", "unknown", "not declared"),
    ],
)
def test_what_a_recovery_repeats(operation: str, stable: str, told: str) -> None:
    """An operation that did not end runs again as a whole, its nested ones included."""
    found = verdict("durable.run", {"operation": operation})
    assert found.admitted.value == "yes"
    assert found.replay_stable.value == stable
    assert told in found.reasons[-1].detail


@pytest.mark.parametrize("stream, stable", [("plain", "yes"), ("forked", "no"), ("own", "yes"), ("silent", "unknown")])
def test_writers_and_forks(stream: str, stable: str) -> None:
    assert verdict("stream.append", {"stream": stream}).replay_stable.value == stable


def test_readers_are_rebuilt() -> None:
    assert verdict("stream.read", {}).replay_stable.value == "yes"


def test_what_a_stream_asks_for_is_unknown_unless_its_secret_is_refused() -> None:
    """The handle of the token needs `hold`; that the cards admit it is not enough for a yes."""
    assert verdict("stream.read", {"secret": "stream.token"}).admitted.value == "unknown"
    assert verdict("stream.read", {"secret": "stream.token"}, [{"initial": True}]).admitted.value == "no"


def test_parts_are_told_once() -> None:
    assert repeated_parts(DECLARED.operations["outer"], DECLARED) == ("`POST /pay` of `charge`",)


def test_an_active_stream_prevents_a_snapshot() -> None:
    assert not may_snapshot(DECLARED.streams["forked"])
    assert may_snapshot(DECLARED.streams["plain"])


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"operation": {}},
        {"operations": []},
        {"operations": {"x": []}},
        {"operations": {"x": {"effects": [{}]}}},
        {"operations": {"x": {"effects": ["POST"]}}},
        {"operations": {"x": {"detached": "no"}}},
        {"streams": {"x": {"url": "https://s.example"}}},
        {"streams": {"x": {"direction": "both", "url": "https://s.example"}}},
        {"operations": {str(i): {} for i in range(10_001)}},
    ],
)
def test_documents_of_another_form_are_refused(document: Any) -> None:
    with pytest.raises(InputError) as refused:
        read_declarations(document)
    assert refused.value.findings[0].code == "HOST100"
