"""A stored card with its family, and what everybody would lose if it were revoked.

Source: cards 6.7.
"""

from __future__ import annotations

from collections.abc import Sequence

from policyd.core.cards import CardId, ScopeCard, Timestamp
from policyd.core.grants.names import parse_uuid
from policyd.findings import InputError
from policyd.store.facts import place_of
from policyd.store.lineage import CardView, Loss, LostGrant, Relative, Revocation, card_view, revocation
from policyd.store.session import Database
from policyd.store.snapshots import SnapshotInfo
from policyd.store.wallets import Holder
from policyd.syntax.cards import card_json
from policyd.syntax.mistakes import shown
from policyd.usecases.who_can import place_json


def card_id(text: str) -> CardId:
    """The id that a text writes.

    Raises:
        InputError: CARD060 if it is no UUID.
    """
    found = parse_uuid(text)
    if found is None:
        raise InputError.of("CARD060", f"{shown(text)} is no card id", None, "card ids are UUIDs")
    return CardId(found)


def viewed(database: Database, info: SnapshotInfo, card: str) -> CardView:
    """A card of a snapshot with parents, children and holders.

    Raises:
        InputError: if the text is no card id, or the snapshot holds no such card.
    """
    return card_view(database, info.number, card_id(card))


def revoking(database: Database, info: SnapshotInfo, card: str, at: Timestamp | None = None) -> Revocation:
    """Per holder, which floors and ceilings would vanish; nothing is changed.

    Raises:
        InputError: if the text is no card id, or the snapshot holds no such card.
    """
    return revocation(database, info.number, card_id(card), at=at)


def view_json(view: CardView) -> dict[str, object]:
    """A card and its family on the wire."""
    card = view.fact.card
    return {
        "card": card_json(card, tagged=not isinstance(card, ScopeCard)),
        "isRevoked": view.is_revoked,
        "places": [
            {"bound": bound.value, "index": index, "grant": grant.text, "place": place_json(span)}
            for bound, index, grant in card.bounds.each()
            if (span := place_of(view.fact.places, bound, index)) is not None
        ],
        "parents": [_relative_json(relative) for relative in view.parents],
        "children": [_relative_json(relative) for relative in view.children],
        "descendants": [_relative_json(relative) for relative in view.descendants],
        "holders": [holder_json(holder) for holder in view.holders],
    }


def _relative_json(relative: Relative) -> dict[str, object]:
    return {"cardId": relative.card, "isKnown": relative.is_known, "isRevoked": relative.is_revoked}


def holder_json(holder: Holder) -> dict[str, object]:
    """A holder on the wire."""
    return {"holder": holder.recipient.text, "agentId": holder.agent_id or None}


def revocation_json(found: Revocation) -> dict[str, object]:
    """A dry run of a revocation on the wire."""
    return {
        "card": found.card,
        "refusal": found.refusal or None,
        "gone": list(found.gone),
        "losses": [_loss_json(loss) for loss in found.losses],
    }


def _loss_json(loss: Loss) -> dict[str, object]:
    return {
        **holder_json(loss.holder),
        "cards": list(loss.cards),
        "floors": _grants_json(loss.floors),
        "exceptions": _grants_json(loss.exceptions),
        "ceilings": _grants_json(loss.ceilings),
        "denials": _grants_json(loss.denials),
    }


def _grants_json(lost: Sequence[LostGrant]) -> list[dict[str, object]]:
    return [
        {
            "card": item.ref.card,
            "bound": item.ref.bound.value,
            "index": item.ref.index,
            "grant": item.ref.grant.text,
            "place": place_json(item.place),
        }
        for item in lost
    ]
