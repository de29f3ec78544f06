"""Grants that were never used in a window, the least card for what was seen, and what could not be seen.

A floor or ceiling grant is *used* if it covers a call that the log and the cards admit, in a card that lends it or a
ceiling that it passes; it is *needed* if without it alone the exact evaluator would decide a seen call otherwise. A
negative *stops* the seen calls that it covers and that would else go further.

Source: cards 5.2; host 0.2, 5.2; questions 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

from policyd.core.application import GrantOrigin
from policyd.core.cards import Bound, GrantRef, Timestamp
from policyd.core.edition import Rules
from policyd.core.grants import ANY_VERB
from policyd.core.operations import Catalogue, Operation, Ports, RecordClass
from policyd.findings import NoSuchName, Severity, Span, nearest
from policyd.syntax import parse_target
from policyd.syntax.mistakes import shown
from policyd.usecases.decision_log import BadLine, LogLine
from policyd.usecases.holders import Holder, Parties, Party
from policyd.usecases.synthesis import START_UP_READS
from policyd.usecases.unused_least import Least, least_card
from policyd.usecases.unused_reader import Reader
from policyd.usecases.unused_seen import Seen, SeenHolder, SeenLog, Window

MAX_LEAST = 25
"""So many least cards are sought where everybody is asked about: each takes about as long as `policyd synth`."""

_TRACED = frozenset({RecordClass.RECORDED, RecordClass.FILTERED})


class GrantState(Enum):
    """What was seen of a grant."""

    NEEDED = "needed"
    USED = "used"
    UNUSED = "unused"
    START_UP = "start-up"
    STOPPED = "stopped calls"
    IDLE = "stopped nothing"
    ELSEWHERE = "for somebody else"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class GrantUse:
    """One grant, and what was seen of it.

    Attributes:
        ref: the grant in its card.
        written: its text.
        origin: how it got there; None where that is not known.
        place: where it stands.
        state: what was seen.
        calls: how many calls it covered or stopped.
        last: the latest of them.
        untraced: operations that ask for its class and verb, and whose decision a log need not hold.
    """

    ref: GrantRef
    written: str
    origin: GrantOrigin | None
    place: Span | None
    state: GrantState
    calls: int = 0
    last: Timestamp | None = None
    untraced: tuple[str, ...] = ()

    @property
    def is_removable(self) -> bool:
        """Whether it lends, somebody wrote it, and nothing that was seen used it.

        A ceiling grant is not: without the last one there is no ceiling at all (E4).
        """
        lends = self.ref.bound is Bound.LOWER_POSITIVE
        return lends and self.state is GrantState.UNUSED and self.origin in (None, GrantOrigin.WRITTEN)


@dataclass(frozen=True, slots=True)
class HolderUse:
    """One holder.

    Attributes:
        name: how it is called.
        seen: its lines in the window; None for a holder without any.
        grants: all grants of its cards, in order.
        least: the least card; None where it was not asked for.
    """

    name: str
    seen: SeenHolder | None
    grants: tuple[GrantUse, ...]
    least: Least | None = None

    @property
    def unused(self) -> tuple[GrantUse, ...]:
        """The written grants that nothing used."""
        return tuple(grant for grant in self.grants if grant.is_removable)


@dataclass(frozen=True, slots=True)
class Unused:
    """The whole answer.

    Attributes:
        source: how the deployment is called.
        window: the moments that count.
        log: what was seen.
        holders: by name.
        unreadable: holders a part of whose cards cannot be read.
        notes: what was assumed.
        rules: the edition.
    """

    source: str
    window: Window
    log: SeenLog = field(hash=False)
    holders: tuple[HolderUse, ...] = ()
    unreadable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rules: Rules = field(default_factory=Rules)

    @property
    def worst(self) -> Severity | None:
        """How bad the worst is: contradictions and bad lines are warnings, unused grants of a seen holder remarks."""
        if self.log.drift_count or self.log.bad_count:
            return Severity.WARNING
        return Severity.INFO if any(h.unused for h in self.holders if h.seen is not None) else None

    @property
    def is_undecided(self) -> bool:
        """Whether a least card was sought and the effort ended first."""
        return any(h.least is not None and h.least.is_undecided for h in self.holders)


def unused_authority(
    parties: Parties,
    lines: Iterable[LogLine | BadLine],
    window: Window,
    rules: Rules,
    catalogue: Catalogue,
    ports: Ports,
    *,
    budget_s: float,
    notes: Iterable[str] = (),
    only: str = "",
    log_name: str = "log",
    most_least: int = MAX_LEAST,
) -> Unused:
    """What a log of decisions says about the grants of a deployment.

    Args:
        parties: everybody whose grants are asked about.
        lines: of the log, read one by one.
        window: the moments that count.
        rules: the edition.
        catalogue: the operations.
        ports: what reads URLs and SQL of logged operations.
        budget_s: effort in seconds for each least card.
        notes: what else must be said.
        only: an agent type or id; empty for everybody.
        log_name: how the log is called in mistakes.
        most_least: so many least cards are sought; of the other holders it is told.

    Raises:
        InputError: if there are lines, and none of them is understood; MANIF090 where nobody is called `only`.
    """
    _demand_known(parties, only)
    log = Reader(parties, window, rules, catalogue, ports, only, log_name).read(lines)
    traces = _Traces(catalogue, rules)
    holders, sought = [], 0
    for name in sorted(parties.by_name):
        if name in parties.unreadable or not _is_asked(only, name):
            continue
        party = parties.by_name[name]
        seen = log.holders.get(name)
        least = None
        if seen is not None and not isinstance(party, Holder):
            least = Least(None, why_not="its cards are those of a wallet, not the initial card of a type")
        elif seen is not None and sought >= most_least:
            least = Least(None, why_not=f"not more than {most_least} are sought at once, name this one with `--agent`")
        elif seen is not None and isinstance(party, Holder):
            least = least_card(party, seen, rules, budget_s)
            sought += 1
        holders.append(HolderUse(name, seen, tuple(_uses(party, seen, traces)), least))
    told = (*parties.notes, *notes, *_coverage(log, window))
    return Unused(
        parties.source,
        window,
        log,
        tuple(holders),
        tuple(sorted(name for name in parties.unreadable if _is_asked(only, name))),
        tuple(dict.fromkeys(told)),
        rules,
    )


def _is_asked(only: str, name: str) -> bool:
    """Whether a holder is asked about: all are, or it is the agent, its type, or an agent of the type."""
    return not only or only in (name, name.partition("(")[0]) or only.partition("(")[0] == name


def _demand_known(parties: Parties, only: str) -> None:
    names = {*parties.by_name, *parties.unreadable}
    if only and not any(_is_asked(only, name) for name in names):
        near = nearest(only.partition("(")[0], names)
        help = f"did you mean `{near}`?" if near else f"holders: {', '.join(sorted(names)[:20])}"
        raise NoSuchName.of("MANIF090", f"nobody is called {shown(only)}", None, help)


def _uses(party: Party, seen: SeenHolder | None, traces: _Traces) -> Iterable[GrantUse]:
    context = party.context
    here = context if context is None or context.agent_id else replace(context, agent_id=f'{party.name}("any agent")')
    reads = (
        [parse_target(f"env(?agent) : read : {name}", slots=True).filled(here) for name in START_UP_READS]
        if here is not None
        else []
    )
    for ref in party.refs:
        original = party.original(ref)
        placed = party.card.place(ref) if isinstance(party, Holder) else None
        found = seen.grants.get((ref.card, ref.bound, ref.index)) if seen is not None else None
        recipient = original.addressed(here).recipient if here is not None else original.recipient
        if not recipient.covers(party.recipient):
            state = GrantState.ELSEWHERE
        elif seen is None:
            state = GrantState.UNKNOWN
        else:
            filled = original.filled(here).target if here is not None else original.target
            is_read = ref.bound.is_positive and any(filled.covers(read) for read in reads)
            state = _state(ref.bound, found, is_read=is_read)
        yield GrantUse(
            ref,
            party.written(ref),
            placed.origin if placed else None,
            party.place(ref),
            state,
            found.count if found else 0,
            found.last if found else None,
            traces.of(ref) if state is GrantState.UNUSED else (),
        )


def _state(bound: Bound, seen: Seen | None, *, is_read: bool) -> GrantState:
    if not bound.is_positive:
        return GrantState.STOPPED if seen is not None else GrantState.IDLE
    if seen is not None:
        return GrantState.NEEDED if seen.is_needed else GrantState.USED
    return GrantState.START_UP if is_read else GrantState.UNUSED


class _Traces:
    """Which operations may use a grant and leave nothing in a log (host 0.2, 5.2)."""

    def __init__(self, catalogue: Catalogue, rules: Rules) -> None:
        self._catalogue, self._rules = catalogue, rules
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def of(self, ref: GrantRef) -> tuple[str, ...]:
        """The operations whose decision need not be recorded."""
        target = ref.grant.target
        key = (target.cls.name, target.verb)
        if key not in self._known:
            verbs = target.cls.verbs if target.verb == ANY_VERB else (target.verb,)
            operations = {o.id: o for verb in verbs for o in self._catalogue.asking_for(target.cls.name, verb)}
            self._known[key] = tuple(
                id for id, o in sorted(operations.items()) if o.is_part_of(self._rules) and _is_untraced(o)
            )
        return self._known[key]


def _is_untraced(operation: Operation) -> bool:
    return operation.record.p2 not in _TRACED or operation.record.p3 not in _TRACED


def _coverage(log: SeenLog, window: Window) -> Iterable[str]:
    """Where the log is shorter than the window, so that "never" means less than it says."""
    if log.first is None or log.last is None:
        yield "the log has no line that is understood: nothing was observed"
        return
    if log.first > window.start:
        yield f"the log begins at {log.first.text}, not at {window.start.text}: earlier use is not seen"
    if log.last < window.end:
        yield f"the last line is of {log.last.text}; what happened from then to {window.end.text} is not seen"
