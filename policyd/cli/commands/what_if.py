"""policyd what-if: what one edit of a card, or a card that comes or goes, would start and stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.commands.diff import tell
from policyd.cli.exits import Exit
from policyd.cli.parties import Asked, budget_of, facts_at, holders_at, stored_parties_of, wallets_at
from policyd.cli.replay import Flags, Sources
from policyd.usecases.changes import Changes
from policyd.usecases.deployments import Selection

if TYPE_CHECKING:
    from policyd.core.cards import Card
    from policyd.usecases.what_if_wallets import CardEdit


@click.command("what-if")
@click.argument("manifest", default="")
@click.option("--agent", default="", help="The agent type to edit; default: all that the edit touches.")
@opt.place
@click.option("--add", multiple=True, help="A grant to add.")
@click.option("--to", default="lower-positive", help="Its list: lower-positive (default), lower-negative, upper-…")
@click.option("--remove", multiple=True, help="Place of a grant to take away: golem.yaml:14 or 14.")
@click.option("--wallet", type=opt.FILE, multiple=True, help="Wallet of a holder; once for each holder.")
@click.option("--cards", type=opt.FILE, help="Further stored cards, for the families of revoked ones (JSON).")
@click.option("--revoke", multiple=True, help="Id of a card to revoke, with everything derived from it.")
@click.option("--install", type=opt.FILE, multiple=True, help="Card to put into the wallets (JSON).")
@click.option("--on", multiple=True, help="Name of a holder to install on; default: all the wallets given.")
@click.option("--cross-check", is_flag=True, help="Let a solver come to the same result by another way.")
@budget_of
@click.option("--at", help="The moment, for cards that expire; default: expiry is left aside.")
@opt.rules
@opt.output("text", "json", "markdown")
def command(
    manifest: str,
    agent: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    add: tuple[str, ...],
    to: str,
    remove: tuple[str, ...],
    wallet: tuple[Path, ...],
    cards: Path | None,
    revoke: tuple[str, ...],
    install: tuple[Path, ...],
    on: tuple[str, ...],
    cross_check: bool,
    budget: float,
    at: str | None,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """What would start and stop if this grant were added or taken away? --remove and --add together replace one.

    With --revoke or --install: if this card were revoked, or put into these wallets; of --wallet files, or of a
    stored deployment (@12).
    """
    from policyd.usecases.proofs import steps_for

    rules = opt.rules_of(edition, switch)
    effort = _Effort(cross_check, steps_for(budget))
    asked = Asked(Selection(env, opt.presets_of(preset), account, component), agent, include_root, rules, "")
    if manifest.startswith("@"):
        asked.demand_unplaced()
    if revoke or install:
        if add or remove:
            raise opt.usage(
                "cards and single grants are changed one after the other", "leave out `--add` and `--remove`"
            )
        if bool(wallet) == bool(manifest):
            raise opt.usage("whose cards?", "give `--wallet FILE`, or a stored deployment such as `@12`")
        moment = opt.moment_of(at)
        changes = _of_cards(manifest, list(wallet), cards, revoke, install, on, replace(asked, at=moment), effort)
    else:
        changes = _of_grants(manifest, add, to, remove, asked, effort)
    is_initial = manifest.startswith("@") and not (revoke or install)
    present: Sources = _asked_as_edited(manifest, changes) if is_initial else manifest
    if wallet:
        present = dict(zip(wallets_at(list(wallet), asked).by_name, map(str, wallet), strict=True))
    flags = Flags(env, preset, account, component, include_root, at, edition, switch)
    tell(changes, "any", format, output, old=present, new=None, flags=flags)
    return Exit.UNDECIDED if changes.is_undecided else Exit.YES


@dataclass(frozen=True, slots=True)
class _Effort:
    """How much the answer may cost."""

    cross_check: bool
    steps: int


def _of_grants(
    manifest: str, add: tuple[str, ...], to: str, remove: tuple[str, ...], asked: Asked, effort: _Effort
) -> Changes:
    from policyd.usecases.what_if import LISTS, Edit, what_if

    if not manifest:
        raise opt.usage("a manifest is wanted", "name one, or give `--wallet` with `--revoke` or `--install`")
    if to not in LISTS:
        raise opt.usage(f"unknown list `{to}`", f"lists are {', '.join(f'`{name}`' for name in LISTS)}")
    if not add and not remove:
        raise opt.usage("what is to change?", "give `--add GRANT` or `--remove PLACE`")
    if add and not asked.agent:
        raise opt.usage("to which agent type is the grant added?", "give `--agent Type`")
    holders = holders_at(manifest, asked.selection, asked.agent, asked.include_root, asked.rules)
    edit = Edit(tuple((LISTS[to], text) for text in add), remove)
    return what_if(holders, edit, asked.rules, is_cross_checked=effort.cross_check, steps=effort.steps)


def _asked_as_edited(place: str, changes: Changes) -> Sources:
    """The place, for all holders whose wallet is the card that is edited; of others `check` asks their wallets."""
    from policyd.usecases.open_names import party_of
    from policyd.usecases.stored_parties import types_with_wallets

    others = types_with_wallets(facts_at(place))
    return {change.name: place for change in changes.holders if party_of(change.name) not in others}


def _of_cards(
    place: str,
    wallets: list[Path],
    cards: Path | None,
    revoke: tuple[str, ...],
    install: tuple[Path, ...],
    on: tuple[str, ...],
    asked: Asked,
    effort: _Effort,
) -> Changes:
    from policyd.syntax.wallets import read_cards
    from policyd.usecases.revocation import card_id
    from policyd.usecases.what_if_wallets import CardEdit, what_if_cards

    def read(path: Path) -> tuple[Card, ...]:
        return opt.read_file(path, lambda value: read_cards(value, asked.rules))

    edit = CardEdit(tuple(card_id(text) for text in revoke), tuple(c for path in install for c in read(path)), on)
    if place:
        return _of_stored(place, edit, asked, effort)
    before = wallets_at(wallets, asked)
    held = [item.card for party in before.by_name.values() for item in party.wallet.cards]
    known = {card.id: card for card in (*(read(cards) if cards else ()), *held, *edit.install)}
    families = {card.id: card.parents for card in known.values()}
    return what_if_cards(
        before, edit, families, known, asked.rules, is_cross_checked=effort.cross_check, steps=effort.steps
    )


def _of_stored(place: str, edit: CardEdit, asked: Asked, effort: _Effort) -> Changes:
    from policyd.usecases.stored_parties import what_if_stored

    if not place.startswith("@"):
        raise opt.usage(
            "a manifest holds no cards that could be revoked or installed", "give `--wallet FILE`, or `@12`"
        )
    facts = facts_at(place)
    parties = stored_parties_of(facts, place, asked)
    return what_if_stored(facts, parties, edit, asked.rules, is_cross_checked=effort.cross_check, steps=effort.steps)
