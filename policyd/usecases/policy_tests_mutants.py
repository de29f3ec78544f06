"""Which grants no policy test touches, and which changes of a grant no policy test notices.

Source: questions 1, 2, 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from policyd.core.application import AgentType, InitialCard, PlacedGrant
from policyd.core.cards import Bound
from policyd.core.grants import Grant
from policyd.findings import Span
from policyd.syntax import Form, GrantSyntaxError, parse_grant
from policyd.usecases.changes import HolderChange, changes_between
from policyd.usecases.deployments import agent_name
from policyd.usecases.holders import holders_in
from policyd.usecases.policy_tests import Outcome, TestRun
from policyd.usecases.proofs import steps_for


@dataclass(frozen=True, slots=True)
class PlacedMention:
    """A grant that no test touches, or a change of one.

    Attributes:
        agent: whose card it is in.
        grant: as written.
        span: its place, None for a grant of the default card.
        what: `untouched`, `survives`, `undecided` or `not tried`.
        change: what was done to the grant, empty for coverage.
        witness: a call that the change lets through or stops, empty where none is known.
    """

    agent: str
    grant: str
    span: Span | None
    what: str
    change: str = ""
    witness: str = ""


def untouched(run: TestRun, outcomes: Sequence[Outcome]) -> Iterator[PlacedMention]:
    """The grants that are neither among the deciding ones of a call nor of the class of a proved query."""
    touched = {key for outcome in outcomes for key in outcome.touched}
    for agent in run.found.deployment.agents:
        for bound, index, placed in agent.initial_card.each():
            if (agent.name, bound, index) not in touched:
                yield PlacedMention(agent.name, placed.text, placed.span, "untouched")


def survivors(run: TestRun, outcomes: Sequence[Outcome], seconds: float) -> Iterator[PlacedMention]:
    """The changes of single grants that change what is admitted, and that no test notices.

    A change of which it is proved that it admits the same is left out. What is not tried within `seconds` is told.
    """
    until = monotonic() + seconds
    before = {(o.test, o.about): o.failures for o in outcomes}
    for agent in run.found.deployment.agents:
        for bound, index, placed in agent.initial_card.each():
            for change, card in _mutants(agent.initial_card, bound, index, placed, run):
                told = PlacedMention(agent.name, placed.text, placed.span, "not tried", change)
                if monotonic() > until:
                    yield told
                    continue
                mutant = _with_card(run, agent, card)
                if any(before[o.test, o.about] != o.failures for o in _again(mutant, agent.name)):
                    continue
                difference = _difference(run, mutant, agent.name)
                if not difference.is_none:
                    shown = (*difference.started.witnesses, *difference.stopped.witnesses)
                    word = "survives" if shown else "undecided"
                    yield replace(told, what=word, witness=shown[0].call if shown else "")


def _mutants(
    card: InitialCard, bound: Bound, index: int, placed: PlacedGrant, run: TestRun
) -> Iterator[tuple[str, InitialCard]]:
    grants = card.of(bound)
    yield "dropped", _replaced(card, bound, (*grants[:index], *grants[index + 1 :]))
    grant = placed.grant
    wider: list[tuple[str, Grant]] = []
    if grant.target.verb != "*":
        wider.append(("verb widened to `*`", Grant(replace(grant.target, verb="*"), grant.recipient)))
    head = grant.text.removesuffix(grant.target.resource.text)
    try:
        everything = parse_grant(f"{head}*", Form.MANIFEST, run.settings.rules)
    except GrantSyntaxError:
        pass  # the class has no resource that covers all
    else:
        if everything != grant:
            wider.append(("resource widened to `*`", everything))
    for change, other in wider:
        yield change, _replaced(card, bound, (*grants[:index], replace(placed, grant=other), *grants[index + 1 :]))


def _replaced(card: InitialCard, bound: Bound, grants: tuple[PlacedGrant, ...]) -> InitialCard:
    match bound:
        case Bound.LOWER_POSITIVE:
            return replace(card, lower_positive=grants)
        case Bound.LOWER_NEGATIVE:
            return replace(card, lower_negative=grants)
        case Bound.UPPER_POSITIVE:
            return replace(card, upper_positive=grants)
        case Bound.UPPER_NEGATIVE:
            return replace(card, upper_negative=grants)


def _with_card(run: TestRun, agent: AgentType, card: InitialCard) -> TestRun:
    deployment = run.found.deployment
    agents = tuple(replace(a, initial_card=card) if a.name == agent.name else a for a in deployment.agents)
    return replace(run, found=replace(run.found, deployment=replace(deployment, agents=agents)))


def _again(run: TestRun, agent: str) -> Iterator[Outcome]:
    for test in run.tests.tests:
        mine = tuple(a for a in test.agents if agent_name(a)[0] == agent)
        yield from run.outcomes(replace(test, agents=mine))


def _difference(old: TestRun, new: TestRun, agent: str) -> HolderChange:
    before, after = (holders_in(run.found, run.selection, agent, run.source) for run in (old, new))
    changes = changes_between(before, after, old.settings.rules, 1, steps=steps_for(old.settings.budget))
    return next((h for h in changes.holders if not h.is_none), changes.holders[0])


def mention_text(mention: PlacedMention) -> str:
    """One line about a grant."""
    place = f"{mention.span.source}:{mention.span.line}:{mention.span.column} " if mention.span else ""
    change = f" {mention.change}" if mention.change else ""
    witness = f", for example {mention.witness}" if mention.witness else ""
    return f"{mention.what}: {place}{mention.agent}: `{mention.grant}`{change}{witness}"


def mention_json(mention: PlacedMention) -> dict[str, object]:
    """A grant on the wire."""
    span = mention.span
    place = None if span is None else {"source": span.source, "line": span.line, "column": span.column}
    names = ("agent", "grant", "what", "change", "witness")
    return {**{name: getattr(mention, name) for name in names}, "place": place}
