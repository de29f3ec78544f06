"""One sentence per reason, made from the reason alone.

Source: questions 1, 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from policyd.core.admission import Facet, FacetName, Reason, Verdict, Why
from policyd.core.cards import CardId, GrantRef


@dataclass(frozen=True, slots=True)
class Naming:
    """How things are called to a person.

    Attributes:
        card: a card: `the initial card of Cart`, or its id.
        grant: a grant as it is written where it comes from.
    """

    card: Callable[[CardId], str]
    grant: Callable[[GrantRef], str]


def _others(count: int, shown: int = 1) -> str:
    rest = count - shown
    return "" if rest <= 0 else f" (and {rest} more {'card' if rest == 1 else 'cards'})"


def sentence(reason: Reason, naming: Naming) -> str:
    """What `reason` says, as one sentence without a full stop."""
    card = naming.card(reason.card) if reason.card is not None else ""
    first = reason.refs[0] if reason.refs else None
    text = f"`{naming.grant(first)}`" if first else ""
    match reason.why:
        case Why.GRANTED:
            return f"granted: {card} lends it by {text}" if first else "granted"
        case Why.NOT_GRANTED:
            return "not granted: no grant of a lower bound covers the whole call"
        case Why.FORBIDDEN:
            return f"forbidden: {card} grants it and denies it by {text}" if first else "forbidden"
        case Why.WITHHELD:
            return f"withheld by a ceiling: the upper bound of {card} does not list it{_others(reason.count)}"
        case Why.CEILING_FORBIDS:
            by = f" by {text}" if first else ""
            return f"withheld by a ceiling: the upper bound of {card} denies it{by}{_others(reason.count)}"
        case Why.ELSEWHERE:
            to = f" to `{first.grant.recipient.text}`" if first else ""
            return f"granted to someone else: {card} grants it{to} only"
        case Why.EXPIRED:
            return f"no longer valid: {card}, which grants it, has expired"
        case Why.REVOKED:
            return f"no longer valid: {card}, which grants it, is revoked"
        case Why.NO_CARDS:
            return "the wallet holds no live card"
        case Why.SCOPE_REFUSED:
            return f"the invocation is refused with its scope card: {reason.detail}"
        case Why.LETS_THROUGH:
            return f"the ceiling of {card} lets it through by {text}" if first else "let through"
        case Why.SOME_INSTANCES:
            return f"not every instance is admitted: `{reason.detail}` is not"
        case Why.NAME_DECIDES:
            return f"it depends on a name that is not given: {reason.detail}"
        case Why.PART_DENIED:
            return f"not all of it is: `{reason.detail}` by itself is denied by {text}"
        case Why.CEILING_BOUNDS:
            return f"the ceiling of {card} caps it, and its holder cannot shed that card"
        case Why.NO_CEILING:
            return "no card has a ceiling for this holder, so any card installed later could widen it"
        case Why.CEILING_REVOCABLE:
            return f"the holder may revoke any card it holds, its ceilings too{f', by {text}' if first else ''}"
        case Why.CEILING_EXPIRES:
            return f"the ceiling of {card} ends with the card at {reason.detail}"
        case Why.CEILING_MOVABLE:
            return f"the holder could move {card}, and its ceiling, away to `{reason.detail}`"
        case Why.CEILING_OWN_INSTALL:
            return f"{card} counts as installed by the holder itself, so its ceiling is of the holder's choice"
        case Why.UNCAPPED:
            return "nothing is asked, so no ceiling caps it"
        case Why.TARGET_REFUSED:
            return f"refused without asking any card: {reason.detail}"
        case Why.NOTHING_ASKED:
            return f"nothing is asked: {reason.detail}"
        case Why.NOT_DETERMINABLE:
            return f"not determinable: {reason.detail}"
        case Why.DENIAL_RECORDED:
            return f"the log keeps what was decided: {reason.detail}"
        case Why.DENIAL_NOT_RECORDED:
            return "a denial leaves no record, and a replay does not ask again"
        case Why.EVALUATED_AGAIN:
            return "a replay decides again, by the wallet as the log tells it"
        case Why.CRASH_DECIDES:
            return f"the same step after a crash could be decided differently: the answer changes at {reason.detail}"
        case Why.RECORD_DEPENDS:
            return f"what a denial leaves in the log depends on {reason.detail}"
        case Why.PART_MISSING:
            return f"the permission is there and the call still fails: {reason.detail}"
        case Why.REPEATED_EFFECT:
            return f"after a crash the body runs again: {reason.detail}"
        case Why.OPERATION_NOT_GIVEN:
            return "the operation is not given, and its record decides what a replay sees"
        case Why.NOT_REPLAYED:
            return "nothing is replayed for a caller outside an agent"
        case _:
            assert_never(reason.why)


_ORDER = (
    Why.SCOPE_REFUSED,
    Why.TARGET_REFUSED,
    Why.NOT_DETERMINABLE,
    Why.NAME_DECIDES,
    Why.SOME_INSTANCES,
    Why.FORBIDDEN,
    Why.CEILING_FORBIDS,
    Why.WITHHELD,
    Why.ELSEWHERE,
    Why.EXPIRED,
    Why.REVOKED,
    Why.NO_CARDS,
    Why.NOT_GRANTED,
    Why.GRANTED,
    Why.NOTHING_ASKED,
)


def deciding(verdict: Verdict) -> Reason | None:
    """The reason that decides `admitted`, or None where there is none."""
    reasons = verdict.because(FacetName.ADMITTED)
    for why in _ORDER:
        # a call that no floor grants is refused for that, whatever a ceiling says besides
        if why in (Why.CEILING_FORBIDS, Why.WITHHELD) and not any(r.why is Why.GRANTED for r in reasons):
            continue
        for reason in reasons:
            if reason.why is why:
                return reason
    return None


def headline(verdict: Verdict, who: str, what: str, naming: Naming) -> str:
    """The answer in one sentence: who may or may not do what, and why."""
    may = {Facet.YES: "may", Facet.NO: "may not", Facet.UNKNOWN: "may or may not"}[verdict.admitted]
    reason = deciding(verdict)
    return f"{who} {may} do `{what}`" + (f": {sentence(reason, naming)}" if reason else "")
