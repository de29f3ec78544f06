"""Imports: manifests, and the platform's own JSON; atomic, and the same bytes give the same snapshot."""

from __future__ import annotations

from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, BinaryIO, cast

from fastapi import Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from policyd.core.cards import Timestamp
from policyd.findings import PolicydError
from policyd.manifest import load_texts
from policyd.report import finding_json
from policyd.service.access import Caller, WriteAsker
from policyd.service.answers import json_response
from policyd.service.problems import ServiceCode, ServiceError
from policyd.service.routes.snapshots import EditionName, SwitchNames
from policyd.service.routing import CONFLICT, router
from policyd.service.wire import ImportAnswer, ManifestImport, rules_named
from policyd.service.wiring import now, services
from policyd.usecases.deployments import Selection
from policyd.usecases.import_deployment import Outcome, Writer, import_manifest, import_platform
from policyd.usecases.snapshots import snapshot_json

routes = router("/v1/imports", "imports")

SPOOL_BYTES = 4 * 1024 * 1024
"""Longer documents wait in a file rather than in memory."""

CREATED: dict[int | str, dict[str, Any]] = {
    201: {"description": "The facts were not known before.", "model": ImportAnswer}
}
Name = Annotated[str, Query(max_length=4096)]


def _answer(request: Request, outcome: Outcome) -> Response:
    stored = outcome.stored
    services(request).metrics.imports.labels("new" if stored.is_new else "known").inc()
    body = {
        **snapshot_json(stored.snapshot),
        "isNew": stored.is_new,
        "isRevision": stored.is_revision,
        "findings": [finding_json(finding) for finding in outcome.findings],
        "notAnalysed": list(outcome.not_analysed),
        "notes": list(outcome.notes),
    }
    status = HTTPStatus.CREATED if stored.is_new else HTTPStatus.OK
    where = {"Location": f"/v1/snapshots/{stored.snapshot.number}"}
    return json_response(body, stored.snapshot, where, status)


def _writer(asker: Caller, at: Timestamp) -> Writer:
    return Writer(asker.actor, at, asker.needs_reach)


@routes.post("/manifest", response_model=ImportAnswer, responses={**CREATED, **CONFLICT}, summary="Import a manifest")
def manifest(request: Request, body: ManifestImport, asker: WriteAsker) -> Response:
    """Make one environment of a manifest the latest snapshot; values are dropped before anything is stored."""
    rules = body.rules()
    loaded = load_texts([(document.name, document.text) for document in body.documents], rules=rules)
    presets = None if body.presets is None else tuple(body.presets)
    selection = Selection(body.environment, presets, body.account, body.component)
    try:
        outcome = import_manifest(
            services(request).database, loaded, selection, rules, _writer(asker, now()), application=body.application
        )
    except PolicydError:
        services(request).metrics.imports.labels("refused").inc()
        raise
    return _answer(request, outcome)


@routes.post(
    "/platform",
    response_model=ImportAnswer,
    responses={**CREATED, **CONFLICT},
    summary="Import the platform's own JSON",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "description": "Cards, wallets, permission shares, retry policies, tools, or an export.",
                        "type": ["object", "array"],
                    },
                }
            },
        }
    },
)
async def platform(
    request: Request,
    asker: WriteAsker,
    account: Name = "",
    application: Name = "",
    environment: Name = "",
    name: Annotated[str, Query(max_length=255, description="Of the source, for places.")] = "request",
    edition: EditionName = "next",
    switches: SwitchNames = None,
) -> Response:
    """Add cards, wallets, permission shares, retry policies, tools or revocations, or bring back an export.

    Account, application and environment go together; an export and a wallet of an agent name their own.
    """
    rules = rules_named(edition, switches or ())
    given = [bool(account), bool(application), bool(environment)]
    if any(given) and not all(given):
        raise ServiceError(
            ServiceCode.MALFORMED,
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "`account`, `application` and `environment` go together",
        )
    where = (account, application, environment) if all(given) else None
    with SpooledTemporaryFile(max_size=SPOOL_BYTES) as file:
        async for chunk in request.stream():
            file.write(chunk)
        file.seek(0)

        def run() -> Outcome:
            stream = cast("BinaryIO", file)
            return import_platform(services(request).database, stream, name, where, rules, _writer(asker, now()))

        try:
            outcome = await run_in_threadpool(run)
        except PolicydError:
            services(request).metrics.imports.labels("refused").inc()
            raise
    return _answer(request, outcome)
