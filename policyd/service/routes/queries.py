"""Complete lists: who can do this, and what can a holder do."""

from __future__ import annotations

from fastapi import Request, Response

from policyd.service.access import Asker
from policyd.service.answers import answered, json_response
from policyd.service.routes.decisions import opened
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import WhatCanAnswer, WhatCanRequest, WhoCanAnswer, WhoCanRequest, moment_of
from policyd.service.wiring import services
from policyd.usecases.who_can import what, what_json, who, who_json

routes = router("/v1", "queries")


@routes.post("/who-can", response_model=WhoCanAnswer, responses={**MISSING, **OTHER}, summary="Who can do this")
def who_can(request: Request, body: WhoCanRequest, asker: Asker) -> Response:
    """Every holder that may do this, and by which grants; `complete` says whether nobody else can."""
    rules = body.rules()
    facts, info = opened(request, asker, body)
    answer = who(services(request).database, facts, info, body.target, rules, moment_of(body.at))
    return json_response({**who_json(answer), **answered(info, rules)}, info)


@routes.post("/what-can", response_model=WhatCanAnswer, responses={**MISSING, **OTHER}, summary="What a holder can do")
def what_can(request: Request, body: WhatCanRequest, asker: Asker) -> Response:
    """Everything that a holder may do, class by class, with the ceilings that limit it."""
    rules = body.rules()
    facts, info = opened(request, asker, body)
    answer = what(
        services(request).database, facts, info, body.holder, rules, classes=body.classes, at=moment_of(body.at)
    )
    return json_response({**what_json(answer), **answered(info, rules)}, info)
