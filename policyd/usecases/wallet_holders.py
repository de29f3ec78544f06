"""Wallets and cards as parties of questions about all calls.

Source: cards 5.1, 5.3, 6.7; interface, wallet file, `diff`, `prove`, `what-if`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from policyd.core.admission import HeldCard, Wallet
from policyd.core.admission.decide import surface_at
from policyd.core.admission.names import is_agent_id
from policyd.core.cards import Bound, Bounds, Card, CardId, GrantRef, Surface, Timestamp
from policyd.core.grants import AgentContext, Grant, Level, Recipient
from policyd.findings import Finding, InputError, Span
from policyd.syntax.mistakes import shown
from policyd.usecases.holders import Holder

Places = Mapping[tuple[CardId, str, int], Span]
"""Where grants of cards stand, by card, list and index."""


@dataclass(frozen=True, slots=True)
class WalletHolder:
    """Somebody with a wallet.

    Attributes:
        name: how it is called in answers.
        wallet: its cards.
        at: the moment asked about; None leaves expiry aside.
        places: where the grants stand, as far as known.
    """

    name: str
    wallet: Wallet
    at: Timestamp | None = None
    places: Places = field(default_factory=dict, hash=False)

    @property
    def recipient(self) -> Recipient:
        """The holder of the wallet."""
        return self.wallet.holder

    @property
    def context(self) -> AgentContext | None:
        """The agent for which slots are filled; None for an account."""
        return self.wallet.context

    @property
    def is_one(self) -> bool:
        """Whether it is the wallet of one agent or account rather than of a type."""
        context = self.wallet.context
        return context is None or context.agent_id is not None or self.wallet.holder.is_external_tool_owner

    @property
    def bounds(self) -> tuple[Bounds, ...]:
        """Those of all its cards, slots open."""
        return tuple(held.card.bounds for held in self.wallet.cards)

    @property
    def refs(self) -> tuple[GrantRef, ...]:
        """All grants of the cards that decide, slots open."""
        return tuple(
            GrantRef(held.card.id, bound, index, grant)
            for held in self.wallet.cards
            if held.card.id not in self.wallet.revoked and not held.card.is_expired(self.at)
            for bound, index, grant in held.card.bounds.each()
        )

    def surface(self, agent_id: str | None) -> Surface:
        """The surface of an agent of the type; None for the one whose wallet it is."""
        context = self.wallet.context
        if context is None or agent_id is None:
            return surface_at(self.wallet, self.at)
        return surface_at(self.wallet.for_agent(replace(context, agent_id=agent_id)), self.at)

    def place(self, ref: GrantRef) -> Span | None:
        """Where a grant of its cards stands."""
        return self.places.get((ref.card, ref.bound.value, ref.index))

    def written(self, ref: GrantRef) -> str:
        """The text of the grant with its slots open."""
        return self.original(ref).text

    def original(self, ref: GrantRef) -> Grant:
        """The grant with its slots open."""
        for held in self.wallet.cards:
            if held.card.id == ref.card:
                return held.card.bounds.of(ref.bound)[ref.index]
        return ref.grant

    def says(self, bound: Bound, grant: Grant) -> bool:
        """Whether one of its cards, dead ones aside, has this grant in this list."""
        return any(
            grant in held.card.bounds.of(bound)
            for held in self.wallet.cards
            if held.card.id not in self.wallet.revoked and not held.card.is_expired(self.at)
        )


@dataclass(frozen=True, slots=True)
class WalletHolders:
    """Holders of wallets as one version.

    Attributes:
        source: how the version is called.
        by_name: by the names of answers.
        notes: what was assumed.
        refusals, unreadable: none; readers of wallets refuse texts that are no grants before.
    """

    source: str
    by_name: Mapping[str, WalletHolder] = field(hash=False)
    notes: tuple[str, ...] = ()
    refusals: tuple[Finding, ...] = ()
    unreadable: tuple[str, ...] = ()


def name_of(wallet: Wallet) -> str:
    """How the holder of a wallet is called: an account, a type, or one agent."""
    context = wallet.context
    if context is None:
        return wallet.holder.text
    return context.agent_id or context.agent_type


def wallet_holders(wallets: Iterable[tuple[Wallet, Places]], source: str, at: Timestamp | None = None) -> WalletHolders:
    """The holders of some wallets; names that two of them share are written out.

    Raises:
        InputError: if two of them are of the same holder.
    """
    given = list(wallets)
    short = [name_of(wallet) for wallet, _ in given]
    by_name: dict[str, WalletHolder] = {}
    for (wallet, places), name in zip(given, short, strict=True):
        agent = wallet.context.agent_id if wallet.context is not None else None
        full = f"{wallet.holder.text} {agent or ''}".rstrip()
        key = name if short.count(name) == 1 else full
        if key in by_name:
            raise InputError.of("CARD060", f"two wallets of {shown(full)}", None, "put all cards into one")
        by_name[key] = WalletHolder(key, wallet, at, places)
    return WalletHolders(source, by_name, tuple(_expiry_notes([wallet for wallet, _ in given], at)))


def _expiry_notes(wallets: Sequence[Wallet], at: Timestamp | None) -> Iterable[str]:
    if any(held.card.expires_at is not None for wallet in wallets for held in wallet.cards):
        yield f"at {at.text}" if at is not None else "no moment is given: expiry is left aside, although cards expire"


def of_holder(cards: Sequence[Card], holder: Recipient, agent_id: str | None = None) -> Wallet:
    """A wallet that holds just these cards.

    Args:
        cards: persistent ones.
        holder: an agent type with all five segments, or an account.
        agent_id: one agent of the type; None for all.

    Raises:
        InputError: if the holder is a pattern, or the id is not one of its type.
    """
    if holder.level is Level.ACCOUNT:
        if agent_id is not None:
            raise InputError.of("CARD060", "only agents have an agent id", None, "leave out `--agent`")
        if any(card.is_polymorphic for card in cards):
            raise InputError.of("CARD060", "a template has slots that only an agent can fill")
        context = None
    elif holder.level is Level.AGENT and len(holder.known) == 5:
        if agent_id is not None and not is_agent_id(agent_id, holder.known[4]):
            raise InputError.of("CARD060", f"{shown(agent_id)} is no id of type {shown(holder.known[4])}")
        account, application, environment, component, agent_type = holder.known
        context = AgentContext(account, application, environment, component, agent_type, agent_id)
    else:
        raise InputError.of(
            "CARD060", f"{shown(holder.text)} is a pattern, not one holder", None, "name an agent type or an account"
        )
    return Wallet.of(holder, tuple(HeldCard(card) for card in cards), context)


def paired(old: WalletHolders, new: WalletHolders) -> tuple[WalletHolders, WalletHolders]:
    """Two versions of one wallet each, brought under one name, so that they are compared with each other.

    Raises:
        InputError: if they are wallets of two agent types as a whole: their instances have nothing in common.
    """
    if len(old.by_name) != 1 or len(new.by_name) != 1:
        return old, new
    (before,), (after,) = old.by_name.values(), new.by_name.values()
    if before.recipient == after.recipient and before.context == after.context:
        name = after.name
        return _called(old, before, name, ()), _called(new, after, name, ())
    if not (before.is_one or after.is_one):
        raise InputError.of(
            "CARD060",
            f"these are wallets of two agent types, {shown(before.name)} and {shown(after.name)}",
            None,
            "give `agentId` in the wallet files, so that two agents can be compared",
        )
    name = before.name if before.name == after.name else f"{before.name} / {after.name}"
    note = "the wallets are of two holders: the same call is compared, whoever makes it"
    return _called(old, _one(before), name, (note,)), _called(new, _one(after), name, ())


def _one(party: WalletHolder) -> WalletHolder:
    """A type as its unnamed instance."""
    if party.is_one or party.wallet.context is None:
        return party
    context = replace(party.wallet.context, agent_id=f'{party.wallet.context.agent_type}("a")')
    return replace(party, wallet=party.wallet.for_agent(context))


def _called(version: WalletHolders, party: WalletHolder, name: str, notes: tuple[str, ...]) -> WalletHolders:
    return replace(version, by_name={name: replace(party, name=name)}, notes=(*version.notes, *notes))


def held_by_type(holder: Holder, agent_id: str | None = None) -> WalletHolder:
    """A fresh agent of a type, whose wallet is its initial card; None for all instances."""
    places = {
        (holder.template.id, bound.value, index): placed.span
        for bound in Bound
        for index, placed in enumerate(holder.card.of(bound))
        if placed.span is not None
    }
    context = replace(holder.context, agent_id=agent_id)
    held = HeldCard(holder.template, is_initial=True, is_own_install=False)
    return WalletHolder(agent_id or holder.name, Wallet.of(holder.recipient, (held,), context), None, places)
