"""Will the registry take an initial card: each grant of it against the cards of whoever deploys.

Source: cards 8.4, 6.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product

from policyd.analysis.effect import is_unknown, with_open_names
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.application import PlacedGrant
from policyd.core.cards import (
    Bounds,
    Card,
    CardId,
    DeployRefused,
    TooBroad,
    account_root_bounds,
    attenuate,
    deploy_envelopes,
    validate_initial_card,
)
from policyd.core.grants import AgentContext, Grant

MAX_OFFENDERS = 50
"""So many grants of one card are told one by one; the first refusal of the platform is always among them."""

MAX_CANDIDATES = 32
"""So many names of an account and a component that are not known are tried; a card with more stays open."""

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
        is_accepted: None where it depends on a name that is not known.
        text: what the platform says where it refuses, empty where it does not.
        lower: the lower positives that it refuses whatever the names are, the first ones.
        more: how many further lower positives fail.
        upper: the first refusal of the upper checks, None where they pass or depend on a name.
    """

    is_accepted: bool | None
    text: str = ""
    lower: tuple[Offender, ...] = ()
    more: int = 0
    upper: TooBroad | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the answer is the same for every name that is not known."""
        return self.is_accepted is not None


@lru_cache(maxsize=64)
def _root(account: str) -> Card:
    return Card(ASSUMED_ROOT, account_root_bounds(account), is_system=True)


def judge(subject: Subject, card: AuditedCard) -> DeployOutcome:
    """Whether the registry takes `card` from the deployer (D2, D3), and what of it is refused."""
    return subject.once(f"deploy {card.agent.name}", lambda: _judged(subject, card))


@dataclass(frozen=True)
class _Candidate:
    """A card with every name filled: one that is not known by one that it may be.

    Attributes:
        card: the card.
        context: the names.
        parents: the deployer's cards, or the root card that is assumed for the owning account.
    """

    card: AuditedCard
    context: AgentContext
    parents: tuple[Card, ...]

    @classmethod
    def of(cls, subject: Subject, card: AuditedCard, context: AgentContext) -> _Candidate:
        """The card under the names of `context`."""
        return cls(card, context, (_root(context.account),) if subject.deployer is None else subject.deployer)

    @cached_property
    def refusal(self) -> DeployRefused | None:
        """What the registry says against the card as a whole."""
        bounds = self.card.agent.initial_card.bounds(self.context)
        outcome = validate_initial_card(bounds, self.parents, self.card.agent.name)
        return outcome if isinstance(outcome, DeployRefused) else None

    @cached_property
    def envelopes(self) -> Bounds:
        """The four lists as the registry checks them."""
        return deploy_envelopes(self.card.agent.initial_card.bounds(self.context))

    @cached_property
    def _lowers(self) -> tuple[Card, ...]:
        return tuple(replace(p, bounds=_as_lower_parent(p.bounds, self.envelopes)) for p in self.parents)

    def lower_refusal(self, index: int) -> TooBroad | None:
        """What the algebra says against one lower positive."""
        return _too_broad(attenuate(self._lowers, Bounds((self.envelopes.lower_positive[index],))))

    @cached_property
    def upper_refusal(self) -> TooBroad | None:
        """What it says against the upper lists."""
        return _too_broad(attenuate(self.parents, replace(self.envelopes, lower_positive=())))


def _too_broad(outcome: object) -> TooBroad | None:
    return outcome if isinstance(outcome, TooBroad) else None


def _judged(subject: Subject, card: AuditedCard) -> DeployOutcome:
    """The answer that all candidates share: the first has names that nothing mentions, the others mentioned ones."""
    contexts = tuple(_contexts(subject, card))
    first, *others = (_Candidate.of(subject, card, context) for context in contexts[:MAX_CANDIDATES])
    is_complete = len(contexts) <= MAX_CANDIDATES
    if first.refusal is None:
        # the root card follows the account: what it covers of an unmentioned one it covers of every one
        is_certain = subject.deployer is None or (is_complete and all(c.refusal is None for c in others))
        return DeployOutcome(True if is_certain else None)
    if not is_complete:
        return DeployOutcome(None)
    offenders: list[Offender] = []
    more = 0
    for index, placed in enumerate(card.agent.initial_card.lower_positive):
        refusal = first.lower_refusal(index)
        if refusal is None or not all(c.lower_refusal(index) for c in others):
            continue
        if len(offenders) < MAX_OFFENDERS:
            offenders.append(Offender(placed, first.envelopes.lower_positive[index], refusal))
        else:
            more += 1
    upper = first.upper_refusal if all(c.upper_refusal for c in others) else None
    is_refused = all(c.refusal for c in others)
    text = with_open_names(first.refusal.text) if is_refused else ""
    return DeployOutcome(False if is_refused else None, text, tuple(offenders), more, upper)


def _contexts(subject: Subject, card: AuditedCard) -> Iterator[AgentContext]:
    """The names of a card; where one is not known, first the placeholder, then each that some grant mentions.

    Grants are compared by equality of names, so all that nothing mentions behave like the placeholder.
    """
    context = card.context
    accounts, components = [context.account], [context.component]
    if is_unknown(context.account) or is_unknown(context.component):
        paths = [
            path for grant in _mentioning(subject, card) for path in (grant.target.owner.known, grant.recipient.known)
        ]
        if is_unknown(context.account):
            accounts += sorted({path[0] for path in paths if path})
        if is_unknown(context.component):
            components += sorted({path[3] for path in paths if len(path) > 3})
    for account, component in product(accounts, components):
        yield replace(context, account=account, component=component)


def _mentioning(subject: Subject, card: AuditedCard) -> Iterator[Grant]:
    for parent in subject.deployer or ():
        yield from (grant for _, _, grant in parent.bounds.each())
    yield from (placed.grant for _, _, placed in card.agent.initial_card.each())


def _as_lower_parent(parent: Bounds, child: Bounds) -> Bounds:
    """What counts of a parent when one lower grant is checked: its positives, and the negatives not restated (A2).

    The ceiling is another check.
    """
    missing = (n for n in parent.lower_negative if not any(r.covers(n) for r in child.lower_negative))
    return Bounds(parent.lower_positive, tuple(missing))
