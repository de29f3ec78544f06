"""Explanations about a type whose agents do not all hold the same cards.

An explanation rests on one wallet. Where a type is asked about, the agents with wallets of their own are tried as well:
what they share is said of all, and where one of them decides otherwise the answer is about that agent and says so.

Source: interface, Files and queries (a type of which only some instances are admitted); cards 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from policyd.core.admission import Facet
from policyd.syntax.mistakes import shown
from policyd.usecases.explain_values import Explained, ExplainedTarget, Explanation
from policyd.usecases.stored_decisions import over_own_wallets

_SHOWN = 3


def over_own_explained(
    explanation: Explanation,
    own: Mapping[str, Explanation],
    full: Callable[[str], Explanation],
    *,
    is_all: bool,
    is_denied: bool,
) -> Explanation:
    """The explanation of a type, with that of its agents that have wallets of their own.

    Args:
        explanation: of the agents that have none.
        own: of the others by id, without changes; at least one.
        full: one of them with its changes.
        is_all: whether these are all of them.
        is_denied: whether a denial was seen, so that one of the agents was refused, it is not known which.
    """
    items = tuple(
        _item(item, {name: e.items[at] for name, e in own.items()}, full, at, is_all=is_all, is_denied=is_denied)
        for at, item in enumerate(explanation.items)
    )
    return replace(explanation, items=items)


def _item(
    item: Explained,
    own: Mapping[str, Explained],
    full: Callable[[str], Explanation],
    at: int,
    *,
    is_all: bool,
    is_denied: bool,
) -> Explained:
    mine = _facet(item)
    if mine is None:
        return item
    facets = {name: _facet(each) for name, each in own.items()}
    refused = [name for name, facet in facets.items() if facet is Facet.NO]
    if mine is Facet.YES and refused:
        return _of_one(full(refused[0]).items[at], refused, is_denied=is_denied)
    item = replace(item, targets=tuple(_target(item, n, own, is_all=is_all) for n in range(len(item.targets))))
    differing = {name: facet for name, facet in facets.items() if facet is not mine}
    notes = [note for note in item.notes if not (differing and note.startswith("holds for every instance"))]
    told = f"asked also of agents with a wallet of their own{'' if is_all else ', not of all'}: {_names(own)}"
    if not differing:
        return replace(item, notes=(*notes, f"{told}; they get the same answer"))
    for facet, words in ((Facet.YES, "may"), (Facet.NO, "may not"), (Facet.UNKNOWN, "may or may not")):
        names = [name for name, found in differing.items() if found is facet]
        if names:
            told = f"{told}; {_names(names)} {words}"
    if mine is Facet.NO:
        notes.append("what is told of cards and changes is about the agents without a wallet of their own")
    is_open = item.is_open or (mine is Facet.YES and not is_denied) or mine is Facet.UNKNOWN
    return replace(item, notes=(*notes, told), is_open=is_open)


def _target(item: Explained, at: int, own: Mapping[str, Explained], *, is_all: bool) -> ExplainedTarget:
    """One target with the answers of all."""
    told = item.targets[at]
    same = {n: e.targets[at].answer for n, e in own.items() if len(e.targets) == len(item.targets)}
    if not same:
        return told
    return replace(told, answer=over_own_wallets(told.answer, same, is_all=is_all and len(same) == len(own)))


def _of_one(item: Explained, refused: list[str], *, is_denied: bool) -> Explained:
    """The answer about a refused agent with a wallet of its own, where the others may."""
    others = f", as are {_names(refused[1:])}" if refused[1:] else ""
    note = f"{shown(refused[0])} has a wallet of its own{others}; agents of the type without one may"
    notes = (*(n for n in item.notes if not n.startswith("holds for every instance")), note)
    if not is_denied:
        return replace(item, notes=notes)
    sentence = (
        f"it depends on which agent was refused: agents of the type without a wallet of their own may, {item.sentence}"
    )
    return replace(item, sentence=sentence, verdict=None, notes=notes, is_open=True)


def _facet(item: Explained) -> Facet | None:
    """What the cards say; None for refusals that no card decides."""
    if item.denial is not None and not item.denial.is_denial:
        return None
    if item.is_open:
        return Facet.UNKNOWN
    if item.verdict is not None:
        return item.verdict.admitted
    return item.operations[0].admitted if item.operations else None


def _names(names: Mapping[str, object] | list[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return f"{', '.join(shown(name) for name in listed[:_SHOWN])}{more}"


__all__ = ["over_own_explained"]
