"""Whether a saga may look at its own agent, which every decision of its retries needs, and what stands in the way.

Source: retry 6.3 (step 4), 6.4; host 3.1, 3.2; questions 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from policyd.core.admission import Facet, FacetName, Reach, Reason, Why
from policyd.core.admission.self_view import Ceiling
from policyd.core.application import initial_card_id
from policyd.core.cards import Bound, CardId
from policyd.core.edition import Rules
from policyd.core.operations import Ports
from policyd.core.retry.saga import SelfView
from policyd.findings import Span
from policyd.syntax.operations import catalogue
from policyd.usecases.answer import Answer
from policyd.usecases.check_call import ManifestQuestion, check_manifest
from policyd.usecases.deployments import Described, Selection, agent_name
from policyd.usecases.explain_holding import Holding, in_manifest
from policyd.usecases.operation_answer import OperationQuestion, SelfMetadata, answer_operation
from policyd.usecases.operation_listing import operation_named

OPERATION = "agent.get-self-metadata"
"""The operation by which the host learns for whom a saga asks."""

TARGET = "agent(?agent) : view :"
"""What it asks for."""

MAX_NAMED = 10
"""So many instances that differ are named."""

_FLOOR = frozenset({Why.NOT_GRANTED, Why.FORBIDDEN, Why.ELSEWHERE, Why.EXPIRED, Why.REVOKED, Why.NO_CARDS})
_CEILINGS = frozenset({Why.WITHHELD, Why.CEILING_FORBIDS})
_HELPFUL = frozenset({Why.GRANTED, Why.LETS_THROUGH})


@dataclass(frozen=True, slots=True)
class AgentCards:
    """What the cards of agents say, in a manifest or in a stored deployment.

    Attributes:
        may: the answer to a target, for an agent type or id, or an account.
        holding: the wallet of an agent; None for a type that the manifest does not name.
        others: accounts whose wallets are known, and ids of agents with wallets of their own.
    """

    may: Callable[[str, str], Answer]
    holding: Callable[[str], Holding | None]
    others: tuple[str, ...] = ()


def cards_of_manifest(described: Described, selection: Selection, rules: Rules) -> AgentCards:
    """The initial cards of a manifest."""

    def may(agent: str, target: str) -> Answer:
        return check_manifest(described, selection, ManifestQuestion(agent, target), rules)

    def holding(agent: str) -> Holding | None:
        if described.deployment.agent(agent_name(agent)[0]) is None:
            return None
        return in_manifest(described, selection, agent, rules)

    return AgentCards(may, holding)


@dataclass(frozen=True, slots=True)
class Part:
    """One card, or the lower bounds of all of them, and what it does to self-view.

    Attributes:
        words: what it does, the card named.
        lets_through: whether self-view is left in place.
        card: which, None for all.
        grant: the grant that decides, as written; empty where none does.
        origin: where that is, in words (`agents.Cart, upper positive 1`); empty for a card without a place.
        span: the place; for a bound that does not list it the first grant of the bound, None where there is no file.
    """

    words: str
    lets_through: bool
    card: CardId | None = None
    grant: str = ""
    origin: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class SagaSelfView:
    """Whether a saga may look at its agent.

    Attributes:
        view: granted or denied; None where it depends on what is not known.
        words: the same in one line.
        floor: what the lower bounds say.
        ceilings: of all cards, the initial one's first.
        open: for which agents it holds, or what it depends on, in words.
        exposes: what the operation would show of the agent, as far as it is known.
    """

    view: SelfView | None
    words: str
    floor: tuple[Part, ...] = ()
    ceilings: tuple[Part, ...] = ()
    open: tuple[str, ...] = ()
    exposes: tuple[str, ...] = ()

    @property
    def withheld_by(self) -> tuple[Part, ...]:
        """What stands in the way, the lower bounds first."""
        return tuple(part for part in (*self.floor, *self.ceilings) if not part.lets_through)


GIVEN = {view: SagaSelfView(view, f"{view.value}, as given") for view in SelfView}
"""Self-view that the question sets apart from the cards."""

NOT_NEEDED = SagaSelfView(SelfView.GRANTED, "not needed")
"""What no decision asks for."""


def self_view_of(agent: str, cards: AgentCards, rules: Rules) -> SagaSelfView:
    """What the agent's cards say of self-view, by the operation of the catalogue.

    Args:
        agent: type or id.
        cards: of the deployment.
        rules: the edition.

    Raises:
        InputError: where the agent is not known.
    """
    answer = cards.may(agent, TARGET)
    holding = cards.holding(agent)
    found = None
    if holding is not None:
        question = OperationQuestion(operation_named(OPERATION, catalogue(), rules), {})
        found = answer_operation(holding, question, Ports()).self_metadata
    places = _Places(answer, holding)
    floor = tuple(_floor(answer, found, places))
    ceilings = tuple(_ceilings(answer, found, places))
    open = tuple(_open(answer))
    exposes = found.exposes if found is not None else ()
    match answer.verdict.admitted:
        case Facet.YES:
            return SagaSelfView(SelfView.GRANTED, "granted by the agent's cards", floor, ceilings, open, exposes)
        case Facet.NO:
            is_lent = found is not None and found.view.is_granted and not found.view.is_let_through
            words = "withheld by the agent's cards" if is_lent else "not granted by the agent's cards"
            if answer.reach is Reach.SOME:
                words = "not granted to every agent of the type"
            return SagaSelfView(SelfView.DENIED, words, floor, ceilings, open, exposes)
        case Facet.UNKNOWN:
            return SagaSelfView(None, "unknown", floor, ceilings, open, exposes)


def _open(answer: Answer) -> Iterator[str]:
    """What is neither a lower bound nor a ceiling: instances that differ, names that are not given."""
    for reason in answer.verdict.because(FacetName.ADMITTED):
        if reason.why not in _FLOOR | _CEILINGS | _HELPFUL:
            yield answer.sentence(reason)
    if answer.exceptions:
        yield f"not so for {', '.join(answer.exceptions[:MAX_NAMED])}"


@dataclass(frozen=True, slots=True)
class _Places:
    """Where grants of the agent's cards stand."""

    answer: Answer
    holding: Holding | None

    def of(self, card: CardId, bound: Bound, index: int) -> tuple[str, Span | None]:
        """In words, and the place itself."""
        own = self.holding.own_card if self.holding is not None else None
        if own is not None and str(card).startswith(initial_card_id("")):
            placed = own.of(bound)
            if index >= len(placed):
                return own.layer or "default card", own.span
            where = f"{own.layer or 'default card'}, {bound.words} {index + 1}, {placed[index].origin.value}"
            return where, placed[index].span or own.span
        known = self.holding.places if self.holding is not None else {}
        return f"{self.answer.card_name(card)}, {bound.words} {index + 1}", known.get((card, bound.value, index))

    @property
    def whole(self) -> tuple[str, Span | None]:
        """The initial card, where one would add a grant."""
        own = self.holding.own_card if self.holding is not None else None
        return (own.layer or "default card", own.span) if own is not None else ("", None)


