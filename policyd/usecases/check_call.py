"""May this holder do this: from a manifest, or from a wallet file.

Source: questions 1 to 4; interface; cards 1.11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from policyd.core.admission import (
    Call,
    Facet,
    FacetName,
    HeldCard,
    Reach,
    Reason,
    TypeAnswer,
    Verdict,
    Wallet,
    Why,
    admit_type,
)
from policyd.core.admission.names import fresh_name, names_at
from policyd.core.application import AgentType, Deployment, InitialCard, initial_card_id
from policyd.core.cards import Card, CardId, GrantRef, ScopeCard, Timestamp
from policyd.core.cards.scope import scope_refusal
from policyd.core.edition import Edition, Rules
from policyd.core.grants import AgentContext, Target, agent_holder
from policyd.core.grants.names import ascii_lower
from policyd.findings import InputError, PolicydError, Span
from policyd.syntax import parse_target
from policyd.syntax.mistakes import shown
from policyd.usecases.answer import Answer, GrantPlace
from policyd.usecases.deployments import Described, Selection, agent_name, no_such_agent, similar_agent, unlisted_agent

MAX_NAMES = 64
"""How many combinations of open names are tried; past it the answer is `unknown`."""

ANY_ACCOUNT = "any-account@unknown.example"
ANY_COMPONENT = "any:component"


LONG_TARGET = 2_000
"""Longer texts are read each time they are asked about."""


def _parsed(text: str, rules: Rules, *, slots: bool) -> Target:
    """The target that `text` writes; one question asks for it several times.

    Raises:
        GrantSyntaxError: if it is none.
    """
    return parse_target(text, rules, slots=slots) if len(text) > LONG_TARGET else _kept(text, rules, slots)


@lru_cache(maxsize=512)
def _kept(text: str, rules: Rules, slots: bool) -> Target:
    return parse_target(text, rules, slots=slots)


@dataclass(frozen=True, slots=True)
class ManifestQuestion:
    """A question about an agent of a manifest.

    Attributes:
        agent: a type, or a full id.
        target: as typed.
        at: the moment, None to leave expiry aside (manifests have none).
        scope: the scope card of the invocation, None for none.
    """

    agent: str
    target: str
    at: Timestamp | None = None
    scope: ScopeCard | None = None


def check_manifest(
    described: Described,
    selection: Selection,
    question: ManifestQuestion,
    rules: Rules,
    deciding: Deciding | None = None,
    again: Callable[[Rules], Described] | None = None,
) -> Answer:
    """The answer for an agent of the described deployment.

    Args:
        described: the deployment.
        selection: what the manifest may leave open.
        question: what is asked.
        rules: the edition.
        deciding: a faster way to the same verdicts, None for the plain one.
        again: reads the deployment under another edition, so that the answer can say whether it would change;
            None where it was not read from a manifest.

    Raises:
        InputError: if the target cannot be read, or the agent type is probably misspelled.
    """
    deployment = described.deployment
    type_name, agent_id = agent_name(question.agent)
    agent = deployment.agent(type_name)
    if agent is None:
        if similar_agent(type_name, deployment) is not None or not type_name:
            raise no_such_agent(type_name, deployment)
        agent = unlisted_agent(type_name, deployment)
    decided = deciding or decide
    outcome = _over_names(deployment, agent, agent_id, selection, question, rules, decided)
    notes = [*outcome.notes, *_agent_notes(agent, deployment, agent_id)]
    notes += _class_notes(question.target, outcome.answer.verdict, rules, [tool.name for tool in agent.tools])
    answer = Answer(
        f"{question.agent} in {deployment.environment}",
        outcome.target,
        outcome.answer.verdict,
        outcome.answer.reach,
        outcome.answer.exceptions,
        rules,
        tuple(notes),
        {initial_card_id(type_name): _card_words(agent.initial_card, type_name)},
        _places(outcome.answer.verdict, agent.initial_card),
        findings=tuple(bad.finding for bad in agent.initial_card.bad),
    )

    def under(other: Rules) -> Verdict:
        there = deployment if again is None else again(other).deployment
        same = there.agent(type_name) or unlisted_agent(type_name, there)
        return _over_names(there, same, agent_id, selection, question, other, decided).answer.verdict

    other_edition = _other_edition(rules, answer.verdict, under)
    return replace(answer, notes=(*answer.notes, *reach_notes(outcome.answer), *other_edition))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """An answer over all open names, the target as shown, and what to add."""

    answer: TypeAnswer
    target: str
    notes: tuple[str, ...]


def _over_names(
    deployment: Deployment,
    agent: AgentType,
    agent_id: str | None,
    selection: Selection,
    question: ManifestQuestion,
    rules: Rules,
    decided: Deciding,
) -> _Outcome:
    """Decide for the names that are given, or else for a fresh one and for each that occurs."""
    given_account = ascii_lower(selection.account) or deployment.account
    given_component = selection.component or agent.component
    base = AgentContext(
        given_account or ANY_ACCOUNT,
        deployment.application,
        deployment.environment,
        given_component or ANY_COMPONENT,
        agent.name,
        agent_id,
    )
    asked = _parsed(question.target, rules, slots=True)
    notes: list[str] = []
    accounts = (
        [given_account]
        if given_account
        else _candidates(ANY_ACCOUNT, {*names_at([_written(agent)], asked, 1), *deployment.accounts_mentioned})
    )
    components = (
        [given_component]
        if given_component
        else _candidates(
            ANY_COMPONENT, {*names_at([_written(agent)], asked, 4), *(c.name for c in deployment.components)}
        )
    )
    contexts = [replace(base, account=account, component=component) for account in accounts for component in components]
    if len(contexts) > MAX_NAMES:
        contexts, cut = contexts[:MAX_NAMES], True
    else:
        cut = False
    answers = [(context, decided(agent, context, asked.filled(context), question)) for context in contexts]
    first = answers[0][1]
    weakest = max(answers, key=lambda pair: _WIDTH.index(pair[1].reach))
    if weakest[1].reach is not first.reach:
        word = "account" if weakest[0].account != answers[0][0].account else "component"
        name = weakest[0].account if word == "account" else weakest[0].component
        notes.append(f"for how many instances it holds depends on the {word}: see {shown(name)}")
        first = replace(first, reach=weakest[1].reach, exceptions=weakest[1].exceptions)
    verdict = first.verdict
    open_names = [word for word, given in (("account", given_account), ("component", given_component)) if not given]
    if open_names:
        verdict, decided_by = _merged(answers, cut=cut)
        if decided_by:
            notes.append(f"give `--{decided_by}` to settle it")
        else:
            notes.append(f"holds for any {' and any '.join(open_names)}: the manifest does not say which")
    if agent.initial_card.bad:
        verdict = _unknown(verdict, "the card has grants that cannot be read, so that its deploy is refused")
    is_said = any(selection.component == c.name for c in deployment.components)
    if deployment.agent(agent.name) is None and is_said:
        notes.append(f"the manifest does not name {shown(agent.name)}; `--component` says that it exists there")
    elif deployment.agent(agent.name) is None:
        verdict = _unknown(verdict, f"the manifest names no agent type {shown(agent.name)}, so it may not exist")
    return _Outcome(replace(first, verdict=verdict), asked.text, tuple(notes))


_WIDTH = (Reach.ONE, Reach.ALL, Reach.ORDINARY, Reach.SOME)
"""From the answer that holds for the most agents to the one that holds for the fewest."""


def _written(agent: AgentType) -> Card:
    return Card(initial_card_id(agent.name), agent.initial_card.as_written, is_polymorphic=True)


def _candidates(fresh: str, mentioned: set[str]) -> list[str]:
    known = sorted(name for name in mentioned if name)
    return [fresh_name(fresh, known), *known]


def initial_wallet(agent: AgentType, context: AgentContext) -> Wallet:
    """What agents of a type hold before any card is installed: their initial card."""
    held = HeldCard(agent.initial_card.card(context), is_initial=True, is_own_install=False)
    return Wallet.of(agent_holder(context), (held,), context, context.account)


def decide(agent: AgentType, context: AgentContext, target: Target, question: ManifestQuestion) -> TypeAnswer:
    """One target, slots filled, for agents that hold their initial card alone."""
    wallet = initial_wallet(agent, context)
    return admit_type(wallet, call_of(wallet, target, question.at, question.scope))


Deciding = Callable[[AgentType, AgentContext, Target, ManifestQuestion], TypeAnswer]
"""Decides one target, slots filled, for an agent type whose names are all known."""


def call_of(wallet: Wallet, target: Target, at: Timestamp | None, scope: ScopeCard | None) -> Call:
    """The call, with the refusal that its scope card earns judged already."""
    refusal = None
    if scope is not None:
        known = {held.card.id: held.card for held in wallet.cards}
        refusal = scope_refusal(scope, known, wallet.revoked, at, roots_are_known=False)
    return Call(target, at, scope, refusal or "")


def _merged(answers: list[tuple[AgentContext, TypeAnswer]], *, cut: bool) -> tuple[Verdict, str]:
    """One verdict for all candidates: where they differ it is unknown, naming the value that decides."""
    fresh = answers[0][1].verdict
    notes: list[Reason] = []
    decided_by = ""
    facets: dict[FacetName, Facet] = {}
    for name in FacetName:
        facet = fresh.of(name)
        for context, answer in answers[1:]:
            if answer.verdict.of(name) is not facet:
                account_differs = context.account != answers[0][0].account
                decided_by = decided_by or ("account" if account_differs else "component")
                value = context.account if account_differs else context.component
                word = "account" if account_differs else "component"
                notes.append(
                    Reason(
                        name,
                        Why.NAME_DECIDES,
                        detail=f"{answer.verdict.of(name).value} for {word} {shown(value)},"
                        f" {facet.value} for one that is not mentioned",
                    )
                )
                facets[name] = Facet.UNKNOWN
                break
        if cut:
            facets[name] = Facet.UNKNOWN
            notes.append(Reason(name, Why.NAME_DECIDES, detail="more names occur than are tried"))
    return (
        replace(
            fresh,
            admitted=facets.get(FacetName.ADMITTED, fresh.admitted),
            bounded=facets.get(FacetName.BOUNDED, fresh.bounded),
            replay_stable=facets.get(FacetName.REPLAY_STABLE, fresh.replay_stable),
            reasons=(*notes, *fresh.reasons),
        ),
        decided_by,
    )


def _unknown(verdict: Verdict, why: str) -> Verdict:
    note = Reason(FacetName.ADMITTED, Why.NAME_DECIDES, detail=why)
    return replace(verdict, admitted=Facet.UNKNOWN, reasons=(note, *verdict.reasons))


def _card_words(card: InitialCard, agent_type: str) -> str:
    return f"the default card of {agent_type}" if card.is_default else f"the initial card of {agent_type}"


def _refs(verdict: Verdict) -> Iterator[GrantRef]:
    for reason in verdict.reasons:
        yield from reason.refs


def placed_refs(
    verdict: Verdict, card: InitialCard | None, spans: Mapping[tuple[CardId, str, int], Span] | None = None
) -> dict[GrantRef, GrantPlace]:
    """Where the grants that a verdict rests on come from: the initial card, or other cards at known places."""
    found = _places(verdict, card) if card is not None else {}
    for ref in [ref for ref in found if not str(ref.card).startswith(initial_card_id(""))]:
        del found[ref]  # of another card of the wallet
    for ref in _refs(verdict):
        if ref not in found:
            span = (spans or {}).get((ref.card, ref.bound.value, ref.index))
            found[ref] = GrantPlace(ref.grant.text, f"card {ref.card}, {ref.bound.words} {ref.index + 1}", span)
    return found


def _places(verdict: Verdict, card: InitialCard) -> dict[GrantRef, GrantPlace]:
    found = {}
    for ref in _refs(verdict):
        placed = card.place(ref)
        if placed is not None:
            layer = card.layer or "default card"
            origin = f"{layer}, {ref.bound.words} {ref.index + 1}, {placed.origin.value}"
            found[ref] = GrantPlace(placed.text, origin, placed.span)
    return found


def _agent_notes(agent: AgentType, deployment: Deployment, agent_id: str | None) -> Iterator[str]:
    if agent.component_is_assumed and agent.component:
        yield f"component `{agent.component}` is assumed: the manifest has only this one"
    if agent.initial_card.is_default:
        yield "no `initialCard` is set, so the default card with its fourteen wide grants applies"
    for layer, span in agent.initial_card.replaced:
        winner = agent.initial_card.layer
        yield f"the card of {layer} ({span.where}) is replaced as a whole" + (f" by that of {winner}" if winner else "")
    for misplaced in deployment.misplaced:
        yield f"the `initialCard` of {misplaced.layer} ({misplaced.span.where}) has no effect on agents"
    if agent_id is not None and _has_loose_space(agent_id):
        yield "ids compare as raw text, and the platform writes them without spaces outside strings"


def _class_notes(text: str, verdict: Verdict, rules: Rules, bound: list[str] | None) -> Iterator[str]:
    """What must be said of an admitted call of some classes, because the verdict on its target is not all."""
    if verdict.admitted is not Facet.YES:
        return
    target = _parsed(text, rules, slots=True)
    if target.cls.name == "filesystem":
        yield "the path is judged as it is opened: links are not resolved, so what a link there points to is reachable"
    if target.cls.name != "tool":
        return
    if not rules.is_next("tool_dispatch"):
        yield "the call fails all the same: this edition has no dispatcher that would run a tool"
    name = target.owner.known[-1] if target.owner.known_depth == 5 and target.owner.known else ""
    if bound is None or not name:
        yield "besides the grant the agent type needs a binding of the tool"
    elif name in bound:
        yield f"the manifest binds {shown(name)} to this agent type"
    else:
        yield f"the manifest does not bind {shown(name)} to this agent type: without a binding the call is refused"


def _has_loose_space(agent_id: str) -> bool:
    inside = False
    for char in agent_id:
        if char == '"':
            inside = not inside
        elif char.isspace() and not inside:
            return True
    return False


def reach_notes(answer: TypeAnswer) -> Iterator[str]:
    """For whom an answer about a type holds."""
    match answer.reach:
        case Reach.ALL:
            yield "holds for every instance of the type"
        case Reach.ORDINARY:
            yield f"holds for every ordinary instance, not for phantoms such as {shown(answer.exceptions[0])}"
        case Reach.SOME:
            admitted = ", ".join(shown(name) for name in answer.exceptions[:3])
            if admitted:
                yield f"admitted are only some instances, such as {admitted}"
        case Reach.ONE:
            pass


def _other_edition(rules: Rules, told: Verdict, again: Callable[[Rules], Verdict]) -> Iterator[str]:
    """What the other edition would say, where it says something else than `told`."""
    base = rules.edition
    other = Rules(Edition.SNAPSHOT if base is Edition.NEXT else Edition.NEXT)
    if rules.overrides:
        return
    try:
        verdict = again(other)
    except PolicydError as refusal:
        yield f"under edition {other.edition.value} the question cannot be asked: {refusal.findings[0].message}"
        return
    if verdict is not told and verdict.line != told.line:
        yield f"under edition {other.edition.value}: {verdict.line}"
    else:
        yield f"edition {base.value}, rule as in {other.edition.value}"


@dataclass(frozen=True, slots=True)
class WalletQuestion:
    """A question about the holder of a wallet.

    Attributes:
        target: as typed.
        at: the moment.
        scope: the scope card of the invocation, None for none.
        agent: a full id that replaces the wallet's, empty for the wallet's own.
    """

    target: str
    at: Timestamp | None = None
    scope: ScopeCard | None = None
    agent: str = ""


def check_wallet(
    wallet: Wallet,
    question: WalletQuestion,
    rules: Rules,
    place: Mapping[tuple[CardId, str, int], Span] | None = None,
    admitting: Callable[[Wallet, Call], TypeAnswer] = admit_type,
    snapshot: str = "",
) -> Answer:
    """The answer for the holder of `wallet`.

    Args:
        wallet: as read.
        question: what is asked.
        rules: the edition.
        place: where grants stand in the file, by card, list and index.
        admitting: decides; another way than the plain one must give the same.
        snapshot: the stored revision the wallet is from, empty for a file.

    Raises:
        InputError: if the target cannot be read, or the agent is not one of the wallet's type.
    """
    context = wallet.context
    if question.agent:
        if context is None:
            raise InputError.of("CARD060", "the holder of this wallet is no agent", None, "leave out `--agent`")
        type_name, agent_id = agent_name(question.agent)
        if type_name != context.agent_type:
            raise InputError.of(
                "CARD060", f"the wallet is that of type {shown(context.agent_type)}, not {shown(type_name)}"
            )
        context = replace(context, agent_id=agent_id)
        wallet = wallet.for_agent(context)
    asked, answer = _asked(wallet, question, rules, admitting)
    places = {}
    for ref in _refs(answer.verdict):
        span = (place or {}).get((ref.card, ref.bound.value, ref.index))
        places[ref] = GrantPlace(ref.grant.text, f"card {ref.card}, {ref.bound.words} {ref.index + 1}", span)
    who = context.agent_id if context is not None and context.agent_id else wallet.holder.text
    other = _other_edition(rules, answer.verdict, lambda rules2: _asked(wallet, question, rules2, admitting)[1].verdict)
    return Answer(
        who,
        asked.text,
        answer.verdict,
        answer.reach,
        answer.exceptions,
        rules,
        (
            *_expiry_notes(wallet, question.at),
            *reach_notes(answer),
            *_class_notes(question.target, answer.verdict, rules, None),
            *other,
        ),
        _card_names([h.card for h in wallet.cards], question.scope),
        places,
        snapshot,
    )


def _asked(
    wallet: Wallet, question: WalletQuestion, rules: Rules, admitting: Callable[[Wallet, Call], TypeAnswer]
) -> tuple[Target, TypeAnswer]:
    """The target as typed, and the answer to it with its slots filled from the holder."""
    context = wallet.context
    asked = _parsed(question.target, rules, slots=context is not None)
    target = asked if context is None else asked.filled(context)
    return asked, admitting(wallet, call_of(wallet, target, question.at, question.scope))


def _card_names(cards: list[Card], scope: ScopeCard | None) -> dict[CardId, str]:
    names = {}
    for card in cards:
        if card.managed_by is not None and card.managed_by.kind == "AgentInitial":
            names[card.id] = f"the initial card {card.id}"
    if scope is not None:
        names[scope.id] = f"the scope card {scope.id}"
    return names


def _expiry_notes(wallet: Wallet, at: Timestamp | None) -> Iterator[str]:
    if at is not None and any(held.card.expires_at is not None for held in wallet.cards):
        yield f"decided for {at.text}"
    if at is None and any(held.card.expires_at is not None for held in wallet.cards):
        yield "no moment is given: expiry is left aside, although cards of this wallet expire"
