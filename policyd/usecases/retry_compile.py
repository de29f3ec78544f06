"""A policy as a user-space schedule: whether it compiles, and where it differs from the host with the same tree.

Source: retry 7; sdk-facts 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.edition import Rules
from policyd.core.retry import Domain, Elapsed, Facet, Limits, Policy, limits_of
from policyd.core.retry.compiled_schedule import CompileProblem, compile_problem
from policyd.core.retry.domain import ATTEMPT
from policyd.core.retry.policy import FilteredOn, TimeBox, mentions, nodes_of
from policyd.core.retry.predicate import PropText, TextTest, leaves
from policyd.findings import visible_lines
from policyd.report.durations import duration_words
from policyd.usecases.retry_limits import amount_words, one_limits_json, total_words

IN_FUNCTION_LIMIT_NS = 20 * 10**9
SDKS = ("rust", "ts", "scala", "moonbit", "go", "effect")
_OTHER_GLOB = frozenset("/[{!\\")


@dataclass(frozen=True, slots=True)
class CompiledSchedule:
    """The answer.

    Attributes:
        problem: why it does not compile, None where it does.
        limits: of the schedule, real time and an empty bag; None where it does not compile.
        differences: against the host with the same tree, a sentence each.
        sdk: whose helper it is.
        rules: the edition.
    """

    problem: CompileProblem | None
    limits: Limits | None
    differences: tuple[str, ...]
    sdk: str
    rules: Rules


def compile_schedule(policy: Policy, sdk: str, rules: Rules, *, with_properties: bool = False) -> CompiledSchedule:
    """Compile a policy as the SDK's helper does.

    Args:
        policy: the tree; name, priority and selector of a rule play no part.
        sdk: whose helper, a word of `SDKS`.
        rules: the edition of the host that it is compared with.
        with_properties: whether the caller gives properties of each error; else filters see an empty bag.
    """
    problem = compile_problem(policy)
    if problem is not None:
        return CompiledSchedule(problem, None, (), sdk, rules)
    limits = limits_of(policy, Elapsed.REAL, Domain(open_world=with_properties))
    found = tuple(_differences(policy, sdk, rules, limits, with_properties=with_properties))
    return CompiledSchedule(None, limits, found, sdk, rules)


def _differences(policy: Policy, sdk: str, rules: Rules, limits: Limits, *, with_properties: bool) -> Iterator[str]:
    """Where the schedule and the host part.

    Source: retry 7.1, 7.4.
    """
    nodes = tuple(nodes_of(policy))
    yield "it installs no rule: the host's `get` and `resolve` never see it, and it leaves no retry entries in the log"
    yield "its state is fresh at every call; the host keeps the state of a sequence through crashes"
    if any(isinstance(n, TimeBox) and n.limit_ns for n in nodes):
        host = "counts it too" if rules.is_next("elapsed") else "always takes the elapsed time for 0: it never expires"
        yield f"time boxes count the time of executions here; the host {host}"
    if limits.bounded is Facet.NO:
        yield "it is not bounded, and loops until success; the host refuses such a policy for sagas"
    elif limits.bounded is Facet.UNKNOWN:
        yield "whether it is bounded is not known: it may loop until success; the host refuses what it cannot bound"
    if limits.delay_high_ns is not None and limits.delay_high_ns > IN_FUNCTION_LIMIT_NS:
        wait = duration_words(limits.delay_high_ns)
        yield f"waits of up to {wait} are slept here; the host restarts the agent beyond 20 s inside a function"
    if any(isinstance(n, FilteredOn) for n in nodes):
        yield "an error of a predicate is lost: the last error of the operation comes back unchanged"
        if not with_properties:
            yield "filters see an empty bag: every test but `propExists` fails at the first decision"
        elif mentions(policy, ATTEMPT):
            yield "`attempt` is there only if the caller gives it; the host gives it to sagas only"
    if sdk in ("ts", "scala"):
        for pattern in dict.fromkeys(_globs(policy)):
            if _OTHER_GLOB & set(pattern) or "**" in pattern:
                yield f"the glob `{pattern}` may match otherwise: the helper of this SDK knows `*` and `?` only"


def _globs(policy: Policy) -> Iterator[str]:
    for node in nodes_of(policy):
        if isinstance(node, FilteredOn):
            for leaf in leaves(node.predicate):
                if isinstance(leaf, PropText) and leaf.test is TextTest.MATCHES:
                    yield leaf.operand


def compiled_text(compiled: CompiledSchedule) -> str:
    """The answer in words."""
    if compiled.problem is not None:
        problem = compiled.problem
        words = f"does not compile: {problem.error} ({problem.label}): {problem.why}"
        return visible_lines([words, f"sdk: {compiled.sdk}"])
    limits = compiled.limits
    assert limits is not None  # there is no problem
    out = [f"compiles: {amount_words(limits.retries, 1)} attempts, total wait {total_words(limits)}"]
    out += [f"differs: {sentence}" for sentence in compiled.differences]
    out.append("both multiply: each execution in the schedule has its own retries by the host")
    out.append(f"sdk: {compiled.sdk}; host edition: {compiled.rules.label}")
    return visible_lines(out)


def compiled_json(compiled: CompiledSchedule) -> dict[str, object]:
    """The answer on the wire."""
    problem = compiled.problem
    return {
        "compiles": problem is None,
        "error": None if problem is None else {"error": problem.error, "code": problem.label, "why": problem.why},
        "bounds": None if compiled.limits is None else one_limits_json(compiled.limits),
        "differences": list(compiled.differences),
        "sdk": compiled.sdk,
        "edition": compiled.rules.edition.value,
    }
