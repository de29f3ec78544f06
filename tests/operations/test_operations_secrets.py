"""Credentials in arguments are not repeated, wherever the answer ends up."""

from __future__ import annotations

from pathlib import Path

import pytest

from policyd.cli.main import run

SHOP = str(Path(__file__).parents[2] / "examples/shop/golem.yaml")
QUESTIONS = {
    "refused url": ["--op", "http.send", "--arg", "url=https://u:hunter2@api.stripe.com/"],
    "query of a url": ["--op", "http.send", "--arg", "url=https://api.stripe.com/?token=hunter2"],
    "address": [
        *("--op", "rdbms.begin-transaction", "--arg", "engine=postgres"),
        *("--arg", "address=postgres://u:hunter2@h/a.b"),
    ],
    "statement": [
        *("--op", "rdbms.query", "--arg", "engine=postgres", "--arg", "address=postgres://u:hunter2@h/app"),
        *("--arg", "sql=select 1"),
    ],
}


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("which", list(QUESTIONS))
def test_no_credentials_in_an_answer(which: str, format: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the question that is repeated nor a refusal holds the password."""
    run(["check", SHOP, "--env", "prod", "--agent", "Cart", *QUESTIONS[which], "--format", format])
    told = capsys.readouterr()
    assert told.out
    assert "hunter2" not in told.out + told.err
