"""Grants that changed and about which no operation can ask: a difference is silent about them, and says so.

Source: questions 2 (all calls); interface, `diff` and `prove`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from policyd.core.callsets import Holds, Universe, calls_of, is_empty
from policyd.core.cards import Bound, GrantRef
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Slot, Target
from policyd.syntax.mistakes import shown
from policyd.usecases.holders import Party, variants

MAX_NAMED = 5
"""So many grants are named with their places; the others are counted."""

MAX_LOOKED_AT = 2_000
"""So many changed grants of one party are looked at; of the others nothing is said."""

_STEPS = 10_000
"""The budget for one grant; past it nothing is said."""


def is_never_asked(target: Target, rules: Rules, home: tuple[str, ...] = ()) -> bool:
    """Whether it is proved that no call of anybody lies inside the target, other agents' files and variables included.

    >>> from policyd.core.edition import NEXT
    >>> from policyd.syntax import parse_target
    >>> is_never_asked(parse_target("filesystem(a@x.io/s/p/c/T(1)) : read : /etc/../x"), NEXT)
    True
    """
    return isinstance(is_empty(calls_of([target]), Universe(rules, home), steps=_STEPS), Holds)


def never_asked(name: str, old: Party | None, new: Party | None, rules: Rules) -> Iterator[str]:
    """One sentence for each kind of list in which grants changed that are about no call at all.

    Args:
        name: of the party.
        old: before, None where it did not exist.
        new: after, likewise.
        rules: the edition.
    """
    changed = [*_only(new, old, "new"), *_only(old, new, "removed")]
    known: dict[Target, str] = {}
    found: dict[tuple[str, str], dict[str, None]] = {}
    for word, party, ref in changed[:MAX_LOOKED_AT]:
        target = _filled(ref.grant.target, party)
        if target not in known:
            known[target] = _why_silent(ref.grant.target, target, party, rules)
        if known[target]:
            span = party.place(ref)
            where = span.where if span is not None and span.line else shown(party.written(ref))
            what = "grant" if ref.bound.is_positive else "negative"
            found.setdefault((what, known[target]), {})[f"{word} {where}"] = None
    for (what, why), places in found.items():
        yield f"{name}: {_sentence(what, why, tuple(places))}"


_NOBODY = "no call that an operation can ask for"
_OTHERS = "only files, variables or configuration of other agents, for which its own code cannot ask"


def _why_silent(written: Target, target: Target, party: Party, rules: Rules) -> str:
    """Which calls a target is about, where a difference has none of them; else nothing."""
    if is_never_asked(target, rules, party.recipient.known[:4]):
        return _NOBODY
    universes = [universe for _, universe in variants([party], rules)] if written.owner.slot is not Slot.AGENT else []
    calls = calls_of([target])
    silent = all(u.own is not None and isinstance(is_empty(calls, u, steps=_STEPS), Holds) for u in universes)
    return _OTHERS if universes and silent else ""


def _sentence(what: str, why: str, places: tuple[str, ...]) -> str:
    count = len(places)
    verbs = ("admits", "admit") if what == "grant" else ("denies", "deny")
    who = f"1 changed {what} {verbs[0]}" if count == 1 else f"{count} changed {what}s {verbs[1]}"
    named = ", ".join(places[:MAX_NAMED]) + (f" and {count - MAX_NAMED} more" if count > MAX_NAMED else "")
    return f"{who} {why}: {named}"


def _only(party: Party | None, other: Party | None, word: str) -> Iterable[tuple[str, Party, GrantRef]]:
    """The grants of one side that the other does not say, in their order."""
    if party is None:
        return
    theirs = _said(other)
    for ref in party.refs:
        if (ref.bound, party.original(ref)) not in theirs:
            yield word, party, ref


def _said(party: Party | None) -> set[tuple[Bound, object]]:
    return set() if party is None else {(ref.bound, party.original(ref)) for ref in party.refs}


def _filled(target: Target, party: Party) -> Target:
    """The target with its slot filled for an agent of the party, whichever: no call is told apart by that here."""
    context: AgentContext | None = party.context
    if context is None or target.owner.slot is None:
        return target
    if target.owner.slot is Slot.AGENT and context.agent_id is None:
        context = replace(context, agent_id=f'{context.agent_type}("a")')
    return target.filled(context)
