"""A grant with the grants of its card that overlap it, and the calls that hang on it for one instance.

Source: cards 5.1, 5.2; questions 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from policyd.analysis.effect import is_unknown
from policyd.analysis.subject import Entry
from policyd.core.callsets import ALL_CALLS, CallSet, Complement, Intersection, calls_of
from policyd.core.cards import Bound
from policyd.core.grants import AgentContext, Grant, Recipient, Target

SAMPLE = 8
"""So many grants of a large list are looked at first."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A grant under proof with its neighbours of every list, those left out that are told already.

    Attributes:
        entry: the grant.
        lower_positive: lower positives that may overlap it, itself left out.
        lower_negative: likewise.
        upper_positive: likewise.
        upper_negative: likewise.
        ceilings: for whom the card has an upper positive, whatever it names.
    """

    entry: Entry
    lower_positive: tuple[Entry, ...]
    lower_negative: tuple[Entry, ...]
    upper_positive: tuple[Entry, ...]
    upper_negative: tuple[Entry, ...]
    ceilings: tuple[Recipient, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All of them, the grant first."""
        return (
            self.entry,
            *self.lower_positive,
            *self.lower_negative,
            *self.upper_positive,
            *self.upper_negative,
        )

    @property
    def helpers(self) -> tuple[Entry, ...]:
        """What may leave the grant without effect, apart from the ceiling as a whole."""
        match self.entry.bound:
            case Bound.LOWER_POSITIVE:
                return (*self.lower_positive, *self.lower_negative, *self.upper_negative)
            case Bound.LOWER_NEGATIVE:
                return (*self.lower_negative, *self.upper_negative)
            case Bound.UPPER_POSITIVE:
                return (*self.upper_positive, *self.upper_negative)
            case Bound.UPPER_NEGATIVE:
                return self.upper_negative

    def without_own_list(self) -> Neighbourhood:
        """The same without the other grants of its list."""
        match self.entry.bound:
            case Bound.LOWER_POSITIVE:
                return replace(self, lower_positive=())
            case Bound.LOWER_NEGATIVE:
                return replace(self, lower_negative=())
            case Bound.UPPER_POSITIVE:
                return replace(self, upper_positive=())
            case Bound.UPPER_NEGATIVE:
                return replace(self, upper_negative=())

    @property
    def is_large(self) -> bool:
        """Whether it pays to look at a part of it first."""
        return len(self.lower_positive) + len(self.upper_positive) > 2 * SAMPLE

    def sampled(self) -> Neighbourhood:
        """The same with a part of what the grant could act on: a call that hangs on it there hangs on it at all."""
        is_negative = self.entry.bound is Bound.LOWER_NEGATIVE
        is_upper = self.entry.bound is Bound.UPPER_POSITIVE
        return replace(
            self,
            lower_positive=self.lower_positive[:SAMPLE] if is_negative else self.lower_positive,
            upper_positive=self.upper_positive if is_upper else self.upper_positive[:SAMPLE],
        )

    def with_only(self, helpers: Iterable[Entry]) -> Neighbourhood:
        """The same with some of the helpers alone."""
        kept = {id(h) for h in helpers}
        is_kept = {id(h): id(h) in kept for h in self.helpers}

        def only(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            return tuple(e for e in entries if is_kept.get(id(e), True))

        return replace(
            self,
            lower_positive=only(self.lower_positive),
            lower_negative=only(self.lower_negative),
            upper_positive=only(self.upper_positive),
            upper_negative=only(self.upper_negative),
        )


class Filled:
    """A grant and its neighbours for one instance, under one choice of the names that are not known.

    Attributes:
        grant: the grant, concrete.
    """

    def __init__(self, case: Neighbourhood, context: AgentContext) -> None:
        self.case, self.context = case, context
        self.grant = self._filled(case.entry.grant)

    def _real(self, known: tuple[str, ...]) -> tuple[str, ...]:
        if not any(is_unknown(name) for name in known):
            return known
        own = (*self.context.segments, self.context.agent_id or "")
        return tuple(own[n] if is_unknown(name) else name for n, name in enumerate(known))

    def _filled(self, grant: Grant) -> Grant:
        owner = grant.target.owner
        known = self._real(owner.known)
        target = grant.target if known is owner.known else replace(grant.target, owner=replace(owner, known=known))
        return Grant(target, self._filled_recipient(grant.recipient))

    def _filled_recipient(self, recipient: Recipient) -> Recipient:
        known = self._real(recipient.known)
        return recipient if known is recipient.known else replace(recipient, known=known)

    def _all(self, entries: Iterable[Entry], *, whoever: bool) -> tuple[Target, ...]:
        """The patterns of grants: those for all to whom the grant applies, or those for any of them."""
        mine = self.grant.recipient
        found = []
        for entry in entries:
            grant = self._filled(entry.grant)
            if grant.recipient.covers(mine) or (whoever and mine.covers(grant.recipient)):
                found.append(grant.target)
        return tuple(found)

    def hanging(self) -> CallSet:
        """A superset, among the calls of the grant, of those that would be decided otherwise without it."""
        case = self.case
        denied = Complement(calls_of(self._all(case.upper_negative, whoever=False)))
        match case.entry.bound:
            case Bound.LOWER_POSITIVE:
                others = self._all(case.lower_positive, whoever=False)
                negatives = self._all(case.lower_negative, whoever=False)
                return Intersection((Complement(calls_of((*others, *negatives))), denied, self._passing()))
            case Bound.LOWER_NEGATIVE:
                cut = calls_of(self._all(case.lower_positive, whoever=True))
                negatives = self._all(case.lower_negative, whoever=False)
                return Intersection((cut, Complement(calls_of(negatives)), denied, self._passing()))
            case Bound.UPPER_POSITIVE:
                others = self._all(case.upper_positive, whoever=False)
                return Intersection((Complement(calls_of(others)), denied))
            case Bound.UPPER_NEGATIVE:
                return Intersection((denied, self._passing()))

    def _passing(self) -> CallSet:
        """What the ceiling lets through to anyone to whom the grant applies; everything where some have none."""
        mine = self.grant.recipient
        if not any(self._filled_recipient(r).covers(mine) for r in self.case.ceilings):
            return ALL_CALLS
        return self.passed

    @property
    def passed(self) -> CallSet:
        """What the upper positives name."""
        return calls_of(self._all(self.case.upper_positive, whoever=True))
