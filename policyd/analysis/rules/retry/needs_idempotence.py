"""RETRY024: a status retry for requests that may not be sent again. Page: needs_idempotence.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import http_sites, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry.context import IDEMPOTENT_METHODS
from policyd.core.retry.value import Boolean, Text
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy that decides response statuses for methods only that are not idempotent."""
    view = view_of(subject)
    for policy in view.rules:
        told = []
        for site in http_sites(view):
            if not site.resolver.filters_status or not (win := view.judged(site, policy).win):
                continue
            space = view.study.space(site)
            place = next((i for i, g in enumerate(space.groups) if "verb" in g.names), None)
            if place is None:
                continue
            cells = [cell for i, cell in enumerate(space.groups[place].cells) if win & space.cells(place, (i,))]
            if cells and not any(_is_resent(cell.get("verb"), cell.get("is-idempotent")) for cell in cells):
                told.append(site)
        if told:
            yield rule.finding(
                f"retry policy `{policy.name}` decides statuses at {slugs(told)} only for requests whose method is not"
                " idempotent: they are sent again only where the agent assumes idempotence",
                view.span(policy),
                help="assume idempotence in the agent if repeating is harmless; else retry in the code with a key",
            )


def _is_resent(verb: object, flag: object) -> bool:
    """Whether a request can be sent again without an agent that assumes idempotence."""
    return flag == Boolean(True) or (isinstance(verb, Text) and verb.value in IDEMPOTENT_METHODS)


RULE = Rule("RETRY024", "needs_idempotence", Severity.WARNING, Confidence.CERTAIN, check)
