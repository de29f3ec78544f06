"""Operating the service: health, readiness, metrics."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from policyd.service.access import Asker
from policyd.service.problems import ServiceCode, ServiceError
from policyd.service.routing import PROBLEMS
from policyd.service.wiring import services
from policyd.store import migrate
from policyd.store.codes import StoreError
from policyd.store.snapshots import EVERYTHING

routes = APIRouter(tags=["operations"])


@routes.get("/healthz", summary="Is the process alive")
async def healthz() -> dict[str, str]:
    """Yes, as long as it answers."""
    return {"status": "ok"}


@routes.get(
    "/readyz",
    summary="Can questions be answered",
    response_model=dict[str, Any],
    responses={503: {"description": "The database cannot be reached, or is not migrated."}},
)
def readyz(request: Request) -> JSONResponse:
    """Whether the database is reachable and at the migration that this policyd expects."""
    try:
        migrate.require_migrated(services(request).database)
    except StoreError as error:
        return JSONResponse({"status": "not ready", "code": error.findings[0].code}, 503)
    return JSONResponse({"status": "ok", "migration": migrate.newest()})


@routes.get("/metrics", summary="Prometheus metrics", response_class=Response, responses=PROBLEMS)
def metrics(request: Request, asker: Asker) -> Response:
    """Counts and times in the text format of Prometheus; of all accounts, so not for the token of one."""
    if asker.reach != EVERYTHING:
        raise ServiceError(
            ServiceCode.NO_ACCESS,
            HTTPStatus.FORBIDDEN,
            "metrics count what all accounts do",
            "use a token that is not limited to an account",
        )
    return Response(services(request).metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
