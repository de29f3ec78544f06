"""HOST009: an HTTP deployment named by its domain, which only one-label domains can be. Page: http_domain.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants.resources import HttpRoute
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant on a single HTTP deployment other than one of a local host."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            resource = entry.grant.target.resource
            if not entry.is_written or not isinstance(resource, HttpRoute) or resource.domain == "localhost":
                continue
            yield rule.finding(
                f"{shown(resource.text)} names an HTTP deployment on a domain of one label, which no public domain has",
                entry.placed.span,
                help="write `*`: a domain with dots cannot be named in this class",
            )


RULE = Rule("HOST009", "http_domain", Severity.WARNING, Confidence.LIKELY, check)
