"""May this holder of a stored deployment do this: one question or many, from compiled wallets.

Source: questions 1 to 4; interface, Files and queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from policyd.core.admission import Call, Facet, FacetName, Reach, Reason, TypeAnswer, Verdict, Wallet, Why
from policyd.core.admission.admit import MAX_INSTANCES
from policyd.core.application import AgentType
from policyd.core.cards import Bound, CardId, ScopeCard, Timestamp
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Level, Recipient, Target
from policyd.core.grants.names import ascii_lower
from policyd.findings import InputError, Span, nearest
from policyd.store.holders import read_holder
from policyd.store.snapshots import SnapshotInfo
from policyd.syntax.mistakes import shown
from policyd.usecases.answer import Answer
from policyd.usecases.check_call import (
    ManifestQuestion,
    WalletQuestion,
    call_of,
    check_manifest,
    check_wallet,
    initial_wallet,
    reach_notes,
)
from policyd.usecases.compiled_holder import CompiledType
from policyd.usecases.deployments import Selection, agent_name
from policyd.usecases.ports import Snapshots
from policyd.usecases.recent import Recent
from policyd.usecases.stored_deployment import StoredFacts

ROOM_GRANTS = 600_000
"""How many grants loaded snapshots and compiled wallets may hold together before the longest unused are dropped."""

MAX_BATCH = 1_000
"""Questions that are answered at once."""


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A question about a holder of a stored deployment.

    Attributes:
        agent: a type, or a full id; empty where `holder` is given.
        holder: an account, or `account/app/env/component/Type`; empty where `agent` is given.
        target: as typed.
        at: the moment, None to leave expiry aside.
        scope: the scope card of the invocation, None for none.
        component: of the agent type, where the deployment leaves it open.
    """

    target: str
    agent: str = ""
    holder: str = ""
    at: Timestamp | None = None
    scope: ScopeCard | None = None
    component: str = ""


class StoredPlaces(Mapping[tuple[CardId, str, int], Span]):
    """Where grants of stored cards stand; looked up when asked for."""

    _BOUNDS = {bound.value: bound for bound in Bound}  # noqa: RUF012 - a constant

    def __init__(self, facts: StoredFacts) -> None:
        self._facts = facts

    def __getitem__(self, key: tuple[CardId, str, int]) -> Span:
        card, bound, index = key
        span = self._facts.place(card, self._BOUNDS[bound], index)
        if span is None:
            raise KeyError(key)
        return span

    def __iter__(self) -> Iterator[tuple[CardId, str, int]]:
        for fact in self._facts.deployment.cards:
            for bound, index, _ in fact.card.bounds.each():
                yield fact.card.id, bound.value, index

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        # asked for by whoever has no places at all; counting them would look at every grant
        return True


