"""HOST007: `**` behind the first segment of a key, where it stands for one segment. Page: inner_globstar.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants.resources import SegmentPath
from policyd.core.grants.resources.segments import GLOBSTAR
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every config, secret or initial file pattern with `**` elsewhere than in front."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            resource = entry.grant.target.resource
            if not entry.is_written or not isinstance(resource, SegmentPath) or resource.segments[:1] == (GLOBSTAR,):
                continue
            if GLOBSTAR in resource.segments:
                count = len(resource.segments)
                effect = "covers" if entry.bound.is_positive else "denies"
                yield rule.finding(
                    f"`**` in {shown(resource.text)} is one segment: the grant {effect} only what has {count} segments",
                    entry.placed.span,
                    help="write one grant per depth, with `*` for each segment; only a leading `**` reaches any depth",
                )


RULE = Rule("HOST007", "inner_globstar", Severity.WARNING, Confidence.LIKELY, check)
