"""Policy tests: whether what a file expects holds, and why not.

Source: questions 1, 3; interface, `test`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from policyd.core.admission import FacetName
from policyd.core.cards import Bound, Timestamp
from policyd.core.edition import Rules
from policyd.findings import InputError, Span
from policyd.policytests import CallExpectation, PolicyTest, QueryExpectation, TestFile, test_file_of_json
from policyd.syntax.mistakes import shown
from policyd.syntax.queries import parse_query
from policyd.usecases.answer import Answer
from policyd.usecases.check_call import ManifestQuestion, check_manifest
from policyd.usecases.deployments import Described, Selection, agent_name, described, load
from policyd.usecases.holders import holders_in
from policyd.usecases.proofs import prove_query, steps_for
from policyd.usecases.tool_documents import PlainDocument, read_document

UNREADABLE = "MANIF091"
"""The code of what cannot be read in a file of tests."""


Touched = tuple[str, Bound, int]
"""A grant: agent type, list and index."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one expectation.

    Attributes:
        test: name of the test.
        about: environment, agent and what is expected.
        span: where it stands.
        failures: what does not hold, empty if all does.
        explanation: the decision with its grants and places.
        touched: the grants that decide, or of the class of a query.
    """

    test: str
    about: str
    span: Span
    failures: tuple[str, ...]
    explanation: tuple[str, ...]
    touched: frozenset[Touched] = frozenset()


@dataclass(frozen=True, slots=True)
class Settings:
    """What the caller fixes for all files.

    Attributes:
        rules: the edition.
        environment: replaces the file's, None to leave them.
        include_root: manifests may lie anywhere below; None for the folder around that of the file.
        budget: effort of a proof, in seconds.
        moment: reads a moment.
    """

    rules: Rules
    environment: str | None
    include_root: Path | None
    budget: float
    moment: Callable[[str | None], Timestamp | None]


def runs_of(path: Path, settings: Settings) -> list[TestRun]:
    """A file, once for each environment; `TestRun.all` has the outcomes.

    Raises:
        InputError: for a file or manifest that cannot be read, or an agent that is not there.
    """
    document = read_document(path)
    tests = document.surfaced(UNREADABLE, lambda: test_file_of_json(document.value))
    manifest = _manifest(path, tests, document, settings.include_root)
    try:
        moment = settings.moment(tests.at or None)
    except InputError as error:
        raise InputError.of(UNREADABLE, error.findings[0].message, document.span(("at",))) from None
    environments = (settings.environment,) if settings.environment is not None else tests.environments or (None,)
    loaded = load(manifest, settings.rules, settings.include_root)
    out: list[TestRun] = []
    for environment in environments:
        selection = Selection(environment, None, tests.account, tests.component)
        found = described(loaded, selection, settings.rules)
        out.append(TestRun(document, tests, found, selection, settings, moment, str(manifest)))
    return out


def _manifest(path: Path, tests: TestFile, document: PlainDocument, root: Path | None) -> Path:
    place = document.span(("manifest",))
    around = (root if root is not None else path.parent / "..").resolve()
    if Path(tests.manifest).is_absolute() or not (path.parent / tests.manifest).resolve().is_relative_to(around):
        message = f"{shown(tests.manifest)} lies outside the folder that tests may read"
        raise InputError.of(UNREADABLE, message, place, "write a relative path, or give `--include-root`")
    return path.parent / tests.manifest


@dataclass(frozen=True, slots=True)
class TestRun:
    """A file of tests in one environment."""

    __test__ = False

    document: PlainDocument
    tests: TestFile
    found: Described
    selection: Selection
    settings: Settings
    moment: Timestamp | None
    source: str

    def all(self) -> list[Outcome]:
        """What became of every expectation, in the order of the file."""
        return [outcome for test in self.tests.tests for outcome in self.outcomes(test)]

    def outcomes(self, test: PolicyTest) -> Iterator[Outcome]:
        """What became of one test, agent by agent."""
        for agent in test.agents:
            for call in test.calls:
                yield self._placed(call.steps, lambda a=agent, c=call: self._call(test, a, c))  # type: ignore[misc]
            for query in test.queries:
                yield self._placed(query.steps, lambda a=agent, q=query: self._query(test, a, q))  # type: ignore[misc]

    def _placed(self, steps: tuple[str | int, ...], ask: Callable[[], Outcome]) -> Outcome:
        """A question that cannot be asked is a mistake of the file, told where it stands."""
        try:
            return ask()
        except InputError as error:
            first = error.findings[0]
            raise InputError.of(first.code, first.message, self.document.span(steps), first.help) from None

    def _about(self, agent: str, text: str) -> str:
        environment = f"{self.selection.environment}: " if self.selection.environment else ""
        return f"{environment}{agent}: {text}"

    def _call(self, test: PolicyTest, agent: str, call: CallExpectation) -> Outcome:
        question = ManifestQuestion(agent, call.target, self.moment)
        answer = check_manifest(self.found, self.selection, question, self.settings.rules)
        failures = []
        for name, word in call.facets:
            facet = answer.verdict.of(FacetName(name)).value
            if facet != word:
                failures.append(f"{name} is {facet}, expected {word}")
        if "admitted" in dict(call.facets) and answer.exceptions:
            failures.append(f"admitted differs for {', '.join(answer.exceptions)}")
        codes = {reason.why.value for reason in answer.verdict.reasons}
        told = ", ".join(sorted(codes)) or "nothing"
        failures += [f"because of {told}, expected {shown(code)}" for code in call.because if code not in codes]
        span = self.document.span(call.steps)
        name = agent_name(agent)[0]
        touched = frozenset((name, ref.bound, ref.index) for r in answer.verdict.reasons for ref in r.refs)
        about = self._about(agent, call.target)
        return Outcome(test.name, about, span, tuple(failures), tuple(_reasons(answer)), touched)

    def _query(self, test: PolicyTest, agent: str, query: QueryExpectation) -> Outcome:
        parties = holders_in(self.found, self.selection, agent, self.source)
        proof = prove_query(
            parties, query.query, self.settings.rules, is_never=query.is_never, steps=steps_for(self.settings.budget)
        )
        word = proof.word if proof.results else "undecided"
        failures = () if word == "holds" else (f"{word}: {proof.claim}",)
        detail = [f"{r.name}: {r.word} {r.witness}".rstrip() for r in proof.results]
        detail += [f"by {grant}" for r in proof.results for grant in r.grants]
        cls = parse_query(query.query, self.settings.rules).cls
        touched = frozenset(
            (a.name, bound, index)
            for a in self.found.deployment.agents
            if a.name == agent_name(agent)[0]
            for bound, index, placed in a.initial_card.each()
            if placed.grant.target.cls == cls
        )
        about = self._about(agent, f"{'never' if query.is_never else 'always'} {query.query}")
        return Outcome(test.name, about, self.document.span(query.steps), failures, (*detail, *proof.notes), touched)


def _reasons(answer: Answer) -> Iterator[str]:
    for reason in answer.verdict.reasons:
        yield f"{reason.facet.value}: {answer.sentence(reason)} [{reason.why.value}]"
        for ref in reason.refs:
            place = answer.places.get(ref)
            if place is not None:
                where = f" at {place.span.source}:{place.span.line}:{place.span.column}" if place.span else ""
                yield f"  by `{place.text}`, {place.origin}{where}"


def outcome_json(outcome: Outcome) -> dict[str, object]:
    """An outcome on the wire."""
    span = outcome.span
    return {
        "test": outcome.test,
        "about": outcome.about,
        "holds": not outcome.failures,
        "failures": list(outcome.failures),
        "explanation": list(outcome.explanation),
        "place": {"source": span.source, "line": span.line, "column": span.column, "path": span.path},
    }
