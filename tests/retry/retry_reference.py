"""A plain second reading of the rules, over canonical JSON: evaluation, selection, stepping and saga decisions.

Nothing here is taken from the package but globs and, where they are passed in, the limits of a policy.

Source: retry 1.4, 3, 4.1 to 4.3, 6.3 to 6.7.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from policyd.core.retry import glob_matches

Json = Any
Values = Mapping[str, Any]
DMAX = 2**64 * 10**9 - 1
U32 = 2**32 - 1


class MissingError(Exception):
    """A property that the bag does not have."""


class CoercionError(Exception):
    """A comparison of values that cannot be compared."""


def ordered(name: str, actual: Json, expected: Json) -> int:
    """Below 0, 0 or above 0, as the table of coercions orders two values."""
    if isinstance(expected, bool):
        if not isinstance(actual, bool):
            raise CoercionError(name)
        return int(actual) - int(expected)
    if isinstance(actual, bool):
        raise CoercionError(name)
    if isinstance(expected, int):
        if isinstance(actual, str):
            digits = actual[1:] if actual[:1] in ("+", "-") else actual
            if not digits or not set(digits) <= set("0123456789"):
                raise CoercionError(name)
            actual = int(actual)
            if not -(2**63) <= actual < 2**63:
                raise CoercionError(name)
        return int(actual > expected) - int(actual < expected)
    one, other = str(actual).encode(), expected.encode()
    return int(one > other) - int(one < other)


def told(name: str, bag: Values) -> str:
    """The text of a property."""
    if isinstance(bag[name], bool):
        raise CoercionError(name)
    return str(bag[name])


def leaf_holds(kind: str, at: Json, bag: Values) -> bool:
    """Whether one test holds; raises `MissingError` or `CoercionError`."""
    if kind == "propExists":
        return (at if isinstance(at, str) else at["property"]) in bag
    name = at["property"]
    if name not in bag:
        raise MissingError(name)
    if kind == "propIn":
        failed = None
        for value in at["values"]:
            try:
                if ordered(name, bag[name], value) == 0:
                    return True
            except CoercionError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return False
    if kind == "propMatches":
        return glob_matches(at["pattern"], told(name, bag))
    if kind == "propStartsWith":
        return told(name, bag).startswith(at["prefix"])
    if kind == "propContains":
        return at["substring"] in told(name, bag)
    order = ordered(name, bag[name], at["value"])
    return {
        "propEq": order == 0,
        "propNeq": order != 0,
        "propGt": order > 0,
        "propGte": order >= 0,
        "propLt": order < 0,
        "propLte": order <= 0,
    }[kind]


def strict(test: Json, bag: Values) -> bool:
    """From left to right, up to the first error."""
    if isinstance(test, bool):
        return test
    ((kind, at),) = test.items()
    if kind == "and":
        return strict(at[0], bag) and strict(at[1], bag)
    if kind == "or":
        return strict(at[0], bag) or strict(at[1], bag)
    if kind == "not":
        return not strict(at, bag)
    return leaf_holds(kind, at, bag)


def lenient(test: Json, bag: Values) -> bool | None:
    """Three-valued, None for missing; both sides are always evaluated."""
    if isinstance(test, bool):
        return test
    ((kind, at),) = test.items()
    if kind == "not":
        inner = lenient(at, bag)
        return None if inner is None else not inner
    if kind in ("and", "or"):
        sides = lenient(at[0], bag), lenient(at[1], bag)
        if kind == "and":
            return True if sides == (True, True) else None if None in sides else False
        return True if True in sides else None if None in sides else False
    try:
        return leaf_holds(kind, at, bag)
    except MissingError:
        return None


def body_applies(policy: Json, bag: Values) -> bool:
    """Whether the body lets a rule be applicable."""
    if isinstance(policy, str):
        return True
    ((kind, at),) = policy.items()
    if kind == "filteredOn":
        return lenient(at["predicate"], bag) is True and body_applies(at["inner"], bag)
    if kind in ("andThen", "union"):
        return body_applies(at[0], bag) or body_applies(at[1], bag)
    if kind == "intersect":
        return body_applies(at[0], bag) and body_applies(at[1], bag)
    return body_applies(at["inner"], bag) if "inner" in at else True


def names(tree: Json, name: str) -> bool:
    """Whether a tree has a test on a property."""
    if isinstance(tree, list):
        return any(names(part, name) for part in tree)
    if not isinstance(tree, dict):
        return False
    return any(at == name for key, at in tree.items() if key in ("property", "propExists")) or any(
        names(at, name) for key, at in tree.items() if key not in ("property", "value", "values")
    )


def trace(rules: Sequence[Json], bag: Values, resolver: str, *, status: bool = False) -> list[tuple[str, str]]:
    """Every rule with what becomes of it, in the order of selection."""
    found: list[tuple[str, str]] = []
    decided = False
    for rule in sorted(rules, key=lambda r: -r["priority"]):
        name, selector = rule["name"], rule["predicate"]
        if status and not names(selector, "status-code") and not names(rule["policy"], "status-code"):
            found.append((name, "FILTERED"))
            continue
        if decided:
            found.append((name, "NOT_REACHED"))
            continue
        try:
            if resolver == "applicable":
                seen = lenient(selector, bag)
                if seen is None:
                    word = "MISSING"
                elif seen:
                    word = "SELECTED" if body_applies(rule["policy"], bag) else "BODY_NO_MATCH"
                else:
                    word = "NO_MATCH"
            else:
                word = "SELECTED" if strict(selector, bag) else "NO_MATCH"
        except MissingError:
            word = "MISSING" if resolver == "skip" else "ERROR"
        except CoercionError:
            word = "ERROR"
        decided = word in ("SELECTED", "ERROR")
        found.append((name, word))
    return found


def merged(*tiers: Sequence[Json], removed: Sequence[str] = ()) -> list[Json]:
    """The effective rules of the tiers, lowest tier first."""
    by_name = {rule["name"]: rule for tier in tiers for rule in tier}
    kept = [rule for name, rule in by_name.items() if name not in removed]
    return sorted(kept, key=lambda rule: (-rule["priority"], rule["name"].encode()))


# Stepping.


def ns(duration: Json) -> int:
    """A duration as nanoseconds."""
    return int(duration["secs"]) * 10**9 + int(duration["nanos"])


def scale(delay: int, factor: float) -> int:
    """A delay times a factor, rounded on the exact binary value."""
    if not math.isfinite(factor) or factor <= 0:
        return 0
    product = (float(delay // 10**9) + float(delay % 10**9) / 1e9) * factor
    if not math.isfinite(product):
        return DMAX
    return min(DMAX, round(Fraction(product) * 10**9))


def power(factor: float, count: int) -> float:
    """IEEE pow."""
    try:
        return math.pow(factor, float(count))
    except OverflowError:
        return -math.inf if factor < 0 and count % 2 else math.inf


def start(policy: Json) -> Json:
    """The initial state."""
    if policy == "never":
        return "Terminal"
    if policy == "immediate":
        return {"Counter": 0}
    ((kind, at),) = policy.items()
    if kind in ("periodic", "exponential", "fibonacci"):
        return {"Counter": 0}
    if kind == "countBox":
        return {"CountBox": {"attempts": 0, "inner": start(at["inner"])}}
    if kind == "andThen":
        return {"AndThen": {"left": start(at[0]), "right": start(at[1]), "on_right": False}}
    if kind in ("union", "intersect"):
        return {"Pair": [start(at[0]), start(at[1])]}
    return {"Wrapper": start(at["inner"])}


Verdict = tuple[str, int]
GIVE_UP, ERROR = ("give up", 0), ("error", 0)


def stepped(policy: Json, state: Json, elapsed: int, bag: Values, part: float) -> tuple[Json, Verdict]:
    """One step; `part` of each jitter is drawn. States are taken to fit."""
    if policy == "never":
        return state, GIVE_UP
    if policy == "immediate":
        return {"Counter": min(U32, state["Counter"] + 1)}, ("retry", 0)
    ((kind, at),) = policy.items()
    if kind in ("periodic", "exponential", "fibonacci"):
        n = state["Counter"]
        after = {"Counter": min(U32, n + 1)}
        if kind == "periodic":
            return after, ("retry", ns(at))
        if kind == "exponential":
            return after, ("retry", scale(ns(at["baseDelay"]), power(float(at["factor"]), n)))
        one, other = ns(at["first"]), ns(at["second"])
        for _ in range(min(n, 500)):
            one, other = other, min(DMAX, one + other)
        return after, ("retry", one)
    if kind == "countBox":
        used = state["CountBox"]["attempts"]
        if used >= at["maxRetries"]:
            return state, GIVE_UP
        inner, verdict = stepped(at["inner"], state["CountBox"]["inner"], elapsed, bag, part)
        return {"CountBox": {"attempts": min(U32, used + 1), "inner": inner}}, verdict
    if kind == "andThen":
        now = state["AndThen"]
        if not now["on_right"]:
            left, verdict = stepped(at[0], now["left"], elapsed, bag, part)
            if verdict != GIVE_UP:
                return {"AndThen": {**now, "left": left}}, verdict
            now = {**now, "left": left, "on_right": True}
        right, verdict = stepped(at[1], now["right"], elapsed, bag, part)
        return {"AndThen": {**now, "right": right}}, verdict
    if kind in ("union", "intersect"):
        left, verdict = stepped(at[0], state["Pair"][0], elapsed, bag, part)
        right, beside = stepped(at[1], state["Pair"][1], elapsed, bag, part)
        return {"Pair": [left, right]}, joined(kind, verdict, beside)
    if kind == "timeBox" and elapsed >= ns(at["limit"]):
        return state, GIVE_UP
    if kind == "filteredOn":
        try:
            if not strict(at["predicate"], bag):
                return state, GIVE_UP
        except (MissingError, CoercionError):
            return state, ERROR
    inner, verdict = stepped(at["inner"], state["Wrapper"], elapsed, bag, part)
    return {"Wrapper": inner}, wrapped(kind, at, verdict, part)


def joined(kind: str, one: Verdict, other: Verdict) -> Verdict:
    """What two sides come to."""
    if ERROR in (one, other):
        return ERROR
    if one[0] == other[0] == "retry":
        return ("retry", min(one[1], other[1]) if kind == "union" else max(one[1], other[1]))
    if kind == "intersect" or one == other == GIVE_UP:
        return GIVE_UP
    return one if one[0] == "retry" else other


def wrapped(kind: str, at: Json, verdict: Verdict, part: float) -> Verdict:
    """What a wrapper makes of a retry."""
    word, delay = verdict
    if word != "retry":
        return verdict
    if kind == "clamp":
        return word, max(ns(at["minDelay"]), min(ns(at["maxDelay"]), delay))
    if kind == "addDelay":
        return word, min(DMAX, delay + ns(at["delay"]))
    if kind == "jitter" and at["factor"] > 0:
        return word, min(DMAX, delay + scale(delay, part * at["factor"]))
    return verdict


# Sagas.

DEFAULT: Json = {
    "name": "default",
    "priority": 0,
    "predicate": True,
    "policy": {
        "countBox": {
            "maxRetries": 2,
            "inner": {
                "jitter": {
                    "factor": 0.15,
                    "inner": {
                        "clamp": {
                            "minDelay": {"secs": 0, "nanos": 100_000_000},
                            "maxDelay": {"secs": 1, "nanos": 0},
                            "inner": {"exponential": {"baseDelay": {"secs": 0, "nanos": 100_000_000}, "factor": 3.0}},
                        }
                    },
                }
            },
        }
    },
}


def seen_by_saga(component: str, agent: str, attempt: int) -> dict[str, Json]:
    """The bag of a decision, for names without characters that a path encodes or that end it."""
    path = f"worker:{component}/{agent}"
    noun = f"urn:{path}"
    return {
        "verb": "saga",
        "noun-uri": noun,
        "uri-scheme": "urn",
        "uri-path": path,
        "attempt": attempt,
        "error-kind": "operation-error",
    }


def identity(rule: Json | None, choice: str) -> Json:
    """What two decisions must have in common."""
    tree = (DEFAULT if rule is None else rule)["policy"]
    if choice == "tree" or (choice == "rule" and rule is None):
        return ("tree", tree)
    return ("rule", rule) if choice == "rule" else ("name", None if rule is None else rule["name"], tree)


def is_invalid(policy: Json) -> bool:
    """A clamp the wrong way round; factors of JSON are finite."""
    if isinstance(policy, list):
        return any(map(is_invalid, policy))
    if not isinstance(policy, dict):
        return False
    clamp = policy.get("clamp")
    if clamp is not None and ns(clamp["minDelay"]) > ns(clamp["maxDelay"]):
        return True
    return any(is_invalid(at) for key, at in policy.items() if key != "predicate")


def picked(rules: Sequence[Json], bag: Values) -> tuple[Json | None, bool]:
    """The rule, None for none, and whether the selection fails."""
    ends = [(name, word) for name, word in trace(rules, bag, "strict") if word in ("SELECTED", "ERROR")]
    if not ends:
        return None, False
    ((name, word),) = ends
    return next(rule for rule in rules if rule["name"] == name), word == "ERROR"


def decided(
    question: Mapping[str, Json], rules: Sequence[Json], admits: Callable[[Json], bool]
) -> tuple[str, str | None, tuple[int, int], Json]:
    """Verdict, rule, shortest and longest wait, and the state that follows.

    Source: retry 6.3.
    """
    nothing: tuple[int, int] = (0, 0)
    edition, form, body, undone = (question[k] for k in ("edition", "form", "body", "compensation"))
    if body == "ok":
        return "COMMITTED", None, nothing, None
    if body == "trapped":
        return "NOT_A_SAGA_DECISION", None, nothing, None
    if undone == "failed":
        panics = edition == "snapshot" and form == "infallible"
        return "NOT_A_SAGA_DECISION" if panics else "NOT_RETRIED_PARTIAL_ROLLBACK", None, nothing, None
    if undone == "trapped":
        return "NOT_A_SAGA_DECISION", None, nothing, None
    if form == "fallible":
        return "NOT_RETRIED_FALLIBLE", None, nothing, None
    if edition == "snapshot":
        return "REWIND_UNBOUNDED", None, nothing, None
    if question["self_view"] == "denied":
        return "REJECTED_IDENTITY_DENIED", None, nothing, None
    k = question["attempt"]
    bag = seen_by_saga(question["component"], question["agent"], k)
    rule, fails = picked(rules, bag)
    if fails:
        return "REJECTED_PREDICATE_ERROR", None, nothing, None
    policy = (DEFAULT if rule is None else rule)["policy"]
    name = None if rule is None else rule["name"]
    if is_invalid(policy):
        return "REJECTED_INVALID_POLICY", name, nothing, None
    if not admits(policy):
        return "REJECTED_UNBOUNDED", name, nothing, None
    onward = question["continuation"]
    if (k == 1) is not (onward is None):
        return "REJECTED_BAD_CONTINUATION", name, nothing, None
    state = start(policy)
    if onward is not None:
        if onward["attempt"] != k - 1 or onward["elapsed"] > question["elapsed"]:
            return "REJECTED_BAD_CONTINUATION", name, nothing, None
        if onward["identity"] != identity(rule, question["identity"]):
            return "REJECTED_POLICY_CHANGED", name, nothing, None
        state = onward["state"]
        if structure(state) != structure(start(policy)):
            return "REJECTED_BAD_CONTINUATION", name, nothing, None
    after, (low_word, low) = stepped(policy, state, question["elapsed"], bag, 0.0)
    _, (_, high) = stepped(policy, state, question["elapsed"], bag, 1.0)
    words = {"retry": "ADMITTED_RETRY", "give up": "EXHAUSTED", "error": "REJECTED_PREDICATE_ERROR"}
    return words[low_word], name, (low, high), after


def structure(state: Json) -> Json:
    """A state without its counters."""
    if isinstance(state, dict):
        return {key: structure(at) for key, at in state.items() if key not in ("attempts", "on_right")}
    return [structure(at) for at in state] if isinstance(state, list) else 0 if isinstance(state, int) else state


def first_unstable(
    component: str, agent: str, rules: Sequence[Json], choice: str, retries: int | None, far: int
) -> tuple[int, str] | None:
    """The first decision with another selection, looked for one by one; None for none up to `far`.

    Args:
        component: of the agent.
        agent: its name.
        rules: the effective ones.
        choice: what counts as the same policy.
        retries: that the first policy gives; None for no end.
        far: decisions that are looked at.

    Source: retry 6.7.
    """
    rule, fails = picked(rules, seen_by_saga(component, agent, 1))
    if fails:
        return 1, "error"
    for k in range(2, min(far, far if retries is None else retries + 1) + 1):
        other, fails = picked(rules, seen_by_saga(component, agent, k))
        if fails:
            return k, "error"
        if identity(other, choice) != identity(rule, choice):
            return k, "changed"
    return None
