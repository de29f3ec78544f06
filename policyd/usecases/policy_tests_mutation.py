"""Which changes of single grants no policy test notices.

A change is made in every environment of its manifest, and all files about that manifest are asked again. Only tests
that the change can concern are asked: calls of another class are decided without the grant.

Source: cards 5.2; questions 1, 2, 3; interface, `test`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from policyd.core.application import InitialCard
from policyd.core.callsets.budget import Effort
from policyd.core.cards import Bound
from policyd.core.grants import Grant
from policyd.findings import Span
from policyd.policytests import (
    CallExpectation,
    ChainExpectation,
    OperationExpectation,
    QueryExpectation,
    ReachExpectation,
    RetryExpectation,
    SagaExpectation,
)
from policyd.syntax.queries import parse_query
from policyd.usecases.changes import HolderChange, changes_between
from policyd.usecases.operation_answer import OperationAnswer
from policyd.usecases.policy_tests import Case, Outcome, TestRun
from policyd.usecases.policy_tests_coverage import Ran, together
from policyd.usecases.policy_tests_mutants import Change, changes_of, with_change
from policyd.usecases.policy_tests_passed import receivers
from policyd.usecases.policy_tests_subjects import FromManifest, When
from policyd.usecases.proofs import effort_for

QUESTIONS_PER_SECOND = 500
"""Turns `--budget` into expectations that may be asked again, so that answers repeat."""

REACH_COSTS = 50
"""A question about everybody counts as so many."""

PROOF_COSTS = 5
"""A proof that a change admits the same calls counts as so many."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of a grant that is to be told.

    Attributes:
        agent: whose card it is in.
        grant: as written.
        span: its place, None for a grant of the default card.
        what: `survives` or `undecided`.
        change: what was done to the grant.
        witness: a call that the change lets through or stops, empty where none is known.
    """

    agent: str
    grant: str
    span: Span | None
    what: str
    change: str
    witness: str = ""


@dataclass(frozen=True, slots=True)
class Mutation:
    """What became of all changes.

    Attributes:
        noticed: how many a test notices.
        equivalent: how many are proved to admit the same calls.
        told: the others.
        not_tried: how many grants are left of which not every change was tried.
        not_mutated: what cannot be changed, in words.
    """

    noticed: int
    equivalent: int
    told: tuple[Mutant, ...]
    not_tried: int
    not_mutated: tuple[str, ...]

    def count(self, what: str) -> int:
        """How many are told as `what`."""
        return sum(mutant.what == what for mutant in self.told)

    @property
    def tried(self) -> int:
        """How many changes were tried."""
        return self.noticed + self.equivalent + len(self.told)


class _SpentError(Exception):
    """Nothing is left to ask with."""


@dataclass(slots=True)
class _Work:
    """What may still be spent."""

    questions: int
    effort: Effort

    def spend(self, cost: int) -> None:
        """Use up questions.

        Raises:
            _SpentError: when too few are left.
        """
        if self.questions < cost:
            self.questions = 0
            raise _SpentError
        self.questions -= cost


def mutated(ran: Iterable[Ran], seconds: float) -> Mutation:
    """Change each grant of the manifests under test, one at a time.

    Args:
        ran: the runs with the outcomes that they have without a change.
        seconds: the effort of all of it, counted in questions and steps; what lies beyond it is counted.
    """
    work = _Work(max(1, int(seconds * QUESTIONS_PER_SECOND)), effort_for(seconds))
    noticed = equivalent = not_tried = 0
    told: list[Mutant] = []
    not_mutated: list[str] = []
    for group in together(ran):
        subjects = {run.subject.name: run.subject for run, _ in group if isinstance(run.subject, FromManifest)}
        if not subjects:
            names = sorted({run.subject.name for run, _ in group if run.subject is not None})
            not_mutated += [f"the cards of {name}: what is stored is not edited" for name in names]
            continue
        for found in _each(group, subjects, work):
            match found:
                case None:
                    not_tried += 1
                case Mutant(what="noticed"):
                    noticed += 1
                case Mutant(what="equivalent"):
                    equivalent += 1
                case _:
                    told.append(found)
    return Mutation(noticed, equivalent, tuple(told), not_tried, tuple(not_mutated))


@dataclass(frozen=True, slots=True)
class _Line:
    """A grant where it stands in the cards of each environment."""

    agent: str
    bound: Bound
    text: str
    span: Span | None
    cls: str
    places: tuple[tuple[FromManifest, int], ...]


def _lines(subjects: Iterable[FromManifest]) -> Iterator[_Line]:
    """Every written grant once, whatever the number of environments that have it."""
    found: dict[Hashable, list[tuple[FromManifest, int]]] = {}
    first: dict[Hashable, tuple[str, Bound, str, Span | None, str]] = {}
    for subject in subjects:
        seen: dict[Hashable, int] = {}
        for agent in subject.found.deployment.agents:
            for bound, index, placed in agent.initial_card.each():
                base: Hashable = (agent.name, bound, placed.text, placed.span, placed.grant.text)
                seen[base] = seen.get(base, 0) + 1  # one line may give the same grant twice
                key: Hashable = (base, seen[base])
                found.setdefault(key, []).append((subject, index))
                first.setdefault(key, (agent.name, bound, placed.text, placed.span, placed.grant.target.cls.name))
    for line, places in found.items():
        yield _Line(*first[line], tuple(places))


def _each(group: Sequence[Ran], subjects: dict[str, FromManifest], work: _Work) -> Iterator[Mutant | None]:
    """What became of each change; None for a grant of which not every one could be tried."""
    plan = _Plan([(run, outcome) for run, outcomes in group for outcome in outcomes])
    for line in _lines(subjects.values()):
        if work.questions == 0:
            yield None
            continue
        subject, index = line.places[0]
        grant = _card(subject, line.agent).of(line.bound)[index].grant
        try:
            for change in changes_of(grant, subject.rules):
                yield _tried(line, grant, change, plan, work)
        except _SpentError:
            yield None


def _card(subject: FromManifest, agent: str) -> InitialCard:
    found = subject.found.deployment.agent(agent)
    assert found is not None  # its grant was listed
    return found.initial_card


class _Plan:
    """The expectations that the cards of a manifest decide, the cheap ones first."""

    def __init__(self, asked: Sequence[tuple[TestRun, Outcome]]) -> None:
        weighed = [(_cost(outcome.case), run, outcome) for run, outcome in asked]
        self._listed = sorted((row for row in weighed if row[0]), key=lambda row: row[0])
        self._classes = [_classes(run, outcome) for _, run, outcome in self._listed]

    def about(self, line: _Line, *, ends_ceiling: bool) -> Iterator[tuple[int, TestRun, Outcome]]:
        """Those that a change of the line can concern.

        Args:
            line: the grant.
            ends_ceiling: whether the change may end a ceiling, or begin one: then all classes are concerned.
        """
        for (cost, run, outcome), classes in zip(self._listed, self._classes, strict=True):
            who = outcome.case.agent.partition("(")[0]
            is_all = isinstance(outcome.case.expectation, ReachExpectation | SagaExpectation)
            if who != line.agent and not is_all:
                continue
            if classes is None or line.cls in classes or ends_ceiling:
                yield cost, run, outcome


def _cost(case: Case) -> int:
    """What asking again costs, 0 where the initial cards decide nothing."""
    if case.wallet is not None:
        return 0
    match case.expectation:
        case CallExpectation():
            return 1
        case OperationExpectation() | QueryExpectation():
            return 2
        case SagaExpectation():
            return 5
        case ReachExpectation():
            return REACH_COSTS
        case RetryExpectation() | ChainExpectation():
            return 0


def _classes(run: TestRun, outcome: Outcome) -> frozenset[str] | None:
    """The classes of the calls that decide an expectation; None where any grant may count.

    Whether a call is admitted depends on grants of its class alone; the other facets look at all of the card.
    """
    expectation = outcome.case.expectation
    match expectation:
        case CallExpectation():
            texts = [expectation.target]
        case OperationExpectation() if isinstance(outcome.told, OperationAnswer):
            texts = [each.target for each in outcome.told.targets]
        case QueryExpectation():
            return frozenset({parse_query(expectation.query, run.rules).cls.name})
        case _:
            return None
    if expectation.because or any(name != "admitted" for name, _ in expectation.facets):
        return None
    return frozenset(text.partition("(")[0].strip() for text in texts)


def _tried(line: _Line, grant: Grant, change: Change, plan: _Plan, work: _Work) -> Mutant:
    """What became of one change.

    Raises:
        _SpentError: when nothing is left to ask with.
    """

    def told(what: str, witness: str = "") -> Mutant:
        return Mutant(line.agent, line.text, line.span, what, change.words, witness)

    changed = {}
    for subject, index in line.places:
        card = with_change(_card(subject, line.agent), line.bound, index, change)
        changed[subject.name] = (subject, subject.with_card(line.agent, card))
    is_other_ceiling = line.bound is Bound.UPPER_POSITIVE and (
        change.grant is None or change.grant.recipient != grant.recipient
    )
    late: list[tuple[int, TestRun, Outcome]] = []
    for cost, run, outcome in plan.about(line, ends_ceiling=is_other_ceiling):
        if cost >= REACH_COSTS:
            late.append((cost, run, outcome))  # only asked where the change is known to make a difference
        elif _is_noticed(cost, run, outcome, changed, work):
            return told("noticed")
    differences = [_difference(old, new, line.agent, work) for old, new in changed.values()]
    passed: tuple[str, ...] = ()
    if all(difference.is_none for difference in differences):
        passed = tuple(
            text for old, new in changed.values() for text in _passed(old, new, line.agent, grant, change, work)
        )
        if not passed:
            return told("equivalent")
    if any(_is_noticed(cost, run, outcome, changed, work) for cost, run, outcome in late):
        return told("noticed")
    shown = [w.call.rstrip() for d in differences for w in (*d.started.witnesses, *d.stopped.witnesses)]
    shown += [text for text in passed if text]
    return told("survives", shown[0]) if shown else told("undecided")


def _is_noticed(
    cost: int,
    run: TestRun,
    outcome: Outcome,
    changed: dict[str, tuple[FromManifest, FromManifest]],
    work: _Work,
) -> bool:
    """Whether an expectation comes out otherwise."""
    found = changed.get(run.subject.name) if run.subject is not None else None
    if found is None:
        return False
    work.spend(cost)
    return bool(run.outcome(outcome.case, found[1]).failures) is not bool(outcome.failures)


def _difference(old: FromManifest, new: FromManifest, agent: str, work: _Work) -> HolderChange:
    work.spend(PROOF_COSTS)
    before, after = old.parties(agent, When()), new.parties(agent, When())
    changes = changes_between(before, after, old.rules, 1, steps=work.effort, is_silence_told=False)
    return next((h for h in changes.holders if not h.is_none), changes.holders[0])


def _passed(
    old: FromManifest, new: FromManifest, agent: str, grant: Grant, change: Change, work: _Work
) -> Iterator[str]:
    """What the change means for agents of other types who are given the card; empty texts where that is not decided.

    A wider recipient alone is left to questions about reach: every grant of a card that can be passed on has one.
    """
    if change.grant is not None and change.grant.recipient != grant.recipient:
        return
    everybody = When()
    for receiver in receivers(old.parties("", everybody), new.parties("", everybody), agent, grant):
        work.spend(PROOF_COSTS)
        found = receiver.difference(old.rules, work.effort)
        if found is not None:
            yield found
