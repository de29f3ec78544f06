"""Reading a file of policy tests; every mistake names the part that is wrong and what is wanted there."""

from __future__ import annotations

from collections.abc import Mapping

from policyd.core.schema.reading import at, elements, fail, member, members, optional, text
from policyd.policytests.expectations import CallExpectation, PolicyTest, QueryExpectation, Steps, TestFile

MAX_TESTS = 1000
"""So many tests are read from one file."""

MAX_EXPECTATIONS = 10_000
"""So many expectations, counted for every agent, are read from one test."""

FILE_KEYS = ("manifest", "env", "envs", "account", "component", "at", "tests")
TEST_KEYS = ("name", "agent", "agents", "allow", "deny", "calls", "never", "always")
CALL_KEYS = ("call", "expect", "because")
FACETS = ("admitted", "bounded", "replay-stable")
WORDS = ("yes", "no", "unknown")


def test_file_of_json(json: object) -> TestFile:
    """The tests in a plain value.

    Raises:
        UnreadableError: with the part that is wrong.
    """
    found = _keys(json, FILE_KEYS)
    tests = member(found, "tests", lambda part: elements(part, lambda item: item))
    if not 0 < len(tests) <= MAX_TESTS:
        at("tests", lambda: fail(f"1 to {MAX_TESTS} tests are wanted"))
    return TestFile(
        member(found, "manifest", text),
        _one_or_more(found, "env", "envs"),
        optional(found, "account", text) or "",
        optional(found, "component", text) or "",
        optional(found, "at", text) or "",
        tuple(
            at("tests", lambda i=i, item=item: at(i, lambda: _test(item, ("tests", i))))  # type: ignore[misc]
            for i, item in enumerate(tests)
        ),
    )


test_file_of_json.__test__ = False  # type: ignore[attr-defined]


def _keys(json: object, known: tuple[str, ...]) -> Mapping[str, object]:
    found: Mapping[str, object] = members(json)
    for name in found:
        if name not in known:
            at(name, lambda: fail("unknown here; known are " + ", ".join(f"`{word}`" for word in known)))
    return found


def _texts(found: Mapping[str, object], name: str) -> tuple[str, ...]:
    return tuple(optional(found, name, lambda part: elements(part, text)) or ())


def _one_or_more(found: Mapping[str, object], one: str, more: str) -> tuple[str, ...]:
    single = optional(found, one, text)
    several = _texts(found, more)
    if single is not None and more in found:
        at(more, lambda: fail(f"`{one}` and `{more}` exclude each other"))
    return (single,) if single is not None else several


def _test(json: object, steps: Steps) -> PolicyTest:
    found = _keys(json, TEST_KEYS)
    agents = _one_or_more(found, "agent", "agents")
    if not agents:
        fail("`agent`, or `agents` with at least one, is wanted")
    calls = [
        CallExpectation(target, (("admitted", word),), (), (*steps, key, i))
        for key, word in (("allow", "yes"), ("deny", "no"))
        for i, target in enumerate(_texts(found, key))
    ]
    written = optional(found, "calls", lambda part: elements(part, lambda item: item)) or ()
    calls += [
        at("calls", lambda i=i, item=item: at(i, lambda: _call(item, (*steps, "calls", i))))  # type: ignore[misc]
        for i, item in enumerate(written)
    ]
    queries = [
        QueryExpectation(query, key == "never", (*steps, key, i))
        for key in ("never", "always")
        for i, query in enumerate(_texts(found, key))
    ]
    if not 0 < (len(calls) + len(queries)) * len(agents) <= MAX_EXPECTATIONS:
        fail(f"1 to {MAX_EXPECTATIONS} expectations are wanted: `allow`, `deny`, `calls`, `never` or `always`")
    return PolicyTest(member(found, "name", text), agents, tuple(calls), tuple(queries))


def _call(json: object, steps: Steps) -> CallExpectation:
    found = _keys(json, CALL_KEYS)
    facets = optional(found, "expect", _facets) or ()
    because = optional(found, "because", lambda part: (text(part),) if isinstance(part, str) else elements(part, text))
    if not facets and not because:
        fail("`expect` or `because` is wanted")
    return CallExpectation(member(found, "call", text), facets, tuple(because or ()), steps)


def _facets(json: object) -> tuple[tuple[str, str], ...]:
    return tuple((name, at(name, lambda v=value: _word(v))) for name, value in _keys(json, FACETS).items())  # type: ignore[misc]


def _word(json: object) -> str:
    word = {True: "yes", False: "no"}[json] if isinstance(json, bool) else text(json)
    if word not in WORDS:
        fail("one of `yes`, `no`, `unknown` is wanted")
    return word