class Decisions:
    """Answers about stored deployments; loaded facts and compiled wallets are kept while they are asked for.

    One object serves a whole process and all its threads: what is kept is found by number, digest and
    places of the snapshot, so that equal questions get equal answers on every load.
    """

    def __init__(self, room: int = ROOM_GRANTS) -> None:
        """Keep at most `room` grants."""
        self.kept = Recent(room)

    def facts(self, snapshots: Snapshots, info: SnapshotInfo) -> StoredFacts:
        """The facts of a snapshot, loaded if they are not at hand."""
        return self.kept.get(
            (info.digest, info.places_digest),
            lambda: StoredFacts.of(snapshots.load(info)),
            lambda facts: facts.deployment.grant_count,
        )

    def answer(self, facts: StoredFacts, info: SnapshotInfo, question: StoredQuestion, rules: Rules) -> Answer:
        """The answer to one question; about a type it speaks of its agents with wallets of their own, too.

        Raises:
            InputError: if the target cannot be read, or the holder is not known.
        """
        own = own_wallets(facts, question, rules)
        answer = self.answer_by_type(facts, info, question, rules)
        if not own:
            return answer
        asked = own[:MAX_INSTANCES]
        each = {name: self.answer_by_type(facts, info, replace(question, agent=name), rules) for name in asked}
        return over_own_wallets(answer, each, is_all=len(asked) == len(own))

    def answer_by_type(self, facts: StoredFacts, info: SnapshotInfo, question: StoredQuestion, rules: Rules) -> Answer:
        """The answer for one agent or account, or for those agents of a type that have no wallet of their own.

        Raises:
            InputError: if the target cannot be read, or the holder is not known.
        """
        if question.holder:
            holder = _holder(question.holder, rules)
            agent_id = _instance(question.agent, holder)
            wallet = facts.wallet_for(holder, agent_id)
            if wallet is not None:
                return self._of_wallet(facts, info, wallet, question, rules)
            name = _agent_of(facts, holder, question.holder)
            question = replace(question, agent=agent_id or name, holder="", component=holder.known[3])
        type_name, agent = agent_name(question.agent)
        known = facts.holder_of(type_name)
        if known is not None and (not question.component or question.component == known.known[3]):
            wallet = facts.wallet_for(known, agent or "")
            if wallet is not None:
                return self._of_wallet(facts, info, wallet, question, rules)
        return self._of_initial_card(facts, info, question, rules)

    def _of_initial_card(
        self, facts: StoredFacts, info: SnapshotInfo, question: StoredQuestion, rules: Rules
    ) -> Answer:
        selection = Selection(None, None, facts.deployment.account, question.component)

        # the question is asked again under the other edition, mostly with the same target
        decided: dict[tuple[AgentContext, Target], TypeAnswer] = {}

        def deciding(agent: AgentType, context: AgentContext, target: Target, asked: ManifestQuestion) -> TypeAnswer:
            found = decided.get((context, target))
            if found is None:
                found = decided[context, target] = decide(agent, context, target, asked)
            return found

        def decide(agent: AgentType, context: AgentContext, target: Target, asked: ManifestQuestion) -> TypeAnswer:
            compiled = self._compiled(info, (rules, context), lambda: initial_wallet(agent, context))
            return compiled.answer(call_of(initial_wallet_of(agent, context, asked), target, asked.at, asked.scope))

        asked = ManifestQuestion(question.agent, question.target, question.at, question.scope)
        answer = check_manifest(facts.under(rules), selection, asked, rules, deciding)
        return replace(answer, snapshot=f"@{info.number}")

    def _of_wallet(
        self, facts: StoredFacts, info: SnapshotInfo, wallet: Wallet, question: StoredQuestion, rules: Rules
    ) -> Answer:
        # the question is asked again under the other edition, mostly with the same target
        admitted: list[tuple[Target, TypeAnswer]] = []

        def admitting(held: Wallet, call: Call) -> TypeAnswer:
            for target, found in admitted:
                if target == call.target:
                    return found
            answer = self._compiled(info, (held.holder, held.context), lambda: held).answer(call)
            admitted.append((call.target, answer))
            return answer

        facts.require_readable(wallet, rules)
        known = wallet.context.agent_id if wallet.context is not None else None
        agent = question.agent if "(" in question.agent and question.agent != known else ""
        asked = WalletQuestion(question.target, question.at, question.scope, agent)
        return check_wallet(wallet, asked, rules, StoredPlaces(facts), admitting, f"@{info.number}")

    def _compiled(self, info: SnapshotInfo, key: object, make: Callable[[], Wallet]) -> CompiledType:
        return self.kept.get(
            (info.digest, "wallet", key), lambda: CompiledType(make()), lambda compiled: compiled.grants
        )


def own_wallets(facts: StoredFacts, question: StoredQuestion, rules: Rules) -> tuple[str, ...]:
    """The agents with wallets of their own, where the question is about a type."""
    if question.agent and agent_name(question.agent)[1] is not None:
        return ()
    if question.holder:
        return facts.instances_with_wallets(_holder(question.holder, rules))
    holder = facts.holder_of(question.agent)
    if holder is None or (question.component and question.component != holder.known[3]):
        return ()
    return facts.instances_with_wallets(holder)


_FACETS = (Facet.NO, Facet.UNKNOWN, Facet.YES)


