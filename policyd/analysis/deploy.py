"""Will the registry take an initial card: each grant of it against the cards of whoever deploys.

Source: cards 8.4, 6.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from policyd.analysis.effect import is_unknown
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.application import PlacedGrant
from policyd.core.cards import (
    Bound,
    Bounds,
    Card,
    CardId,
    TooBroad,
    account_root_bounds,
    attenuate,
    deploy_envelopes,
)
from policyd.core.cards.envelope import UNKNOWN
from policyd.core.grants import Grant

MAX_OFFENDERS = 50
"""So many grants of one card are told one by one; the first refusal of the platform is always among them."""

ASSUMED_ROOT = CardId("assumed account root")


@dataclass(frozen=True, slots=True)
class Offender:
    """A lower grant for which the registry refuses a card.

    Attributes:
        placed: the grant.
        envelope: as the registry checks it.
        refusal: what the algebra says about it.
    """

    placed: PlacedGrant
    envelope: Grant
    refusal: TooBroad


@dataclass(frozen=True, slots=True)
class DeployOutcome:
    """What the registry would say to one card.

    Attributes:
        lower: the lower positives that it refuses, the first ones.
        more: how many further lower positives fail.
        upper: the first refusal of the upper checks, None where they pass.
        is_judged: false where a refusal may come from a name that is not known.
    """

    lower: tuple[Offender, ...]
    more: int
    upper: TooBroad | None
    is_judged: bool

    @property
    def is_refused(self) -> bool:
        """Whether something speaks against it that no name can change."""
        return bool(self.lower) or self.upper is not None


def deployer_of(subject: Subject, card: AuditedCard) -> tuple[Card, ...]:
    """The deployer's cards, or the root card that is assumed for the owning account."""
    if subject.deployer is not None:
        return subject.deployer
    return (Card(ASSUMED_ROOT, account_root_bounds(card.context.account), is_system=True),)


def judge(subject: Subject, card: AuditedCard) -> DeployOutcome:
    """Whether the registry takes `card` from the deployer (D2, D3), and what of it is refused."""
    return subject.once(f"deploy {card.agent.name}", lambda: _judged(subject, card))


def _judged(subject: Subject, card: AuditedCard) -> DeployOutcome:
    parents = deployer_of(subject, card)
    bounds = card.agent.initial_card.bounds(card.context)
    envelopes = deploy_envelopes(bounds)
    is_assumed = subject.deployer is None
    offenders, more, is_judged = _lower_offenders(card, parents, envelopes, is_assumed=is_assumed)
    upper = attenuate(parents, replace(envelopes, lower_positive=()))
    refused = upper if isinstance(upper, TooBroad) else None
    if refused is not None and not is_assumed and refused.rule != "A5" and _has_unknown(_ceiling(envelopes)):
        refused, is_judged = None, False
    return DeployOutcome(offenders, more, refused, is_judged)


def _lower_offenders(
    card: AuditedCard, parents: Sequence[Card], envelopes: Bounds, *, is_assumed: bool
) -> tuple[tuple[Offender, ...], int, bool]:
    lowers = [replace(p, bounds=_as_lower_parent(p.bounds, envelopes)) for p in parents]
    offenders: list[Offender] = []
    more = 0
    is_judged = True
    for placed, grant in zip(card.agent.initial_card.of(Bound.LOWER_POSITIVE), envelopes.lower_positive, strict=True):
        refusal = attenuate(lowers, Bounds((grant,)))
        if not isinstance(refusal, TooBroad):
            continue
        if _depends_on_names(grant, refusal, envelopes, card, is_assumed=is_assumed):
            is_judged = False
        elif len(offenders) < MAX_OFFENDERS:
            offenders.append(Offender(placed, grant, refusal))
        else:
            more += 1
    return tuple(offenders), more, is_judged


def _as_lower_parent(parent: Bounds, child: Bounds) -> Bounds:
    """What counts of a parent when one lower grant is checked: its positives, and the negatives not restated (A2).

    The ceiling is another check.
    """
    missing = (n for n in parent.lower_negative if not any(r.covers(n) for r in child.lower_negative))
    return Bounds(parent.lower_positive, tuple(missing))


def _depends_on_names(
    grant: Grant, refusal: TooBroad, envelopes: Bounds, card: AuditedCard, *, is_assumed: bool
) -> bool:
    """Whether the refusal may vanish once the account or the component is known."""
    if is_assumed:
        first = grant.target.owner.known[:1]
        return is_unknown(card.context.account) and first != () and not is_unknown(first[0]) and first[0] != UNKNOWN
    return _has_unknown((grant,)) or (refusal.rule == "A2" and _has_unknown(envelopes.lower_negative))


def _ceiling(bounds: Bounds) -> Iterable[Grant]:
    return (*bounds.upper_positive, *bounds.upper_negative)


def _has_unknown(grants: Iterable[Grant]) -> bool:
    return any(is_unknown(name) for g in grants for name in (*g.target.owner.known, *g.recipient.known))
