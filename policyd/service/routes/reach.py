"""Who can get to a call through any chain: the interface and the page.

Source: interface, `reach`; style 11.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from policyd.core.cards import Timestamp
from policyd.core.edition import Rules
from policyd.findings import InputError, PolicydError
from policyd.service.access import Asker, Caller
from policyd.service.answers import answered, json_response
from policyd.service.problems import status_of
from policyd.service.rendering import Name, Text, Visitor, guarded, link, opened, page
from policyd.service.routes.all_calls import proving, seconds_for
from policyd.service.routes.decisions import opened as opened_for
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import moment_of, rules_of
from policyd.service.wire_reach import ReachAnswer, ReachRequest
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.proofs import effort_for
from policyd.usecases.reach import blast_radius, reach_to
from policyd.usecases.reach_words import (
    blast_headline,
    blast_json,
    drawn,
    headline,
    reach_json,
    reach_svg,
)
from policyd.usecases.reach_world import World, world_of
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.stored_parties import stored_parties

routes = router("/v1", "all calls")
pages = APIRouter(include_in_schema=False)

MAX_SHOWN = 30
"""So many chains are written out on a page."""


@routes.post(
    "/reach", response_model=ReachAnswer, responses={**MISSING, **OTHER}, summary="Who gets there by any chain"
)
def reach(request: Request, body: ReachRequest, asker: Asker) -> Response:
    """The shortest chain of every actor that gets there, each hop with its calls, or a proof that there is none."""
    rules = body.rules()
    if (body.to is None) is (body.blast_radius is None):
        raise InputError.of("MANIF091", "one question is wanted", None, "give `to` or `blastRadius`")
    facts, info = opened_for(request, asker, body)
    names = [name for name in (body.from_, body.blast_radius or "") if "(" in name]
    world = _world(facts, info, rules, body.component, moment_of(body.at), names)
    steps = effort_for(seconds_for(request, body.budget))
    with proving(request):
        if body.blast_radius is not None:
            told = blast_json(blast_radius(world, body.blast_radius, assume=body.assume, steps=steps))
        else:
            found = reach_to(
                world, body.to or "", start=body.from_, assume=body.assume, together=body.never_together, steps=steps
            )
            told = reach_json(found)
    return json_response({**told, **answered(info, rules)}, info)


def _world(
    facts: StoredFacts, info: SnapshotInfo, rules: Rules, component: str, at: Timestamp | None, names: list[str]
) -> World:
    return world_of(stored_parties(facts, rules, f"@{info.number}", "", component, at), (), rules, names)


@pages.get("/reach")
def reach_page(
    request: Request,
    asker: Visitor,
    snapshot: Name = "",
    to: Text = "",
    start: Name = "",
    together: Text = "",
    assume: Text = "",
    at: Name = "",
    edition: Name = "next",
) -> Response:
    """The form of the question, and its answer: a picture, and the chains in words."""
    asked = {
        "snapshot": snapshot,
        "to": to,
        "start": start,
        "together": together,
        "assume": assume,
        "at": at,
        "edition": edition,
    }

    def render(known: Caller) -> Response:
        if not snapshot or not (to or start):
            return page(request, "reach.html", asked=asked, answer=None, error=None)
        try:
            facts, info = opened(request, known, snapshot)
            rules = rules_of(edition, {})
            world = _world(facts, info, rules, "", moment_of(at), [start] if "(" in start else [])
            steps, narrowed = effort_for(seconds_for(request)), assume.replace(",", " ").split()
            with proving(request):
                if to:
                    answer = reach_to(world, to, start=start, assume=narrowed, together=together, steps=steps)
                    rows = [(c.start, c.hops, [c.end]) for c in answer.chains]
                    sentence, picture = headline(answer), reach_svg(answer, is_embedded=True) if drawn(answer) else ""
                else:
                    blast = blast_radius(world, start, assume=narrowed, steps=steps)
                    rows = [(t.name, t.chain, [call for _, call in t.classes]) for t in blast.touched]
                    sentence = blast_headline(blast)
                    picture = reach_svg(blast, is_embedded=True) if drawn(blast) else ""
        except PolicydError as error:
            return page(request, "reach.html", status_of(error).value, asked=asked, answer=None, error=error)
        told = answer if to else blast
        return page(
            request,
            "reach.html",
            asked=asked,
            answer=told,
            error=None,
            sentence=sentence,
            rows=rows[:MAX_SHOWN],
            more=max(0, len(rows) - MAX_SHOWN),
            picture=Markup(picture),
            info=info,
            permalink=link("/reach", **{**asked, "snapshot": f"@{info.number}"}),
        )

    return guarded(request, asker, render)
