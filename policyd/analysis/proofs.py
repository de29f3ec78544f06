"""Grants that change no decision, proved over all calls, and what could not be decided within the effort.

A grant is only put to proof where others overlap it, so the effort follows the overlaps. The proof takes
every list of the card as sets of calls. It holds whatever other cards the holder has: further cards may lend
more and withhold more, and neither lets a grant matter that is lent, denied or withheld here anyway.

Source: questions 2; cards 5.1, 5.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from policyd.analysis.card_index import index_of
from policyd.analysis.effect import INERT_CLASSES, is_never_asked, is_unknown, targets_may_overlap
from policyd.analysis.misfit import why_inert
from policyd.analysis.neighbourhood import Filled, Neighbourhood
from policyd.analysis.repeats import repeats_of
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.callsets import (
    ALL_CALLS,
    CallSet,
    Complement,
    Undecided,
    Universe,
    instances_of,
)
from policyd.core.callsets.budget import Budget, Effort, ExhaustedError
from policyd.core.callsets.callset import within_class
from policyd.core.callsets.index import ClassIndex, fixed_words
from policyd.core.callsets.search import call_or_undecided
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB, AgentContext, Level, Owner, Recipient, Target, agent_holder
from policyd.findings import Related
from policyd.syntax.mistakes import shown

MAX_NEIGHBOURS = 50_000
"""So many pairs of overlapping grants are put to proof in one deployment; grants past that stay undecided."""

MAX_LOOKED = 100_000
MAX_LOOKED_EACH = 100
"""So many grants are looked at for overlaps in one card, and so many more for each of its grants."""

MAX_STEPS = 20_000
"""Steps of one search."""

MAX_CONTEXTS = 32
"""So many ways of filling names that are not known, and instances told apart, are tried for one grant."""

_TRIED = 64
"""So many grants of a large list are looked at for one that shows without a search that the grant is needed."""

MAX_TRIMMED = 16
"""Of up to so many grants those are singled out that suffice to leave another one without effect."""


@dataclass(frozen=True, slots=True)
class Idle:
    """A grant without effect.

    Attributes:
        entry: the grant.
        by: grants of the card that together leave it without effect; empty where nothing can ask for what it names.
        is_dead: whether it admits, lets through or denies nothing at all, rather than nothing that others do not.
        is_asked: whether any operation can ask for something that it covers.
        over: what the proof speaks about, in words.
    """

    entry: Entry
    by: tuple[Entry, ...]
    is_dead: bool
    is_asked: bool
    over: str


@dataclass(frozen=True, slots=True)
class Standings:
    """What is proved about the grants of one card.

    Attributes:
        withheld: lower positives of which the ceiling lets nothing through: no upper positive overlaps them.
        cutless: lower negatives that no lower positive overlaps.
        idle: further grants that can go, all of them at once, without changing a decision.
        undecided: written grants about which the effort ended early.
    """

    withheld: tuple[Entry, ...] = ()
    cutless: tuple[Entry, ...] = ()
    idle: tuple[Idle, ...] = ()
    undecided: tuple[Entry, ...] = ()


def standings_of(subject: Subject, card: AuditedCard) -> Standings:
    """The grants of `card` that change no decision and that no simpler rule tells; computed once.

    Grants that a single other one covers or denies, or whose recipient, owner or resource keeps them from doing
    anything, have rules of their own.
    """
    return subject.once(f"standings {card.agent.name}", lambda: _Work(subject, card).standings())


def over_calls(card: AuditedCard, recipient: Recipient | None = None) -> str:
    """What a proof about a grant of `card` quantifies over, in words.

    Args:
        card: whose agents.
        recipient: that of the grant, where the proof also speaks of others that it covers.
    """
    words = f"every call of every agent of type {shown(card.agent.name)}, phantoms included"
    if recipient is not None and len(recipient.known) < Level.AGENT:
        words = f"every call of everyone whom the recipient covers, agents of type {shown(card.agent.name)} among them"
    context = card.context
    open_names = [n for n, v in (("account", context.account), ("component", context.component)) if is_unknown(v)]
    return f"{words}, whatever the {' and the '.join(open_names)} is" if open_names else words


def proved(card: AuditedCard, entry: Entry) -> Related:
    """What the proof of a finding about `entry` quantifies over, at the card."""
    return Related(f"proved for {over_calls(card, entry.grant.recipient)}", card.span)


def is_no_ceiling(subject: Subject, card: AuditedCard) -> bool:
    """Whether it is proved that the upper positives of `card` let every call of its agents through.

    Verbs for which no operation is known are left out.
    """
    upper = [e for e in card.of_bound(Bound.UPPER_POSITIVE) if e.is_for_holder]
    classes = tuple(c for c in Universe(subject.rules).classes if c.name not in INERT_CLASSES)
    if not card.is_readable or len({e.grant.target.cls.name for e in upper}) < len(classes):
        return False  # a class of which nothing is named is withheld
    effort = Effort(MAX_STEPS)
    leaves = [e.grant.target.owner.known[4] for e in upper if len(e.grant.target.owner.known) > 4]
    for context in instances_of(card.context, (), leaves):
        filled = Filled(Neighbourhood(upper[0], (), (), tuple(upper), (), ()), context)
        withheld = Complement(filled.passed)
        universe = Universe.of(agent_holder(context), subject.rules, context.agent_id)
        for cls in classes:
            for verb in (v for v in cls.verbs if not is_never_asked(cls.name, v)):
                if any(call_or_undecided(within_class(withheld, cls.name), cls, verb, None, universe, effort)):
                    return False
    return True


_OTHERS: Mapping[Bound, tuple[Bound, ...]] = {
    Bound.LOWER_POSITIVE: tuple(Bound),
    Bound.LOWER_NEGATIVE: tuple(Bound),
    Bound.UPPER_POSITIVE: (Bound.UPPER_POSITIVE, Bound.UPPER_NEGATIVE),
    Bound.UPPER_NEGATIVE: (Bound.UPPER_POSITIVE, Bound.UPPER_NEGATIVE),
}
"""Which lists can leave a grant of a list without effect."""


@dataclass(slots=True)
class _Purse:
    """What all cards of a deployment may still spend on proofs."""

    neighbours: int = MAX_NEIGHBOURS


@dataclass(frozen=True, slots=True)
class _List:
    """One list in one class, found by overlap."""

    entries: tuple[Entry, ...]
    index: ClassIndex

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> _List:
        return cls(tuple(entries), ClassIndex([_widened(e.grant.target) for e in entries]))


def _widened(target: Target) -> Target:
    """`target` with its owner cut before the first name that is not known: a superset under every filling."""
    known = target.owner.known
    place = next((n for n, name in enumerate(known) if is_unknown(name)), None)
    if place is None:
        return target
    return Target(target.cls, Owner(target.owner.kind, known[:place]), target.verb, target.resource)


class _Work:
    """One card."""

    def __init__(self, subject: Subject, card: AuditedCard) -> None:
        self.subject, self.card = subject, card
        self.index = index_of(subject, card)
        self.told = {id(r.entry) for r in repeats_of(subject, card)}
        self.purse = subject.once("proof purse", _Purse)
        self.lists: dict[tuple[Bound, str], _List] = {}
        self.looking = Budget(MAX_LOOKED)
        self.withheld: list[Entry] = []
        self.cutless: list[Entry] = []
        self.idle: list[Idle] = []
        self.undecided: list[Entry] = []
        self.ceilings = Counter(e.grant.recipient for e in card.of_bound(Bound.UPPER_POSITIVE) if not self._is_told(e))
        self.inherited = {n.target.cls.name for p in subject.deployer or () for n in p.bounds.lower_negative}
        self.inherited_upper = {n.target.cls.name for p in subject.deployer or () for n in p.bounds.upper_negative}

    def standings(self) -> Standings:
        """Ceilings first, because what they withhold decides about the lower grants."""
        if not self.card.is_readable:
            return Standings()
        sorted_out: dict[tuple[Bound, str], list[Entry]] = {}
        for entry in self.card.entries:
            sorted_out.setdefault((entry.bound, entry.grant.target.cls.name), []).append(entry)
        self.lists = {key: _List.of(entries) for key, entries in sorted_out.items()}
        self.looking.left = MAX_LOOKED + MAX_LOOKED_EACH * len(self.card.entries)
        for bound in (Bound.UPPER_NEGATIVE, Bound.UPPER_POSITIVE, Bound.LOWER_NEGATIVE, Bound.LOWER_POSITIVE):
            for entry in self.card.of_bound(bound):
                # Grants that can do nothing have rules of their own.
                is_asked = entry.is_written and (entry.is_for_holder or bound is Bound.LOWER_NEGATIVE)
                if is_asked and why_inert(entry, self.card) is None:
                    try:
                        self._look(entry)
                    except ExhaustedError:
                        self.undecided.append(entry)
        return Standings(tuple(self.withheld), tuple(self.cutless), tuple(self.idle), tuple(self.undecided))

    def _look(self, entry: Entry) -> None:
        """File what is proved about one grant.

        Raises:
            ExhaustedError: if the effort ended first.
        """
        target = entry.grant.target
        near = {bound: self._near(bound, entry) for bound in _OTHERS[entry.bound]}
        agent_type = self.card.agent.name
        match entry.bound:
            case Bound.LOWER_POSITIVE if self.card.has_ceiling:
                passing = (e for e in near[Bound.UPPER_POSITIVE] if e.may_be_for_holder)
                if not any(targets_may_overlap(e.grant.target, target, agent_type) for e in passing):
                    self.withheld.append(entry)
                    return
            case Bound.LOWER_NEGATIVE:
                cut = near[Bound.LOWER_POSITIVE]
                if not any(targets_may_overlap(e.grant.target, target, agent_type) for e in cut):
                    self.cutless.append(entry)
                    return
            case _:
                pass
        if not entry.is_for_holder or self._is_told(entry):
            return
        case = self._case(entry, near)
        if case is None or self._restates(entry) or self._is_plainly_needed(case):
            return
        self.purse.neighbours -= len(case.entries)
        if self.purse.neighbours < 0:
            raise ExhaustedError("too many grants overlap")
        outcome = self._judged(case)
        if outcome is not None:
            self.told.add(id(entry))
            if entry.bound is Bound.UPPER_POSITIVE:
                self.ceilings[entry.grant.recipient] -= 1
            self.idle.append(outcome)

    def _is_told(self, entry: Entry) -> bool:
        return id(entry) in self.told

    def _restates(self, entry: Entry) -> bool:
        """Whether a negative may have to stand because a card of the deployer has one like it."""
        names = {Bound.LOWER_NEGATIVE: self.inherited, Bound.UPPER_NEGATIVE: self.inherited_upper}.get(entry.bound)
        return names is not None and entry.grant.target.cls.name in names

    def _near(self, bound: Bound, entry: Entry) -> tuple[Entry, ...]:
        found = self.lists.get((bound, entry.grant.target.cls.name))
        if found is None or (bound is entry.bound and len(found.entries) == 1):
            return ()
        around = _widened(entry.grant.target)
        numbers = sorted(found.index.numbers_near(around.verb, fixed_words(around), self.looking))
        return tuple(e for n in numbers if (e := found.entries[n]) is not entry)

    def _case(self, entry: Entry, near: Mapping[Bound, tuple[Entry, ...]]) -> Neighbourhood | None:
        """The grant with its neighbours; None where there is nothing that could leave it without effect."""
        target = entry.grant.target
        own = self._left(near[entry.bound])
        upper = near.get(Bound.UPPER_POSITIVE, ())
        upper_negative = self._left(near[Bound.UPPER_NEGATIVE])
        ceilings = tuple(r for r, n in self.ceilings.items() if n)
        match entry.bound:
            case Bound.LOWER_POSITIVE:
                negatives = self._left(near[Bound.LOWER_NEGATIVE])
                if not (own or negatives or upper_negative):
                    return None
                for bound in (Bound.LOWER_NEGATIVE, Bound.UPPER_NEGATIVE):
                    if self.index.for_all_instances(bound).covering(target, 1):
                        return None  # told by the rules for grants that one negative denies
                return Neighbourhood(entry, own, negatives, upper, upper_negative, ceilings)
            case Bound.LOWER_NEGATIVE:
                return Neighbourhood(entry, near[Bound.LOWER_POSITIVE], own, upper, upper_negative, ceilings)
            case Bound.UPPER_POSITIVE:
                return Neighbourhood(entry, (), (), own, upper_negative, ceilings) if own or upper_negative else None
            case Bound.UPPER_NEGATIVE:
                return Neighbourhood(entry, (), (), upper, own, ceilings) if own or self.card.has_ceiling else None

    def _left(self, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """Those that are not told to be useless themselves, so that all that is told can go together."""
        return tuple(e for e in entries if not self._is_told(e))

    def _is_plainly_needed(self, case: Neighbourhood) -> bool:
        """Whether it shows without a search: nothing else does its work, and the ceiling does not stand in its way."""
        target = case.entry.grant.target
        passes = not self.card.has_ceiling or any(
            e.grant.target.covers(target) and e.is_for_holder for e in case.upper_positive[:_TRIED]
        )
        if not passes or case.upper_negative:
            return False
        match case.entry.bound:
            case Bound.LOWER_NEGATIVE:
                return not case.lower_negative and any(
                    e.is_for_holder and (e.grant.target.covers(target) or target.covers(e.grant.target))
                    for e in case.lower_positive[:_TRIED]
                )
            case Bound.UPPER_NEGATIVE:
                return True
            case _:
                return False

    def _judged(self, case: Neighbourhood) -> Idle | None:
        """The proof that the grant does nothing, None where it does something.

        Raises:
            ExhaustedError: if that is not decided within the effort.
        """
        contexts = tuple(islice(self._contexts(case), MAX_CONTEXTS + 1))
        if len(contexts) > MAX_CONTEXTS:
            raise ExhaustedError("too many instances are told apart")
        if case.entry.bound is Bound.UPPER_POSITIVE and not self._leaves_ceiling(case.entry):
            return None
        if case.is_large and not self._is_idle_within_budget(case.sampled(), contexts, otherwise=True):
            return None
        if not self._is_idle(case, contexts):
            return None
        by = self._sufficing(case, contexts)
        is_dead = self._is_idle_within_budget(case.without_own_list(), contexts)
        effort = Effort(MAX_STEPS)
        is_asked = any(self._first(Filled(case, c), ALL_CALLS, c, effort) is not None for c in contexts)
        return Idle(case.entry, by, is_dead, is_asked, over_calls(self.card, case.entry.grant.recipient))

    def _leaves_ceiling(self, entry: Entry) -> bool:
        """Whether there is a ceiling without this upper positive for everyone for whom there is one with it."""
        mine = entry.grant.recipient
        count = sum(n for recipient, n in self.ceilings.items() if recipient.covers(mine))
        return count > 1

    def _is_idle(self, case: Neighbourhood, contexts: Sequence[AgentContext]) -> bool:
        """Whether no call hangs on the grant.

        Raises:
            ExhaustedError: if that is not decided within the effort.
        """
        effort = Effort(MAX_STEPS)
        for context in contexts:
            filled = Filled(case, context)
            found = self._first(filled, filled.hanging(), context, effort)
            if isinstance(found, Undecided):
                raise ExhaustedError(found.reason)
            if found is not None:
                return False
        return True

    def _is_idle_within_budget(
        self, case: Neighbourhood, contexts: Sequence[AgentContext], otherwise: bool = False
    ) -> bool:
        try:
            return self._is_idle(case, contexts)
        except ExhaustedError:
            return otherwise

    def _sufficing(self, case: Neighbourhood, contexts: Sequence[AgentContext]) -> tuple[Entry, ...]:
        """Few helpers that do; all of them where there are too many to try."""
        kept = list(case.helpers)
        if len(kept) <= MAX_TRIMMED:
            for helper in case.helpers:
                fewer = [h for h in kept if h is not helper]
                if self._is_idle_within_budget(case.with_only(fewer), contexts):
                    kept = fewer
        return tuple(kept)

    def _first(
        self, filled: Filled, calls: CallSet, context: AgentContext, effort: Effort
    ) -> Target | Undecided | None:
        """A call of the grant in `calls`, None for a proof that there is none."""
        target = filled.grant.target
        universe = Universe.of(agent_holder(context), self.subject.rules, context.agent_id)
        if len(filled.grant.recipient.known) < Level.AGENT:
            universe = replace(universe, own=None)
        undecided: Undecided | None = None
        for verb in target.cls.verbs if target.verb == ANY_VERB else (target.verb,):
            for found in call_or_undecided(calls, target.cls, verb, target, universe, effort):
                if not isinstance(found, Undecided):
                    return found
                undecided = undecided or found
        return undecided

    def _contexts(self, case: Neighbourhood) -> Iterator[AgentContext]:
        """Every way in which names that are not known, and instances, matter to these grants.

        Grants compare names for equality only: all that nothing mentions behave like the placeholder.
        """
        context = self.card.context
        paths = [p for e in case.entries for p in (e.grant.target.owner.known, e.grant.recipient.known)]
        accounts, components = [context.account], [context.component]
        if is_unknown(context.account):
            accounts += sorted({p[0] for p in paths if p and not is_unknown(p[0])})
        if is_unknown(context.component):
            components += sorted({p[3] for p in paths if len(p) > 3 and not is_unknown(p[3])})
        leaves = sorted({p[4] for p in paths if len(p) > 4 and not is_unknown(p[4])})
        for account, component in product(accounts, components):
            named = replace(context, account=account, component=component)
            yield from instances_of(named, (), leaves)
