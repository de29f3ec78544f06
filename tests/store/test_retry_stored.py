"""Retry policies of snapshots: what stored findings leave out."""

import pytest

from policyd.findings import Finding, Severity
from policyd.usecases.retry_withheld import WITHHELD, without_values


@pytest.mark.parametrize(
    ("code", "message", "stored"),
    [
        (
            "RETRY006",
            "policy `mine`: `status-code` never equals `hunter2`",
            f"policy `mine`: `status-code` never equals {WITHHELD}",
        ),
        ("RETRY103", "`propHunter2` is no kind at `$.predicate`", f"{WITHHELD} is no kind at `$.predicate`"),
        ("CARD007", "`hunter2`", "`hunter2`"),
    ],
)
def test_values_are_withheld(code: str, message: str, stored: str) -> None:
    """Names, words of the platform and places stay; findings of other families are left as they are."""
    found = without_values(Finding(code, Severity.ERROR, message, None, "ask `propExists: status-code`"), ["mine"])
    assert found.message == stored
    assert found.help == "ask `propExists: status-code`"
