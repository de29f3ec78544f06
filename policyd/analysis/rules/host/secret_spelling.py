"""HOST011: `reveal` of a secret in another spelling than the one asked for. Page: secret_spelling.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policyd.analysis.grant_index import GrantIndex
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB, Target
from policyd.core.grants.resources import SegmentPath
from policyd.core.grants.resources.segments import GLOBSTAR, STAR
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant to reveal a secret by a path that is not canonical, if its list has no canonical one."""
    for card in subject.explicit_cards:
        for bound in Bound:
            yield from _in_list(rule, card, bound)


def _in_list(rule: Rule, card: AuditedCard, bound: Bound) -> Iterator[Finding]:
    entries = [e for e in card.of_bound(bound) if e.grant.target.cls.name == "secret"]
    suspects = [(e, key) for e in entries if e.is_written and (key := _asked(e)) is not None]
    if not suspects:
        return
    index = GrantIndex(entries)
    for entry, key in suspects:
        target = entry.grant.target
        if index.covering(Target(target.cls, target.owner, "reveal", SegmentPath(key, "."))):
            continue
        effect = "does not admit" if bound.is_positive else "does not deny"
        yield rule.finding(
            f"{shown(target.resource.text)} {effect} revealing the secret: `reveal` asks for {shown('.'.join(key))}",
            entry.placed.span,
            help="write each segment in lower camel case; where the declared path is spelled otherwise, `hold` through"
            " config needs that spelling as well",
        )


def _asked(entry: Entry) -> tuple[str, ...] | None:
    """The canonical key, None where the grant is not about `reveal`, is canonical, or is not simple enough."""
    target = entry.grant.target
    if target.verb not in ("reveal", ANY_VERB) or not isinstance(target.resource, SegmentPath):
        return None
    segments = target.resource.segments
    canonical = tuple(s if s in (STAR, GLOBSTAR) else camel(s) for s in segments)
    return None if canonical == segments else canonical


_WORDS = re.compile(r"[a-z][a-z0-9]*(?:[_-]+[a-z][a-z0-9]*)*|[A-Z]+(?:[_-]+[A-Z]+)*", re.ASCII)


def camel(segment: str) -> str:
    """A segment in lower camel case; one that is not made of plain words with `_` or `-` between them stays.

    >>> camel("api_key"), camel("API-KEY"), camel("apiKey")
    ('apiKey', 'apiKey', 'apiKey')

    Source: host 4.6.
    """
    if _WORDS.fullmatch(segment) is None:
        return segment
    first, *others = re.split(r"[_-]+", segment)
    return first.lower() + "".join(word.capitalize() for word in others)


RULE = Rule("HOST011", "secret_spelling", Severity.WARNING, Confidence.CERTAIN, check)
