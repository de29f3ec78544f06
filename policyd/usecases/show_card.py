"""The effective initial card of an agent type, as it is shown.

Source: cards 8.2, 8.3; manifest-format 11.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policyd.core.application import Deployment, InitialCard, PlacedGrant
from policyd.core.cards import Bound
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Grant
from policyd.core.grants.names import ascii_lower
from policyd.findings import Finding, visible_lines
from policyd.syntax.mistakes import shown
from policyd.usecases.deployments import Described, Selection, agent_name, no_such_agent, unlisted_agent


@dataclass(frozen=True, slots=True)
class ShownGrant:
    """One grant: as written, and with the slots filled that are known; `card` is the id of its card, if it has one."""

    bound: Bound
    written: str
    filled: str
    origin: str
    where: str
    card: str = ""


@dataclass(frozen=True, slots=True)
class ShownCard:
    """An effective initial card, or the live cards of a wallet that decides in its place.

    Attributes:
        agent: as asked.
        environment: its name.
        origin: the layer that sets it, or `default card`.
        where: its place, empty for the default card.
        component, account: as far as they are known, else empty.
        grants: list after list.
        replaced: the layers whose cards it replaces, with their places.
        bad: texts that are no grants.
        notes: what else must be said.
        rules: the edition.
        holder: whose wallet decides, empty where the initial card does.
        cards: the ids of the wallet's live cards.
        own_wallets: the agents of the type whose own wallets decide for them instead, sorted.
    """

    agent: str
    environment: str
    origin: str
    where: str
    component: str
    account: str
    grants: tuple[ShownGrant, ...]
    replaced: tuple[str, ...]
    bad: tuple[Finding, ...]
    notes: tuple[str, ...]
    rules: Rules
    holder: str = ""
    cards: tuple[str, ...] = ()
    own_wallets: tuple[str, ...] = ()


def shown_card(described: Described, selection: Selection, agent: str, rules: Rules) -> ShownCard:
    """The card of an agent type or of one agent.

    Raises:
        NoSuchName: if the manifest names no such agent type.
    """
    deployment = described.deployment
    type_name, agent_id = agent_name(agent)
    found = deployment.agent(type_name)
    said: list[str] = []
    if found is None and (component := selection.component):
        found = unlisted_agent(type_name, deployment)
        said.append(
            f"the manifest does not name {shown(type_name)}; if `{selection.component}` has it, this is its card"
        )
    if found is None:
        raise no_such_agent(type_name, deployment)
    account = ascii_lower(selection.account) or deployment.account
    component = selection.component or found.component
    card = found.initial_card
    known = bool(account and component)
    context = AgentContext(account, deployment.application, deployment.environment, component, type_name, agent_id)
    notes = [*described.not_analysed, *said]
    if not known:
        missing = " and ".join(w for w, v in (("account", account), ("component", component)) if not v)
        notes.append(f"slots stay open: the {missing} is not known, give `--account` or `--component`")
    elif agent_id is None:
        notes.append("an owner `?agent` stays open: it becomes the id of each agent")
    notes += [f"the `initialCard` of {m.layer} ({m.span.where}) has no effect on agents" for m in deployment.misplaced]
    return ShownCard(
        agent,
        deployment.environment,
        card.layer or "default card",
        card.span.where if card.span else "",
        component,
        account,
        tuple(_shown(bound, placed, context if known else None, card) for bound, _, placed in card.each()),
        tuple(f"{layer} ({span.where})" for layer, span in card.replaced),
        tuple(bad.finding for bad in card.bad),
        tuple(notes),
        rules,
    )


def _shown(bound: Bound, placed: PlacedGrant, context: AgentContext | None, card: InitialCard) -> ShownGrant:
    held = placed.grant if context is None else filled(placed.grant, context)
    where = placed.span.where if placed.span else ""
    return ShownGrant(bound, placed.text, held.text, placed.origin.value, where)


def filled(grant: Grant, context: AgentContext) -> Grant:
    """The grant as the agents of `context` hold it."""
    addressed = grant.addressed(context)
    return replace(addressed, target=addressed.target.filled(context))


_TITLES = {
    Bound.LOWER_POSITIVE: "lower bound, positive (what it may do)",
    Bound.LOWER_NEGATIVE: "lower bound, negative (cut out of that)",
    Bound.UPPER_POSITIVE: "upper bound, positive (the ceiling on the whole wallet)",
    Bound.UPPER_NEGATIVE: "upper bound, negative (denied to the whole wallet)",
}


def card_text(card: ShownCard) -> str:
    """The card for a terminal."""
    where = f" ({card.where})" if card.where else ""
    if card.holder:
        count = f"{len(card.cards)} card{'s' if len(card.cards) != 1 else ''}"
        out = [f"wallet of {card.agent} in {card.environment}: {count}, which decide instead of the initial card"]
    else:
        out = [f"initial card of {card.agent} in {card.environment}: {card.origin}{where}"]
    out += [f"replaces as a whole: {layer}" for layer in card.replaced]
    for name in card.cards if card.holder else ("",):
        if name:
            out += ["", f"card {name}"]
        out += _lists(card, name)
    if card.own_wallets:
        out += ["", "agents with wallets of their own, which decide for them instead:"]
        out += [f"  {name}" for name in card.own_wallets]
    out += ["", *(f"note: {note}" for note in card.notes), f"edition: {card.rules.label}"]
    return visible_lines(out)


def _lists(card: ShownCard, name: str) -> Iterator[str]:
    for bound, title in _TITLES.items():
        grants = [g for g in card.grants if g.bound is bound and g.card == name]
        if not grants:
            yield from ("", f"{title}: none{', so no ceiling' if bound is Bound.UPPER_POSITIVE else ''}")
            continue
        yield from ("", f"{title}:")
        for number, grant in enumerate(grants, 1):
            source = ", ".join(part for part in (grant.where, grant.origin) if part)
            yield f"  {number:>2}. {grant.filled}   [{source}]"


def card_json(card: ShownCard) -> dict[str, object]:
    """The card as JSON."""
    return {
        "agent": card.agent,
        "environment": card.environment,
        "origin": card.origin,
        "place": card.where or None,
        "component": card.component or None,
        "account": card.account or None,
        "grants": [
            {
                "bound": g.bound.value,
                "written": g.written,
                "filled": g.filled,
                "origin": g.origin,
                "place": g.where or None,
                "card": g.card or None,
            }
            for g in card.grants
        ],
        "replaces": list(card.replaced),
        "unreadable": [f.message for f in card.bad],
        "notes": list(card.notes),
        "holder": card.holder or None,
        "cards": list(card.cards),
        "ownWallets": list(card.own_wallets),
        "edition": card.rules.label,
    }


def agents_json(deployment: Deployment) -> list[dict[str, object]]:
    """The agent types of a deployment with the origin of their cards."""
    return [
        {
            "name": agent.name,
            "component": agent.component,
            "card": "default card" if agent.initial_card.is_default else agent.initial_card.layer,
            "ownWallets": [],
        }
        for agent in deployment.agents
    ]
