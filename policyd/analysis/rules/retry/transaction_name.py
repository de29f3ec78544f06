"""RETRY031: a predicate that tries to tell one transaction from another. Page: transaction_name.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import RetryView, names_sagas, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy, Text, property_named
from policyd.core.retry.predicate import PropText
from policyd.core.retry.representatives import Leaf, constants_of, tests_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy for sagas that reads what names a transaction or an operation."""
    view = view_of(subject)
    for policy in view.rules:
        if not is_told(view, policy):
            continue
        names = ", ".join(f"`{name}`" for name in naming(policy))
        yield rule.finding(
            f"retry policy `{policy.name}` tries to single out a transaction by {names}: a saga decision sees the agent"
            " and the attempt only",
            view.span(policy),
            help="write one policy for all sagas of the agent, or put the transactions into agents of their own",
        )


def is_told(view: RetryView, policy: NamedPolicy) -> bool:
    """Whether the policy is for sagas and names more than the agent."""
    return view.saga is not None and names_sagas(policy) and bool(naming(policy))


def naming(policy: NamedPolicy) -> list[str]:
    """The properties by which the policy tries to name a transaction.

    Source: retry 6.2; 8.4, F31.
    """
    found = []
    for name, leaves in sorted(tests_of((policy.selector,)).items()):
        custom = property_named(name) is None or name == "function"
        if custom or (name == "noun-uri" and any(_names_no_agent(leaf) for leaf in leaves)):
            found.append(name)
    return found


def _names_no_agent(leaf: Leaf) -> bool:
    """Whether a test on the noun can be true of no agent's name."""
    if isinstance(leaf, PropText):
        return False
    return any(isinstance(v, Text) and not v.value.startswith("urn:worker:") for v in constants_of(leaf))


RULE = Rule("RETRY031", "transaction_name", Severity.WARNING, Confidence.LIKELY, check)
