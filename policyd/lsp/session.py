"""What one editor asks, answered from the texts that it holds; no protocol, no clock of its own.

Source: interface, `lsp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol.types import CodeAction, CompletionItem, Diagnostic, Location, Position, TextEdit

from policyd.core.cards import Timestamp
from policyd.core.edition import NEXT, Rules
from policyd.findings import Finding, InputError, InternalDefect, Span
from policyd.lsp.actions import idle_actions, text_edits
from policyd.lsp.completion import completions, typed_at
from policyd.lsp.definition import definition
from policyd.lsp.diagnostics import diagnostics
from policyd.lsp.files import Held
from policyd.lsp.hover import hover
from policyd.lsp.study import Study
from policyd.manifest.layout import canonical_layout
from policyd.manifest.load import Document

MAX_STUDIES = 16
"""Manifests that are kept as read; the one that was asked about longest ago goes first."""

Shown = dict[Path, list[Diagnostic]]
"""What to show in each document."""


@dataclass(slots=True)
class Session:
    """The state of one editor.

    Attributes:
        held: its open documents.
        rules: the edition.
    """

    held: Held = field(default_factory=Held)
    rules: Rules = NEXT
    _studies: dict[Path, Study] = field(default_factory=dict)

    def changed(self, path: Path) -> None:
        """A document has another text: what was read of manifests with it is void."""
        self._studies = {root: s for root, s in self._studies.items() if root != path and s.document(path) is None}

    def study_of(self, path: Path) -> tuple[Study, Document] | None:
        """The manifest that a document belongs to: one that includes it, else the document by itself."""
        for root in dict.fromkeys((*self.held.roots_above(path), path)):
            study = self._read(root)
            document = study.document(path) if study is not None else None
            if study is not None and document is not None:
                return study, document
        return None

    def _read(self, root: Path) -> Study | None:
        known = self._studies.pop(root, None)
        if known is None:
            try:
                known = Study.of(root, self.held.texts, self.rules)
            except InputError:
                return None
        self._studies[root] = known
        while len(self._studies) > MAX_STUDIES:
            self._studies.pop(next(iter(self._studies)))
        return known

    def quick(self, path: Path) -> Shown:
        """What is wrong with the text, keys and grants of a document and of those that belong to it."""
        found = self.study_of(path)
        return self._shown(found[0], found[0].quick()) if found is not None else {}

    def full(self, path: Path, now: Timestamp) -> Shown:
        """All findings on a document and on those that belong to it."""
        found = self.study_of(path)
        return self._shown(found[0], found[0].full(now)) if found is not None else {}

    def _shown(self, study: Study, findings: tuple[Finding, ...]) -> Shown:
        sources = {study.paths[d.name]: d.source for d in study.loaded.documents}
        return diagnostics(findings, sources, study.paths, study.root, self.held)

    def hover(self, path: Path, position: Position) -> str:
        """Markdown about what is at a place, empty where there is nothing to say."""
        found = self.study_of(path)
        if found is None:
            return ""
        study, document = found
        return hover(study, document, self.held.ruler.offset_at(document.source, position))

    def completion(self, path: Path, position: Position) -> list[CompletionItem]:
        """What can be written at a place."""
        found = self.study_of(path)
        if found is None:
            return []
        study, document = found
        offset = self.held.ruler.offset_at(document.source, position)
        column = offset - document.source.line_starts[min(position.line, len(document.source.line_starts) - 1)]
        typed = typed_at(document.source.text.split("\n"), position.line, column)
        if typed is None:
            return []
        return completions(typed, [d.deployment for d in study.environments.values()], self.rules)

    def definition(self, path: Path, position: Position) -> list[Location]:
        """Where the grants stand that decide what is named at a place."""
        found = self.study_of(path)
        if found is None:
            return []
        study, document = found
        spans = definition(study, document, self.held.ruler.offset_at(document.source, position))
        return list(self._locations(study, spans))

    def _locations(self, study: Study, spans: Iterable[Span]) -> Iterator[Location]:
        for span in spans:
            document = study.loaded.document(span.source)
            if document is not None:
                uri = self.held.uri_of(study.paths[document.name])
                yield Location(uri, self.held.ruler.range_of(document.source, span.start, span.end))

    def actions(self, path: Path, shown: list[Diagnostic]) -> list[CodeAction]:
        """Changes that are offered for the findings under the pointer."""
        found = self.study_of(path)
        return list(idle_actions(*found, shown, self.held)) if found is not None else []

    def formatting(self, path: Path) -> list[TextEdit]:
        """The canonical text and order of the grants of a document, as `policyd fmt` writes it."""
        found = self.study_of(path)
        if found is None:
            return []
        document = found[1]
        try:
            return text_edits(document.source, canonical_layout(document, self.rules).text, self.held.ruler)
        except (InputError, InternalDefect):
            return []
