"""What a log of decisions says about the holders of a deployment, line by line and in bounded memory.

Source: cards 5.2; host 0.2; questions 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from policyd.core.cards import Bound, CardId, Timestamp
from policyd.findings import visible
from policyd.usecases.decision_log import BadLine

MAX_CALLS = 400
"""So many different calls of one holder go into its least card; beyond, none is sought."""

MAX_TOLD = 20
"""So many bad lines and contradictions are told one by one; all are counted."""

MAX_TOLD_CHARS = 200
"""So many characters of a text of the log are told."""

MAX_KEPT_CHARS = 2_000
"""Longer texts of the log are not kept: they are decided again each time, and go into no least card."""

MAX_NAMES = 100
"""So many names of each kind that was left out are told; all lines are counted."""

Key = tuple[CardId, Bound, int]
"""A grant by its place in a card."""


@dataclass(slots=True)
class Seen:
    """What was seen of one grant: how many calls it covered or stopped, when last, and whether one hung on it."""

    count: int = 0
    last: Timestamp | None = None
    is_needed: bool = False


@dataclass(slots=True)
class SeenHolder:
    """What was seen of one holder.

    Attributes:
        lines: how many lines in the window.
        calls: how many calls they stand for.
        first, last: the moments of the earliest and the latest.
        grants: by place in a card, what was seen of it; nothing for those that no call came to.
        admitted: different calls that both the log and the cards admit, slots where they fit.
        denied: different calls that both refuse.
        is_full: whether there were more different calls than are kept.
    """

    lines: int = 0
    calls: int = 0
    first: Timestamp | None = None
    last: Timestamp | None = None
    grants: dict[Key, Seen] = field(default_factory=dict)
    admitted: dict[str, None] = field(default_factory=dict)
    denied: dict[str, None] = field(default_factory=dict)
    is_full: bool = False


@dataclass(frozen=True, slots=True)
class Drift:
    """A logged outcome that contradicts the cards.

    Attributes:
        number: of the line.
        holder: who asked.
        asked: the target or operation.
        logged: `admitted` or `denied`; the cards say the other.
    """

    number: int
    holder: str
    asked: str
    logged: str


@dataclass(slots=True)
class SeenLog:
    """What was seen in a whole log.

    Attributes:
        holders: by name of the party; only those with lines.
        lines: all lines but empty ones; first, last: moments of the earliest and latest of those understood.
        used: lines that count.
        outside: lines before or after the window.
        other_edition: lines of another edition.
        elsewhere: lines of another account, application or environment.
        without_answer: lines whose outcome is neither yes nor no.
        type_only: lines that name no single agent.
        others: lines of holders that are not asked about.
        ignored: members that are not known.
        unknown: holders that the deployment does not have, to their lines.
        unreadable: holders whose card cannot be read, to their lines.
        unclear: operations whose targets cannot be told from the line, to their lines.
        ungated: operations that ask no card, to their lines.
        bad_count: lines that are not understood; `bad` has the first.
        drift_count: lines that contradict the cards; `drift` has the first.
    """

    holders: dict[str, SeenHolder] = field(default_factory=dict)
    lines: int = 0
    first: Timestamp | None = None
    last: Timestamp | None = None
    used: int = 0
    outside: int = 0
    other_edition: int = 0
    elsewhere: int = 0
    without_answer: int = 0
    type_only: int = 0
    others: int = 0
    ignored: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)
    unclear: Counter[str] = field(default_factory=Counter)
    ungated: Counter[str] = field(default_factory=Counter)
    bad_count: int = 0
    bad: list[BadLine] = field(default_factory=list)
    drift_count: int = 0
    drift: list[Drift] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Window:
    """The moments that count: from `start` to `end`, both included."""

    start: Timestamp
    end: Timestamp


def cut(text: str) -> str:
    r"""A text of a log on one line, cut where it is too long to be told.

    >>> print(cut("a\nb"))
    a\nb
    """
    told = visible(text[: MAX_TOLD_CHARS + 1])
    return told if len(told) <= MAX_TOLD_CHARS else f"{told[:MAX_TOLD_CHARS]}…"


def count_name(names: Counter[str], name: str) -> None:
    """Count a line under a name, or under `other names` once there are too many."""
    name = cut(name)
    names[name if name in names or len(names) < MAX_NAMES else "other names"] += 1


def holders_lines(counted: Mapping[str, int]) -> int:
    """How many lines all names have together."""
    return sum(counted.values())
