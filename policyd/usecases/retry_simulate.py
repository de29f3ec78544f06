"""How the retries of a policy go: attempts, waits, and when it gives up.

Source: retry 4, 5.7; questions 2 (schedule).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from policyd.core.edition import Rules
from policyd.core.retry import (
    Aborts,
    Domain,
    Elapsed,
    Failed,
    Integer,
    Limits,
    NamedPolicy,
    Policy,
    PropertyValue,
    Retry,
    Schedule,
    Verdict,
    limits_of,
    lower_end,
    run_schedule,
    upper_end,
)
from policyd.core.retry.limits import effort_for
from policyd.core.retry.policy import Clamp, FilteredOn, Jitter, TimeBox, nodes_of
from policyd.findings import visible_lines
from policyd.report.durations import count_words, duration_words, range_words

MAX_SHOWN_WAITS = 12
"""More waits than this are shown by their beginning and their end."""

MAX_FOLLOWED = 10_000
"""Retries after which a run is followed no further."""

MIN_FOLLOWED = 100
"""Retries up to which a run is always followed, however much work the question is."""

MAX_RUNS = 100_000

MAX_WORK = 2_000_000
"""Decisions times nodes that the runs of one question may take, a share for each of its policies."""

PERCENTILES = (5, 25, 50, 75, 95, 99)


def elapsed_of(rules: Rules) -> Elapsed:
    """What the host gives as the elapsed time."""
    return Elapsed.REAL if rules.is_next("elapsed") else Elapsed.ZERO


@dataclass(frozen=True, slots=True)
class Distribution:
    """Total waits of many runs with random jitter.

    Attributes:
        runs: how many.
        seed: from which the jitter comes; the same seed gives the same figures.
        totals_ns: percentile to total wait.
        retries: percentile to retries.
    """

    runs: int
    seed: int
    totals_ns: tuple[tuple[int, int], ...]
    retries: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Course:
    """The course of one policy.

    Attributes:
        name: of the rule.
        policy: its tree.
        low: the run with no jitter.
        high: the run with all jitter.
        limits: where any run ends.
        rules: the edition.
        execution_ns: what each execution takes.
        bag: what the filters see.
        distribution: of random runs, None where none were asked for.
    """

    name: str
    policy: Policy
    low: Schedule
    high: Schedule
    limits: Limits
    rules: Rules
    execution_ns: int
    bag: Mapping[str, PropertyValue]
    distribution: Distribution | None

    @property
    def ranges_ns(self) -> tuple[tuple[int, int], ...]:
        """The waits in order: without jitter, and with all of it."""
        return tuple(zip(self.low.delays_ns, self.high.delays_ns, strict=False))

    @property
    def end(self) -> Verdict | None:
        """How the run without jitter ends; None where it was left."""
        return self.low.decisions[-1].verdict if self.low.stopped else None


def course_of(
    rule: NamedPolicy,
    rules: Rules,
    *,
    bag: Mapping[str, PropertyValue] | None = None,
    counts_attempts: bool = False,
    execution_ns: int = 0,
    runs: int = 0,
    seed: int = 0,
    max_retries: int = MAX_FOLLOWED,
    among: int = 1,
) -> Course:
    """Follow a policy from its first failure on.

    Args:
        rule: the rule.
        rules: the edition.
        bag: what its filters see at every decision.
        counts_attempts: whether the bag of decision k also holds `attempt` = k, as at a saga.
        execution_ns: what each execution takes; counts as elapsed time before every decision.
        runs: random runs for a distribution; 0 for none.
        seed: of their jitter.
        max_retries: how far a run is followed.
        among: how many policies the question is about; the work is shared between them.
    """
    base = dict(bag or {})
    at: Callable[[int], Mapping[str, PropertyValue]] = (
        (lambda k: {**base, "attempt": Integer(k)}) if counts_attempts else (lambda k: base)
    )

    nodes = sum(1 for _ in nodes_of(rule.policy))
    work = max(1, MAX_WORK // (nodes * max(1, among)))
    max_retries = max(min(max_retries, MIN_FOLLOWED), min(max_retries, work // 2))

    def run(draw: Callable[[float], float], steps: int = max_retries + 1) -> Schedule:
        real = elapsed_of(rules) is Elapsed.REAL
        return run_schedule(rule.policy, at, steps, draw=draw, execution_ns=execution_ns, real_elapsed=real)

    low, high = run(lower_end), run(upper_end)
    limits = limits_of(
        rule.policy, elapsed_of(rules), Domain(fixed=base, attempt=counts_attempts), effort_for(rule.policy, among)
    )
    distribution = _distribution(run, len(low.decisions), min(runs, work), seed, work) if runs else None
    return Course(rule.name, rule.policy, low, high, limits, rules, execution_ns, base, distribution)


def _distribution(
    run: Callable[[Callable[[float], float]], Schedule], decisions: int, runs: int, seed: int, work: int
) -> Distribution:
    runs = min(runs, MAX_RUNS, max(1, work // max(1, decisions)))
    source = random.Random(seed)

    def draw(factor: float) -> float:
        return source.random() * factor

    totals: list[int] = []
    retries: list[int] = []
    for _ in range(runs):
        schedule = run(draw)
        totals.append(schedule.total_ns)
        retries.append(len(schedule.delays_ns))
    totals.sort()
    retries.sort()
    return Distribution(
        runs, seed,
        tuple((p, _percentile(totals, p)) for p in PERCENTILES),
        tuple((p, _percentile(retries, p)) for p in PERCENTILES),
    )  # fmt: skip


def _percentile(sorted_values: list[int], percent: int) -> int:
    """The nearest-rank percentile."""
    rank = -(-percent * len(sorted_values) // 100)
    return sorted_values[max(0, rank - 1)]


def uniform_jitter(course: Course) -> float | None:
    """The factor by which every wait may grow, where it is the same for all; None where it is not, or there is none."""
    jitters = [n for n in nodes_of(course.policy) if isinstance(n, Jitter) and n.factor > 0]
    if len(jitters) != 1 or not course.ranges_ns:
        return None
    factor = jitters[0].factor
    same = all(abs((high - low) - low * factor) <= 1 for low, high in course.ranges_ns)
    return factor if same and len(course.low.delays_ns) == len(course.high.delays_ns) else None


def course_text(course: Course, outage_ns: int | None = None) -> str:
    """The course in one sentence, and what else must be said of it, a line each.

    Args:
        course: of one policy.
        outage_ns: how long a peer is away after the first failure; None where that is not asked.
    """
    out = [f"{course.name}: {course_sentence(course)}"]
    if course.distribution is not None:
        out.append(_distribution_text(course.distribution))
    if outage_ns is not None:
        out.append(_outage_words(course, outage_ns))
    out += _remarks(course)
    return visible_lines(out)


def _outage_words(course: Course, outage_ns: int) -> str:
    """Whether some attempt comes when the peer is back."""
    last = (course.low.total_ns, course.high.total_ns)
    away = duration_words(outage_ns)
    if not course.low.stopped or last[0] >= outage_ns:
        return f"outlasts an outage of {away}"
    if last[1] >= outage_ns:
        return f"outlasts an outage of {away} only with enough jitter"
    return f"does not outlast an outage of {away}: the last attempt comes at {range_words(*last)}, too early"


def course_sentence(course: Course) -> str:
    """Attempts, waits and the end in one sentence."""
    waits = course.ranges_ns
    count = len(course.low.delays_ns)
    if not course.low.stopped:
        bound = course.limits.retries
        if bound.at_most is None:
            head = "no greatest number of attempts" if bound.exact else "no known greatest number of attempts"
        else:
            head = f"at most {bound.at_most + 1} attempts in all (1 + {bound.at_most} retries)"
        return f"{head}; waits {_waits(course)}, and so on; {_still(course)}"
    end = _end_words(course)
    if count == 0:
        return f"1 attempt in all, no retry; {end} at the first failure"
    head = f"{count + 1} attempts in all (1 + {count_words(count, 'retry', 'retries')})"
    if len(course.high.delays_ns) != count:
        head += f", or {len(course.high.delays_ns) + 1} with all jitter"
    low, high = course.low.total_ns, course.high.total_ns
    when = (
        f"{end} {duration_words(low)} after the first failure"
        if low == high
        else f"{end} between {duration_words(low)} and {duration_words(high)} after the first failure"
    )
    assert waits
    return f"{head}; waits {_waits(course)}; {when}"


def _still(course: Course) -> str:
    total = course.low.total_ns
    horizon = course.limits.horizon.at_most
    if horizon is not None:
        return f"retries as long as less than {duration_words(horizon)} have passed since the first failure"
    count = count_words(len(course.low.delays_ns), "retry", "retries")
    return f"still retrying after {count} and {duration_words(total)}"


def _end_words(course: Course) -> str:
    match course.end:
        case Failed():
            return "ends with an error of the policy"
        case Aborts(label):
            return f"aborts the host ({label.text})"
        case _:
            return "gives up"


def _waits(course: Course) -> str:
    factor = uniform_jitter(course)
    waits = course.ranges_ns
    words = [
        duration_words(low) if factor is not None else range_words(low, high)
        for low, high in (waits if len(waits) <= MAX_SHOWN_WAITS else waits[: MAX_SHOWN_WAITS - 2])
    ]
    if len(waits) > MAX_SHOWN_WAITS and course.low.stopped:
        low, high = waits[-1]
        last = duration_words(low) if factor is not None else range_words(low, high)
        words += [f"… ({len(waits) - MAX_SHOWN_WAITS + 1} more)", f"the last one {last}"]
    text = ", ".join(words)
    return text if factor is None else f"{text}, plus up to {percent(factor)} jitter"


def percent(factor: float) -> str:
    """A factor as a percentage.

    >>> percent(0.15), percent(0.125)
    ('15 %', '12.5 %')
    """
    return f"{round(factor * 100, 4):g} %"


def _distribution_text(distribution: Distribution) -> str:
    parts = [f"{p} % within {duration_words(total)}" for p, total in distribution.totals_ns]
    text = f"{distribution.runs} runs (seed {distribution.seed}): total wait {', '.join(parts)}"
    if len({count for _, count in distribution.retries}) > 1:
        counts = ", ".join(f"{p} %: {count}" for p, count in distribution.retries)
        text += f"; retries {counts}"
    return text


def _remarks(course: Course) -> list[str]:
    out: list[str] = []
    nodes = tuple(nodes_of(course.policy))
    boxed = any(isinstance(n, TimeBox) and n.limit_ns for n in nodes)
    if boxed and elapsed_of(course.rules) is Elapsed.ZERO:
        out.append("note: the host gives 0 as the elapsed time, so that no time box ends these retries")
    elif boxed and course.execution_ns == 0:
        out.append("note: executions are taken for instantaneous; time that they take counts against the time box")
    if any(isinstance(n, FilteredOn) for n in nodes):
        seen = ", ".join(f"`{n}` = `{_shown(v)}`" for n, v in sorted(course.bag.items())) or "nothing"
        out.append(f"note: its filters see {seen}")
    if any(isinstance(n, Clamp) and n.low_ns > n.high_ns for n in nodes):
        out.append("note: a clamp with its ends the wrong way round aborts the host when a delay comes through")
    if course.limits.storm:
        out.append("note: many retries can follow each other without a wait worth the name")
    return out


def _shown(value: PropertyValue) -> str:
    return str(value.value).lower() if isinstance(value.value, bool) else str(value.value)


def course_json(course: Course) -> dict[str, object]:
    """The course on the wire; durations are decimal texts of nanoseconds."""
    end = course.end
    return {
        "policy": course.name,
        "attempts": len(course.low.delays_ns) + 1 if course.low.stopped else None,
        "retries": len(course.low.delays_ns) if course.low.stopped else None,
        "waits": [{"minNs": str(low), "maxNs": str(high)} for low, high in course.ranges_ns[:MAX_FOLLOWED]],
        "totalMinNs": str(course.low.total_ns),
        "totalMaxNs": str(course.high.total_ns),
        "end": None if end is None else type(end).__name__ if not isinstance(end, Retry) else None,
        "sentence": course_sentence(course),
        "notes": [line.removeprefix("note: ") for line in _remarks(course)],
        "distribution": None if course.distribution is None else _distribution_json(course.distribution),
        "edition": course.rules.edition.value,
        "switches": dict(course.rules.overrides),
    }


def _distribution_json(distribution: Distribution) -> dict[str, object]:
    return {
        "runs": distribution.runs,
        "seed": distribution.seed,
        "totalNs": {str(p): str(total) for p, total in distribution.totals_ns},
        "retries": {str(p): count for p, count in distribution.retries},
    }
