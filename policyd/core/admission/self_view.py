"""Self-metadata: both conditions apart, what the result would show, and what else shows the same.

Source: host 3.1, 3.2; questions 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.admission.decide import decide, surface_at
from policyd.core.admission.wallet import Wallet
from policyd.core.cards import CardId, GrantRef, ScopeCard, Timestamp
from policyd.core.cards.surface import Part
from policyd.core.edition import SNAPSHOT
from policyd.core.grants import Target, class_named
from policyd.core.grants.resources.exact import EMPTY
from policyd.core.operations import Asker, OwnerHole
from policyd.core.operations.owners import owner_of
from policyd.core.operations.refusal import Unclear

SHOWS_THE_SAME = (
    "agent.get-metadata",
    "agent.list",
    "oplog.read",
    "svc.agent.get",
    "svc.agent.list",
    "svc.oplog.read",
    "debug.connect",
)
"""The operations whose results show the stored environment and configuration, too."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What one card's upper bound says to self-view.

    Attributes:
        card: whose.
        is_initial: the initial card of the type, whose bound its author controls.
        is_scope: the scope card of the invocation.
        passes_by: the upper positive that lets it through; None where there is none, or no positive at all.
        denied_by: the upper negative that denies it.
        is_open: the card has no upper positive for this holder, hence no positive ceiling.
    """

    card: CardId
    is_initial: bool
    is_scope: bool
    passes_by: GrantRef | None
    denied_by: GrantRef | None
    is_open: bool

    @property
    def lets_through(self) -> bool:
        """Whether this bound leaves self-view in place."""
        return self.denied_by is None and (self.is_open or self.passes_by is not None)


@dataclass(frozen=True, slots=True)
class SelfView:
    """The two conditions of `agent.get-self-metadata`.

    Attributes:
        target: what is asked.
        lent_by: the floor: the grant that lends it; None if no card does.
        ceilings: of all cards in the wallet and of the scope card; the initial card's first.
    """

    target: Target
    lent_by: GrantRef | None
    ceilings: tuple[Ceiling, ...]

    @property
    def is_granted(self) -> bool:
        """The first condition: the effective cards lend it."""
        return self.lent_by is not None

    @property
    def is_let_through(self) -> bool:
        """The second condition: no ceiling withholds it."""
        return all(ceiling.lets_through for ceiling in self.ceilings)

    @property
    def is_admitted(self) -> bool:
        """Both."""
        return self.is_granted and self.is_let_through


def look_at_self(wallet: Wallet, at: Timestamp | None = None, scope: ScopeCard | None = None) -> SelfView | None:
    """Self-view of the holder of a wallet; None where the holder is no agent."""
    cls = class_named("agent", SNAPSHOT)
    assert cls is not None  # a class of every edition
    asker = Asker(wallet.holder.known[0] if wallet.holder.known else "", wallet.context)
    owner = owner_of(OwnerHole.SELF, {}, asker)
    if isinstance(owner, Unclear):
        return None
    target = Target(cls, owner, "view", EMPTY)
    surface = surface_at(wallet, at, scope)
    initial = frozenset(held.card.id for held in wallet.cards if held.is_initial)
    scoped = None if scope is None else scope.id
    ceilings = [_ceiling(part, target, part.card in initial, part.card == scoped) for part in surface.upper]
    ceilings.sort(key=lambda ceiling: (not ceiling.is_initial, ceiling.is_scope))
    return SelfView(target, decide(surface, target).granted_by, tuple(ceilings))


def _ceiling(part: Part, target: Target, is_initial: bool, is_scope: bool) -> Ceiling:
    return Ceiling(part.card, is_initial, is_scope, part.granting(target), part.denying(target), not part.positive)
