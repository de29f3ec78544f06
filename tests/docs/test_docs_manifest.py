"""The manifest that the docs show is one."""

from __future__ import annotations

import re
from pathlib import Path

from policyd.findings import Severity
from policyd.manifest import load_text
from policyd.usecases.audit_manifest import audit_manifest
from policyd.usecases.deployments import Selection, described

PAGE = Path(__file__).parents[2] / "docs" / "manifest.md"


def test_the_example_is_accepted_and_means_what_the_page_says() -> None:
    found = re.search(r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    text = found[1].replace('includes: ["teams/*.yaml"]', "includes: []")
    loaded = load_text(text)
    assert [f for f in loaded.findings if f.severity is Severity.ERROR] == []
    errors = [f for f in audit_manifest(loaded).findings if f.severity is Severity.ERROR]
    assert errors == []
    prod = described(loaded, Selection("prod")).deployment
    author, publisher = prod.agent("Author"), prod.agent("Publisher")
    assert author is not None
    assert publisher is not None
    assert [placed.text for placed in author.initial_card.lower_positive][1] == "oplog(?agent) @ ?agent : read : *"
    assert publisher.initial_card.is_default
    dev = described(loaded, Selection("dev")).deployment.agent("Author")
    assert dev is not None
    assert len(dev.initial_card.lower_positive) == 3
    assert [policy.rule.name for policy in prod.retry_policies] == ["cdn"]
    assert [secret.name for secret in prod.secrets] == ["cdn.token"]
