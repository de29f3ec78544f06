"""What would start and stop for the holders of wallets if cards were revoked or installed.

Source: cards 5.3, 6.6, 6.7; questions 2; interface, `what-if`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from policyd.core.admission import HeldCard, Wallet
from policyd.core.callsets import MAX_STEPS, Steps
from policyd.core.cards import Card, CardId
from policyd.core.cards.lineage import descendants, registry_refusal
from policyd.core.edition import Rules
from policyd.findings import InputError
from policyd.usecases.changes import MAX_SHOWN, Changes, changes_between
from policyd.usecases.cross_check import MAX_SECONDS
from policyd.usecases.holders import Parties
from policyd.usecases.wallet_holders import WalletHolder, WalletHolders


@dataclass(frozen=True, slots=True)
class CardEdit:
    """Cards that come and go.

    Attributes:
        revoke: with everything derived from them.
        install: persistent cards that are put into the wallets.
        on: names of the holders that they are put on; empty for all.
    """

    revoke: tuple[CardId, ...] = ()
    install: tuple[Card, ...] = ()
    on: tuple[str, ...] = ()


def gone_with(revoked: Iterable[CardId], parents_of: Mapping[CardId, Iterable[CardId]]) -> frozenset[CardId]:
    """These cards and everything derived from them, as far as the families are known.

    Raises:
        InputError: if one of them is neither a known card nor the parent of one.
    """
    known = {*parents_of, *(parent for parents in parents_of.values() for parent in parents)}
    gone: set[CardId] = set()
    for card in revoked:
        if card not in known:
            raise InputError.of(
                "CARD060", f"no card `{card}` among those given", None, "name a card of the wallet, or a parent of one"
            )
        gone.update(descendants(card, parents_of))
    return frozenset(gone)


def what_if_cards(
    before: WalletHolders,
    edit: CardEdit,
    parents_of: Mapping[CardId, Iterable[CardId]],
    cards: Mapping[CardId, Card],
    rules: Rules,
    limit: int = MAX_SHOWN,
    *,
    is_cross_checked: bool = False,
    cross_check_s: float = MAX_SECONDS,
    steps: Steps = MAX_STEPS,
) -> Changes:
    """What starts and stops for every holder whose wallet changes.

    Args:
        before: the wallets as they are.
        edit: what comes and goes; nobody is asked whether the platform would accept it.
        parents_of: the families of all known cards.
        cards: all known persistent cards.
        rules: the edition.
        limit: the most witnesses for each holder and direction.
        is_cross_checked: whether a solver has to come to the same result by another way.
        cross_check_s: the most seconds for that; what it does not reach is told.
        steps: the budget of one search, or the effort of all of them.

    Raises:
        InputError: for cards and holders that are not known.
    """
    gone = gone_with(edit.revoke, parents_of)
    for name in edit.on:
        if name not in before.by_name:
            raise InputError.of("CARD060", f"`{name}` is none of the holders", None, _listed(before))
    old: dict[str, WalletHolder] = {}
    new: dict[str, WalletHolder] = {}
    for name, party in before.by_name.items():
        wallet = edited(party.wallet, gone, edit.install if not edit.on or name in edit.on else ())
        if wallet != party.wallet:
            old[name], new[name] = party, replace(party, wallet=wallet)
    notes = _notes(edit, gone, cards)
    if not new:
        notes.append("none of these wallets holds any of the cards")
    left: Parties = replace(before, by_name=old)
    right: Parties = WalletHolders("after the edit", new, tuple(notes))
    return changes_between(
        left,
        right,
        rules,
        limit,
        is_cross_checked=is_cross_checked,
        cross_check_s=cross_check_s,
        steps=steps,
        others=before.by_name,
    )


def edited(wallet: Wallet, gone: frozenset[CardId], installed: Iterable[Card]) -> Wallet:
    """A wallet after some cards were revoked and others installed; a card it holds already comes back as given.

    Raises:
        InputError: for a template where no agent fills its slots.
    """
    held = {item.card.id: item for item in wallet.cards}
    for card in installed:
        if card.is_polymorphic and wallet.context is None:
            raise InputError.of("CARD060", "a template has slots that only an agent can fill")
        held[card.id] = HeldCard(card)
    revoked = wallet.revoked | {card for card in gone if card in held}
    return Wallet.of(wallet.holder, tuple(held.values()), wallet.context, wallet.recorded_account, revoked)


def _listed(parties: WalletHolders) -> str:
    return "holders are " + ", ".join(f"`{name}`" for name in list(parties.by_name)[:20])


def _notes(edit: CardEdit, gone: frozenset[CardId], cards: Mapping[CardId, Card]) -> list[str]:
    notes = []
    if gone:
        notes.append(f"{len(gone)} {'card is' if len(gone) == 1 else 'cards are'} revoked in all")
    for card in edit.revoke:
        refusal = registry_refusal(cards[card]) if card in cards else None
        if refusal is not None:
            notes.append(f"the platform would refuse to revoke {card}: {refusal}")
    if edit.install:
        notes.append("whether the install would be accepted is not asked here; `policyd card install` tells")
    return notes
