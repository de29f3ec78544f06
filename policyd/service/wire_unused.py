"""Unused authority on the wire.

Source: interface, Files and queries; questions 2.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from policyd.service.wire import MAX_NAME, Answered, Moment, Place, SourcePlace, Wire
from policyd.service.wire_all_calls import MAX_BUDGET_S

MAX_LOG = 1_000_000
"""The longest log that a request carries, in characters."""


class UnusedRequest(Place):
    """Which log, which window, and whose grants."""

    log: Annotated[
        str | None,
        Field(max_length=MAX_LOG, description="Decisions as JSON lines; null for what the service itself logged."),
    ] = None
    window: Annotated[str, Field(max_length=16, description="How far back: `30d`, `12h`, `90m`, `2w`.")] = "30d"
    at: Moment = None
    agent: Annotated[str, Field(max_length=MAX_NAME, description="An agent type or id; empty for everybody.")] = ""
    component: Annotated[str, Field(max_length=MAX_NAME, description="Of agent types, where it is not known.")] = ""
    budget: Annotated[float, Field(gt=0, le=MAX_BUDGET_S, description="Effort in seconds for each least card.")] = 2.0


class WindowBody(Wire):
    """The moments that count."""

    start: str
    end: str


class BadLineBody(Wire):
    """A line that is not understood."""

    line: int
    code: str
    message: str


class ContradictionBody(Wire):
    """A logged outcome that the cards contradict."""

    line: int
    holder: str
    asked: str
    logged: Literal["admitted", "denied"]


class LogBody(Wire):
    """What became of the lines."""

    lines: int
    used: int
    first: str | None
    last: str | None
    outside_window: int
    other_edition: int
    elsewhere: int
    without_answer: int
    type_only: int
    of_others: int
    ignored_members: int
    unknown_holders: dict[str, int]
    unreadable_holders: dict[str, int]
    unclear_operations: dict[str, int]
    ungated_operations: dict[str, int]
    bad_count: int
    bad: list[BadLineBody]
    contradiction_count: int
    contradictions: list[ContradictionBody]


class GrantUseBody(Wire):
    """One grant, and what was seen of it."""

    grant: str
    card: str
    bound: str
    index: int
    origin: str | None
    state: Literal[
        "needed", "used", "unused", "start-up", "stopped calls", "stopped nothing", "for somebody else", "not known"
    ]
    calls: int
    last: str | None
    untraced: list[str]
    place: SourcePlace | None


class TakenBody(Wire):
    """Kinds of calls that a card takes away, or adds."""

    count: int
    calls: list[str]
    undecided: list[str]


class LeastChangeBody(Wire):
    """The least card against the present one."""

    name: str
    takes_away: TakenBody
    adds: TakenBody


class LeastBody(Wire):
    """The least card that admits all that was seen, or why there is none."""

    yaml: str | None
    positive: list[str]
    negative: list[str]
    also_opens: list[str]
    refusal: str | None
    undecided: str | None
    notes: list[str]
    changes: list[LeastChangeBody]


class HolderUseBody(Wire):
    """One holder."""

    name: str
    lines: int
    calls: int
    first: str | None
    last: str | None
    grants: list[GrantUseBody]
    least: LeastBody | None


class UnusedAnswer(Answered):
    """What was never used, the least cards, and what could not be observed."""

    source: str
    window: WindowBody
    log: LogBody
    holders: list[HolderUseBody]
    unreadable: list[str]
    unobserved: list[str]
    notes: list[str]
