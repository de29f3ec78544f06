"""RETRY023: a retry policy for HTTP that response statuses are never put to. Page: status_invisible.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import RetryView, http_sites, required_texts, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy
from policyd.core.retry.predicate import ALWAYS
from policyd.core.retry.resolve import mentions_status
from policyd.findings import Confidence, Finding, Severity

METHODS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH", "CONNECT"))


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy meant for HTTP that does not read the status code, unless it is about transport failures."""
    view = view_of(subject)
    for policy in view.rules:
        why = intent(view, policy)
        if why and not mentions_status(policy) and matches_http(view, policy):
            yield rule.finding(
                f"retry policy `{policy.name}` {why}, but a response status is never put to it: it does not read"
                " `status-code`",
                view.span(policy),
                help="add a policy that reads `status-code`, or name this one for transport failures",
            )


def matches_http(view: RetryView, policy: NamedPolicy) -> bool:
    """Whether the policy accepts some HTTP request."""
    return any(view.study.space(site).judged_alone(policy)[0] for site in http_sites(view))


def intent(view: RetryView, policy: NamedPolicy) -> str:
    """Why the policy seems meant for HTTP responses, empty where it does not."""
    error_type = required_texts(policy.selector, "error-type")
    if error_type == ("http-status",):
        return "is for response statuses"
    if error_type == ("transient",):
        return ""
    verbs = required_texts(policy.selector, "verb")
    if verbs and METHODS.issuperset(verbs):
        return "is for " + ", ".join(f"`{verb}`" for verb in verbs) + " requests"
    if verbs is None and "http" in policy.name.lower() and "transport" not in policy.name.lower():
        return "is named for HTTP"
    if policy.selector == ALWAYS and any(_is_http_only(other) for other in view.rules if other is not policy):
        return "matches everything and stands beside one for HTTP"
    return ""


def _is_http_only(policy: NamedPolicy) -> bool:
    """Whether the policy names HTTP methods and does not read the status code."""
    verbs = required_texts(policy.selector, "verb")
    return bool(verbs) and METHODS.issuperset(verbs or ()) and not mentions_status(policy)


RULE = Rule("RETRY023", "status_invisible", Severity.INFO, Confidence.LIKELY, check)
