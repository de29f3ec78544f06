"""policyd explain: why something was refused, and the narrowest change that would let it through."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.operations import arguments_of

if TYPE_CHECKING:
    from policyd.core.cards import ScopeCard, Timestamp
    from policyd.core.edition import Rules
    from policyd.report import Lines
    from policyd.syntax.denials import Reading
    from policyd.usecases.deployments import Described, Selection
    from policyd.usecases.explain_holding import Holding

MAX_PASTE = 4 * 1024 * 1024
"""A longer text on stdin is cut."""


@click.command("explain")
@click.argument("arguments", nargs=-1, metavar="[MANIFEST|@PLACE] [TARGET]")
@click.option("--agent", default="", help="Agent type (Cart) or full id ('Cart(\"u1\")').")
@click.option("--holder", default="", help="In a stored deployment: an account, or account/app/env/component/Type.")
@opt.place
@click.option("--error", help="The error, log or excerpt of an oplog; default: stdin.")
@click.option("--op", default="", help="An operation of the catalogue, e.g. http.send.")
@click.option("--arg", multiple=True, help="An argument of the operation: name=value.")
@click.option("--wallet", type=opt.FILE, help="The wallet of the holder; beside a manifest, for installed cards.")
@click.option("--scope", type=opt.FILE, help="Scope card of the invocation (JSON).")
@click.option("--at", help="The moment of the call, e.g. 2026-12-24T00:00:00Z.")
@click.option("--deployer", type=opt.FILE, help="Cards of whoever deploys; default: an assumed account root card.")
@click.option("--budget", type=float, default=2.0, help="Effort on fixes in seconds before `undecided`.")
@opt.rules
@opt.output("text", "json", "markdown")
def command(
    arguments: tuple[str, ...],
    agent: str,
    holder: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    error: str | None,
    op: str,
    arg: tuple[str, ...],
    wallet: Path | None,
    scope: Path | None,
    at: str | None,
    deployer: Path | None,
    budget: float,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Why was this refused, and what is the narrowest change that would let it through?

    What is explained is a pasted text (--error, or stdin), an operation (--op with --arg) or a TARGET
    `class(owner) : verb : resource`; a text and an operation together tell most. @PLACE is a stored deployment.
    Exit 0: explained; 1: nothing in the text is a denial; 3: it can be read in several ways that differ.
    """
    from policyd.cli.output import as_json, write
    from policyd.core.operations import Ports
    from policyd.syntax.operations import catalogue
    from policyd.syntax.outbound_urls import OutboundUrls
    from policyd.syntax.sql import SqlTables
    from policyd.usecases.deployments import Selection
    from policyd.usecases.explain_denial import explain
    from policyd.usecases.explain_fixes import Means
    from policyd.usecases.explain_json import explanation_json
    from policyd.usecases.explain_text import explanation_text
    from policyd.usecases.explain_values import Asked, Outcome
    from policyd.usecases.operation_answer import demand_arguments
    from policyd.usecases.operation_listing import operation_named

    rules = opt.rules_of(edition, switch)
    source, target = _sources(arguments, wallet)
    moment = opt.moment_of(at)
    scope_card = _scope(scope, rules)
    selection = Selection(env, opt.presets_of(preset), account, component)
    text = error if error is not None else None if op or target else _stdin()
    reading = _recognised(text)
    place = _Place(source, wallet, agent, holder, selection, include_root, moment, scope_card, rules)
    holding, lines, notes = place.holding(reading)
    operation = operation_named(op, catalogue(), rules) if op else None
    if arg and operation is None:
        raise opt.usage("`--arg` belongs to an operation", "give `--op ID`")
    given = arguments_of(arg)
    if operation is not None:
        demand_arguments(operation, given)
    asked = Asked(reading, target, operation, given)
    cards = None
    if deployer is not None:
        from policyd.syntax.wallets import read_cards

        cards = opt.read_file(deployer, lambda value: read_cards(value, rules))
    started = monotonic()
    means = Means(cards, lambda: monotonic() - started, budget)
    explanation = explain(holding, asked, Ports(SqlTables(), OutboundUrls()), catalogue().operations, means)
    explanation = explanation.noted(notes)
    match format:
        case "json":
            write(as_json(explanation_json(explanation)), output)
        case "markdown":
            from policyd.usecases.explain_markdown import explanation_markdown

            write(explanation_markdown(explanation), output)
        case _:
            write(explanation_text(explanation, lines), output)
    return {Outcome.EXPLAINED: Exit.YES, Outcome.NO_DENIAL: Exit.NO, Outcome.DIFFERENT: Exit.UNDECIDED}[
        explanation.outcome
    ]


def _sources(arguments: tuple[str, ...], wallet: Path | None) -> tuple[str, str]:
    """The manifest or stored place, and the target."""
    if len(arguments) > 2:
        raise opt.usage("at most two arguments are wanted: a manifest and a target")
    if not arguments and wallet is None:
        raise opt.usage("whose denial is it?", "name a manifest, a stored deployment (`@12`), or `--wallet FILE`")
    if len(arguments) == 2:
        return arguments[0], arguments[1]
    if not arguments:
        return "", ""
    one = arguments[0]
    is_target = " : " in one or one.rstrip().endswith(" :")
    if is_target and wallet is None:
        raise opt.usage("two arguments are wanted: a manifest and a target", "or `--wallet FILE` and a target")
    return ("", one) if is_target else (one, "")


