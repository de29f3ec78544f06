"""The scalar rules of retry YAML, and what is refused."""

import pytest

from policyd.core.retry import RetryFormError
from policyd.syntax.retry_yaml import load_yaml


@pytest.mark.parametrize(
    "text, value",
    (
        ("", None), ("~", None), ("Null", None), ("true", True), ("FALSE", False), ("yes", "yes"), ("on", "on"),
        ("12", 12), ("+5", 5), ("-0", 0), ("0x1F", 31), ("-0x10", -16), ("0o17", 15), ("0b11", 3), ("0X1", "0X1"),
        ("1_000", "1_000"), ("1:30", "1:30"), ("007", "007"), ("-05", "-05"), ("1.", 1.0), (".5", 0.5),
        ("1e3", 1000.0), ("+1.5", 1.5), ("1e999", "1e999"), (".inf", None), ("-.INF", None), (".nan", None),
        ("'12'", "12"), ("2001-01-01", "2001-01-01"), ("!!str 1", "1"), ("!!int '7'", 7), ("!!float 3", 3.0),
        ("!!bool 'true'", True), ("!!binary aGk=", "aGk="), ("1" * 60, float("1" * 60)),
        ("0x" + "f" * 40, "0x" + "f" * 40),
        ("{1: a, ~: b, true: c}", {"1": "a", "~": "b", "true": "c"}), ("{a: 1, a: 2}", {"a": 2}),
        ("{<<: {b: 1}}", {"<<": {"b": 1}}), ("x: &a [1]\ny: *a", {"x": [1], "y": [1]}), ("!!map {a: 1}", {"a": 1}),
    ),
)  # fmt: skip
def test_values(text: str, value: object) -> None:
    """A document has the value that the platform's reader gives it."""
    found = load_yaml(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    (
        "18446744073709551616", "!x 1", "! a", "!x [a]", "!!int x", "!!bool yes", "!!null a", "a: b\n---\nc: d",
        "? [a]\n: b", "&a [*a]", "*x", "[a", "[" * 129 + "]" * 129, "\t- a", "a: !!float x", "\ud800",
        "x0: &a0 [1,1]\n" + "".join(f"x{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)),
    ),
    ids=range(17),
)  # fmt: skip
def test_refused(text: str) -> None:
    """What the platform refuses, and what would grow without bound, is refused with our error."""
    with pytest.raises(RetryFormError, match="RETRY128"):
        load_yaml(text)
