"""HOST015: a negative on a path that a link goes past. Page: by_link.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import denials, own_call, some_path, written, written_call
from policyd.analysis.card_index import CardIndex, index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB
from policyd.core.grants.resources import FilePath
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

VERBS = ("read", "write", "list", "stat")
"""What is done to the thing a link leads to; `delete` takes the link itself away."""

MAX_TRIED = 100
"""So many lower grants that let files be made are tried in one card."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every negative on a path of the own files beside a place where links can be made and followed."""
    for card in subject.explicit_cards:
        negatives = tuple(denials(subject, card, "filesystem"))
        index = index_of(subject, card)
        if not negatives or not index.is_exact:
            continue
        places = {verb: place for verb in VERBS if (place := _place(subject, card, index, verb)) is not None}
        for entry in negatives:
            verb = next((v for v in VERBS if v in places and entry.grant.target.verb in (v, ANY_VERB)), None)
            if verb is None or not _is_own(card, entry):
                continue
            link = places[verb]
            yield rule.finding(
                f"the negative on {shown(entry.grant.target.resource.text)} holds for the path as it is written: a link"
                f" made at {shown(link.text)}, or a renamed folder, leads past it",
                entry.placed.span,
                help="keep `write` from the paths where the agents may also read, or keep the file out of their reach:"
                " links are neither checked when made nor followed when a path is judged",
                witness=written_call(card, own_call(card, "filesystem", verb, link)),
            )


def _place(subject: Subject, card: AuditedCard, index: CardIndex, verb: str) -> FilePath | None:
    """A path where the agents can make a link and then do `verb` through it."""
    for entry in written(subject, card, Bound.LOWER_POSITIVE, "filesystem")[:MAX_TRIED]:
        target = entry.grant.target
        if target.verb not in ("write", ANY_VERB) or not isinstance(target.resource, FilePath):
            continue
        path = some_path(target.resource)
        if all(index.admits(own_call(card, "filesystem", v, path)) for v in ("write", verb)):
            return path
    return None


def _is_own(card: AuditedCard, entry: Entry) -> bool:
    return entry.grant.target.owner.covers(own_call(card, "filesystem", "read", FilePath(())).owner)


RULE = Rule("HOST015", "by_link", Severity.WARNING, Confidence.LIKELY, check)
