"""policyd check: may this agent, or the holder of this wallet, do this."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.core.admission import Facet
from policyd.core.cards import ScopeCard, Timestamp
from policyd.core.edition import Rules
from policyd.report.snippet import Lines
from policyd.usecases.answer import Answer
from policyd.usecases.deployments import Described

if TYPE_CHECKING:
    from policyd.usecases.stored_decisions import StoredQuestion


@click.command("check")
@click.argument("arguments", nargs=-1, required=True, metavar="[MANIFEST|@PLACE] TARGET")
@click.option("--agent", default="", help="Agent type (Cart) or full id ('Cart(\"u1\")').")
@click.option("--holder", default="", help="In a stored deployment: an account, or account/app/env/component/Type.")
@opt.place
@click.option("--wallet", type=opt.FILE, help="A wallet file instead of a manifest.")
@click.option("--scope", type=opt.FILE, help="Scope card of the invocation (JSON).")
@click.option("--at", help="The moment of the call, e.g. 2026-12-24T00:00:00Z.")
@click.option("--require", default="admitted", help="Facets that must be yes for exit 0, separated by commas.")
@opt.rules
@opt.output("text", "json")
def command(
    arguments: tuple[str, ...],
    agent: str,
    holder: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    wallet: Path | None,
    scope: Path | None,
    at: str | None,
    require: str,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """May this agent, or the holder of this wallet, do this, and why?

    A target is `class(owner) : verb : resource`, slots filled from the holder. @PLACE is a stored
    deployment: `@12`, or `@account/application/environment` for its latest snapshot.
    Exit 0: every facet of --require is yes; 1: one is no; 3: one is unknown.
    """
    from policyd.cli.output import argument_lines, as_json, write
    from policyd.usecases.answer import answer_json, facet_words

    try:
        required = facet_words(require)
    except ValueError as word:
        raise opt.usage(f"unknown facet `{word}`", "facets are `admitted`, `bounded`, `replay-stable`") from None
    rules = opt.rules_of(edition, switch)
    moment = opt.moment_of(at)
    lines: Lines = argument_lines
    scope_card = _scope(scope, rules)
    if wallet is not None:
        if len(arguments) != 1:
            raise opt.usage("with `--wallet` one argument is wanted: the target")
        answer = _from_wallet(wallet, arguments[0], agent, moment, scope_card, rules)
        lines = opt.lines_of(wallet)
    else:
        if len(arguments) != 2:
            raise opt.usage("two arguments are wanted: a manifest and a target", "or `--wallet FILE` and a target")
        source, target = arguments
        is_stored = source.startswith("@")
        if not agent and not (holder and is_stored):
            raise opt.usage("which agent is asked about?", "give `--agent Type`, or `--wallet FILE`")
        if is_stored:
            opt.demand_unplaced(env=env, preset=preset, account=account, include_root=include_root)
            from policyd.usecases.stored_decisions import StoredQuestion

            answer = _from_store(source, StoredQuestion(target, agent, holder, moment, scope_card, component), rules)
        else:
            from policyd.usecases.check_call import ManifestQuestion, check_manifest
            from policyd.usecases.deployments import Selection, agent_name, described, load

            selection = Selection(env, opt.presets_of(preset), account, component)
            only = agent_name(agent)[0]

            def read(under: Rules) -> Described:
                return described(load(Path(source), under, include_root), selection, under, only=only)

            deployment = read(rules)
            lines = deployment.line
            question = ManifestQuestion(agent, target, moment, scope_card)
            answer = check_manifest(deployment, selection, question, rules, again=read)
    if format == "json":
        write(as_json(answer_json(answer)), output)
    else:
        from policyd.cli.answer_text import answer_text

        write(answer_text(answer, lines), output)
    facets = [answer.verdict.of(name) for name in required]
    if Facet.NO in facets:
        return Exit.NO
    return Exit.UNDECIDED if Facet.UNKNOWN in facets else Exit.YES


def _from_store(place: str, question: StoredQuestion, rules: Rules) -> Answer:
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_decisions import Decisions

    decisions = Decisions()
    with database() as store:
        snapshots = StoredSnapshots(store)
        info = snapshots.resolve(place)
        return decisions.answer(decisions.facts(snapshots, info), info, question, rules)


def _scope(path: Path | None, rules: Rules) -> ScopeCard | None:
    if path is None:
        return None
    from policyd.syntax.cards import CardForm, read_card

    card = opt.read_file(path, lambda value: read_card(value, CardForm.SCOPE, rules))
    assert isinstance(card, ScopeCard)  # the scope form reads nothing else
    return card


def _from_wallet(
    path: Path, target: str, agent: str, moment: Timestamp | None, scope: ScopeCard | None, rules: Rules
) -> Answer:
    from policyd.syntax.wallets import grant_places, read_wallet
    from policyd.usecases.check_call import WalletQuestion, check_wallet

    held = opt.read_file(path, lambda value: read_wallet(value, rules))
    if moment is None and any(h.card.expires_at is not None for h in held.cards):
        moment = opt.now()
    text = opt.read_text(path)
    spans = grant_places(opt.json_value(text, str(path)), str(path), text, rules)
    return check_wallet(held, WalletQuestion(target, moment, scope, agent), rules, spans)
