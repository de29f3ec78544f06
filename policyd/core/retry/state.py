"""The state that a policy keeps between its decisions.

Source: retry 4.1, 4.5, 4.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from policyd.core.retry.duration import U32_MAX
from policyd.core.retry.errors import Label, Path, RetryFormError
from policyd.core.retry.policy import (
    AddDelay,
    AndThen,
    Clamp,
    CountBox,
    Exponential,
    Fibonacci,
    FilteredOn,
    Immediate,
    Intersect,
    Jitter,
    Never,
    Periodic,
    Policy,
    TimeBox,
    Union,
)

MAX_STATE_DEPTH = 300
"""Deeper stored states are refused."""


@dataclass(frozen=True, slots=True)
class Counter:
    """The state of a leaf that retries: its steps so far."""

    steps: int = 0


@dataclass(frozen=True, slots=True)
class Terminal:
    """The state of `never`, and the mark of a sequence that was given up."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The state of a count box: the steps it delegated, and the inner state."""

    attempts: int
    inner: State


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The state of a node that only passes on."""

    inner: State


@dataclass(frozen=True, slots=True)
class Sequenced:
    """The state of `andThen`."""

    left: State
    right: State
    on_right: bool = False


@dataclass(frozen=True, slots=True)
class Paired:
    """The state of `union` and `intersect`."""

    left: State
    right: State


State = Counter | Terminal | Counted | Wrapped | Sequenced | Paired
_TERMINAL = Terminal()


def initial_state(policy: Policy) -> State:
    """The state before the first decision.

    Source: retry 4.1.
    """
    match policy:
        case Periodic() | Exponential() | Fibonacci() | Immediate():
            return Counter()
        case Never():
            return _TERMINAL
        case CountBox(_, inner):
            return Counted(0, initial_state(inner))
        case TimeBox() | Clamp() | AddDelay() | Jitter() | FilteredOn():
            return Wrapped(initial_state(policy.inner))
        case AndThen(left, right):
            return Sequenced(initial_state(left), initial_state(right))
        case Union(left, right) | Intersect(left, right):
            return Paired(initial_state(left), initial_state(right))
        case _:
            assert_never(policy)


def retry_count(state: State) -> int:
    """The number of retries that the platform reads off a state.

    Source: retry 4.6.
    """
    match state:
        case Counter(steps):
            return steps
        case Terminal():
            return 0
        case Counted(attempts, _):
            return attempts
        case Wrapped(inner):
            return retry_count(inner)
        case Sequenced(left, right, on_right):
            return (retry_count(left) + (retry_count(right) if on_right else 0)) % (U32_MAX + 1)
        case Paired(left, right):
            return max(retry_count(left), retry_count(right))
        case _:
            assert_never(state)


def is_exhausted(state: State) -> bool:
    """Whether the platform takes the state for one that was given up.

    Source: retry 4.5.
    """
    match state:
        case Terminal() | Sequenced(_, Terminal(), True):
            return True
        case _:
            return False


def marked_exhausted(state: State) -> State:
    """The state with the mark of a sequence that was given up.

    Source: retry 4.5.
    """
    return _TERMINAL if retry_count(state) == 0 else Sequenced(state, _TERMINAL, True)


Shape = tuple[object, ...]


def shape_of(policy: Policy) -> Shape:
    """The structure of the state without its counters; equal shapes share stored state.

    Source: retry 4.1, 4.5.
    """
    match policy:
        case Periodic() | Exponential() | Fibonacci() | Immediate():
            return ("C",)
        case Never():
            return ("T",)
        case CountBox(_, inner):
            return ("K", shape_of(inner))
        case TimeBox() | Clamp() | AddDelay() | Jitter() | FilteredOn():
            return ("W", shape_of(policy.inner))
        case AndThen(left, right):
            return ("A", shape_of(left), shape_of(right))
        case Union(left, right) | Intersect(left, right):
            return ("P", shape_of(left), shape_of(right))
        case _:
            assert_never(policy)


def state_to_json(state: State) -> object:
    """The JSON form of a state.

    Source: retry 4.1.
    """
    match state:
        case Counter(steps):
            return {"Counter": steps}
        case Terminal():
            return "Terminal"
        case Counted(attempts, inner):
            return {"CountBox": {"attempts": attempts, "inner": state_to_json(inner)}}
        case Wrapped(inner):
            return {"Wrapper": state_to_json(inner)}
        case Sequenced(left, right, on_right):
            members = {"left": state_to_json(left), "right": state_to_json(right), "on_right": on_right}
            return {"AndThen": members}
        case Paired(left, right):
            return {"Pair": [state_to_json(left), state_to_json(right)]}
        case _:
            assert_never(state)


def state_from_json(document: object, path: Path = (), depth: int = 0) -> State:
    """Read the JSON form of a state.

    Raises:
        RetryFormError: RETRY126.
    """
    if depth > MAX_STATE_DEPTH:
        raise RetryFormError.at(Label.STATE_SHAPE, (), f"a state is nested deeper than {MAX_STATE_DEPTH}")
    match document:
        case "Terminal":
            return _TERMINAL
        case {"Counter": steps, **rest} if not rest:
            return Counter(_u32(steps, (*path, "Counter")))
        case {"CountBox": {"attempts": attempts, "inner": inner}, **rest} if not rest:
            place = (*path, "CountBox")
            return Counted(_u32(attempts, (*place, "attempts")), state_from_json(inner, (*place, "inner"), depth + 1))
        case {"Wrapper": inner, **rest} if not rest:
            return Wrapped(state_from_json(inner, (*path, "Wrapper"), depth + 1))
        case {"AndThen": {"left": left, "right": right, "on_right": bool(on_right)}, **rest} if not rest:
            place = (*path, "AndThen")
            first = state_from_json(left, (*place, "left"), depth + 1)
            return Sequenced(first, state_from_json(right, (*place, "right"), depth + 1), on_right)
        case {"Pair": [left, right], **rest} if not rest:
            place = (*path, "Pair")
            return Paired(state_from_json(left, (*place, 0), depth + 1), state_from_json(right, (*place, 1), depth + 1))
        case _:
            raise RetryFormError.at(Label.STATE_SHAPE, path, "this is not the state of a retry policy")


def _u32(value: object, path: Path) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= U32_MAX:
        return value
    raise RetryFormError.at(Label.STATE_SHAPE, path, f"a counter is an integer from 0 to {U32_MAX}")
