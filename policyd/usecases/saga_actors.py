"""Who could change what decides about a saga while it runs, as far as the cards show.

Source: retry 6.7 (U5, U6, U7, U13); questions 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from policyd.core.admission import Facet, Reach, Why
from policyd.core.grants import Grant
from policyd.core.retry.saga_stability import Actors
from policyd.findings import PolicydError
from policyd.usecases.answer import Answer
from policyd.usecases.deployments import agent_name
from policyd.usecases.saga_self_view import AgentCards

MAX_HOLDERS = 1_000
"""So many types, and so many accounts and single agents, are asked about."""

_RULES = "environment.retry-policy"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def actors_of(
    agents: Sequence[str], own: str, cards: AgentCards, names: Collection[str], *, sets_policies: bool
) -> Actors:
    """Agents and accounts of the deployment that may edit policies, deploy, or revoke the saga's card.

    Args:
        agents: types of the deployment.
        own: the type that runs the saga.
        cards: what they hold.
        names: of the policies that the environment has.
        sets_policies: whether the saga's body is known to set or remove policies.
    """
    editors = _holders(agents, cards, lambda holder: _may_edit(holder, cards, names))
    deployers = _holders(agents, cards, lambda holder: _some_may(holder, cards, "environment(?env) : deploy :"))
    revokers = (own,) if _some_may(own, cards, "card(?account) : revoke : *") else ()
    return Actors(sets_policies, editors, deployers, revokers)


def _holders(agents: Sequence[str], cards: AgentCards, is_one: Callable[[str], bool]) -> tuple[str, ...]:
    """Who is one: types, and accounts and single agents of other types."""
    types = tuple(agent for agent in agents[:MAX_HOLDERS] if is_one(agent))
    others = (other for other in cards.others[:MAX_HOLDERS] if agent_name(other)[0] not in types)
    return (*types, *(other for other in others if is_one(other)))


def _may_edit(holder: str, cards: AgentCards, names: Collection[str]) -> bool:
    """Whether some policy may be edited, or a new one created."""
    return any(_some_may(holder, cards, target) for target in dict.fromkeys(_edits(holder, cards, names)))


def _edits(holder: str, cards: AgentCards, names: Collection[str]) -> Iterator[str]:
    """What to ask: of all policies, and of those that the grants of the holder name."""
    for verb in ("update", "delete", "create"):
        yield f"{_RULES}(?env) : {verb} : *"
    for grant in _grants(holder, cards):
        name = grant.target.resource.text
        if grant.target.cls.name != _RULES or _NAME.fullmatch(name) is None:
            continue
        for verb in ("update", "delete") if name in names else ("create",):
            yield f"{_RULES}(?env) : {verb} : {name}"


def _grants(holder: str, cards: AgentCards) -> Iterator[Grant]:
    try:
        holding = cards.holding(holder)
    except PolicydError:
        return
    for held in holding.wallet.cards if holding is not None else ():
        yield from held.card.bounds.lower_positive


def _some_may(holder: str, cards: AgentCards, target: str) -> bool:
    """Whether at least one agent of the type certainly may."""
    try:
        answer = cards.may(holder, target)
    except PolicydError:
        return False
    return answer.verdict.admitted is Facet.YES or _is_so_for_some(answer)


def _is_so_for_some(answer: Answer) -> bool:
    if answer.verdict.admitted is Facet.UNKNOWN or answer.reach is not Reach.SOME:
        return False
    return bool(answer.exceptions) or any(reason.why is Why.SOME_INSTANCES for reason in answer.verdict.reasons)
