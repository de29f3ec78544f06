"""What a saga carries from one decision to the next, and what counts as the same policy.

Source: retry 6.5, 6.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from policyd.core.retry.errors import Label, RetryFormError
from policyd.core.retry.fingerprint import rule_fingerprint, tree_fingerprint
from policyd.core.retry.policy import NamedPolicy, Policy
from policyd.core.retry.state import (
    Counted,
    Counter,
    Paired,
    Sequenced,
    State,
    Terminal,
    Wrapped,
    initial_state,
    state_from_json,
    state_to_json,
)

VERSION = 1


class IdentityChoice(Enum):
    """What counts as the same policy; the host's own definition is not published.

    Source: retry 6.5.
    """

    TREE = "tree"
    RULE = "rule"
    NAME_AND_TREE = "name+tree"


def identity_of(rule: NamedPolicy | None, policy: Policy, choice: IdentityChoice) -> str:
    """The identity of the policy that decides.

    Args:
        rule: the rule selected; None for the configured default.
        policy: its tree.
        choice: what counts.
    """
    match choice:
        case IdentityChoice.TREE:
            return tree_fingerprint(policy)
        case IdentityChoice.RULE:
            return tree_fingerprint(policy) if rule is None else rule_fingerprint(rule)
        case IdentityChoice.NAME_AND_TREE:
            name = "" if rule is None else rule.name
            return f"{name}:{tree_fingerprint(policy)}"


@dataclass(frozen=True, slots=True)
class Continuation:
    """The opaque value that one decision hands to the next; belongs to one saga call.

    Attributes:
        policy: identity of the policy.
        rule: name of the rule, None for the configured default.
        attempt: of the decision that made it.
        state: of the policy.
        started_ns: when the saga began.
        elapsed_ns: at that decision.
    """

    policy: str
    rule: str | None
    attempt: int
    state: State
    started_ns: int
    elapsed_ns: int

    def fits(self, policy: Policy) -> bool:
        """Whether the state has the structure of the policy."""
        return _structure(self.state) == _structure(initial_state(policy))


def _structure(state: State) -> object:
    match state:
        case Counter():
            return "C"
        case Terminal():
            return "T"
        case Counted(_, inner):
            return ("K", _structure(inner))
        case Wrapped(inner):
            return ("W", _structure(inner))
        case Sequenced(left, right, _):
            return ("A", _structure(left), _structure(right))
        case Paired(left, right):
            return ("P", _structure(left), _structure(right))


def continuation_to_json(continuation: Continuation) -> dict[str, object]:
    """The JSON form.

    Source: retry 6.6.
    """
    return {
        "v": VERSION,
        "policy": continuation.policy,
        "rule": continuation.rule,
        "attempt": continuation.attempt,
        "state": state_to_json(continuation.state),
        "started_ns": str(continuation.started_ns),
        "elapsed_ns": str(continuation.elapsed_ns),
    }


def continuation_from_json(document: object) -> Continuation:
    """Read the JSON form.

    Raises:
        RetryFormError: RETRY126.
    """
    if not isinstance(document, Mapping) or document.get("v") != VERSION:
        raise _wrong("a continuation is an object with `v` 1")
    policy, rule = document.get("policy"), document.get("rule")
    attempt = document.get("attempt")
    if not isinstance(policy, str) or not (rule is None or isinstance(rule, str)):
        raise _wrong("a continuation names its `policy`, and its `rule` or null")
    if not isinstance(attempt, int) or isinstance(attempt, bool) or attempt < 1:
        raise _wrong("`attempt` of a continuation is a number from 1")
    state = state_from_json(document.get("state"), ("state",))
    started = _nanoseconds(document.get("started_ns", 0), "started_ns")
    return Continuation(policy, rule, attempt, state, started, _nanoseconds(document.get("elapsed_ns"), "elapsed_ns"))


def _nanoseconds(value: object, name: str) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 30:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise _wrong(f"`{name}` of a continuation is a number of nanoseconds")


def _wrong(message: str) -> RetryFormError:
    return RetryFormError.at(Label.STATE_SHAPE, (), message)
