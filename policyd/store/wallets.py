"""Holders of a snapshot and their wallets: those that were imported, and those that initial cards make.

An imported wallet is complete. Where none is known for an agent type, its agents hold the initial card
of their type and nothing else.

Source: cards 5.3; interface, wallet file.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ARRAY, Connection, any_, bindparam, func, select

from policyd.core.admission import HeldCard, Wallet
from policyd.core.cards import Bound, Bounds, Card, CardId
from policyd.core.edition import Rules
from policyd.core.grants import Level, Recipient, agent_holder
from policyd.findings import Span
from policyd.store import codec
from policyd.store.codes import StoreCode
from policyd.store.facts import Installed, Installer
from policyd.store.holders import context_of, read_holder
from policyd.store.search_keys import Home
from policyd.store.session import Database
from policyd.store.tables import (
    AccountRow,
    AgentTypeRow,
    ApplicationRow,
    CardParentRow,
    CardRow,
    ComponentRevisionRow,
    ComponentRow,
    EnvironmentRow,
    GrantRow,
    InitialCardRow,
    RevocationRow,
    SnapshotRow,
    WalletCardRow,
    WalletRow,
)


@dataclass(frozen=True, slots=True)
class Holder:
    """Someone with a wallet.

    Attributes:
        recipient: an account, or an agent by its type.
        agent_id: the instance whose own wallet it is, empty for all others of the type and for accounts.
        is_imported: whether the wallet itself was imported, rather than concluded from the initial card.
    """

    recipient: Recipient
    agent_id: str = ""
    is_imported: bool = False

    @property
    def text(self) -> str:
        """As a person reads it."""
        return f"{self.recipient.text} {self.agent_id}".rstrip()


@dataclass(frozen=True, slots=True)
class StoredWallet:
    """A wallet with the places of its grants.

    Attributes:
        holder: whose.
        wallet: as the evaluator takes it; for a type as a whole its context carries an id that no target names.
        places: where a grant of a card stands, by card, list and index; only what is known.
    """

    holder: Holder
    wallet: Wallet
    places: Mapping[tuple[CardId, Bound, int], Span]


@dataclass(frozen=True, slots=True)
class Head:
    """What a question needs of a snapshot besides its cards."""

    snapshot: int
    home: Home
    rules: Rules


def head_of(connection: Connection, snapshot: int) -> Head:
    """The environment and the rules of a snapshot.

    Raises:
        InputError: STORE010 if there is no such snapshot.
    """
    row = connection.execute(
        select(SnapshotRow.edition, SnapshotRow.switches, AccountRow.email, ApplicationRow.name, EnvironmentRow.name)
        .join(EnvironmentRow, EnvironmentRow.id == SnapshotRow.environment_id)
        .join(ApplicationRow, ApplicationRow.id == EnvironmentRow.application_id)
        .join(AccountRow, AccountRow.id == ApplicationRow.account_id)
        .where(SnapshotRow.id == snapshot)
    ).first()
    if row is None:
        raise StoreCode.NO_SNAPSHOT.error(f"there is no snapshot `@{snapshot}`", None, "`policyd snapshots` lists them")
    edition, switches, account, application, environment = row
    rules = codec.read_rules({"edition": edition, "switches": switches})
    return Head(snapshot, Home(account, application, environment), rules)


def initial_holders(connection: Connection, head: Head, cards: Sequence[int] | None = None) -> dict[int, Recipient]:
    """Initial card rows to the agents that start with them; of all, or of those cards.

    Types whose component is not known have no holder and are left out.
    """
    statement = (
        select(InitialCardRow.card_id, ComponentRow.name, AgentTypeRow.name)
        .join(AgentTypeRow, AgentTypeRow.id == InitialCardRow.agent_type_id)
        .join(ComponentRevisionRow, ComponentRevisionRow.id == AgentTypeRow.component_revision_id)
        .join(ComponentRow, ComponentRow.id == ComponentRevisionRow.component_id)
    )
    if cards is None:
        statement = statement.where(InitialCardRow.snapshot_id == head.snapshot)
    else:
        statement = statement.where(among(connection, InitialCardRow.card_id, cards))
    return {
        card: Recipient(Level.AGENT, (*head.home.segments, component, agent_type))
        for card, component, agent_type in connection.execute(statement)
    }


def among(connection: Connection, column: Any, values: Collection[int | str]) -> Any:
    """The condition that `column` is one of `values`, of which there may be any number.

    They travel as one parameter: neither engine takes very many, and binding thousands takes longer than the question.
    """
    if connection.dialect.name == "sqlite":
        listed = func.json_each(json.dumps(list(values))).table_valued("value")
        return column.in_(select(listed.c.value))
    return column == any_(bindparam(None, list(values), type_=ARRAY(column.type)))


def rows_among(connection: Connection, statement: Any, column: Any, values: Collection[int | str]) -> Sequence[Any]:
    """The rows of `statement` whose `column` is one of `values`; none without asking where there are no values."""
    return connection.execute(statement.where(among(connection, column, values))).all() if values else ()


def holders(database: Database, snapshot: int) -> tuple[Holder, ...]:
    """Everybody whose wallet is known, sorted; a type and an instance of it with its own wallet are two.

    Raises:
        InputError: STORE010 if there is no such snapshot.
    """
    with database.reading() as connection:
        head = head_of(connection, snapshot)
        found: dict[tuple[str, str], Holder] = {}
        for recipient in initial_holders(connection, head).values():
            found[recipient.text, ""] = Holder(recipient)
        rows = connection.execute(select(WalletRow.holder, WalletRow.agent_id).where(WalletRow.snapshot_id == snapshot))
        for text, agent_id in rows:
            found[text, agent_id] = Holder(_known(text, head.rules), agent_id, is_imported=True)
    return tuple(found[key] for key in sorted(found))


def _known(text: str, rules: Rules) -> Recipient:
    holder = read_holder(text, rules)
    assert holder is not None  # only holders are written
    return holder


def wallet(database: Database, snapshot: int, holder: str, agent_id: str = "") -> StoredWallet:
    """The wallet of a holder, complete.

    Args:
        database: migrated.
        snapshot: its number.
        holder: an account, `account/app/env/component/Type`, or a bare type name that is unique in the snapshot.
        agent_id: an instance; without a wallet of its own it has that of its type.

    Raises:
        InputError: STORE010 if there is no such snapshot, STORE011 if the holder is not known there.
    """
    with database.reading() as connection:
        head = head_of(connection, snapshot)
        recipient = _named(connection, head, holder)
        if recipient is None:
            raise StoreCode.REFERENCE.error(
                f"`{holder[:200]}` is no holder in snapshot `@{snapshot}`",
                None,
                "name an agent type, `account/app/env/component/Type`, or an account with a wallet",
            )
        return load_wallet(connection, head, recipient, agent_id)


def _named(connection: Connection, head: Head, text: str) -> Recipient | None:
    """The holder that a user names, if it has a wallet in the snapshot."""
    initial = initial_holders(connection, head).values()
    statement = select(WalletRow.holder).where(WalletRow.snapshot_id == head.snapshot)
    if "/" not in text:
        types = {r for r in initial if r.known[-1] == text}
        rows = connection.execute(statement.where(WalletRow.agent_type == text)).scalars()
        types |= {_known(row, head.rules) for row in rows}
        if types:
            return types.pop() if len(types) == 1 else None
    recipient = read_holder(text, head.rules)
    if recipient is None:
        return None
    if recipient in initial:
        return recipient
    own = connection.execute(statement.where(WalletRow.holder == recipient.text)).first()
    return recipient if own is not None else None


def load_wallet(connection: Connection, head: Head, recipient: Recipient, agent_id: str = "") -> StoredWallet:
    """The wallet of a holder that has one; see `wallet`."""
    context = context_of(recipient, agent_id)
    w = WalletRow
    for instance in dict.fromkeys((agent_id, "")):
        row = connection.execute(
            select(w.id, w.recorded_account).where(
                w.snapshot_id == head.snapshot, w.holder_key == codec.holder_key(recipient, instance)
            )
        ).first()
        if row is None:
            continue
        held, places = _held(connection, head, row.id)
        gone = connection.execute(
            select(RevocationRow.card_uuid).where(RevocationRow.snapshot_id == head.snapshot)
        ).scalars()
        revoked = {CardId(card) for card in gone} | {card.card.id for card, is_revoked in held if is_revoked}
        cards = tuple(card for card, _ in held)
        found = Wallet.of(recipient, cards, context, row.recorded_account, frozenset(revoked))
        return StoredWallet(Holder(recipient, instance, is_imported=True), found, places)
    cards, places = _initial(connection, head, recipient)
    return StoredWallet(Holder(recipient), Wallet.of(recipient, cards, context), places)


def _held(
    connection: Connection, head: Head, wallet_id: int
) -> tuple[list[tuple[HeldCard, bool]], dict[tuple[CardId, Bound, int], Span]]:
    rows = (
        connection.execute(
            select(
                CardRow.__table__,
                WalletCardRow.installed_by,
                WalletCardRow.installed_seconds,
                WalletCardRow.installed_nanos,
            )
            .join(WalletCardRow, WalletCardRow.card_id == CardRow.id)
            .where(WalletCardRow.wallet_id == wallet_id)
        )
        .mappings()
        .all()
    )
    bounds = load_bounds(connection, head, {row["id"]: row["kind"] for row in rows})
    parents: dict[int, list[str]] = {}
    p = CardParentRow
    statement = select(p.card_id, p.parent_uuid).order_by(p.card_id, p.position)
    for card_id, parent in rows_among(connection, statement, p.card_id, list(bounds)):
        parents.setdefault(card_id, []).append(parent)
    held: list[tuple[HeldCard, bool]] = []
    places: dict[tuple[CardId, Bound, int], Span] = {}
    for row in rows:
        known, spans = bounds[row["id"]]
        card = codec.read_card(row, known, (), parents.get(row["id"], ()), None).card
        assert isinstance(card, Card)  # wallets hold no scope cards
        held.append((_as_held(card, codec.read_installed(row)), row["is_revoked"]))
        places |= {(card.id, bound, index): span for (bound, index), span in spans.items()}
    return held, places


def _as_held(card: Card, installed: Installed) -> HeldCard:
    """A template carries no keeper; where nobody says who installed it, it is the initial card of its holder."""
    managed = card.managed_by
    is_initial = (managed is not None and managed.kind == "AgentInitial") or (
        card.is_polymorphic and installed.by is Installer.UNKNOWN
    )
    return HeldCard(card, is_initial, installed.by is not Installer.OTHER and not is_initial)


def _initial(
    connection: Connection, head: Head, recipient: Recipient
) -> tuple[tuple[HeldCard, ...], dict[tuple[CardId, Bound, int], Span]]:
    row = next((card for card, who in initial_holders(connection, head).items() if who == recipient), None)
    if row is None:
        return (), {}
    bounds, spans = load_bounds(connection, head, {row: "initial"})[row]
    card_id = initial_id(recipient)
    context = context_of(recipient)
    if context is not None:
        assert agent_holder(context) == recipient
        bounds = bounds.mapped(lambda grant: grant.addressed(context))
    card = Card(card_id, bounds, is_polymorphic=True)
    places = {(card_id, bound, index): span for (bound, index), span in spans.items()}
    return (HeldCard(card, is_initial=True, is_own_install=False),), places


def initial_id(recipient: Recipient) -> CardId:
    """The name of an initial card that no platform has given an id."""
    return CardId(f"initial:{recipient.known[-1]}")


Spans = dict[tuple[Bound, int], Span]


def load_bounds(connection: Connection, head: Head, kinds: Mapping[int, str]) -> dict[int, tuple[Bounds, Spans]]:
    """The grants of card rows, given with their kinds, and where they stand."""
    g = GrantRow
    columns = (g.card_id, g.part, g.is_positive, g.position, g.text)
    places = (g.place_source, g.place_line, g.place_column, g.place_start, g.place_end, g.place_path)
    statement = select(*columns, *places).order_by(g.card_id, g.part, g.is_positive, g.position)
    reader = codec.GrantReader(head.rules)
    lists: dict[int, dict[Bound, list[Any]]] = {card: {} for card in kinds}
    spans: dict[int, Spans] = {card: {} for card in kinds}
    for card, part, positive, position, text, *place in rows_among(connection, statement, g.card_id, list(kinds)):
        bound = codec.bound_of(part, positive)
        grant = reader.grant(text, with_slots=codec.may_have_slots(kinds[card]))
        lists[card].setdefault(bound, []).append(grant)
        if place[0] is not None:
            spans[card][bound, position] = Span(*place)
    return {card: (Bounds(*(tuple(lists[card].get(b, ())) for b in Bound)), spans[card]) for card in kinds}
