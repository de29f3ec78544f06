"""A manifest that the loader refuses is never said to be deployable."""

import pytest

from policyd.manifest import load_text
from policyd.usecases.audit_manifest import audit_with_deploys

HEAD = "manifestVersion: 1.6.0\napp: shop\nenvironments:\n  prod: {server: cloud, account: a@x.io}\nagents:\n"


@pytest.mark.parametrize(
    ("agents", "code"),
    [
        ("  Cart:\n    nonsense: 1\n", "MANIF030"),
        ("  Cart:\n    initialCard: 5\n", "MANIF031"),
        ("  Cart:\n    initialCard: {}\n    initialCard: {}\n", "MANIF020"),
    ],
)
def test_refused(agents: str, code: str) -> None:
    report, deploys = audit_with_deploys(load_text(HEAD + agents))
    assert code in [finding.code for finding in report.findings]
    assert [(d.agent_type, d.is_accepted) for d in deploys] == [("Cart", False)]
    assert all("the manifest is not read" in d.text for d in deploys)


def test_accepted() -> None:
    _, deploys = audit_with_deploys(load_text(HEAD + "  Cart: {}\n"))
    assert [d.is_accepted for d in deploys] == [True]
