"""RETRY030: sagas of an agent that may not read its own metadata. Page: no_saga_identity.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import index_of, self_view
from policyd.analysis.retry_view import names_sagas, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every card that withholds self-view in an environment with policies written for sagas."""
    view = view_of(subject)
    written = [policy for policy in view.rules if names_sagas(policy) and view.is_saga_reachable(policy)]
    if not written:
        return
    names = ", ".join(f"`{policy.name}`" for policy in written)
    for card in subject.cards:
        index = index_of(subject, card)
        if not index.is_exact or index.admits(self_view(card)):
            continue
        span = view.span(written[0])
        yield rule.finding(
            f"sagas of `{card.agent.name}` end with a policy error whatever {names} says: its agents may not read their"
            " own metadata",
            card.span,
            help="add `agent(?agent) @ ?agent : view :` if its code runs infallible transactions",
            related=[Related("a policy for sagas", span)] if span is not None else [],
        )


RULE = Rule("RETRY030", "no_saga_identity", Severity.ERROR, Confidence.LIKELY, check)
