"""The rows of one snapshot, written and removed as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase

from policyd.core.application import GrantOrigin
from policyd.core.cards import Bound, Bounds, CardId, ScopeCard
from policyd.findings import Span
from policyd.store import codec
from policyd.store.codec import NOWHERE, Row
from policyd.store.codes import StoreCode
from policyd.store.facts import CardFact, Deployment, Places, place_of
from policyd.store.search_keys import Home
from policyd.store.tables import (
    AgentTypeRow,
    CardCeilingRow,
    CardClosureRow,
    CardParentRow,
    CardRow,
    ChainLayerRow,
    ChainRow,
    ComponentRevisionRow,
    ComponentRow,
    FindingRow,
    GrantRow,
    InitialCardRow,
    MiddlewareRow,
    NamedValueRow,
    PermissionShareRow,
    RetryPolicyRevisionRow,
    RetryPolicyRow,
    RevocationRow,
    ToolRow,
    WalletCardRow,
    WalletRow,
)

BATCH = 500
"""Rows per statement: large enough to be fast, small enough to stay in little memory."""

MAX_ANCESTRIES = 2_000_000
"""Pairs of a card and one of its ancestors in one snapshot; chains of thousands of derivations stay below it."""

Progress = Callable[[int], None]
"""Told how many grants were written since the last call."""

_Item = TypeVar("_Item")


def batches(items: Iterable[_Item], size: int = BATCH) -> Iterator[list[_Item]]:
    """The items in lists of at most `size`."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def insert_all(connection: Connection, table: type[DeclarativeBase], rows: Iterable[Row]) -> None:
    """Write rows whose numbers nobody needs."""
    for batch in batches(rows):
        connection.execute(insert(table), batch)


def copy_all(connection: Connection, table: type[DeclarativeBase], rows: Iterable[Row]) -> None:
    """Write very many rows whose numbers nobody needs: by COPY where the engine has it."""
    if connection.dialect.name == "sqlite":
        insert_all(connection, table, rows)
        return
    names = [column.name for column in table.__table__.columns if not column.primary_key]
    statement = f"COPY {table.__tablename__} ({', '.join(names)}) FROM STDIN"
    driver: Any = connection.connection.driver_connection
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row([row[name] for name in names])
    except driver.Error as why:
        raise DBAPIError(statement, None, why) from why


def insert_numbered(connection: Connection, table: Any, rows: Iterable[Row]) -> list[int]:
    """Write rows and return their numbers in the same order."""
    numbers: list[int] = []
    for batch in batches(rows):
        statement = insert(table).returning(table.id, sort_by_parameter_order=True)
        numbers += connection.execute(statement, batch).scalars().all()
    return numbers


def insert_missing(connection: Connection, table: Any, rows: Sequence[Row]) -> None:
    """Write those rows that break no unique constraint; the others are there already."""
    make = sqlite_insert if connection.dialect.name == "sqlite" else postgresql_insert
    for batch in batches(rows):
        connection.execute(make(table).on_conflict_do_nothing(), batch)


