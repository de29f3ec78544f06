"""What the grant under the pointer means, and what it does in every environment.

Source: cards 2.2, 3, 7.1; questions 2 (price of a change).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from policyd.core.cards import Bound
from policyd.core.edition import Rules
from policyd.explain.meaning import Meaning, meaning
from policyd.findings import InputError, PolicydError, visible
from policyd.lsp.study import PlacedIn, Study
from policyd.manifest.load import Document
from policyd.usecases.changes import HolderChange
from policyd.usecases.deployments import Selection
from policyd.usecases.holders import Holders, holders_in
from policyd.usecases.what_if import Edit, what_if

MAX_CARDS = 6
"""Cards for which the effect is told; a shared one can end up in many."""

MAX_STEPS = 200_000
"""Effort of the search for what would stop without a grant."""

_LISTS = {
    Bound.LOWER_POSITIVE: "lends",
    Bound.LOWER_NEGATIVE: "takes back what this card lends",
    Bound.UPPER_POSITIVE: "ceiling: lets through",
    Bound.UPPER_NEGATIVE: "ceiling: withholds",
}


_ESCAPED = re.compile(r"[\\<*_\[\]#|~]")


def hover(study: Study, document: Document, offset: int) -> str:
    """Markdown about the grant at a place, empty where there is none."""
    placed = list(study.grants_at(document, offset))
    if not placed:
        return ""
    grants = dict.fromkeys(p.placed.grant for p in placed)
    blocks = [_meant(meaning(grant), grant.text) for grant in list(grants)[:2]]
    lines = list(_effects(placed[:MAX_CARDS], study.rules))
    if len(placed) > MAX_CARDS:
        lines.append(f"* … and in {len(placed) - MAX_CARDS} further cards")
    return "\n\n".join([*blocks, "\n".join(lines)])


def _meant(said: Meaning, text: str) -> str:
    rows = [
        f"* recipient: {plain(said.recipient)}",
        f"* owner: {plain(said.owner)}",
        f"* verb: {plain(said.verb)}",
        f"* resource: {plain(said.resource)}",
    ]
    if said.covers:
        rows.append(f"* covers {_listed(said.covers)}")
    if said.misses:
        rows.append(f"* does not cover {_listed(said.misses)}")
    rows += [f"* note: {plain(remark)}" for remark in said.remarks]
    return code(text) + "\n\n" + "\n".join(rows)


def _effects(placed: list[PlacedIn], rules: Rules) -> Iterator[str]:
    for item in placed:
        deployment = item.found.deployment
        where = f"**{plain(item.agent.name)}**" + (
            f" in {plain(deployment.environment)}" if deployment.environment else ""
        )
        parties = holders_in(item.found, Selection(), item.agent.name)
        context = replace(parties.by_name[item.agent.name].context, agent_id=f"{item.agent.name}(…)")
        filled = item.placed.grant.addressed(context).filled(context)
        yield f"* {where}, {_LISTS[item.bound]}: {code(filled.text)}"
        yield f"  * {_effect(item, parties, rules)}"


def _effect(item: PlacedIn, parties: Holders, rules: Rules) -> str:
    span = item.placed.span
    assert span is not None  # only grants that stand somewhere are looked up
    try:
        changes = what_if(parties, Edit(remove=(span.where,)), rules, limit=3, steps=MAX_STEPS)
    except InputError as error:
        return f"its effect cannot be told: {plain(error.findings[0].message)}"
    except PolicydError:
        return "its effect cannot be told"
    told = [text for change in changes.holders for text in _changed(change)]
    if not told:
        told = [plain(note) for note in changes.notes] or ["without it, the same calls are admitted"]
    if changes.is_undecided:
        told.append("the search ended early: there may be more")
    return "; ".join(told)


def _changed(change: HolderChange) -> Iterator[str]:
    for side, words in ((change.stopped, "no longer admitted without it"), (change.started, "admitted without it")):
        if side.witnesses:
            more = f" and {side.more} further kinds" if side.more else ""
            yield f"{words}: {_listed([w.call for w in side.witnesses])}{more}"


def _listed(texts: list[str] | tuple[str, ...]) -> str:
    return " · ".join(code(text) for text in texts)


def code(text: str) -> str:
    """A text as inline code, whatever stands in it."""
    shown = visible(text)
    fence = "`"
    while fence in shown:
        fence += "`"
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def plain(text: str) -> str:
    """A text in which Markdown means nothing but the code that stands between its backticks."""
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        parts = ["'".join(parts)]
    return "`".join(part if index % 2 else _ESCAPED.sub(r"\\\g<0>", part) for index, part in enumerate(parts))
