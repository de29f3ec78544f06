"""The page of a difference: two snapshots, witnesses for each holder, cards side by side.

Source: interface, `diff`; style 11.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from policyd.findings import PolicydError
from policyd.service.access import Caller
from policyd.service.problems import status_of
from policyd.service.rendering import Name, Visitor, guarded, link, opened, page
from policyd.service.routes.all_calls import proving, seconds_for
from policyd.service.wire import moment_of, rules_of
from policyd.usecases.changes import HolderChange, changes_between
from policyd.usecases.open_names import party_of
from policyd.usecases.proofs import effort_for
from policyd.usecases.side_by_side import Listed, side_by_side
from policyd.usecases.stored_parties import aligned, stored_parties

routes = APIRouter(include_in_schema=False)

MAX_HOLDERS = 50
"""So many holders with changes are shown on one page."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A holder with what changes for it, and its cards side by side."""

    change: HolderChange
    lists: tuple[Listed, ...]


@routes.get("/diff")
def difference(
    request: Request,
    asker: Visitor,
    old: Name = "",
    new: Name = "",
    agent: Name = "",
    at: Name = "",
    edition: Name = "next",
) -> Response:
    """The form of the question, and its answer if both snapshots are named."""
    asked = {"old": old, "new": new, "agent": agent, "at": at, "edition": edition}

    def render(known: Caller) -> Response:
        if not old or not new:
            return page(request, "diff.html", asked=asked, changes=None, error=None)
        try:
            rules, moment = rules_of(edition, {}), moment_of(at)
            (before, first), (after, second) = opened(request, known, old), opened(request, known, new)
            left, right = aligned(
                stored_parties(before, rules, f"@{first.number}", agent, "", moment, is_optional=True),
                stored_parties(after, rules, f"@{second.number}", agent, "", moment, is_optional=True),
            )
            with proving(request):
                changes = changes_between(left, right, rules, steps=effort_for(seconds_for(request)))
        except PolicydError as error:
            return page(request, "diff.html", status_of(error).value, asked=asked, changes=None, error=error)
        differing = [holder for holder in changes.holders if not holder.is_none]
        shown = [Shown(holder, side_by_side(left, right, party_of(holder.name))) for holder in differing[:MAX_HOLDERS]]
        return page(
            request,
            "diff.html",
            asked=asked,
            changes=changes,
            error=None,
            shown=shown,
            more=len(differing) - len(shown),
            same=[holder.name for holder in changes.holders if holder.is_none],
            classes=max((holder.classes for holder in changes.holders), default=0),
            infos=(first, second),
            permalink=link("/diff", **{**asked, "old": f"@{first.number}", "new": f"@{second.number}"}),
        )

    return guarded(request, asker, render)
