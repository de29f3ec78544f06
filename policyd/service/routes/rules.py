"""The pages of all codes."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Response

from policyd.analysis.rules import RULES, page_of, rule_of
from policyd.service.access import Asker
from policyd.service.answers import json_response
from policyd.service.problems import ServiceCode, ServiceError
from policyd.service.routing import MISSING, router
from policyd.service.wire import RuleList, RulePage

routes = router("/v1/rules", "rules")


@routes.get("", response_model=RuleList, summary="All audit rules")
def list_all(asker: Asker) -> Response:
    """Every rule with its severity and confidence."""
    rows = [
        {"code": rule.code, "slug": rule.slug, "severity": rule.severity.value, "confidence": rule.confidence.value}
        for rule in RULES
    ]
    return json_response({"rules": rows})


@routes.get("/{code}", response_model=RulePage, responses=MISSING, summary="The page of a code")
def show(code: Annotated[str, Path(max_length=32, examples=["CARD007"])], asker: Asker) -> Response:
    """What a code says, why it matters, and what to write instead, as Markdown."""
    name = code.upper()
    text = page_of(name)
    if text is None:
        raise ServiceError(
            ServiceCode.NO_SUCH_PLACE, HTTPStatus.NOT_FOUND, "there is no page for this code", "`GET /v1/rules`"
        )
    rule = rule_of(name)
    return json_response({"code": name, "slug": rule.slug if rule else None, "markdown": text})
