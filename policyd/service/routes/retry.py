"""Retry policies and sagas: what the command line answers, over a snapshot, sent documents, or the platform's JSON.

Source: interface, `retry`, `saga`; retry 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Request, Response

from policyd.core.edition import Rules
from policyd.core.retry import parse_duration
from policyd.core.retry.continuation import IdentityChoice, continuation_from_json
from policyd.core.retry.placed import PlacedPolicy, RetryFacts
from policyd.core.retry.resolve import Overlay
from policyd.core.retry.saga import Admission, Body, Compensation, Form, SelfView
from policyd.findings import InputError, Severity
from policyd.manifest import load_texts
from policyd.report import report_json
from policyd.service.access import Asker, Caller
from policyd.service.answers import json_response
from policyd.service.routes.all_calls import facts_of, proving
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import rules_of
from policyd.service.wire_chains import named
from policyd.service.wire_retry import (
    MAX_RULES,
    CompileAnswer,
    CompileRequest,
    LimitsAnswer,
    LimitsRequest,
    LintAnswer,
    LintRequest,
    ResolveAnswer,
    ResolveRequest,
    RetryDiffAnswer,
    RetryDiffRequest,
    RetrySource,
    SagaAnswerBody,
    SagaRequest,
    SimulateAnswer,
    SimulateRequest,
    SitesAnswer,
)
from policyd.service.wiring import services
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.deployments import Selection, described
from policyd.usecases.retry_bags import bag_at, properties_given, site_of
from policyd.usecases.retry_compile import SDKS, compile_schedule, compiled_json
from policyd.usecases.retry_diff import compare_rules, difference_json
from policyd.usecases.retry_limits import limits_json, limits_table
from policyd.usecases.retry_lint import lint as linted
from policyd.usecases.retry_picture import courses_svg
from policyd.usecases.retry_resolve import resolve_at, resolved_json
from policyd.usecases.retry_saga import SagaAnswer, SagaQuestion, ask_saga
from policyd.usecases.retry_simulate import course_json, course_of
from policyd.usecases.retry_sites import sites_json
from policyd.usecases.retry_sources import RetryEnvironment, environment_of
from policyd.usecases.retry_stored import (
    ask_stored_saga,
    sent_environment,
    sent_policy,
    sent_rules,
    stored_environment,
)
from policyd.usecases.saga_words import saga_json

routes = router("/v1/retry", "retry")
WORK_SHARE = 8
"""A question over HTTP may take this part of the work of one on the command line."""

READ = {**MISSING, **OTHER}


def environment_for(
    request: Request, asker: Caller, place: RetrySource, rules: Rules
) -> tuple[RetryEnvironment, SnapshotInfo | None]:
    """The rules that a question is about, and the snapshot that they were read from.

    Raises:
        InputError: if not exactly one source is named, it cannot be read, or it has more rules than are answered here.
    """
    environment, info = _environment_for(request, asker, place, rules)
    _demand_few(environment)
    return environment, info


def _demand_few(environment: RetryEnvironment) -> None:
    if len(environment.policies) > MAX_RULES:
        many = f"{len(environment.policies)} retry policies are more than one question over HTTP may have"
        raise InputError.of("MANIF091", many, environment.policies[MAX_RULES].span, f"at most {MAX_RULES} are")


def _environment_for(
    request: Request, asker: Caller, place: RetrySource, rules: Rules
) -> tuple[RetryEnvironment, SnapshotInfo | None]:
    if (place.snapshot is not None) + bool(place.documents) + (place.policies is not None) != 1:
        raise InputError.of("MANIF091", "which policies?", None, "name a `snapshot`, or send `documents` or `policies`")
    if place.snapshot is not None:
        facts, info = facts_of(request, asker, place.snapshot, place.digest)
        return stored_environment(facts.deployment, info), info
    if place.policies is not None:
        listed = tuple(PlacedPolicy(rule, rule) for rule in sent_rules(place.policies))
        return RetryEnvironment(place.environment or "", listed), None
    return sent_environment(named(place.documents), place.environment, rules), None


def _answer(
    told: Mapping[str, Any], rules: Rules, info: SnapshotInfo | None = None, notes: tuple[str, ...] = ()
) -> Response:
    where = {
        "edition": rules.edition.value,
        "switches": dict(rules.overrides),
        "snapshot": None if info is None else f"@{info.number}",
        "notes": [*notes, *told.get("notes", ())],
    }
    return json_response({**told, **where}, info)


@routes.post("/resolve", response_model=ResolveAnswer, responses=READ, summary="Which rule decides")
def resolve(request: Request, body: ResolveRequest, asker: Asker) -> Response:
    """Who wins for one operation at a site, and why each other one does not; all outcomes where some is not given."""
    rules = body.rules()
    environment, info = environment_for(request, asker, body, rules)
    given = properties_given(body.properties)
    with proving(request):
        resolved = resolve_at(environment.effective, site_of(body.site), given, rules, body.event, body.done)
        told = resolved_json(resolved)
    return _answer(told, rules, info, environment.notes)


@routes.post("/simulate", response_model=SimulateAnswer, responses=READ, summary="How the retries go")
def simulate(request: Request, body: SimulateRequest, asker: Asker) -> Response:
    """Attempts, waits, best and worst case of some rules; with `runs`, percentiles from a seed."""
    rules = body.rules()
    environment, info = environment_for(request, asker, body, rules)
    execution_ns, given = parse_duration(body.execution), properties_given(body.properties)
    bag = bag_at(site_of(body.site), given, rules).bag if body.site else given
    wanted = [environment.named(name).rule for name in body.names] or [e.rule for e in environment.effective]
    with proving(request):
        courses = [
            course_of(
                rule,
                rules,
                bag=bag,
                counts_attempts=body.site == "saga",
                execution_ns=execution_ns,
                runs=body.runs,
                seed=body.seed,
                among=WORK_SHARE * len(wanted),
            )
            for rule in wanted
        ]
        told = {
            "courses": [{**course_json(course), "snapshot": None} for course in courses],
            "svg": courses_svg(courses) if body.svg else None,
        }
    return _answer(told, rules, info, environment.notes)


@routes.post("/limits", response_model=LimitsAnswer, responses=READ, summary="Where retries end")
def limits(request: Request, body: LimitsRequest, asker: Asker) -> Response:
    """Most attempts, longest wait and storms, per rule and per site."""
    rules = body.rules()
    environment, info = environment_for(request, asker, body, rules)
    with proving(request):
        told = limits_json(limits_table(environment.effective, rules))
    return _answer(told, rules, info, environment.notes)


@routes.post("/lint", response_model=LintAnswer, responses=READ, summary="What is wrong or risky")
def lint(request: Request, body: LintRequest, asker: Asker) -> Response:
    """The findings on the retry policies of an environment, each with its place."""
    rules = body.rules()
    environment, info = environment_for(request, asker, body, rules)
    existing = None if body.existing is None else sent_rules(body.existing)
    overlay = Overlay(sent_rules(body.overlay_set), frozenset(body.overlay_removed))
    with proving(request):
        told = report_json(linted(environment, rules, RetryFacts(existing, overlay)))
    return _answer(told, rules, info, environment.notes)


@routes.post("/diff", response_model=RetryDiffAnswer, responses=READ, summary="What a change of rules does")
def diff(request: Request, body: RetryDiffRequest, asker: Asker) -> Response:
    """What changes for which calls: sites, conditions, bounds, and running sequences."""
    rules = body.rules()
    before, _ = environment_for(request, asker, body.old, rules)
    after, info = environment_for(request, asker, body.new, rules)
    with proving(request):
        told = difference_json(compare_rules(before, after, rules, deploys=body.deploy))
    return _answer(told, rules, info, tuple(dict.fromkeys((*before.notes, *after.notes))))


@routes.post("/saga", response_model=SagaAnswerBody, responses=READ, summary="May a saga be retried")
def saga(request: Request, body: SagaRequest, asker: Asker) -> Response:
    """Is a saga retry of this agent admitted, bounded and replay-stable, and why."""
    rules = body.rules()
    answer, info = saga_answer(request, asker, body, rules)
    return _answer(saga_json(answer), rules, info)


def saga_answer(
    request: Request, asker: Caller, body: SagaRequest, rules: Rules
) -> tuple[SagaAnswer, SnapshotInfo | None]:
    """The answer to a question about sagas.

    Raises:
        InputError: if the question cannot be asked.
    """
    question = _saga_question(body)
    if (body.snapshot is None) is (not body.documents) or body.policies is not None:
        raise InputError.of(
            "MANIF091", "whose sagas?", None, "name a `snapshot`, or send the `documents` of a manifest"
        )
    if body.snapshot is not None:
        facts, info = facts_of(request, asker, body.snapshot, body.digest)
        _demand_few(stored_environment(facts.deployment, info))
        decisions = services(request).decisions
        with proving(request):
            return ask_stored_saga(question, facts, info, rules, decisions, body.component), info
    loaded = load_texts(named(body.documents), rules=rules)
    errors = [finding for finding in loaded.findings if finding.severity is Severity.ERROR]
    if errors:
        raise InputError(*errors)
    selection = Selection(body.environment, None, body.account, body.component)
    deployment = described(loaded, selection, rules)
    environment = environment_of(loaded, deployment.deployment.environment)
    _demand_few(environment)
    with proving(request):
        return ask_saga(question, environment, deployment, selection, rules), None


def _saga_question(body: SagaRequest) -> SagaQuestion:
    return SagaQuestion(
        body.agent,
        body.attempt,
        None if body.continuation is None else continuation_from_json(body.continuation),
        parse_duration(body.elapsed),
        Form(body.form),
        Body(body.body),
        Compensation(body.compensation),
        parse_duration(body.body_time),
        parse_duration(body.compensation_time),
        IdentityChoice(body.identity),
        Admission(body.admission),
        SelfView(body.self_view) if body.self_view else None,
        body.component_id,
        body.sets_policies,
    )


@routes.post("/compile", response_model=CompileAnswer, summary="A policy as a user-space schedule")
def compile_(request: Request, body: CompileRequest, asker: Asker) -> Response:
    """What compiles, and where it differs from the host with the same tree."""
    rules = body.rules()
    sdk = body.sdk.partition("@")[0]
    if sdk not in SDKS:
        raise InputError.of("MANIF091", "unknown SDK", None, "SDKs are " + ", ".join(f"`{word}`" for word in SDKS))
    policy = sent_policy(body.policy)
    with proving(request):
        told = compiled_json(compile_schedule(policy, sdk, rules, with_properties=body.with_properties))
    return _answer(told, rules)


@routes.get("/sites", response_model=SitesAnswer, summary="The places that ask")
def sites(asker: Asker, edition: Annotated[str, Query(max_length=32)] = "next") -> Response:
    """The places that ask for a retry decision, with the properties that predicates see there."""
    rules = rules_of(edition, {})
    return _answer({"sites": sites_json(rules)}, rules)
