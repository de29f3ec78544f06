"""Bounds on requests: how long, how deep, how many at a time, how slow.

Source: style 11; RFC 9110 (413, 422, 429).
"""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policyd.service.problems import Refusal, ServiceCode, ServiceError, of_error
from policyd.service.wiring import Services

IMPORTS = "/v1/imports"
"""Below this path requests may be as long as an import."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


class Limits:
    """Refuses requests that are too long, too many or too slow, before and while they are worked on."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        """Guard `app`."""
        self._app, self._services = app, services
        self._active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        settings = self._services.settings
        if self._active >= settings.max_requests:
            busy = ServiceError(
                ServiceCode.TOO_MANY,
                HTTPStatus.TOO_MANY_REQUESTS,
                f"more than {settings.max_requests} requests are worked on",
                "come again in a second",
            )
            await of_error(busy)(scope, receive, send)
            return
        self._active += 1
        try:
            await self._bounded(scope, receive, send)
        finally:
            self._active -= 1

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        settings = self._services.settings
        limit = settings.max_import_bytes if scope["path"].startswith(IMPORTS) else settings.max_body_bytes
        names = {name for name, _ in scope["headers"]}
        if b"content-length" in names and b"transfer-encoding" in names:
            await of_error(_two_lengths())(scope, receive, send)
            return
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
        if announced.isdigit() and int(announced) > limit:
            await of_error(_too_large(limit))(scope, receive, send)
            return
        started = False
        seen = 0

        async def counting() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise Refusal(_too_large(limit))
            return message

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(settings.request_timeout_s):
                await self._app(scope, counting, sending)
        except Refusal as refusal:
            if not started:
                await of_error(refusal.reason)(scope, receive, send)
        except TimeoutError:
            if not started:
                slow = ServiceError(
                    ServiceCode.TOO_SLOW,
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f"the request was given up after {settings.request_timeout_s:g} seconds",
                    "ask for less at a time",
                )
                await of_error(slow)(scope, receive, send)


def _two_lengths() -> ServiceError:
    """A proxy before us may have read the other length, and what follows is then another's: RFC 9112 6.3."""
    return ServiceError(
        ServiceCode.MALFORMED,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "a request has either `Content-Length` or `Transfer-Encoding`",
        headers={"Connection": "close"},
    )


def _too_large(limit: int) -> ServiceError:
    return ServiceError(
        ServiceCode.TOO_LARGE,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"the request is longer than {limit} bytes",
        "send it in parts",
    )


def depth_of(body: bytes) -> int:
    """How deep the objects and lists of a JSON text are nested; a guess for a text that is none.

    >>> depth_of(b'{"a": [1, "]["]}')
    2
    """
    depth = deepest = 0
    for token in _TOKEN.finditer(body):
        sign = token.group()
        if sign in (b"{", b"["):
            depth += 1
            deepest = max(deepest, depth)
        elif sign in (b"}", b"]"):
            depth -= 1
    return deepest


def check_depth(body: bytes, limit: int) -> None:
    """Refuse a JSON text that is nested too deeply.

    Raises:
        Refusal: 422.
    """
    if body.count(b"[") + body.count(b"{") > limit and depth_of(body) > limit:
        raise _malformed(f"the request is nested more than {limit} levels deep")


def _malformed(message: str) -> Refusal:
    return Refusal(ServiceError(ServiceCode.MALFORMED, HTTPStatus.UNPROCESSABLE_ENTITY, message))


class BoundedRequest(Request):
    """A request whose JSON body is only read if it is not nested too deeply."""

    async def body(self) -> bytes:
        """The whole body.

        Raises:
            Refusal: 422.
        """
        body = await super().body()
        services: Services = self.app.state.services
        check_depth(body, services.settings.max_json_depth)
        try:
            body.decode()
        except UnicodeDecodeError as error:
            raise _malformed(f"the request is not UTF-8 at byte {error.start}") from None
        return body
