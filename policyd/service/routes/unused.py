"""Grants that were never used, and the least card for what was: the interface and the page.

Source: interface, Files and queries; style 11.
"""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter, Request, Response

from policyd.core.edition import Rules
from policyd.core.operations import Ports
from policyd.findings import PolicydError
from policyd.service.access import Asker, Caller
from policyd.service.answers import answered, json_response
from policyd.service.problems import status_of
from policyd.service.rendering import Name, Visitor, guarded, link, opened, page
from policyd.service.routes.all_calls import proving, seconds_for
from policyd.service.routes.decisions import opened as opened_for
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import moment_of, rules_of
from policyd.service.wire_unused import UnusedAnswer, UnusedRequest
from policyd.service.wiring import now, services
from policyd.store.snapshots import SnapshotInfo
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables
from policyd.usecases.decision_log import BadLine, LogLine, read_log
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.stored_parties import stored_parties
from policyd.usecases.unused_answer import Unused, unused_authority
from policyd.usecases.unused_sources import DEFAULT_WINDOW, OWN_LOG, own_log, window_of
from policyd.usecases.unused_words import counted, summary, trace_words, unobserved, unused_json

routes = router("/v1", "all calls")
pages = APIRouter(include_in_schema=False)

MOST_LEAST = 5
"""So many least cards are sought for one request; name an agent for the others."""

PAGE_BUDGET_S = 2.0


@routes.post(
    "/unused", response_model=UnusedAnswer, responses={**MISSING, **OTHER}, summary="Which grants were never used"
)
def unused(request: Request, body: UnusedRequest, asker: Asker) -> Response:
    """Per grant what was seen of it in the log, the least card for what was seen, and what could not be observed."""
    rules = body.rules()
    facts, info = opened_for(request, asker, body)
    lines = None if body.log is None else read_log(body.log.encode("utf-8", "backslashreplace").splitlines())
    answer = _answer(request, facts, info, rules, body, lines)
    return json_response({**unused_json(answer), **answered(info, rules)}, info)


def _answer(
    request: Request,
    facts: StoredFacts,
    info: SnapshotInfo,
    rules: Rules,
    asked: UnusedRequest,
    lines: Iterable[LogLine | BadLine] | None,
) -> Unused:
    moment = moment_of(asked.at) or now()
    parties = stored_parties(facts, rules, f"@{info.number}", "", asked.component, moment)
    with proving(request):
        return unused_authority(
            parties,
            own_log(services(request).database, info) if lines is None else lines,
            window_of(asked.window, moment),
            rules,
            catalogue(),
            Ports(SqlTables(), OutboundUrls()),
            budget_s=seconds_for(request, asked.budget),
            notes=(OWN_LOG,) if lines is None else (),
            only=asked.agent,
            most_least=MOST_LEAST,
        )


@pages.get("/unused")
def unused_page(
    request: Request,
    asker: Visitor,
    snapshot: Name = "",
    agent: Name = "",
    window: Name = DEFAULT_WINDOW,
    at: Name = "",
    edition: Name = "next",
) -> Response:
    """The form of the question, and what the service's own log says, as tables."""
    asked = {"snapshot": snapshot, "agent": agent, "window": window, "at": at, "edition": edition}

    def render(known: Caller) -> Response:
        if not snapshot:
            return page(request, "unused.html", asked=asked, answer=None, error=None)
        try:
            facts, info = opened(request, known, snapshot)
            body = UnusedRequest.model_construct(
                snapshot=snapshot, window=window, at=at or None, agent=agent, component="", budget=PAGE_BUDGET_S
            )
            answer = _answer(request, facts, info, rules_of(edition, {}), body, None)
        except PolicydError as error:
            return page(request, "unused.html", status_of(error).value, asked=asked, answer=None, error=error)
        return page(
            request,
            "unused.html",
            asked=asked,
            answer=answer,
            error=None,
            counted=counted(answer.log),
            summary=summary,
            trace_words=trace_words,
            unobserved=list(unobserved(answer)),
            info=info,
            permalink=link("/unused", **{**asked, "snapshot": f"@{info.number}"}),
        )

    return guarded(request, asker, render)
