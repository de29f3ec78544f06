"""The report on a stored deployment for an auditor.

Source: interface, `report`.
"""

from __future__ import annotations

from fastapi import Request, Response

from policyd import __version__
from policyd.service.access import Asker
from policyd.service.answers import answered, json_response
from policyd.service.routes.all_calls import proving, seconds_for
from policyd.service.routes.decisions import opened
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import moment_of
from policyd.service.wire_report import ReportAnswer, ReportRequest
from policyd.service.wiring import now
from policyd.usecases.report_deployment import material_of_snapshot, report_json

routes = router("/v1/reports", "audits")


@routes.post("", response_model=ReportAnswer, responses={**MISSING, **OTHER}, summary="Report on a stored deployment")
def report(request: Request, body: ReportRequest, asker: Asker) -> Response:
    """Everything that `policyd report` says of a snapshot, each part the answer of another question."""
    rules = body.rules()
    facts, info = opened(request, asker, body)
    moment = moment_of(body.at) or now()
    with proving(request):
        material = material_of_snapshot(facts, info, rules, (), moment)
        plain = report_json(material, moment, __version__, seconds_for(request, body.budget))
    return json_response({**plain, **answered(info, rules)}, info)
