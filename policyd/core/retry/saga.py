"""Whether a failed saga is tried again: the decision after one attempt, and the run of all of them.

Source: retry 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

from policyd.core.edition import NEXT, Rules
from policyd.core.retry.context import saga_bag
from policyd.core.retry.continuation import Continuation, IdentityChoice, identity_of
from policyd.core.retry.defects import Defect, defects_of
from policyd.core.retry.domain import Domain
from policyd.core.retry.duration import add_durations
from policyd.core.retry.errors import Label
from policyd.core.retry.limits import Elapsed, Limits, limits_of
from policyd.core.retry.policy import NamedPolicy, Policy, RetryConfig, default_rule
from policyd.core.retry.resolve import Resolver, RuleSet, Selection
from policyd.core.retry.state import State, initial_state
from policyd.core.retry.step import Aborts, Draw, Failed, GiveUp, Retry, lower_end, step, upper_end
from policyd.core.retry.value import CoercionFailed, EvaluationError, InvalidState, PropertyNotFound

MAX_DECISIONS = 10_000
"""A run of a saga is followed no further."""


class Form(Enum):
    """The two forms of a transaction."""

    FALLIBLE = "fallible"
    INFALLIBLE = "infallible"


class Body(Enum):
    """How the body of an attempt ended."""

    OK = "ok"
    FAILED = "failed"
    TRAPPED = "trapped"


class Compensation(Enum):
    """How the compensations of a failed attempt ended."""

    OK = "ok"
    FAILED = "failed"
    TRAPPED = "trapped"


class SelfView(Enum):
    """Whether the agent may read its own metadata."""

    GRANTED = "granted"
    DENIED = "denied"


class Admission(Enum):
    """How the host's test for bounded policies is read.

    Source: retry 5.8.
    """

    LENIENT = "lenient"
    STRICT = "strict"


class SagaVerdict(Enum):
    """What becomes of a saga after one attempt.

    Source: retry 6.3.
    """

    COMMITTED = "COMMITTED"
    NOT_A_SAGA_DECISION = "NOT_A_SAGA_DECISION"
    NOT_RETRIED_FALLIBLE = "NOT_RETRIED_FALLIBLE"
    NOT_RETRIED_PARTIAL_ROLLBACK = "NOT_RETRIED_PARTIAL_ROLLBACK"
    REWIND_UNBOUNDED = "REWIND_UNBOUNDED"
    REJECTED_IDENTITY_DENIED = "REJECTED_IDENTITY_DENIED"
    REJECTED_PREDICATE_ERROR = "REJECTED_PREDICATE_ERROR"
    REJECTED_INVALID_POLICY = "REJECTED_INVALID_POLICY"
    REJECTED_UNBOUNDED = "REJECTED_UNBOUNDED"
    REJECTED_BAD_CONTINUATION = "REJECTED_BAD_CONTINUATION"
    REJECTED_POLICY_CHANGED = "REJECTED_POLICY_CHANGED"
    EXHAUSTED = "EXHAUSTED"
    ADMITTED_RETRY = "ADMITTED_RETRY"

    @property
    def result(self) -> str:
        """What the caller of the transaction gets; empty where it is not over, or where traps are handled.

        Source: retry 6.1, 6.3.
        """
        return _RESULTS.get(self, "RetryPolicyError" if self.name.startswith("REJECTED_") else "")


_RESULTS = {
    SagaVerdict.COMMITTED: "Ok",
    SagaVerdict.NOT_RETRIED_FALLIBLE: "FailedAndRolledBackCompletely",
    SagaVerdict.NOT_RETRIED_PARTIAL_ROLLBACK: "FailedAndRolledBackPartially",
    SagaVerdict.EXHAUSTED: "RetryExhausted",
}


_SERVICE = RetryConfig()


@dataclass(frozen=True, slots=True)
class SagaRules:
    """What decides about the sagas of an agent.

    Attributes:
        policies: the effective rules in the order of selection, the built-in one among them unless it is hidden.
        config: makes the configured default, which decides where no rule matches.
        edition: the edition.
        identity: what counts as the same policy.
        admission: how the host's test is read.
        resolver: how the saga site selects.
    """

    policies: tuple[NamedPolicy, ...]
    config: RetryConfig = _SERVICE
    edition: Rules = NEXT
    identity: IdentityChoice = IdentityChoice.TREE
    admission: Admission = Admission.LENIENT
    resolver: Resolver = Resolver.STRICT
    _ready: RuleSet = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the rules ready once: a saga selects at each decision."""
        object.__setattr__(self, "_ready", RuleSet.of(self.policies))

    @property
    def elapsed(self) -> Elapsed:
        """What the host gives as the elapsed time."""
        return Elapsed.REAL if self.edition.is_next("elapsed") else Elapsed.ZERO

    def select(self, urn: str, attempt: int) -> Selection:
        """The selection for one decision, without the configured default."""
        return self._ready.select(saga_bag(urn, attempt).properties, self.resolver)

    def limits(self, policy: Policy, urn: str) -> Limits:
        """Where the retries of a policy end at the saga site."""
        return _limits(policy, self.elapsed, urn)

    def admits(self, limits: Limits) -> bool:
        """Whether the host's test lets a policy of these limits through."""
        return limits.is_admissible if self.admission is Admission.LENIENT else limits.is_strictly_admissible


