"""Secrets in a paste are in no part of what is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policyd.syntax.denials import recognise
from policyd.syntax.denials.redaction import HIDDEN, redacted, redacted_name, redacted_sql

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "denials" / "secrets.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"].replace(" ", "-"))
def test_a_secret_beside_or_inside_an_error_is_not_told(case: dict[str, Any]) -> None:
    """Nothing that the reading holds repeats it; a target as a value is exact, its text is not."""
    reading = recognise(case["text"])
    told = reading
    if case.get("but") == "target":
        told = replace(reading, denials=tuple(replace(d, target=None) for d in reading.denials))
    for secret in case["hides"]:
        assert secret in case["text"]
        assert secret not in repr(told)


@pytest.mark.parametrize(
    "text, shown",
    [
        ("Authorization: Bearer abc.def", "Authorization: "),
        ("postgres://u:p@h/db", "postgres://"),
        ("api_key => 'x'", "api_key => "),
        ("clientSecret=abc&x=1", "clientSecret="),
        ("token ghp_abcdefgh1234", "token "),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", ""),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", ""),
    ],
)
def test_the_forms_of_secrets_are_known(text: str, shown: str) -> None:
    """What stands before the value stays, the value does not."""
    assert redacted(text).startswith(shown + HIDDEN) or (redacted(text).startswith(shown) and HIDDEN in redacted(text))


@pytest.mark.parametrize(
    "name", ["auth:login", 'Cart("42")', "payments.production.internals", "dev@acme.io/shop/prod", "db.password"]
)
def test_names_are_no_secrets(name: str) -> None:
    """Names of components, agents, hosts and keys are told as they are."""
    assert redacted_name(name) == name


@given(
    st.sampled_from(["password=", "token: ", "API_KEY='", "secret => ", "Bearer ", "https://u:"]),
    st.from_regex(r"[A-Za-z0-9]{6,20}", fullmatch=True),
    st.sampled_from(["", " and more", "@host/x", "'"]),
)
def test_a_value_behind_a_secret_looking_name_is_hidden(name: str, value: str, behind: str) -> None:
    """Whatever the value."""
    text = f"{name}{value}{behind}" if "://" not in name else f"{name}{value}@host"
    assert value not in redacted(text).replace(HIDDEN, "")
    assert value not in redacted_sql(f"found: '{value}' at Line: 1")
