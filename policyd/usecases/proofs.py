"""Proofs about the agents of a deployment: never, always, implied, equivalent, disjoint.

Source: questions 2; interface, `prove`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policyd.core.callsets import (
    MAX_STEPS,
    Admitted,
    Answer,
    Fails,
    Holds,
    Universe,
    admitted_by,
    always,
    disjoint,
    implies,
    never,
    query,
    query_text,
)
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext
from policyd.syntax.queries import ParsedQuery, parse_query
from policyd.usecases.holders import Holder, Holders, readable, variants, written_target

STEPS_PER_SECOND = 200_000
"""About how many steps of a search a second allows; turns `--budget` into steps, so that answers repeat."""


@dataclass(frozen=True, slots=True)
class Proved:
    """The answer for one agent type, or for one of its instances.

    Attributes:
        name: the type, with the instance where it matters.
        answer: holds, fails or undecided.
        witness: the call against it in the form that `check` takes, empty where there is none.
        grants: the grants that admit the witness, as written, with their places.
    """

    name: str
    answer: Answer
    witness: str = ""
    grants: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """`holds`, `fails` or `undecided`."""
        match self.answer:
            case Holds():
                return "holds"
            case Fails():
                return "fails"
            case _:
                return "undecided"


@dataclass(frozen=True, slots=True)
class Proof:
    """The answer for all agents asked about.

    Attributes:
        claim: what was to be proved, in words.
        results: by agent type.
        notes: what was assumed, and what the proof does not speak about.
        rules: the edition.
    """

    claim: str
    results: tuple[Proved, ...]
    notes: tuple[str, ...]
    rules: Rules

    @property
    def word(self) -> str:
        """The answer over all of them."""
        words = {r.word for r in self.results}
        return "fails" if "fails" in words else "undecided" if "undecided" in words else "holds"


def prove_query(holders: Holders, text: str, rules: Rules, *, is_never: bool, steps: int = MAX_STEPS) -> Proof:
    """Whether the calls that a query names are never, or always, admitted to these agents.

    Raises:
        InputError: if the query cannot be read, or a card cannot.
    """
    readable(holders)
    asked = parse_query(text, rules)
    ask = never if is_never else always
    results = []
    left_out: list[str] = []
    for holder in holders.by_name.values():

        def one(admitted: Admitted, universe: Universe, context: AgentContext) -> Answer:
            calls = query(universe, asked.cls, asked.owner_for(context), asked.verb, asked.resource)
            return ask(admitted, calls, universe, steps=steps)

        results += _over_instances(holder, rules, one, left_out)
    word = "never" if is_never else "always"
    claim = f"{word} admitted: {_words(asked)}"
    return Proof(claim, tuple(results), (*holders.notes, *_left_out(left_out)), rules)


def _left_out(sentences: list[str]) -> list[str]:
    """What the proofs do not speak about, once for all agents."""
    if not sentences:
        return []
    return [
        "of files, variables and configuration, only the agent's own are asked about: its code cannot ask for others,"
        " tools of other components might"
    ]


def _words(asked: ParsedQuery) -> str:
    return query_text(asked.cls, asked.owner, asked.verb, asked.resource)


def _over_instances(
    holder: Holder,
    rules: Rules,
    one: Callable[[Admitted, Universe, AgentContext], Answer],
    left_out: list[str],
) -> list[Proved]:
    found: list[Proved] = []
    for instance, universe in variants([holder], rules):
        surface = holder.surface(instance)
        answer = one(admitted_by(surface), universe, instance)
        left_out += universe.left_out
        name = holder.name if not found else f"{holder.name} as {instance.agent_id}"
        proved = _proved(name, answer, holder, instance)
        if not found or proved.word != found[0].word:
            found.append(proved)
    return found


def _proved(name: str, answer: Answer, holder: Holder, context: AgentContext) -> Proved:
    if not isinstance(answer, Fails):
        return Proved(name, answer)
    surface = holder.surface(context)
    refs = [
        ref
        for part in surface.lower
        if part.denying(answer.witness) is None and (ref := part.granting(answer.witness)) is not None
    ]
    grants = []
    for ref in refs[:3]:
        span = holder.place(ref)
        grants.append(f"{holder.written(ref)}{f' ({span.where})' if span else ''}")
    return Proved(name, answer, written_target(answer.witness, context), tuple(grants))


def prove_relation(left: Holders, right: Holders, relation: str, rules: Rules, steps: int = MAX_STEPS) -> Proof:
    """Whether the agents of one version imply, equal or exclude those of another, agent type by agent type.

    Args:
        left: one version.
        right: the other.
        relation: `implies`, `equivalent` or `disjoint`.
        rules: the edition.
        steps: the budget of one search.

    Raises:
        InputError: if a card cannot be read.
    """
    readable(left)
    readable(right)
    results: list[Proved] = []
    left_out: list[str] = []
    names = sorted(set(left.by_name) & set(right.by_name))
    for name in names:
        a, b = left.by_name[name], right.by_name[name]
        for instance, universe in variants([a, b], rules):
            one, two = admitted_by(a.surface(instance)), admitted_by(b.surface(instance))
            left_out += universe.left_out
            if relation == "disjoint":
                answer: Answer = disjoint(one, two, universe, steps=steps)
            else:
                answer = implies(one, two, universe, steps=steps)
                if relation == "equivalent" and isinstance(answer, Holds):
                    answer = implies(two, one, universe, steps=steps)
            label = name if not any(r.name == name for r in results) else f"{name} as {instance.agent_id}"
            side = a if not isinstance(answer, Fails) or a.surface(instance).allows(answer.witness) else b
            proved = _proved(label, answer, side, instance)
            if label == name or proved.word != next(r for r in results if r.name == name).word:
                results.append(proved)
    notes = [*left.notes, *right.notes]
    only = sorted(set(left.by_name) ^ set(right.by_name))
    notes += [f"{name} exists in one of them only and was not compared" for name in only]
    claim = {
        "implies": "everything that {0} admits, {1} admits",
        "equivalent": "{0} and {1} admit the same",
        "disjoint": "nothing is admitted by both {0} and {1}",
    }[relation].format(left.source, right.source)
    return Proof(claim, tuple(results), tuple(dict.fromkeys((*notes, *_left_out(left_out)))), rules)
