"""Why a grant can do nothing for the agents whose card it stands in.

Source: cards 3, 4.2, B.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from policyd.analysis.effect import asked_owner, is_unknown, may_own, why_not_askable
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.callsets import Form, Universe, calls_of
from policyd.core.callsets.search import calls_in
from policyd.core.edition import NEXT
from policyd.core.grants import ANY_VERB, Level, Owner, Recipient, Target, class_named
from policyd.core.grants.resources import AnyResource
from policyd.findings import Span
from policyd.syntax.mistakes import shown


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a grant does nothing.

    Attributes:
        reason: in words.
        is_for_others: it may still be handed on in a card that is derived for another holder.
    """

    reason: str
    is_for_others: bool = False


def inert_entries(subject: Subject, *, positive: bool) -> Iterator[tuple[AuditedCard, Entry, Misfit]]:
    """The written grants that do nothing in any card of the deployment that they stand in, with the reason.

    A text that several agent types share (by an alias of the document) is left alone as long as it
    does something for one of them.
    """
    found: list[tuple[AuditedCard, Entry, Misfit]] = []
    uses: Counter[Span] = Counter()
    inert: Counter[Span] = Counter()
    for card in subject.cards:
        for entry in card.entries:
            span = entry.placed.span
            if not entry.is_written or span is None or entry.bound.is_positive is not positive:
                continue
            uses[span] += 1
            misfit = why_inert(entry, card)
            if misfit is not None:
                inert[span] += 1
                found.append((card, entry, misfit))
    told: set[Span | None] = set()
    for card, entry, misfit in found:
        span = entry.placed.span
        if span is None or inert[span] < uses[span] or span in told:
            continue
        told.add(span)
        yield card, entry, misfit


def why_inert(entry: Entry, card: AuditedCard) -> Misfit | None:
    """Why a grant can do nothing for the agents of the card, None where it may do something."""
    target = entry.grant.target
    reason = why_not_askable(target.resource) or _why_not_asked(target)
    if reason:
        return Misfit(reason)
    if not entry.may_be_for_holder:
        return _other_holder(entry.grant.recipient, card)
    if len(entry.grant.recipient.known) < Level.AGENT:
        return None  # its owner may suit another holder to whom the grant can be handed on
    context = card.context
    asked = asked_owner(target.cls.name, context.segments)
    if asked is None or may_own(target.owner, asked, context.agent_type):
        return None
    whose = {5: "the agent itself", 3: "the agent's own environment", 1: "the agent's own account"}[len(asked)]
    return Misfit(f"`{target.cls.name}` calls ask about {whose}, and the owner is another")


_FORMS = {
    Form.ANY: "everything at once (`*`)",
    Form.WHOLE: "whole stores (as `orders.**`)",
    Form.EMPTY: "nothing in particular",
}


@cache
def _forms(name: str, verb: str) -> frozenset[Form]:
    """What calls of a verb, or of any verb of the class, name as their resource."""
    cls = class_named(name, NEXT)
    verbs = cls.verbs if cls is not None and verb == ANY_VERB else (verb,)
    shapes = (shape for v in verbs for shape in Universe().shapes(cls, v)) if cls is not None else ()
    return frozenset(form for shape in shapes for form in shape.resources)


def _why_not_asked(target: Target) -> str:
    """Why no operation asks for the resource of a grant, empty where one may.

    Where calls name single things, any resource may be asked for.

    Source: host-operations 2, 4.
    """
    forms = _forms(target.cls.name, target.verb)
    if isinstance(target.resource, AnyResource) or not forms or not forms <= _FORMS.keys():
        return ""
    if not _is_unasked(Target(target.cls, Owner(target.cls.owner), target.verb, target.resource)):
        return ""
    words = " or ".join(sorted(_FORMS[form] for form in forms))
    return f"`{target.cls.name} : {target.verb}` calls ask for {words}, which it does not cover"


@lru_cache(maxsize=1024)
def _is_unasked(target: Target) -> bool:
    return next(calls_in(calls_of([target]), Universe()), None) is None


_INSTANCE = re.compile(r"[^()\[\]]+[(\[]", re.DOTALL)


def _other_holder(recipient: Recipient, card: AuditedCard) -> Misfit:
    name = card.agent.name
    if len(recipient.known) == Level.AGENT and not recipient.is_external_tool_owner:
        leaf = recipient.known[4]
        if _INSTANCE.match(leaf):
            kind = leaf[: max(leaf.find("("), 0)] or name
            return Misfit(f"the recipient names an agent id, but holders are described by their type, as {shown(kind)}")
        if leaf != name:
            return Misfit(
                f"the recipient names agent type {shown(leaf)}, and agents of {shown(name)} hold the card", True
            )
    if recipient.is_external_tool_owner:
        return Misfit("the recipient is the external tool owner of a component, which is no agent", True)
    for noun, wanted, own in zip(
        ("account", "application", "environment", "component"), recipient.known, card.holder.known, strict=False
    ):
        if wanted != own and not is_unknown(wanted) and not is_unknown(own):
            return Misfit(f"the recipient is for {noun} {shown(wanted)}, and the agents are of {shown(own)}", True)
    return Misfit("the recipient covers no agent of this type", True)
