"""Decisions: may this holder do this, one question or up to a thousand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import Request, Response

from policyd.core.edition import Rules
from policyd.core.operations import Ports
from policyd.findings import PolicydError
from policyd.service.access import Asker, Caller, snapshots_for
from policyd.service.answers import answered, json_response
from policyd.service.problems import problem_body, status_of
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import BatchAnswer, BatchRequest, Decision, DecisionRequest, Place, Question
from policyd.service.wiring import now, services
from policyd.store.audits import LoggedDecision, log_decisions
from policyd.store.digest import canonical_json
from policyd.store.snapshots import SnapshotInfo
from policyd.store.tokens import TokenScope
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables
from policyd.usecases.answer import Answer, answer_json
from policyd.usecases.explain_stored import stored_holding
from policyd.usecases.operation_answer import OperationAnswer, OperationQuestion, answer_operation
from policyd.usecases.operation_listing import operation_named
from policyd.usecases.operation_sdk import sdk_of
from policyd.usecases.operation_words import operation_answer_json
from policyd.usecases.snapshots import demand
from policyd.usecases.stored_decisions import Decisions, StoredQuestion
from policyd.usecases.stored_deployment import StoredFacts

routes = router("/v1/decisions", "decisions")


def opened(request: Request, asker: Caller, place: Place) -> tuple[StoredFacts, SnapshotInfo]:
    """The facts of the snapshot that a request names, and which it is.

    Raises:
        InputError: if there is none, or it is not the one demanded.
    """
    snapshots = snapshots_for(request, asker)
    info = snapshots.resolve(place.snapshot)
    demand(info, place.digest)
    return services(request).decisions.facts(snapshots, info), info


@routes.post("", response_model=Decision, responses={**MISSING, **OTHER}, summary="Answer one question")
def decide(request: Request, body: DecisionRequest, asker: Asker) -> Response:
    """May this holder do this, and why; a `no` is an answer, not an error."""
    rules = body.rules()
    question = body.question(rules)
    facts, info = opened(request, asker, body)
    answer, told = answer_to(services(request).decisions, facts, info, body, question, rules)
    services(request).metrics.decisions.labels(answer.verdict.admitted.value).inc()
    if body.log:
        _log(request, asker, info, [(question, answer)])
    return json_response({**told, **answered(info, rules)}, info)


def answer_to(
    decisions: Decisions,
    facts: StoredFacts,
    info: SnapshotInfo,
    asked: Question,
    question: StoredQuestion,
    rules: Rules,
) -> tuple[Answer, dict[str, Any]]:
    """The answer to one question, about a target or an operation, and the same on the wire.

    What is kept in the log of an operation is its id: its arguments may hold values.
    """
    if not asked.operation:
        answer = decisions.answer(facts, info, question, rules)
        return answer, answer_json(answer)
    found = operation_in(decisions, facts, info, question, (asked.operation, asked.arguments, asked.sdk), rules)
    return replace(found.answer, target=asked.operation), operation_answer_json(found)


def operation_in(
    decisions: Decisions,
    facts: StoredFacts,
    info: SnapshotInfo,
    question: StoredQuestion,
    named: tuple[str, Mapping[str, object], str],
    rules: Rules,
) -> OperationAnswer:
    """The answer about an operation of a stored deployment.

    Args:
        decisions: answers about stored deployments.
        facts: of the snapshot.
        info: which it is.
        question: who is asked about.
        named: the operation, its arguments, and the SDK.
        rules: the edition.

    Raises:
        InputError: for an unknown operation, argument, SDK or holder.
    """
    id, arguments, sdk = named
    operation = operation_named(id, catalogue(), rules)
    holding = stored_holding(decisions, facts, info, question, rules)
    asked = OperationQuestion(operation, arguments, sdk_of(sdk))
    return answer_operation(
        holding,
        asked,
        Ports(SqlTables(), OutboundUrls()),
        lambda other: stored_holding(decisions, facts, info, question, other),
    )


@routes.post("/batch", response_model=BatchAnswer, responses={**MISSING, **OTHER}, summary="Answer many questions")
def decide_many(request: Request, body: BatchRequest, asker: Asker) -> Response:
    """Up to 1,000 questions about one snapshot, each answered with its reasons or with its problem."""
    rules = body.rules()
    facts, info = opened(request, asker, body)
    decisions = services(request).decisions
    answers: list[dict[str, Any]] = []
    logged: list[tuple[StoredQuestion, Answer]] = []
    counted = dict.fromkeys(("yes", "no", "unknown"), 0)
    with services(request).computing:
        for item in body.questions:
            try:
                question = item.question(rules)
                answer, told = answer_to(decisions, facts, info, item, question, rules)
            except PolicydError as error:
                answers.append({"decision": None, "problem": problem_body(status_of(error), error.findings)})
                continue
            counted[answer.verdict.admitted.value] += 1
            logged.append((question, answer))
            answers.append({"decision": told, "problem": None})
    for word, count in counted.items():
        services(request).metrics.decisions.labels(word).inc(count)
    if body.log:
        _log(request, asker, info, logged)
    return json_response({"answers": answers, **answered(info, rules)}, info)


def _log(request: Request, asker: Caller, info: SnapshotInfo, decided: list[tuple[StoredQuestion, Answer]]) -> None:
    """Keep decisions in the log, all or none; it is a write."""
    asker.needs(TokenScope.WRITE)
    moment = now().text
    log_decisions(
        services(request).database,
        [
            LoggedDecision(
                info.number,
                moment,
                asker.actor,
                question.holder or question.agent,
                question.agent if "(" in question.agent else "",
                answer.target,
                question.at.text if question.at else "",
                answer.rules.label,
                answer.verdict.admitted.value,
                answer.verdict.bounded.value,
                answer.verdict.replay_stable.value,
                canonical_json([[r.facet.value, r.why.value, answer.sentence(r)] for r in answer.verdict.reasons]),
            )
            for question, answer in decided
        ],
    )
