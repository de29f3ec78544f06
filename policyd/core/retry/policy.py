"""Retry policies: trees that turn the k-th failure into a retry, the end, or an error.

Durations are integer nanoseconds.

Source: retry 1.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from policyd.core.retry.predicate import ALWAYS, Predicate, properties_of


@dataclass(frozen=True, slots=True)
class Periodic:
    """Always retries after the same delay."""

    delay_ns: int


@dataclass(frozen=True, slots=True)
class Exponential:
    """Retries after `base_ns` times `factor` to the power of the earlier steps."""

    base_ns: int
    factor: float


@dataclass(frozen=True, slots=True)
class Fibonacci:
    """Retries after `first_ns`, `second_ns`, then the sum of the two before."""

    first_ns: int
    second_ns: int


@dataclass(frozen=True, slots=True)
class Immediate:
    """Always retries at once."""


@dataclass(frozen=True, slots=True)
class Never:
    """Always gives up."""


@dataclass(frozen=True, slots=True)
class CountBox:
    """Delegates for the first `max_retries` steps, then gives up for good."""

    max_retries: int
    inner: Policy


@dataclass(frozen=True, slots=True)
class TimeBox:
    """Gives up once the time elapsed reaches `limit_ns`."""

    limit_ns: int
    inner: Policy


@dataclass(frozen=True, slots=True)
class Clamp:
    """Limits the delay of `inner`; `low_ns` above `high_ns` can be stored and aborts the host."""

    low_ns: int
    high_ns: int
    inner: Policy


@dataclass(frozen=True, slots=True)
class AddDelay:
    """Lengthens the delay of `inner`."""

    delay_ns: int
    inner: Policy


@dataclass(frozen=True, slots=True)
class Jitter:
    """Lengthens the delay of `inner` by a random part of itself, below `factor`."""

    factor: float
    inner: Policy


@dataclass(frozen=True, slots=True)
class FilteredOn:
    """Delegates where the predicate holds, gives up where not."""

    predicate: Predicate
    inner: Policy


@dataclass(frozen=True, slots=True)
class AndThen:
    """`left` until it first gives up, then `right` for good."""

    left: Policy
    right: Policy


@dataclass(frozen=True, slots=True)
class Union:
    """Steps both; retries if one does, after the shorter delay."""

    left: Policy
    right: Policy


@dataclass(frozen=True, slots=True)
class Intersect:
    """Steps both; retries only if both do, after the longer delay."""

    left: Policy
    right: Policy


Leaf = Periodic | Exponential | Fibonacci | Immediate | Never
Policy = (
    Periodic | Exponential | Fibonacci | Immediate | Never | CountBox | TimeBox | Clamp | AddDelay | Jitter
    | FilteredOn | AndThen | Union | Intersect
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A rule: when its selector holds, its policy decides; larger priorities come first."""

    name: str
    priority: int
    selector: Predicate
    policy: Policy


def children(policy: Policy) -> tuple[Policy, ...]:
    """The policies directly below, left to right."""
    match policy:
        case AndThen(left, right) | Union(left, right) | Intersect(left, right):
            return (left, right)
        case CountBox() | TimeBox() | Clamp() | AddDelay() | Jitter() | FilteredOn():
            return (policy.inner,)
        case Periodic() | Exponential() | Fibonacci() | Immediate() | Never():
            return ()
        case _:
            assert_never(policy)


def nodes_of(policy: Policy) -> Iterator[Policy]:
    """All nodes of the tree, parents before children, left before right."""
    stack = [policy]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def mentions(subject: Policy | Predicate, name: str) -> bool:
    """Whether a tree names the property `name` anywhere, also below a negation.

    Source: retry 3.4.
    """
    if isinstance(subject, Policy):
        return any(name in properties_of(n.predicate) for n in nodes_of(subject) if isinstance(n, FilteredOn))
    return name in properties_of(subject)


@dataclass(frozen=True, slots=True)
class RetryConfig:
    """The older retry configuration, from which the built-in rule is made; its defaults are the service's.

    Source: retry 3.6.
    """

    max_attempts: int = 3
    min_delay_ns: int = 100_000_000
    max_delay_ns: int = 1_000_000_000
    multiplier: float = 3.0
    max_jitter_factor: float | None = 0.15


def default_rule(config: RetryConfig = RetryConfig()) -> NamedPolicy:
    """The built-in rule `default`; the configured number counts executions, so one less is retried.

    Source: retry 3.6.
    """
    tree: Policy = Clamp(config.min_delay_ns, config.max_delay_ns, Exponential(config.min_delay_ns, config.multiplier))
    if config.max_jitter_factor is not None:
        tree = Jitter(config.max_jitter_factor, tree)
    return NamedPolicy("default", 0, ALWAYS, CountBox(max(0, config.max_attempts - 1), tree))
