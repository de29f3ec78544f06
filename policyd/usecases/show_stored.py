"""What decides for an agent of a stored deployment, as it is shown: its imported wallet, else its initial card.

Source: cards 5.3, 8.2; interface, `show`, a place in the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.admission import Wallet
from policyd.core.cards import Bound
from policyd.core.edition import Rules
from policyd.core.grants import Recipient
from policyd.usecases.deployments import Selection, agent_name
from policyd.usecases.show_card import ShownCard, ShownGrant, agents_json, filled, shown_card
from policyd.usecases.stored_deployment import StoredFacts


def shown_stored(facts: StoredFacts, agent: str, rules: Rules, component: str = "") -> ShownCard:
    """The cards that decide for an agent type or for one agent of a stored deployment.

    Args:
        facts: the deployment.
        agent: a type, or a full id.
        rules: the edition.
        component: of the agent type, where the deployment leaves it open.

    Raises:
        NoSuchName: if the deployment has no such agent type.
        InputError: if the wallet has cards that cannot be read under `rules`.
    """
    type_name, agent_id = agent_name(agent)
    holder = facts.holder_of(type_name)
    if holder is not None and component and component != holder.known[3]:
        holder = None
    own = () if holder is None or agent_id is not None else facts.instances_with_wallets(holder)
    wallet = None if holder is None else facts.wallet_for(holder, agent_id or "")
    if wallet is None or holder is None:
        selection = Selection(None, None, facts.deployment.account, component)
        return replace(shown_card(facts.under(rules), selection, agent, rules), own_wallets=own)
    facts.require_readable(wallet, rules)
    return _of_wallet(facts, holder, wallet, agent, own, rules)


def _of_wallet(
    facts: StoredFacts, holder: Recipient, wallet: Wallet, agent: str, own: tuple[str, ...], rules: Rules
) -> ShownCard:
    live = [held.card for held in wallet.cards if held.card.id not in wallet.revoked]
    notes = [f"card `{held.card.id}` is revoked and decides nothing" for held in wallet.cards if held.card not in live]
    notes += [f"card `{card.id}` expires at {card.expires_at.text}" for card in live if card.expires_at is not None]
    if wallet.context is not None and wallet.context.agent_id is None:
        notes.append("an owner `?agent` stays open: it becomes the id of each agent")
    return ShownCard(
        agent,
        facts.deployment.environment,
        "imported wallet",
        "",
        holder.known[3],
        facts.deployment.account,
        tuple(grant for bound in Bound for grant in _grants(facts, wallet, bound)),
        (),
        (),
        tuple(notes),
        rules,
        holder.text,
        tuple(str(card.id) for card in live),
        own,
    )


def _grants(facts: StoredFacts, wallet: Wallet, bound: Bound) -> Iterator[ShownGrant]:
    for held in wallet.cards:
        card = held.card
        if card.id in wallet.revoked:
            continue
        for index, grant in enumerate(card.bounds.of(bound)):
            place = facts.place(card.id, bound, index)
            shown = grant if wallet.context is None else filled(grant, wallet.context)
            yield ShownGrant(
                bound, grant.text, shown.text, f"card {card.id}", place.where if place is not None else "", str(card.id)
            )


def stored_agents_json(facts: StoredFacts, rules: Rules) -> list[dict[str, object]]:
    """The agent types of a stored deployment with what decides for them, and who has a wallet of its own."""
    rows = []
    for row in agents_json(facts.under(rules).deployment):
        holder = facts.holder_of(str(row["name"]))
        if holder is not None:
            row["ownWallets"] = list(facts.instances_with_wallets(holder))
            if (holder.text, "") in facts.wallets:
                row["card"] = "imported wallet"
        rows.append(row)
    return rows
