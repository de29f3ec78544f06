"""Who asks: bearer tokens, their scopes, and the loopback exception.

A tenant's token narrows every question to its own account or application; what lies outside does not exist.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from policyd.service.problems import ServiceCode, ServiceError
from policyd.service.wiring import now, services
from policyd.store.snapshots import EVERYTHING, Scope
from policyd.store.tokens import Token, TokenScope, verify_token
from policyd.usecases.snapshots import StoredSnapshots

COOKIE = "policyd_token"
"""Carries the token of a browser; read by pages only, never by the interface under `/v1`."""

LOCAL = "local"
BEARER = HTTPBearer(auto_error=False, description="A token that `policyd token create` made.")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Attributes:
        actor: the public id of a token, or `local`.
        scope: what the token is good for.
        reach: whose snapshots exist for the caller.
    """

    actor: str
    scope: TokenScope
    reach: Scope

    def needs(self, wanted: TokenScope) -> None:
        """Refuse a caller whose token is not good enough.

        Raises:
            ServiceError: 403.
        """
        if not self.scope.includes(wanted):
            raise ServiceError(
                ServiceCode.NO_ACCESS,
                HTTPStatus.FORBIDDEN,
                f"this needs a token of scope `{wanted.value}`",
                f"the one given has scope `{self.scope.value}`",
            )

    def needs_reach(self, account: str, application: str) -> None:
        """Refuse a write outside the caller's own applications.

        Raises:
            ServiceError: 403.
        """
        if not self.reach.admits(account, application):
            raise ServiceError(
                ServiceCode.NO_ACCESS, HTTPStatus.FORBIDDEN, "the token is for another account or application"
            )


LOCAL_CALLER = Caller(LOCAL, TokenScope.ADMIN, EVERYTHING)


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def refuse_foreign_pages(request: Request) -> None:
    """Without tokens only this machine may ask: refuse foreign host names and pages of other sites.

    A page of another site, open in a browser on this machine, could otherwise ask in its user's name.

    Raises:
        ServiceError: 403.
    """
    host = request.headers.get("host", "")
    site = request.headers.get("sec-fetch-site", "none")
    navigating = request.method == "GET" and request.headers.get("sec-fetch-mode", "navigate") == "navigate"
    if not is_loopback(_name(host)) or not is_own_form(request) or (site == "cross-site" and not navigating):
        raise ServiceError(
            ServiceCode.FOREIGN_PAGE,
            HTTPStatus.FORBIDDEN,
            "without tokens only pages and programs of this machine may ask",
            "ask by `localhost` or `127.0.0.1`, or serve with tokens",
        )


def is_own_form(request: Request) -> bool:
    """Whether a request comes from a page of this service, or from no page at all."""
    origin = request.headers.get("origin")
    if origin == "null":
        # a form of a page without referrer; that it is ours stands in the header that no page can set
        return request.headers.get("sec-fetch-site", "none") == "same-origin"
    return origin is None or origin.partition("://")[2] == request.headers.get("host", "")


def _name(host: str) -> str:
    return host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]


async def _known(request: Request, text: str) -> Caller:
    token = await run_in_threadpool(verify_token, services(request).database, text, at=now())
    if token is None:
        raise ServiceError(
            ServiceCode.NOT_AUTHENTICATED,
            HTTPStatus.UNAUTHORIZED,
            "the token is not good",
            "it is unknown, expired or revoked; `policyd token create` makes one",
            {"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )
    return caller_of(token)


def caller_of(token: Token) -> Caller:
    """The bearer of a good token."""
    return Caller(token.public_id, token.scope, token.reach)


async def caller(
    request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)] = None
) -> Caller:
    """Who asks the interface.

    Raises:
        ServiceError: 401 without a good token where one is needed.
    """
    if given is not None:
        return await _known(request, given.credentials)
    if services(request).settings.require_tokens or request.headers.get("authorization"):
        raise ServiceError(
            ServiceCode.NOT_AUTHENTICATED,
            HTTPStatus.UNAUTHORIZED,
            "a token is needed",
            "send `Authorization: Bearer …`; `policyd token create` makes one",
            {"WWW-Authenticate": "Bearer"},
        )
    refuse_foreign_pages(request)
    return LOCAL_CALLER


async def visitor(request: Request) -> Caller | None:
    """Who looks at a page: by the cookie of the sign-in page; None for nobody known.

    Raises:
        ServiceError: 403 for a foreign page where no tokens are needed.
    """
    text = request.cookies.get(COOKIE)
    if text:
        try:
            return await _known(request, text)
        except ServiceError:
            pass  # an old cookie is no cookie
    if services(request).settings.require_tokens:
        return None
    refuse_foreign_pages(request)
    return LOCAL_CALLER


Asker = Annotated[Caller, Depends(caller)]
"""Whoever asks; every good token may read."""


async def _writer(asker: Asker) -> Caller:
    asker.needs(TokenScope.WRITE)
    return asker


async def _admin(asker: Asker) -> Caller:
    asker.needs(TokenScope.ADMIN)
    return asker


WriteAsker = Annotated[Caller, Depends(_writer)]
AdminAsker = Annotated[Caller, Depends(_admin)]


def snapshots_for(request: Request, asker: Caller) -> StoredSnapshots:
    """The snapshots that exist for the caller."""
    shared = services(request)
    return StoredSnapshots(shared.database, asker.reach, shared.known)