@lru_cache(maxsize=64)
def _limits(policy: Policy, elapsed: Elapsed, urn: str) -> Limits:
    """The limits of a policy, which every decision of a saga asks for again."""
    fixed = {n: v for n, v in saga_bag(urn, 1).properties.items() if n != "attempt"}
    return limits_of(policy, elapsed, Domain(fixed=fixed, attempt=True))


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a saga that is to be decided about.

    Attributes:
        urn: of the agent.
        number: from 1.
        form: of the transaction.
        body: how the body ended.
        compensation: how the compensations ended; of no meaning after a body that did not fail.
        self_view: whether the agent may read its own metadata at this moment.
        continuation: of the decision before, None for the first.
        elapsed_ns: time since the saga began.
    """

    urn: str
    number: int = 1
    form: Form = Form.INFALLIBLE
    body: Body = Body.FAILED
    compensation: Compensation = Compensation.OK
    self_view: SelfView = SelfView.GRANTED
    continuation: Continuation | None = None
    elapsed_ns: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One step that rejects.

    Attributes:
        verdict: what it rejects with.
        why: in words.
    """

    verdict: SagaVerdict
    why: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The answer to one attempt.

    Attributes:
        verdict: what becomes of the saga.
        why: in words.
        rule: the name of the rule selected; None for the configured default, or where none was looked for.
        policy: the tree that decides, None where none was looked for.
        identity: of that tree, None where none was looked for.
        delay_low_ns: the shortest wait of a retry, None for no retry.
        delay_high_ns: the longest.
        continuation: for the next decision, None for no retry.
        limits: of the policy, None where none was looked for.
        selection: the trace of the selection, None where none was made.
        all_reasons: every step that rejects, the first of which is the verdict.
    """

    verdict: SagaVerdict
    why: str
    rule: str | None = None
    policy: Policy | None = None
    identity: str | None = None
    delay_low_ns: int | None = None
    delay_high_ns: int | None = None
    continuation: Continuation | None = None
    limits: Limits | None = None
    selection: Selection | None = None
    all_reasons: tuple[Step, ...] = ()


def decide(attempt: Attempt, rules: SagaRules) -> Decided:
    """Decide about one attempt.

    Source: retry 6.3.
    """
    early = _before_policies(attempt, rules)
    if early is not None:
        return early
    reasons: list[Step] = []
    if attempt.self_view is SelfView.DENIED:
        why = "the agent may not read its own metadata, which every decision needs"
        reasons.append(Step(SagaVerdict.REJECTED_IDENTITY_DENIED, why))
    selection = rules.select(attempt.urn, attempt.number)
    if selection.error is not None:
        failing = next(c.rule.name for c in selection.considered if c.error is selection.error)
        why = f"the predicate of `{failing}` fails: {error_text(selection.error)}"
        reasons.append(Step(SagaVerdict.REJECTED_PREDICATE_ERROR, why))
        return _rejected(reasons, selection=selection)
    chosen = selection.rule
    policy = default_rule(rules.config).policy if chosen is None else chosen.policy
    limits = rules.limits(policy, attempt.urn)
    identity = identity_of(chosen, policy, rules.identity)
    name = None if chosen is None else chosen.name
    reasons += unfit(policy, limits, rules)
    reasons += _broken_continuation(attempt, policy, identity)
    state = attempt.continuation.state if attempt.continuation is not None else initial_state(policy)
    at = attempt.elapsed_ns if rules.elapsed is Elapsed.REAL else 0
    after, low = _stepped(attempt, policy, state, at, lower_end)
    _, high = _stepped(attempt, policy, state, at, upper_end)
    match low:
        case Failed(error):
            why = f"a filter of the policy fails: {error_text(error)}"
            verdict = SagaVerdict.REJECTED_PREDICATE_ERROR
            if isinstance(error, InvalidState):
                verdict = SagaVerdict.REJECTED_BAD_CONTINUATION
            reasons.append(Step(verdict, why))
        case GiveUp():
            why = f"the policy gives up after {_retries(attempt.number - 1)}"
            reasons.append(Step(SagaVerdict.EXHAUSTED, why))
        case Aborts(label):
            reasons.append(Step(SagaVerdict.REJECTED_INVALID_POLICY, f"stepping it would abort the host: {label.text}"))
        case Retry():
            pass
    if reasons:
        unique = tuple(dict.fromkeys(reasons))
        return Decided(
            unique[0].verdict, unique[0].why, name, policy, identity, limits=limits, selection=selection,
            all_reasons=unique,
        )  # fmt: skip
    assert isinstance(low, Retry)  # everything else was a reason
    assert isinstance(high, Retry)  # jitter changes delays only
    started = attempt.continuation.started_ns if attempt.continuation is not None else 0
    onward = Continuation(identity, name, attempt.number, after, started, attempt.elapsed_ns)
    return Decided(
        SagaVerdict.ADMITTED_RETRY, "the policy retries", name, policy, identity, low.delay_ns, high.delay_ns, onward,
        limits, selection,
    )  # fmt: skip


def _before_policies(attempt: Attempt, rules: SagaRules) -> Decided | None:
    """What is decided without any policy: steps 1 to 3."""
    asks = rules.edition.is_next("saga")
    if attempt.body is Body.OK:
        return Decided(SagaVerdict.COMMITTED, "the body succeeded")
    if attempt.body is Body.TRAPPED:
        return Decided(SagaVerdict.NOT_A_SAGA_DECISION, "the body trapped: the handling of traps decides")
    if attempt.compensation is Compensation.TRAPPED:
        return Decided(SagaVerdict.NOT_A_SAGA_DECISION, "a compensation trapped: the handling of traps decides")
    if attempt.compensation is Compensation.FAILED:
        if not asks and attempt.form is Form.INFALLIBLE:
            why = "a compensation failed, at which the SDK panics: the handling of traps decides"
            return Decided(SagaVerdict.NOT_A_SAGA_DECISION, why)
        why = "a compensation failed; compensations are never repeated"
        return Decided(SagaVerdict.NOT_RETRIED_PARTIAL_ROLLBACK, why)
    if attempt.form is Form.FALLIBLE:
        return Decided(SagaVerdict.NOT_RETRIED_FALLIBLE, "the fallible form runs once and asks no policy")
    if not asks:
        why = "the log is rewound at once and without limit; no policy is asked and no permission is needed"
        return Decided(SagaVerdict.REWIND_UNBOUNDED, why)
    return None


def _rejected(reasons: list[Step], *, selection: Selection) -> Decided:
    return Decided(reasons[0].verdict, reasons[0].why, selection=selection, all_reasons=tuple(reasons))


def unfit(policy: Policy, limits: Limits, rules: SagaRules) -> Iterator[Step]:
    """Why a policy is not admitted whatever the attempt (step 6); nothing for one that is.

    Source: retry 6.3; a factor that is not above 0 does not reject.
    """
    wrong: Defect | None = next(
        (d for d in defects_of(policy) if d.label in (Label.CLAMP_RANGE, Label.FACTOR_NOT_FINITE)), None
    )
    if wrong is not None:
        yield Step(SagaVerdict.REJECTED_INVALID_POLICY, wrong.message)
    if not rules.admits(limits):
        kind = limits.limit_class.value.replace("_", "-")
        yield Step(SagaVerdict.REJECTED_UNBOUNDED, f"the policy is {kind}, and is not replaced by any other")


def _broken_continuation(attempt: Attempt, policy: Policy, identity: str) -> Iterator[Step]:
    """Step 7: whether the continuation belongs to this decision, and the policy is still the same."""
    known = attempt.continuation
    bad = SagaVerdict.REJECTED_BAD_CONTINUATION
    if attempt.number == 1:
        if known is not None:
            yield Step(bad, "the first decision has no continuation")
        return
    if known is None:
        yield Step(bad, f"decision {attempt.number} needs the continuation of the one before")
        return
    if known.attempt != attempt.number - 1:
        yield Step(bad, f"the continuation is of attempt {known.attempt}, not {attempt.number - 1}")
    if known.elapsed_ns > attempt.elapsed_ns:
        yield Step(bad, "the continuation is of a later moment")
    if known.policy != identity:
        yield Step(SagaVerdict.REJECTED_POLICY_CHANGED, "the effective policy is another than at the attempt before")
    elif not known.fits(policy):
        yield Step(bad, "the state in the continuation does not fit the policy")


def _stepped(
    attempt: Attempt, policy: Policy, state: State, elapsed_ns: int, draw: Draw
) -> tuple[State, Retry | GiveUp | Failed | Aborts]:
    return step(policy, state, elapsed_ns, saga_bag(attempt.urn, attempt.number).properties, draw)


def error_text(error: EvaluationError) -> str:
    """A failed evaluation in words."""
    match error:
        case PropertyNotFound(name):
            return f"`{name}` does not exist there"
        case CoercionFailed(name, value, target):
            return f"`{name}` = `{value.value}` cannot be compared as {target.value.lower()}"
        case _:
            return "the stored state does not fit"


def _retries(count: int) -> str:
    return "1 retry" if count == 1 else f"{count} retries"


def wait_left_ns(recorded_ns: int, passed_ns: int) -> int:
    """What is still waited of a recorded delay after a crash: the timer goes on, and no retry is used for it.

    >>> wait_left_ns(30, 10), wait_left_ns(30, 45)
    (20, 0)

    Source: retry 6.6.
    """
    return max(0, recorded_ns - passed_ns)


@dataclass(frozen=True, slots=True)
class SagaRun:
    """A saga that fails at every attempt.

    Attributes:
        decisions: in order, the last one not a retry unless the run was left.
        elapsed_ns: at each decision.
    """

    decisions: tuple[Decided, ...]
    elapsed_ns: tuple[int, ...]

    @property
    def waits_ns(self) -> tuple[tuple[int, int], ...]:
        """Shortest and longest of each wait."""
        return tuple(
            (d.delay_low_ns, d.delay_high_ns)
            for d in self.decisions
            if d.delay_low_ns is not None and d.delay_high_ns is not None
        )

    @property
    def retries(self) -> int:
        """How many retries were admitted."""
        return len(self.waits_ns)

    @property
    def end(self) -> Decided:
        """The last decision."""
        return self.decisions[-1]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What may differ from decision to decision; each is asked with the number of the attempt.

    Attributes:
        rules: what decides.
        self_view: whether the metadata may be read.
    """

    rules: Callable[[int], SagaRules]
    self_view: Callable[[int], SelfView] = field(default=lambda _: SelfView.GRANTED)


