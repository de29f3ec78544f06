"""Who can reach a target: every holder of a snapshot that is admitted, and by which grants.

The grants that may cover the target are found by index; holders whose cards have none of them are
never looked at. What is found is judged exactly, grant by grant.

Source: cards 5.1, 5.2; interface, who-can.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, or_, select

from policyd.core.cards import Bound, Timestamp
from policyd.core.grants import ANY_VERB, AgentContext, Grant, Level, Recipient, Slot, Target
from policyd.findings import Span
from policyd.store import codec
from policyd.store.facts import PlacedGrant
from policyd.store.holders import context_of
from policyd.store.search_keys import lookups
from policyd.store.session import Database
from policyd.store.tables import CardCeilingRow, CardRow, GrantRow, WalletCardRow, WalletRow
from policyd.store.wallets import Head, Holder, among, head_of, initial_holders, rows_among

FEW_CARDS = 50
"""So many cards are asked for by number; for more of them the keys of the target find the grants sooner."""


@dataclass(frozen=True, slots=True)
class Access:
    """A holder that is admitted.

    Attributes:
        holder: who.
        grants: the grants that lend the target to it, by card, list and index.
        only: the one instance of the type that is admitted, empty where all are.
        except_for: the one instance of the type that is not, empty where there is none.
        except_wallets: agents of the type whose wallets of their own do not admit it.
    """

    holder: Holder
    grants: tuple[PlacedGrant, ...]
    only: str = ""
    except_for: str = ""
    except_wallets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WhoCan:
    """The complete answer for the wallets that are known.

    Attributes:
        accesses: sorted by holder.
        unheld: grants that cover the target on live cards that are in no known wallet; who holds those is not known.
    """

    accesses: tuple[Access, ...]
    unheld: tuple[PlacedGrant, ...]


@dataclass(slots=True)
class _Hit:
    """A stored grant that may cover the target."""

    bound: Bound
    index: int
    grant: Grant
    place: Span | None


@dataclass(slots=True)
class _Card:
    """A live card, as far as the target is concerned."""

    name: str
    kind: str
    hits: list[_Hit] = field(default_factory=list)
    ceilings: list[Recipient] = field(default_factory=list)


def who_can(database: Database, snapshot: int, target: Target, *, at: Timestamp | None = None) -> WhoCan:
    """Every holder of the snapshot whose wallet admits `target`.

    Args:
        database: migrated.
        snapshot: its number.
        target: concrete; a pattern asks for all of it by one grant.
        at: the moment; None to leave expiry aside.

    Raises:
        InputError: STORE010 if there is no such snapshot.
    """
    with database.reading() as connection:
        return _Question(connection, head_of(connection, snapshot), target, at).answer()


class _Question:
    def __init__(self, connection: Connection, head: Head, target: Target, at: Timestamp | None) -> None:
        self._connection, self._head, self._target, self._at = connection, head, target, at
        self._keys = lookups(target, head.home)
        self._reader = codec.GrantReader(head.rules)
        self._cards: dict[int, _Card] = {}
        self._dead: set[int] = set()
        self._owners: dict[int, bool] = {}
        """Whether a target, by its identity in the reader, covers the owner asked about."""

    def answer(self) -> WhoCan:
        cards = self._cards
        self._take(self._covering(GrantRow.part == "lower", GrantRow.is_positive.is_(True)))
        lending = list(cards)
        wallets = self._wallets(lending)
        initial = self._initial(lending)
        held = {number for _, numbers in wallets.values() for number in numbers}
        judged = {*held, *initial.values()}
        self._rest(held)
        self._take(self._others(judged), within=judged)
        self._ceilings(judged & cards.keys())
        accesses = []
        for holder, numbers in wallets.values():
            accesses += self._judge(holder, [cards[n] for n in sorted(numbers) if n in cards])
        for recipient, number in initial.items():
            accesses += self._judge(Holder(recipient), [cards[number]])
        free = [n for n in lending if n not in held and cards[n].kind in ("concrete", "polymorphic")]
        self._take(self._others(free), within=set(free))
        return WhoCan(
            tuple(sorted(accesses, key=lambda a: (a.holder.recipient.known, a.holder.agent_id))),
            tuple(grant for number in free for grant in self._unheld(cards[number])),
        )

    def _covering(self, *conditions: Any) -> Any:
        """A select, by the index, of stored grants that may cover the target."""
        g, c = GrantRow, CardRow
        target = self._target
        columns = (g.card_id, g.part, g.is_positive, g.position, g.text)
        places = (g.place_source, g.place_line, g.place_column, g.place_start, g.place_end, g.place_path)
        moments = (c.kind, c.card_uuid, c.expires_seconds, c.expires_nanos, c.is_revoked)
        statement = (
            select(*columns, *moments, *places)
            .join(c, c.id == g.card_id)
            .where(
                g.snapshot_id == self._head.snapshot,
                g.permission_class == target.cls.name,
                g.verb.in_({target.verb, ANY_VERB}),
                *conditions,
            )
        )
        keys = self._keys
        if keys.owners is not None:
            statement = statement.where(among(self._connection, g.owner_key, keys.owners))
        if keys.resources is not None:
            statement = statement.where(among(self._connection, g.resource_key, keys.resources))
        return statement

    def _others(self, numbers: Collection[int]) -> Any:
        """The negatives and ceilings of some cards that may cover the target; None where there are no cards."""
        if not numbers:
            return None
        other = or_(GrantRow.part != "lower", GrantRow.is_positive.is_(False))
        if len(numbers) > FEW_CARDS:
            return self._covering(other)
        return self._covering(other, among(self._connection, GrantRow.card_id, numbers))

    def _take(self, statement: Any, within: Collection[int] | None = None) -> None:
        """Add the grants of `statement` to their cards: of live cards, and of those `within` only."""
        if statement is None:
            return
        target = self._target
        for row in self._connection.execute(statement):
            number, part, positive, position, text, kind, uuid, seconds, nanos, is_revoked, *place = row
            if number in self._dead or (within is not None and number not in within):
                continue
            if is_revoked or self._expired(seconds, nanos):
                self._dead.add(number)
                continue
            grant = self._reader.grant(text, with_slots=codec.may_have_slots(kind))
            if not grant.target.resource.covers(target.resource):
                continue
            card = self._cards.get(number)
            if card is None:
                card = self._cards[number] = _Card(uuid or "", kind)
            span = Span(*place) if place[0] is not None else None
            card.hits.append(_Hit(codec.bound_of(part, positive), position, grant, span))

    def _expired(self, seconds: int | None, nanos: int | None) -> bool:
        return self._at is not None and seconds is not None and Timestamp(seconds, nanos or 0) <= self._at

    def _wallets(self, lending: list[int]) -> dict[int, tuple[Holder, set[int]]]:
        """The imported wallets that hold one of the cards, with all their cards."""
        w, wc = WalletRow, WalletCardRow
        statement = select(w.id, w.holder, w.agent_id).join(wc, wc.wallet_id == w.id).distinct()
        found: dict[int, tuple[Holder, set[int]]] = {}
        for number, text, agent_id in rows_among(self._connection, statement, wc.card_id, lending):
            recipient = codec.read_recipient(text, self._head.rules)
            found[number] = (Holder(recipient, agent_id, is_imported=True), set())
        rows = rows_among(self._connection, select(wc.wallet_id, wc.card_id), wc.wallet_id, list(found))
        for number, card in rows:
            found[number][1].add(card)
        return found

    def _initial(self, lending: list[int]) -> dict[Recipient, int]:
        """The agent types that hold an initial card among the cards, and no imported wallet."""
        cards = self._cards
        numbers = [number for number in lending if cards[number].kind == "initial"]
        found = {who: number for number, who in initial_holders(self._connection, self._head, numbers).items()}
        for who, number in found.items():
            cards[number].name = f"initial:{who.known[-1]}"
        w = WalletRow
        own = self._connection.execute(
            select(w.holder).where(w.snapshot_id == self._head.snapshot, w.holder_level == 5, w.agent_id == "")
        ).scalars()
        imported = set(own)
        return {who: number for who, number in found.items() if not imported or who.text not in imported}

    def _rest(self, held: Iterable[int]) -> None:
        """Add the live cards of those wallets that have no grant for the target: their ceilings count."""
        c = CardRow
        cards = self._cards
        missing = [number for number in held if number not in cards and number not in self._dead]
        statement = select(c.id, c.kind, c.card_uuid, c.expires_seconds, c.expires_nanos, c.is_revoked)
        for number, kind, uuid, seconds, nanos, is_revoked in rows_among(self._connection, statement, c.id, missing):
            if not is_revoked and not self._expired(seconds, nanos):
                cards[number] = _Card(uuid or "", kind)

    def _ceilings(self, numbers: Collection[int]) -> None:
        ceiling = CardCeilingRow
        statement = select(ceiling.card_id, ceiling.recipient)
        for number, text in rows_among(self._connection, statement, ceiling.card_id, numbers):
            self._cards[number].ceilings.append(codec.read_recipient(text, self._head.rules))

    def _judge(self, holder: Holder, cards: list[_Card]) -> list[Access]:
        """What the cards give to the holder: to all instances of a type, and to the one that the target names."""
        named = self._target.owner.known[4] if len(self._target.owner.known) == Level.AGENT else ""
        context = context_of(holder.recipient, holder.agent_id, named)
        general = self._lending(holder.recipient, context, cards)
        one = self._instance(holder, cards)
        if not one:
            return [Access(holder, general)] if general else []
        special = self._lending(holder.recipient, context_of(holder.recipient, one), cards)
        if general:
            return [Access(holder, general, except_for="" if special else one)]
        return [Access(holder, special, only=one)] if special else []

    def _instance(self, holder: Holder, cards: list[_Card]) -> str:
        """The instance of the holder's type that the target's owner names, if it may be answered differently."""
        owner = self._target.owner
        if holder.agent_id or holder.recipient.level is not Level.AGENT or len(owner.known) != Level.AGENT:
            return ""
        leaf = owner.known[4]
        if owner.is_type_wildcard or owner.known[:4] != holder.recipient.known[:4]:
            return ""
        if not leaf.startswith(f"{holder.recipient.known[4]}(") or self._has_own_wallet(holder.recipient, leaf):
            return ""
        slotted = any(h.grant.target.owner.slot is not None for card in cards for h in card.hits)
        return leaf if slotted else ""

    def _has_own_wallet(self, recipient: Recipient, agent_id: str) -> bool:
        w = WalletRow
        key = codec.holder_key(recipient, agent_id)
        found = select(w.id).where(w.snapshot_id == self._head.snapshot, w.holder_key == key)
        return self._connection.execute(found).first() is not None

    def _lending(
        self, recipient: Recipient, context: AgentContext | None, cards: list[_Card]
    ) -> tuple[PlacedGrant, ...]:
        """The grants that lend the target, none where a ceiling of any card withholds it (E2 to E5)."""
        lent: list[PlacedGrant] = []
        for card in cards:
            hits = [h for h in card.hits if self._covers(h.grant, recipient, context)]
            bounds = {h.bound for h in hits}
            if Bound.UPPER_NEGATIVE in bounds:
                return ()
            if Bound.UPPER_POSITIVE not in bounds and any(
                _filled(ceiling, context).covers(recipient) for ceiling in card.ceilings
            ):
                return ()
            if Bound.LOWER_NEGATIVE not in bounds:
                lent += self._placed(card, hits)
        return tuple(sorted(lent, key=lambda g: (g.card, g.index)))

    def _covers(self, grant: Grant, recipient: Recipient, context: AgentContext | None) -> bool:
        if not _filled(grant.recipient, context).covers(recipient):
            return False
        owner = grant.target.owner
        if owner.slot is not None and context is None:
            return False
        if context is not None and owner.slot is not None and owner.slot.depth > Slot.ENV.depth:
            return owner.filled(context).covers(self._target.owner)
        # what no component or agent fills is the same for all holders of the environment
        known = self._owners.get(id(grant.target))
        if known is None:
            filled = owner.filled(context) if context else owner
            known = self._owners[id(grant.target)] = filled.covers(self._target.owner)
        return known

    def _placed(self, card: _Card, hits: Iterable[_Hit]) -> Iterable[PlacedGrant]:
        for hit in hits:
            if hit.bound is Bound.LOWER_POSITIVE:
                yield PlacedGrant(card.name, hit.bound, hit.index, hit.grant, hit.place)

    def _unheld(self, card: _Card) -> Iterable[PlacedGrant]:
        """The grants of a card in no known wallet that lend the target to somebody."""
        owner = self._target.owner
        whole = [h for h in card.hits if h.grant.target.owner.slot is None and h.grant.target.owner.covers(owner)]
        denied = [h.grant.recipient for h in whole if h.bound is Bound.LOWER_NEGATIVE]
        for hit in card.hits:
            lends = hit.bound is Bound.LOWER_POSITIVE and (hit.grant.target.owner.slot is not None or hit in whole)
            if lends and not any(recipient.covers(hit.grant.recipient) for recipient in denied):
                yield PlacedGrant(card.name, hit.bound, hit.index, hit.grant, hit.place)


def _filled(recipient: Recipient, context: AgentContext | None) -> Recipient:
    return recipient if context is None else recipient.filled(context)
