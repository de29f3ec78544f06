"""A file of policy tests as it stands in the editor: what fails, what decides, and what would mend it.

Source: interface, `test`, `explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic

from policyd.core.admission import FacetName
from policyd.core.edition import Rules
from policyd.core.operations import Ports
from policyd.findings import Finding, InputError, NoSuchName, PolicydError, Related, Severity, Span
from policyd.lsp.definition import deciding_spans
from policyd.manifest.source import Source
from policyd.policytests import CallExpectation, test_file_of_json
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables
from policyd.usecases.answer import Answer
from policyd.usecases.deployments import Described, Selection
from policyd.usecases.explain_denial import explain
from policyd.usecases.explain_fixes import Fixes, Means
from policyd.usecases.explain_holding import in_manifest
from policyd.usecases.explain_values import Asked
from policyd.usecases.policy_tests import Outcome, Settings, Stored, runs_of
from policyd.usecases.policy_tests_given import UNREADABLE
from policyd.usecases.policy_tests_report import FAILED
from policyd.usecases.policy_tests_subjects import FromManifest
from policyd.usecases.tool_documents import document_of

BUDGET_S = 2.0
"""Effort of one proof, and of the search for changes."""

MAX_RELATED = 3
"""So many deciding grants are named beside a failure."""


@dataclass(frozen=True)
class TestStudy:
    """One file of tests.

    Attributes:
        path: resolved.
        source: its text.
        opened: the texts that the editor holds, by resolved path.
        rules: the edition where the file names none.
        stored: finds places in the store.
    """

    __test__ = False

    path: Path
    source: Source
    opened: Mapping[Path, str]
    rules: Rules
    stored: Stored

    def quick(self) -> tuple[Finding, ...]:
        """What is wrong with the form of the file."""
        try:
            document = document_of(str(self.path), self.source.text)
            document.surfaced(UNREADABLE, lambda: test_file_of_json(document.value))
        except InputError as error:
            return error.findings
        return ()

    @cached_property
    def _asked(self) -> tuple[tuple[tuple[Outcome, FromManifest | None], ...], tuple[Finding, ...]]:
        """What became of every expectation, and what kept them from being asked."""
        settings = Settings(None, {}, None, None, BUDGET_S, self.stored, self.opened)
        try:
            found: list[tuple[Outcome, FromManifest | None]] = []
            for run in runs_of(self.path, settings):
                subject = run.subject if isinstance(run.subject, FromManifest) else None
                found += [(outcome, subject) for outcome in run.all()]
        except InputError as error:
            return (), error.findings
        return tuple(found), ()

    def full(self) -> tuple[Finding, ...]:
        """Mistakes of the file, and every expectation that does not hold."""
        outcomes, mistakes = self._asked
        return (*mistakes, *(_failure(outcome) for outcome, _ in outcomes if outcome.failures))

    @property
    def documents(self) -> Mapping[str, Source]:
        """The documents of its manifests, by the name that spans have."""
        loaded = {id(s.found.loaded): s.found.loaded for _, s in self._asked[0] if s is not None}
        return {d.name: d.source for one in loaded.values() for d in one.documents}

    def at(self, offset: int) -> Iterator[tuple[Outcome, FromManifest | None]]:
        """What became of the expectations at a place, in every environment and of every agent."""
        for outcome, subject in self._asked[0]:
            if outcome.span.start <= offset <= outcome.span.end:
                yield outcome, subject

    def deciding(self, offset: int) -> tuple[Span, ...]:
        """The grants that decide the calls at a place."""
        found: dict[Span, None] = {}
        for outcome, _ in self.at(offset):
            if isinstance(outcome.told, Answer):
                found |= dict.fromkeys(deciding_spans(outcome.told))
        return tuple(found)

    def words(self, offset: int) -> list[str]:
        """What was found at a place, a line for each agent and environment, with its reasons."""
        lines: list[str] = []
        for outcome, _ in self.at(offset):
            word = "; ".join(outcome.failures) or "holds"
            lines.append(f"{outcome.about}: {word}")
            if isinstance(outcome.told, Answer):
                reasons = outcome.told.verdict.reasons
                lines += [f"  {outcome.told.sentence(r)}" for r in reasons if r.facet is FacetName.ADMITTED]
        return lines

    def fixes(self, offset: int, clock: Callable[[], float] = monotonic) -> Iterator[tuple[FromManifest, Fixes, str]]:
        """The narrowest changes of the manifest that let refused calls through that are expected to be admitted."""
        for outcome, subject in self.at(offset):
            expectation = outcome.case.expectation
            if subject is None or not outcome.failures or not isinstance(expectation, CallExpectation):
                continue
            if dict(expectation.facets).get("admitted") != "yes" or outcome.case.wallet is not None:
                continue
            try:
                yield subject, self._fixes(outcome, subject, expectation, clock), expectation.target
            except (PolicydError, NoSuchName):
                continue

    def _fixes(
        self, outcome: Outcome, subject: FromManifest, expectation: CallExpectation, clock: Callable[[], float]
    ) -> Fixes:
        when, begin = outcome.case.when, clock()

        def again(rules: Rules) -> Described:
            return subject.again(rules)

        selection: Selection = subject.selection
        holding = in_manifest(subject.found, selection, outcome.case.agent, subject.rules, when.at, when.scope, again)
        means = Means(clock=lambda: clock() - begin, budget=BUDGET_S)
        ports = Ports(SqlTables(), OutboundUrls())
        asked = Asked(None, expectation.target, None, {})
        found = explain(holding, asked, ports, catalogue().operations, means)
        return found.items[0].fixes if found.items else Fixes()


def _failure(outcome: Outcome) -> Finding:
    related: tuple[Related, ...] = ()
    if isinstance(outcome.told, Answer):
        spans = dict.fromkeys(deciding_spans(outcome.told))
        related = tuple(Related("decided by this grant", span) for span in list(spans)[:MAX_RELATED])
    return Finding(
        FAILED, Severity.ERROR, f"{outcome.about}: {'; '.join(outcome.failures)}", outcome.span, related=related
    )
