"""The application that a server runs: routes, bounds, logs and metrics around one database.

Source: style 11.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from policyd import __version__
from policyd.service import logs, problems, rendering
from policyd.service.description import described
from policyd.service.heads import Heads
from policyd.service.limits import Limits
from policyd.service.logs import Watched
from policyd.service.routes import (
    all_calls,
    audits,
    cards,
    catalogue,
    chain_page,
    chains,
    decisions,
    difference_page,
    evaluation,
    explanations,
    imports,
    list_pages,
    operations,
    pages,
    queries,
    reach,
    reports,
    retry,
    retry_page,
    rules,
    snapshots,
    tokens,
    unused,
)
from policyd.service.wiring import Services
from policyd.settings import Settings
from policyd.store.session import Database

ROUTES = (
    snapshots,
    imports,
    decisions,
    catalogue,
    explanations,
    queries,
    all_calls,
    chains,
    retry,
    reach,
    unused,
    cards,
    audits,
    reports,
    rules,
    tokens,
    evaluation,
    operations,
    pages,
    list_pages,
    difference_page,
    chain_page,
    retry_page,
)
"""Every module of routes, the interface first."""

DESCRIPTION = """What Golem agents may do, over stored deployments.

Edition and switches are arguments of every question and echoed in every answer. Every answer names the
snapshot it used; a question may demand one by its digest. Errors are `application/problem+json` with a
stable code whose page stands under `/rules/CODE`."""


def create_app(settings: Settings | None = None, log: Any | None = None) -> FastAPI:
    """The application over the database that the settings name; nothing is connected before the first request.

    Args:
        settings: None for those of the surroundings.
        log: a structlog logger that is told of every request, None for none.
    """
    chosen = settings or Settings()
    shared = Services(chosen, Database(chosen, is_named=False))

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        shared.database.close()

    app = FastAPI(
        title="policyd",
        version=__version__,
        description=DESCRIPTION,
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.state.services = shared
    problems.install(app)
    rendering.install(app)
    for module in ROUTES:
        app.include_router(module.routes)
    app.include_router(reach.pages)
    app.include_router(unused.pages)
    app.include_router(catalogue.pages)
    app.include_router(explanations.pages)
    app.include_router(evaluation.well_known)
    app.openapi = described(app)  # type: ignore[method-assign]  # the framework's way to shape the document
    app.add_middleware(Heads)
    app.add_middleware(Limits, services=shared)
    app.add_middleware(Watched, services=shared, log=log)
    return app


def serving() -> FastAPI:
    """What a worker process runs: logs go to stderr as JSON lines."""
    return create_app(log=logs.json_lines())
