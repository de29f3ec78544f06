"""What a scalar means where any value may stand."""

from __future__ import annotations

from typing import Any

import pytest

from policyd.manifest import load_text
from policyd.manifest.compose import compose
from policyd.manifest.located import LocatedMap
from policyd.manifest.scalars import MisfitError, json_of, plain_value
from policyd.manifest.source import decode


@pytest.mark.parametrize(
    "text, value",
    [
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("on", "on"),
        ("tRUE", "tRUE"),
        ("null", None),
        ("~", None),
        ("", None),
        ("nULL", "nULL"),
        ("12", 12),
        ("+5", 5),
        ("-0", 0),
        ("0x1F", 31),
        ("0X1F", "0X1F"),
        ("0o17", 15),
        ("0b11", 3),
        ("-0x10", -16),
        ("0x", "0x"),
        ("0o8", "0o8"),
        ("017", "017"),
        ("00", "00"),
        ("-05", "-05"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("--1", "--1"),
        ("+-1", "+-1"),
        ("1.0", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("+1.5", 1.5),
        (".", "."),
        ("e5", "e5"),
        ("1e400", "1e400"),
        (".inf", None),
        ("-.INF", None),
        (".nan", None),
        ("-.nan", "-.nan"),
        ("inf", "inf"),
        ("2001-01-01", "2001-01-01"),
        ("18446744073709551615", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("٣", "٣"),
    ],
)
def test_plain_values(text: str, value: Any) -> None:
    """Plain scalars follow the core schema of YAML 1.2, not the habits of YAML 1.1."""
    found = plain_value(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["18446744073709551616", "-9223372036854775809", "0x10000000000000000", str(2**127)])
def test_integers_outside_64_bits(text: str) -> None:
    """An integer outside 64 bits but within 128 is refused."""
    with pytest.raises(MisfitError):
        plain_value(text)


def test_decimals_beyond_128_bits_are_floats() -> None:
    """A gigantic decimal becomes a number with an exponent, a gigantic hexadecimal a text."""
    assert plain_value("9" * 60) == 1e60
    assert plain_value("0x" + "f" * 60) == "0x" + "f" * 60
    assert plain_value("9" * 100_000) == "9" * 100_000


def test_free_values_keep_the_last_of_repeated_keys() -> None:
    """A free value is a JSON tree: quoted texts stay texts, the last repeated key counts."""
    source, _, _ = decode("x", '{a: 1, b: [1, "1", ~], a: {c: |\n x\n}}'.replace("|\n x\n", "'x'"))
    tree, findings = compose(source)
    assert isinstance(tree, LocatedMap)
    assert not findings
    assert json_of(tree) == {"a": {"c": "x"}, "b": [1, "1", None]}


def test_policies_are_kept_as_written() -> None:
    """Retry defaults keep priority, and predicate and policy as located trees."""
    loaded = load_text(
        """\
manifestVersion: 1.6.0
app: shop
environments: {prod: {}}
retryPolicyDefaults:
  prod:
    http: {priority: 10, predicate: {propIn: {property: status-code, values: [502]}}, policy: immediate}
"""
    )
    (default,) = loaded.application.retry_defaults
    assert (default.environment, default.name, default.priority) == ("prod", "http", 10)
    assert default.predicate is not None
    assert default.policy is not None
    assert json_of(default.predicate) == {"propIn": {"property": "status-code", "values": [502]}}
    assert json_of(default.policy) == "immediate"
    assert default.policy.span.where == "golem.yaml:6:95"
    assert default.policy.path == "$.retryPolicyDefaults.prod.http.policy"
