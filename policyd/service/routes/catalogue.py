"""The catalogue of host operations over HTTP and on pages.

Source: host 2; interface, `ops`, `op`.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from policyd.core.grants.classes import classes_of
from policyd.findings import PolicydError
from policyd.service.access import Asker, Caller
from policyd.service.answers import json_response
from policyd.service.problems import status_of
from policyd.service.rendering import Name, Visitor, guarded, page
from policyd.service.routing import MISSING, router
from policyd.service.wire import OperationList, rules_of
from policyd.syntax.operations import catalogue
from policyd.usecases.operation_listing import (
    listed,
    operation_json,
    operation_named,
    record_words,
    remarks_of,
)

routes = router("/v1/operations", "host operations")
pages = APIRouter(include_in_schema=False)

Word = Annotated[str, Query(max_length=200)]


@routes.get("", response_model=OperationList, summary="The catalogue of host operations")
def operations(request: Request, asker: Asker, search: Word = "", cls: Word = "", edition: Word = "next") -> Response:
    """Every operation of the edition: what it takes, asks for, how a denial shows; `cls` and `search` narrow."""
    rules = rules_of(edition, {})
    found = listed(catalogue(), rules, search, cls)
    return json_response({"operations": [operation_json(o, rules) for o in found], "edition": rules.edition.value})


@routes.get("/{operation}", response_model=dict[str, Any], responses=MISSING, summary="One host operation")
def one(request: Request, operation: str, asker: Asker, edition: Word = "next") -> Response:
    """One operation in full."""
    rules = rules_of(edition, {})
    return json_response({**operation_json(operation_named(operation, catalogue(), rules), rules), "edition": edition})


@pages.get("/operations")
def operations_page(
    request: Request, asker: Visitor, search: Name = "", cls: Name = "", edition: Name = "next"
) -> Response:
    """The list, with a form that narrows it."""

    def render(_: Caller) -> Response:
        rules = rules_of(edition, {})
        return page(
            request,
            "operations.html",
            asked={"search": search, "cls": cls, "edition": edition},
            classes=[known.name for known in classes_of(rules)],
            operations=listed(catalogue(), rules, search, cls),
        )

    return guarded(request, asker, render)


@pages.get("/operations/{id}")
def operation_page(request: Request, id: str, asker: Visitor, edition: Name = "next") -> Response:
    """One operation."""

    def render(_: Caller) -> Response:
        rules = rules_of(edition, {})
        try:
            found = operation_named(id, catalogue(), rules)
        except PolicydError as error:
            return page(
                request, "problem.html", status_of(error).value, title="No such operation", findings=error.findings
            )
        return page(
            request,
            "operation.html",
            operation=found,
            told=operation_json(found, rules),
            record=record_words(found),
            remarks=list(remarks_of(found, rules)),
            edition=edition,
        )

    return guarded(request, asker, render)
