"""Reading expectations: what is asked, and the answer that is wanted.

Source: questions 1, 2, 3; interface, Flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from policyd.core.retry import RetryFormError, parse_duration
from policyd.core.retry.continuation import IdentityChoice
from policyd.core.retry.saga import Admission, Body, Compensation, Form, SelfView
from policyd.core.schema.reading import at, elements, fail, integer, member, members, optional, text
from policyd.policytests.expectations import (
    CallExpectation,
    ChainExpectation,
    Expectation,
    OperationExpectation,
    QueryExpectation,
    ReachExpectation,
    RetryExpectation,
    SagaExpectation,
    Steps,
)
from policyd.policytests.parts import facets, keyed, one_of, scalar, text_or_texts, texts, word

MAX_ATTEMPTS = 2**63 - 1

CALL_KEYS = ("call", "expect", "because")
OPERATION_KEYS = ("op", "args", "sdk", "durable", "expect", "targets", "because")
REACH_KEYS = ("to", "from", "never-together", "assume", "expect")
RETRY_KEYS = ("site", "policy", "props", "expect")
RETRY_WORDS = ("decided", "rule", "attempts", "max-wait", "bounded")
CHAIN_KEYS = ("tool", "expect", "path", "because")
VERDICTS = ("accept", "accept-with-warnings", "reject", "undecided")

SAGA_WORDS: Mapping[str, tuple[str, ...]] = {
    "form": tuple(one.value for one in Form),
    "body": tuple(one.value for one in Body),
    "compensation": tuple(one.value for one in Compensation),
    "identity": tuple(one.value for one in IdentityChoice),
    "admission": tuple(one.value for one in Admission),
    "self-view": tuple(one.value for one in SelfView),
}
SAGA_TIMES = ("elapsed", "body-time", "compensation-time")
SAGA_KEYS = ("expect", "because", "attempt", "sets-policies", "component-id", *SAGA_TIMES, *SAGA_WORDS)


def expectations_of(found: Mapping[str, object], steps: Steps) -> Iterator[Expectation]:
    """All expectations of one test: single calls first, then operations, proofs, and what is asked of a deployment.

    Raises:
        UnreadableError: with the part that is wrong.
    """
    for key, expected in (("allow", "yes"), ("deny", "no")):
        for index, target in enumerate(texts(found, key)):
            yield CallExpectation(target, (("admitted", expected),), (), (*steps, key, index))
    yield from _listed(found, "calls", _call, steps)
    yield from _listed(found, "operations", _operation, steps)
    for key in ("never", "always"):
        for index, query in enumerate(texts(found, key)):
            yield QueryExpectation(query, key == "never", (*steps, key, index))
    yield from _listed(found, "retries", _retry, steps)
    yield from _listed(found, "sagas", _saga, steps)
    yield from _listed(found, "chains", _chain, steps)
    yield from _listed(found, "reach", _reach, steps)


def _listed(
    found: Mapping[str, object], key: str, read: Callable[[object, Steps], Expectation], steps: Steps
) -> Iterator[Expectation]:
    written = optional(found, key, lambda part: elements(part, lambda item: item)) or ()
    for index, item in enumerate(written):
        here = (*steps, key, index)
        yield at(key, partial(at, index, partial(read, item, here)))


def _because(found: Mapping[str, object]) -> tuple[str, ...]:
    return optional(found, "because", text_or_texts) or ()


def _call(json: object, steps: Steps) -> Expectation:
    found = keyed(json, CALL_KEYS)
    expected, because = optional(found, "expect", facets) or (), _because(found)
    if not expected and not because:
        fail("`expect` or `because` is wanted")
    return CallExpectation(member(found, "call", text), expected, because, steps)


def _operation(json: object, steps: Steps) -> Expectation:
    found = keyed(json, OPERATION_KEYS)
    expected, because = optional(found, "expect", facets) or (), _because(found)
    targets = optional(found, "targets", _targets)
    if not expected and not because and targets is None:
        fail("`expect`, `targets` or `because` is wanted")
    return OperationExpectation(
        member(found, "op", text),
        optional(found, "args", members) or {},
        optional(found, "sdk", text) or "",
        found.get("durable"),
        expected,
        targets,
        because,
        steps,
    )


def _targets(json: object) -> tuple[tuple[str, str], ...]:
    """A list of targets, or targets with the word expected of each."""
    if isinstance(json, Mapping):
        return tuple((name, at(name, partial(word, value))) for name, value in json.items())
    return tuple((target, "") for target in elements(json, text))


def _reach(json: object, steps: Steps) -> Expectation:
    found = keyed(json, REACH_KEYS)
    return ReachExpectation(
        member(found, "to", text),
        optional(found, "from", text) or "",
        optional(found, "never-together", text) or "",
        texts(found, "assume"),
        member(found, "expect", one_of("none", "path")),
        steps,
    )


def _retry(json: object, steps: Steps) -> Expectation:
    found = keyed(json, RETRY_KEYS)
    site, policy = optional(found, "site", text) or "", optional(found, "policy", text) or ""
    if not site and not policy:
        fail("`site`, or `policy` for one rule by its name, is wanted")
    wanted = member(found, "expect", partial(keyed, known=RETRY_WORDS))
    if not wanted:
        at("expect", lambda: fail("at least one of " + ", ".join(f"`{name}`" for name in RETRY_WORDS) + " is wanted"))
    if policy and not {"decided", "rule"}.isdisjoint(wanted):
        at("expect", lambda: fail("what decides is asked of a `site`, not of a `policy`"))
    return RetryExpectation(
        site,
        policy,
        optional(found, "props", _properties) or (),
        at("expect", lambda: optional(wanted, "decided", word)) or "",
        at("expect", lambda: optional(wanted, "rule", text)) or "",
        at("expect", lambda: optional(wanted, "attempts", _attempts)),
        at("expect", lambda: optional(wanted, "max-wait", _duration)),
        at("expect", lambda: optional(wanted, "bounded", word)) or "",
        steps,
    )


def _properties(json: object) -> tuple[str, ...]:
    return tuple(f"{name}={at(name, partial(scalar, value))}" for name, value in members(json).items())


def _attempts(json: object) -> int | str:
    return json if json == "unbounded" and isinstance(json, str) else integer(0, MAX_ATTEMPTS)(json)


def _duration(json: object) -> int:
    try:
        return parse_duration(scalar(json))
    except RetryFormError as refusal:
        return fail(refusal.findings[0].message)


def _saga(json: object, steps: Steps) -> Expectation:
    found = keyed(json, SAGA_KEYS)
    expected, because = optional(found, "expect", facets) or (), _because(found)
    if not expected and not because:
        fail("`expect` or `because` is wanted")
    options: dict[str, str | int | bool] = {}
    for name, known in SAGA_WORDS.items():
        if name in found:
            options[name] = at(name, partial(one_of(*known), found[name]))
    for name in SAGA_TIMES:
        if name in found:
            options[name] = at(name, partial(_duration, found[name]))
    if "component-id" in found:
        options["component-id"] = at("component-id", partial(text, found["component-id"]))
    attempt = optional(found, "attempt", integer(1, MAX_ATTEMPTS))
    if attempt is not None:
        options["attempt"] = attempt
    if "sets-policies" in found:
        options["sets-policies"] = at("sets-policies", lambda: word(found["sets-policies"])) == "yes"
    return SagaExpectation(options, expected, because, steps)


def _chain(json: object, steps: Steps) -> Expectation:
    found = keyed(json, CHAIN_KEYS)
    path = optional(found, "path", text_or_texts)
    verdict = optional(found, "expect", lambda part: one_of(*VERDICTS)(text(part).replace(" ", "-"))) or ""
    because = _because(found)
    if not verdict and path is None and not because:
        fail("`expect`, `path` or `because` is wanted")
    return ChainExpectation(member(found, "tool", text), verdict, path, because, steps)
