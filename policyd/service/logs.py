"""Structured logs, one JSON line per request: route, status, time and actor; never a value of a request."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import suppress
from uuid import uuid4

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policyd.service.wiring import Services

REQUEST_ID = b"x-request-id"


def configure() -> None:
    """Write JSON lines to stderr."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )


class Watched:
    """Counts, times and logs every request; the route is named by its pattern, so no value gets into a log."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        """Watch `app`."""
        self._app, self._services = app, services
        self._log = structlog.get_logger("policyd")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics = self._services.metrics
        began = time.perf_counter()
        status = 500
        number = uuid4().hex[:16]

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message.setdefault("headers", []).append((REQUEST_ID, number.encode()))
            await send(message)

        metrics.active.inc()
        try:
            await self._app(scope, receive, sending)
        finally:
            metrics.active.dec()
            took = time.perf_counter() - began
            route = _route(scope)
            metrics.requests.labels(scope["method"], route, str(status)).inc()
            metrics.seconds.labels(route).observe(took)
            if route not in _QUIET:
                with suppress(BrokenPipeError, ValueError):
                    self._log.info(
                        "request",
                        request=number,
                        method=scope["method"],
                        route=route,
                        status=status,
                        ms=round(took * 1000, 2),
                    )


_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})


def _route(scope: Scope) -> str:
    """The pattern of the route, `other` where none matched."""
    return str(getattr(scope.get("route"), "path", "") or "other")
