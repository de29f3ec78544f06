"""A wallet compiled once, so that deciding does not grow with it.

The compiled wallet gives exactly the decisions of `decide` on the same cards; it only finds the
grants that matter without looking at the others.

Source: cards 5.1, 5.2.
"""

from __future__ import annotations

from bisect import bisect_right
from hashlib import blake2b

from policyd.core.admission.decision import FEW, Decision, Forbidden, Withheld
from policyd.core.admission.postings import Postings, first_place, positions
from policyd.core.admission.resource_index import ResourceIndex, index_for
from policyd.core.admission.wallet import Wallet
from policyd.core.cards import Bound, Card, GrantRef, Timestamp
from policyd.core.grants import Target


class CompiledWallet:
    """All live and future decisions of one wallet for its holder, as an index.

    Attributes:
        digest: names the contents: holder, cards in wallet order, every grant; the same on every load.
        grants: how many grants were taken up, those for other holders left out.
    """

    __slots__ = ("_cards", "_expiries", "_index", "_live", "_with_ceiling", "digest", "grants")

    def __init__(self, wallet: Wallet) -> None:
        """Compile `wallet`; templates are filled for its agent, revoked cards are left out."""
        cards = [wallet.filled(held.card) for held in wallet.cards if held.card.id not in wallet.revoked]
        self._cards: list[Card] = cards
        self._index: dict[str, ResourceIndex] = {}
        self._with_ceiling = 0
        self.grants = 0
        digest = blake2b(wallet.holder.text.encode("utf-8", "surrogatepass"), digest_size=16)
        for position, card in enumerate(cards):
            digest.update(f"\0{card.id}\0{card.expires_at.text if card.expires_at else ''}".encode())
            for bound, index, grant in card.bounds.each():
                digest.update(f"\0{bound.value}\0{index}\0{grant.text}".encode("utf-8", "surrogatepass"))
                if grant.recipient.covers(wallet.holder):
                    self._take(position, bound, index, grant.target)
        self.digest = digest.hexdigest()
        for resources in self._index.values():
            resources.freeze()
        self._expiries, self._live = _live_masks(cards)

    def _take(self, position: int, bound: Bound, index: int, target: Target) -> None:
        resources = self._index.get(target.cls.name)
        if resources is None:
            resources = self._index[target.cls.name] = index_for(target.cls.resource)
        resources.at(target.resource).at(target.owner, target.verb).add(position, bound, index)
        self.grants += 1
        if bound is Bound.UPPER_POSITIVE:
            self._with_ceiling |= 1 << position

    def _hits(self, target: Target) -> list[Postings]:
        hits: list[Postings] = []
        resources = self._index.get(target.cls.name)
        if resources is not None:
            resources.covering(target, hits)
        return hits

    def _alive(self, at: Timestamp | None) -> int:
        return self._live[0] if at is None else self._live[bisect_right(self._expiries, at)]

    def admits(self, target: Target, at: Timestamp | None = None) -> bool:
        """Whether the wallet admits `target` at `at`; without a moment expiry is left aside."""
        granting, _, missing, forbidding, _ = self._weigh(target, at)
        return bool(granting) and not missing and not forbidding

    def _weigh(self, target: Target, at: Timestamp | None) -> tuple[int, int, int, int, list[Postings]]:
        """Bits of the cards that lend, that grant and deny, whose ceiling misses it, whose ceiling denies it."""
        alive = self._alive(at)
        hits = self._hits(target)
        positive = negative = upper = denied = 0
        for hit in hits:
            positive |= hit.lower_positive
            negative |= hit.lower_negative
            upper |= hit.upper_positive
            denied |= hit.upper_negative
        positive &= alive
        return positive & ~negative, positive & negative, self._with_ceiling & alive & ~upper, denied & alive, hits

    def decide(self, target: Target, at: Timestamp | None = None) -> Decision:
        """The decision on `target`, with the grants that make it."""
        granting, both, missing, forbidding, hits = self._weigh(target, at)
        granted = None
        forbidden: tuple[Forbidden, ...] = ()
        count = 0
        if granting:
            granted = self._ref(hits, (granting & -granting).bit_length() - 1, Bound.LOWER_POSITIVE)
        elif both:
            count = both.bit_count()
            forbidden = tuple(
                Forbidden(self._ref(hits, card, Bound.LOWER_POSITIVE), self._ref(hits, card, Bound.LOWER_NEGATIVE))
                for card, _ in zip(positions(both), range(FEW), strict=False)
            )
        blocking = missing | forbidding
        withheld: tuple[Withheld, ...] = ()
        if blocking:
            withheld = tuple(
                Withheld(
                    self._cards[card].id,
                    None if missing >> card & 1 else self._ref(hits, card, Bound.UPPER_NEGATIVE),
                )
                for card, _ in zip(positions(blocking), range(FEW), strict=False)
            )
        return Decision(granted, forbidden, count, withheld, blocking.bit_count())

    def passed_ceilings(self, target: Target, at: Timestamp | None = None) -> tuple[tuple[GrantRef, ...], int]:
        """The first few ceilings that let `target` through, by the grant that does, and how many do.

        Worth asking only where `decide` admits: then every ceiling lets it through.
        """
        hits = self._hits(target)
        upper = 0
        for hit in hits:
            upper |= hit.upper_positive
        passed = self._with_ceiling & self._alive(at) & upper
        refs = (
            self._ref(hits, card, Bound.UPPER_POSITIVE) for card, _ in zip(positions(passed), range(FEW), strict=False)
        )
        return tuple(refs), passed.bit_count()

    def _ref(self, hits: list[Postings], position: int, bound: Bound) -> GrantRef:
        card = self._cards[position]
        index = first_place(hits, position, bound)
        return GrantRef(card.id, bound, index, card.bounds.of(bound)[index])


def _live_masks(cards: list[Card]) -> tuple[list[Timestamp], list[int]]:
    """The expiries in order, and the cards alive before the first, from the first on, and so forth."""
    everyone = (1 << len(cards)) - 1
    expiring: dict[Timestamp, int] = {}
    for position, card in enumerate(cards):
        if card.expires_at is not None:
            expiring[card.expires_at] = expiring.get(card.expires_at, 0) | 1 << position
    moments = sorted(expiring)
    masks = [everyone]
    for moment in moments:
        masks.append(masks[-1] & ~expiring[moment])
    return moments, masks
