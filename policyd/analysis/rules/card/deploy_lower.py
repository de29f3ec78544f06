"""CARD001: a lower bound that grants more than the deployer holds. Page: deploy_lower.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.deploy import Offender, judge
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.grants import Grant
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant that no parent card covers, and so makes the registry refuse the deploy."""
    for card in subject.cards:
        if subject.deployer == ():
            yield rule.finding(
                f"the deployer holds no card from which that of agent type {shown(card.agent.name)} could be derived",
                card.span,
                help="deploy with the cards of an account",
            )
            continue
        if not card.is_readable:
            continue
        outcome = judge(subject, card)
        offenders = [o for o in outcome.lower if o.refusal.rule == "A1"]
        if not offenders:
            continue
        if not card.is_explicit:
            yield _on_default(rule, subject, card, offenders)
            continue
        for offender in offenders:
            yield rule.finding(
                f"lower bound grants more than {_parents(subject)}",
                offender.placed.span or card.span,
                help=_help(offender, subject),
                confidence=_confidence(subject),
            )
        if outcome.more:
            yield rule.finding(
                f"{outcome.more} further lower grants are more than {_parents(subject)}",
                card.span,
                confidence=_confidence(subject),
            )


def _on_default(rule: Rule, subject: Subject, card: AuditedCard, offenders: list[Offender]) -> Finding:
    classes = ", ".join(f"`{name}`" for name in dict.fromkeys(o.placed.grant.target.cls.name for o in offenders))
    return rule.finding(
        f"the default card of agent type {shown(card.agent.name)} grants more than {_parents(subject)}: {classes}",
        card.span,
        help="the default card is never trimmed to what the deployer holds: write an `initialCard` with less",
        confidence=_confidence(subject),
    )


def _parents(subject: Subject) -> str:
    return "any parent card" if subject.deployer is not None else "the root card of an account, which is assumed"


def _confidence(subject: Subject) -> Confidence:
    return Confidence.CERTAIN if subject.deployer is not None else Confidence.LIKELY


def _help(offender: Offender, subject: Subject) -> str:
    grant = offender.placed.grant
    if not grant.recipient.known and grant.recipient.slot is None and grant.target.owner.slot is not None:
        return "with recipient `*` the slot stands for any account, which only an administrator covers: write `?agent`"
    if subject.deployer is None:
        return "only an administrator holds this: stay within the account that owns the environment"
    near = _granted_verbs(grant, subject, offender.envelope)
    return near or "grant no more than the deployer holds, or deploy with cards that cover it"


def _granted_verbs(grant: Grant, subject: Subject, envelope: Grant) -> str:
    """What the parents grant of the same thing, verb by verb."""
    target = envelope.target
    if target.verb != "*":
        return ""
    parents = [p for card in subject.deployer or () for p in card.bounds.lower_positive]
    near = [
        p
        for p in parents
        if p.target.cls == target.cls
        and p.target.owner.covers(target.owner)
        and p.target.resource.covers(target.resource)
        and p.recipient.covers(envelope.recipient)
    ]
    verbs = [verb for verb in grant.target.cls.verbs if any(p.target.verb == verb for p in near)]
    listed = ", ".join(f"`{verb}`" for verb in verbs)
    return f"the parents grant only {listed}: name the verbs instead of `*`" if verbs else ""


RULE = Rule("CARD001", "deploy_lower", Severity.ERROR, Confidence.CERTAIN, check)
