"""The holders of a stored deployment as parties of questions about all calls: imported wallets, else initial cards.

Source: cards 5.3; interface, a place in the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from policyd.core.admission.names import is_agent_id
from policyd.core.callsets import MAX_STEPS, Steps
from policyd.core.cards import Card, CardId, Timestamp
from policyd.core.edition import Rules
from policyd.core.grants import Level, Recipient
from policyd.findings import Finding, InputError
from policyd.store.facts import WalletFact
from policyd.usecases.changes import MAX_SHOWN, Changes
from policyd.usecases.cross_check import MAX_SECONDS
from policyd.usecases.deployments import Selection, agent_name, no_such_agent
from policyd.usecases.holders import Holder, Holders, Parties, Party, holders_in
from policyd.usecases.stored_decisions import StoredPlaces
from policyd.usecases.stored_deployment import StoredFacts, parents_of
from policyd.usecases.wallet_holders import WalletHolder, WalletHolders, held_by_type
from policyd.usecases.what_if_wallets import CardEdit, what_if_cards


@dataclass(frozen=True, slots=True)
class StoredParties:
    """Everybody of a stored deployment.

    Attributes:
        source: how it is called.
        by_name: by agent type, agent id, account or holder.
        notes: what was assumed.
        unreadable: agent types a part of whose card cannot be read under the edition.
        refusals: of a manifest on one side; unreadable stored cards only leave their own answers open.
    """

    source: str
    by_name: Mapping[str, Party] = field(hash=False)
    notes: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    refusals: tuple[Finding, ...] = ()


def stored_parties(
    facts: StoredFacts,
    rules: Rules,
    source: str,
    agent: str = "",
    component: str = "",
    at: Timestamp | None = None,
    *,
    is_optional: bool = False,
) -> StoredParties:
    """The agent types of a deployment with their imported wallets or initial cards, and all further wallets.

    Args:
        facts: the deployment.
        rules: the edition.
        source: how it is called.
        agent: a type or an id; empty for everybody.
        component: of the agent types, where the deployment leaves it open.
        at: the moment asked about; None leaves expiry aside.
        is_optional: whether the agent may be missing, as on one side of a comparison.

    Raises:
        InputError: if there is no such agent.
    """
    if is_optional and agent and facts.under(rules).deployment.agent(agent_name(agent)[0]) is None:
        return StoredParties(source, {})
    deployment = facts.deployment
    holders = holders_in(facts.under(rules), Selection(None, None, deployment.account, component), "", source)
    places = StoredPlaces(facts)
    by_name: dict[str, Party] = {name: h for name, h in holders.by_name.items() if name not in holders.unreadable}
    unreadable = [name for name in holders.unreadable if _type_wallet(facts, name) is None]
    expires = False
    for fact in deployment.wallets:
        wallet = facts.wallet_for(fact.holder, fact.agent_id)
        assert wallet is not None  # it is one of the deployment's
        name = party_name(facts, fact.holder, fact.agent_id)
        by_name[name] = WalletHolder(name, wallet, at, places)
        expires = expires or any(held.card.expires_at is not None for held in wallet.cards)
    notes = list(holders.notes)
    if expires:
        notes.append(f"at {at.text}" if at else "no moment is given: expiry is left aside, although cards expire")
    found = StoredParties(holders.source, by_name, tuple(notes), tuple(unreadable))
    return found if not agent else _only(found, facts, rules, agent)


def initial_cards(facts: StoredFacts, rules: Rules, source: str, agent: str = "", component: str = "") -> Holders:
    """The agent types of a deployment with their initial cards; imported wallets are left aside, and that is said.

    Raises:
        InputError: if there is no such agent.
    """
    found = holders_in(facts.under(rules), Selection(None, None, facts.deployment.account, component), agent, source)
    held = [w for w in facts.deployment.wallets if w.holder in map(facts.holder_of, found.by_name)]
    if not held:
        return found
    names = dict.fromkeys(name for name in found.by_name if facts.holder_of(name) in [w.holder for w in held])
    note = f"only initial cards are looked at, although agents of {', '.join(names)} have imported wallets"
    return replace(found, notes=(*found.notes, note), others=tuple(w.agent_id for w in held if w.agent_id))


def types_with_wallets(facts: StoredFacts) -> frozenset[str]:
    """The agent types whose agents do not start with the initial card, but with an imported wallet of their type."""
    return frozenset(agent.name for agent in facts.deployment.agent_types if _type_wallet(facts, agent.name))


def _type_wallet(facts: StoredFacts, name: str) -> WalletFact | None:
    holder = facts.holder_of(name)
    return facts.wallets.get((holder.text, "")) if holder is not None else None


def party_name(facts: StoredFacts, holder: Recipient, agent_id: str) -> str:
    """An agent by its type or id where that is clear in the deployment, everybody else in full."""
    if holder.level is Level.AGENT and facts.holder_of(holder.known[4]) == holder:
        return agent_id or holder.known[4]
    return f"{holder.text} {agent_id}".rstrip()


def _only(found: StoredParties, facts: StoredFacts, rules: Rules, agent: str) -> StoredParties:
    type_name, agent_id = agent_name(agent)
    party = instance_of(found, agent_id) if agent_id is not None else found.by_name.get(agent)
    if party is not None:
        # all agents of a type are meant: those with wallets of their own, too
        own = {n: p for n, p in found.by_name.items() if agent_id is None and n.partition("(")[0] == agent != n}
        return replace(found, by_name={agent: party, **own}, unreadable=())
    if type_name in found.unreadable:
        return replace(found, by_name={}, unreadable=(agent,))
    raise no_such_agent(type_name, facts.under(rules).deployment)


def instance_of(parties: Parties, agent_id: str) -> Party | None:
    """One agent: with the wallet of its own, else with that of its type, else with the initial card; or None."""
    own = parties.by_name.get(agent_id)
    if own is not None:
        return own
    general = parties.by_name.get(agent_id.partition("(")[0])
    if isinstance(general, Holder):
        return replace(general, name=agent_id, context=replace(general.context, agent_id=agent_id))
    if isinstance(general, WalletHolder) and general.wallet.context is not None:
        context = replace(general.wallet.context, agent_id=agent_id)
        return replace(general, name=agent_id, wallet=general.wallet.for_agent(context))
    return None


def aligned(old: Parties, new: Parties) -> tuple[StoredParties, StoredParties]:
    """Two versions, where agents that one side speaks of by their ids stand on the other side, too."""
    sides = (_by_id(old), _by_id(new))
    names = {name for side in sides for name, party in side.by_name.items() if _is_instance(name, party)}
    return _with_instances(sides[0], names), _with_instances(sides[1], names)


def _is_instance(name: str, party: Party) -> bool:
    return party.is_one and party.context is not None and party.context.agent_id == name


def _by_id(parties: Parties) -> StoredParties:
    """The same, where a type of which one agent is asked about goes by the id of that agent."""
    ids = {name: party.context.agent_id for name, party in parties.by_name.items() if isinstance(party, Holder)}
    by_name = {ids.get(name) or name: party for name, party in parties.by_name.items()}
    unreadable = tuple(ids.get(name) or name for name in parties.unreadable)
    return StoredParties(parties.source, by_name, parties.notes, unreadable, parties.refusals)


def _with_instances(parties: StoredParties, names: set[str]) -> StoredParties:
    further = {name: party for name in names if (party := instance_of(parties, name)) is not None}
    lost = [name for name in names if name.partition("(")[0] in parties.unreadable and name not in further]
    return replace(parties, by_name={**parties.by_name, **further}, unreadable=(*parties.unreadable, *sorted(lost)))


def what_if_stored(
    facts: StoredFacts,
    parties: StoredParties,
    edit: CardEdit,
    rules: Rules,
    limit: int = MAX_SHOWN,
    *,
    is_cross_checked: bool = False,
    cross_check_s: float = MAX_SECONDS,
    steps: Steps = MAX_STEPS,
) -> Changes:
    """What starts and stops for every holder of a stored deployment.

    Raises:
        InputError: for cards and holders that are not known.
    """
    if edit.install and not edit.on:
        raise InputError.of("CARD060", "on whom is the card installed?", None, "name a holder")
    by_name: dict[str, WalletHolder] = {}
    for name in edit.on:
        party = parties.by_name.get(name) or _agent_called(parties, name)
        if party is not None:
            by_name[name] = held_by_type(party, party.context.agent_id) if isinstance(party, Holder) else _wallet(party)
    by_name.update({name: party for name, party in parties.by_name.items() if isinstance(party, WalletHolder)})
    cards = {fact.card.id: fact.card for fact in facts.deployment.cards if isinstance(fact.card, Card)}
    families: dict[CardId, tuple[CardId, ...]] = parents_of(facts.deployment)
    families.update({card.id: card.parents for card in edit.install})
    before = WalletHolders(parties.source, by_name, parties.notes)
    return what_if_cards(
        before,
        edit,
        families,
        cards,
        rules,
        limit,
        is_cross_checked=is_cross_checked,
        cross_check_s=cross_check_s,
        steps=steps,
    )


def _agent_called(parties: StoredParties, name: str) -> Party | None:
    head = name.partition("(")[0]
    return instance_of(parties, name) if is_agent_id(name, head) else None


def _wallet(party: Party) -> WalletHolder:
    assert isinstance(party, WalletHolder)  # a party is a type or a wallet
    return party
