"""CARD021: everything of a sensitive class in one grant. Page: wide_grant.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB, Target
from policyd.core.grants.resources import AnyResource, FilePath, NetworkResource, SegmentPath
from policyd.core.grants.resources.network import ANY_PORT
from policyd.core.grants.resources.segments import GLOBSTAR
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

_OPENS = {
    "secret": "every secret of the environment",
    "network": "every host and port",
    "filesystem": "every file, to read, write and delete",
}


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant of secrets, network or files with all verbs and all resources, if nothing narrows it."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact:
            continue
        for entry in card.of_bound(Bound.LOWER_POSITIVE):
            target = entry.grant.target
            what = _OPENS.get(target.cls.name)
            if what is None or not entry.is_written or not entry.is_for_holder or not _is_everything(target):
                continue
            if not index.lets_through(target):
                continue
            yield rule.finding(
                f"this grant opens {what} to agent type {shown(card.agent.name)}",
                entry.placed.span,
                help="name the verbs and the resources that are needed, or cap it in `upperBound`",
            )


def _is_everything(target: Target) -> bool:
    if target.verb != ANY_VERB and len(target.cls.verbs) > 1:
        return False
    match target.resource:
        case AnyResource():
            return True
        case FilePath(segments):
            return segments == (GLOBSTAR,)
        case SegmentPath(segments):
            return segments[:1] == (GLOBSTAR,)
        case NetworkResource(host, ports):
            return host == "*" and ports == ANY_PORT
        case _:
            return False


RULE = Rule("CARD021", "wide_grant", Severity.INFO, Confidence.CERTAIN, check)
