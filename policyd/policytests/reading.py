"""Reading a file of policy tests; every mistake names the part that is wrong and what is wanted there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from policyd.core.schema.reading import at, elements, fail, member, members, optional, text
from policyd.policytests.asked import expectations_of
from policyd.policytests.expectations import Steps
from policyd.policytests.files import Fixture, PolicyTest, TestFile
from policyd.policytests.parts import keyed, one_or_more, scalar, texts

MAX_TESTS = 1000
"""So many tests are read from one file."""

MAX_EXPECTATIONS = 10_000
"""So many expectations, counted for every agent and environment that is named, are read from one file."""

FILE_KEYS = (
    "manifest",
    "snapshot",
    "snapshots",
    "env",
    "envs",
    "presets",
    "account",
    "component",
    "edition",
    "switches",
    "at",
    "given",
    "fixtures",
    "definitions",
    "tests",
)
EXPECTING = ("allow", "deny", "calls", "operations", "never", "always", "retries", "sagas", "chains", "reach")
TEST_KEYS = ("name", "agent", "agents", "env", "envs", "given", *EXPECTING)
FIXTURE_KEYS = ("wallet", "scope", "at")


def test_file_of_json(json: object) -> TestFile:
    """The tests in a plain value.

    Raises:
        UnreadableError: with the part that is wrong.
    """
    found = keyed(json, FILE_KEYS)
    written = member(found, "tests", lambda part: elements(part, lambda item: item))
    if not 0 < len(written) <= MAX_TESTS:
        at("tests", lambda: fail(f"1 to {MAX_TESTS} tests are wanted"))
    environments, snapshots = one_or_more(found, "env", "envs"), one_or_more(found, "snapshot", "snapshots")
    for key in ("manifest", "env", "envs", "presets", "account"):
        if snapshots and key in found:
            at(key, lambda: fail("a stored deployment says this itself; leave it out beside `snapshot`"))
    fixtures = optional(found, "fixtures", _fixtures) or {}
    moment = optional(found, "at", text) or ""
    default = optional(found, "given", partial(_given, fixtures=fixtures, steps=("given",))) or Fixture(at=moment)
    tests = tuple(
        at("tests", partial(at, index, partial(_test, item, ("tests", index), fixtures)))
        for index, item in enumerate(written)
    )
    places = max(1, len(environments), len(snapshots))
    count = places * sum(len(test.expectations) * max(1, len(test.agents)) for test in tests)
    if count > MAX_EXPECTATIONS:
        at("tests", lambda: fail(f"{count} expectations are too many, {MAX_EXPECTATIONS} are asked"))
    return TestFile(
        optional(found, "manifest", text) or "",
        snapshots,
        environments,
        texts(found, "presets") if "presets" in found else None,
        optional(found, "account", text) or "",
        optional(found, "component", text) or "",
        optional(found, "edition", text) or "",
        optional(found, "switches", _switches) or {},
        Fixture(default.wallet, default.scope, default.at or moment, default.steps),
        texts(found, "definitions"),
        tests,
    )


test_file_of_json.__test__ = False  # type: ignore[attr-defined]


def _switches(json: object) -> Mapping[str, str]:
    return {name: at(name, partial(scalar, value)) for name, value in members(json).items()}


def _fixtures(json: object) -> Mapping[str, Fixture]:
    return {name: at(name, partial(_fixture, value, ("fixtures", name))) for name, value in members(json).items()}


def _given(json: object, fixtures: Mapping[str, Fixture], steps: Steps) -> Fixture:
    """A fixture by its name, or written out."""
    if not isinstance(json, str):
        return _fixture(json, steps)
    if json not in fixtures:
        known = ", ".join(f"`{name}`" for name in list(fixtures)[:10]) or "none"
        fail(f"no such fixture; known are {known}")
    return fixtures[json]


def _fixture(json: object, steps: Steps) -> Fixture:
    found = keyed(json, FIXTURE_KEYS)
    for name in ("wallet", "scope"):
        if name in found and not isinstance(found[name], (str, Mapping)):
            at(name, lambda: fail("the name of a file, or the value written out, is wanted"))
    return Fixture(found.get("wallet"), found.get("scope"), optional(found, "at", text) or "", steps)


def _test(json: object, steps: Steps, fixtures: Mapping[str, Fixture]) -> PolicyTest:
    found = keyed(json, TEST_KEYS)
    agents = one_or_more(found, "agent", "agents")
    expectations = tuple(expectations_of(found, steps))
    if not expectations:
        fail("the test expects nothing: write one of " + ", ".join(f"`{key}`" for key in EXPECTING))
    return PolicyTest(
        member(found, "name", text),
        agents,
        one_or_more(found, "env", "envs"),
        optional(found, "given", partial(_given, fixtures=fixtures, steps=(*steps, "given"))),
        expectations,
        steps,
    )
