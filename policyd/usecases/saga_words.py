"""An answer about a saga as text and on the wire.

Source: questions 1, 5; interface.
"""

from __future__ import annotations

from policyd.core.retry import Facet
from policyd.core.retry.continuation import continuation_to_json
from policyd.core.retry.saga import SagaRun, SagaVerdict
from policyd.core.retry.saga_stability import Source, Stability
from policyd.findings import visible_lines
from policyd.report.durations import count_words, duration_words, range_words
from policyd.usecases.retry_bags import site_of
from policyd.usecases.retry_limits import one_limits_json
from policyd.usecases.retry_resolve import considered_words
from policyd.usecases.retry_saga import SagaAnswer
from policyd.usecases.saga_plan import Followed, followed_json, followed_lines
from policyd.usecases.saga_self_view import self_view_json, self_view_lines

MAX_SHOWN = 20
"""More decisions of a run are counted, not shown."""


def saga_line(answer: SagaAnswer) -> str:
    """The three facets in one line."""
    admitted = answer.admitted.value
    if answer.admitted is not Facet.YES and not answer.alternatives:
        admitted += f" ({answer.decided.verdict.value})"
    bounded = f"{answer.bounded.value}{_bound_words(answer)}"
    return f"admitted: {admitted} · bounded: {bounded} · replay-stable: {stable_words(answer)}"


def _bound_words(answer: SagaAnswer) -> str:
    limits = answer.limits
    if answer.decided.verdict is SagaVerdict.REWIND_UNBOUNDED:
        return " (rewound without limit)"
    if limits is None:
        return " (one attempt)" if answer.bounded is Facet.YES else ""
    if answer.bounded is not Facet.YES:
        return f" ({str(limits.limit_class.value).replace('_', '-')})"
    parts = []
    if limits.executions_max is not None:
        most = "" if limits.retries.exact else "at most "
        parts.append(most + count_words(limits.executions_max, "attempt"))
    if limits.total.at_most is not None:
        parts.append(("" if limits.total.exact else "at most ") + duration_words(limits.total.at_most))
    elif limits.horizon.at_most is not None:
        parts.append(f"retries within {duration_words(limits.horizon.at_most)}")
    return f" ({', '.join(parts)})" if parts else ""


def stable_words(answer: SagaAnswer) -> str:
    """The facet `replay-stable` with what it rests on."""
    stability, facet = answer.stability, answer.replay_stable
    if stability is None:
        if answer.decided.verdict is SagaVerdict.REWIND_UNBOUNDED:
            return f"{facet.value} (no policy is asked)"
        return facet.value
    if stability.word in ("no", "unknown"):
        labels = ", ".join(s.value for s in stability.sources[:1])
        return f"{facet.value} ({stability.why}: {labels})" if stability.why else str(facet.value)
    if facet is Facet.YES:
        return str(facet.value)
    acting = stability.acting
    if acting:
        others = [s.value for s in stability.operational if s not in acting]
        first = "; ".join(f"{_actor_words(stability, s)}: {s.value}" for s in acting)
        return f"{facet.value} ({first}" + (f"; also {', '.join(others)})" if others else ")")
    assumed = ", ".join(s.value for s in stability.operational)
    return f"{facet.value} (assumes that nobody edits policies, deploys or revokes meanwhile: {assumed})"


def _actor_words(stability: Stability, source: Source) -> str:
    actors = stability.actors
    names = {
        Source.ENVIRONMENT_EDITED: actors.editors,
        Source.DEPLOY_ADDS: actors.deployers,
        Source.SELF_VIEW_REVOKED: actors.revokers,
    }.get(source, ())
    who = ", ".join(f"`{name}`" for name in names)
    return f"{source.words} ({who})" if who else source.words


