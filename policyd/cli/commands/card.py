"""policyd card: dry runs of the algebra on card files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

if TYPE_CHECKING:
    from policyd.core.cards import Caller, Ledger
    from policyd.core.edition import Rules
    from policyd.usecases.dry_runs import DryRun

_Command = TypeVar("_Command", bound=Callable[..., object])


@click.group("card", cls=opt.Group)
def command() -> None:
    """Dry runs of card operations: accepted or the refusal, witnesses, what changes."""


def _common(function: _Command) -> _Command:
    """The flags of all three operations."""
    function = opt.output("text", "json")(opt.rules(function))
    function = click.option("--at", help="The moment of the call; default: now.")(function)
    function = click.option("--scope", type=opt.FILE, help="Scope card of the running invocation (JSON).")(function)
    function = click.option("--cards", type=opt.FILE, help="Further stored cards (JSON).")(function)
    return click.option("--wallet", type=opt.FILE, required=True, help="Wallet of the agent that acts.")(function)


def _setting(
    wallet: Path, cards: Path | None, scope: Path | None, at: str | None, edition: str, switch: tuple[str, ...]
) -> tuple[Caller, Ledger, Rules]:
    from policyd.core.cards import ScopeCard
    from policyd.syntax.cards import CardForm, read_card
    from policyd.syntax.wallets import read_cards, read_wallet
    from policyd.usecases.dry_runs import caller_of, ledger_of

    rules = opt.rules_of(edition, switch)
    held = opt.read_file(wallet, lambda value: read_wallet(value, rules))
    more = opt.read_file(cards, lambda value: read_cards(value, rules)) if cards else ()
    overlay = None
    if scope is not None:
        read = opt.read_file(scope, lambda value: read_card(value, CardForm.SCOPE, rules))
        assert isinstance(read, ScopeCard)  # the scope form reads nothing else
        overlay = read
    moment = opt.moment_of(at) or opt.now()
    return caller_of(held, moment, overlay), ledger_of(held, more), rules


def _tell(run: DryRun, format: str, output: Path | None) -> int:
    from policyd.cli.output import as_json, write
    from policyd.usecases.dry_runs import dry_run_json, dry_run_text

    write(as_json(dry_run_json(run)) if format == "json" else dry_run_text(run), output)
    return Exit.YES if run.is_accepted else Exit.NO


@command.command("derive")
@click.option("--parent", multiple=True, help="Id of the parent; without one a parent is selected from the wallet.")
@click.option("--as-scope", is_flag=True, help="Derive a scope card from all parents given.")
@click.option("--bounds", type=opt.FILE, required=True, help="The bounds wanted (JSON: lowerPositive, …).")
@click.option("--lifespan", help="ISO 8601 duration, e.g. PT1H; without it as long as the parent.")
@_common
def derive(
    wallet: Path,
    cards: Path | None,
    scope: Path | None,
    at: str | None,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
    parent: tuple[str, ...],
    as_scope: bool,
    bounds: Path,
    lifespan: str | None,
) -> int:
    """Would this derivation be accepted, by which parents, and what comes of it?

    With --parent the negatives are added to those of the parent; without one the bounds are the whole child.
    """
    from policyd.usecases.dry_runs import card_named, run_derive, run_derive_scope, wanted_bounds
    from policyd.usecases.slipping import with_slips

    caller, ledger, rules = _setting(wallet, cards, scope, at, edition, switch)
    wanted = opt.read_file(bounds, lambda value: wanted_bounds(value, rules))
    parents = [card_named(name, ledger) for name in parent]
    if as_scope:
        run = run_derive_scope(caller, ledger, parents, wanted, rules)
        return _tell(with_slips(run, caller, ledger, rules), format, output)
    if len(parents) > 1:
        raise opt.usage("a persistent card has one parent", "add `--as-scope`, or name one parent")
    chosen = parents[0] if parents else None
    run = run_derive(caller, ledger, chosen, wanted, lifespan, rules)
    return _tell(with_slips(run, caller, ledger, rules), format, output)


@command.command("install")
@click.option("--card", required=True, help="Id of the card.")
@click.option("--target", required=True, help='Agent: account/app/env/component/Type("id").')
@_common
def install(
    wallet: Path,
    cards: Path | None,
    scope: Path | None,
    at: str | None,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
    card: str,
    target: str,
) -> int:
    """Would this card be installed on that agent, and what moves?"""
    from policyd.usecases.dry_runs import agent_target, card_named, run_install

    caller, ledger, rules = _setting(wallet, cards, scope, at, edition, switch)
    run = run_install(caller, ledger, card_named(card, ledger), agent_target(target), rules)
    return _tell(run, format, output)


@command.command("revoke")
@click.option("--card", required=True, help="Id of the card.")
@_common
def revoke(
    wallet: Path,
    cards: Path | None,
    scope: Path | None,
    at: str | None,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
    card: str,
) -> int:
    """Would this card be revoked, and what disappears with it?"""
    from policyd.usecases.dry_runs import card_named, run_revoke

    caller, ledger, rules = _setting(wallet, cards, scope, at, edition, switch)
    return _tell(run_revoke(caller, ledger, card_named(card, ledger), rules), format, output)
