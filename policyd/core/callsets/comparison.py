"""Whole deployments: what starts and what stops, holder by holder.

Source: questions 2; interface, `diff` and `what-if`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from policyd.core.callsets.admitted import admitted_by
from policyd.core.callsets.budget import MAX_STEPS, Steps
from policyd.core.callsets.difference import MAX_WITNESSES, Difference, difference
from policyd.core.callsets.universe import Universe
from policyd.core.cards import Surface
from policyd.core.edition import NEXT, Rules


@dataclass(frozen=True, slots=True)
class Change:
    """What changes for one holder.

    Attributes:
        name: the key under which its surfaces were given.
        started: calls admitted after and not before.
        stopped: calls admitted before and not after.
    """

    name: str
    started: Difference
    stopped: Difference

    @property
    def is_none(self) -> bool:
        """Whether it is proved that nothing changes."""
        return self.started.is_proved_empty and self.stopped.is_proved_empty


def compare(
    before: Mapping[str, Surface],
    after: Mapping[str, Surface],
    rules: Rules = NEXT,
    universes: Mapping[str, Universe] | None = None,
    *,
    limit: int = MAX_WITNESSES,
    steps: Steps = MAX_STEPS,
) -> tuple[Change, ...]:
    """The changes of all holders that occur on either side, by name.

    Equal surfaces are not searched, so the price follows what changed. A holder that is missing on one side
    is admitted to nothing there.

    Args:
        before: surfaces by the name of their holder (an agent type, or one instance of it).
        after: likewise.
        rules: the edition.
        universes: which calls there are, by name; all calls for names without an entry.
        limit: the most witnesses for each holder and direction.
        steps: the budget of one search, or the effort of all.
    """
    changes = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        some = new or old
        assert some is not None
        universe = (universes or {}).get(name) or Universe.of(some.holder, rules)
        if old is new or (old is not None and new is not None and _same(old, new)):
            same = Difference((), 0, (), len(universe.classes), universe.left_out)
            changes.append(Change(name, same, same))
            continue
        nobody = Surface(some.holder, (), (), ())
        left, right = admitted_by(old or nobody), admitted_by(new or nobody)
        started = difference(right, left, universe, limit=limit, steps=steps)
        changes.append(Change(name, started, difference(left, right, universe, limit=limit, steps=steps)))
    return tuple(changes)


def _same(old: Surface, new: Surface) -> bool:
    return old.holder == new.holder and old.lower == new.lower and old.upper == new.upper
