"""Changes that an editor offers at a place: idle grants that can go, and what lets a refused call through.

Source: interface, `what-if`, `explain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsprotocol.types import CodeAction, CodeActionKind, Diagnostic, TextEdit, WorkspaceEdit

from policyd.analysis.rules import IDLE_GRANTS
from policyd.findings import PolicydError, visible
from policyd.lsp.diagnostics import NAME
from policyd.lsp.files import Held
from policyd.lsp.positions import Ruler
from policyd.lsp.study import PlacedIn, Study
from policyd.manifest.load import Document
from policyd.manifest.patch import ListChange, Patch, patch_card
from policyd.manifest.patch_text import CannotPatchError
from policyd.manifest.source import Source
from policyd.usecases.deployments import Selection
from policyd.usecases.explain_fixes import Fix, Fixes
from policyd.usecases.holders import holders_in
from policyd.usecases.what_if import Edit, what_if

MAX_STEPS = 200_000
"""Effort of one search of the proof that a grant can go."""

MAX_OFFERED = 10
"""Changes that are offered at once."""


def idle_actions(study: Study, document: Document, shown: Sequence[Diagnostic], held: Held) -> Iterator[CodeAction]:
    """Grants without effect that can go: offered only where it is proved, in every environment, that nothing changes.

    Args:
        study: the manifest.
        document: the one that the pointer is in.
        shown: the diagnostics under the pointer.
        held: the open documents.
    """
    offered = 0
    for diagnostic in shown:
        if diagnostic.source != NAME or diagnostic.code not in IDLE_GRANTS or offered == MAX_OFFERED:
            continue
        placed = list(study.grants_at(document, held.ruler.offset_at(document.source, diagnostic.range.start)))
        patch = _without(study, placed)
        if patch is None:
            continue
        offered += 1
        yield CodeAction(
            "policyd: take this grant away (proved: no decision changes)",
            kind=CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            edit=edit_of(study, patch, held),
        )


def _without(study: Study, placed: Sequence[PlacedIn]) -> Patch | None:
    spans = {item.placed.span for item in placed}
    if len(spans) != 1 or None in spans:
        return None
    span = next(iter(spans))
    assert span is not None  # looked at above
    first = placed[0]
    try:
        for found in {id(item.found): item.found for item in placed}.values():
            changes = what_if(holders_in(found, Selection()), Edit(remove=(span.where,)), study.rules, steps=MAX_STEPS)
            if changes.is_undecided or not all(change.is_none for change in changes.holders):
                return None
        change = ListChange(first.bound, replace=((span, ()),))
        return patch_card(study.loaded, first.agent.name, first.agent.initial_card, (change,))
    except (PolicydError, CannotPatchError):
        return None


def fix_actions(study: Study, fixes: Fixes, shown: Sequence[Diagnostic], held: Held, call: str) -> Iterator[CodeAction]:
    """The narrowest changes of a manifest that let a refused call through, each with what else it opens.

    Args:
        study: the manifest.
        fixes: as `policyd explain` found them.
        shown: the diagnostics that they answer.
        held: the open documents.
        call: as written.
    """
    for fix in fixes.fixes:
        if fix.patch is not None:
            yield CodeAction(
                f"policyd: {_title(fix, call)}",
                kind=CodeActionKind.QuickFix,
                diagnostics=list(shown) or None,
                edit=edit_of(study, fix.patch, held),
            )


def _title(fix: Fix, call: str) -> str:
    parts = [f"take away {visible(line)}" for line in fix.gone] + [f"write {visible(line)}" for line in fix.lines]
    lines = "; ".join(parts)
    opened = fix.opened
    count = len(opened.witnesses) + opened.more
    if opened.undecided:
        also = "what else it opens is undecided"
    elif count:
        also = (
            f"also opens {count} kinds of calls, e.g. {visible(opened.witnesses[0].call)}" if opened.witnesses else ""
        )
    else:
        also = "opens nothing else"
    why = f"; without effect: {visible(fix.ineffective[0])}" if fix.ineffective else ""
    return f"{lines} (for {visible(call)}; {also}{why})"


def edit_of(study: Study, patch: Patch, held: Held) -> WorkspaceEdit:
    """The change of one document, no larger than where the texts differ."""
    path = Path(patch.document).resolve()
    document = study.document(path)
    assert document is not None  # patches are made of documents of this manifest
    return WorkspaceEdit(changes={held.uri_of(path): text_edits(document.source, patch.text, held.ruler)})


def text_edits(source: Source, new: str, ruler: Ruler) -> list[TextEdit]:
    """From the text to a new one: none where they are the same, else the one stretch in which they differ."""
    old = source.text
    if old == new:
        return []
    start = 0
    limit = min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < limit - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return [TextEdit(ruler.range_of(source, start, len(old) - tail), new[start : len(new) - tail])]
