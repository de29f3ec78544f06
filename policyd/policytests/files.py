"""A file of policy tests: what is given, and what is expected of whom.

Source: questions 1, 2, 3; interface, Files and queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from policyd.policytests.expectations import Expectation, Steps


@dataclass(frozen=True, slots=True)
class Fixture:
    """Cards and the moment under which a test asks.

    Attributes:
        wallet: a file relative to the tests, or the value written out; None for the initial cards.
        scope: the scope card of every call, likewise; None for none.
        at: the moment of every call; empty for the file's.
        steps: its place.
    """

    wallet: object = field(default=None, hash=False)
    scope: object = field(default=None, hash=False)
    at: str = ""
    steps: Steps = ()


@dataclass(frozen=True, slots=True)
class PolicyTest:
    """Expectations that hold for each of some agents in each of some environments.

    Attributes:
        name: of the test.
        agents: types or full ids, `*` for every agent type; empty where no expectation needs one.
        environments: of those of the file; empty for all of them.
        given: fixtures of this test, None for the file's.
        expectations: in the order in which they are asked.
        steps: its place.
    """

    name: str
    agents: tuple[str, ...]
    environments: tuple[str, ...]
    given: Fixture | None
    expectations: tuple[Expectation, ...]
    steps: Steps = ()


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file of policy tests.

    Attributes:
        manifest: path relative to the file, empty for none.
        snapshots: places in the store; each is asked about.
        environments: of the manifest, each is asked about; empty for its default one.
        presets: custom presets; None for those of the environment.
        account: owner of the environments.
        component: that implements the agents.
        edition: empty for the caller's.
        switches: set apart from the edition.
        given: fixtures of all tests.
        definitions: documents that define tools and middleware, relative to the file.
        tests: in the order of the file.
    """

    __test__ = False

    manifest: str
    snapshots: tuple[str, ...]
    environments: tuple[str, ...]
    presets: tuple[str, ...] | None
    account: str
    component: str
    edition: str
    switches: Mapping[str, str] = field(hash=False)
    given: Fixture
    definitions: tuple[str, ...]
    tests: tuple[PolicyTest, ...]
