"""The parts of a deployment report that are answers of other verbs: reach, sagas, chains, retry limits.

Source: interface, `report`; questions 1, 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from policyd.core.cards import Bound
from policyd.core.edition import Rules
from policyd.findings import PolicydError
from policyd.syntax import GrantSyntaxError
from policyd.syntax.mistakes import shown
from policyd.syntax.queries import parse_query
from policyd.usecases.chain_check import ChainReport
from policyd.usecases.chain_report import word
from policyd.usecases.proofs import effort_for
from policyd.usecases.reach import Chain, Reach, reach_to
from policyd.usecases.reach_words import headline
from policyd.usecases.reach_world import World
from policyd.usecases.retry_limits import LimitsTable, amount_words, limits_json, total_words
from policyd.usecases.retry_saga import SagaAnswer
from policyd.usecases.saga_self_view import AgentCards
from policyd.usecases.saga_words import saga_line
from policyd.usecases.show_card import ShownCard
from policyd.usecases.wallet_holders import WalletHolder

MAX_SECRETS = 20
"""So many secrets of the environment are asked about one by one; all of them together are asked about anyway."""

MAX_CHAINS = 12
"""So many actors are told for one query, the outside first, then the shortest chains."""

GENERAL = (("any secret", "secret(any) : reveal : any"), ("the outside", "network() : connect : any"))
"""What is asked of every deployment."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is reached for: in words, and as a query."""

    name: str
    query: str


def reach_queries(secrets: Sequence[str], rules: Rules) -> tuple[tuple[Asked, ...], tuple[str, ...]]:
    """What a report asks `reach` about, and sentences on the secrets it does not ask about one by one.

    Args:
        secrets: the paths of the environment's secrets.
        rules: the edition.
    """
    asked = [Asked(name, query) for name, query in GENERAL]
    left = []
    for name in secrets[:MAX_SECRETS]:
        query = f"secret(?env) : reveal : {name}"
        try:
            parse_query(query, rules)
        except GrantSyntaxError:
            left.append(f"who reaches the secret {shown(name)}: no query can name it")
            continue
        asked.append(Asked(f"secret {name}", query))
    if len(secrets) > MAX_SECRETS:
        left.append(f"who reaches {len(secrets) - MAX_SECRETS} further secrets, one by one")
    return tuple(asked), tuple(left)


def reach_rows(world: World, asked: Sequence[Asked], budget_s: float) -> Iterator[dict[str, object]]:
    """One row per query: who gets there, by whom, or the proof that nobody does."""
    for item in asked:
        try:
            found = reach_to(world, item.query, steps=effort_for(budget_s))
        except PolicydError as refusal:
            yield _open_row(item, refusal.findings[0].message)
            continue
        yield {
            "name": item.name,
            "query": item.query,
            "answer": found.word,
            "words": headline(found),
            "actors": found.actors,
            "reaching": found.reaching,
            "outside": any(_is_outside(chain) for chain in found.chains),
            "chains": [_chain_json(chain) for chain in _telling(found)],
            "undecided": list(found.undecided),
            "assumptions": list(found.assumptions),
        }


def _open_row(item: Asked, why: str) -> dict[str, object]:
    return {
        "name": item.name,
        "query": item.query,
        "answer": "undecided",
        "words": f"undecided: {why}",
        "actors": 0,
        "reaching": 0,
        "outside": False,
        "chains": [],
        "undecided": [why],
        "assumptions": [],
    }


def _telling(found: Reach) -> list[Chain]:
    outside = [chain for chain in found.chains if _is_outside(chain)]
    return (outside + [chain for chain in found.chains if not _is_outside(chain)])[:MAX_CHAINS]


def _is_outside(chain: Chain) -> bool:
    return chain.start == "external"


def _chain_json(chain: Chain) -> dict[str, object]:
    return {
        "start": chain.start,
        "hops": [hop.words for hop in chain.hops],
        "end": {
            "who": chain.end.who,
            "call": chain.end.target.rstrip(),
            "grants": [{"grant": text, "place": place.where if place else None} for text, place in chain.end.grants],
        },
    }


def card_row(card: ShownCard) -> dict[str, object]:
    """The effective initial card of an agent type, grant by grant, with where each comes from."""
    return {
        "agent": card.agent,
        "origin": card.origin,
        "place": card.where or None,
        "component": card.component or None,
        "account": card.account or None,
        "grants": [_grant_row(g.bound, g.written, g.filled, g.origin, g.where) for g in card.grants],
        "replaces": list(card.replaced),
        "unreadable": [finding.message for finding in card.bad],
        "notes": list(card.notes),
    }


def wallet_row(wallet: WalletHolder) -> dict[str, object]:
    """The live cards of an imported wallet, which decides in place of an initial card."""
    context = wallet.context
    rows = []
    for ref in wallet.refs:
        place = wallet.place(ref)
        filled = ref.grant if context is None or context.agent_id is None else ref.grant.filled(context)
        where = place.where if place is not None else ""
        rows.append(_grant_row(ref.bound, wallet.written(ref), filled.text, f"card {ref.card}", where))
    return {
        "agent": wallet.name,
        "origin": "imported wallet",
        "place": None,
        "component": context.component if context is not None else None,
        "account": context.account if context is not None else None,
        "grants": rows,
        "replaces": [],
        "unreadable": [],
        "notes": [],
        "hasCeiling": any(ref.bound is Bound.UPPER_POSITIVE for ref in wallet.refs),
        "saga": None,
    }


def _grant_row(bound: Bound, written: str, filled: str, origin: str, where: str) -> dict[str, object]:
    return {
        "bound": bound.value,
        "written": written.rstrip(),
        "filled": filled.rstrip(),
        "origin": origin,
        "place": where or None,
    }


def asked_once(cards: AgentCards) -> AgentCards:
    """The same cards, where equal questions are decided once: every saga weighs the cards of all agents."""
    return replace(cards, may=cache(cards.may), holding=cache(cards.holding))


def saga_row(answer: SagaAnswer) -> dict[str, object]:
    """The three facets of the sagas of an agent type, with the reasons in one line."""
    return {
        "admitted": answer.admitted.value,
        "bounded": answer.bounded.value,
        "replayStable": answer.replay_stable.value,
        "words": saga_line(answer),
        "warnings": list(answer.warnings),
    }


def chain_rows(report: ChainReport) -> list[dict[str, object]]:
    """Every chain of middleware with its verdict."""
    return [
        {
            "environment": row.environment,
            "tool": row.tool,
            "agents": list(row.agents),
            "layers": [layer.name for layer in row.chain.layers],
            "verdict": word(row.verdict),
        }
        for row in report.rows
    ]


def retry_rows(table: LimitsTable) -> dict[str, object]:
    """The limits per policy, with the words of `retry limits`, and on the wire."""
    words = [
        {
            "policy": row.rule.name,
            "attempts": amount_words(row.limits.retries, 1),
            "totalWait": total_words(row.limits),
            "bounded": row.limits.bounded.value,
            "storm": row.limits.storm,
            "sites": len(row.sites),
        }
        for row in table.rows
    ]
    plain = limits_json(table)
    return {"words": words, "policies": plain["policies"], "sites": plain["sites"]}
