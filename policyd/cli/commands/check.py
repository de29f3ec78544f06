"""policyd check: may this agent, or the holder of this wallet, do this."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.operations import Place
from policyd.core.admission import Facet, FacetName, Verdict
from policyd.core.cards import ScopeCard, Timestamp
from policyd.core.edition import Rules
from policyd.findings import InputError, Span
from policyd.report.snippet import Lines
from policyd.usecases.answer import Answer
from policyd.usecases.deployments import Described, Selection

if TYPE_CHECKING:
    from policyd.usecases.stored_decisions import StoredQuestion


@click.command("check")
@click.argument("arguments", nargs=-1, metavar="[MANIFEST|@PLACE] [TARGET]")
@click.option("--agent", default="", help="Agent type (Cart) or full id ('Cart(\"u1\")').")
@click.option("--holder", default="", help="In a stored deployment: an account, or account/app/env/component/Type.")
@opt.place
@click.option("--op", default="", help="An operation of the catalogue instead of a target, e.g. fs.open.")
@click.option("--arg", multiple=True, help="An argument of the operation: name=value.")
@click.option("--sdk", default="", help="Whose surfaces are told: rust (default), typescript@3.0.1, moonbit, scala.")
@click.option("--durable", type=opt.FILE, help="What the program declares of durable operations and streams.")
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
    op: str,
    arg: tuple[str, ...],
    sdk: str,
    durable: Path | None,
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

    A target is `class(owner) : verb : resource`, slots filled from the holder; `--op fs.open --arg path=/a
    --arg flags=read` asks about an operation instead (`policyd ops` lists them). @PLACE is a stored
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
    if op:
        given = _OperationFlags(op, arg, sdk, durable)
        selection = Selection(env, opt.presets_of(preset), account, component)
        place = Place(
            arguments[0] if arguments else "", wallet, agent, holder, selection, include_root, moment, scope_card, rules
        )
        if len(arguments) > 1 or bool(arguments) is (wallet is not None):
            raise opt.usage("with `--op` one argument is wanted: a manifest or a place", "or `--wallet FILE` alone")
        return _operation(given, place, required, format, output)
    if arg or sdk or durable:
        raise opt.usage("`--arg`, `--sdk` and `--durable` belong to an operation", "give `--op ID`")
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
            from policyd.usecases.deployments import Editions, agent_name, load

            selection = Selection(env, opt.presets_of(preset), account, component)
            only = agent_name(agent)[0]

            manifest = Editions(load(Path(source), rules, include_root))

            def read(under: Rules) -> Described:
                return manifest.described(selection, under, only)

            deployment = read(rules)
            lines = deployment.line
            question = ManifestQuestion(agent, target, moment, scope_card)
            answer = check_manifest(deployment, selection, question, rules, again=read)
    if format == "json":
        write(as_json(answer_json(answer)), output)
    else:
        from policyd.cli.answer_text import answer_text

        write(answer_text(answer, lines), output)
    return _exit(answer.verdict, required)


def _exit(verdict: Verdict, required: tuple[FacetName, ...]) -> int:
    facets = [verdict.of(name) for name in required]
    if Facet.NO in facets:
        return Exit.NO
    return Exit.UNDECIDED if Facet.UNKNOWN in facets else Exit.YES


@dataclass(frozen=True, slots=True)
class _OperationFlags:
    """`--op` with what belongs to it."""

    op: str
    arg: tuple[str, ...]
    sdk: str
    durable: Path | None


def _operation(
    given: _OperationFlags, place: Place, required: tuple[FacetName, ...], format: str, output: Path | None
) -> int:
    from policyd.cli.operation_text import operation_text
    from policyd.cli.operations import arguments_of
    from policyd.cli.output import as_json, write
    from policyd.core.operations import Ports
    from policyd.core.operations.durable import NOTHING_DECLARED
    from policyd.syntax.durable import read_declarations
    from policyd.syntax.operations import catalogue
    from policyd.syntax.outbound_urls import OutboundUrls
    from policyd.syntax.sql import SqlTables
    from policyd.usecases.operation_answer import OperationQuestion, answer_operation
    from policyd.usecases.operation_listing import operation_named
    from policyd.usecases.operation_sdk import sdk_of
    from policyd.usecases.operation_words import operation_answer_json
    from policyd.usecases.tool_documents import read_document

    operation = operation_named(given.op, catalogue(), place.rules)
    if operation.id == SAGA_RETRY:
        return _saga(given, place, required, format, output)
    declared = NOTHING_DECLARED
    if given.durable is not None:
        try:
            declared = read_declarations(read_document(given.durable).value)
        except InputError as error:
            file = Span(str(given.durable))
            raise InputError(*(replace(f, span=f.span or file) for f in error.findings)) from None
    arguments = arguments_of(given.arg)
    carrier = arguments.pop("carrier", None)
    question = OperationQuestion(
        operation,
        arguments,
        sdk_of(given.sdk),
        declared,
        carrier=operation_named(str(carrier), catalogue(), place.rules) if carrier is not None else None,
    )
    holding, lines = place.holding()
    answer = answer_operation(holding, question, Ports(SqlTables(), OutboundUrls()), place.under)
    if format == "json":
        write(as_json(operation_answer_json(answer)), output)
    else:
        write(operation_text(answer, lines), output)
    return _exit(answer.verdict, required)


SAGA_RETRY = "saga.retry"
"""The operation that policies decide, too."""


def _saga(
    given: _OperationFlags, place: Place, required: tuple[FacetName, ...], format: str, output: Path | None
) -> int:
    """The same as `policyd saga`, with its options as arguments."""
    from policyd.cli.commands.saga import command as saga
    from policyd.cli.operations import arguments_of

    if place.wallet is not None or not place.source:
        raise opt.usage(
            "a saga is asked about in a manifest: its retry policies count", "name a manifest and `--agent`"
        )
    if place.at is not None or place.scope is not None:
        raise opt.usage(
            f"`--at` and `--scope` say nothing of `{SAGA_RETRY}`: a saga is decided for every attempt, by the cards",
            "leave them out; `--arg self-view=denied` sets self-view apart from the cards",
        )
    words = [place.source, "--agent", place.agent, "--require", ",".join(name.value for name in required)]
    words += ["--format", format, "--edition", place.rules.edition.value]
    where = place.selection
    flags = {
        "--env": where.environment,
        "--preset": ",".join(where.presets or ()) or None,
        "--account": where.account,
        "--component": where.component,
        "--include-root": place.include_root,
        "--output": output,
    }
    for flag, value in flags.items():
        words += [flag, str(value)] if value else []
    for name, value in place.rules.overrides:
        words += ["--switch", f"{name}={value}"]
    taken = {name for parameter in saga.params for name in parameter.opts}
    for name, argument in arguments_of(given.arg).items():
        if f"--{name}" not in taken or f"--{name}" in {
            *flags,
            "--format",
            "--edition",
            "--switch",
            "--agent",
            "--require",
        }:
            raise opt.usage(f"`{name[:60]}` is no argument of `{SAGA_RETRY}`", "`policyd saga --help` lists them")
        words += [f"--{name}", str(argument)]
    return int(saga.main(words, prog_name="policyd saga", standalone_mode=False))


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
