"""Holders of stored deployments whose denials are explained.

Source: interface, a place in the store; cards 5.3.
"""

from __future__ import annotations

from dataclasses import replace

from policyd.core.admission import Wallet
from policyd.core.admission.admit import MAX_INSTANCES
from policyd.core.edition import Rules
from policyd.core.grants.names import ascii_lower
from policyd.store.holders import read_holder
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.answer import Answer
from policyd.usecases.deployments import Selection, agent_name
from policyd.usecases.explain_holding import Holding, in_manifest, of_wallet
from policyd.usecases.stored_decisions import Decisions, StoredPlaces, StoredQuestion, own_wallets
from policyd.usecases.stored_deployment import StoredFacts


def stored_holding(
    decisions: Decisions, facts: StoredFacts, info: SnapshotInfo, question: StoredQuestion, rules: Rules
) -> Holding:
    """A holder of a stored deployment: its imported wallet where there is one, else the initial card of its type.

    A type comes with its agents that have wallets of their own, for whoever speaks of all of them. The text of the
    manifest is not stored, so changes are told as lines, without a patch.

    Args:
        decisions: answers about stored deployments.
        facts: the deployment.
        info: which snapshot it is.
        question: who is asked about; its target is not looked at.
        rules: the edition.

    Raises:
        InputError: if the holder is not known.
    """
    found = _alone(decisions, facts, info, question, rules)
    names = own_wallets(facts, question, rules)
    own = (_alone(decisions, facts, info, replace(question, agent=name), rules) for name in names[:MAX_INSTANCES])
    return replace(found, own=tuple(own), is_all=len(names) <= MAX_INSTANCES)


def _alone(
    decisions: Decisions, facts: StoredFacts, info: SnapshotInfo, question: StoredQuestion, rules: Rules
) -> Holding:
    """One agent or account, or those agents of a type that have no wallet of their own."""

    def answering(target: str) -> Answer:
        # details are told of the wallet at hand, so agents with wallets of their own are left to their own questions
        return decisions.answer_by_type(facts, info, replace(question, target=target), rules)

    wallet = _wallet(facts, question, rules)
    label = f"@{info.number}"
    if wallet is not None:
        facts.require_readable(wallet, rules)
        agent = question.agent if "(" in question.agent and wallet.context is not None else ""
        known = wallet.context.agent_id if wallet.context is not None else None
        asked = "" if agent == known else agent
        found = of_wallet(wallet, rules, asked, question.at, question.scope, StoredPlaces(facts), None, label)
        return replace(found, answering=answering)
    selection = Selection(None, None, facts.deployment.account, question.component)
    described = facts.under(rules)
    name = question.agent or question.holder.rpartition("/")[2]
    found = in_manifest(described, selection, name, rules, question.at, question.scope)
    card = found.own_card
    return replace(found, manifest=None, card=card, answering=answering, source=label)


def _wallet(facts: StoredFacts, question: StoredQuestion, rules: Rules) -> Wallet | None:
    agent_id = agent_name(question.agent)[1] if question.agent else None
    if question.holder:
        head, slash, rest = question.holder.partition("/")
        holder = read_holder(f"{ascii_lower(head)}{slash}{rest}", rules)
    else:
        holder = facts.holder_of(agent_name(question.agent)[0])
        if holder is not None and question.component and question.component != holder.known[3]:
            return None
    return facts.wallet_for(holder, agent_id or "") if holder is not None else None
