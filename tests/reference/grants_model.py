"""Coverage between grants, from their canonical texts: slow, plain, and without the core's values.

Each function follows its rule of the specification to the letter; nothing is shared with the package.
"""

import re
from functools import cache

AGENT_OWNED = {"filesystem", "env", "oplog", "config", "agent"}
KEYS = {"config", "secret", "environment.agent-secret"}
STORES = {"kv", "blob"}
SINGLE_VALUED = {"system", "account", "account.usage", "application"}


def split(grant):
    """P1, for canonical texts: class, owner, recipient, verb, resource."""
    cls, rest = grant.split("(", 1)
    owner, rest = rest.split(") @ ", 1)
    recipient, rest = rest.split(" : ", 1)
    verb, resource = rest.split(" : ", 1)
    return cls, owner, recipient, verb, resource


def grant_covers(a, b):
    """S3: pattern against pattern."""
    return target_covers(a, b) and recipient_covers(split(a)[2], split(b)[2])


def target_covers(a, b):
    """S1, S2, S4: the same without the recipients."""
    cls_a, owner_a, _, verb_a, resource_a = split(a)
    cls_b, owner_b, _, verb_b, resource_b = split(b)
    return (
        cls_a == cls_b
        and (verb_a in ("*", verb_b))
        and owner_covers(owner_a, owner_b, cls_a)
        and resource_covers(cls_a, (verb_a, resource_a), (verb_b, resource_b))
    )


def owner_covers(a, b, cls):
    """O5, O6."""
    left, right = _owner(a, cls), _owner(b, cls)
    k = len(left)
    if len(right) < k:
        return False
    for i in range(k):
        if cls in AGENT_OWNED and i == 4:
            if not _leaf_covers(left[4], right[4]):
                return False
        elif left[i] != right[i]:
            return False
    return True


def _owner(text, cls):
    segments = text.split("/") if text else []
    while segments and segments[-1] == "*":
        segments.pop()
    return segments


def _type_of(leaf):
    return leaf[:-3] if leaf.endswith("(*)") and len(leaf) > 3 else None


def _leaf_covers(a, b):
    wild_a, wild_b = _type_of(a), _type_of(b)
    if wild_a is None:
        return wild_b is None and a == b
    if wild_b is not None:
        return wild_a == wild_b
    return b.startswith(wild_a) and re.fullmatch(r"\(.*\)", b[len(wild_a) :], re.DOTALL) is not None


def recipient_covers(a, b, *, tool_owner=True):
    """R4 row by row; with `tool_owner` the shape of its own of 10.1."""
    shape, left = _shape(a, tool_owner)
    other, right = _shape(b, tool_owner)
    kind = {"Any": 0, "Account": 1}.get(other, 3 if "Environment" in other and "Agents" not in other else 5)
    prefix = right[: len(left)] == left
    match shape:
        case "Any":
            return True
        case "Account":
            return other != "Any" and prefix
        case "AccountEnvironments" | "ApplicationEnvironments" | "Environment":
            return kind in (3, 5) and prefix
        case "AccountAgents" | "ApplicationAgents" | "EnvironmentAgents" | "ComponentAgents":
            return kind == 5 and prefix
        case "Agent" | "ToolOwner":
            return other == shape and left == right
    raise AssertionError(shape)


def _shape(text, tool_owner):
    if text == "*":
        return "Any", []
    segments = text.split("/")
    depth = len(segments)
    known = [s for s in segments if s != "*"]
    if tool_owner and depth == 5 and segments[4] == "~external-tool-owner":
        return "ToolOwner", known
    names = {
        (1, 1): "Account",
        (3, 1): "AccountEnvironments",
        (3, 2): "ApplicationEnvironments",
        (3, 3): "Environment",
        (5, 1): "AccountAgents",
        (5, 2): "ApplicationAgents",
        (5, 3): "EnvironmentAgents",
        (5, 4): "ComponentAgents",
        (5, 5): "Agent",
    }
    return names[depth, len(known)], known


def resource_covers(cls, left, right):
    """RS-*: `left` and `right` are pairs of verb and canonical resource text."""
    (verb_a, a), (verb_b, b) = left, right
    if cls in SINGLE_VALUED:
        return True
    if cls == "filesystem":
        return files_cover(tuple(_segments(a)), tuple(_segments(b)))
    if cls == "environment.initial-files":
        return _positions_cover(_segments(a), _segments(b))
    if cls in STORES:
        (store_a, key_a), (store_b, key_b) = a.split(".", 1), b.split(".", 1)
        return (store_a in ("*", store_b)) and (key_a in ("*", "**", key_b))
    if cls == "rdbms":
        return all(x in ("*", y) for x, y in zip(a.split("."), b.split("."), strict=True))
    if a == "*":
        return True
    if b == "*":
        return False
    if cls in KEYS:
        return _positions_cover(a.split("."), b.split("."))
    if cls == "network":
        return _network_covers(a, b)
    if cls == "oplog":
        (start_a, end_a), (start_b, end_b) = _range(a), _range(b)
        return start_a <= start_b and end_b <= end_a
    if cls == "agent":
        return (_agent_kind(verb_a, a), a) == (_agent_kind(verb_b, b), b)
    if cls == "card":
        return recipient_covers(a, b)
    if cls == "environment.http-api-deployment":
        (domain_a, path_a), (domain_b, path_b) = a.split(".", 1), b.split(".", 1)
        return domain_a in ("*", domain_b) and path_a == path_b
    return a == b


def _segments(path):
    return path[1:].split("/") if path != "/" else []


@cache
def files_cover(left, right):
    """RS-fs, the recursion as it stands there."""
    if not left:
        return not right
    if left[0] == "**":
        if len(left) == 1:
            return True
        return files_cover(left[1:], right) or (bool(right) and files_cover(left, right[1:]))
    if not right:
        return False
    return _one(left[0], right[0]) and files_cover(left[1:], right[1:])


def _one(a, b):
    if a == "*":
        return b != "**"
    if b in ("*", "**") or a == "**":
        return False
    return a == b


def _positions_cover(left, right):
    if left and left[0] == "**":
        return True
    if len(left) != len(right):
        return False
    for a, b in zip(left, right, strict=True):
        if a == "**":
            continue
        if not _one(a, b):
            return False
    return True


def _network_covers(a, b):
    (host_a, ports_a), (host_b, ports_b) = _host(a), _host(b)
    if host_a != "*":
        labels_a, labels_b = host_a.split("."), host_b.split(".")
        if len(labels_a) != len(labels_b):
            return False
        if any(x not in ("*", y) for x, y in zip(labels_a, labels_b, strict=True)):
            return False
    if ports_a is None:
        return True
    if ports_b is None:
        return False
    if len(ports_a) == 1:
        return ports_a == ports_b
    return ports_a[0] <= ports_b[0] and ports_b[-1] <= ports_a[1]


def _host(text):
    host, colon, ports = text.rpartition(":")
    if not colon:
        return text, None
    return host, [int(n) for n in ports.split("-")]


def _range(text):
    bounds = {"start": 0, "end": 2**64 - 1}
    for piece in text.split(":"):
        name, value = piece.split("=")
        bounds[name] = int(value)
    return bounds["start"], bounds["end"]


def _agent_kind(verb, text):
    if text == "":
        return "empty"
    if verb in ("*", "revert") and re.fullmatch("[0-9]+", text):
        return "index"
    if verb in ("*", "cancel-invocation") and re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text):
        return "uuid"
    return {"cancel-invocation": "name", "activate-plugin": "plugin", "deactivate-plugin": "plugin"}.get(verb, "method")
