"""Cards of a snapshot: parents, children, holders, and what would be lost with one of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request, Response

from policyd.service.access import Asker, Caller, snapshots_for
from policyd.service.answers import json_response
from policyd.service.routes.snapshots import READ, Demand, Number
from policyd.service.routing import router
from policyd.service.wire import CardAnswer, RevocationAnswer, moment_of
from policyd.service.wiring import services
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.revocation import revocation_json, revoking, view_json, viewed
from policyd.usecases.snapshots import demand, used_json

routes = router("/v1/snapshots/{number}/cards", "cards")

Card = Annotated[str, Path(max_length=64, examples=["7d0f0f0f-0000-4000-8000-00000000000b"])]


def _named(request: Request, asker: Caller, number: int, digest: str | None) -> SnapshotInfo:
    info = snapshots_for(request, asker).resolve(f"@{number}")
    demand(info, digest)
    return info


@routes.get("/{card}", response_model=CardAnswer, responses=READ, summary="A card with its family")
def show(request: Request, number: Number, card: Card, asker: Asker, digest: Demand = None) -> Response:
    """A card with its parents, children, descendants and holders."""
    info = _named(request, asker, number, digest)
    view = viewed(services(request).database, info, card)
    return json_response({**view_json(view), **used_json(info)}, info)


@routes.get("/{card}/revocation", response_model=RevocationAnswer, responses=READ, summary="Dry run of a revocation")
def revocation(
    request: Request,
    number: Number,
    card: Card,
    asker: Asker,
    at: Annotated[str, Query(max_length=64, description="The moment; empty leaves expiry aside.")] = "",
    digest: Demand = None,
) -> Response:
    """Per holder, which floors and ceilings would vanish with the card; nothing is changed."""
    info = _named(request, asker, number, digest)
    found = revoking(services(request).database, info, card, moment_of(at))
    return json_response({**revocation_json(found), **used_json(info)}, info)
