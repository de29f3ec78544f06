"""The one order of the facts of a deployment, and what may not be among them.

Lists of grants keep their order and their repetitions; everything that is a set is sorted by its key,
so that the same facts always give the same document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from policyd.core.application import GrantOrigin
from policyd.core.cards import ScopeCard
from policyd.core.grants import Level
from policyd.findings import Span
from policyd.store.codes import StoreCode
from policyd.store.facts import AgentType, Deployment, WalletFact

MAX_NAME_BYTES = 600
"""Longer names do not fit an index entry; the platform's own stay below a hundred."""

MAX_PATH_BYTES = 1000
"""The same for the path of a named value, keys and separators together."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

_Fact = TypeVar("_Fact")


def check_text(text: str, what: str, span: Span | None = None) -> None:
    """Refuse a text that a database cannot hold: one with a zero character or half a surrogate pair.

    Raises:
        InputError: STORE013.
    """
    found = _UNSTORABLE.search(text)
    if found is not None:
        raise StoreCode.UNSTORABLE_TEXT.error(
            f"{what} contains the character U+{ord(found.group()):04X}, which no database holds", span, "remove it"
        )


def check_name(text: str, what: str, span: Span | None = None) -> None:
    """Refuse a name that is empty, too long for an index, or that a database cannot hold.

    Raises:
        InputError: STORE013.
    """
    check_text(text, what, span)
    if not text:
        raise StoreCode.UNSTORABLE_TEXT.error(f"{what} is empty", span, "give it a name")
    if len(text.encode()) > MAX_NAME_BYTES:
        raise StoreCode.UNSTORABLE_TEXT.error(f"{what} is longer than {MAX_NAME_BYTES} bytes", span, "shorten the name")


def _sorted(
    facts: Iterable[_Fact], key: Callable[[_Fact], tuple[str, ...]], place: Callable[[_Fact], Span | None], what: str
) -> tuple[_Fact, ...]:
    """The facts by key; equal facts collapse, different ones under one key are refused."""
    found: dict[tuple[str, ...], _Fact] = {}
    for fact in facts:
        name = key(fact)
        other = found.setdefault(name, fact)
        if other != fact:
            raise StoreCode.CONTRADICTION.error(
                f"two different facts about {what} `{' '.join(n for n in name if n)}`",
                place(fact),
                "keep one of them",
            )
    return tuple(found[name] for name in sorted(found))


def ordered(deployment: Deployment) -> Deployment:
    """The same facts in their one order, each once.

    Raises:
        InputError: STORE012 for two different facts under one key, STORE013 for a text that cannot be stored,
            STORE014 for a wallet with a card that is not among the cards, STORE015 for an agent of another environment.
    """
    d = deployment
    for text, what in ((d.account, "account"), (d.application, "application"), (d.environment, "environment")):
        check_name(text, f"the name of the {what}")
    sorted_facts = replace(
        d,
        components=_sorted(d.components, lambda f: (f.name,), lambda f: f.place, "component"),
        agent_types=_sorted(
            map(_agent_in_order, d.agent_types), lambda f: (f.component, f.name), lambda f: f.place, "agent type"
        ),
        cards=_sorted(d.cards, lambda f: (f.card.id,), lambda f: f.place, "card"),
        revoked=tuple(sorted(set(d.revoked))),
        wallets=_sorted(
            map(_wallet_in_order, d.wallets), lambda f: (f.holder.text, f.agent_id), lambda f: f.place, "wallet of"
        ),
        shares=_sorted(d.shares, lambda f: (f.id,), lambda f: f.place, "permission share"),
        retry_policies=_sorted(d.retry_policies, lambda f: (f.name, f.origin.value), lambda f: f.place, "retry policy"),
        tools=_sorted(d.tools, lambda f: (f.name, f.origin.value), lambda f: f.place, "tool"),
        middlewares=_sorted(d.middlewares, lambda f: (f.name, f.origin.value), lambda f: f.place, "middleware"),
        chains=_sorted(d.chains, lambda f: (f.level.value, f.subject, f.tool), lambda f: f.place, "middleware list of"),
        values=_sorted(
            d.values, lambda f: (f.kind.value, f.level.value, f.subject, *f.path), lambda f: f.place, "value"
        ),
        findings=tuple(dict.fromkeys(sorted(d.findings, key=lambda f: (*f.finding.order, f.origin.value)))),
    )
    _check(sorted_facts)
    return sorted_facts


def _agent_in_order(agent: AgentType) -> AgentType:
    """Origins that are all the same as being written say nothing."""
    card = agent.card
    if card is None or not card.origins:
        return agent
    if len(card.origins) != len(card.bounds.lower_positive):
        raise StoreCode.CONTRADICTION.error(
            f"the origins of the initial card of `{agent.name}` do not fit its grants", card.place
        )
    return agent if set(card.origins) - {GrantOrigin.WRITTEN} else replace(agent, card=replace(card, origins=()))


def _wallet_in_order(wallet: WalletFact) -> WalletFact:
    cards = _sorted(wallet.cards, lambda held: (held.card,), lambda _: wallet.place, "the wallet's card")
    return replace(wallet, cards=cards)


def _check(d: Deployment) -> None:
    """Refuse names and texts that no table takes, and wallets that point nowhere."""
    components = {c.name for c in d.components}
    for name, what, span in (
        *((c.name, "component", c.place) for c in d.components),
        *((a.name, "agent type", a.place) for a in d.agent_types),
        *((s.name, "permission share", s.place) for s in d.shares),
        *((p.name, "retry policy", p.place) for p in d.retry_policies),
        *((t.name, "tool", t.place) for t in (*d.tools, *d.middlewares)),
    ):
        check_name(name, f"the name of the {what}", span)
    for agent in d.agent_types:
        if agent.component and agent.component not in components:
            raise StoreCode.CONTRADICTION.error(
                f"the component `{agent.component}` of agent type `{agent.name}` is not among the components",
                agent.place,
            )
    for value in d.values:
        check_text("".join(value.path), "the name of a value", value.place)
        if len("/".join(value.path).encode()) > MAX_PATH_BYTES or len(value.subject.encode()) > MAX_NAME_BYTES:
            raise StoreCode.UNSTORABLE_TEXT.error(
                f"the name of a value is longer than {MAX_PATH_BYTES} bytes", value.place, "shorten its keys"
            )
    for chain in d.chains:
        if len((chain.subject + chain.tool).encode()) > MAX_NAME_BYTES:
            raise StoreCode.UNSTORABLE_TEXT.error("the name of a tool is too long", chain.place, "shorten it")
    _check_grants(d)
    _check_wallets(d)


def _check_grants(d: Deployment) -> None:
    lists = [(fact.card.bounds, fact.place) for fact in d.cards]
    lists += [(a.card.bounds, a.card.place) for a in d.agent_types if a.card is not None]
    lists += [(s.bounds, s.place) for s in d.shares]
    for bounds, place in lists:
        for _, _, grant in bounds.each():
            check_text(grant.text, "a grant", place)


def _check_wallets(d: Deployment) -> None:
    known = {fact.card.id for fact in d.cards if not isinstance(fact.card, ScopeCard)}
    home = (d.account, d.application, d.environment)
    for wallet in d.wallets:
        check_text(wallet.holder.text + wallet.agent_id + wallet.recorded_account, "the wallet", wallet.place)
        if wallet.holder.level is Level.AGENT and wallet.holder.known[:3] != home:
            raise StoreCode.FOREIGN_HOLDER.error(
                f"the holder `{wallet.holder.text}` is not an agent of `{d.label}`",
                wallet.place,
                "import the wallet into the environment of its holder",
            )
        if wallet.agent_id and not wallet.agent_id.startswith(f"{wallet.holder.known[-1]}("):
            raise StoreCode.CONTRADICTION.error(
                f"`{wallet.agent_id[:80]}` is no agent of the type of its holder `{wallet.holder.text}`", wallet.place
            )
        for held in wallet.cards:
            if held.card not in known:
                raise StoreCode.UNKNOWN_CARD.error(
                    f"the wallet of `{wallet.holder.text}` holds card `{held.card}`, which is not known here",
                    wallet.place,
                    "import the card, too",
                )