class SnapshotWriter:
    """Writes all rows below one snapshot row."""

    def __init__(
        self, connection: Connection, snapshot: int, environment: int, deployment: Deployment, progress: Progress
    ) -> None:
        self._connection = connection
        self._snapshot = snapshot
        self._environment = environment
        self._deployment = deployment
        self._home = Home(deployment.account, deployment.application, deployment.environment)
        self._progress = progress

    def write(self) -> None:
        """Write everything.

        Raises:
            InputError: STORE016 if the cards have too many ancestors.
        """
        self._agents(self._components())
        cards = self._cards()
        self._wallets(cards)
        self._shares()
        self._retry_policies()
        self._tools_and_values()
        self._findings()

    def _named(self, table: Any, names: Sequence[str]) -> dict[str, int]:
        """The numbers of named things that live across snapshots, made where they are new."""
        insert_missing(self._connection, table, [{"environment_id": self._environment, "name": name} for name in names])
        found = self._connection.execute(select(table.name, table.id).where(table.environment_id == self._environment))
        return {row.name: row.id for row in found}

    def _components(self) -> dict[str, int]:
        facts = self._deployment.components
        numbers = self._named(ComponentRow, [c.name for c in facts])
        revisions = insert_numbered(
            self._connection,
            ComponentRevisionRow,
            (
                {
                    "snapshot_id": self._snapshot,
                    "component_id": numbers[c.name],
                    "platform_id": c.platform_id,
                    "revision": c.revision,
                    **codec.place_row(c.place),
                }
                for c in facts
            ),
        )
        return {c.name: number for c, number in zip(facts, revisions, strict=True)}

    def _agents(self, components: Mapping[str, int]) -> None:
        for facts in batches(self._deployment.agent_types):
            agents = insert_numbered(
                self._connection,
                AgentTypeRow,
                (
                    {
                        "snapshot_id": self._snapshot,
                        "component_revision_id": components.get(a.component),
                        "name": a.name,
                        "is_declared": a.is_declared,
                        "component_is_assumed": a.component_is_assumed,
                        **codec.place_row(a.place),
                    }
                    for a in facts
                ),
            )
            carded = [(a.card, number) for a, number in zip(facts, agents, strict=True) if a.card is not None]
            cards = insert_numbered(
                self._connection,
                CardRow,
                (codec.bounds_row(self._snapshot, "initial", card.places, card.place) for card, _ in carded),
            )
            insert_all(
                self._connection,
                InitialCardRow,
                (
                    {
                        "agent_type_id": agent,
                        "snapshot_id": self._snapshot,
                        "card_id": number,
                        "is_default": card.is_default,
                        "layer": card.layer,
                    }
                    for (card, agent), number in zip(carded, cards, strict=True)
                ),
            )
            self._grants([(n, c.bounds, c.places, c.origins) for (c, _), n in zip(carded, cards, strict=True)])

    def _cards(self) -> dict[CardId, int]:
        parents = {fact.card.id: _parents(fact) for fact in self._deployment.cards}
        above = ancestries(parents)
        revoked = set(self._deployment.revoked)
        gone = {card for card, ancestors in above.items() if card in revoked or not revoked.isdisjoint(ancestors)}
        numbers: dict[CardId, int] = {}
        for facts in batches(self._deployment.cards):
            rows = (codec.card_row(self._snapshot, f, is_revoked=f.card.id in gone) for f in facts)
            written = insert_numbered(self._connection, CardRow, rows)
            numbers |= {fact.card.id: number for fact, number in zip(facts, written, strict=True)}
            self._grants([(numbers[f.card.id], f.card.bounds, f.places, ()) for f in facts])
        insert_all(
            self._connection,
            CardParentRow,
            (
                {"card_id": numbers[card], "position": position, "parent_uuid": parent}
                for card, listed in parents.items()
                for position, parent in enumerate(listed)
            ),
        )
        insert_all(
            self._connection,
            CardClosureRow,
            (
                {"snapshot_id": self._snapshot, "ancestor_uuid": ancestor, "card_id": numbers[card]}
                for card, ancestors in above.items()
                for ancestor in sorted(ancestors)
            ),
        )
        insert_all(
            self._connection,
            RevocationRow,
            ({"snapshot_id": self._snapshot, "card_uuid": card} for card in self._deployment.revoked),
        )
        return numbers

    def _grants(self, cards: Sequence[tuple[int, Bounds, Places, Sequence[GrantOrigin]]]) -> None:
        copy_all(
            self._connection,
            GrantRow,
            (
                {
                    **codec.grant_row(
                        self._snapshot,
                        number,
                        bound,
                        position,
                        grant,
                        self._home,
                        codec.origin_word(origins, bound, position),
                    ),
                    **(codec.place_row(place_of(places, bound, position)) if places else NOWHERE),
                }
                for number, bounds, places, origins in cards
                for bound, position, grant in bounds.each()
            ),
        )
        ceilings: list[Row] = []
        for number, bounds, _, _ in cards:
            recipients = dict.fromkeys(grant.recipient.text for grant in bounds.upper_positive)
            ceilings += [
                {"card_id": number, "position": position, "recipient": text} for position, text in enumerate(recipients)
            ]
        insert_all(self._connection, CardCeilingRow, ceilings)
        self._progress(sum(len(bounds.of(bound)) for _, bounds, _, _ in cards for bound in Bound))

    def _wallets(self, cards: Mapping[CardId, int]) -> None:
        facts = self._deployment.wallets
        numbers = insert_numbered(
            self._connection, WalletRow, (codec.wallet_row(self._snapshot, wallet) for wallet in facts)
        )
        insert_all(
            self._connection,
            WalletCardRow,
            (
                {
                    "wallet_id": number,
                    "card_id": cards[held.card],
                    "snapshot_id": self._snapshot,
                    **codec.installed_row(held),
                }
                for wallet, number in zip(facts, numbers, strict=True)
                for held in wallet.cards
            ),
        )

    def _shares(self) -> None:
        for facts in batches(self._deployment.shares):
            numbers = insert_numbered(
                self._connection,
                CardRow,
                (codec.bounds_row(self._snapshot, "share", s.places, s.place) for s in facts),
            )
            insert_all(
                self._connection,
                PermissionShareRow,
                (
                    {
                        "snapshot_id": self._snapshot,
                        "card_id": number,
                        "share_uuid": share.id,
                        "revision": share.revision,
                        "owner_account_uuid": share.owner_account_id,
                        "target_account_uuid": share.target_account_id,
                        "name": share.name,
                        "current_card_uuid": share.current_card_id,
                        **codec.place_row(share.place),
                    }
                    for share, number in zip(facts, numbers, strict=True)
                ),
            )
            self._grants([(n, s.bounds, s.places, ()) for s, n in zip(facts, numbers, strict=True)])

    def _retry_policies(self) -> None:
        facts = self._deployment.retry_policies
        numbers = self._named(RetryPolicyRow, [fact.name for fact in facts])
        insert_all(
            self._connection,
            RetryPolicyRevisionRow,
            (codec.retry_row(self._snapshot, numbers[fact.name], fact) for fact in facts),
        )

    def _tools_and_values(self) -> None:
        d = self._deployment
        insert_all(self._connection, ToolRow, (codec.tool_row(self._snapshot, t) for t in d.tools))
        insert_all(self._connection, MiddlewareRow, (codec.tool_row(self._snapshot, t) for t in d.middlewares))
        insert_all(self._connection, NamedValueRow, (codec.value_row(self._snapshot, v) for v in d.values))
        chains = insert_numbered(
            self._connection,
            ChainRow,
            (
                {
                    "snapshot_id": self._snapshot,
                    "level": chain.level.value,
                    "subject": chain.subject,
                    "tool": chain.tool,
                    "mode": chain.mode,
                    **codec.place_row(chain.place),
                }
                for chain in d.chains
            ),
        )
        insert_all(
            self._connection,
            ChainLayerRow,
            (
                codec.layer_row(number, position, layer)
                for chain, number in zip(d.chains, chains, strict=True)
                for position, layer in enumerate(chain.layers)
            ),
        )

    def _findings(self) -> None:
        insert_all(
            self._connection,
            FindingRow,
            (codec.finding_row(self._snapshot, i, f) for i, f in enumerate(self._deployment.findings)),
        )


