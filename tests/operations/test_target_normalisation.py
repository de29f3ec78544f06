"""What arguments become, and laws that hold for all of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from operation_questions import PORTS, context
from ruamel.yaml import YAML

from policyd.core.grants import Target
from policyd.core.grants.names import is_env_var
from policyd.core.grants.resources import AnyResource, Exact, FilePath, NetworkResource
from policyd.core.operations import NO_PORTS, Asker, Refusal, Unclear, targets_of
from policyd.core.operations.keys import canonical_path
from policyd.core.operations.network import host_name
from policyd.core.operations.paths import GuestName, absolute_path, guest_path, service_path
from policyd.syntax.operations import catalogue

GROUPS: list[dict[str, Any]] = YAML(typ="safe").load(
    Path(__file__).parent.parent / "cases" / "operations" / "normalisation.yaml"
)
CASES = [
    pytest.param(group["operation"], case, id=f"{group['operation']}: {case['arguments']}")
    for group in GROUPS
    for case in group["cases"]
]


def targets(operation: str, arguments: dict[str, Any]) -> tuple[Target, ...] | Refusal | Unclear:
    return targets_of(catalogue().operations[operation], arguments, Asker.of_agent(context()), PORTS)


def kind_of(target: Target) -> str:
    match target.resource:
        case AnyResource():
            return "any"
        case Exact(kind, _):
            return kind
        case _:
            return ""


@pytest.mark.parametrize("operation, case", CASES)
def test_arguments(operation: str, case: dict[str, Any]) -> None:
    found = targets(operation, case["arguments"])
    match found:
        case Refusal(kind, message):
            assert case.get("refused") == kind.value
            assert message
        case Unclear(about, message):
            assert case.get("unclear") == about
            assert message
        case _:
            assert [target.resource.text for target in found] == case["gives"]
            if "kinds" in case:
                assert [kind_of(target) for target in found] == case["kinds"]


NAMES = st.text(alphabet="ab./*\0 \\%é~-", max_size=12)


@given(NAMES, st.lists(NAMES, max_size=3), NAMES)
def test_a_guest_path_stays_below_what_was_opened(preopen: str, opened: list[str], path: str) -> None:
    """No target has a dot segment, a star or a NUL, and each name leads below the one before."""
    found = guest_path(GuestName(path, preopen, tuple(opened)))
    parent = guest_path(GuestName(None, preopen, tuple(opened)))
    if isinstance(found, FilePath):
        assert isinstance(parent, FilePath)
        assert found.segments[: len(parent.segments)] == parent.segments
        assert not any(s in ("", ".", "..") or "*" in s or "\0" in s for s in found.segments)


@given(NAMES)
def test_absolute_paths_are_canonical(path: str) -> None:
    """Reading the text of a path gives the path."""
    found = absolute_path(f"/{path}")
    if isinstance(found, FilePath):
        assert absolute_path(found.text) == found


@given(NAMES)
def test_a_service_path_never_climbs(path: str) -> None:
    found = service_path(path, is_rest=True)
    if isinstance(found, FilePath):
        assert not any(s in ("", ".", "..") for s in found.segments)
        assert service_path(found.text, is_rest=False) == found


@given(st.text(alphabet="aB.1-_ :*é\t", max_size=12))
def test_hosts_are_canonical(text: str) -> None:
    """A host that is one is spelled once and for all, without trailing dots, stars or colons."""
    found = host_name(text)
    if isinstance(found, str):
        assert host_name(found) == found
        assert not found.endswith(".")
        assert not set(found) & set(":* ")


@given(st.text(max_size=8))
def test_variables(name: str) -> None:
    """Exactly identifiers and the lone star have a target."""
    found = targets("env.get", {"names": [name]})
    assert isinstance(found, Refusal) != (is_env_var(name) or name == "*")


@given(st.lists(st.text(alphabet="aBcÉß1_-. ", max_size=8), min_size=1, max_size=3))
def test_canonical_paths_have_only_letters_and_digits(segments: list[str]) -> None:
    """Every segment keeps its letters and digits in their order, and nothing else."""
    for before, after in zip(segments, canonical_path(segments), strict=True):
        assert after == "" or after.isalnum()
        assert after.casefold() == "".join(c for c in before if c.isalnum()).casefold()


@given(st.sampled_from(sorted(catalogue().operations)), st.dictionaries(st.text(max_size=5), st.text(max_size=5)))
def test_any_arguments_give_targets_or_a_reason(operation: str, arguments: dict[str, str]) -> None:
    found = targets(operation, arguments)
    assert isinstance(found, (tuple, Refusal, Unclear))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.data(), st.sampled_from(sorted(catalogue().operations)))
def test_values_of_the_wrong_form_are_told(data: st.DataObject, operation: str) -> None:
    """Whatever JSON stands for an argument, the answer is targets, a refusal, or what is unclear."""
    names = [parameter.argument for parameter in catalogue().operations[operation].parameters]
    arguments = {name: data.draw(JUNK) for name in names}
    assert isinstance(targets(operation, {"agent": "A()", **arguments}), (tuple, Refusal, Unclear))


@pytest.mark.parametrize("operation", ["http.send", "websocket.connect", "rdbms.query", "rdbms.begin-transaction"])
def test_without_a_port_nothing_is_guessed(operation: str) -> None:
    """Where nobody reads URLs or SQL the answer is that it cannot be told."""
    arguments = {"url": "https://a.b", "engine": "postgres", "address": "postgres://h/app", "sql": "SELECT 1"}
    found = targets_of(catalogue().operations[operation], arguments, Asker.of_agent(context()), NO_PORTS)
    assert isinstance(found, Unclear)


def test_network_targets_carry_the_port() -> None:
    (target,) = targets("http.send", {"url": "https://a.b:8443/x"})
    assert isinstance(target.resource, NetworkResource)
    assert target.resource.ports.low == target.resource.ports.high == 8443


@pytest.mark.parametrize(
    "operation, arguments",
    [
        ("http.send", {"url": "http://a.b:" + "0" * 6000 + "81/"}),
        ("net.tcp.connect", {"address": "1" * 6000 + ".2.3.4:5"}),
        ("net.tcp.connect", {"address": "1.2.3.4:" + "9" * 6000}),
        ("http.send", {"url": "http://" + "9" * 6000 + "/"}),
        ("http.send", {"url": "http://" + "a." * 40_000}),
        ("dns.resolve", {"host": "a." * 100_000 + "b"}),
        ("fs.stat-at", {"path": "a/../" * 50_000}),
        ("oplog.enrich", {"indexes": "7 " * 20_000}),
        ("secret.reveal", {"declared": "aB_" * 50_000}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_long_arguments_are_read_in_time(operation: str, arguments: dict[str, Any]) -> None:
    """Whatever its length, an argument gives an answer at once."""
    begun = time.monotonic()
    assert isinstance(targets(operation, {"agent": "A()", **arguments}), (tuple, Refusal, Unclear))
    assert time.monotonic() - begun < 2