def _stdin() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise opt.usage("what is to be explained?", "give `--error TEXT`, `--op ID`, a target, or the error on stdin")
    data = sys.stdin.buffer.read(MAX_PASTE)
    return data.decode("utf-8", "replace")


def _recognised(text: str | None) -> Reading | None:
    if text is None:
        return None
    from policyd.syntax.denials import recognise

    return recognise(text)


def _scope(path: Path | None, rules: Rules) -> ScopeCard | None:
    if path is None:
        return None
    from policyd.core.cards import ScopeCard
    from policyd.syntax.cards import CardForm, read_card

    card = opt.read_file(path, lambda value: read_card(value, CardForm.SCOPE, rules))
    assert isinstance(card, ScopeCard)  # the scope form reads nothing else
    return card


class _Place:
    """Where the cards are, as the flags have it."""

    def __init__(
        self,
        source: str,
        wallet: Path | None,
        agent: str,
        holder: str,
        selection: Selection,
        include_root: Path | None,
        at: Timestamp | None,
        scope: ScopeCard | None,
        rules: Rules,
    ) -> None:
        self.source = source
        self.wallet = wallet
        self.agent = agent
        self.holder = holder
        self.selection = selection
        self.include_root = include_root
        self.at = at
        self.scope = scope
        self.rules = rules

    def holding(self, reading: Reading | None) -> tuple[Holding, Lines, tuple[str, ...]]:
        """The holder, the lines that may be shown, and what was taken from the error."""
        if self.source.startswith("@"):
            return self._stored(reading)
        if self.source:
            return self._manifest(reading)
        return self._wallet_alone()

    def _manifest(self, reading: Reading | None) -> tuple[Holding, Lines, tuple[str, ...]]:
        from policyd.usecases.deployments import Editions, agent_name, load
        from policyd.usecases.explain_hints import hinted
        from policyd.usecases.explain_holding import FromManifest, in_manifest, of_wallet

        manifest = Editions(load(Path(self.source), self.rules, self.include_root))
        first = manifest.described(self.selection, self.rules, agent_name(self.agent)[0] if self.agent else None)
        hint = hinted(reading, first.deployment, self.agent, self.selection)
        selection, agent = hint.selection, hint.agent
        if not agent and self.wallet is None:
            raise opt.usage("which agent was denied?", "give `--agent Type`")

        def read(under: Rules) -> Described:
            return manifest.described(selection, under, agent_name(agent)[0] if agent else None)

        if self.wallet is not None:
            holding, lines, notes = self._wallet_alone()
            context = holding.wallet.context
            found = first.deployment.agent(context.agent_type) if context else None
            source = FromManifest(first, found, selection, read) if found is not None else None
            both = of_wallet(
                holding.wallet, self.rules, self.agent, holding.at, self.scope, holding.places, source, self.source
            )
            return both, lambda s, n: first.line(s, n) or lines(s, n), (*hint.notes, *notes)
        here = first if hint.agent == self.agent else manifest.described(selection, self.rules, agent_name(agent)[0])
        return in_manifest(here, selection, agent, self.rules, self.at, self.scope, read), here.line, hint.notes

    def _wallet_alone(self) -> tuple[Holding, Lines, tuple[str, ...]]:
        from policyd.syntax.wallets import grant_places, read_wallet
        from policyd.usecases.explain_holding import of_wallet

        path = self.wallet
        assert path is not None  # asked for with a wallet only
        held = opt.read_file(path, lambda value: read_wallet(value, self.rules))
        moment = self.at
        if moment is None and any(h.card.expires_at is not None for h in held.cards):
            moment = opt.now()
        text = opt.read_text(path)
        places = grant_places(opt.json_value(text, str(path)), str(path), text, self.rules)
        holding = of_wallet(held, self.rules, self.agent, moment, self.scope, places, None, str(path))
        return holding, opt.lines_of(path), ()

    def _stored(self, reading: Reading | None) -> tuple[Holding, Lines, tuple[str, ...]]:
        from policyd.cli.output import argument_lines
        from policyd.cli.store import database
        from policyd.usecases.explain_hints import hinted
        from policyd.usecases.explain_stored import stored_holding
        from policyd.usecases.snapshots import StoredSnapshots
        from policyd.usecases.stored_decisions import Decisions, StoredQuestion

        where = self.selection
        opt.demand_unplaced(
            env=where.environment, preset=where.presets, account=where.account, include_root=self.include_root
        )
        decisions = Decisions()
        with database() as store:
            snapshots = StoredSnapshots(store)
            info = snapshots.resolve(self.source)
            facts = decisions.facts(snapshots, info)
        agent = self.agent
        notes: tuple[str, ...] = ()
        if not agent and not self.holder:
            hint = hinted(reading, facts.under(self.rules).deployment, "", where)
            agent, notes = hint.agent, hint.notes
            if not agent:
                raise opt.usage("which agent was denied?", "give `--agent Type`")
        question = StoredQuestion("", agent, self.holder, self.at, self.scope, where.component)
        return stored_holding(decisions, facts, info, question, self.rules), argument_lines, notes
