"""HOST019: `reveal` of a secret without `hold`, or the reverse. Page: secret_pair.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import written, written_call
from policyd.analysis.card_index import CardIndex, index_of
from policyd.analysis.rule import Rule
from policyd.analysis.rules.host.secret_spelling import camel
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import Target
from policyd.core.grants.resources import SegmentPath
from policyd.core.grants.resources.segments import GLOBSTAR, STAR
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

_OTHER = {"reveal": "hold", "hold": "reveal"}


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant of one of the two verbs on a secret for which its list lacks the other."""
    for card in subject.explicit_cards:
        entries = written(subject, card, Bound.LOWER_POSITIVE, "secret")
        index = index_of(subject, card)
        if not entries or not index.is_exact:
            continue
        named = {(e.grant.target.verb, _canonical(e.grant.target)) for e in entries}
        for entry in entries:
            target = entry.grant.target
            other = _OTHER.get(target.verb)
            # the two may be spelled apart: one by the declared path, one by the canonical key
            if other is None or not index.admits(target):
                continue
            if (other, _canonical(target)) in named or _is_lent(index, target, other):
                continue
            text = shown(target.resource.text)
            wanted = Target(target.cls, target.owner, other, target.resource)
            line = shown(f"secret(?env) @ ?agent : {other} : {target.resource.text}")
            if other == "hold":
                yield rule.finding(
                    f"{text} may be revealed but not held: no handle to reveal reaches the code",
                    entry.placed.span,
                    help=f"add {line}; nothing more opens than what `reveal` is for",
                    witness=written_call(card, wanted),
                )
            else:
                yield rule.finding(
                    f"{text} may be held but not revealed: the code can pass the secret on, not read it",
                    entry.placed.span,
                    help=f"add {line} if the code reads it (`Secret::get`); leave it if the host alone uses it",
                    severity=Severity.INFO,
                    confidence=Confidence.POSSIBLE,
                    witness=written_call(card, wanted),
                )


def _canonical(target: Target) -> tuple[str, ...]:
    segments = target.resource.segments if isinstance(target.resource, SegmentPath) else ()
    return tuple(s if s in (STAR, GLOBSTAR) else camel(s) for s in segments)


def _is_lent(index: CardIndex, target: Target, verb: str) -> bool:
    spellings = [target.resource]
    if isinstance(target.resource, SegmentPath):
        spellings.append(SegmentPath(_canonical(target), "."))
    return any(index.covering(Bound.LOWER_POSITIVE, Target(target.cls, target.owner, verb, s)) for s in spellings)


RULE = Rule("HOST019", "secret_pair", Severity.WARNING, Confidence.LIKELY, check)