def _parents(fact: CardFact) -> tuple[CardId, ...]:
    return fact.card.roots if isinstance(fact.card, ScopeCard) else fact.card.parents


def ancestries(parents: Mapping[CardId, Sequence[CardId]]) -> dict[CardId, frozenset[CardId]]:
    """All ancestors of every card, known or not; a card is its own ancestor only on a cycle.

    Raises:
        InputError: STORE016 if they are too many to be stored.
    """
    above: dict[CardId, frozenset[CardId]] = {}
    total = 0
    for card in parents:
        seen: set[CardId] = set()
        waiting = list(parents[card])
        while waiting:
            parent = waiting.pop()
            if parent in seen:
                continue
            seen.add(parent)
            if parent in above:
                seen |= above[parent]
            else:
                waiting += parents.get(parent, ())
        total += len(seen)
        if total > MAX_ANCESTRIES:
            raise StoreCode.TOO_MANY_ANCESTORS.error(
                f"the cards have more than {MAX_ANCESTRIES} pairs of card and ancestor", Span("cards")
            )
        above[card] = frozenset(seen)
    return above


CHILDREN: tuple[type[DeclarativeBase], ...] = (
    InitialCardRow,
    AgentTypeRow,
    ComponentRevisionRow,
    WalletRow,
    PermissionShareRow,
    CardRow,
    RevocationRow,
    RetryPolicyRevisionRow,
    ToolRow,
    MiddlewareRow,
    ChainRow,
    NamedValueRow,
    FindingRow,
)
"""The tables directly below a snapshot, in an order in which they can be emptied; the rest follows by cascade."""


def remove(connection: Connection, snapshot: int) -> None:
    """Remove all rows below a snapshot row; the snapshot itself, its number and its digest stay."""
    for table in CHILDREN:
        connection.execute(delete(table).where(table.__table__.c.snapshot_id == snapshot))
