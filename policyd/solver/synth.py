"""The least grants that let some calls through and keep others out.

In this order: all wanted calls, none of the unwanted ones, least extra (counted in widening steps above the
calls, where a grant that is proved to admit nothing else counts nothing), fewest grants, then by text, so that
the same question has the same answer.

Source: questions 2 (synthesis); cards 5.2, 6.1, 8.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import z3

from policyd.core.callsets import (
    MAX_STEPS,
    Complement,
    Fails,
    Holds,
    Intersection,
    Obstacle,
    Steps,
    Undecided,
    Universe,
    admitted_by,
    calls_of,
    contains,
    is_empty,
    minus,
    never,
)
from policyd.core.callsets.search import calls_in
from policyd.core.callsets.witness import Withheld, obstacles_of
from policyd.core.cards import (
    Bound,
    Bounds,
    Card,
    CardId,
    GrantRef,
    Surface,
    TooBroad,
    attenuate,
    deploy_envelopes,
    surface_of,
)
from policyd.core.grants import AgentContext, Grant, Recipient, Target
from policyd.core.grants.resources import NetworkResource, StoreKey, TableName
from policyd.core.grants.resources.exact import AnyResource
from policyd.findings import InternalDefect
from policyd.solver.answer import DEFAULT_TIMEOUT_MS
from policyd.solver.candidates import Candidate, candidates_of
from policyd.solver.names import Term

NEW_CARD = CardId("ffffffff-ffff-ffff-ffff-ffffffffffff")
"""Stands for the card whose grants are sought; greater than every real id, so that it comes last."""

MAX_EXTRA_SHOWN = 10
MAX_PROVED_STEPS = 2
"""Grants wider than this are not examined for admitting nothing else; they count their steps."""


@dataclass(frozen=True, slots=True)
class SynthesisQuestion:
    """What is sought.

    Attributes:
        wanted: calls that must be admitted, each as one target.
        unwanted: calls, or patterns that stand for all the calls they cover, none of which may be admitted.
        holder: who calls.
        context: the agent, whose own names are then written as slots; None for users.
        cards: the other cards of the wallet, concrete; their ceilings hold.
        kept: bounds that the new card has anyway.
        deployer: cards that the new card must stay within (A1 to A7 on its deploy envelopes); None for anything.
        universe: which calls there are.
        at_most: the most new grants, negatives included; None for any number.
        is_writable: whether a target can be written as a grant.
        steps: the budget of one proof, or the effort of all of them.
    """

    wanted: tuple[Target, ...]
    unwanted: tuple[Target, ...]
    holder: Recipient
    context: AgentContext | None = None
    cards: tuple[Card, ...] = ()
    kept: Bounds = field(default_factory=Bounds)
    deployer: tuple[Card, ...] | None = None
    universe: Universe = field(default_factory=Universe)
    at_most: int | None = None
    is_writable: Callable[[Target], bool] = lambda _: True
    steps: Steps = MAX_STEPS


@dataclass(frozen=True, slots=True)
class Synthesis:
    """New grants that were checked to do what was asked.

    Attributes:
        added: new lower positives, slots as they would be written.
        denied: new lower negatives.
        bounds: the whole new card: what was kept, what the deployer's cards demand, and the new grants.
        extra: calls admitted now that were neither wanted nor admitted before, at most `MAX_EXTRA_SHOWN`.
        more: how many further kinds of them there are.
    """

    added: tuple[Grant, ...]
    denied: tuple[Grant, ...]
    bounds: Bounds
    extra: tuple[Target, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class NoSolution:
    """It cannot be done.

    Attributes:
        reason: one line.
        calls: the wanted calls that cannot be let through, or the unwanted ones that cannot be kept out.
        obstacles: for a single call, what stands in its way.
    """

    reason: str
    calls: tuple[Target, ...]
    obstacles: tuple[Withheld, ...] = ()


def synthesise(question: SynthesisQuestion, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> Synthesis | NoSolution | Undecided:
    """The least grants for a question, checked with the plain evaluator and by proof.

    Raises:
        InternalDefect: when the check of the answer fails.
    """
    work = _Work(question)
    refusal = work.refusal()
    if refusal is not None:
        return refusal
    missing = [w for w in question.wanted if not work.before.allows(w)]
    try:
        options = work.options(missing)
        stuck = tuple(w for w in missing if not any(o.candidate.filled.covers(w) for o in options))
        if stuck:
            return work.stuck(stuck)
        chosen = _least(work, missing, options, timeout_ms)
        if chosen is None:
            return NoSolution("no set of grants lets all wanted calls through and keeps the unwanted ones out", ())
        picked, denied, offered = chosen
        return work.checked(picked, work.needed([c.target for c in picked], denied), offered)
    except _UnknownError as unknown:
        return Undecided(f"the search for the least grants: {unknown}")


class _UnknownError(Exception):
    """The solver, or a proof that it needs, did not finish."""


@dataclass(frozen=True, slots=True)
class _Option:
    """A grant that may be chosen.

    Attributes:
        candidate: its target.
        cost: the widening steps that count as extra.
        touches: which of the unwanted calls it would let through, by position.
    """

    candidate: Candidate
    cost: int
    touches: tuple[int, ...]


class _Work:
    """A question with what follows from it at once."""

    def __init__(self, question: SynthesisQuestion) -> None:
        self.question = question
        kept, deployer = question.kept, [c.bounds for c in question.deployer or ()]
        # A ceiling that the card has already stays as it is: the deployer's beside it would only widen it.
        ceiling = kept.upper_positive or tuple(u for b in deployer for u in b.upper_positive)
        self.frame = Bounds(
            kept.lower_positive,
            tuple(dict.fromkeys((*kept.lower_negative, *(n for b in deployer for n in b.lower_negative)))),
            tuple(dict.fromkeys(ceiling)),
            tuple(dict.fromkeys((*kept.upper_negative, *(u for b in deployer for u in b.upper_negative)))),
        )
        self.single = calls_of(w for w in question.wanted if _is_single(w))
        self.before = self.surface(self.frame)
        self.own_negatives = [
            g.target for g in self.concrete(self.frame).lower_negative if g.recipient.covers(question.holder)
        ]
        passed = [calls_of(r.grant.target for r in p.positive) for p in self.before.upper if p.positive]
        denied = [r.grant.target for p in self.before.upper for r in p.negative]
        self.open = Intersection((*passed, Complement(calls_of([*denied, *self.own_negatives]))))

    def concrete(self, bounds: Bounds) -> Bounds:
        """The bounds with slots filled for the agent."""
        context = self.question.context
        return bounds if context is None else bounds.mapped(lambda g: g.addressed(context).filled(context))

    def surface(self, bounds: Bounds) -> Surface:
        """The surface with the new card in the wallet."""
        new = Card(NEW_CARD, self.concrete(bounds))
        return surface_of([*self.question.cards, new], self.question.holder)

    def refusal(self) -> NoSolution | None:
        """What makes the question hopeless before anything is searched."""
        question = self.question
        refused = self._refused(self.frame)
        if refused is not None:
            reason = "the deployer's cards do not allow what the card has already"
            if refused.grant is not None:
                reason += f": `{refused.grant.text.rstrip()}`"
            if refused.missing:
                reason += f" (theirs: `{refused.missing[0].text.rstrip()}`)"
            return NoSolution(reason, ())
        for wanted in question.wanted:
            if any(u.covers(wanted) for u in question.unwanted):
                return NoSolution("it is wanted and unwanted at once", (wanted,))
            if self.before.allows(wanted):
                continue
            upper = [o for o in obstacles_of(self.before, wanted) if o.obstacle in _UPPER]
            if upper:
                return NoSolution(
                    "a ceiling or an upper negative withholds it from the whole wallet", (wanted,), tuple(upper)
                )
            denying = self._own_denials(wanted)
            if denying:
                reason = "a negative that the new card must have denies it"
                return NoSolution(reason, (wanted,), (Withheld(Obstacle.OWN_NEGATIVE, NEW_CARD, denying),))
        others = surface_of(self.question.cards, question.holder)
        lent = Intersection((admitted_by(others).calls, self.open))
        whole = [u for u in question.unwanted if others.allows(u) and contains(self.open, u)]
        if whole:
            return NoSolution("other cards of the wallet let it through", (whole[0],))
        answer = is_empty(Intersection((calls_of(question.unwanted), lent)), question.universe, steps=question.steps)
        if isinstance(answer, Fails):
            return NoSolution("other cards of the wallet let it through", (answer.witness,))
        return None

    def options(self, missing: Sequence[Target]) -> list[_Option]:
        """The grants that may be given, each with its cost and the unwanted calls that it would let through."""
        return [
            _Option(candidate, self._cost(candidate), self._touched(candidate.filled))
            for candidate in candidates_of(missing, self.question.context)
            if self.question.is_writable(candidate.target) and self._may_be_given(candidate.target)
        ]

    def grant(self, target: Target) -> Grant:
        """A grant for the holder."""
        return Grant(target, self.question.holder)

    def _may_be_given(self, target: Target) -> bool:
        if self.question.deployer is None:
            return True
        return self._attenuates(replace(self.frame, lower_positive=(self.grant(target),)))

    def _attenuates(self, bounds: Bounds) -> bool:
        return self._refused(bounds) is None

    def _refused(self, bounds: Bounds) -> TooBroad | None:
        """What the deployer's cards say against a card."""
        deployer = self.question.deployer
        outcome = None if deployer is None else attenuate(deployer, deploy_envelopes(bounds))
        return outcome if isinstance(outcome, TooBroad) else None

    def _own_denials(self, call: Target) -> tuple[GrantRef, ...]:
        """The lower negatives of the new card that deny a call."""
        found = []
        for index, grant in enumerate(self.concrete(self.frame).lower_negative):
            if grant.recipient.covers(self.question.holder) and grant.target.covers(call):
                found.append(GrantRef(NEW_CARD, Bound.LOWER_NEGATIVE, index, grant))
        return tuple(found)

    def stuck(self, calls: tuple[Target, ...]) -> NoSolution:
        """Why no grant may be given for some wanted calls."""
        may = candidates_of(calls, self.question.context)
        if any(self.question.is_writable(c.target) for c in may):
            return NoSolution("the deployer's cards give nothing that lets this through", calls)
        return NoSolution("no grant can be written that lets this through", calls)

    def _cost(self, candidate: Candidate) -> int:
        if candidate.steps == 0 or candidate.steps > MAX_PROVED_STEPS:
            return candidate.steps
        more = Intersection((calls_of([candidate.filled]), self.open))
        beyond = minus(minus(more, self.single), admitted_by(self.before).calls)
        proof = is_empty(beyond, self.question.universe, steps=self.question.steps)
        return 0 if isinstance(proof, Holds) else candidate.steps

    def _touched(self, target: Target) -> tuple[int, ...]:
        found = []
        for number, unwanted in enumerate(self.question.unwanted):
            if unwanted.cls != target.cls:
                continue
            if target.covers(unwanted) and contains(self.open, unwanted):
                found.append(number)  # as it is written, even where no operation asks for any of it
                continue
            both = Intersection((calls_of([target]), calls_of([unwanted]), self.open))
            answer = is_empty(both, self.question.universe, steps=self.question.steps)
            if isinstance(answer, Undecided):
                raise _UnknownError(answer.reason)
            if isinstance(answer, Fails):
                found.append(number)
        return tuple(found)

    def forced(self) -> set[int]:
        """Unwanted calls that the grants kept would let through, so that a negative is needed anyway."""
        kept = [g.target for g in self.concrete(self.frame).lower_positive if g.recipient.covers(self.question.holder)]
        return {n for target in kept for n in self._touched(target)}

    def with_grants(self, added: Sequence[Target], denied: Sequence[Target]) -> Bounds:
        """The new card."""
        return replace(
            self.frame,
            lower_positive=(*self.frame.lower_positive, *map(self.grant, added)),
            lower_negative=(*self.frame.lower_negative, *map(self.grant, denied)),
        )

    def serves(self, added: Sequence[Target], denied: Sequence[Target]) -> bool:
        """Whether a choice of grants does what was asked: calls as they are written, and unwanted ones by proof.

        Raises:
            _UnknownError: when the proof does not end within the effort.
        """
        question = self.question
        surface = self.surface(self.with_grants(added, denied))
        if not all(surface.allows(w) for w in question.wanted) or any(map(surface.allows, question.unwanted)):
            return False
        proof = never(admitted_by(surface), calls_of(question.unwanted), question.universe, steps=question.steps)
        if isinstance(proof, Undecided):
            raise _UnknownError(proof.reason)
        return isinstance(proof, Holds)

    def needed(self, added: Sequence[Target], denied: Sequence[Target]) -> list[Target]:
        """Those of the negatives that keep something out which no other one does.

        Raises:
            _UnknownError: when a proof does not end within the effort.
        """
        kept = list(denied)
        for negative in sorted(denied, key=lambda t: (-len(t.text), t.text)):
            fewer = [other for other in kept if other is not negative]
            if len(denied) > 1 and self.serves(added, fewer):
                kept = fewer
        return kept

    def checked(self, chosen: Sequence[Candidate], denied: Sequence[Target], options: Sequence[_Option]) -> Synthesis:
        """The answer, after trying it, and after trying it without each grant and with each one narrowed."""
        added = [c.target for c in chosen]
        bounds = self.with_grants(added, denied)
        if not self.serves(added, denied) or not self._attenuates(bounds):
            raise InternalDefect.of("synthesised grants do not do what was asked")
        for place, candidate in enumerate(chosen):
            rest = [*added[:place], *added[place + 1 :]]
            narrower = [
                o.candidate.target
                for o in options
                if o.candidate.steps == candidate.steps - 1 and candidate.filled.covers(o.candidate.filled)
            ]
            if self.serves(rest, denied) or any(self.serves([*rest, n], denied) for n in narrower):
                raise InternalDefect.of(f"a synthesised grant is wider than needed: `{candidate.target.text}`")
        for place in range(len(denied)):
            if self.serves(added, [*denied[:place], *denied[place + 1 :]]):
                raise InternalDefect.of(f"a synthesised negative is not needed: `{denied[place].text}`")
        now = admitted_by(self.surface(bounds)).calls
        beyond = minus(minus(now, admitted_by(self.before).calls), self.single)
        extra: dict[Target, None] = {}
        for found in calls_in(beyond, self.question.universe, self.question.steps):
            if isinstance(found, Undecided):
                raise _UnknownError(f"what the grants open besides: {found.reason}")
            if found not in self.question.wanted:
                extra[found] = None
        shown = tuple(extra)[:MAX_EXTRA_SHOWN]
        more = len(extra) - len(shown)
        return Synthesis(tuple(map(self.grant, added)), tuple(map(self.grant, denied)), bounds, shown, more)


