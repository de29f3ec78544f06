"""Structured logs, one JSON line per request: route, status, time and actor; never a value of a request."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import suppress
from typing import Any, TextIO
from uuid import uuid4

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policyd.service.problems import of_defect
from policyd.service.wiring import Services

REQUEST_ID = b"x-request-id"
MAX_REQUEST_ID = 128
"""So much of an id that a client gives its request is sent back."""
_ID_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/+=@")


def json_lines(stream: TextIO = sys.stderr) -> Any:
    """A logger that writes JSON lines to `stream`."""
    return structlog.wrap_logger(
        structlog.WriteLogger(stream),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )


class Watched:
    """Counts, times and logs every request; the route is named by its pattern, so no value gets into a log."""

    def __init__(self, app: ASGIApp, services: Services, log: Any | None) -> None:
        """Watch `app`, and tell `log` (a structlog logger), if there is one, of every request."""
        self._app, self._services, self._log = app, services, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics = self._services.metrics
        began = time.perf_counter()
        status = 500
        started = False
        number = uuid4().hex[:16]
        given = _given_id(scope)

        async def sending(message: Message) -> None:
            nonlocal started, status
            if message["type"] == "http.response.start":
                started, status = True, message["status"]
                message.setdefault("headers", []).append((REQUEST_ID, given or number.encode()))
            await send(message)

        metrics.active.inc()
        try:
            await self._app(scope, receive, sending)
        except Exception as defect:
            # the text of an exception may hold what was sent, so only its kind and its place are told
            if self._log is not None:
                with suppress(BrokenPipeError, ValueError):
                    self._log.error("defect", request=number, kind=type(defect).__name__, place=_place(defect))
            if not started:
                await of_defect(defect)(scope, receive, sending)
        finally:
            metrics.active.dec()
            took = time.perf_counter() - began
            route = _route(scope)
            metrics.requests.labels(scope["method"], route, str(status)).inc()
            metrics.seconds.labels(route).observe(took)
            if self._log is not None and route not in _QUIET:
                with suppress(BrokenPipeError, ValueError):
                    self._log.info(
                        "request",
                        request=number,
                        method=scope["method"],
                        route=route,
                        status=status,
                        ms=round(took * 1000, 2),
                    )


def _given_id(scope: Scope) -> bytes:
    """The id that the client gave its request, as it may be sent back; empty where it gave none."""
    given = next((value for name, value in scope["headers"] if name == REQUEST_ID), b"")
    return bytes(byte for byte in given[:MAX_REQUEST_ID] if byte in _ID_BYTES)


def _place(defect: Exception) -> str:
    """The line of code that raised."""
    trace = defect.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    code = trace.tb_frame.f_code
    return f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}"


_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})


def _route(scope: Scope) -> str:
    """The pattern of the route, `other` where none matched."""
    return str(getattr(scope.get("route"), "path", "") or "other")
