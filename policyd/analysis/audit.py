"""One audit: every rule on every deployment, equal findings told once.

Source: style 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from policyd.analysis.rule import Rule, Scope
from policyd.analysis.rules import RULES
from policyd.analysis.subject import Subject
from policyd.findings import Finding, Related, Span
from policyd.syntax.mistakes import shown

MAX_NAMED = 8
"""So many environments are named in a finding; the others are counted."""


def audit(subjects: Sequence[Subject], rules: Sequence[Rule] = RULES, *, of: int | None = None) -> tuple[Finding, ...]:
    """What `rules` find in `subjects`, one per environment.

    A finding that holds in some of several environments names them; one that holds in all names none.

    Args:
        subjects: deployments of one application.
        rules: in any order.
        of: how many environments there are, where `subjects` are not all of them.
    """
    names = tuple(dict.fromkeys(subject.deployment.environment for subject in subjects))
    count = len(names) if of is None else of
    places: dict[Span, set[str]] = {}
    for subject in subjects:
        for span in _places(subject):
            places.setdefault(span, set()).add(subject.deployment.environment)
    out: list[Finding] = []
    bad: dict[Finding, set[str]] = {}
    for subject in subjects:
        for finding in (*refused_grants(subject), *subject.deployment.retry_findings):
            bad.setdefault(finding, set()).add(subject.deployment.environment)
    out += (in_environments(f, tuple(n for n in names if n in where), count) for f, where in bad.items())
    for rule in rules:
        seen: dict[Finding, set[str]] = {}
        for subject in subjects:
            for finding in rule.run(subject):
                seen.setdefault(finding, set()).add(subject.deployment.environment)
        for finding, where in seen.items():
            if rule.scope is Scope.ALL and finding.span in places and places[finding.span] - where:
                continue
            out.append(in_environments(finding, tuple(n for n in names if n in where), count))
    return tuple(sorted(out, key=lambda f: f.order))


def refused_grants(subject: Subject) -> Iterator[Finding]:
    """The texts in cards that are no grants, each with the code of its own mistake.

    The platform refuses the whole card for one of them, and with it the deploy (Y4).
    """
    for card in subject.cards:
        for bad in card.agent.initial_card.bad:
            finding = bad.finding
            if "{{" in bad.text:
                finding = replace(finding, help="`{{ }}` is never filled in a grant: write the name itself or a slot")
            related = Related("the whole card is refused for it, and the deploy with it", card.span)
            yield replace(finding, related=(*finding.related, related))


def in_environments(finding: Finding, where: Sequence[str], count: int) -> Finding:
    """`finding` with the environments named in which it holds, unless it holds in all `count` of them."""
    if len(where) >= count:
        return finding
    noun = "environment" if len(where) == 1 else "environments"
    named = ", ".join(shown(name) for name in where[:MAX_NAMED])
    more = f" and {len(where) - MAX_NAMED} more" if len(where) > MAX_NAMED else ""
    return replace(finding, message=f"{finding.message} (in {noun} {named}{more})")


def _places(subject: Subject) -> Iterator[Span]:
    for card in subject.cards:
        for entry in card.entries:
            if entry.placed.span is not None:
                yield entry.placed.span
