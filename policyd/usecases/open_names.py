"""Account and component where the input leaves them open: what holds has to hold for all that they may be.

A name matters only where a grant, the question or the deployment mentions it; all others behave like one that
nothing mentions. So the alternatives are that one, and every name that is mentioned.

Source: questions 1, 2; manifest-format 5 (which component implements a type is not in the manifest); interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from policyd.core.admission.names import names_at
from policyd.core.cards import Card
from policyd.core.grants import Owner
from policyd.usecases.holders import UNNAMED_ACCOUNT, UNNAMED_COMPONENT, Holder, Party

MAX_ALTERNATIVES = 40
"""So many are tried for one party; past that nothing is claimed."""

IF = " if its "
"""Between the name of a party and an alternative."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way in which open names may be filled.

    Attributes:
        words: `component is shop:pay`; empty for names that nothing mentions.
        sides: the parties with these names, None where a side has none.
    """

    words: str
    sides: tuple[Party | None, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """All of them, and whether there were too many to try.

    Attributes:
        listed: the first is the one that nothing mentions, or the only one.
        is_cut: whether some are missing.
    """

    listed: tuple[Alternative, ...]
    is_cut: bool = False


def alternatives(sides: Sequence[Party | None], owners: Iterable[Owner | None] = ()) -> Alternatives:
    """What the open names of a party may be, the same on all sides that leave them open.

    Args:
        sides: the party in each version, None where it is missing.
        owners: that the question names.
    """
    open_ = [side for side in sides if isinstance(side, Holder) and _is_open(side)]
    if not open_:
        return Alternatives((Alternative("", tuple(sides)),))
    named = tuple(owner for owner in owners if owner is not None)
    account_is_open = any(side.context.account == UNNAMED_ACCOUNT for side in open_)
    component_is_open = any(side.context.component == UNNAMED_COMPONENT for side in open_)
    known = [side.context for side in sides if side is not None and side.context is not None]
    accounts = _mentioned(open_, named, 1, (context.account for context in known)) if account_is_open else ()
    components = _mentioned(open_, named, 4, (context.component for context in known)) if component_is_open else ()
    found: list[Alternative] = []
    for account, component in product(("", *accounts), ("", *components)):
        if len(found) >= MAX_ALTERNATIVES:
            return Alternatives(tuple(found), is_cut=True)
        words = [f"account is {account}"] if account else []
        words += [f"component is {component}"] if component else []
        filled = tuple(_filled(side, account, component) for side in sides)
        found.append(Alternative(" and its ".join(words), filled))
    return Alternatives(tuple(found))


def party_of(name: str) -> str:
    """The name of the party of a result, which may be about an instance or an alternative of it."""
    return name.partition(IF)[0].partition(" as ")[0]


def _is_open(side: Holder) -> bool:
    return side.context.account == UNNAMED_ACCOUNT or side.context.component == UNNAMED_COMPONENT


def _mentioned(sides: Sequence[Holder], owners: Iterable[Owner], level: int, others: Iterable[str]) -> tuple[str, ...]:
    """Names at a level that the open sides, the question or the other sides speak of."""
    found: dict[str, None] = dict.fromkeys(others)
    for side in sides:
        written = Card(side.template.id, side.card.as_written, is_polymorphic=True)
        found.update((name, None) for name in names_at([written], None, level))
        if level == 4:
            found.update((name, None) for name in side.components)
    for owner in owners:
        found.update((name, None) for name in _at(owner, level))
    return tuple(sorted(name for name in found if name not in ("", UNNAMED_ACCOUNT, UNNAMED_COMPONENT)))


def _at(owner: Owner, level: int) -> Iterator[str]:
    position = level - 1 - (owner.slot.depth if owner.slot else 0)
    if 0 <= position < len(owner.known):
        yield owner.known[position]


def _filled(side: Party | None, account: str, component: str) -> Party | None:
    if not isinstance(side, Holder):
        return side
    context = side.context
    if account and context.account == UNNAMED_ACCOUNT:
        context = replace(context, account=account)
    if component and context.component == UNNAMED_COMPONENT:
        context = replace(context, component=component)
    return side if context == side.context else replace(side, context=context, template=side.card.card(context))
