"""Witnesses: calls that show an answer, confirmed by the plain evaluator, with the grants that cause them.

Source: questions 2; cards 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.core.callsets.admitted import Admitted
from policyd.core.cards import CardId, GrantRef, Surface
from policyd.core.grants import Target
from policyd.findings import InternalDefect


class Obstacle(Enum):
    """Why a surface does not admit a call."""

    NOT_GRANTED = "no grant covers it"
    OWN_NEGATIVE = "the card that grants it denies it"
    CEILING = "outside a ceiling"
    UPPER_NEGATIVE = "denied to the whole wallet"


@dataclass(frozen=True, slots=True)
class Withheld:
    """One reason why a call is not admitted.

    Attributes:
        obstacle: what kind.
        card: whose, None where nothing grants the call.
        grants: the negatives that deny it; for a ceiling its positives of the same class.
    """

    obstacle: Obstacle
    card: CardId | None = None
    grants: tuple[GrantRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Witness:
    """A call that one surface admits and another does not.

    Attributes:
        target: the call; its text is what `check` takes.
        causes: the grants that lend it, in wallet order.
        obstacles: why the other surface does not admit it; empty where there is no other.
    """

    target: Target
    causes: tuple[GrantRef, ...]
    obstacles: tuple[Withheld, ...] = ()

    @property
    def order(self) -> tuple[int, str]:
        """Shorter calls first, then by text."""
        text = self.target.text
        return (len(text), text)


def lenders_of(surface: Surface, target: Target) -> tuple[GrantRef, ...]:
    """All grants through which `surface` lends `target`."""
    return tuple(
        ref
        for part in surface.lower
        if part.denying(target) is None
        for ref in part.positive
        if ref.grant.target.covers(target)
    )


def obstacles_of(surface: Surface, target: Target) -> tuple[Withheld, ...]:
    """Why `surface` does not admit `target`, lower bounds first; empty if it does."""
    lower: list[Withheld] = []
    is_lent = False
    for part in surface.lower:
        if part.granting(target) is not None:
            denying = tuple(r for r in part.negative if r.grant.target.covers(target))
            is_lent = is_lent or not denying
            lower.append(Withheld(Obstacle.OWN_NEGATIVE, part.card, denying))
    found = [] if is_lent else lower or [Withheld(Obstacle.NOT_GRANTED)]
    for part in surface.upper:
        if part.positive and part.granting(target) is None:
            near = tuple(r for r in part.positive if r.grant.target.cls == target.cls)
            found.append(Withheld(Obstacle.CEILING, part.card, near))
        denying = tuple(r for r in part.negative if r.grant.target.covers(target))
        if denying:
            found.append(Withheld(Obstacle.UPPER_NEGATIVE, part.card, denying))
    return tuple(found)


def confirmed(target: Target, admitting: Admitted, refusing: Admitted | None = None) -> Witness:
    """The witness that `target` is, after replaying it through the plain evaluator.

    Raises:
        InternalDefect: if the replay disagrees; such a call is never shown.
    """
    if not admitting.surface.allows(target):
        raise InternalDefect.of(f"a witness is not admitted on replay: `{target.text}`")
    causes = lenders_of(admitting.of_class(target.cls.name), target)
    if refusing is None:
        return Witness(target, causes)
    if refusing.surface.allows(target):
        raise InternalDefect.of(f"a witness of a difference is admitted on both sides: `{target.text}`")
    return Witness(target, causes, obstacles_of(refusing.of_class(target.cls.name), target))
