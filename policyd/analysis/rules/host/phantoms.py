"""HOST010: `Type(*)` as an owner, which covers no phantom. Page: phantoms.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.effect import THIS_AGENT, resources_may_overlap
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown

MAX_POSITIVES = 200
"""So many wider lower grants are compared with one negative."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every negative on `Type(*)` past which a wider lower grant of its card lets phantoms of the type."""
    for card in subject.explicit_cards:
        wider: dict[str, list[Entry]] | None = None
        for entry in card.entries:
            if entry.bound.is_positive or not entry.is_written or not entry.grant.target.owner.is_type_wildcard:
                continue
            wider = _wider(card) if wider is None else wider
            gap = next((p for p in wider.get(entry.grant.target.cls.name, []) if _reaches(p, entry, card)), None)
            if gap is None:
                continue
            kind = entry.grant.target.owner.known[4]
            related = [Related("this grant reaches phantoms too", gap.placed.span)] if gap.placed.span else []
            yield rule.finding(
                f"the negative does not deny phantoms of {shown(kind)}: {shown(kind + '(*)')} covers ids that end in"
                " `)` only",
                entry.placed.span,
                help="write the owner with a star for all agents of the component, as `?component/*`",
                related=related,
            )


def _wider(card: AuditedCard) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in card.of_bound(Bound.LOWER_POSITIVE):
        owner = entry.grant.target.owner
        reaches = len(owner.known) < owner.kind.depth or owner.known[4:] == (THIS_AGENT,)
        if entry.may_be_for_holder and reaches:
            known = found.setdefault(entry.grant.target.cls.name, [])
            if len(known) < MAX_POSITIVES:
                known.append(entry)
    return found


def _reaches(positive: Entry, negative: Entry, card: AuditedCard) -> bool:
    """Whether the positive gives phantoms something that the negative means to deny."""
    wide, narrow = positive.grant.target, negative.grant.target
    if wide.verb != narrow.verb and ANY_VERB not in (wide.verb, narrow.verb):
        return False
    if not resources_may_overlap(wide.resource, narrow.resource):
        return False
    if wide.owner.known[4:] == (THIS_AGENT,):
        return narrow.owner.known == (*card.context.segments, card.agent.name)
    return narrow.owner.known[: len(wide.owner.known)] == wide.owner.known


RULE = Rule("HOST010", "phantoms", Severity.WARNING, Confidence.LIKELY, check)
