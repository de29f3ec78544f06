"""The report on a deployment on the wire.

Source: interface, `report`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from policyd.service.wire import Answered, Moment, Place
from policyd.service.wire_all_calls import MAX_BUDGET_S

_SCHEMA = "As `docs/schemas/deployment-report.schema.json` describes it."
Part = Annotated[dict[str, Any], Field(description=_SCHEMA)]
Parts = Annotated[list[dict[str, Any]], Field(description=_SCHEMA)]


class ReportRequest(Place):
    """Which snapshot, as of when."""

    at: Moment = None
    budget: Annotated[float, Field(gt=0, le=MAX_BUDGET_S, description="Effort in seconds for each query of reach.")] = (
        2.0
    )


class ReportAnswer(Answered):
    """Findings, effective cards, reach, retries, sagas and chains of one deployment."""

    kind: Literal["policyd deployment report"]
    version: Literal[1]
    header: Part
    summary: Part
    deploys: Parts
    findings: Parts
    suppressed: Parts
    agents: Parts
    reach: Parts
    retry: Annotated[dict[str, Any] | None, Field(description=_SCHEMA)]
    chains: Parts
    not_analysed: list[str]
