"""What the REST interface answers to requests about retry policies, and in which order it looks.

Source: retry 1.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Operation(Enum):
    """What is asked."""

    CREATE = "create"
    LIST = "list"
    GET = "get"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Request:
    """A request as far as its answer depends on it.

    Attributes:
        operation: what is asked.
        verbs: of the class for retry policies that the caller holds on the policy.
        sees_environment: whether the caller may view the environment.
        exists: whether the policy exists.
        is_current: whether the revision given is the stored one.
        has_predicate: whether the predicate can be read.
        has_policy: whether the policy can be read.
        name_is_free: whether no policy of the environment has the name.
    """

    operation: Operation
    verbs: frozenset[str] = frozenset()
    sees_environment: bool = True
    exists: bool = True
    is_current: bool = True
    has_predicate: bool = True
    has_policy: bool = True
    name_is_free: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """Status and code; an empty code where the request is done."""

    status: int
    code: str = ""


NOT_FOUND = Reply(404, "RETRY_POLICY_NOT_FOUND")


def reply_to(request: Request) -> Reply:
    """The answer: permissions first, then revision, predicate, policy and name.

    A caller without `view` learns nothing, not even that the policy exists.
    """
    if request.operation in (Operation.CREATE, Operation.LIST):
        if not request.sees_environment:
            return Reply(404, "ENVIRONMENT_NOT_FOUND")
    elif not request.exists or "view" not in request.verbs:
        return NOT_FOUND
    changes = request.operation in (Operation.CREATE, Operation.UPDATE, Operation.DELETE)
    if changes and request.operation.value not in request.verbs:
        return Reply(403, "AUTH_FORBIDDEN")
    if request.operation in (Operation.UPDATE, Operation.DELETE) and not request.is_current:
        return Reply(409, "CONCURRENT_UPDATE")
    if request.operation in (Operation.CREATE, Operation.UPDATE):
        if not request.has_predicate:
            return Reply(400, "RETRY_POLICY_INVALID_PREDICATE_JSON")
        if not request.has_policy:
            return Reply(400, "RETRY_POLICY_INVALID_POLICY_JSON")
    if request.operation is Operation.CREATE and not request.name_is_free:
        return Reply(409, "RETRY_POLICY_ALREADY_EXISTS")
    return Reply(200)
