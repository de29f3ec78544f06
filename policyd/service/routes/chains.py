"""Chains, tools, schemas and values: what the command line answers, over documents that are sent or a snapshot.

No file of the server is read: what a document names must be sent with it.

Source: interface, `chain`, `tool diff`, `schema compare`, `value`, `reflect`, `outcome`.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response

from policyd.core.edition import Rules
from policyd.core.schema.json_schema import Policy, json_schema
from policyd.findings import InputError
from policyd.service.access import Asker, Caller
from policyd.service.answers import json_response
from policyd.service.routes.all_calls import facts_of, proving
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import MAX_NAME
from policyd.service.wire_chains import (
    ChainAnswer,
    ChainCheckRequest,
    ChainExplainRequest,
    ChainPlace,
    FollowedAnswer,
    JsonSchemaRequest,
    OutcomeBody,
    OutcomeRequest,
    SchemaAnswer,
    SchemaCompareRequest,
    ToolDiffAnswer,
    ToolDiffRequest,
    ValueAnswer,
    ValueCheckRequest,
    exact,
    named,
)
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases import reflect
from policyd.usecases.chain_check import MAX_STEPS_SERVED as CHAIN_STEPS
from policyd.usecases.chain_check import check_chains
from policyd.usecases.chain_explain import MAX_STEPS_SERVED as CALL_STEPS
from policyd.usecases.chain_explain import authority_of, follow_call, followed_json
from policyd.usecases.chain_outward import Outcome
from policyd.usecases.chain_report import drawn, report_json
from policyd.usecases.chain_sources import (
    ChainSources,
    command_path,
    sent_definitions,
    sent_sources,
    stored_sources,
)
from policyd.usecases.outcome import answer_json as outcome_json
from policyd.usecases.outcome import follow_sent
from policyd.usecases.schema_compare import MAX_STEPS_SERVED as SCHEMA_STEPS
from policyd.usecases.schema_compare import Relation, answer_json, compare_schemas, well_formed
from policyd.usecases.tool_diff import MAX_STEPS_SERVED as TOOL_STEPS
from policyd.usecases.tool_diff import diff_json, diff_tools
from policyd.usecases.tool_documents import schema_of, tools_of
from policyd.usecases.value_check import MAX_STEPS_SERVED as VALUE_STEPS
from policyd.usecases.value_check import check_value, value_json

routes = router("/v1", "chains")
MAX_COMPARED = 50_000
"""Commands, inputs and errors of what layers expect, over all chains of one request."""

READ = {**MISSING, **OTHER}
Word = Annotated[str, Query(max_length=MAX_NAME)]


def chains_of(
    request: Request, asker: Caller, place: ChainPlace, rules: Rules
) -> tuple[ChainSources, SnapshotInfo | None]:
    """The chains that a question is about, and the snapshot that they were read from.

    Raises:
        InputError: if neither or both of a snapshot and documents are named, or they cannot be read.
    """
    profile = place.profile()
    if (place.snapshot is None) is (not place.documents):
        raise InputError.of("MANIF091", "which chains?", None, "name a `snapshot`, or send `documents`")
    if place.snapshot is None:
        return sent_sources(named(place.documents), named(place.definitions), rules, profile), None
    facts, info = facts_of(request, asker, place.snapshot, place.digest)
    beside = sent_definitions(named(place.definitions), rules, profile)
    return stored_sources(facts.deployment, facts.under(rules).deployment, beside, rules, profile), info


def _where(info: SnapshotInfo | None, rules: Rules, place: ChainPlace) -> dict[str, Any]:
    snapshot = None if info is None else f"@{info.number}"
    return {"edition": rules.edition.value, "switches": dict(place.switches), "snapshot": snapshot}


@routes.post("/chains/check", response_model=ChainAnswer, responses=READ, summary="Decide every chain")
def check(request: Request, body: ChainCheckRequest, asker: Asker) -> Response:
    """Does each layer fit what stands below it, do parameters and callers fit, what do the cards let through."""
    rules = body.rules()
    sources, info = chains_of(request, asker, body, rules)
    with proving(request):
        report = check_chains(sources, body.environments, body.tool, body.account, MAX_COMPARED, CHAIN_STEPS)
        answer = report_json(report, rules.label)
    return json_response({**answer, **_where(info, rules, body)}, info)


@routes.post("/chains/explain", response_model=FollowedAnswer, responses=READ, summary="Follow one call")
def explain(request: Request, body: ChainExplainRequest, asker: Asker) -> Response:
    """One call, layer by layer inward, and its outcome back out."""
    rules = body.rules()
    sources, info = chains_of(request, asker, body, rules)
    words = command_path(body.call)
    if not words:
        raise InputError.of("MANIF091", "which tool is called?", None, "`call` is the tool and the command")
    environments = None if body.environment is None else [body.environment]
    with proving(request):
        report = check_chains(sources, environments, "", body.account, MAX_COMPARED, CHAIN_STEPS)
        rows = [r for r in report.rows if r.tool == words[0] and (not body.agent or body.agent in r.agents)]
        way: dict[str, Any] = {"inward": [], "outward": [], "reaches": "no", "reachesTool": False}
        if rows:
            given = "result" in body.model_fields_set
            outcome = Outcome(exact(body.result), given, body.error, exact(body.payload))
            whose = authority_of(rows[0], body.agent)
            given_input = exact(body.input)
            followed = follow_call(
                rows[0].chain, words[1:], given_input, outcome, sources.profile, words[0], whose, CALL_STEPS
            )
            way = followed_json(followed)
    found = {"found": bool(rows), "chain": drawn(rows[0]) if rows else None}
    bound = sorted({row.tool for row in report.rows})
    return json_response({**found, **way, "bound": bound, **_where(info, rules, body)}, info)


@routes.post("/tools/diff", response_model=ToolDiffAnswer, summary="Two states of a tool")
def diff(request: Request, body: ToolDiffRequest, asker: Asker) -> Response:
    """May the new state stand under the middleware of the old one, per mode, and do its callers still fit."""
    rules, profile = body.rules(), body.profile()
    old, new = tools_of(body.old, body.new)
    with proving(request):
        answer = diff_json(diff_tools(old, new, profile, TOOL_STEPS))
    return json_response({**answer, "edition": rules.edition.value, "switches": dict(body.switches)})


@routes.post("/schemas/compare", response_model=SchemaAnswer, summary="Two schemas")
def compare(request: Request, body: SchemaCompareRequest, asker: Asker) -> Response:
    """Does every value of one have a form in the other; if not, where they part, and a value that shows it."""
    one = well_formed(schema_of(body.source, "source"), "source", SCHEMA_STEPS)
    other = well_formed(schema_of(body.target, "target"), "target", SCHEMA_STEPS)
    with proving(request):
        answer = answer_json(compare_schemas(one, other, Relation(body.relation), SCHEMA_STEPS), one, other)
    return json_response(answer)


@routes.post("/outcomes", response_model=OutcomeBody, summary="A sequence around one call")
def outcome(body: OutcomeRequest, asker: Asker) -> Response:
    """What each observer sees, what is still owned, what may never end."""
    return json_response(outcome_json(follow_sent(body.sequence())))


@routes.post("/values/check", response_model=ValueAnswer, summary="Is this JSON a value of the type")
def value(body: ValueCheckRequest, asker: Asker) -> Response:
    """Valid, invalid with the exact rule and its place, or undecided for want of an engine."""
    graph = well_formed(schema_of(body.type, "type"), "type", SCHEMA_STEPS)
    form = body.profile().json_form
    answer = check_value(body.value, graph, form, trusted=body.trusted, steps=VALUE_STEPS)
    return json_response(value_json(answer))


@routes.post("/values/json-schema", response_model=dict[str, Any], summary="The JSON Schema of a type")
def schema(body: JsonSchemaRequest, asker: Asker) -> Response:
    """The projection of the host, or the one of reflection."""
    graph = well_formed(schema_of(body.type, "type"), "type", SCHEMA_STEPS)
    return json_response(json_schema(graph, Policy(body.policy.replace("-", "_"))))


@routes.get("/reflect", response_model=dict[str, Any], summary="The decision tables of reflection")
def reflected(
    asker: Asker,
    client: Word = "",
    question: Word = "",
    knows: Annotated[list[str] | None, Query(max_length=64)] = None,
    to: Word = "",
) -> Response:
    """Who validates what, before what; what the host checks in any case; without a question, all keys."""
    approach = reflect.approach_of(client) if client else None
    if question:
        return json_response(reflect.answer_question(question, approach))
    if knows:
        return json_response(reflect.chosen(knows))
    if approach is not None and to:
        return json_response(reflect.moved(approach, reflect.approach_of(to)))
    if approach is not None:
        return json_response(reflect.approach_summary(approach))
    return json_response({"keys": reflect.listed()})
