"""What a policy test expects.

Source: questions 1, 3.
"""

from __future__ import annotations

from dataclasses import dataclass

Steps = tuple[str | int, ...]
"""Where in a file something stands."""


@dataclass(frozen=True, slots=True)
class CallExpectation:
    """A call with the facets that are expected of it.

    Attributes:
        target: as typed.
        facets: name and word of each.
        because: codes of reasons that the answer has to give.
        steps: its place.
    """

    target: str
    facets: tuple[tuple[str, str], ...]
    because: tuple[str, ...]
    steps: Steps


@dataclass(frozen=True, slots=True)
class QueryExpectation:
    """A query whose calls are never, or always, admitted.

    Attributes:
        query: as typed.
        is_never: which of both.
        steps: its place.
    """

    query: str
    is_never: bool
    steps: Steps


@dataclass(frozen=True, slots=True)
class PolicyTest:
    """Expectations that hold for each of some agents.

    Attributes:
        name: of the test.
        agents: types or full ids.
        calls: expected of single calls.
        queries: expected of all calls of a query.
    """

    name: str
    agents: tuple[str, ...]
    calls: tuple[CallExpectation, ...]
    queries: tuple[QueryExpectation, ...]


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file of policy tests.

    Attributes:
        manifest: path relative to the file.
        environments: each is asked about; empty for the manifest's default one.
        account: owner of the environments.
        component: that implements the agents.
        at: the moment of every call, empty to leave expiry aside.
        tests: in the order of the file.
    """

    __test__ = False

    manifest: str
    environments: tuple[str, ...]
    account: str
    component: str
    at: str
    tests: tuple[PolicyTest, ...]
