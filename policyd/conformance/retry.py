"""The operations of the retry vectors, answered by the retry core under edition `snapshot`.

Source: vectors, sections Retry and Retry limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policyd.core.retry import canonical, node_list, value
from policyd.core.retry import context as bags
from policyd.core.retry.api_form import policy_from_api, write_api
from policyd.core.retry.duration import NANOS, parse_duration
from policyd.core.retry.errors import RetryFormError
from policyd.core.retry.evaluate import Lenient, body_applies, evaluate_lenient, evaluate_strict
from policyd.core.retry.glob import glob_matches
from policyd.core.retry.policy import RetryConfig, default_rule, mentions
from policyd.core.retry.resolve import Resolver, by_priority, pick
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
    rules = by_priority(canonical.read_rule(p) for p in question["policies"])
    bag = _bag(question)
    names = {
        "strict": Resolver.STRICT,
        "missing_as_no_match": Resolver.SKIP_MISSING,
        "applicable": Resolver.APPLICABLE,
    }
    answer: Answer = {}
    for name, resolver in names.items():
        picked = pick(rules, bag, resolver)
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
}

COMPARE: dict[str, Callable[[object, object], list[str]]] = {}
