"""Several rules that take turns at one retry point: what they share, and where they end together.

Source: retry 4.5, 5.9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from policyd.core.retry.limits import Amount
from policyd.core.retry.policy import (
    AddDelay,
    AndThen,
    Clamp,
    CountBox,
    FilteredOn,
    Intersect,
    Jitter,
    NamedPolicy,
    Never,
    Policy,
    TimeBox,
    Union,
    children,
)
from policyd.core.retry.predicate import NEVER_TRUE
from policyd.core.retry.sites import Noun, Site
from policyd.core.retry.space import Contexts, Space
from policyd.core.retry.state import shape_of
from policyd.core.retry.study import Study


@dataclass(frozen=True, slots=True)
class Reach:
    """The rules that can decide at a site, and what their retries come to together.

    Attributes:
        names: of the rules, in the order of selection.
        alternating: pairs of them that can take turns within one sequence.
        resets: those of the pairs whose states do not fit each other, so that each turn is a fresh budget.
        together: the most retries of one sequence.
    """

    names: tuple[str, ...]
    alternating: tuple[tuple[str, str], ...]
    resets: tuple[tuple[str, str], ...]
    together: Amount


def reach_at(study: Study, site: Site) -> Reach:
    """What can happen at a site.

    Source: retry 5.9.
    """
    space, picked = study.space(site), study.picked(site)
    winners = [j for j in picked.judged if j.win]
    names = tuple(j.rule.name for j in winners)
    if not winners:
        return Reach((), (), (), Amount.known(0))
    limits = {j.rule.name: study.limits(site, j.rule).retries for j in winners}
    pairs = []
    # A saga ends when its policy changes, so that no two rules take turns there.
    if site.noun is not Noun.SAGA:
        smeared = {j.rule.name: _over_free(space, j.win) for j in winners}
        pairs = [(a.rule, b.rule) for a, b in combinations(winners, 2) if smeared[a.rule.name] & smeared[b.rule.name]]
    live = [(a, b) for a, b in pairs if limits[a.name].at_most != 0 and limits[b.name].at_most != 0]
    resets = tuple((a.name, b.name) for a, b in live if shape_of(a.policy) != shape_of(b.policy))
    alternating = tuple((a.name, b.name) for a, b in live)
    return Reach(names, alternating, resets, _together(winners_of(live), list(limits.values()), bool(resets)))


def winners_of(pairs: Sequence[tuple[NamedPolicy, NamedPolicy]]) -> list[list[NamedPolicy]]:
    """The rules of the pairs in groups that are linked by pairs."""
    groups: list[list[NamedPolicy]] = []
    for a, b in pairs:
        linked = [g for g in groups if a in g or b in g]
        merged = [rule for g in linked for rule in g]
        merged += [rule for rule in (a, b) if rule not in merged]
        groups = [g for g in groups if g not in linked] + [merged]
    return groups


def _together(groups: list[list[NamedPolicy]], alone: list[Amount], resets: bool) -> Amount:
    if resets:
        return Amount(0, None, exact=False)
    least = max(a.at_least for a in alone)
    most: float = max(math.inf if a.at_most is None else a.at_most for a in alone)
    if not groups:
        exact = all(a.exact for a in alone)
        return Amount(least, None if most == math.inf else int(most), exact=exact)
    for group in groups:
        most = max(most, most_of_turns([rule.policy for rule in group]))
    return Amount(least, None if most == math.inf else int(most), exact=False)


def most_of_turns(policies: Sequence[Policy]) -> float:
    """The most retries of policies of one shape that take turns on one state; infinite for no bound.

    The tree is looked at that has at every position the wider of the nodes; a count box that is full for one
    policy and not for another stands still, so that only totals count.

    Source: retry 5.9.
    """
    first = policies[0]
    below = [children(policy) for policy in policies]
    match first:
        case CountBox():
            most = max(p.max_retries for p in policies if isinstance(p, CountBox))
            return min(most, most_of_turns([c[0] for c in below]))
        case TimeBox() | Clamp() | AddDelay() | Jitter() | FilteredOn():
            if all(_is_closed(policy) for policy in policies):
                return 0
            return most_of_turns([c[0] for c in below])
        case AndThen():
            return most_of_turns([c[0] for c in below]) + most_of_turns([c[1] for c in below])
        case Union() | Intersect():
            left, right = most_of_turns([c[0] for c in below]), most_of_turns([c[1] for c in below])
            return left + right if any(isinstance(p, Union) for p in policies) else min(left, right)
        case Never():
            return 0
        case _:
            return math.inf


def nested_calls(*retries: int) -> int:
    """The most physical calls of mechanisms within one another, each with so many retries.

    >>> nested_calls(3, 2), nested_calls(2, 2)
    (12, 9)

    Source: retry 5.9, 6.8.
    """
    return math.prod(count + 1 for count in retries)


def _is_closed(wrapper: Policy) -> bool:
    match wrapper:
        case TimeBox(limit, _):
            return limit == 0
        case FilteredOn(predicate, _):
            return predicate == NEVER_TRUE
        case _:
            return False


def _over_free(space: Space, contexts: Contexts) -> Contexts:
    """The contexts that differ from one of the set in nothing but what can change within a sequence."""
    found = contexts
    for place, group in enumerate(space.groups):
        if group.is_stable:
            continue
        count = len(group.cells)
        one_each = [found & space.cells(place, (i,)) for i in range(count)]
        stride = space.stride(place)
        base = 0
        for i, mask in enumerate(one_each):
            base |= mask >> (i * stride)
        found = 0
        for i in range(count):
            found |= base << (i * stride)
    return found
