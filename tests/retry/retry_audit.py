"""Audits of retry policies given in the short notation."""

from typing import Any

from retry_notation import rule_of

from policyd.analysis import RULES, Subject, audit
from policyd.core.application import Deployment
from policyd.core.edition import Edition, Rules
from policyd.core.retry import NamedPolicy, Overlay
from policyd.core.retry.placed import PlacedPolicy, RetryFacts
from policyd.findings import Finding, Span

RETRY_RULES = tuple(rule for rule in RULES if rule.family == "retry")


def edition_of(case: dict[str, Any]) -> Rules:
    """The edition and switches that a case names."""
    return Rules.of(Edition(case.get("edition", "next")), case.get("switch", {}))


def told(
    rules: list[str], edition: Rules, *, existing: list[NamedPolicy] | None = None, overlay: Overlay | None = None
) -> tuple[Finding, ...]:
    """The findings on some rules, as a manifest would give them."""
    placed = tuple(PlacedPolicy.of_manifest(rule_of(text), Span("rules", i + 1, 1)) for i, text in enumerate(rules))
    deployment = Deployment("shop", "prod", Span("rules"), (), "", "", retry_policies=placed)
    facts = RetryFacts(None if existing is None else tuple(existing), overlay or Overlay())
    return audit([Subject(deployment, "", edition, retry=facts)], RETRY_RULES)
