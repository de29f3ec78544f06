"""Who can make any of the calls that a query names, in a stored deployment: one witness for every holder.

A target that is a pattern asks for all of it by one grant. Who may reach some of it without holding all of it
is found here, with the search that `prove --never` uses.

Source: interface, who-can, Files and queries; questions 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.analysis.effect import OWN_AGENT
from policyd.core.callsets import Holds, Intersection, Undecided, Universe, calls_of, is_empty, query
from policyd.core.cards import Bound, Card, Timestamp
from policyd.core.edition import Rules
from policyd.core.grants import ANY_VERB, Slot, Target
from policyd.core.grants.resources.network import NetworkResource
from policyd.findings import InputError
from policyd.store.facts import Deployment, PlacedGrant, place_of
from policyd.syntax.queries import ANY, ParsedQuery, parse_query
from policyd.usecases.holders import UNNAMED_COMPONENT, Party
from policyd.usecases.open_names import IF, party_of
from policyd.usecases.proofs import Proved, prove_query
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.stored_parties import StoredParties, stored_parties


@dataclass(frozen=True, slots=True)
class Reached:
    """A holder that may make one of the calls, or more.

    Attributes:
        holder: an agent type, an agent id, an account, or a holder in full.
        witness: a call in the form that `check` takes; the exact evaluator admits it.
        grants: those that admit the witness, as written, with their places.
        recipient: the holder in full; the type where its component is not known.
        agent_id: of one agent with a wallet of its own.
        only: the one instance of the type that is meant, empty where all are.
        placed: the grants, where they stand.
    """

    holder: str
    witness: str
    grants: tuple[str, ...]
    recipient: str = ""
    agent_id: str = ""
    only: str = ""
    placed: tuple[PlacedGrant, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """Everybody who may make a call of a query.

    Attributes:
        claim: the query in words.
        reached: sorted by holder.
        unheld: grants of live cards in no known wallet that lend such a call to somebody.
        not_analysed: holders about whom nothing can be said, and why.
        depends: agent types whose answer depends on the component that implements them, which is not known.
    """

    claim: str
    reached: tuple[Reached, ...]
    unheld: tuple[PlacedGrant, ...]
    not_analysed: tuple[str, ...]
    depends: frozenset[str] = frozenset()


def is_only_a_query(text: str) -> bool:
    """Whether a part of `text` has a form that only queries have, so that no one grant could be asked for it."""
    _, _, rest = text.partition("(")
    owner, _, tail = rest.partition(") : ")
    verb, _, resource = tail.partition(" : ")
    word = resource.strip()
    return ANY in (owner.strip(), verb.strip(), word) or (word.startswith("under(") and word.endswith(")"))


def names_many(text: str, target: Target | None = None) -> bool:
    """Whether a target or a query may name more than one call; `target` is what `text` was read as.

    A host without a port, or with a range of ports, is one for the platform's grants, and many calls for queries.
    """
    resource = target.resource if target is not None else None
    ports = isinstance(resource, NetworkResource) and resource.ports.low != resource.ports.high
    return ports or "*" in text or is_only_a_query(text)


def who_reaches(
    facts: StoredFacts, place: tuple[str, str, str], source: str, text: str, rules: Rules, at: Timestamp | None
) -> QueryAnswer:
    """Every holder that may make at least one call of the query.

    Args:
        facts: of the snapshot.
        place: account, application and environment, for slots.
        source: how the deployment is called.
        text: the query.
        rules: the edition.
        at: the moment, None to leave expiry aside.

    Raises:
        InputError: if the query cannot be read, or has a slot that only a holder fills.
    """
    asked = _in_place(parse_query(text, rules), place)
    everybody = stored_parties(facts, rules, source, at=at)
    likely = {name: party for name, party in everybody.by_name.items() if _may_lend(party, asked)}
    proof = prove_query(StoredParties(source, likely, unreadable=everybody.unreadable), asked, rules, is_never=True)
    claim = proof.claim.partition(": ")[2]
    return QueryAnswer(
        claim,
        tuple(
            sorted(
                (_reached(r, likely[party_of(r.name)]) for r in proof.results if r.word == "fails"),
                key=lambda r: r.holder,
            )
        ),
        tuple(_unheld(facts.deployment, asked, rules, at)),
        (
            *(f"{r.name}: {r.answer.reason}" for r in proof.results if isinstance(r.answer, Undecided)),
            *(
                f"{name}: {_OTHERS}"
                for name, party in likely.items()
                if asked.cls.name in OWN_AGENT and _names_others(party, asked)
            ),
        ),
        frozenset(party_of(r.name) for r in proof.results if IF in r.name),
    )


_OTHERS = "what its cards lend of other agents' files, variables or configuration is left out"


def _names_others(party: Party, asked: ParsedQuery) -> bool:
    """Whether a grant of an own-agent class may lend what other agents own, which the search leaves out."""
    return any(
        grant.target.cls == asked.cls and grant.target.owner.slot is not Slot.AGENT
        for bounds in party.bounds
        for grant in bounds.of(Bound.LOWER_POSITIVE)
    )


def _in_place(asked: ParsedQuery, place: tuple[str, str, str]) -> ParsedQuery:
    owner = asked.owner
    if owner is None or owner.slot is None:
        return asked
    if owner.slot in (Slot.COMPONENT, Slot.AGENT):
        raise InputError.of(
            "MANIF091",
            f"`{owner.slot.value}` depends on the holder, and all holders are asked about",
            None,
            "write the owner out, or use `?env`, or `any`",
        )
    return replace(asked, owner=replace(owner, slot=None, known=(*place[: owner.slot.depth], *owner.known)))


def _may_lend(party: Party, asked: ParsedQuery) -> bool:
    return any(
        grant.target.cls == asked.cls
        and (ANY_VERB in (asked.verb, grant.target.verb) or grant.target.verb == asked.verb)
        for bounds in party.bounds
        for grant in bounds.of(Bound.LOWER_POSITIVE)
    )


def _reached(proved: Proved, party: Party) -> Reached:
    context = party.context
    is_open = context is not None and context.component == UNNAMED_COMPONENT
    placed = []
    for ref in party.refs:
        span = party.place(ref)
        text = f"{party.written(ref)}{f' ({span.where})' if span else ''}"
        if ref.bound is Bound.LOWER_POSITIVE and text in proved.grants:
            placed.append(PlacedGrant(str(ref.card), ref.bound, ref.index, party.original(ref), span))
    own = context.agent_id or "" if context is not None and party.is_one else ""
    return Reached(
        proved.name,
        proved.witness,
        proved.grants,
        party.name if is_open else party.recipient.text,
        own,
        proved.agent if proved.name != party.name and not own else "",
        tuple(placed),
    )


def _unheld(deployment: Deployment, asked: ParsedQuery, rules: Rules, at: Timestamp | None) -> list[PlacedGrant]:
    held = {installed.card for wallet in deployment.wallets for installed in wallet.cards}
    calls = query(Universe(rules), asked.cls, asked.owner, asked.verb, asked.resource)
    found = []
    for fact in deployment.cards:
        card = fact.card
        if not isinstance(card, Card) or card.id in held or card.id in deployment.revoked:
            continue
        if at is not None and card.expires_at is not None and card.expires_at <= at:
            continue
        for index, grant in enumerate(card.bounds.of(Bound.LOWER_POSITIVE)):
            target = grant.target
            if target.cls != asked.cls:
                continue
            both = Intersection((calls, calls_of([target])))
            if target.owner.slot is not None or not isinstance(is_empty(both, Universe(rules)), Holds):
                place = place_of(fact.places, Bound.LOWER_POSITIVE, index)
                found.append(PlacedGrant(str(card.id), Bound.LOWER_POSITIVE, index, grant, place))
    return found
