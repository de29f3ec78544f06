"""What is wrong or risky in the retry policies of one environment.

Source: retry 8; interface (`retry lint`).
"""

from __future__ import annotations

from policyd.analysis import Subject, audit
from policyd.analysis.rules import RULES
from policyd.core.application import Deployment
from policyd.core.edition import Rules
from policyd.core.retry.placed import NO_FACTS, RetryFacts
from policyd.findings import InputError, Report, Span
from policyd.usecases.deployments import Selection, described
from policyd.usecases.retry_sources import RetryEnvironment

RETRY_RULES = tuple(rule for rule in RULES if rule.family == "retry")


def lint(environment: RetryEnvironment, rules: Rules, facts: RetryFacts = NO_FACTS) -> Report:
    """All findings on the retry policies of an environment, and what was left out.

    Args:
        environment: the policies; cards are looked at as far as the document is a whole manifest.
        rules: the edition.
        facts: what is known beside the document.
    """
    deployment, left_out = _deployment(environment, rules)
    subject = Subject(deployment, "", rules, retry=facts)
    return Report.of(audit([subject], RETRY_RULES), left_out)


def _deployment(environment: RetryEnvironment, rules: Rules) -> tuple[Deployment, tuple[str, ...]]:
    loaded = environment.loaded
    left_out: list[str] = []
    if loaded is not None and environment.name in {e.name for e in loaded.application.environments}:
        try:
            return described(loaded, Selection(environment.name), rules).deployment, ()
        except InputError:
            left_out.append("cards: the manifest has mistakes")
    else:
        left_out.append("cards: the document describes no agents of this environment")
    span = next((p.span for p in environment.policies if p.span is not None), Span("policies"))
    bare = Deployment(
        "", environment.name, span, (), "", "",
        retry_policies=environment.policies, retry_findings=environment.findings,
    )  # fmt: skip
    return bare, tuple(left_out)
