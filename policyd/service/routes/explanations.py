"""Explanations over HTTP and on their page: from a pasted error to its cause and its narrowest fix.

Source: interface, `explain`; style 11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from policyd.core.cards import Card, ScopeCard, Timestamp
from policyd.core.edition import Rules
from policyd.core.operations import Ports
from policyd.findings import InputError, PolicydError
from policyd.manifest import load_texts
from policyd.service.access import Asker, Caller, snapshots_for
from policyd.service.answers import answered, json_response
from policyd.service.problems import status_of
from policyd.service.rendering import Name, Text, Visitor, guarded, link, opened, page
from policyd.service.routes.all_calls import proving, seconds_for
from policyd.service.routes.pages import arguments_in
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import moment_of, rules_of, scope_of
from policyd.service.wire_explain import MAX_ERROR, ExplanationAnswer, ExplanationRequest
from policyd.service.wiring import services
from policyd.store.snapshots import SnapshotInfo
from policyd.syntax.denials import recognise
from policyd.syntax.denials.reading import KINDS, Reading
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables
from policyd.syntax.wallets import read_cards
from policyd.usecases.answer_sections import sections
from policyd.usecases.deployments import Editions, Selection, accepted, agent_name
from policyd.usecases.explain_denial import explain
from policyd.usecases.explain_fixes import Means
from policyd.usecases.explain_hints import hinted
from policyd.usecases.explain_holding import Holding, in_manifest
from policyd.usecases.explain_json import explanation_json
from policyd.usecases.explain_stored import stored_holding
from policyd.usecases.explain_values import Asked, Explanation, listing
from policyd.usecases.operation_answer import demand_arguments
from policyd.usecases.operation_listing import operation_named
from policyd.usecases.snapshots import demand
from policyd.usecases.stored_decisions import StoredQuestion
from policyd.usecases.stored_deployment import StoredFacts

routes = router("/v1/explanations", "explanations")
pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Denied:
    """What was denied, as it was sent.

    Attributes:
        error: the pasted text, None for none.
        operation: an id of the catalogue, empty for none.
        arguments: of the operation.
        target: empty for none.
        deployer: cards of whoever deploys, None for an assumed root card.
        seconds: effort on fixes.
    """

    error: str | None
    operation: str
    arguments: Mapping[str, object]
    target: str
    deployer: tuple[Card, ...] | None
    seconds: float

    def __post_init__(self) -> None:
        """Refuse a question without a denial.

        Raises:
            InputError: MANIF091.
        """
        if not (self.error or self.operation or self.target):
            raise InputError.of("MANIF091", "what was denied?", None, "give `error`, `operation` or `target`")


@dataclass(frozen=True, slots=True)
class Whose:
    """Who was denied, and when."""

    agent: str
    holder: str
    component: str
    at: Timestamp | None
    scope: ScopeCard | None


@routes.post("", response_model=ExplanationAnswer, responses={**MISSING, **OTHER}, summary="Why was this refused")
def explanation(request: Request, body: ExplanationRequest, asker: Asker) -> Response:
    """The cause of a denial, with what it rests on, and the narrowest changes that would let it through."""
    rules = body.rules()
    deployer = None if body.deployer is None else tuple(read_cards(body.deployer, rules, "$.deployer"))
    denied = Denied(
        body.error, body.operation, body.arguments, body.target, deployer, seconds_for(request, body.budget)
    )
    reading = recognise(body.error) if body.error else None
    whose = Whose(body.agent, body.holder, body.component, moment_of(body.at), scope_of(body.scope, rules))
    info: SnapshotInfo | None = None
    if body.documents and body.snapshot is None:
        selection = Selection(
            body.environment, None if body.presets is None else tuple(body.presets), body.account, body.component
        )
        texts = [(document.name, document.text) for document in body.documents]
        holding, notes = _sent(texts, selection, whose, reading, rules)
    elif body.snapshot is not None and not body.documents:
        snapshots = snapshots_for(request, asker)
        info = snapshots.resolve(body.snapshot)
        demand(info, body.digest)
        facts = services(request).decisions.facts(snapshots, info)
        holding, notes = _stored(request, facts, info, whose, reading, rules)
    else:
        raise InputError.of("MANIF091", "one source is wanted", None, "give `snapshot`, or send `documents`")
    with proving(request):
        found = _explained(holding, denied, reading, rules).noted(notes)
    told = explanation_json(found)
    return json_response({**told, **(answered(info, rules) if info is not None else {})}, info)


def _explained(holding: Holding, denied: Denied, reading: Reading | None, rules: Rules) -> Explanation:
    operation = operation_named(denied.operation, catalogue(), rules) if denied.operation else None
    if operation is not None:
        demand_arguments(operation, denied.arguments)
    asked = Asked(reading, denied.target, operation, denied.arguments)
    started = monotonic()
    means = Means(denied.deployer, lambda: monotonic() - started, denied.seconds)
    return explain(holding, asked, Ports(SqlTables(), OutboundUrls()), catalogue().operations, means)


def _sent(
    texts: list[tuple[str, str]], selection: Selection, whose: Whose, reading: Reading | None, rules: Rules
) -> tuple[Holding, tuple[str, ...]]:
    """The holder in manifests that were sent."""
    manifest = Editions(accepted(load_texts(texts, rules=rules)))
    first = manifest.described(selection, rules)
    hint = hinted(reading, first.deployment, whose.agent, selection)
    if not hint.agent:
        raise _nobody()
    only = agent_name(hint.agent)[0]
    return (
        in_manifest(
            manifest.described(hint.selection, rules, only),
            hint.selection,
            hint.agent,
            rules,
            whose.at,
            whose.scope,
            lambda under: manifest.described(hint.selection, under, only),
        ),
        hint.notes,
    )


def _stored(
    request: Request, facts: StoredFacts, info: SnapshotInfo, whose: Whose, reading: Reading | None, rules: Rules
) -> tuple[Holding, tuple[str, ...]]:
    """The holder in a stored deployment."""
    agent = whose.agent
    notes: tuple[str, ...] = ()
    if not agent and not whose.holder:
        hint = hinted(reading, facts.under(rules).deployment, "", Selection(None, None, info.account, whose.component))
        agent, notes = hint.agent, hint.notes
        if not agent:
            raise _nobody()
    question = StoredQuestion("", agent, whose.holder, whose.at, whose.scope, whose.component)
    return stored_holding(services(request).decisions, facts, info, question, rules), notes


def _nobody() -> InputError:
    return InputError.of("MANIF091", "nobody is asked about", None, "name an `agent` or a `holder`")


@pages.get("/explain")
def explain_page(
    request: Request,
    asker: Visitor,
    snapshot: Name = "",
    agent: Name = "",
    holder: Name = "",
    target: Text = "",
    op: Name = "",
    args: Text = "",
    at: Name = "",
    edition: Name = "next",
) -> Response:
    """The form, and the answer about a target or an operation."""
    asked = {
        "snapshot": snapshot,
        "agent": agent,
        "holder": holder,
        "target": target,
        "op": op,
        "args": args,
        "at": at,
        "edition": edition,
    }
    return guarded(request, asker, lambda known: _page(request, known, asked, ""))


@pages.post("/explain")
def explain_paste(
    request: Request,
    asker: Visitor,
    snapshot: Annotated[str, Form(max_length=4_096)] = "",
    agent: Annotated[str, Form(max_length=4_096)] = "",
    holder: Annotated[str, Form(max_length=4_096)] = "",
    error: Annotated[str, Form(max_length=MAX_ERROR)] = "",
    target: Annotated[str, Form(max_length=65_536)] = "",
    op: Annotated[str, Form(max_length=200)] = "",
    args: Annotated[str, Form(max_length=65_536)] = "",
    at: Annotated[str, Form(max_length=64)] = "",
    edition: Annotated[str, Form(max_length=32)] = "next",
) -> Response:
    """The answer about a pasted text, which goes into no address and is shown to nobody again."""
    asked = {
        "snapshot": snapshot,
        "agent": agent,
        "holder": holder,
        "target": target,
        "op": op,
        "args": args,
        "at": at,
        "edition": edition,
    }
    return guarded(request, asker, lambda known: _page(request, known, asked, error))


def _page(request: Request, known: Caller, asked: dict[str, str], error: str) -> Response:
    if not asked["snapshot"] or not (error or asked["target"] or asked["op"]):
        return page(request, "explain.html", asked=asked, found=None, error=None)
    try:
        rules = rules_of(asked["edition"], {})
        facts, info = opened(request, known, asked["snapshot"])
        reading = recognise(error) if error else None
        whose = Whose(asked["agent"], asked["holder"], "", moment_of(asked["at"]), None)
        denied = Denied(
            error or None, asked["op"], arguments_in(asked["args"]), asked["target"], None, seconds_for(request, 2.0)
        )
        holding, notes = _stored(request, facts, info, whose, reading, rules)
        with proving(request):
            found = _explained(holding, denied, reading, rules).noted(notes)
    except PolicydError as refusal:
        return page(request, "explain.html", status_of(refusal).value, asked=asked, found=None, error=refusal)
    permalink = "" if error else link("/explain", **{**asked, "snapshot": f"@{info.number}"})
    single = _single(found)
    if error and single:
        permalink = link(
            "/explain", snapshot=f"@{info.number}", agent=holding.who, target=single, edition=asked["edition"]
        )
    return page(
        request,
        "explain.html",
        asked=asked,
        found=found,
        error=None,
        kinds=KINDS,
        listing=listing,
        sections=sections,
        info=info,
        permalink=permalink,
    )


def _single(found: Explanation) -> str:
    """The one target of the one denial of a paste: the paste itself is in no link."""
    if len(found.items) == 1 and len(found.items[0].targets) == 1:
        return found.items[0].targets[0].text
    return ""
