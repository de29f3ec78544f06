"""What a change of a card means for agents of other types, to whom the card can be passed on.

Source: cards 6.1 to 6.3, 6.7; interface, `test`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policyd.core.callsets import Fails, Holds, Universe, admitted_by, equivalent
from policyd.core.callsets.budget import Steps
from policyd.core.cards import Bound, Card, surface_of
from policyd.core.edition import Rules
from policyd.core.grants import ANY_VERB, AgentContext, Grant, agent_holder
from policyd.usecases.holders import Holder, Parties, written_target

_PASSING = ("derive", "install", ANY_VERB)


@dataclass(frozen=True, slots=True)
class Receiver:
    """An agent type to which the changed grant speaks.

    Attributes:
        name: the type.
        context: one agent of it.
        before, after: whose card is passed on, without and with the change.
    """

    name: str
    context: AgentContext
    before: Holder
    after: Holder

    def difference(self, rules: Rules, steps: Steps) -> str | None:
        """A call that the card gives with the change or without it only; empty where that is not decided."""
        who = agent_holder(self.context)
        is_open = False
        for old, new in zip(self._cards(self.before), self._cards(self.after), strict=True):
            universe = Universe.of(who, rules, self.context.agent_id)
            sides = (admitted_by(surface_of([old], who)), admitted_by(surface_of([new], who)))
            match equivalent(*sides, universe, steps=steps):
                case Fails(call):
                    told = written_target(call, self.context).rstrip()
                    return f"{told} (by {self.name} with a card of {self.before.name})"
                case Holds():
                    continue
                case _:
                    is_open = True
        return "" if is_open else None

    def _cards(self, holder: Holder) -> Iterator[Card]:
        """The card as it is derived, and as it moves while it is a template."""
        yield holder.template.for_agent(_one(holder))
        yield holder.template.for_agent(self.context)


def receivers(before: Parties, after: Parties, agent: str, grant: Grant) -> Iterator[Receiver]:
    """The other agent types for which a changed grant is, where anybody passes cards on.

    Args:
        before: everybody, without the change.
        after: everybody, with it.
        agent: whose card is changed.
        grant: the one that is changed, whose recipient stays.
    """
    old, new = before.by_name.get(agent), after.by_name.get(agent)
    if not isinstance(old, Holder) or not isinstance(new, Holder) or not (_passes(before) or _passes(after)):
        return
    recipient = grant.addressed(_one(old)).recipient
    for name, party in before.by_name.items():
        if name != agent and isinstance(party, Holder):
            context = _one(party)
            if recipient.covers(agent_holder(context)):
                yield Receiver(name, context, old, new)


def _one(holder: Holder) -> AgentContext:
    """One agent of a type."""
    return replace(holder.context, agent_id=holder.context.agent_id or f'{holder.name}("a")')


def _passes(parties: Parties) -> bool:
    """Whether any card lends a call by which cards are derived or installed."""
    return any(
        ref.bound is Bound.LOWER_POSITIVE and ref.grant.target.cls.name == "card" and ref.grant.target.verb in _PASSING
        for party in parties.by_name.values()
        for ref in party.refs
    )
