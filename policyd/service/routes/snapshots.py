"""Snapshots: listed, shown, exported, with their agent types, wallets, cards and findings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from policyd.core.cards import ScopeCard
from policyd.core.edition import Rules
from policyd.core.grants.names import ascii_lower
from policyd.report import finding_json
from policyd.service.access import Asker, Caller, snapshots_for
from policyd.service.answers import json_response, snapshot_headers
from policyd.service.paging import DEFAULT_LIMIT, Cursor, Limit, last_of, next_of
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import (
    AgentCard,
    AgentList,
    CardList,
    DecisionLog,
    FindingList,
    Snapshot,
    SnapshotList,
    WalletList,
    rules_named,
)
from policyd.service.wiring import services
from policyd.store.audits import logged_decisions
from policyd.store.facts import WalletFact
from policyd.store.snapshots import Scope, SnapshotInfo, snapshots
from policyd.usecases.show_card import card_json
from policyd.usecases.show_stored import shown_stored, stored_agents_json
from policyd.usecases.snapshots import demand, export_lines, snapshot_json, used_json
from policyd.usecases.stored_deployment import StoredFacts

routes = router("/v1/snapshots", "snapshots")

Number = Annotated[int, Path(ge=1, le=10**18, description="What stands behind the `@`.", examples=[1])]
Demand = Annotated[
    str | None, Query(max_length=64, description="Demands that the snapshot has this digest; otherwise 412.")
]
EditionName = Annotated[str, Query(max_length=32, description="`next` or `snapshot`.")]
SwitchNames = Annotated[
    list[str] | None, Query(max_length=64, alias="switch", description="A rule set apart: `name=value`.")
]
Filter = Annotated[str, Query(max_length=4096)]
READ = {**MISSING, **OTHER}


def _named(request: Request, asker: Caller, number: int, digest: str | None) -> SnapshotInfo:
    info = snapshots_for(request, asker).resolve(f"@{number}")
    demand(info, digest)
    return info


def _facts(request: Request, asker: Caller, info: SnapshotInfo) -> StoredFacts:
    return services(request).decisions.facts(snapshots_for(request, asker), info)


def etag_of(info: SnapshotInfo) -> str:
    """Changes with the facts, their places, and with what the snapshot is to its environment."""
    latest = "latest" if info.is_latest else "past"
    return f'"{info.digest[:32]}-{info.places_digest[:16]}-{info.revision}-{latest}"'


def _is_known(request: Request, etag: str) -> bool:
    given = request.headers.get("if-none-match", "")
    return given.strip() == "*" or etag in (part.strip().removeprefix("W/") for part in given.split(","))


@routes.get("", response_model=SnapshotList, summary="List snapshots")
def list_all(
    request: Request,
    asker: Asker,
    cursor: Cursor = "",
    limit: Limit = DEFAULT_LIMIT,
    account: Filter = "",
    application: Filter = "",
    latest: Annotated[bool, Query(description="Only the latest of each environment.")] = False,
) -> Response:
    """Snapshots that the caller may see, oldest first; `next` goes on without a gap."""
    reach = asker.reach
    wanted = Scope(ascii_lower(account) or reach.account, application or reach.application)
    found: Sequence[SnapshotInfo] = ()
    if reach.admits(wanted.account, wanted.application):
        found = snapshots(
            services(request).database,
            after=last_of("snapshots", cursor),
            limit=limit,
            scope=wanted,
            only_latest=latest,
        )
    last = found[-1].number if found else 0
    body = {"snapshots": [snapshot_json(info) for info in found]}
    return json_response({**body, "next": next_of("snapshots", last, len(found), limit)})


@routes.get("/resolve", response_model=Snapshot, responses=MISSING, summary="The snapshot of a place")
def resolve(
    request: Request,
    asker: Asker,
    place: Annotated[str, Query(max_length=4096, examples=["@acme@example.com/shop/prod"])],
) -> Response:
    """The snapshot that `@12` or `@account/application/environment` names now."""
    info = snapshots_for(request, asker).resolve(place)
    return json_response(snapshot_json(info), info, {"ETag": etag_of(info)})


@routes.get(
    "/{number}",
    response_model=Snapshot,
    responses={**READ, 304: {"description": "The `ETag` given is still right."}},
    summary="One snapshot",
)
def show(request: Request, number: Number, asker: Asker, digest: Demand = None) -> Response:
    """A snapshot without its facts."""
    info = _named(request, asker, number, digest)
    headers = {"ETag": etag_of(info), "Cache-Control": "private, no-cache"}
    if _is_known(request, headers["ETag"]):
        return Response(status_code=304, headers={**snapshot_headers(info), **headers})
    return json_response(snapshot_json(info), info, headers)


@routes.get("/{number}/export", response_model=dict[str, Any], responses=READ, summary="Every stored fact")
def export(request: Request, number: Number, asker: Asker, digest: Demand = None) -> Response:
    """The document that an import reads again, with the same digest; markers stand where values were."""
    info = _named(request, asker, number, digest)
    headers = {"ETag": f'"{info.digest}-{info.places_digest}"', "Cache-Control": "private, no-cache"}
    if _is_known(request, headers["ETag"]):
        return Response(status_code=304, headers={**snapshot_headers(info), **headers})
    deployment = _facts(request, asker, info).deployment

    def pieces() -> Iterator[bytes]:
        for piece in export_lines(deployment):
            yield piece.encode()

    return StreamingResponse(pieces(), headers={**snapshot_headers(info), **headers}, media_type="application/json")


@routes.get("/{number}/agents", response_model=AgentList, responses=READ, summary="The agent types")
def agents(
    request: Request,
    number: Number,
    asker: Asker,
    edition: EditionName = "next",
    switches: SwitchNames = None,
    digest: Demand = None,
) -> Response:
    """The agent types with the origin of their initial cards."""
    rules = rules_named(edition, switches or ())
    info = _named(request, asker, number, digest)
    rows = stored_agents_json(_facts(request, asker, info), rules)
    return json_response({"agents": rows, **_where(info, rules)}, info)


@routes.get("/{number}/agents/card", response_model=AgentCard, responses=READ, summary="An effective card")
def agent_card(
    request: Request,
    number: Number,
    asker: Asker,
    agent: Annotated[str, Query(min_length=1, max_length=4096, examples=["Cart"])],
    component: Filter = "",
    edition: EditionName = "next",
    switches: SwitchNames = None,
    digest: Demand = None,
) -> Response:
    """The cards that decide for an agent type or an agent: an imported wallet, else the effective initial card."""
    rules = rules_named(edition, switches or ())
    info = _named(request, asker, number, digest)
    card = shown_stored(_facts(request, asker, info), agent, rules, component)
    return json_response({**card_json(card), **_where(info, rules)}, info)


def _where(info: SnapshotInfo, rules: Rules) -> dict[str, object]:
    return {"edition": rules.edition.value, "switches": dict(rules.overrides), **used_json(info)}


@routes.get("/{number}/wallets", response_model=WalletList, responses=READ, summary="The imported wallets")
def wallets(
    request: Request,
    number: Number,
    asker: Asker,
    cursor: Cursor = "",
    limit: Limit = DEFAULT_LIMIT,
    digest: Demand = None,
) -> Response:
    """Holders and the cards they hold."""
    info = _named(request, asker, number, digest)
    start = last_of("wallets", cursor)
    listed = _facts(request, asker, info).deployment.wallets[start : start + limit]
    rows = [_wallet_json(wallet) for wallet in listed]
    return json_response(
        {
            "wallets": rows,
            "next": next_of("wallets", start + len(rows), len(rows), limit),
            **used_json(info),
        },
        info,
    )


def _wallet_json(wallet: WalletFact) -> dict[str, object]:
    return {
        "holder": wallet.holder.text,
        "agentId": wallet.agent_id or None,
        "recordedAccount": wallet.recorded_account or None,
        "cards": [
            {"cardId": held.card, "by": held.by.value, "at": held.at.text if held.at else None} for held in wallet.cards
        ],
    }


@routes.get("/{number}/cards", response_model=CardList, responses=READ, summary="The cards with ids")
def cards(
    request: Request,
    number: Number,
    asker: Asker,
    cursor: Cursor = "",
    limit: Limit = DEFAULT_LIMIT,
    digest: Demand = None,
) -> Response:
    """The ids of all cards, and whether they are revoked."""
    info = _named(request, asker, number, digest)
    start = last_of("cards", cursor)
    facts = _facts(request, asker, info)
    rows = [
        {
            "cardId": fact.card.id,
            "isScope": isinstance(fact.card, ScopeCard),
            "isRevoked": fact.card.id in facts.revoked,
        }
        for fact in facts.deployment.cards[start : start + limit]
    ]
    return json_response(
        {"cards": rows, "next": next_of("cards", start + len(rows), len(rows), limit), **used_json(info)},
        info,
    )


@routes.get("/{number}/findings", response_model=FindingList, responses=READ, summary="What imports found")
def findings(request: Request, number: Number, asker: Asker, digest: Demand = None) -> Response:
    """The findings of the imports that made the snapshot, with their places."""
    info = _named(request, asker, number, digest)
    found = _facts(request, asker, info).deployment.findings
    return json_response({"findings": [finding_json(fact.finding) for fact in found], **used_json(info)}, info)


@routes.get("/{number}/decisions", response_model=DecisionLog, responses=READ, summary="The decision log")
def decision_log(
    request: Request, number: Number, asker: Asker, cursor: Cursor = "", limit: Limit = DEFAULT_LIMIT
) -> Response:
    """The decisions about the snapshot that somebody asked to be kept, oldest first."""
    info = _named(request, asker, number, None)
    after = last_of("decisions", cursor)
    found = logged_decisions(services(request).database, info.number, after=after, limit=limit)
    rows = [
        {
            "askedAt": entry.asked_at,
            "askedBy": entry.asked_by,
            "holder": entry.holder,
            "agentId": entry.agent_id or None,
            "question": entry.question,
            "at": entry.at or None,
            "rules": entry.rules,
            "admitted": entry.admitted,
            "bounded": entry.bounded,
            "replayStable": entry.replay_stable,
            "reasons": [
                {"facet": facet, "code": code, "text": text} for facet, code, text in json.loads(entry.reasons)
            ],
        }
        for _, entry in found
    ]
    last = found[-1][0] if found else 0
    return json_response({"decisions": rows, "next": next_of("decisions", last, len(found), limit)}, info)