def saga_text(answer: SagaAnswer, followed: Followed | None = None) -> str:
    """The answer in words, and what follows the step that fails."""
    decided = answer.decided
    out = [saga_line(answer), ""]
    if answer.alternatives:
        out.append("it depends on what is not known:")
        out += [f"  {words}" for words in answer.alternatives]
    else:
        result = f", so that the caller gets `{decided.verdict.result}`" if decided.verdict.result else ""
        out.append(f"{decided.verdict.value}: {decided.why}{result}")
    for step in decided.all_reasons[1:]:
        out.append(f"  also {step.verdict.value}: {step.why}")
    if decided.policy is not None:
        rule = "the configured default" if decided.rule is None else f"`{decided.rule}`"
        out.append(f"policy: {rule}, identity {(decided.identity or '')[:12]}")
    out += self_view_lines(answer.seen)
    if decided.delay_low_ns is not None and decided.delay_high_ns is not None and answer.run is None:
        out.append(f"wait: {range_words(decided.delay_low_ns, decided.delay_high_ns)}")
    if answer.run is not None and answer.longest is not None and answer.run.retries:
        out += _run_lines(answer.run, answer.longest)
    if decided.selection is not None:
        site = site_of("saga")
        out.append("selection:")
        out += [
            f"  {c.rule.name} (priority {c.rule.priority}): {considered_words(c, site)}"
            for c in decided.selection.considered
        ]
    if answer.stability is not None:
        out.append("what could change the selection:")
        out += [f"  {s.value}: {s.words}" for s in answer.stability.sources]
    if followed is not None:
        out += followed_lines(followed)
    out += [f"note: {warning}" for warning in answer.warnings]
    if answer.advice:
        out.append(f"advice: {answer.advice}")
    out.append(f"edition: {answer.rules.label}")
    return visible_lines(out)


def _run_lines(run: SagaRun, longest: SagaRun) -> list[str]:
    waits = [range_words(low, high) for (low, _), (_, high) in zip(run.waits_ns, longest.waits_ns, strict=False)][
        :MAX_SHOWN
    ]
    more = f", … ({run.retries - len(waits)} more)" if run.retries > len(waits) else ""
    end = run.end
    out = [f"course: {count_words(run.retries, 'retry', 'retries')} after {', '.join(waits)}{more}"]
    if end.verdict is SagaVerdict.ADMITTED_RETRY:
        out.append(f"  still retrying after {count_words(len(run.decisions), 'attempt')}")
    else:
        low, high = run.elapsed_ns[-1], longest.elapsed_ns[-1]
        out.append(
            f"  then {end.verdict.value} at attempt {len(run.decisions)}, {range_words(low, high)} after the start"
        )
    return out


def saga_json(answer: SagaAnswer, followed: Followed | None = None) -> dict[str, object]:
    """The answer on the wire, and what follows the step that fails."""
    decided, stability = answer.decided, answer.stability
    onward = decided.continuation
    return {
        "agent": answer.agent,
        "admitted": answer.admitted.value,
        "bounded": answer.bounded.value,
        "replayStable": answer.replay_stable.value,
        "verdict": None if answer.alternatives else decided.verdict.value,
        "result": decided.verdict.result or None,
        "why": decided.why,
        "alternatives": list(answer.alternatives),
        "reasons": [{"verdict": step.verdict.value, "why": step.why} for step in decided.all_reasons],
        "rule": decided.rule,
        "policy": decided.identity,
        "delayNs": None
        if decided.delay_low_ns is None
        else {"min": str(decided.delay_low_ns), "max": str(decided.delay_high_ns)},
        "nextAttempt": None if onward is None else onward.attempt + 1,
        "continuation": None if onward is None else continuation_to_json(onward),
        "bounds": None if decided.limits is None else one_limits_json(decided.limits),
        "stability": None if stability is None else stability.word,
        "firstUnstableAttempt": None if stability is None else stability.at,
        "instability": [] if stability is None else [s.value for s in stability.sources],
        "retriesLeft": _retries_left(answer),
        "course": None if answer.run is None else _run_json(answer.run),
        "steps": None if followed is None else followed_json(followed),
        "selfView": answer.seen.words,
        "selfMetadata": self_view_json(answer.seen),
        "warnings": list(answer.warnings),
        "advice": answer.advice or None,
        "edition": answer.rules.edition.value,
        "switches": dict(answer.rules.overrides),
    }


def _retries_left(answer: SagaAnswer) -> dict[str, object] | None:
    """How many retries can follow this decision, its own among them."""
    limits, decided = answer.limits, answer.decided
    if limits is None:
        return None
    if decided.continuation is None:
        return {"min": 0, "max": 0}
    most = limits.retries.at_most
    done = decided.continuation.attempt - 1
    return {"min": 1, "max": None if most is None else max(1, most - done)}


def _run_json(run: SagaRun) -> dict[str, object]:
    return {
        "retries": run.retries,
        "waitsNs": [{"min": str(low), "max": str(high)} for low, high in run.waits_ns],
        "elapsedNs": [str(ns) for ns in run.elapsed_ns],
        "end": run.end.verdict.value,
        "result": run.end.verdict.result or None,
    }