def _floor(answer: Answer, found: SelfMetadata | None, places: _Places) -> Iterator[Part]:
    lent = found.view.lent_by if found is not None else None
    reasons = [r for r in answer.verdict.because(FacetName.ADMITTED) if r.why in _FLOOR]
    if lent is not None:
        yield Part(
            f"lent by {answer.card_name(lent.card)}",
            True,
            lent.card,
            _written(lent.card, lent.bound, lent.index, lent.grant.text, places),
            *places.of(lent.card, lent.bound, lent.index),
        )
    for reason in reasons:
        yield _reason(reason, answer, places)


def _reason(reason: Reason, answer: Answer, places: _Places) -> Part:
    words = answer.sentence(reason)
    if not reason.refs:
        return Part(words, False, reason.card, "", *places.whole)
    # where a grant is denied again, the negative grant stands first
    ref = reason.refs[0]
    is_near = reason.why is Why.WITHHELD
    written = "" if is_near else _written(ref.card, ref.bound, ref.index, ref.grant.text, places)
    return Part(words, False, ref.card, written, *places.of(ref.card, ref.bound, ref.index))


def _ceilings(answer: Answer, found: SelfMetadata | None, places: _Places) -> Iterator[Part]:
    ceilings = found.view.ceilings if found is not None else ()
    yield from (_ceiling(each, answer, places) for each in ceilings)
    told = {each.card for each in ceilings if not each.lets_through}
    for reason in answer.verdict.because(FacetName.ADMITTED):
        # of agents with wallets of their own
        if reason.why in _CEILINGS and reason.card not in told:
            yield _reason(reason, answer, places)


def _ceiling(ceiling: Ceiling, answer: Answer, places: _Places) -> Part:
    name, card = answer.card_name(ceiling.card), ceiling.card
    ref = ceiling.denied_by or ceiling.passes_by
    if ref is not None:
        verb = "denied by the upper bound of" if ceiling.denied_by is not None else "let through by the upper bound of"
        written = _written(card, ref.bound, ref.index, ref.grant.text, places)
        return Part(f"{verb} {name}", ceiling.lets_through, card, written, *places.of(card, ref.bound, ref.index))
    if ceiling.is_open:
        return Part(f"no ceiling in {name}", True, card)
    return Part(
        f"withheld: no grant of the upper bound of {name} covers it",
        False,
        card,
        "",
        *places.of(card, Bound.UPPER_POSITIVE, 0),
    )


def _written(card: CardId, bound: Bound, index: int, text: str, places: _Places) -> str:
    own = places.holding.own_card if places.holding is not None else None
    if own is not None and str(card).startswith(initial_card_id("")) and index < len(own.of(bound)):
        return own.of(bound)[index].text.rstrip()
    return text.rstrip()


def self_view_lines(seen: SagaSelfView) -> list[str]:
    """Self-view in words: granted or not first, then what decides it with its places."""
    out = [f"self-view: {seen.words}"]
    out += [f"  {words}" for words in seen.open]
    shown = seen.withheld_by if seen.view is not SelfView.GRANTED else tuple(p for p in seen.floor if p.grant)
    for part in shown:
        out.append(f"  {part.words}" + (f": `{part.grant}`" if part.grant and part.grant not in part.words else ""))
        where = [part.span.where if part.span is not None else "", part.origin]
        if any(where):
            out.append(f"    --> {'  '.join(word for word in where if word)}")
    if seen.view is not SelfView.GRANTED and seen.exposes:
        out.append(f"  granted, `{OPERATION}` would show {', '.join(seen.exposes)}")
    return out


def self_view_json(seen: SagaSelfView) -> dict[str, object]:
    """Self-view on the wire."""
    return {
        "operation": OPERATION,
        "view": "unknown" if seen.view is None else seen.view.value,
        "floor": [_part_json(part) for part in seen.floor],
        "ceilings": [_part_json(part) for part in seen.ceilings],
        "withheldBy": [_part_json(part) for part in seen.withheld_by],
        "open": list(seen.open),
        "exposes": list(seen.exposes),
    }


def _part_json(part: Part) -> dict[str, object]:
    span = part.span
    return {
        "card": part.card,
        "text": part.words,
        "letsThrough": part.lets_through,
        "grant": part.grant or None,
        "origin": part.origin or None,
        "place": None
        if span is None
        else {"source": span.source, "line": span.line, "column": span.column, "path": span.path},
    }
