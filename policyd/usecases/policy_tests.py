"""Policy tests: whether what a file expects holds, in each environment and of each agent, and why not.

Source: questions 1, 2, 3; interface, `test`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from policyd.core.edition import Rules
from policyd.findings import InputError, Span
from policyd.policytests import (
    CallExpectation,
    ChainExpectation,
    Expectation,
    OperationExpectation,
    PolicyTest,
    QueryExpectation,
    ReachExpectation,
    RetryExpectation,
    SagaExpectation,
    TestFile,
    test_file_of_json,
)
from policyd.report import Lines, no_lines
from policyd.syntax.denials.redaction import redacted_argument
from policyd.syntax.mistakes import shown
from policyd.usecases.deployments import Selection, described, load
from policyd.usecases.policy_tests_answers import (
    Found,
    Told,
    Touch,
    ask_call,
    ask_chain,
    ask_operation,
    ask_query,
    ask_reach,
    ask_retry,
    ask_saga,
)
from policyd.usecases.policy_tests_given import UNREADABLE, Beside, read_file
from policyd.usecases.policy_tests_subjects import (
    UNFIT,
    FromManifest,
    FromWallet,
    Subject,
    When,
    whole,
)
from policyd.usecases.tool_documents import PlainDocument, document_of

EVERY_TYPE = "*"
"""Stands for every agent type of the deployment."""

MAX_QUESTIONS = 50_000
"""So many expectations, over all agents and environments, are asked of one file."""

Stored = Callable[[str, Rules, str, tuple[Path, ...]], Subject]
"""The deployment at a place in the store; with the edition, the component and the definitions of the file."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the caller fixes for all files.

    Attributes:
        edition: replaces the file's, None to leave it.
        switches: set besides those of the file.
        environment: replaces the file's, None to leave them.
        include_root: files may lie anywhere below; None for the folder around that of the tests.
        budget: effort of a proof, in seconds.
        stored: finds places in the store.
        opened: the texts that an editor holds, by resolved path.
    """

    edition: str | None
    switches: Mapping[str, str]
    environment: str | None
    include_root: Path | None
    budget: float
    stored: Stored
    opened: Mapping[Path, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Case:
    """One expectation of one agent.

    Attributes:
        test: to which it belongs.
        agent: about whom; empty where nobody is named.
        expectation: what is expected.
        when: clock and scope card.
        wallet: whose cards decide; None for the deployment's.
    """

    test: PolicyTest
    agent: str
    expectation: Expectation
    when: When
    wallet: FromWallet | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one expectation.

    Attributes:
        case: the expectation.
        about: where, who and what is expected, in words.
        span: where it stands.
        failures: what does not hold, empty if all does.
        told: the whole answer of the verb.
        lines: that may be shown with it.
        touched: what it rests on.
        edition: the label of the rules.
    """

    case: Case
    about: str
    span: Span
    failures: tuple[str, ...]
    told: Told
    lines: Lines
    touched: frozenset[Touch]
    edition: str

    @property
    def test(self) -> str:
        """The name of the test."""
        return self.case.test.name


