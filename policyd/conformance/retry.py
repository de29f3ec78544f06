"""The operations of the retry vectors, answered by the retry core under edition `snapshot`.

Source: vectors, sections Retry and Retry limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policyd.conformance.compare import same_value
from policyd.core.retry import canonical, node_list, value
from policyd.core.retry import context as bags
from policyd.core.retry.api_form import policy_from_api, write_api
from policyd.core.retry.domain import Domain
from policyd.core.retry.duration import NANOS, parse_duration
from policyd.core.retry.errors import RetryFormError
from policyd.core.retry.evaluate import Lenient, body_applies, evaluate_lenient, evaluate_strict
from policyd.core.retry.glob import glob_matches
from policyd.core.retry.limits import Amount, Elapsed, limits_of
from policyd.core.retry.policy import Jitter, Policy, RetryConfig, TimeBox, default_rule, mentions, nodes_of
from policyd.core.retry.resolve import Resolver, RuleSet
from policyd.core.retry.scalars import plain_value, read_duration, read_value, write_duration
from policyd.core.retry.schedule import run_schedule
from policyd.core.retry.state import (
    initial_state,
    is_exhausted,
    marked_exhausted,
    retry_count,
    state_from_json,
    state_to_json,
)
from policyd.core.retry.step import Aborts, Failed, Retry, Verdict, fraction_of, step
from policyd.syntax.retry_yaml import load_yaml

Answer = dict[str, Any]
Question = Mapping[str, Any]
_REFUSED: Answer = {"ok": False}


def _refusable(handler: Callable[[Question], Answer]) -> Callable[[Question], Answer]:
    """The handler, answering `ok: false` where the input is refused."""

    def answer(question: Question) -> Answer:
        try:
            return handler(question)
        except RetryFormError as error:
            return {**_REFUSED, "label": error.label.text, "message": error.findings[0].message}

    return answer


def _bag(question: Question) -> value.Bag:
    return {name: read_value(v, ("properties", name)) for name, v in question["properties"].items()}


def _error(error: value.EvaluationError) -> Answer:
    match error:
        case value.PropertyNotFound(name):
            return {"kind": "propertyNotFound", "property": name}
        case value.CoercionFailed(name, actual, target):
            return {
                "kind": "coercionFailed",
                "property": name,
                "value": plain_value(actual),
                "target_type": target.value,
            }
        case value.InvalidState():
            return {"kind": "invalidState"}


def _truth(outcome: bool | value.EvaluationError) -> Answer:
    return {"ok": outcome} if isinstance(outcome, bool) else {"error": _error(outcome)}


def _verdict(verdict: Verdict) -> Any:
    match verdict:
        case Retry(delay):
            return {"retry": write_duration(delay)}
        case Failed(error):
            return {"error": _error(error)}
        case Aborts(label):
            return {"aborts": label.text}
        case _:
            return "give_up"


def _predicate_parse(question: Question) -> Answer:
    tree = canonical.read_predicate(question["predicate"])
    form = canonical.write_canonical(tree)
    return {"ok": True, "json": form, "nodes": node_list.write_nodes(tree), "api": write_api(tree)}


def _policy_parse(question: Question) -> Answer:
    tree = canonical.read_policy(question["policy"])
    form = canonical.write_canonical(tree)
    return {"ok": True, "json": form, "nodes": node_list.write_nodes(tree), "api": write_api(tree)}


def _named_parse(question: Question) -> Answer:
    return {"ok": True, "json": canonical.write_rule(canonical.read_rule(question["named"]))}


def _predicate_yaml(question: Question) -> Answer:
    return {"ok": True, "json": canonical.write_canonical(canonical.read_predicate(load_yaml(question["yaml"])))}


def _policy_yaml(question: Question) -> Answer:
    return {"ok": True, "json": canonical.write_canonical(canonical.read_policy(load_yaml(question["yaml"])))}


def _policy_from_api(question: Question) -> Answer:
    return {"ok": True, "json": canonical.write_canonical(policy_from_api(question["api"]))}


def _policy_from_nodes(question: Question) -> Answer:
    return {"ok": True, "json": canonical.write_canonical(node_list.policy_from_nodes(question["nodes"]))}


def _predicate_from_nodes(question: Question) -> Answer:
    return {"ok": True, "json": canonical.write_canonical(node_list.predicate_from_nodes(question["nodes"]))}


def _matches(question: Question) -> Answer:
    tree, bag = canonical.read_predicate(question["predicate"]), _bag(question)
    lenient = evaluate_lenient(tree, bag)
    shown = lenient is Lenient.MATCH if isinstance(lenient, Lenient) else lenient
    return {"strict": _truth(evaluate_strict(tree, bag)), "lenient": _truth(shown)}


def _references(question: Question) -> Answer:
    if "policy" in question:
        return {"references": mentions(canonical.read_policy(question["policy"]), question["property"])}
    return {"references": mentions(canonical.read_predicate(question["predicate"]), question["property"])}


def _applicable(question: Question) -> Answer:
    return _truth(body_applies(canonical.read_policy(question["policy"]), _bag(question)))


def _resolve(question: Question) -> Answer:
    rules = RuleSet.of(canonical.read_rule(p) for p in question["policies"])
    bag = _bag(question)
    names = {
        "strict": Resolver.STRICT,
        "missing_as_no_match": Resolver.SKIP_MISSING,
        "applicable": Resolver.APPLICABLE,
    }
    answer: Answer = {}
    for name, resolver in names.items():
        picked = rules.pick(bag, resolver)
        if isinstance(picked, value.EvaluationError):
            answer[name] = {"error": _error(picked)}
        else:
            answer[name] = {"ok": None if picked is None else picked.name}
    return answer


def _schedule(question: Question) -> Answer:
    run = run_schedule(
        canonical.read_policy(question["policy"]),
        _bag(question),
        question["max_steps"],
        draw=fraction_of(question.get("jitter_u", 0.0)),
        execution_ns=question.get("attempt_ms", 0) * (NANOS // 1000),
    )
    steps: list[Answer] = []
    for decision in run.decisions:
        entry: Answer = {"verdict": _verdict(decision.verdict), "retry_count": retry_count(decision.state)}
        if question.get("states"):
            entry["state"] = state_to_json(decision.state)
            entry["elapsed"] = write_duration(decision.elapsed_ns)
        steps.append(entry)
    return {"steps": steps, "stopped": run.stopped}


def _step(question: Question) -> Answer:
    state, verdict = step(
        canonical.read_policy(question["policy"]),
        state_from_json(question["state"]),
        read_duration(question["elapsed"], ("elapsed",)),
        _bag(question),
        fraction_of(question.get("jitter_u", 0.0)),
    )
    return {
        "verdict": _verdict(verdict),
        "state": state_to_json(state),
        "retry_count": retry_count(state),
        "exhausted": is_exhausted(state),
        "marked_exhausted": state_to_json(marked_exhausted(state)),
    }


def _initial_state(question: Question) -> Answer:
    state = initial_state(canonical.read_policy(question["policy"]))
    return {"state": state_to_json(state), "retry_count": retry_count(state), "exhausted": is_exhausted(state)}


def _from_config(question: Question) -> Answer:
    config = question["config"]
    rule = default_rule(
        RetryConfig(
            config["max_attempts"],
            read_duration(config["min_delay"], ("min_delay",)),
            read_duration(config["max_delay"], ("max_delay",)),
            float(config["multiplier"]),
            config.get("max_jitter_factor"),
        )
    )
    return canonical.write_rule(rule)


_CONTEXTS: dict[str, Callable[[Question], bags.Context]] = {
    "http": lambda q: bags.http_bag(q["method"], q["uri"]),
    "http-response": lambda q: bags.http_response_bag(q["method"], q["uri"], q["status"], q["error_type"]),
    "rpc": lambda q: bags.rpc_bag(q["verb"], q["component_id"], q["agent_name"], q["function"]),
    "kv": lambda q: bags.key_value_bag(q["verb"], q["bucket"]),
    "blobstore": lambda q: bags.blob_store_bag(q["verb"], q["container"]),
    "rdbms": lambda q: bags.database_bag(q["verb"], q["address"]),
    "dns": lambda q: bags.dns_bag(q["hostname"]),
    "golem-api": lambda q: bags.golem_api_bag(q["verb"]),
    "trap": lambda q: bags.trap_bag(q["trap_type"], q.get("function")),
    "custom": lambda q: bags.operation_bag(q["verb"], q["noun_uri"]),
}


def _context(question: Question) -> Answer:
    bag = _CONTEXTS[question["kind"]](question)
    return {"ok": True, "properties": {name: plain_value(v) for name, v in bag.properties.items()}}


def _duration_parse(question: Question) -> Answer:
    return {"ok": True, "duration": write_duration(parse_duration(question["text"]))}


def _glob(question: Question) -> Answer:
    return {"matches": glob_matches(question["pattern"], question["text"])}


def _figure(amount: Amount, write: Callable[[int], Any]) -> Any:
    """A figure as the vectors write it when it is exact, else what encloses it."""
    if amount.exact:
        return None if amount.at_most is None else write(amount.at_most)
    at_most = None if amount.at_most is None else write(amount.at_most)
    return {"inexact": True, "at_least": write(amount.at_least), "at_most": at_most}


def _limits_in(policy: Policy, domain: Domain, elapsed: Elapsed) -> Answer:
    limits = limits_of(policy, elapsed, domain)
    answer: Answer = {"max_retries": _figure(limits.retries, int)}
    if limits.some_run_ends is not None:
        answer["min_retries"] = limits.min_retries
    if limits.always_ends is not None:
        answer["always_ends"] = limits.always_ends
    if elapsed is Elapsed.REAL:
        answer["horizon"] = _figure(limits.horizon, write_duration)
    nodes = list(nodes_of(policy))
    timed = any(isinstance(n, TimeBox) and n.limit_ns for n in nodes)
    blurred = elapsed is Elapsed.REAL and timed and any(isinstance(n, Jitter) for n in nodes)
    if limits.retries.exact and (limits.retries.at_most is None or blurred):
        answer["total_delay"] = None
    elif limits.total.exact and limits.least_total_ns is not None:
        answer["total_delay"] = {
            "min": write_duration(limits.least_total_ns),
            "max": _figure(limits.total, write_duration),
        }
    return answer


_LIMIT_FIGURES = ("max_retries", "min_retries", "always_ends", "total_delay")


def _limits(question: Question) -> Answer:
    policy = canonical.read_policy(question["policy"])
    free = tuple(
        (name, tuple(read_value(v, ("free", name, i)) for i, v in enumerate(values)))
        for name, values in question.get("free", {}).items()
    )
    domain = Domain(free=free, attempt=question.get("attempt", False))
    answer: Answer = {e.value: _limits_in(policy, domain, e) for e in Elapsed}
    open_figures = [
        f"{mode}.{name}"
        for mode, wanted in (("real", (*_LIMIT_FIGURES, "horizon")), ("zero", _LIMIT_FIGURES))
        for name in wanted
        if not _is_exact(answer[mode], name)
    ]
    return {**answer, "undecided": open_figures} if open_figures else answer


def _is_exact(answer: Answer, name: str) -> bool:
    return name in answer and not (isinstance(answer[name], Mapping) and answer[name].get("inexact"))


def compare_limits(recorded: object, given: object) -> list[str]:
    """Where limits are wrong: an exact figure that differs, or a bound on the wrong side.

    A figure that is missing, or a bound that holds, is reported only where nothing is wrong, so that a line
    with one is undecided and no more.

    Source: vectors, `retry_limits`.
    """
    if not isinstance(recorded, Mapping) or not isinstance(given, Mapping):
        return ["answer"]
    wrong: list[str] = []
    for mode in ("real", "zero"):
        for name, figure in recorded.get(mode, {}).items():
            ours = given.get(mode, {})
            if _is_exact(ours, name):
                wrong += [] if same_value(figure, ours[name]) else [f"{mode}.{name}"]
            elif name in ours and not _encloses(ours[name], figure):
                wrong.append(f"{mode}.{name}")
    if wrong and isinstance(given, dict):
        # What is wrong is no longer undecided.
        given.pop("undecided", None)
    return wrong or [f"undecided: {name}" for name in given.get("undecided", ())]


def _encloses(bound: Mapping[str, Any], value: object) -> bool:
    """Whether a bound holds for a recorded figure."""
    low, high, at = _ns(bound["at_least"]), _ns(bound["at_most"]), _ns(value)
    if at is None:
        return high is None
    return (low is None or low <= at) and (high is None or at <= high)


def _ns(value: object) -> int | None:
    match value:
        case int():
            return value
        case {"secs": int(secs), "nanos": int(nanos)}:
            return secs * NANOS + nanos
        case _:
            return None


HANDLERS: dict[str, Callable[[Question], Answer]] = {
    "retry_predicate_parse": _refusable(_predicate_parse),
    "retry_policy_parse": _refusable(_policy_parse),
    "retry_named_parse": _refusable(_named_parse),
    "retry_predicate_yaml": _refusable(_predicate_yaml),
    "retry_policy_yaml": _refusable(_policy_yaml),
    "retry_policy_from_api": _refusable(_policy_from_api),
    "retry_policy_from_nodes": _refusable(_policy_from_nodes),
    "retry_predicate_from_nodes": _refusable(_predicate_from_nodes),
    "retry_matches": _matches,
    "retry_references": _references,
    "retry_applicable": _applicable,
    "retry_resolve": _resolve,
    "retry_schedule": _schedule,
    "retry_step": _step,
    "retry_initial_state": _initial_state,
    "retry_from_config": _from_config,
    "retry_context": _refusable(_context),
    "duration_parse": _refusable(_duration_parse),
    "glob": _glob,
    "retry_limits": _limits,
}

COMPARE: dict[str, Callable[[object, object], list[str]]] = {"retry_limits": compare_limits}
