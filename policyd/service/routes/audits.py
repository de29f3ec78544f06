"""Audits: what is wrong or risky in a manifest that is sent, without storing anything."""

from __future__ import annotations

from fastapi import Request, Response

from policyd.manifest import load_texts
from policyd.report import report_json
from policyd.service.access import Asker
from policyd.service.answers import json_response
from policyd.service.routing import router
from policyd.service.wire import AuditAnswer, AuditRequest
from policyd.syntax.wallets import read_cards
from policyd.usecases.audit_manifest import audit_manifest

routes = router("/v1/audits", "audits")


@routes.post("", response_model=AuditAnswer, summary="Audit a manifest")
def audit(request: Request, body: AuditRequest, asker: Asker) -> Response:
    """All findings on a manifest, and what was not analysed; nothing is stored."""
    rules = body.rules()
    loaded = load_texts([(document.name, document.text) for document in body.documents], rules=rules)
    report = audit_manifest(
        loaded,
        environments=body.environments,
        presets=body.presets,
        rules=rules,
        deployer=None if body.deployer is None else read_cards(body.deployer, rules, "$.deployer"),
        account=body.account,
        components={a.name: body.component for a in loaded.application.agents} if body.component else None,
    )
    return json_response({**report_json(report), "edition": rules.edition.value, "switches": dict(rules.overrides)})
