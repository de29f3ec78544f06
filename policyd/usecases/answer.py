"""The answer to a question of admission, with everything that is shown of it.

Source: questions 1 to 5; interface, Files and queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from policyd.core.admission import FacetName, Reach, Reason, Verdict
from policyd.core.cards import CardId, GrantRef
from policyd.core.edition import Rules
from policyd.explain.prose import Naming, sentence
from policyd.findings import Finding, Span


@dataclass(frozen=True, slots=True)
class GrantPlace:
    """Where a grant comes from.

    Attributes:
        text: as written there.
        origin: in words (`agents.Cart, lower positive 3`).
        span: its place, None for a grant that stands in no file.
    """

    text: str
    origin: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What policyd says to one question.

    Attributes:
        who: the holder as asked about (`Cart`).
        target: the target as asked, canonical text.
        verdict: the three facets with their reasons.
        reach: for whom it holds, where an agent type was asked about.
        exceptions: instances for which `admitted` differs.
        rules: the edition.
        notes: what else must be said, in order.
        cards: how to name each card.
        places: where the grants named by the reasons come from.
        snapshot: the stored revision that was read, empty for files.
        findings: what is wrong with the input that bears on the answer.
    """

    who: str
    target: str
    verdict: Verdict
    reach: Reach
    exceptions: tuple[str, ...]
    rules: Rules
    notes: tuple[str, ...]
    cards: Mapping[CardId, str] = field(hash=False)
    places: Mapping[GrantRef, GrantPlace] = field(hash=False)
    snapshot: str = ""
    findings: tuple[Finding, ...] = ()

    def card_name(self, card: CardId) -> str:
        """How to name a card to a person."""
        return self.cards.get(card, f"card {card}")

    @property
    def naming(self) -> Naming:
        """How cards and grants are called in the sentences of this answer."""
        return Naming(self.card_name, lambda ref: self.places[ref].text if ref in self.places else ref.grant.text)

    def sentence(self, reason: Reason) -> str:
        """One reason in words."""
        return sentence(reason, self.naming)


def answer_json(answer: Answer) -> dict[str, object]:
    """The answer on the wire; facets as the interface fixes them."""
    verdict = answer.verdict
    return {
        "who": answer.who,
        "target": answer.target,
        "admitted": verdict.admitted.value,
        "bounded": verdict.bounded.value,
        "replayStable": verdict.replay_stable.value,
        "reasons": [_reason_json(answer, reason) for reason in verdict.reasons],
        "holdsFor": answer.reach.value,
        "exceptions": list(answer.exceptions),
        "holdsFrom": verdict.holds_from.text if verdict.holds_from else None,
        "holdsUntil": verdict.holds_until.text if verdict.holds_until else None,
        "notes": list(answer.notes),
        "edition": answer.rules.edition.value,
        "switches": dict(answer.rules.overrides),
        "snapshot": answer.snapshot or None,
    }


def _reason_json(answer: Answer, reason: Reason) -> dict[str, object]:
    return {
        "facet": reason.facet.value,
        "code": reason.why.value,
        "text": answer.sentence(reason),
        "card": reason.card,
        "count": reason.count,
        "detail": reason.detail,
        "grants": [_grant_json(answer, ref) for ref in reason.refs],
    }


def _grant_json(answer: Answer, ref: GrantRef) -> dict[str, object]:
    place = answer.places.get(ref)
    span = place.span if place else None
    return {
        "card": ref.card,
        "bound": ref.bound.value,
        "index": ref.index,
        "grant": ref.grant.text,
        "written": place.text if place else ref.grant.text,
        "origin": place.origin if place else "",
        "place": None
        if span is None
        else {"source": span.source, "line": span.line, "column": span.column, "path": span.path},
    }


def facet_words(names: str) -> tuple[FacetName, ...]:
    """The facets named in `--require`: words separated by commas.

    Raises:
        ValueError: with the word that is none.
    """
    known = {name.value: name for name in FacetName}
    found = []
    for word in names.split(","):
        if word.strip() not in known:
            raise ValueError(word.strip())
        found.append(known[word.strip()])
    return tuple(found)
