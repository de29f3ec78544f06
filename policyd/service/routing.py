"""The kind of route that all modules use: bodies are bounded before they are read as JSON."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from policyd.service.limits import BoundedRequest
from policyd.service.wire import Problem


class BoundedRoute(APIRoute):
    """A route that reads JSON bodies only up to the depth that the settings allow."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route."""
        handle = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            return await handle(BoundedRequest(request.scope, request.receive))

        return bounded


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
