"""What a policy test expects, one value per question.

Source: questions 1, 2, 3; interface, `test`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Steps = tuple[str | int, ...]
"""Where in a file something stands."""

Facets = tuple[tuple[str, str], ...]
"""Name of a facet and the word that is expected of it."""


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
    facets: Facets
    because: tuple[str, ...]
    steps: Steps


@dataclass(frozen=True, slots=True)
class OperationExpectation:
    """An operation of the catalogue with what is expected of it.

    Attributes:
        operation: its id.
        arguments: by name: texts as `--arg` takes them, or values as JSON has them.
        sdk: whose surfaces are told, empty for the default.
        durable: what the program declares of durable operations and streams, None for nothing.
        facets: of the whole.
        targets: all that it asks for, in order, each with the word expected of `admitted`, empty for no word; None
            where they are left open.
        because: codes of reasons.
        steps: its place.
    """

    operation: str
    arguments: Mapping[str, object] = field(hash=False)
    sdk: str
    durable: object = field(hash=False)
    facets: Facets
    targets: tuple[tuple[str, str], ...] | None
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
class ReachExpectation:
    """Whether a chain leads to a call of a query.

    Attributes:
        query: as typed.
        start: the actor; empty for the agents of the test, or for everybody where it names none.
        together: the second query of a separation check, empty for none.
        assume: what narrows the worst case.
        word: `none` or `path`.
        steps: its place.
    """

    query: str
    start: str
    together: str
    assume: tuple[str, ...]
    word: str
    steps: Steps


@dataclass(frozen=True, slots=True)
class RetryExpectation:
    """Which retry policy decides, and how its retries end.

    Attributes:
        site: the place that asks, empty where a policy is named.
        policy: a rule by its name, empty for the one that decides at the site.
        properties: of the operation, as `--prop` takes them.
        decided: whether a rule decides: `yes`, `no`, `unknown`; empty where it is left open.
        rule: the name of the rule that decides, empty where it is left open.
        attempts: the most executions, `unbounded`, or None where it is left open.
        max_wait_ns: the longest wait between two attempts, None where it is left open.
        bounded: the word of the facet, empty where it is left open.
        steps: its place.
    """

    site: str
    policy: str
    properties: tuple[str, ...]
    decided: str
    rule: str
    attempts: int | str | None
    max_wait_ns: int | None
    bounded: str
    steps: Steps


@dataclass(frozen=True, slots=True)
class SagaExpectation:
    """What is expected of the saga retries of an agent.

    Attributes:
        options: as `policyd saga` takes them, by name; times in nanoseconds.
        facets: name and word of each.
        because: what the decision has to be.
        steps: its place.
    """

    options: Mapping[str, str | int | bool] = field(hash=False)
    facets: Facets
    because: tuple[str, ...]
    steps: Steps


@dataclass(frozen=True, slots=True)
class ChainExpectation:
    """What is expected of the chains of a tool.

    Attributes:
        tool: under which name it is bound.
        verdict: the word expected, empty where only the path is.
        path: the chain from the outside in, the tool last; None where it is left open.
        because: codes of findings about the chain.
        steps: its place.
    """

    tool: str
    verdict: str
    path: tuple[str, ...] | None
    because: tuple[str, ...]
    steps: Steps


Expectation = (
    CallExpectation
    | OperationExpectation
    | QueryExpectation
    | ReachExpectation
    | RetryExpectation
    | SagaExpectation
    | ChainExpectation
)
