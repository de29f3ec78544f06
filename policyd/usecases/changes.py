"""What a new version of a deployment admits that the old one does not, and the reverse.

Source: questions 2; interface, `diff` and `what-if`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from policyd.core.callsets import MAX_STEPS, Difference, Steps, Undecided, compare
from policyd.core.callsets.witness import Obstacle, Withheld, Witness
from policyd.core.cards import GrantRef, Surface
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext
from policyd.usecases.asking import Asking, asking, together
from policyd.usecases.cross_check import MAX_CROSS_CHECKED, MAX_SECONDS, CrossCheck
from policyd.usecases.holders import Parties, Party, demand_readable, is_alike, surface_for, variants, written_target
from policyd.usecases.never_asked import never_asked
from policyd.usecases.open_names import IF, alternatives

MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ShownWitness:
    """One kind of call that changes.

    Attributes:
        call: in the form that `check` takes.
        cls: its class.
        verb: its verb.
        cause: the grants that admit it, in words with places.
        obstacle: why the other side does not, in words with places; empty where it simply grants nothing.
        agent: the id of the agent that asks, empty for an account.
        admitted: how the side asks that admits it, None where that side has no such party.
        refused: how the other side asks.
    """

    call: str
    cls: str
    verb: str
    cause: str
    obstacle: str
    agent: str = ""
    admitted: Asking | None = None
    refused: Asking | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One direction of a change.

    Attributes:
        witnesses: at most as many as asked for.
        more: how many further kinds there are.
        undecided: on what the search ended early.
    """

    witnesses: tuple[ShownWitness, ...]
    more: int
    undecided: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many kinds of calls."""
        return len(self.witnesses) + self.more


@dataclass(frozen=True, slots=True)
class HolderChange:
    """What changes for one agent type, or for some of its instances.

    Attributes:
        name: the type, with the instance where instances differ.
        started: newly admitted.
        stopped: no longer admitted.
        classes: over how many classes it was proved.
        left_out: what the proof does not speak about.
    """

    name: str
    started: Side
    stopped: Side
    classes: int
    left_out: tuple[str, ...]

    @property
    def is_none(self) -> bool:
        """Whether it is proved that nothing changes."""
        return not (self.started.count or self.stopped.count or self.started.undecided or self.stopped.undecided)


@dataclass(frozen=True, slots=True)
class Changes:
    """What changes for all holders.

    Attributes:
        old: how the old version is called.
        new: how the new one is called.
        holders: by name; those without a change too.
        notes: what was assumed.
        rules: the edition.
    """

    old: str
    new: str
    holders: tuple[HolderChange, ...]
    notes: tuple[str, ...]
    rules: Rules

    @property
    def has_new_access(self) -> bool:
        """Whether anything is newly admitted."""
        return any(h.started.count for h in self.holders)

    @property
    def has_lost_access(self) -> bool:
        """Whether anything is no longer admitted."""
        return any(h.stopped.count for h in self.holders)

    @property
    def is_undecided(self) -> bool:
        """Whether a part of the answer is missing."""
        return any(h.started.undecided or h.stopped.undecided for h in self.holders)


def changes_between(
    old: Parties,
    new: Parties,
    rules: Rules,
    limit: int = MAX_SHOWN,
    *,
    is_cross_checked: bool = False,
    cross_check_s: float = MAX_SECONDS,
    steps: Steps = MAX_STEPS,
    is_silence_told: bool = True,
    others: Iterable[str] = (),
) -> Changes:
    """Compare two versions, party by party, for every kind of instance.

    Args:
        old: one version.
        new: the other.
        rules: the edition.
        limit: the most witnesses for each party and direction.
        is_cross_checked: whether a solver has to come to the same result by another way.
        cross_check_s: the most seconds for that; what it does not reach is told.
        steps: the budget of one search, or the effort of all of them.
        is_silence_told: whether changed grants are named about which no operation can ask.
        others: names of further parties, which do not change; agents of these names are asked about as nobody else.

    Raises:
        InputError: if a card of one of them cannot be read.
        InternalDefect: if the solver contradicts the result.
    """
    demand_readable(old)
    demand_readable(new)
    found: list[HolderChange] = []
    checked = CrossCheck(cross_check_s) if is_cross_checked else None
    unreadable = {*old.unreadable, *new.unreadable}
    taken = (*old.by_name, *new.by_name, *others)
    for name in sorted({*old.by_name, *new.by_name, *unreadable}):
        if name in unreadable:
            unknown = Side((), 0, ("a part of its card cannot be read",))
            found.append(HolderChange(name, unknown, unknown, 0, ()))
            continue
        before, after = old.by_name.get(name), new.by_name.get(name)
        ways = alternatives([before, after])
        first: list[HolderChange] = []
        for way in ways.listed:
            one, two = way.sides
            who = (_Side(before, one), _Side(after, two))
            changes = _of_party(name, who, rules, limit, checked, steps, taken)
            if not way.words:
                first = changes
                found += changes
            elif [_shape(c) for c in changes] != [_shape(c) for c in first]:
                found += [replace(c, name=f"{c.name}{IF}{way.words}") for c in changes]
        if ways.is_cut:
            unknown = Side((), 0, ("more names may be its account or component than are tried",))
            found.append(HolderChange(f"{name}{IF}account or component is another", unknown, unknown, 0, ()))
    notes = [*old.notes, *new.notes]
    notes += [f"{n} is new" for n in sorted(set(new.by_name) - set(old.by_name) - unreadable)]
    notes += [f"{n} is gone" for n in sorted(set(old.by_name) - set(new.by_name) - unreadable)]
    for name in sorted({*old.by_name, *new.by_name} - unreadable) if is_silence_told else ():
        notes += never_asked(name, old.by_name.get(name), new.by_name.get(name), rules)
    notes += checked.notes if checked else ()
    return Changes(old.source, new.source, tuple(found), tuple(dict.fromkeys(notes)), rules)


@dataclass(frozen=True, slots=True)
class _Side:
    """A party in one version.

    Attributes:
        given: as given, None where it is missing.
        filled: with names for what it leaves open.
    """

    given: Party | None
    filled: Party | None

    def surface(self, instance: AgentContext | None) -> Surface | None:
        return surface_for(self.filled, instance) if self.filled is not None else None

    def asking(self, instance: AgentContext | None) -> Asking | None:
        return asking(self.given, instance, self.filled) if self.given is not None else None


def _of_party(
    name: str,
    who: tuple[_Side, _Side],
    rules: Rules,
    limit: int,
    checked: CrossCheck | None,
    steps: Steps,
    taken: Iterable[str],
) -> list[HolderChange]:
    before, after = who
    parties = [side.filled for side in who if side.filled is not None]
    results: list[tuple[AgentContext | None, HolderChange]] = []
    for instance, universe in variants(parties, rules, taken=taken):
        old, new = before.surface(instance), after.surface(instance)
        most = limit if checked is None else MAX_CROSS_CHECKED
        (change,) = compare(_under(name, old), _under(name, new), rules, {name: universe}, limit=most, steps=steps)
        if checked is not None:
            nobody = Surface(parties[0].recipient, (), (), ())
            left, right = old or nobody, new or nobody
            checked.difference(change.started, right, left, universe)
            checked.difference(change.stopped, left, right, universe)
        results.append(
            (
                instance,
                HolderChange(
                    name,
                    _side(change.started, instance, after, before, "new", limit),
                    _side(change.stopped, instance, before, after, "removed", limit),
                    change.started.classes,
                    change.started.left_out,
                ),
            )
        )
    return _merged(name, results)


def _under(name: str, surface: Surface | None) -> dict[str, Surface]:
    return {} if surface is None else {name: surface}


def _merged(name: str, results: list[tuple[AgentContext | None, HolderChange]]) -> list[HolderChange]:
    """One entry for the type, with what its unnamed instance has; one more for all that change alike otherwise."""
    first = results[0][1]
    alike: dict[tuple[object, ...], list[tuple[str, HolderChange]]] = {}
    for instance, change in results[1:]:
        assert instance is not None  # there are several only for a type
        if _shape(change) != _shape(first):
            alike.setdefault(_shape(change), []).append((instance.agent_id or "", change))
    others = [replace(same[0][1], name=together(name, [agent for agent, _ in same])) for same in alike.values()]
    return [first, *others]


def _shape(change: HolderChange) -> tuple[object, ...]:
    return tuple(
        (tuple((w.call, w.cause, w.obstacle) for w in side.witnesses), side.more, side.undecided)
        for side in (change.started, change.stopped)
    )


def _side(
    difference: Difference, context: AgentContext | None, admitting: _Side, other: _Side, word: str, limit: int
) -> Side:
    admitted, refused = admitting.asking(context), other.asking(context)
    agent = next((who.agent for who in (admitted, refused) if who is not None), "")
    sides = [side.filled for side in (admitting, other) if side.filled is not None]
    slots = context if is_alike(sides) else None
    shown = (
        replace(_shown(w, slots, admitting.filled, other.filled, word), agent=agent, admitted=admitted, refused=refused)
        for w in difference.witnesses[:limit]
    )
    more = difference.more + max(0, len(difference.witnesses) - limit)
    return Side(tuple(shown), more, tuple(_reason(u) for u in difference.undecided))


def _reason(undecided: Undecided) -> str:
    return undecided.reason


def _shown(
    witness: Witness, context: AgentContext | None, admitting: Party | None, other: Party | None, word: str
) -> ShownWitness:
    return ShownWitness(
        written_target(witness.target, context),
        witness.target.cls.name,
        witness.target.verb,
        _grants(witness.causes, admitting, other, word),
        "; ".join(
            obstacle_text(item, other) for item in witness.obstacles if item.obstacle is not Obstacle.NOT_GRANTED
        ),
    )


def _grants(refs: Iterable[GrantRef], holder: Party | None, other: Party | None, word: str) -> str:
    words = []
    for ref in tuple(refs)[:3]:
        if holder is None:
            continue
        text = holder.written(ref)
        known = other is not None and other.says(ref.bound, holder.original(ref))
        span = holder.place(ref)
        words.append(f"{'grant' if known else f'{word} grant'} {span.where if span else f'`{text}`'}")
    return ", ".join(words)


def obstacle_text(item: Withheld, holder: Party | None) -> str:
    """What stands in the way of a call, in words with the places of the grants."""
    places = []
    for ref in item.grants[:3]:
        span = holder.place(ref) if holder else None
        places.append(span.where if span else f"`{holder.written(ref) if holder else ref.grant.text}`")
    at = f" at {', '.join(places)}" if places else ""
    match item.obstacle:
        case Obstacle.CEILING:
            return f"outside the ceiling{at}"
        case Obstacle.OWN_NEGATIVE:
            return f"denied by its own card{at}"
        case Obstacle.UPPER_NEGATIVE:
            return f"denied to the whole wallet{at}"
        case Obstacle.NOT_GRANTED:
            return "not granted"


def changes_json(changes: Changes) -> dict[str, object]:
    """The changes as plain values; every form is made from these."""
    return {
        "old": changes.old,
        "new": changes.new,
        "holders": [
            {
                "name": h.name,
                "started": _side_json(h.started),
                "stopped": _side_json(h.stopped),
                "classes": h.classes,
                "leftOut": list(h.left_out),
            }
            for h in changes.holders
        ],
        "notes": list(changes.notes),
        "edition": changes.rules.edition.value,
        "switches": dict(changes.rules.overrides),
    }


def _side_json(side: Side) -> dict[str, object]:
    return {
        "count": side.count,
        "witnesses": [
            {
                "call": w.call,
                "agent": w.agent,
                "class": w.cls,
                "verb": w.verb,
                "cause": w.cause,
                "obstacle": w.obstacle,
            }
            for w in side.witnesses
        ],
        "more": side.more,
        "undecided": list(side.undecided),
    }