def _is_single(target: Target) -> bool:
    """Whether the target is one thing; whole stores, all ports and the like contain further calls."""
    match target.resource:
        case AnyResource():
            return False
        case StoreKey(_, key):
            return target.owner.is_exact and key not in ("*", "**")
        case TableName(_, _, table):
            return target.owner.is_exact and table != "*"
        case NetworkResource(_, ports):
            return ports.form == "single"
        case _:
            return target.owner.is_exact


_UPPER = (Obstacle.CEILING, Obstacle.UPPER_NEGATIVE)


def _least(
    work: _Work, missing: Sequence[Target], options: Sequence[_Option], timeout_ms: int
) -> tuple[list[Candidate], list[Target], Sequence[_Option]] | None:
    """The choice with the least cost, None when there is none.

    Raises:
        _UnknownError: when the solver does not finish.
    """
    context = z3.Context()
    solver = z3.Optimize(ctx=context)
    solver.set("timeout", timeout_ms)
    solver.set("priority", "lex")
    picks = [z3.Bool(f"grant{n}", context) for n in range(len(options))]
    denies = [z3.Bool(f"deny{n}", context) for n in range(len(work.question.unwanted))]
    no = z3.BoolVal(False, context)
    for wanted in missing:
        covering = [p for p, o in zip(picks, options, strict=True) if o.candidate.filled.covers(wanted)]
        solver.add(z3.Or(no, *covering))
    for pick, option in zip(picks, options, strict=True):
        for number in option.touches:
            solver.add(z3.Implies(pick, denies[number]))
    for number in work.forced():
        solver.add(denies[number])
    for deny, unwanted in zip(denies, work.question.unwanted, strict=True):
        if not work.question.is_writable(unwanted):
            solver.add(z3.Not(deny))
    zero = z3.IntVal(0, context)
    count = z3.Sum(zero, *(z3.If(x, 1, 0) for x in (*picks, *denies)))
    if work.question.at_most is not None:
        solver.add(count <= work.question.at_most)
    solver.minimize(z3.Sum(zero, *(z3.If(p, o.cost, 0) for p, o in zip(picks, options, strict=True))))
    solver.minimize(count)
    solver.minimize(z3.Sum(zero, *(z3.If(p, n, 0) for n, p in enumerate(picks))))
    verdict = solver.check()
    if verdict == z3.unsat:
        return None
    if verdict != z3.sat:
        raise _UnknownError(solver.reason_unknown())
    model = solver.model()

    def is_true(term: Term) -> bool:
        return bool(z3.is_true(model.eval(term, model_completion=True)))

    chosen = [o.candidate for p, o in zip(picks, options, strict=True) if is_true(p)]
    denied = [u for d, u in zip(denies, work.question.unwanted, strict=True) if is_true(d)]
    return chosen, denied, options
