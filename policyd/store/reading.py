"""The facts of one snapshot, read back from its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from policyd.core.application import GrantOrigin
from policyd.core.cards import Bound, Bounds, CardId
from policyd.findings import Span
from policyd.store import codec
from policyd.store.facts import (
    AgentType,
    CardFact,
    ChainFact,
    Component,
    Deployment,
    FindingFact,
    InitialCard,
    Installed,
    Level,
    NamedValue,
    PermissionShare,
    Places,
    RetryPolicyFact,
    ToolFact,
    ValueKind,
    WalletFact,
)
from policyd.store.holders import read_holder
from policyd.store.tables import (
    AccountRow,
    AgentTypeRow,
    ApplicationRow,
    CardParentRow,
    CardRow,
    ChainLayerRow,
    ChainRow,
    ComponentRevisionRow,
    ComponentRow,
    EnvironmentRow,
    FindingRow,
    GrantRow,
    InitialCardRow,
    MiddlewareRow,
    NamedValueRow,
    PermissionShareRow,
    RetryPolicyRevisionRow,
    RetryPolicyRow,
    RevocationRow,
    SnapshotRow,
    ToolRow,
    WalletCardRow,
    WalletRow,
)

Loaded = dict[int, tuple[Bounds, Places]]
"""Card rows to their grants."""

_PLACE = ("place_source", "place_line", "place_column", "place_start", "place_end", "place_path")


def load(connection: Connection, snapshot: int) -> Deployment | None:
    """All facts of the snapshot in their one order, None if there is no such snapshot."""
    head = (
        connection.execute(
            select(
                SnapshotRow.__table__,
                EnvironmentRow.name.label("environment"),
                ApplicationRow.name.label("application"),
                AccountRow.email.label("account"),
            )
            .join(EnvironmentRow, EnvironmentRow.id == SnapshotRow.environment_id)
            .join(ApplicationRow, ApplicationRow.id == EnvironmentRow.application_id)
            .join(AccountRow, AccountRow.id == ApplicationRow.account_id)
            .where(SnapshotRow.id == snapshot)
        )
        .mappings()
        .first()
    )
    if head is None:
        return None
    return _SnapshotReader(connection, snapshot, head).deployment()


class _SnapshotReader:
    def __init__(self, connection: Connection, snapshot: int, head: Mapping[Any, Any]) -> None:
        self._connection = connection
        self._snapshot = snapshot
        self._head = head
        self._rules = codec.read_rules(head)
        self._origins: dict[int, list[GrantOrigin]] = {}

    def deployment(self) -> Deployment:
        cards = self._rows(CardRow)
        kinds = {row["id"]: row["kind"] for row in cards}
        grants = self._grants({row["id"]: row["has_places"] for row in cards}, kinds)
        head = self._head
        return Deployment(
            head["account"],
            head["application"],
            head["environment"],
            self._rules,
            head["manifest_version"],
            self._components(),
            self._agent_types(grants),
            self._cards(cards, grants),
            tuple(CardId(row["card_uuid"]) for row in self._rows(RevocationRow, RevocationRow.card_uuid)),
            self._wallets(),
            self._shares(grants),
            self._retry_policies(),
            self._tools(ToolRow),
            self._tools(MiddlewareRow),
            self._chains(),
            self._values(),
            self._findings(),
        )

    def _rows(self, table: Any, *order: Any) -> list[Mapping[Any, Any]]:
        statement = select(table.__table__).where(table.snapshot_id == self._snapshot)
        return list(self._connection.execute(statement.order_by(*order)).mappings())

    def _grants(self, has_places: Mapping[int, bool], kinds: Mapping[int, str]) -> Loaded:
        g = GrantRow
        columns = [g.card_id, g.part, g.is_positive, g.text, g.origin, *(getattr(g, name) for name in _PLACE)]
        statement = (
            select(*columns)
            .where(g.snapshot_id == self._snapshot)
            .order_by(g.card_id, g.part, g.is_positive, g.position)
            .execution_options(yield_per=2_000)
        )
        reader = codec.GrantReader(self._rules)
        grants: dict[int, dict[Bound, list[Any]]] = {}
        for card, part, positive, text, origin, *place in self._connection.execute(statement):
            bound = codec.bound_of(part, positive)
            grant = reader.grant(text, with_slots=codec.may_have_slots(kinds[card]))
            span = Span(*place) if place[0] is not None else None
            if bound is Bound.LOWER_POSITIVE and kinds[card] == "initial":
                self._origins.setdefault(card, []).append(codec.read_origin(origin))
            grants.setdefault(card, {}).setdefault(bound, []).append((grant, span))
        loaded: Loaded = {}
        for card, known in has_places.items():
            lists = [grants.get(card, {}).get(bound, []) for bound in Bound]
            bounds = Bounds(*(tuple(grant for grant, _ in listed) for listed in lists))
            places = tuple(tuple(span for _, span in listed) for listed in lists) if known else ()
            loaded[card] = (bounds, places)
        return loaded

    def _components(self) -> tuple[Component, ...]:
        statement = (
            select(ComponentRevisionRow.__table__, ComponentRow.name)
            .join(ComponentRow, ComponentRow.id == ComponentRevisionRow.component_id)
            .where(ComponentRevisionRow.snapshot_id == self._snapshot)
        )
        rows = sorted(self._connection.execute(statement).mappings(), key=lambda row: row["name"])
        return tuple(Component(row["name"], row["platform_id"], row["revision"], codec.read_place(row)) for row in rows)

    def _agent_types(self, grants: Loaded) -> tuple[AgentType, ...]:
        a, i = AgentTypeRow, InitialCardRow
        cards = {row["id"]: row for row in self._rows(CardRow) if row["kind"] == "initial"}
        statement = (
            select(a.__table__, ComponentRow.name.label("component"), i.card_id, i.is_default, i.layer)
            .outerjoin(ComponentRevisionRow, ComponentRevisionRow.id == a.component_revision_id)
            .outerjoin(ComponentRow, ComponentRow.id == ComponentRevisionRow.component_id)
            .outerjoin(i, i.agent_type_id == a.id)
            .where(a.snapshot_id == self._snapshot)
        )
        read = []
        for row in self._connection.execute(statement).mappings():
            card = None
            if row["card_id"] is not None:
                bounds, places = grants[row["card_id"]]
                origins = self._origins.get(row["card_id"], [])
                card = InitialCard(
                    bounds,
                    places,
                    row["is_default"],
                    codec.read_place(cards[row["card_id"]]),
                    row["layer"],
                    tuple(origins) if set(origins) - {GrantOrigin.WRITTEN} else (),
                )
            read.append(
                AgentType(
                    row["name"],
                    row["component"] or "",
                    card,
                    codec.read_place(row),
                    row["is_declared"],
                    row["component_is_assumed"],
                )
            )
        return tuple(sorted(read, key=lambda agent: (agent.component, agent.name)))

    def _cards(self, cards: list[Mapping[Any, Any]], grants: Loaded) -> tuple[CardFact, ...]:
        parents: dict[int, list[str]] = {}
        statement = (
            select(CardParentRow.card_id, CardParentRow.parent_uuid)
            .join(CardRow, CardRow.id == CardParentRow.card_id)
            .where(CardRow.snapshot_id == self._snapshot)
            .order_by(CardParentRow.card_id, CardParentRow.position)
        )
        for card, parent in self._connection.execute(statement):
            parents.setdefault(card, []).append(parent)
        read = [
            codec.read_card(row, *grants[row["id"]], parents.get(row["id"], ()), codec.read_place(row))
            for row in cards
            if row["card_uuid"] is not None
        ]
        return tuple(sorted(read, key=lambda fact: fact.card.id))

    def _wallets(self) -> tuple[WalletFact, ...]:
        statement = (
            select(WalletCardRow.__table__, CardRow.card_uuid)
            .join(CardRow, CardRow.id == WalletCardRow.card_id)
            .where(WalletCardRow.snapshot_id == self._snapshot)
        )
        held: dict[int, list[Installed]] = {}
        for row in self._connection.execute(statement).mappings():
            held.setdefault(row["wallet_id"], []).append(codec.read_installed(row))
        read = []
        for wallet in self._rows(WalletRow):
            holder = read_holder(wallet["holder"], self._rules)
            assert holder is not None  # only holders are written
            cards = tuple(sorted(held.get(wallet["id"], ()), key=lambda installed: installed.card))
            read.append(
                WalletFact(holder, wallet["agent_id"], wallet["recorded_account"], cards, codec.read_place(wallet))
            )
        return tuple(sorted(read, key=lambda fact: (fact.holder.text, fact.agent_id)))

    def _shares(self, grants: Loaded) -> tuple[PermissionShare, ...]:
        read = []
        for row in self._rows(PermissionShareRow):
            bounds, places = grants[row["card_id"]]
            read.append(
                PermissionShare(
                    row["share_uuid"],
                    row["revision"],
                    row["owner_account_uuid"],
                    row["target_account_uuid"],
                    row["name"],
                    bounds,
                    row["current_card_uuid"],
                    places,
                    codec.read_place(row),
                )
            )
        return tuple(sorted(read, key=lambda share: share.id))

    def _retry_policies(self) -> tuple[RetryPolicyFact, ...]:
        statement = (
            select(RetryPolicyRevisionRow.__table__, RetryPolicyRow.name)
            .join(RetryPolicyRow, RetryPolicyRow.id == RetryPolicyRevisionRow.retry_policy_id)
            .where(RetryPolicyRevisionRow.snapshot_id == self._snapshot)
        )
        read = [codec.read_retry(row) for row in self._connection.execute(statement).mappings()]
        return tuple(sorted(read, key=lambda policy: (policy.name, policy.origin.value)))

    def _tools(self, table: type[ToolRow] | type[MiddlewareRow]) -> tuple[ToolFact, ...]:
        read = [codec.read_tool(row) for row in self._rows(table)]
        return tuple(sorted(read, key=lambda tool: (tool.name, tool.origin.value)))

    def _chains(self) -> tuple[ChainFact, ...]:
        layers: dict[int, list[Any]] = {}
        statement = (
            select(ChainLayerRow.__table__)
            .join(ChainRow, ChainRow.id == ChainLayerRow.chain_id)
            .where(ChainRow.snapshot_id == self._snapshot)
            .order_by(ChainLayerRow.chain_id, ChainLayerRow.position)
        )
        for row in self._connection.execute(statement).mappings():
            layers.setdefault(row["chain_id"], []).append(codec.read_layer(row))
        read = [
            ChainFact(
                Level(row["level"]),
                row["subject"],
                row["tool"],
                row["mode"],
                tuple(layers.get(row["id"], ())),
                codec.read_place(row),
            )
            for row in self._rows(ChainRow)
        ]
        return tuple(sorted(read, key=lambda chain: (chain.level.value, chain.subject, chain.tool)))

    def _values(self) -> tuple[NamedValue, ...]:
        read = [
            NamedValue(
                ValueKind(row["kind"]),
                Level(row["level"]),
                row["subject"],
                tuple(json.loads(row["path"])),
                row["is_known"],
                codec.read_place(row),
            )
            for row in self._rows(NamedValueRow)
        ]
        return tuple(sorted(read, key=lambda v: (v.kind.value, v.level.value, v.subject, *v.path)))

    def _findings(self) -> tuple[FindingFact, ...]:
        return tuple(codec.read_finding(row) for row in self._rows(FindingRow, FindingRow.position))
