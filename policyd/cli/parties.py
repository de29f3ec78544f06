"""Arguments that name somebody's cards: manifests, stored deployments, wallet files, card files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from policyd.cli import options as opt
from policyd.core.edition import Rules
from policyd.syntax.mistakes import shown
from policyd.usecases.deployments import Described, Selection

if TYPE_CHECKING:
    from policyd.core.cards import Timestamp
    from policyd.usecases.holders import Holders, Parties
    from policyd.usecases.stored_deployment import StoredFacts
    from policyd.usecases.stored_parties import StoredParties
    from policyd.usecases.wallet_holders import WalletHolders

_Command = TypeVar("_Command", bound=Callable[..., object])


def cards_of(command: _Command) -> _Command:
    """`--holder` and `--at`, for wallet and card files."""
    command = click.option("--at", help="The moment, for cards that expire; default: expiry is left aside.")(command)
    help = "Whose cards they are, for card files: account/app/env/component/Type, or an account."
    return click.option("--holder", default="", help=help)(command)


MAX_BUDGET_S = 86_400.0
"""The most effort that can be asked for: a day."""


def budget_of(command: _Command) -> _Command:
    """`--budget`: the effort for each agent, in seconds as far as steps of the search tell."""
    help = "Effort in seconds for each agent, roughly, before `undecided`."
    return click.option("--budget", type=float, default=10.0, callback=_effort, help=help)(command)


def _effort(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 < value <= MAX_BUDGET_S:
        raise opt.usage(f"`--budget {value:g}` is no effort", "give seconds, for example `--budget 10`")
    return value


@dataclass(frozen=True, slots=True)
class Asked:
    """Who, where and when, as the flags have it."""

    selection: Selection
    agent: str
    include_root: Path | None
    rules: Rules
    holder: str = ""
    at: Timestamp | None = None

    def demand_unplaced(self) -> None:
        """Refuse flags that cannot change where a stored deployment is."""
        where = self.selection
        opt.demand_unplaced(
            env=where.environment, preset=where.presets, account=where.account, include_root=self.include_root
        )


def is_cards(source: str) -> bool:
    """Whether a source is a wallet or card file rather than a manifest."""
    return source.lower().endswith(".json")


def both_parties(old: str, new: str, asked: Asked) -> tuple[Parties, Parties]:
    """The two sides of a comparison.

    Raises:
        InputError: if one of them cannot be read, or they cannot be compared.
    """
    if is_cards(old) != is_cards(new):
        raise opt.usage("wallet and card files are only compared with each other", "name two `.json` files")
    if is_cards(old):
        from policyd.usecases.wallet_holders import paired

        return paired(_of_cards(old, asked), _of_cards(new, asked))
    stored = [source.startswith("@") for source in (old, new)]
    if all(stored):
        asked.demand_unplaced()
    sides = _known_to_one(old, new, asked)
    if not any(stored):
        return sides
    from policyd.usecases.stored_parties import aligned

    return aligned(*sides)


def _known_to_one(old: str, new: str, asked: Asked) -> tuple[Parties, Parties]:
    """Both sides; an agent may be missing on one, but not on both: then its name is misspelled."""
    sides = parties_at(old, asked, is_optional=True), parties_at(new, asked, is_optional=True)
    if asked.agent and not any(side.by_name or side.unreadable for side in sides):
        parties_at(new, asked)
    return sides


def parties_at(source: str, asked: Asked, *, is_optional: bool = False) -> Parties:
    """Whoever a source speaks of.

    With `is_optional` an agent type may be missing on one side of a comparison.
    """
    if is_cards(source):
        return _of_cards(source, asked)
    if source.startswith("@"):
        return stored_at(source, asked, is_optional=is_optional)
    return holders_at(source, asked.selection, asked.agent, asked.include_root, asked.rules, is_optional=is_optional)


def holders_at(
    source: str, selection: Selection, agent: str, include_root: Path | None, rules: Rules, *, is_optional: bool = False
) -> Holders:
    """The agent types of a manifest or of a stored deployment with their initial cards.

    With `is_optional` an agent type may be missing on one side of a comparison.
    """
    from policyd.usecases.deployments import agent_name
    from policyd.usecases.holders import Holders, holders_in

    if source.startswith("@"):
        from policyd.usecases.stored_parties import initial_cards

        return initial_cards(facts_at(source), rules, source, agent, selection.component)
    only = agent_name(agent)[0] if agent else None
    found = _read(source, selection, include_root, rules, only)
    if is_optional and only is not None and found.deployment.agent(only) is None:
        return Holders(source, {})
    holders = holders_in(found, selection, agent, source)
    if selection.environment is not None:
        return holders
    note = f"without --env {shown(source)} is asked about in its environment {shown(found.deployment.environment)}"
    return replace(holders, notes=(note, *holders.notes))


def _read(source: str, selection: Selection, include_root: Path | None, rules: Rules, only: str | None) -> Described:
    from policyd.usecases.deployments import described, load

    return described(load(Path(source), rules, include_root), selection, rules, only=only)


def stored_at(place: str, asked: Asked, *, is_optional: bool = False) -> StoredParties:
    """Everybody of a stored deployment, with imported wallets."""
    return stored_parties_of(facts_at(place), place, asked, is_optional=is_optional)


def stored_parties_of(facts: StoredFacts, place: str, asked: Asked, *, is_optional: bool = False) -> StoredParties:
    """Everybody of a deployment, or the one that is asked about."""
    from policyd.usecases.stored_parties import stored_parties

    component = asked.selection.component
    return stored_parties(facts, asked.rules, place, asked.agent, component, asked.at, is_optional=is_optional)


def facts_at(place: str) -> StoredFacts:
    """The facts of a stored deployment."""
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_deployment import StoredFacts

    with database() as store:
        snapshots = StoredSnapshots(store)
        return StoredFacts.of(snapshots.load(snapshots.resolve(place)))


def _of_cards(source: str, asked: Asked) -> WalletHolders:
    """The holder of a wallet file, or whoever is to hold the cards of a card file."""
    from policyd.syntax.recipients import RecipientRefused, parse_recipient
    from policyd.syntax.wallets import read_cards
    from policyd.usecases.wallet_holders import of_holder, wallet_holders

    path = Path(source)
    value = opt.read_json(path)
    if isinstance(value, dict) and "holder" in value:
        return wallets_at([path], asked)
    if not asked.holder:
        raise opt.usage(
            f"{shown(source)} says nothing of a holder", "give `--holder account/app/env/component/Type`, or a wallet"
        )
    cards = opt.read_file(path, lambda given: read_cards(given, asked.rules))
    try:
        holder = parse_recipient(asked.holder, rules=asked.rules)
    except RecipientRefused as refusal:
        raise opt.usage(f"{shown(asked.holder)} is no holder: {refusal.why}", refusal.help) from None
    wallet = of_holder(cards, holder, asked.agent if "(" in asked.agent else None)
    return wallet_holders([(wallet, {})], source, asked.at)


def wallets_at(paths: list[Path], asked: Asked) -> WalletHolders:
    """The holders of wallet files."""
    from dataclasses import replace

    from policyd.syntax.wallets import grant_places, read_wallet
    from policyd.usecases.deployments import agent_name
    from policyd.usecases.wallet_holders import wallet_holders

    given = []
    for path in paths:
        wallet = opt.read_file(path, lambda value: read_wallet(value, asked.rules))
        text = opt.read_text(path)
        spans = grant_places(opt.json_value(text, str(path)), str(path), text, asked.rules)
        if asked.agent and wallet.context is not None:
            type_name, agent_id = agent_name(asked.agent)
            if type_name != wallet.context.agent_type:
                raise opt.usage(f"the wallet is that of type {shown(wallet.context.agent_type)}", "leave out `--agent`")
            wallet = wallet.for_agent(replace(wallet.context, agent_id=agent_id or wallet.context.agent_id))
        given.append((wallet, spans))
    return wallet_holders(given, ", ".join(str(path) for path in paths), asked.at)