@dataclass(frozen=True, slots=True)
class TestRun:
    """A file of tests, put to one environment, one stored deployment, or to wallets only.

    Attributes:
        beside: the file.
        subject: the deployment; None where the file gives none.
        budget: effort of a proof, in seconds.
        rules: the edition.
        cases: in the order of the file.
        left_out: tests of the file that no run asks; with the first run only.
    """

    __test__ = False

    beside: Beside
    subject: Subject | None
    budget: float
    rules: Rules
    cases: tuple[Case, ...]
    left_out: tuple[str, ...] = ()

    @property
    def tests(self) -> TestFile:
        """What the file says."""
        return self.beside.tests

    @property
    def document(self) -> PlainDocument:
        """The file."""
        return self.beside.document

    def all(self) -> list[Outcome]:
        """What became of every expectation, in the order of the file."""
        return [self.outcome(case) for case in self.cases]

    def outcome(self, case: Case, subject: Subject | None = None) -> Outcome:
        """What became of one, put to another subject where one is given.

        Raises:
            InputError: for a question that cannot be asked, at the place of the expectation.
        """
        against = subject or self.subject
        try:
            found = self._asked(case, against)
        except InputError as error:
            first = error.findings[0]
            place = self.document.span(case.expectation.steps)
            raise InputError.of(first.code, first.message, place, first.help) from None
        holds = case.wallet or against
        lines = holds.lines if holds is not None else no_lines
        where = f"{against.name}: " if against is not None and case.wallet is None else ""
        who = f"{case.agent}: " if case.agent else ""
        about = f"{where}{who}{_words(case.expectation)}"
        place = self.document.span(case.expectation.steps)
        return Outcome(case, about, place, found.failures, found.told, lines, found.touched, self.rules.label)

    def _asked(self, case: Case, subject: Subject | None) -> Found:
        holds, expectation, agent, when = case.wallet or subject, case.expectation, case.agent, case.when
        if holds is None:
            help = "write `manifest`, `snapshot`, or a wallet under `given`"
            raise InputError.of(UNFIT, "nothing is given that could be asked about", None, help)
        if when.scope is not None and isinstance(expectation, QueryExpectation | ReachExpectation | SagaExpectation):
            help = "ask it in a test without the scope card, or expect single calls"
            raise InputError.of(
                UNFIT, "scope cards are left aside where all calls or sagas are asked about", None, help
            )
        match expectation:
            case CallExpectation():
                return ask_call(holds, self._somebody(case), expectation, when)
            case OperationExpectation():
                return ask_operation(holds, self._somebody(case), expectation, when)
            case QueryExpectation():
                return ask_query(holds, self._somebody(case), expectation, when, self.budget)
            case ReachExpectation():
                return ask_reach(whole(subject, case.wallet, "who reaches what"), agent, expectation, when, self.budget)
            case RetryExpectation():
                return ask_retry(whole(subject, case.wallet, "retry policies"), expectation)
            case SagaExpectation():
                return ask_saga(whole(subject, case.wallet, "sagas"), self._somebody(case), expectation)
            case ChainExpectation():
                return ask_chain(whole(subject, case.wallet, "chains of tools"), agent, expectation)

    def _somebody(self, case: Case) -> str:
        if not case.agent and case.wallet is None:
            raise InputError.of(UNFIT, "which agent is asked about?", None, "write `agent` or `agents` in the test")
        return case.agent


def runs_of(path: Path, settings: Settings) -> list[TestRun]:
    """A file, once for each environment or stored deployment.

    Raises:
        InputError: for a file, a manifest or a fixture that cannot be read, or an environment that is not there.
    """
    held = settings.opened.get(path.resolve()) if settings.opened else None
    document = read_file(path) if held is None else document_of(str(path), held)
    tests = document.surfaced(UNREADABLE, lambda: test_file_of_json(document.value))
    root = settings.include_root if settings.include_root is not None else document.folder / ".."
    beside = Beside(document, tests, root)
    rules = beside.rules(settings.edition, settings.switches)
    subjects = _subjects(beside, settings, rules)
    if settings.environment is None:
        _demand_environments(beside, [subject.name for subject in subjects if subject is not None])
    runs = [
        TestRun(beside, subject, settings.budget, rules, tuple(_cases(beside, subject, rules))) for subject in subjects
    ]
    count = sum(len(run.cases) for run in runs)
    if count > MAX_QUESTIONS:
        raise beside.mistake(("tests",), f"{count} expectations are too many, {MAX_QUESTIONS} are asked")
    if count == 0:
        message = f"no test of {shown(document.name)} is about {shown(settings.environment or '')}"
        raise InputError.of(UNFIT, message, document.span(("tests",)), "leave out `--env`, or name another one")
    asked = {id(case.test) for run in runs for case in run.cases}
    left_out = tuple(test.name for test in tests.tests if id(test) not in asked)
    return [replace(runs[0], left_out=left_out), *runs[1:]]