def run_saga(
    urn: str,
    circumstances: Circumstances,
    *,
    body_ns: int = 0,
    compensation_ns: int = 0,
    max_decisions: int = MAX_DECISIONS,
    high: bool = False,
) -> SagaRun:
    """Follow an infallible saga whose body fails at every attempt and is compensated.

    Args:
        urn: of the agent.
        circumstances: what decides at each attempt.
        body_ns: what each body takes.
        compensation_ns: what each pass of compensations takes.
        max_decisions: how far it is followed.
        high: whether waits are taken with all jitter rather than none.

    Source: retry 6.3, 6.8.
    """
    decisions: list[Decided] = []
    moments: list[int] = []
    continuation: Continuation | None = None
    elapsed = 0
    for number in range(1, min(max_decisions, MAX_DECISIONS) + 1):
        elapsed = add_durations(elapsed, add_durations(body_ns, compensation_ns))
        seen = circumstances.self_view(number)
        attempt = Attempt(urn, number, self_view=seen, continuation=continuation, elapsed_ns=elapsed)
        decided = decide(attempt, circumstances.rules(number))
        decisions.append(decided)
        moments.append(elapsed)
        wait = decided.delay_high_ns if high else decided.delay_low_ns
        if wait is None:
            break
        continuation = decided.continuation
        elapsed = add_durations(elapsed, wait)
    return SagaRun(tuple(decisions), tuple(moments))
