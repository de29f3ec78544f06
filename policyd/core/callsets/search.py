"""Emptiness of any set of calls, class by class.

A set that is a union, or an intersection with one, lies inside the products of that union, so they are
searched one by one, each with what overlaps it. Only complements have to be searched everywhere.

Source: questions 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from policyd.core.callsets.answer import Undecided
from policyd.core.callsets.budget import MAX_STEPS, Effort, ExhaustedError, Steps, effort_of
from policyd.core.callsets.callset import (
    NO_CALLS,
    CallSet,
    Complement,
    Intersection,
    Products,
    Union,
    classes_named,
    within_class,
)
from policyd.core.callsets.product import find_call
from policyd.core.callsets.universe import Universe
from policyd.core.grants import ANY_VERB, PermissionClass, Target


def calls_in(calls: CallSet, universe: Universe, steps: Steps = MAX_STEPS) -> Iterator[Target | Undecided]:
    """A call of every class, verb and product that has any; nothing at all is a proof that the set is empty.

    Calls come in the order of the classes and their verbs; a search that ends early is told in its place.
    """
    effort = effort_of(steps)
    named = classes_named(calls)
    for cls in universe.classes:
        if named is not None and cls.name not in named:
            continue
        inner = within_class(calls, cls.name)
        if inner is not NO_CALLS:
            yield from _in_class(inner, cls, universe, effort)


def _in_class(calls: CallSet, cls: PermissionClass, universe: Universe, effort: Effort) -> Iterator[Target | Undecided]:
    anchors = anchors_of(calls, cls.name)
    for verb in cls.verbs:
        if anchors is None:
            yield from call_or_undecided(calls, cls, verb, None, universe, effort)
        else:
            for anchor in anchors:
                if anchor.verb in (ANY_VERB, verb):
                    yield from call_or_undecided(calls, cls, verb, anchor, universe, effort)


def call_or_undecided(
    calls: CallSet, cls: PermissionClass, verb: str, inside: Target | None, universe: Universe, effort: Effort
) -> Iterator[Target | Undecided]:
    """The call that one search finds, nothing for a proof that there is none, or what it could not decide."""
    if effort.is_spent:
        yield Undecided(f"`{cls.name}`: the effort of the question is spent")
        return
    budget = effort.search()
    granted = budget.left
    try:
        call = find_call(calls, cls, verb, inside, universe, budget)
    except ExhaustedError as spent:
        where = f" within `{inside.text}`" if inside is not None else ""
        yield Undecided(f"`{cls.name}` : `{verb}`{where}: {spent}")
        return
    finally:
        effort.account(granted, budget)
    if call is not None:
        yield call


def anchors_of(calls: CallSet, name: str) -> tuple[Target, ...] | None:
    """Products of a class that together contain the whole set, None where only everything does."""
    match calls:
        case Products():
            found = calls.of_class(name)
            return found[0].boxes if found is not None else ()
        case Union(parts):
            inner = [anchors_of(part, name) for part in parts]
            known = [a for a in inner if a is not None]
            return tuple(t for a in known for t in a) if len(known) == len(inner) else None
        case Intersection(parts):
            fewest = [a for a in (anchors_of(part, name) for part in parts) if a is not None]
            return min(fewest, key=len) if fewest else None
        case Complement():
            return None
        case _:
            assert_never(calls)
