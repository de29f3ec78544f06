"""The page of retry policies: schedules as a picture, limits, findings, who decides, sagas; no scripts.

Source: questions 2 (schedule); retry 8; style 11.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from markupsafe import Markup
from pydantic import BaseModel, Field

from policyd.findings import PolicydError, Report
from policyd.service.access import Caller
from policyd.service.problems import status_of
from policyd.service.rendering import Visitor, guarded, link, page
from policyd.service.routes.all_calls import proving
from policyd.service.routes.retry import WORK_SHARE, environment_for, saga_answer
from policyd.service.wire import Document
from policyd.service.wire_retry import RetryPlace, SagaRequest
from policyd.usecases.retry_bags import properties_given, site_of
from policyd.usecases.retry_limits import limits_table, limits_text
from policyd.usecases.retry_lint import lint
from policyd.usecases.retry_picture import courses_svg
from policyd.usecases.retry_resolve import resolve_at, resolved_text
from policyd.usecases.retry_simulate import course_of, course_text
from policyd.usecases.retry_sources import RetryEnvironment
from policyd.usecases.saga_words import saga_text

routes = APIRouter(include_in_schema=False)

MAX_DRAWN = 20
"""So many schedules are drawn on one page."""

MAX_LINTED = 30
"""More policies have no findings on the page, which says so."""

MAX_SHORT = 4_096
"""Characters of any other field."""

MAX_PASTED = 1 << 20
"""Characters of a document in the form."""

Short = Annotated[str, Field(max_length=MAX_SHORT)]


class RetryQuestion(BaseModel):
    """The fields of the form, in a query or sent; empty for what is not asked."""

    snapshot: Short = ""
    environment: Short = ""
    policy: Short = ""
    site: Short = ""
    properties: Short = ""
    agent: Short = ""
    edition: Short = "next"


class PastedQuestion(RetryQuestion):
    """The same with a document, which is too long for a query."""

    document: Annotated[str, Field(max_length=MAX_PASTED)] = ""


@routes.get("/retry")
def stored(request: Request, asker: Visitor, asked: Annotated[RetryQuestion, Query()]) -> Response:
    """The form, and the policies of a snapshot if one is named."""
    return _answered(request, asker, {**asked.model_dump(), "document": ""})


@routes.post("/retry")
def pasted(request: Request, asker: Visitor, asked: Annotated[PastedQuestion, Form()]) -> Response:
    """The policies of a manifest that was pasted, or of a snapshot."""
    return _answered(request, asker, asked.model_dump())


def _answered(request: Request, asker: Caller | None, asked: dict[str, str]) -> Response:
    def render(known: Caller) -> Response:
        if not asked["snapshot"] and not asked["document"].strip():
            return page(request, "retry.html", asked=asked, answer=False, error=None)
        try:
            found = _found(request, known, asked)
        except PolicydError as error:
            return page(request, "retry.html", status_of(error).value, asked=asked, answer=False, error=error)
        return page(request, "retry.html", asked=asked, answer=True, error=None, **found)

    return guarded(request, asker, render)


def _found(request: Request, known: Caller, asked: dict[str, str]) -> dict[str, object]:
    place = _place(asked)
    rules = place.rules()
    environment, info = environment_for(request, known, place, rules)
    effective = environment.effective
    wanted = [environment.named(asked["policy"])] if asked["policy"] else list(effective)
    site = site_of(asked["site"]) if asked["site"] else None
    given = properties_given(asked["properties"].split())
    saga = ""
    if asked["agent"]:
        answer, _ = saga_answer(request, known, _sagas(place, asked["agent"]), rules)
        saga = saga_text(answer)
    with proving(request):
        drawn = wanted[:MAX_DRAWN]
        courses = [course_of(e.rule, rules, among=WORK_SHARE * len(drawn)) for e in drawn]
        resolved = resolved_text(resolve_at(effective, site, given, rules)) if site is not None else ""
        table = limits_text(limits_table(effective, rules))
        report = lint(environment, rules) if len(environment.policies) <= MAX_LINTED else Report.of((), ())
    permalink = ""
    if info is not None:
        kept = {name: value for name, value in asked.items() if name != "document"}
        permalink = link("/retry", **{**kept, "snapshot": f"@{info.number}"})
    return {
        "saga": saga,
        "resolved": resolved,
        "picture": Markup(courses_svg(courses, is_embedded=True)),
        "sentences": [course_text(course) for course in courses],
        "more": max(0, len(wanted) - MAX_DRAWN),
        "limits": table,
        "findings": report.findings,
        "notes": [*environment.notes, *report.not_analysed, *_unlinted(environment)],
        "info": info,
        "permalink": permalink,
    }


def _unlinted(environment: RetryEnvironment) -> list[str]:
    if len(environment.policies) <= MAX_LINTED:
        return []
    return [f"findings of more than {MAX_LINTED} policies are not looked for on this page: `policyd retry lint`"]


def _place(asked: dict[str, str]) -> RetryPlace:
    """The question that the form stands for."""
    pasted = [Document(name="golem.yaml", text=asked["document"])] if asked["document"].strip() else []
    return RetryPlace(
        edition=asked["edition"],
        snapshot=asked["snapshot"] or None,
        documents=[] if asked["snapshot"] else pasted,
        environment=asked["environment"] or None,
    )


def _sagas(place: RetryPlace, agent: str) -> SagaRequest:
    """The question about the sagas of an agent in the same place."""
    return SagaRequest.model_validate({**place.model_dump(), "agent": agent})
