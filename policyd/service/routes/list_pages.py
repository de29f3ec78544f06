"""The pages of cards, holders and complete lists.

Source: style 11; interface, who-can, what-can; cards 6.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from policyd.core.cards import Bound, Card, ScopeCard
from policyd.core.edition import NEXT
from policyd.core.grants import Grant
from policyd.core.grants.classes import classes_of
from policyd.findings import PolicydError, Span
from policyd.service.access import Caller, snapshots_for
from policyd.service.problems import status_of
from policyd.service.rendering import Name, Text, Visitor, guarded, opened, page
from policyd.service.wire import moment_of, rules_of
from policyd.service.wiring import services
from policyd.store.facts import place_of
from policyd.store.wallets import wallet
from policyd.usecases.revocation import revoking, viewed
from policyd.usecases.who_can import EXTENTS, what, who

routes = APIRouter(include_in_schema=False)

TITLES = {
    Bound.LOWER_POSITIVE: ("Floor", "what it gives, as far as the ceilings of the wallet let it"),
    Bound.LOWER_NEGATIVE: ("Cut out of the floor", "taken away again from what this card gives"),
    Bound.UPPER_POSITIVE: ("Ceiling", "nothing outside of this, whatever other cards give"),
    Bound.UPPER_NEGATIVE: ("Denied", "denied to the whole wallet, whatever other cards give"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A grant in a table, and where it stands."""

    grant: Grant
    place: Span | None


def tables(card: Card | ScopeCard, places: dict[tuple[Bound, int], Span]) -> list[tuple[str, str, list[Row]]]:
    """The four lists of a card as tables with their titles."""
    return [
        (
            *TITLES[bound],
            [Row(grant, places.get((bound, index))) for index, grant in enumerate(card.bounds.of(bound))],
        )
        for bound in Bound
    ]


@routes.get("/snapshots/{number}/cards/{card}")
def card_page(request: Request, number: int, card: str, asker: Visitor, at: Name = "") -> Response:
    """A card with its family and its holders, and what would be lost if it were revoked."""

    def render(known: Caller) -> Response:
        info = snapshots_for(request, known).resolve(f"@{number}")
        database = services(request).database
        view = viewed(database, info, card)
        fact = view.fact
        spans = {
            (bound, index): span
            for bound, index, _ in fact.card.bounds.each()
            if (span := place_of(fact.places, bound, index)) is not None
        }
        lost = revoking(database, info, card, moment_of(at))
        return page(
            request,
            "card.html",
            info=info,
            view=view,
            card=fact.card,
            is_scope=isinstance(fact.card, ScopeCard),
            lists=tables(fact.card, spans),
            lost=lost,
            at=at,
        )

    return guarded(request, asker, render)


@routes.get("/snapshots/{number}/holder")
def holder_page(request: Request, number: int, asker: Visitor, holder: Name, agent: Name = "") -> Response:
    """The wallet of a holder: each card with its floor and its ceiling."""

    def render(known: Caller) -> Response:
        info = snapshots_for(request, known).resolve(f"@{number}")
        stored = wallet(services(request).database, info.number, holder, agent)
        cards = [
            (
                held,
                held.card.id in stored.wallet.revoked,
                tables(
                    stored.wallet.filled(held.card),
                    {(b, i): span for (c, b, i), span in stored.places.items() if c == held.card.id},
                ),
            )
            for held in stored.wallet.cards
        ]
        return page(request, "holder.html", info=info, stored=stored, cards=cards, agent=agent)

    return guarded(request, asker, render)


@routes.get("/who-can")
def who_page(
    request: Request, asker: Visitor, snapshot: Name = "", target: Text = "", at: Name = "", edition: Name = "next"
) -> Response:
    """Who can do this, over all of a deployment."""
    asked = {"snapshot": snapshot, "target": target, "at": at, "edition": edition}

    def render(known: Caller) -> Response:
        if not snapshot or not target:
            return page(request, "who_can.html", asked=asked, answer=None, error=None)
        try:
            facts, info = opened(request, known, snapshot)
            answer = who(services(request).database, facts, info, target, rules_of(edition, {}), moment_of(at))
        except PolicydError as error:
            return page(request, "who_can.html", status_of(error).value, asked=asked, answer=None, error=error)
        return page(request, "who_can.html", asked=asked, answer=answer, error=None)

    return guarded(request, asker, render)


@routes.get("/what-can")
def what_page(
    request: Request,
    asker: Visitor,
    snapshot: Name = "",
    holder: Name = "",
    cls: Name = "",
    at: Name = "",
    edition: Name = "next",
) -> Response:
    """Everything that a holder may do."""
    asked = {"snapshot": snapshot, "holder": holder, "cls": cls, "at": at, "edition": edition}
    names = _class_names()

    def render(known: Caller) -> Response:
        if not snapshot or not holder:
            return page(request, "what_can.html", asked=asked, names=names, answer=None, error=None, extents=EXTENTS)
        try:
            facts, info = opened(request, known, snapshot)
            classes: Sequence[str] = (cls,) if cls else ()
            database = services(request).database
            answer = what(database, facts, info, holder, rules_of(edition, {}), classes=classes, at=moment_of(at))
        except PolicydError as error:
            return page(
                request,
                "what_can.html",
                status_of(error).value,
                asked=asked,
                names=names,
                answer=None,
                error=error,
                extents=EXTENTS,
            )
        return page(request, "what_can.html", asked=asked, names=names, answer=answer, error=None, extents=EXTENTS)

    return guarded(request, asker, render)


def _class_names() -> list[str]:
    return sorted(cls.name for cls in classes_of(NEXT))
