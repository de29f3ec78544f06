"""Resources of agent operations: methods, indexes, invocation keys, plugins.

Source: host 4.10, 4.11.
"""

from __future__ import annotations

from policyd.core.grants.names import U64_MAX, is_ident, parse_u64, parse_uuid
from policyd.core.grants.resources import Exact, OplogRange, Resource
from policyd.core.grants.resources.exact import ANY, EMPTY
from policyd.core.operations.refusal import Refusal, RefusalKind

GUEST_PAGE = 100
"""How many entries a page of the guest's oplog interface asks for."""


def called_method(name: str) -> Resource | Refusal:
    """What calling a method from a guest asks for: the name is read as a resource, without regard to the verb.

    >>> called_method("42").kind, called_method("run").kind
    ('oplog-index', 'method')
    """
    if name == "*":
        return ANY
    if name == "":
        return EMPTY
    number = parse_u64(name)
    if number is not None:
        return Exact("oplog-index", str(number))
    uuid = parse_uuid(name)
    if uuid is not None:
        return Exact("invocation-uuid", uuid)
    if not is_ident(name):
        return Refusal(RefusalKind.RESOURCE, f"invalid agent resource: {name}")
    return Exact("method", name)


def invocation_key(key: str) -> Exact:
    """What cancelling an invocation asks for: a UUID in any spelling is one target, other keys stand as they are."""
    uuid = parse_uuid(key)
    return Exact("invocation-name", key) if uuid is None else Exact("invocation-uuid", uuid)


def guest_page(start: int, size: int) -> OplogRange | Refusal:
    """What a page of the guest's oplog interface asks for."""
    end = start + size - 1
    if size <= 0 or end > U64_MAX:
        return Refusal(RefusalKind.RANGE, "page end overflows")
    return OplogRange(start, end)


def service_page(start: int, count: int) -> OplogRange:
    """What a page of the service asks for: no entries ask for one index, a page past the last index for all behind."""
    end = start + max(count, 1) - 1
    return OplogRange(start, None if end > U64_MAX else end)
