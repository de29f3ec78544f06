"""Where a log of decisions comes from: policyd's own log in the database; and the length of a window.

Source: interface, Files and queries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from policyd.core.cards import Timestamp
from policyd.findings import InputError
from policyd.store.audits import LoggedDecision, logged_decisions
from policyd.store.session import Database
from policyd.store.snapshots import MAX_PAGE, Scope, SnapshotInfo, snapshots
from policyd.syntax.mistakes import shown
from policyd.usecases.decision_log import LogLine
from policyd.usecases.unused_seen import Window

DEFAULT_WINDOW = "30d"
"""How far back a question looks where it does not say."""

OWN_LOG = "the log of policyd itself holds what was asked of policyd, which need not be what agents did"

_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_WINDOW = re.compile(r"([0-9]{1,6})([mhdw])", re.ASCII)


def window_of(text: str, end: Timestamp) -> Window:
    """The window that ends at a moment and is as long as `text` says.

    >>> window_of("2h", Timestamp.parse("2026-01-01T02:00:00Z")).start.text
    '2026-01-01T00:00:00Z'

    Raises:
        InputError: MANIF091 for a text that is no length.
    """
    found = _WINDOW.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise InputError.of(
            "MANIF091", f"{shown(text)} is no length of time", None, "write `30d`, `12h`, `90m` or `2w`"
        )
    return Window(Timestamp(end.seconds - int(found[1]) * _UNITS[found[2]], end.nanos), end)


def own_decisions(database: Database, info: SnapshotInfo) -> Iterator[LoggedDecision]:
    """What the service logged about every snapshot of the environment of `info`, snapshot by snapshot."""
    scope = Scope(info.account, info.application)
    after = 0
    while True:
        page = snapshots(database, after=after, scope=scope)
        for one in page:
            if one.environment == info.environment:
                yield from _of_snapshot(database, one.number)
        if len(page) < MAX_PAGE:
            return
        after = page[-1].number


def _of_snapshot(database: Database, number: int) -> Iterator[LoggedDecision]:
    after = 0
    while found := logged_decisions(database, number, after=after):
        yield from (decision for _, decision in found)
        after = found[-1][0]


def own_log(database: Database, info: SnapshotInfo) -> Iterator[LogLine]:
    """The log of policyd itself as lines, numbered from 1."""
    for number, decision in enumerate(own_decisions(database, info), start=1):
        yield line_of(number, decision)


def line_of(number: int, decision: LoggedDecision) -> LogLine:
    """A decision of policyd's own log; what is no target is the id of an operation, without its arguments."""
    is_target = ":" in decision.question
    return LogLine(
        number,
        Timestamp.parse(decision.asked_at),
        decision.holder if "/" in decision.holder or "@" in decision.holder else "",
        decision.agent_id or ("" if "/" in decision.holder or "@" in decision.holder else decision.holder),
        decision.question if is_target else "",
        "" if is_target else decision.question,
        {},
        {"yes": True, "no": False}.get(decision.admitted),
        decision.rules,
    )


def written_line(decision: LoggedDecision) -> str | None:
    """A decision of policyd's own log in the form that is read here; None for one that is neither yes nor no."""
    line = line_of(0, decision)
    if line.is_admitted is None:
        return None
    members: dict[str, object] = {"time": line.time.text}
    members |= {n: text for n, text in (("holder", line.holder), ("agent", line.agent)) if text}
    members |= {n: text for n, text in (("target", line.target), ("operation", line.operation)) if text}
    members["outcome"] = "admitted" if line.is_admitted else "denied"
    members["edition"] = line.edition
    return json.dumps(members, ensure_ascii=False)
