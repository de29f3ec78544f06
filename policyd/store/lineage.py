"""Cards as a family: parents, descendants, holders, and what everybody would lose with one of them.

Source: cards 6.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from policyd.core.cards import Bound, CardId, GrantRef, ScopeCard, Timestamp, registry_refusal
from policyd.core.cards.surface import filtered
from policyd.findings import Span
from policyd.store import codec
from policyd.store.codes import StoreCode
from policyd.store.facts import CardFact
from policyd.store.holders import context_of
from policyd.store.session import Database
from policyd.store.tables import CardClosureRow, CardParentRow, CardRow, WalletCardRow, WalletRow
from policyd.store.wallets import Head, Holder, head_of, load_bounds, rows_among


@dataclass(frozen=True, slots=True)
class Relative:
    """A card of the family.

    Attributes:
        card: its id.
        is_known: whether the snapshot holds the card itself, not only its id.
        is_revoked: it is revoked, or descends from a card that is.
    """

    card: CardId
    is_known: bool
    is_revoked: bool = False


@dataclass(frozen=True, slots=True)
class CardView:
    """A card with its surroundings.

    Attributes:
        fact: the card with the places of its grants.
        is_revoked: it is revoked, or descends from a card that is.
        parents: in order, repetitions kept.
        children: cards that name it as a parent, by id.
        descendants: everything derived from it at any distance, by id; itself not among them.
        holders: who has it in a wallet.
    """

    fact: CardFact
    is_revoked: bool
    parents: tuple[Relative, ...]
    children: tuple[Relative, ...]
    descendants: tuple[Relative, ...]
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class LostGrant:
    """A grant that goes, with its place."""

    ref: GrantRef
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """What one holder would lose.

    Attributes:
        holder: who.
        cards: the cards that leave the wallet, by id.
        floors: what no longer is lent by them.
        exceptions: what no longer is cut from those floors (lower negatives).
        ceilings: upper positives that no longer limit the wallet.
        denials: upper negatives that no longer deny.
    """

    holder: Holder
    cards: tuple[CardId, ...]
    floors: tuple[LostGrant, ...]
    exceptions: tuple[LostGrant, ...]
    ceilings: tuple[LostGrant, ...]
    denials: tuple[LostGrant, ...]


@dataclass(frozen=True, slots=True)
class Revocation:
    """What would happen if a card were revoked; nothing is changed.

    Attributes:
        card: the card.
        refusal: why the platform would refuse, in its own words; empty where it would not for the card's kind.
        gone: the card and everything derived from it, by id, as far as it lives now.
        losses: per holder of one of them, by holder.
    """

    card: CardId
    refusal: str
    gone: tuple[CardId, ...]
    losses: tuple[Loss, ...]


def card_view(database: Database, snapshot: int, card: CardId) -> CardView:
    """A card of a snapshot with its family and its holders.

    Raises:
        InputError: STORE010 if there is no such snapshot, STORE014 if it holds no such card.
    """
    with database.reading() as connection:
        head = head_of(connection, snapshot)
        number, fact, is_revoked = _card(connection, head, card)
        bounds = fact.card.roots if isinstance(fact.card, ScopeCard) else fact.card.parents
        known = _known(connection, head, list(bounds))
        return CardView(
            fact,
            is_revoked,
            tuple(known.get(parent, Relative(parent, is_known=False)) for parent in bounds),
            _children(connection, head, card),
            _descendants(connection, head, card),
            _holders(connection, head, [number]).get(number, ()),
        )


def descendants(database: Database, snapshot: int, card: CardId) -> tuple[Relative, ...]:
    """Everything derived from a card, by id; the card itself need not be known and is not among them.

    Raises:
        InputError: STORE010 if there is no such snapshot.
    """
    with database.reading() as connection:
        return _descendants(connection, head_of(connection, snapshot), card)


def revocation(database: Database, snapshot: int, card: CardId, *, at: Timestamp | None = None) -> Revocation:
    """What revoking a card would take from whom; nothing is changed.

    Cards that are revoked or expired already take nothing with them.

    Args:
        database: migrated.
        snapshot: its number.
        card: its id.
        at: the moment; None to leave expiry aside.

    Raises:
        InputError: STORE010 if there is no such snapshot, STORE014 if it holds no such card.
    """
    with database.reading() as connection:
        head = head_of(connection, snapshot)
        number, fact, is_revoked = _card(connection, head, card)
        below = [relative.card for relative in _descendants(connection, head, card) if not relative.is_revoked]
        numbers = _numbers(connection, head, below)
        if not is_revoked:
            numbers[card] = number
        refusal = None if isinstance(fact.card, ScopeCard) else registry_refusal(fact.card)
        losses = _Losses(connection, head, numbers, at).all()
    return Revocation(card, refusal or "", tuple(sorted(numbers)), losses)


def _card(connection: Connection, head: Head, card: CardId) -> tuple[int, CardFact, bool]:
    row = (
        connection.execute(
            select(CardRow.__table__).where(CardRow.snapshot_id == head.snapshot, CardRow.card_uuid == card)
        )
        .mappings()
        .first()
    )
    if row is None:
        raise StoreCode.UNKNOWN_CARD.error(f"snapshot `@{head.snapshot}` holds no card `{card[:80]}`")
    bounds, spans = load_bounds(connection, head, {row["id"]: row["kind"]})[row["id"]]
    p = CardParentRow
    parents = connection.execute(select(p.parent_uuid).where(p.card_id == row["id"]).order_by(p.position)).scalars()
    places = (
        tuple(tuple(spans.get((bound, i)) for i in range(len(bounds.of(bound)))) for bound in Bound)
        if row["has_places"]
        else ()
    )
    return row["id"], codec.read_card(row, bounds, places, list(parents), codec.read_place(row)), row["is_revoked"]


def _known(connection: Connection, head: Head, cards: list[CardId]) -> dict[CardId, Relative]:
    c = CardRow
    statement = select(c.card_uuid, c.is_revoked).where(c.snapshot_id == head.snapshot)
    rows = rows_among(connection, statement, c.card_uuid, cards)
    return {CardId(uuid): Relative(CardId(uuid), is_known=True, is_revoked=gone) for uuid, gone in rows}


def _relatives(connection: Connection, statement: object) -> tuple[Relative, ...]:
    rows = connection.execute(statement).all()  # type: ignore[call-overload]  # two kinds of select
    found = {Relative(CardId(uuid), is_known=True, is_revoked=gone) for uuid, gone in rows}
    return tuple(sorted(found, key=lambda relative: relative.card))


def _children(connection: Connection, head: Head, card: CardId) -> tuple[Relative, ...]:
    c, p = CardRow, CardParentRow
    return _relatives(
        connection,
        select(c.card_uuid, c.is_revoked)
        .join(p, p.card_id == c.id)
        .where(c.snapshot_id == head.snapshot, p.parent_uuid == card),
    )


def _descendants(connection: Connection, head: Head, card: CardId) -> tuple[Relative, ...]:
    c, above = CardRow, CardClosureRow
    return _relatives(
        connection,
        select(c.card_uuid, c.is_revoked)
        .join(above, above.card_id == c.id)
        .where(above.snapshot_id == head.snapshot, above.ancestor_uuid == card, c.card_uuid != card),
    )


def _numbers(connection: Connection, head: Head, cards: list[CardId]) -> dict[CardId, int]:
    c = CardRow
    statement = select(c.card_uuid, c.id).where(c.snapshot_id == head.snapshot)
    return {CardId(uuid): number for uuid, number in rows_among(connection, statement, c.card_uuid, cards)}


def _holders(connection: Connection, head: Head, numbers: list[int]) -> dict[int, tuple[Holder, ...]]:
    """Card rows to the holders of those cards, sorted."""
    w, wc = WalletRow, WalletCardRow
    statement = select(wc.card_id, w.holder, w.agent_id).join(w, w.id == wc.wallet_id)
    found: dict[int, list[Holder]] = {}
    for number, text, agent_id in rows_among(connection, statement, wc.card_id, numbers):
        recipient = codec.read_recipient(text, head.rules)
        found.setdefault(number, []).append(Holder(recipient, agent_id, is_imported=True))
    return {number: tuple(sorted(listed, key=lambda h: h.text)) for number, listed in found.items()}


class _Losses:
    def __init__(self, connection: Connection, head: Head, numbers: dict[CardId, int], at: Timestamp | None) -> None:
        self._connection, self._head, self._numbers, self._at = connection, head, numbers, at

    def all(self) -> tuple[Loss, ...]:
        """The losses of all holders, sorted by holder."""
        c = CardRow
        statement = select(c.id, c.kind, c.card_uuid, c.expires_seconds, c.expires_nanos)
        rows = rows_among(self._connection, statement, c.id, list(self._numbers.values()))
        live = {row.id: row for row in rows if not self._is_expired(row.expires_seconds, row.expires_nanos)}
        self._ids = {number: CardId(row.card_uuid) for number, row in live.items()}
        self._bounds = load_bounds(self._connection, self._head, {number: row.kind for number, row in live.items()})
        cards_of: dict[Holder, list[int]] = {}
        for number, holders in _holders(self._connection, self._head, list(live)).items():
            for holder in holders:
                cards_of.setdefault(holder, []).append(number)
        losses = [self._loss(holder, numbers) for holder, numbers in cards_of.items()]
        return tuple(sorted(losses, key=lambda loss: loss.holder.text))

    def _is_expired(self, seconds: int | None, nanos: int | None) -> bool:
        return self._at is not None and seconds is not None and Timestamp(seconds, nanos or 0) <= self._at

    def _loss(self, holder: Holder, numbers: list[int]) -> Loss:
        context = context_of(holder.recipient, holder.agent_id)
        lost: dict[Bound, list[LostGrant]] = {bound: [] for bound in Bound}
        for number in sorted(numbers, key=lambda n: self._ids[n]):
            bounds, spans = self._bounds[number]
            if context is not None:
                bounds = bounds.mapped(lambda grant: grant.filled(context))
            for part in filtered(self._ids[number], bounds, holder.recipient):
                for ref in (*part.positive, *part.negative):
                    lost[ref.bound].append(LostGrant(ref, spans.get((ref.bound, ref.index))))
        cards = tuple(sorted(self._ids[number] for number in numbers))
        return Loss(holder, cards, *(tuple(lost[bound]) for bound in Bound))
