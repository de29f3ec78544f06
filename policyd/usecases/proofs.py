"""Proofs about the agents of a deployment: never, always, implied, equivalent, disjoint.

Source: questions 2; interface, `prove`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from policyd.core.callsets import (
    MAX_STEPS,
    Answer,
    Effort,
    Fails,
    Holds,
    Steps,
    Undecided,
    Universe,
    admitted_by,
    always,
    disjoint,
    implies,
    is_empty,
    never,
    query,
    query_text,
)
from policyd.core.callsets.budget import SEARCHES_AT_FULL_COST
from policyd.core.cards import Surface
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext
from policyd.findings import InputError
from policyd.syntax.mistakes import shown
from policyd.syntax.queries import ParsedQuery, parse_query
from policyd.usecases.asking import Asking, asking, together
from policyd.usecases.cross_check import MAX_SECONDS, CrossCheck
from policyd.usecases.holders import Parties, Party, demand_readable, is_alike, surface_for, variants, written_target
from policyd.usecases.never_asked import never_asked
from policyd.usecases.open_names import alternatives

STEPS_PER_SECOND = 20_000
"""Turns `--budget`, the seconds that one agent may take, into steps of one search, so that answers repeat.

A second allows about 100,000 steps, and a question has those of five searches.
"""


def effort_for(seconds: float) -> Effort:
    """The effort of a question about all holders together that may take about so many seconds."""
    steps = steps_for(seconds)
    return Effort(steps, steps * SEARCHES_AT_FULL_COST)


def steps_for(seconds: float) -> int:
    """The steps of one search, where every holder may take about so many seconds."""
    return max(1000, int(seconds * STEPS_PER_SECOND))


@dataclass(frozen=True, slots=True)
class Proved:
    """The answer for one agent type, or for one of its instances.

    Attributes:
        name: the type, with the instance where it matters.
        answer: holds, fails or undecided.
        witness: the call against it in the form that `check` takes, empty where there is none.
        grants: the grants that admit the witness, as written, with their places.
        agent: the id of the agent that asks the witness, empty for an account.
        verdicts: per source how it asks the witness, and whether that is admitted; None where nobody asks.
    """

    name: str
    answer: Answer
    witness: str = ""
    grants: tuple[str, ...] = ()
    agent: str = ""
    verdicts: tuple[tuple[Asking, bool] | None, ...] = ()

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
        """The answer over all of them; nothing is claimed about nobody."""
        return _over(self.results) if self.results else "undecided"


def prove_query(
    parties: Parties,
    asked: str | ParsedQuery,
    rules: Rules,
    *,
    is_never: bool,
    steps: Steps = MAX_STEPS,
    is_cross_checked: bool = False,
    cross_check_s: float = MAX_SECONDS,
) -> Proof:
    """Whether the calls that a query names are never, or always, admitted to these agents.

    Args:
        parties: who is asked about.
        asked: the query, as typed or as read.
        rules: the edition.
        is_never: which of both.
        steps: the budget of one search, or the effort of all of them.
        is_cross_checked: whether a solver has to come to the same result by another way.
        cross_check_s: the most seconds for that; what it does not reach is told.

    Raises:
        InputError: if the query cannot be read, or a card cannot.
        InternalDefect: if the solver contradicts the result.
    """
    demand_readable(parties)
    asked = parse_query(asked, rules) if isinstance(asked, str) else asked
    ask = never if is_never else always
    checked = CrossCheck(cross_check_s) if is_cross_checked else None
    results = [_not_known(name) for name in parties.unreadable]
    left_out: list[str] = []
    is_vacuous = bool(parties.by_name)
    named = asked.owner.known[-1:] if asked.owner is not None else ()
    able, unable = _able_to_fill(parties, asked)
    for party in able:
        tried: list[tuple[str, list[Proved]]] = []
        ways = alternatives([party], [asked.owner])
        for way in ways.listed:
            rows: list[Proved] = []
            (one,) = way.sides
            assert one is not None  # the party with other names
            for instance, universe in variants([one], rules, named, parties.by_name):
                surface = surface_for(one, instance)
                owner = asked.owner if instance is None else asked.owner_for(instance)
                calls = query(universe, asked.cls, owner, asked.verb, asked.resource)
                answer = ask(admitted_by(surface), calls, universe, steps=steps)
                is_vacuous = is_vacuous and isinstance(is_empty(calls, universe), Holds)
                if checked is not None:
                    checked.query(answer, surface, asked, instance, universe, is_never=is_never)
                left_out += universe.left_out
                who = asking(party, instance, one)
                row = _proved(party.name, answer, one, surface, instance, who.agent)
                rows.append(replace(row, verdicts=((who, is_never),) if row.witness else ()))
            tried.append((way.words, _together(rows)))
        results += _agreed(party.name, tried, is_cut=ways.is_cut)
    word = "never" if is_never else "always"
    claim = f"{word} admitted: {_words(asked)}"
    notes = (*parties.notes, *unable, *_left_out(left_out), *(checked.notes if checked else ()))
    return Proof(claim, tuple(results), notes if not is_vacuous else (_VACUOUS, *notes), rules)


def _able_to_fill(parties: Parties, asked: ParsedQuery) -> tuple[tuple[Party, ...], tuple[str, ...]]:
    """The parties that the query can be asked about, and a note on those for which its slot stands for nothing.

    Raises:
        InputError: if there are only such parties.
    """
    everybody = tuple(parties.by_name.values())
    if asked.owner is None or asked.owner.slot is None:
        return everybody, ()
    able = tuple(party for party in everybody if party.context is not None)
    if everybody and not able and not parties.unreadable:
        raise InputError.of("CARD060", "an account fills no slots", None, "write the owner out")
    unable = [shown(party.name) for party in everybody if party.context is None]
    if not unable:
        return able, ()
    names = ", ".join(unable[:MAX_NAMED]) + (f" and {len(unable) - MAX_NAMED} more" if len(unable) > MAX_NAMED else "")
    return able, (f"not asked about {names}: only an agent fills slots; write the owner out to ask about them, too",)


MAX_NAMED = 5
"""So many parties are named in a note; the others are counted."""

_VACUOUS = (
    "no operation can ask for what the query names, so the claim says nothing: look at the query;"
    " `policyd check` decides such a target as it is written"
)


def _agreed(name: str, tried: Sequence[tuple[str, list[Proved]]], *, is_cut: bool) -> list[Proved]:
    """The rows of a party where all that its open names may be agree; else one row that says on what it depends."""
    words = [_over(rows) for _, rows in tried]
    if is_cut:
        return [Proved(name, Undecided("more names may be its account or component than are tried"))]
    if len(set(words)) == 1:
        return tried[0][1]
    first = words[0]
    way, rows = next((w, r) for (w, r), word in zip(tried, words, strict=True) if word != first)
    row = next(r for r in rows if r.word == _over(rows))
    example = f", for example {row.witness.rstrip()}" if row.witness else ""
    flags = " and ".join(f"`--{flag}`" for flag in ("account", "component") if f"{flag} is" in way)
    reason = f"{first} for names that nothing mentions, {row.word} if its {way}{example}; give {flags}"
    return [Proved(name, Undecided(reason))]


def _over(rows: Sequence[Proved]) -> str:
    words = {r.word for r in rows}
    return "fails" if "fails" in words else "undecided" if "undecided" in words else "holds"


def _not_known(name: str) -> Proved:
    return Proved(name, Undecided("a part of its card cannot be read"))


def _together(rows: Sequence[Proved]) -> list[Proved]:
    """One row for the party, with what its unnamed instance has; one more for all that have another answer alike."""
    first = rows[0]
    alike: dict[tuple[object, ...], list[Proved]] = {}
    for row in rows[1:]:
        if row.word != first.word:
            reason = row.answer.reason if isinstance(row.answer, Undecided) else ""
            alike.setdefault((row.word, row.witness, row.grants, reason), []).append(row)
    return [
        first,
        *(replace(same[0], name=together(first.name, [row.agent for row in same])) for same in alike.values()),
    ]


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


def _proved(
    name: str, answer: Answer, party: Party, surface: Surface, context: AgentContext | None, agent: str
) -> Proved:
    if not isinstance(answer, Fails):
        return Proved(name, answer, agent=agent)
    refs = [
        ref
        for part in surface.lower
        if part.denying(answer.witness) is None and (ref := part.granting(answer.witness)) is not None
    ]
    grants = []
    for ref in refs[:3]:
        span = party.place(ref)
        grants.append(f"{party.written(ref)}{f' ({span.where})' if span else ''}")
    return Proved(name, answer, written_target(answer.witness, context), tuple(grants), agent)


CLAIMS = {
    "implies": "everything that {0} admits, {1} admits",
    "equivalent": "{0} and {1} admit the same",
    "disjoint": "nothing is admitted by both {0} and {1}",
}
"""The relations, and what they claim."""


def prove_relation(
    left: Parties,
    right: Parties,
    relation: str,
    rules: Rules,
    steps: Steps = MAX_STEPS,
    *,
    is_cross_checked: bool = False,
    cross_check_s: float = MAX_SECONDS,
) -> Proof:
    """Whether the agents of one version imply, equal or exclude those of another, agent type by agent type.

    Who exists in one version only has no cards in the other and is admitted nothing there.

    Args:
        left: one version.
        right: the other.
        relation: one of `CLAIMS`.
        rules: the edition.
        steps: the budget of one search, or the effort of all of them.
        is_cross_checked: whether a solver has to come to the same result by another way.
        cross_check_s: the most seconds for that; what it does not reach is told.

    Raises:
        InputError: if a card cannot be read.
        InternalDefect: if the solver contradicts the result.
    """
    demand_readable(left)
    demand_readable(right)
    checked = CrossCheck(cross_check_s) if is_cross_checked else None
    unreadable = {*left.unreadable, *right.unreadable}
    results = [_not_known(name) for name in sorted(unreadable)]
    left_out: list[str] = []
    for name in sorted((set(left.by_name) | set(right.by_name)) - unreadable):
        a, b = left.by_name.get(name), right.by_name.get(name)
        tried: list[tuple[str, list[Proved]]] = []
        ways = alternatives([a, b])
        for way in ways.listed:
            first, second = way.sides
            sides = [party for party in way.sides if party is not None]
            nobody = Surface(sides[0].recipient, (), (), ())
            rows: list[Proved] = []
            for instance, universe in variants(sides, rules, taken=(*left.by_name, *right.by_name)):
                one = surface_for(first, instance) if first else nobody
                two = surface_for(second, instance) if second else nobody
                left_out += universe.left_out
                answer = _related(relation, one, two, universe, steps, checked)
                is_first = not isinstance(answer, Fails) or one.allows(answer.witness)
                side, surface = (sides[0], one) if is_first else (sides[-1], two)
                asked = [
                    asking(given, instance, filled) if given is not None else None
                    for given, filled in zip((a, b), way.sides, strict=True)
                ]
                agent = next((who.agent for who in asked if who is not None), "")
                row = _proved(name, answer, side, surface, instance if is_alike(sides) else None, agent)
                if isinstance(answer, Fails):
                    admitted = [s.allows(answer.witness) for s in (one, two)]
                    pairs = zip(asked, admitted, strict=True)
                    row = replace(row, verdicts=tuple((who, yes) if who is not None else None for who, yes in pairs))
                rows.append(row)
            tried.append((way.words, _together(rows)))
        results += _agreed(name, tried, is_cut=ways.is_cut)
    notes = [*left.notes, *right.notes]
    only = sorted((set(left.by_name) ^ set(right.by_name)) - unreadable)
    notes += [f"{name} exists in one of them only and admits nothing in the other" for name in only]
    for name in sorted({*left.by_name, *right.by_name} - unreadable):
        notes += never_asked(name, left.by_name.get(name), right.by_name.get(name), rules)
    notes += [*_left_out(left_out), *(checked.notes if checked else ())]
    claim = CLAIMS[relation].format(left.source, right.source)
    return Proof(claim, tuple(results), tuple(dict.fromkeys(notes)), rules)


def _related(
    relation: str, one: Surface, two: Surface, universe: Universe, steps: Steps, checked: CrossCheck | None
) -> Answer:
    left, right = admitted_by(one), admitted_by(two)
    if relation == "disjoint":
        answer = disjoint(left, right, universe, steps=steps)
        if checked is not None:
            checked.apart(answer, one, two, universe)
        return answer
    there = implies(left, right, universe, steps=steps)
    if checked is not None:
        checked.contained(there, one, two, universe)
    if relation != "equivalent" or isinstance(there, Fails):
        return there
    back = implies(right, left, universe, steps=steps)
    if checked is not None:
        checked.contained(back, two, one, universe)
    return back if isinstance(there, Holds) or isinstance(back, Fails) else there


def proof_json(proof: Proof) -> dict[str, object]:
    """A proof as JSON."""
    return {
        "claim": proof.claim,
        "answer": proof.word,
        "results": [
            {
                "name": r.name,
                "answer": r.word,
                "witness": r.witness or None,
                "agent": r.agent or None if r.witness else None,
                "grants": list(r.grants),
                "reason": r.answer.reason if isinstance(r.answer, Undecided) else None,
                "over": r.answer.over if isinstance(r.answer, Holds) else None,
            }
            for r in proof.results
        ],
        "notes": list(proof.notes),
        "edition": proof.rules.edition.value,
        "switches": dict(proof.rules.overrides),
    }
