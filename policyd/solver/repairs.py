"""The smallest changes of an initial card that let some calls through.

A change adds grants or narrows negatives; it never lifts a ceiling. The order of *narrower* is inclusion of what
is admitted: no change is given where one that admits less would do.

Source: host 6.2, 6.4; questions 2 (explanation); cards 5.2, 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice, product

from policyd.core.callsets.witness import Obstacle, Withheld, obstacles_of
from policyd.core.cards import Bound, Bounds, Card, CardId, ScopeCard, Surface, surface_of
from policyd.core.grants import AgentContext, Grant, Recipient, Target
from policyd.solver.repair_candidates import narrowest
from policyd.solver.repair_negatives import without

MAX_REPAIRS = 3
"""So many alternatives are given."""

MAX_COMBINATIONS = 64
"""Where several calls each have several narrowest grants, so many combinations are tried."""


class RepairKind(Enum):
    """What a change does."""

    ADD = "add a grant to the lower bound"
    WIDEN = "widen a grant of the lower bound"
    NARROW_NEGATIVE = "narrow a negative of the lower bound"
    DROP_NEGATIVE = "take away a negative of the lower bound"
    WIDEN_CEILING = "add a grant to the ceiling"
    NARROW_CEILING_NEGATIVE = "narrow a negative of the ceiling"
    DROP_CEILING_NEGATIVE = "take away a negative of the ceiling"


@dataclass(frozen=True, slots=True)
class GrantChange:
    """One change of one list.

    Attributes:
        kind: what it does.
        bound: the list.
        index: of the grant that is replaced; None where one is added.
        grants: what comes, slots as they are written; none where a grant is taken away.
    """

    kind: RepairKind
    bound: Bound
    index: int | None
    grants: tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of the card that lets all wanted calls through.

    Attributes:
        changes: all of them are needed.
    """

    changes: tuple[GrantChange, ...]


@dataclass(frozen=True, slots=True)
class NoRepair:
    """No change of the initial card lets the calls through.

    Attributes:
        call: one of them.
        reasons: what of other cards withholds it; empty where no grant that covers it can be written, or where what
            stands in the way is no line of the card.
    """

    call: Target
    reasons: tuple[Withheld, ...]


@dataclass(frozen=True, slots=True)
class RepairQuestion:
    """What is to be repaired.

    Attributes:
        wanted: calls that must be admitted, concrete.
        holder: who makes them.
        recipient: to whom new grants are addressed, as it is written.
        own: the initial card as written, recipients and owners with their slots.
        card_id: the id under which its grants are named.
        context: the agent, by which slots are filled; its id is known.
        others: the other live cards of the wallet, filled.
        scope: the scope card of the invocation.
        fixed: grants of the own card that are no lines of it, by list and index.
        is_writable: whether a target can be written as a grant.
    """

    wanted: tuple[Target, ...]
    holder: Recipient
    recipient: Recipient
    own: Bounds
    card_id: CardId
    context: AgentContext
    others: tuple[Card, ...] = ()
    scope: ScopeCard | None = None
    fixed: frozenset[tuple[Bound, int]] = frozenset()
    is_writable: Callable[[Target], bool] = field(default=lambda _: True)


def repairs(question: RepairQuestion) -> tuple[Repair, ...] | NoRepair:
    """At most `MAX_REPAIRS` changes, the fewest lines first; each was tried, also without each of its parts."""
    work = _Work(question)
    foreign = work.foreign()
    if foreign is not None:
        return foreign
    options = []
    for call in work.missing():
        ways = work.ways(call)
        if not ways:
            return NoRepair(call, ())
        options.append(ways)
    found: list[Repair] = []
    tried = islice(product(*options), MAX_COMBINATIONS)
    combined = [Repair(_merged([change for way in choice for change in way])) for choice in tried]
    for repair in sorted(combined, key=lambda r: len(r.changes)):
        # of two calls, a grant for one may be good for the other as well, so that a combination holds too much
        if repair not in found and work.serves(repair.changes) and work.is_needed(repair):
            found.append(repair)
        if len(found) == MAX_REPAIRS:
            break
    return tuple(found) or NoRepair(question.wanted[0], ())


def changed(bounds: Bounds, changes: Sequence[GrantChange]) -> Bounds:
    """The lists after some changes."""
    lists = {bound: [[g] for g in bounds.of(bound)] for bound in Bound}
    for change in changes:
        if change.index is None:
            lists[change.bound] += [[g] for g in change.grants]
        else:
            lists[change.bound][change.index] = list(change.grants)
    return Bounds(*(tuple(g for part in lists[bound] for g in part) for bound in Bound))


