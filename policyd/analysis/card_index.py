"""One initial card as its holder's ordinary agents meet it: what it lends, and what its ceiling withholds.

Source: cards 5.1, 5.2.
"""

from __future__ import annotations

from policyd.analysis.effect import THIS_AGENT
from policyd.analysis.grant_index import GrantIndex, is_light
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.cards import Bound
from policyd.core.edition import SNAPSHOT
from policyd.core.grants import Owner, OwnerKind, Target, class_named
from policyd.syntax.resources import ResourceRefused, parse_resource


class CardIndex:
    """The four lists of a card for its own holder, compiled for look-ups.

    Attributes:
        card: the card.
        is_exact: whether the answers are certain: every text was read, every recipient decided, no grant is
            oversized, and none singles out one instance of the type.
    """

    __slots__ = ("_lists", "_strict", "card", "is_exact")

    def __init__(self, card: AuditedCard) -> None:
        """Take up the grants that certainly apply to the holder."""
        self.card = card
        name = card.agent.name
        self._lists = {bound: GrantIndex((e for e in card.of_bound(bound) if e.is_for_holder), name) for bound in Bound}
        self._strict: dict[Bound, GrantIndex] = {}
        self.is_exact = card.is_readable and not any(
            e.may_be_for_holder
            and (
                not e.is_for_holder or not is_light(e.grant.target.resource) or _singles_out(e.grant.target.owner, name)
            )
            for e in card.entries
        )

    def covering(self, bound: Bound, target: Target) -> list[Entry]:
        """The grants of one list that cover the whole target; of equal patterns the first."""
        return self._lists[bound].covering(target, 1)

    def for_all_instances(self, bound: Bound) -> GrantIndex:
        """One list, to be asked what covers a grant for phantoms as well, which `Type(*)` does not cover."""
        found = self._strict.get(bound)
        if found is None:
            found = self._strict[bound] = GrantIndex(e for e in self.card.of_bound(bound) if e.is_for_holder)
        return found

    def lends(self, target: Target) -> Entry | None:
        """The first lower grant that gives `target`, None where none does or a negative denies it (E2)."""
        granting = self.covering(Bound.LOWER_POSITIVE, target)
        if not granting or self.covering(Bound.LOWER_NEGATIVE, target):
            return None
        return granting[0]

    @property
    def has_ceiling(self) -> bool:
        """Whether a positive upper grant applies to the holder."""
        return len(self._lists[Bound.UPPER_POSITIVE]) > 0

    def lets_through(self, target: Target) -> bool:
        """Whether the upper bound admits `target` (E3, E4)."""
        if self.has_ceiling and not self.covering(Bound.UPPER_POSITIVE, target):
            return False
        return not self.covering(Bound.UPPER_NEGATIVE, target)

    def admits(self, target: Target) -> bool:
        """Whether the card alone admits `target`."""
        return self.lends(target) is not None and self.lets_through(target)


def index_of(subject: Subject, card: AuditedCard) -> CardIndex:
    """The index of `card`, made once."""
    return subject.once(f"index {card.agent.name}", lambda: CardIndex(card))


def _singles_out(owner: Owner, agent_type: str) -> bool:
    """Whether `owner` is the literal id of one instance of the type."""
    return (
        owner.kind is OwnerKind.AGENT
        and len(owner.known) == owner.kind.depth
        and not owner.is_type_wildcard
        and owner.known[4] != THIS_AGENT
        and owner.known[4].startswith(f"{agent_type}(")
    )


def own_target(card: AuditedCard, name: str, verb: str, text: str) -> Target | None:
    """What an agent of the card asks about itself; None where `text` makes no request, or an oversized one."""
    cls = class_named(name, SNAPSHOT)
    assert cls is not None  # the callers name classes that both editions have
    try:
        resource = parse_resource(text, cls, verb)
    except ResourceRefused:
        return None
    if not is_light(resource):
        return None
    return Target(cls, Owner(cls.owner, (*card.context.segments, THIS_AGENT)), verb, resource)


def call_text(target: Target) -> str:
    """What an agent asks about itself in the form that `check` takes for any agent of the type."""
    return f"{target.cls.name}(?agent) : {target.verb} : {target.resource.text}".rstrip()


def self_view(card: AuditedCard) -> Target:
    """Reading the own metadata (cards 7.5)."""
    target = own_target(card, "agent", "view", "")
    assert target is not None  # the empty resource is one of `view`
    return target
