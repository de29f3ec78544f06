"""CARD018: `files` adds grants to an explicit card. Page: files_added.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import index_of, own_target
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.application import ProvidedFile
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown

MAX_RELATED = 5
"""So many entries of `files` are shown."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every explicit card that gets file system rights it does not write itself."""
    for card in subject.explicit_cards:
        if not card.is_readable:
            continue
        added = [file for file in card.agent.files if not _is_written(subject, card, file)]
        if not added:
            continue
        paths = ", ".join(f"{shown(file.path)}" for file in added[:MAX_RELATED])
        more = f" and {len(added) - MAX_RELATED} more" if len(added) > MAX_RELATED else ""
        yield rule.finding(
            f"`files` adds file system grants to the card of agent type {shown(card.agent.name)}: {paths}{more}",
            card.span,
            help="nothing to change if the agents are to read these files; a lower negative takes the right away again",
            related=[Related("provided here", file.span) for file in added[:MAX_RELATED]],
        )


def _is_written(subject: Subject, card: AuditedCard, file: ProvidedFile) -> bool:
    target = own_target(card, "filesystem", "read", file.path)
    if target is None:
        return True
    return any(e.is_written for e in index_of(subject, card).covering(Bound.LOWER_POSITIVE, target))


RULE = Rule("CARD018", "files_added", Severity.INFO, Confidence.CERTAIN, check)
