"""The kind of route that all modules use: bodies are bounded before they are read, unknown parameters refused."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from policyd.findings import nearest
from policyd.service.limits import BoundedRequest
from policyd.service.problems import ServiceCode, ServiceError
from policyd.service.wire import Problem
from policyd.syntax.mistakes import shown


class BoundedRoute(APIRoute):
    """A route that reads JSON bodies only up to the depth that the settings allow, and parameters that it knows."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route."""
        handle = super().get_route_handler()
        known = frozenset(_parameters(self.dependant))

        async def bounded(request: Request) -> Response:
            unknown = next((name for name in request.query_params if name not in known), None)
            if unknown is not None:
                near = nearest(unknown, known)
                raise ServiceError(
                    ServiceCode.MALFORMED,
                    HTTPStatus.UNPROCESSABLE_ENTITY,
                    f"unknown query parameter {shown(unknown)}",
                    f"did you mean `{near}`?" if near else f"known: {', '.join(sorted(known)) or 'none'}",
                )
            return await handle(BoundedRequest(request.scope, request.receive))

        return bounded


def _parameters(dependant: Dependant) -> Iterator[str]:
    """The names of all query parameters that a route and what it depends on read."""
    yield from (parameter.alias for parameter in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _parameters(inner)


def _told(description: str) -> dict[str, Any]:
    return {"description": description, "model": Problem}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: _told("No token, or one that is not good."),
    403: _told("The token is not good for this."),
    413: _told("Too long."),
    422: _told("The question cannot be asked."),
    429: _told("Too many requests at a time."),
    503: _told("The database cannot be used, or the request took too long."),
}
"""What every route may answer besides."""

MISSING: dict[int | str, dict[str, Any]] = {404: _told("There is none, or none that the caller may see.")}
CONFLICT: dict[int | str, dict[str, Any]] = {409: _told("It contradicts what is stored.")}
OTHER: dict[int | str, dict[str, Any]] = {412: _told("The snapshot is another revision than the one demanded.")}


def router(prefix: str, tag: str) -> APIRouter:
    """A router whose routes tell their problems and bound their bodies."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=BoundedRoute, responses=PROBLEMS)
