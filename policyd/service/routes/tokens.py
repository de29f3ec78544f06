"""Tokens of the interface, and the log of writes; for administrators."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Request, Response

from policyd.findings import InputError
from policyd.service.access import AdminAsker
from policyd.service.answers import json_response
from policyd.service.paging import DEFAULT_LIMIT, Cursor, Limit, last_of, next_of
from policyd.service.problems import ServiceError
from policyd.service.routing import CONFLICT, MISSING, router
from policyd.service.wire import AuditLog, NewToken, TokenBody, TokenList, TokenRequest, moment_of
from policyd.service.wiring import now, services
from policyd.store.audits import audit_log
from policyd.store.codes import StoreCode
from policyd.store.tokens import TokenScope, create_token, list_tokens, revoke_token
from policyd.usecases.tokens import token_json

routes = router("/v1", "tokens")


@routes.get("/tokens", response_model=TokenList, summary="All tokens")
def list_all(request: Request, asker: AdminAsker) -> Response:
    """All tokens, revoked ones too; their texts are kept nowhere."""
    return json_response({"tokens": [token_json(token) for token in list_tokens(services(request).database)]})


@routes.post("/tokens", response_model=NewToken, status_code=201, responses=CONFLICT, summary="Make a token")
def create(request: Request, body: TokenRequest, asker: AdminAsker) -> Response:
    """Make a token; its text is in this answer and never again."""
    try:
        made = create_token(
            services(request).database,
            body.name,
            TokenScope(body.scope),
            at=now(),
            by=asker.actor,
            account=body.account,
            application=body.application,
            expires_at=moment_of(body.expires_at),
        )
    except InputError as error:
        if error.findings[0].code != StoreCode.CONTRADICTION.value:
            raise
        # what contradicts itself is malformed; a conflict is with what is stored
        raise ServiceError.from_error(error, HTTPStatus.UNPROCESSABLE_ENTITY) from None
    headers = {"Cache-Control": "no-store"}
    return json_response({**token_json(made.token), "token": made.secret}, None, headers, 201)


@routes.delete("/tokens/{token}", response_model=TokenBody, responses=MISSING, summary="Revoke a token")
def revoke(request: Request, token: Annotated[str, Path(min_length=1, max_length=600)], asker: AdminAsker) -> Response:
    """Revoke a token by its public id or its name; from then on it is refused."""
    return json_response(token_json(revoke_token(services(request).database, token, at=now(), by=asker.actor)))


@routes.get("/audit-log", response_model=AuditLog, summary="Who wrote what")
def log(request: Request, asker: AdminAsker, cursor: Cursor = "", limit: Limit = DEFAULT_LIMIT) -> Response:
    """Every write, oldest first: imports, tokens made and revoked, restores."""
    found = audit_log(services(request).database, after=last_of("audit", cursor), limit=limit)
    rows = [
        {
            "number": number,
            "at": entry.at,
            "actor": entry.actor,
            "action": entry.action,
            "subject": entry.subject,
            "account": entry.account or None,
            "application": entry.application or None,
            "detail": json.loads(entry.detail),
        }
        for number, entry in found
    ]
    last = found[-1][0] if found else 0
    return json_response({"entries": rows, "next": next_of("audit", last, len(found), limit)})
