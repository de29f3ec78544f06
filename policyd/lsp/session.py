"""What one editor asks, answered from the texts that it holds; no protocol, no clock of its own.

Source: interface, `lsp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol.types import CodeAction, CompletionItem, Diagnostic, Location, Position, TextEdit

from policyd.core.cards import Timestamp
from policyd.core.edition import NEXT, Rules
from policyd.findings import Finding, InputError, InternalDefect, Span
from policyd.lsp.actions import fix_actions, idle_actions, text_edits
from policyd.lsp.completion import completions, typed_at
from policyd.lsp.definition import definition
from policyd.lsp.diagnostics import diagnostics
from policyd.lsp.expectations import TestStudy
from policyd.lsp.files import Held, is_tests
from policyd.lsp.hover import hover, plain
from policyd.lsp.study import Study
from policyd.manifest.layout import canonical_layout
from policyd.manifest.load import Document
from policyd.manifest.source import Source
from policyd.usecases.policy_tests import Stored

MAX_STUDIES = 16
"""Manifests and files of tests that are kept as read; the one that was asked about longest ago goes first."""

Shown = dict[Path, list[Diagnostic]]
"""What to show in each document."""


@dataclass(slots=True)
class Session:
    """The state of one editor.

    Attributes:
        stored: finds places in the store, for tests that name one.
        held: its open documents.
        rules: the edition.
    """

    stored: Stored
    held: Held = field(default_factory=Held)
    rules: Rules = NEXT
    _studies: dict[Path, Study] = field(default_factory=dict)
    _tests: dict[Path, TestStudy] = field(default_factory=dict)

    def changed(self, path: Path) -> list[Path]:
        """A document has another text: what was read with it is void; the open files of tests to be asked again."""
        self._studies = {root: s for root, s in self._studies.items() if root != path and s.document(path) is None}
        self._tests = {}
        return [other for other in self.held.texts if other != path and is_tests(other) and not is_tests(path)]

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

    def _tests_at(self, path: Path) -> TestStudy | None:
        text = self.held.texts.get(path)
        if text is None:
            return None
        known = self._tests.pop(path, None)
        if known is None:
            known = TestStudy(path, Source.of(str(path), text), dict(self.held.texts), self.rules, self.stored)
        self._tests[path] = known
        while len(self._tests) > MAX_STUDIES:
            self._tests.pop(next(iter(self._tests)))
        return known

    def quick(self, path: Path) -> Shown:
        """What is wrong with the text, keys and grants of a document and of those that belong to it."""
        if is_tests(path):
            tests = self._tests_at(path)
            return self._of_tests(tests, tests.quick()) if tests is not None else {}
        found = self.study_of(path)
        return self._of_manifest(found[0], found[0].quick()) if found is not None else {}

    def full(self, path: Path, now: Timestamp) -> Shown:
        """All findings on a document and on those that belong to it; for policy tests, what does not hold."""
        if is_tests(path):
            tests = self._tests_at(path)
            return self._of_tests(tests, tests.full()) if tests is not None else {}
        found = self.study_of(path)
        return self._of_manifest(found[0], found[0].full(now)) if found is not None else {}

    def _of_manifest(self, study: Study, findings: tuple[Finding, ...]) -> Shown:
        sources = {study.paths[d.name]: d.source for d in study.loaded.documents}
        return diagnostics(findings, sources, study.paths, study.root, self.held)

    def _of_tests(self, tests: TestStudy, findings: tuple[Finding, ...]) -> Shown:
        sources = {Path(name).resolve(): source for name, source in tests.documents.items()} if findings else {}
        paths = {name: Path(name).resolve() for name in tests.documents} | {tests.source.name: tests.path}
        shown = diagnostics(findings, {**sources, tests.path: tests.source}, paths, tests.path, self.held)
        # the manifest has diagnostics of its own
        return {tests.path: shown.get(tests.path, [])}

    def hover(self, path: Path, position: Position) -> str:
        """Markdown about what is at a place, empty where there is nothing to say."""
        if is_tests(path):
            tests = self._tests_at(path)
            if tests is None:
                return ""
            lines = tests.words(self.held.ruler.offset_at(tests.source, position))
            return "\n".join(f"{'  ' if line.startswith(' ') else ''}* {plain(line.strip())}" for line in lines)
        found = self.study_of(path)
        if found is None:
            return ""
        study, document = found
        return hover(study, document, self.held.ruler.offset_at(document.source, position))

    def completion(self, path: Path, position: Position) -> list[CompletionItem]:
        """What can be written at a place."""
        found = self.study_of(path) if not is_tests(path) else None
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
        if is_tests(path):
            tests = self._tests_at(path)
            if tests is None:
                return []
            spans = tests.deciding(self.held.ruler.offset_at(tests.source, position))
            return list(self._locations(spans, tests.documents))
        found = self.study_of(path)
        if found is None:
            return []
        study, document = found
        spans = definition(study, document, self.held.ruler.offset_at(document.source, position))
        return list(self._locations(spans, {d.name: d.source for d in study.loaded.documents}))

    def _locations(self, spans: Iterable[Span], sources: Mapping[str, Source]) -> Iterator[Location]:
        for span in spans:
            source = sources.get(span.source)
            if source is not None:
                uri = self.held.uri_of(Path(source.name).resolve())
                yield Location(uri, self.held.ruler.range_of(source, span.start, span.end))

    def actions(self, path: Path, shown: list[Diagnostic], start: Position) -> list[CodeAction]:
        """Changes that are offered for the findings under the pointer."""
        if is_tests(path):
            tests = self._tests_at(path)
            if tests is None:
                return []
            offset = self.held.ruler.offset_at(tests.source, start)
            return list({action.title: action for action in self._fixes(tests, offset, shown)}.values())
        found = self.study_of(path)
        return list(idle_actions(*found, shown, self.held)) if found is not None else []

    def _fixes(self, tests: TestStudy, offset: int, shown: list[Diagnostic]) -> Iterator[CodeAction]:
        for subject, fixes, call in tests.fixes(offset):
            study = self._read(subject.path.resolve())
            if study is not None:
                yield from fix_actions(study, fixes, shown, self.held, call)

    def formatting(self, path: Path) -> list[TextEdit]:
        """The canonical text and order of the grants of a document, as `policyd fmt` writes it."""
        found = self.study_of(path) if not is_tests(path) else None
        if found is None:
            return []
        document = found[1]
        try:
            return text_edits(document.source, canonical_layout(document, self.rules).text, self.held.ruler)
        except (InputError, InternalDefect):
            return []
