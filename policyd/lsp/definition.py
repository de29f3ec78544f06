"""From a grant to the grants that decide what it names.

Source: questions 1, 3.
"""

from __future__ import annotations

from collections.abc import Iterator

from policyd.findings import PolicydError, Span
from policyd.lsp.study import PlacedIn, Study
from policyd.manifest.load import Document
from policyd.usecases.answer import Answer
from policyd.usecases.check_call import ManifestQuestion, check_manifest
from policyd.usecases.deployments import Selection

MAX_CARDS = 6
"""Cards that are asked; a shared one can end up in many."""


def deciding_spans(answer: Answer) -> Iterator[Span]:
    """The places of the grants that decide an answer."""
    for reason in answer.verdict.reasons:
        for ref in reason.refs:
            place = answer.places.get(ref)
            if place is not None and place.span is not None:
                yield place.span


def definition(study: Study, document: Document, offset: int) -> tuple[Span, ...]:
    """The grants that decide the call that the grant at a place names as a whole; empty where there is none."""
    found: dict[Span, None] = {}
    for item in list(study.grants_at(document, offset))[:MAX_CARDS]:
        found |= dict.fromkeys(_of(item, study))
    return tuple(found)


def _of(item: PlacedIn, study: Study) -> tuple[Span, ...]:
    question = ManifestQuestion(item.agent.name, item.placed.grant.target.text)
    try:
        answer = check_manifest(item.found, Selection(), question, study.rules)
    except PolicydError:
        return ()
    return tuple(deciding_spans(answer))