class _Work:
    """A question with the surface it is about."""

    def __init__(self, question: RepairQuestion) -> None:
        self.question = question
        self.concrete = self._filled(question.own)
        self.before = self.surface(question.own)

    def _filled(self, bounds: Bounds) -> Bounds:
        context = self.question.context
        return bounds.mapped(lambda g: g.addressed(context).filled(context))

    def surface(self, bounds: Bounds) -> Surface:
        """The surface with these lists in the own card."""
        question = self.question
        cards = sorted([*question.others, Card(question.card_id, self._filled(bounds))], key=lambda card: card.id)
        return surface_of(cards, question.holder, question.scope)

    def foreign(self) -> NoRepair | None:
        """The first wanted call that a ceiling of another card withholds."""
        for call in self.question.wanted:
            found = tuple(
                o
                for o in obstacles_of(self.before, call)
                if o.obstacle in (Obstacle.CEILING, Obstacle.UPPER_NEGATIVE) and o.card != self.question.card_id
            )
            if found:
                return NoRepair(call, found)
        return None

    def missing(self) -> list[Target]:
        """The wanted calls that are refused; of those that another one contains, only the wider."""
        refused = [c for c in dict.fromkeys(self.question.wanted) if not self.before.allows(c)]
        return [c for c in refused if not any(o != c and o.covers(c) and not c.covers(o) for o in refused)]

    def ways(self, call: Target) -> list[tuple[GrantChange, ...]]:
        """The changes for one call: what is needed in each list, with alternatives where none is the narrowest."""
        needed: list[list[tuple[GrantChange, ...]]] = []
        if not any(part.lends(call) for part in self.before.lower):
            if self.covering(Bound.LOWER_POSITIVE, call) is None:
                needed.append(self.added(RepairKind.ADD, Bound.LOWER_POSITIVE, call))
            needed += self.narrowed(Bound.LOWER_NEGATIVE, call)
        has_ceiling = any(g.recipient.covers(self.question.holder) for g in self.concrete.upper_positive)
        if has_ceiling and self.covering(Bound.UPPER_POSITIVE, call) is None:
            needed.append(self.added(RepairKind.WIDEN_CEILING, Bound.UPPER_POSITIVE, call))
        needed += self.narrowed(Bound.UPPER_NEGATIVE, call)
        return [tuple(change for part in choice for change in part) for choice in product(*needed)]

    def covering(self, bound: Bound, call: Target) -> int | None:
        """The first grant of a list that is for the holder and covers the call."""
        for index, grant in enumerate(self.concrete.of(bound)):
            if grant.target.covers(call) and grant.recipient.covers(self.question.holder):
                return index
        return None

    def added(self, kind: RepairKind, bound: Bound, call: Target) -> list[tuple[GrantChange, ...]]:
        """The narrowest grants that cover the call, each as a new line."""
        question = self.question
        found = narrowest(call, question.context, lambda _: True, question.is_writable)
        return [(GrantChange(kind, bound, None, (Grant(c.target, question.recipient),)),) for c in found[:MAX_REPAIRS]]

    def narrowed(self, bound: Bound, call: Target) -> Iterator[list[tuple[GrantChange, ...]]]:
        """For each negative of a list that denies the call, what remains of it; nothing where it is no line."""
        kinds = {
            Bound.LOWER_NEGATIVE: (RepairKind.NARROW_NEGATIVE, RepairKind.DROP_NEGATIVE),
            Bound.UPPER_NEGATIVE: (RepairKind.NARROW_CEILING_NEGATIVE, RepairKind.DROP_CEILING_NEGATIVE),
        }[bound]
        for index, grant in enumerate(self.concrete.of(bound)):
            if not grant.target.covers(call) or not grant.recipient.covers(self.question.holder):
                continue
            if (bound, index) in self.question.fixed:
                yield []
                continue
            written = self.question.own.of(bound)[index]
            rest = without(written, grant.target, call, self.question.is_writable)
            yield [(GrantChange(kinds[0] if rest else kinds[1], bound, index, rest),)]

    def serves(self, changes: Sequence[GrantChange]) -> bool:
        """Whether the wanted calls are admitted after these changes."""
        surface = self.surface(changed(self.question.own, changes))
        return all(surface.allows(call) for call in self.question.wanted)

    def is_needed(self, repair: Repair) -> bool:
        """Whether it does not do without one of its parts; each is left out and tried."""
        for place, change in enumerate(repair.changes):
            rest = [*repair.changes[:place], *repair.changes[place + 1 :]]
            fewer = [
                replace(change, grants=(*change.grants[:n], *change.grants[n + 1 :])) for n in range(len(change.grants))
            ]
            is_addition = change.index is None
            tried = [rest, *([*rest, f] for f in fewer if is_addition and f.grants)]
            if any(self.serves(changes) for changes in tried):
                return False
        return True


def _merged(changes: Sequence[GrantChange]) -> tuple[GrantChange, ...]:
    """Equal changes once; two that narrow the same negative leave what both leave."""
    found: list[GrantChange] = []
    for change in changes:
        same = next(
            (c for c in found if change.index is not None and (c.bound, c.index) == (change.bound, change.index)), None
        )
        if same is None:
            if change not in found:
                found.append(change)
            continue
        kept = tuple(g for g in same.grants if g in change.grants)
        drop = {RepairKind.NARROW_NEGATIVE: RepairKind.DROP_NEGATIVE}.get(same.kind, RepairKind.DROP_CEILING_NEGATIVE)
        found[found.index(same)] = replace(same, grants=kept, kind=same.kind if kept else drop)
    return tuple(found)


def as_widening(
    bounds: Bounds, repair: Repair, context: AgentContext, fixed: frozenset[tuple[Bound, int]]
) -> Repair | None:
    """The same repair with an existing grant widened instead of another one added, where that admits no more.

    It does where the new grant contains an old one for the same recipient, which is then not needed any more.
    """
    for place, change in enumerate(repair.changes):
        if change.kind is not RepairKind.ADD or len(change.grants) != 1:
            continue
        new = change.grants[0]
        for index, old in enumerate(bounds.lower_positive):
            if (Bound.LOWER_POSITIVE, index) in fixed:
                continue
            left, right = old.addressed(context).filled(context), new.addressed(context).filled(context)
            if left.recipient == right.recipient and right.target.covers(left.target):
                widened = GrantChange(RepairKind.WIDEN, Bound.LOWER_POSITIVE, index, (new,))
                return Repair((*repair.changes[:place], widened, *repair.changes[place + 1 :]))
    return None


__all__ = [
    "GrantChange",
    "NoRepair",
    "Repair",
    "RepairKind",
    "RepairQuestion",
    "as_widening",
    "changed",
    "repairs",
]