def over_own_wallets(answer: Answer, own: Mapping[str, Answer], *, is_all: bool) -> Answer:
    """One answer about a type, from that by its card and those of its agents with wallets of their own.

    `admitted` is `yes` only where all agree; `bounded` is the least of all.

    Args:
        answer: about the agents that have no wallet of their own.
        own: about the others, by id; at least one.
        is_all: whether these are all of them.
    """
    cards, places = dict(answer.cards), dict(answer.places)
    for each in own.values():
        cards.update(each.cards)
        places.update(each.places)
    verdict = answer.verdict
    least = min(own.values(), key=lambda a: _FACETS.index(a.verdict.bounded)).verdict
    if _FACETS.index(least.bounded) < _FACETS.index(verdict.bounded):
        kept = (*(r for r in verdict.reasons if r.facet is not FacetName.BOUNDED), *_about_bounded(least))
        verdict = replace(verdict, bounded=least.bounded, reasons=kept)
    told = {name: a.verdict for name, a in own.items() if a.verdict.admitted is not verdict.admitted}
    admitted = tuple(name for name, v in told.items() if v.admitted is Facet.YES)
    refused = next((name for name, v in told.items() if v.admitted is Facet.NO), "")
    reach, exceptions = answer.reach, answer.exceptions
    if verdict.admitted is Facet.YES and refused:
        note = Reason(FacetName.ADMITTED, Why.SOME_INSTANCES, detail=refused)
        against = tuple(r for r in told[refused].reasons if r.facet is FacetName.ADMITTED)
        rest = tuple(r for r in verdict.reasons if r.facet is not FacetName.ADMITTED)
        verdict = replace(
            verdict, admitted=Facet.NO, reasons=(note, *against, *rest), holds_from=None, holds_until=None
        )
        reach, exceptions = Reach.SOME, ()
    elif verdict.admitted is Facet.YES and (told or not is_all):
        detail = f"which agent asks, such as {next(iter(told))}" if told else "more agents have wallets than are tried"
        note = Reason(FacetName.ADMITTED, Why.NAME_DECIDES, detail=detail)
        verdict = replace(verdict, admitted=Facet.UNKNOWN, reasons=(note, *verdict.reasons))
        reach = Reach.SOME
    elif admitted:
        reach, exceptions = Reach.SOME, (*admitted, *(exceptions if answer.reach is Reach.SOME else ()))
    else:
        ends = [v.holds_until for v in (verdict, *(a.verdict for a in own.values())) if v.holds_until is not None]
        starts = [v.holds_from for v in (verdict, *(a.verdict for a in own.values())) if v.holds_from is not None]
        verdict = replace(verdict, holds_from=max(starts) if starts else None, holds_until=min(ends) if ends else None)
    about = TypeAnswer(verdict, reach, refused, exceptions)
    said = set(reach_notes(TypeAnswer(answer.verdict, answer.reach, "", answer.exceptions)))
    notes = [*reach_notes(about), *(n for n in answer.notes if n not in said)]
    some = ", ".join(shown(name) for name in tuple(own)[:3])
    more = f" and {len(own) - 3} more" if len(own) > 3 else ""
    notes.append(f"asked also of agents with a wallet of their own{'' if is_all else ', not of all'}: {some}{more}")
    return replace(
        answer, verdict=verdict, reach=reach, exceptions=exceptions, notes=tuple(notes), cards=cards, places=places
    )


def _about_bounded(verdict: Verdict) -> tuple[Reason, ...]:
    return tuple(r for r in verdict.reasons if r.facet is FacetName.BOUNDED)


def initial_wallet_of(agent: AgentType, context: AgentContext, question: ManifestQuestion) -> Wallet:
    """What a call needs to know of the wallet: all of it for a scope card, nothing otherwise."""
    if question.scope is not None:
        return initial_wallet(agent, context)
    return Wallet(Recipient(Level.ANY), (), context)


def _holder(text: str, rules: Rules) -> Recipient:
    head, slash, rest = text.partition("/")
    holder = read_holder(f"{ascii_lower(head)}{slash}{rest}", rules)
    if holder is None:
        raise InputError.of(
            "CARD060", f"{shown(text)} is no holder", None, "write an account, or `account/app/env/component/Type`"
        )
    return holder


def _instance(agent: str, holder: Recipient) -> str:
    if not agent:
        return ""
    type_name, agent_id = agent_name(agent)
    if holder.level is not Level.AGENT or type_name != holder.known[4]:
        raise InputError.of("CARD060", f"{shown(agent)} is no agent of the holder `{holder.text}`")
    return agent_id or ""


def _agent_of(facts: StoredFacts, holder: Recipient, typed: str) -> str:
    """The agent type that a holder is in this deployment, where no wallet of it is known."""
    d = facts.deployment
    if holder.level is Level.AGENT and holder.known[:3] == (d.account, d.application, d.environment):
        for agent in d.agent_types:
            if agent.name == holder.known[4] and agent.component in ("", holder.known[3]):
                return agent.name
    types = [agent.name for agent in d.agent_types]
    help = "import its wallet, or ask about an agent type of the deployment instead of a holder"
    if nearest(typed, types) is not None:
        help = f"did you mean the agent type `{nearest(typed, types)}`? ask about it as agent, not as holder"
    raise InputError.of("CARD060", f"no wallet of {shown(typed)} is known in `{d.label}`", None, help)
