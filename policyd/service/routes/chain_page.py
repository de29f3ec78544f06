"""The page of chains: each drawn outside-in, each link with its light, the payload that breaks it, both definitions.

Source: middleware 6.5; style 11.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from policyd.findings import PolicydError
from policyd.service.access import Caller
from policyd.service.problems import status_of
from policyd.service.rendering import Name, Visitor, guarded, link, page
from policyd.service.routes.all_calls import proving
from policyd.service.routes.chains import MAX_COMPARED, chains_of
from policyd.service.wire import Document
from policyd.service.wire_chains import ChainPlace
from policyd.usecases.chain_check import MAX_STEPS_SERVED as CHAIN_STEPS
from policyd.usecases.chain_check import check_chains
from policyd.usecases.chain_picture import Light, picture

routes = APIRouter(include_in_schema=False)

MAX_CHAINS = 50
"""So many chains are drawn on one page."""

MAX_PASTED = 1 << 20
"""Characters of a document in the form."""

Pasted = Annotated[str, Form(max_length=MAX_PASTED)]
ShortField = Annotated[str, Form(max_length=4_096)]
LIGHTS = {Light.FITS: "yes", Light.WARNS: "unknown", Light.PARTS: "no", Light.OPEN: "unknown"}
"""The colour of each light; the word stands beside it."""
VERDICTS = {"accept": "yes", "accept with warnings": "unknown", "reject": "no", "undecided": "unknown"}


@routes.get("/chains")
def stored(request: Request, asker: Visitor, snapshot: Name = "", tool: Name = "", edition: Name = "next") -> Response:
    """The form, and the chains of a snapshot if one is named."""
    return _answered(request, asker, {"snapshot": snapshot, "tool": tool, "edition": edition, "document": ""})


@routes.post("/chains")
def pasted(
    request: Request,
    asker: Visitor,
    document: Pasted = "",
    snapshot: ShortField = "",
    tool: ShortField = "",
    edition: ShortField = "next",
) -> Response:
    """The chains of a document that was pasted, or of a snapshot with the definitions that were pasted."""
    asked = {"snapshot": snapshot, "tool": tool, "edition": edition, "document": document}
    return _answered(request, asker, asked)


def _answered(request: Request, asker: Caller | None, asked: dict[str, str]) -> Response:
    def render(known: Caller) -> Response:
        if not asked["snapshot"] and not asked["document"].strip():
            return page(request, "chains.html", asked=asked, pictures=None, error=None)
        try:
            place = _place(asked)
            rules = place.rules()
            sources, info = chains_of(request, known, place, rules)
            with proving(request):
                report = check_chains(sources, None, asked["tool"], "", MAX_COMPARED, CHAIN_STEPS)
                pictures = [picture(row) for row in report.rows[:MAX_CHAINS]]
        except PolicydError as error:
            return page(request, "chains.html", status_of(error).value, asked=asked, pictures=None, error=error)
        drawn = {finding for found in pictures for finding in (*found.row.findings, *found.links[0].findings)}
        permalink = ""
        if info is not None and not asked["document"].strip():
            permalink = link("/chains", snapshot=f"@{info.number}", tool=asked["tool"], edition=asked["edition"])
        return page(
            request,
            "chains.html",
            asked=asked,
            pictures=pictures,
            more=len(report.rows) - len(pictures),
            general=[finding for finding in (*report.findings, *report.unmet) if finding not in drawn],
            not_analysed=report.not_analysed,
            lights=LIGHTS,
            verdicts=VERDICTS,
            info=info,
            rules=rules,
            permalink=permalink,
            error=None,
        )

    return guarded(request, asker, render)


def _place(asked: dict[str, str]) -> ChainPlace:
    """The question that the form stands for; beside a snapshot a document gives definitions."""
    document = [Document(name="document", text=asked["document"])] if asked["document"].strip() else []
    if asked["snapshot"]:
        return ChainPlace(
            edition=asked["edition"], snapshot=asked["snapshot"], documents=[], definitions=document, digest=None
        )
    return ChainPlace(edition=asked["edition"], snapshot=None, documents=document, definitions=[], digest=None)
