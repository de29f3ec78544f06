"""The least card that would have admitted everything that was seen, placed against the present one.

Source: questions 2 (synthesis, difference); interface, `synth`, `diff`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.core.admission.meet import meet
from policyd.core.application import GrantOrigin, PlacedGrant
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Grant, Target
from policyd.findings import PolicydError
from policyd.syntax import Form, parse_grant, parse_target
from policyd.usecases.changes import MAX_SHOWN, HolderChange, changes_between
from policyd.usecases.holders import Holder, Holders
from policyd.usecases.proofs import steps_for
from policyd.usecases.synthesis import Synthesised, synthesis
from policyd.usecases.unused_seen import MAX_CALLS, SeenHolder


@dataclass(frozen=True, slots=True)
class Least:
    """The least card of one holder.

    Attributes:
        made: the synthesis: manifest text, what it opens besides, why there is none; None where none was sought.
        changes: what it takes away (`stopped`) from the present card, and what it would add (`started`).
        why_not: why none was sought; empty if one was.
    """

    made: Synthesised | None
    changes: tuple[HolderChange, ...] = ()
    why_not: str = ""

    @property
    def is_found(self) -> bool:
        """Whether there is one."""
        return self.made is not None and bool(self.made.yaml)

    @property
    def is_undecided(self) -> bool:
        """Whether the effort ended before the answer was whole."""
        lost = any(side.undecided for change in self.changes for side in (change.stopped, change.started))
        return (self.made is not None and bool(self.made.undecided)) or lost


def least_card(holder: Holder, seen: SeenHolder, rules: Rules, budget_s: float, limit: int = MAX_SHOWN) -> Least:
    """The least card that admits every call that the log and the present card admit.

    Calls that both refuse stay refused. Where a call was made in a wide form (any key, any port), the present
    negatives that take a part out of it are kept, because whoever asks for all is not owed the exceptions.

    Args:
        holder: the agent type.
        seen: what was seen of it.
        rules: the edition.
        budget_s: effort in seconds, for the search and for the difference.
        limit: so many kinds of lost calls are told.
    """
    if not seen.admitted:
        return Least(None, why_not="no admitted call was seen")
    if seen.is_full:
        return Least(None, why_not=f"more than {MAX_CALLS} different calls were seen, or one that is too long")
    instance = _unseen(holder.name, seen)
    context = replace(holder.context, agent_id=instance)

    def filled(text: str) -> Target:
        return parse_target(text, rules, slots=True).filled(context)

    present = holder.surface(instance)
    wanted = tuple(target for target in map(filled, seen.admitted) if present.allows(target))
    if len(wanted) < len(seen.admitted):
        return Least(None, why_not="which agent asks decides about some of the calls: a card by type cannot be least")
    unwanted = dict.fromkeys(target for target in map(filled, seen.denied) if not present.allows(target))
    unwanted |= dict.fromkeys(_exceptions(holder, context, wanted))
    try:
        made = synthesis(
            holder, instance, wanted, tuple(unwanted), None, rules, max(100, int(budget_s * 1000)), keep=False
        )
        if not made.yaml:
            return Least(made)
        least = _with(holder, made, rules)
        sides = (Holders("present", {holder.name: holder}), Holders("least", {holder.name: least}))
        changes = changes_between(*sides, rules, limit, steps=steps_for(budget_s))
    except PolicydError as refusal:
        return Least(None, why_not=f"it cannot be sought: {refusal.findings[0].message}")
    return Least(made, changes.holders)


def _unseen(type_name: str, seen: SeenHolder) -> str:
    """The id of an agent that no call names."""
    number = 1
    while any(f'{type_name}("agent {number}")' in text for text in (*seen.admitted, *seen.denied)):
        number += 1
    return f'{type_name}("agent {number}")'


def _exceptions(holder: Holder, context: AgentContext, wanted: tuple[Target, ...]) -> list[Target]:
    """What the present negatives of the floor take out of wide calls that were seen."""
    negatives = [placed.grant.addressed(context).filled(context) for placed in holder.card.lower_negative]
    return [
        narrow
        for grant in negatives
        for target in wanted
        if (narrow := meet(target, grant.target)) is not None and narrow != target
    ]


def _with(holder: Holder, made: Synthesised, rules: Rules) -> Holder:
    """The holder with the card that was made, its upper bound and the grants for its files as they are."""
    files = tuple(placed for placed in holder.card.lower_positive if placed.origin is GrantOrigin.FILE)

    def placed(text: str) -> PlacedGrant:
        grant: Grant = parse_grant(text, Form.MANIFEST, rules)
        return PlacedGrant(grant, GrantOrigin.WRITTEN, text)

    card = replace(
        holder.card,
        lower_positive=(*files, *map(placed, made.added)),
        lower_negative=tuple(map(placed, made.denied)),
        is_default=False,
    )
    return replace(holder, card=card, template=card.card(replace(holder.context, agent_id=None)))