def _subjects(beside: Beside, settings: Settings, rules: Rules) -> list[Subject | None]:
    tests = beside.tests
    definitions = tuple(beside.path(name, ("definitions", i)) for i, name in enumerate(tests.definitions))
    if tests.manifest and tests.snapshots:
        raise beside.mistake(("manifest",), "`manifest` and `snapshot` exclude each other")
    found: list[Subject | None] = []
    if tests.snapshots:
        if settings.environment is not None:
            message = "a stored deployment has its own environment: `--env` cannot change it"
            raise InputError.of(UNFIT, message, beside.document.span(("snapshot",)), "leave it out")
        for index, place in enumerate(tests.snapshots):
            steps = ("snapshots", index) if "snapshots" in _keys(beside) else ("snapshot",)
            try:
                found.append(settings.stored(place, rules, tests.component, definitions))
            except InputError as error:
                first = error.findings[0]
                raise InputError.of(first.code, first.message, beside.document.span(steps), first.help) from None
        return found
    if not tests.manifest:
        return [None]
    path = beside.path(tests.manifest, ("manifest",))
    loaded = load(path, rules, settings.include_root, settings.opened)
    names: tuple[str | None, ...] = (settings.environment,)
    if settings.environment is None:
        own = [name for test in tests.tests for name in test.environments]
        names = tests.environments or tuple(dict.fromkeys(own)) or (None,)
    for name in names:
        selection = Selection(name, tests.presets, tests.account, tests.component)
        try:
            deployment = described(loaded, selection, rules)
        except InputError as error:
            if all(finding.span is not None for finding in error.findings):
                raise
            is_there = name is None or any(e.name == name for e in loaded.application.environments)
            about = "presets" if is_there else "env" if "env" in _keys(beside) else "envs"
            here = beside.document.span((about,))
            raise InputError(*(replace(f, span=f.span or here) for f in error.findings)) from None
        subject = FromManifest(deployment, selection, rules, path, settings.include_root, definitions)
        found.append(replace(subject, opened=settings.opened))
    return found


def _keys(beside: Beside) -> Mapping[str, object]:
    value = beside.document.value
    return value if isinstance(value, Mapping) else {}


def _demand_environments(beside: Beside, names: list[str]) -> None:
    """Refuse a test about an environment that the file does not name: it would never run."""
    for test in beside.tests.tests:
        for name in test.environments:
            if name not in names:
                known = ", ".join(f"`{known}`" for known in names) or "none"
                message = f"the file is not about an environment {shown(name)}"
                raise InputError.of(UNFIT, message, beside.document.span(test.steps), f"it is about {known}")


def _cases(beside: Beside, subject: Subject | None, rules: Rules) -> list[Case]:
    found: list[Case] = []
    for test in beside.tests.tests:
        if test.environments and (subject is None or subject.name not in test.environments):
            continue
        default = beside.tests.given
        given = default if test.given is None else replace(test.given, at=test.given.at or default.at)
        when, wallet = beside.when(given, rules), beside.wallet(given, rules)
        agents: list[str] = []
        for agent in test.agents:
            if subject is None or wallet is not None:
                agents.append(agent)
            else:
                agents += subject.agents if agent == EVERY_TYPE else [subject.called(agent)]
        for index, agent in enumerate(agents or [""]):
            for expectation in test.expectations:
                if isinstance(expectation, RetryExpectation):  # nobody's cards decide it
                    if index == 0:
                        found.append(Case(test, "", expectation, when, wallet))
                    continue
                found.append(Case(test, agent, expectation, when, wallet))
    return found


def _words(expectation: Expectation) -> str:
    """An expectation as it is named in reports."""
    match expectation:
        case CallExpectation():
            return expectation.target
        case OperationExpectation(operation, arguments):
            given = " ".join(f"{name}={_value(name, value)}" for name, value in arguments.items())
            return f"{operation} {given}".rstrip()
        case QueryExpectation():
            return f"{'never' if expectation.is_never else 'always'} {expectation.query}"
        case ReachExpectation():
            start = f" from {expectation.start}" if expectation.start else ""
            together = f" together with {expectation.together}" if expectation.together else ""
            return f"reach {expectation.query}{together}{start}"
        case RetryExpectation():
            given = f" {' '.join(expectation.properties)}" if expectation.properties else ""
            return f"retry {expectation.policy or expectation.site}{given}"
        case SagaExpectation():
            given = " ".join(f"{name}={value}" for name, value in expectation.options.items())
            return f"saga {given}".rstrip()
        case ChainExpectation():
            return f"chain {expectation.tool}"


def _value(name: str, value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(_value(name, each) for each in value)
    return redacted_argument(name, str(value))
