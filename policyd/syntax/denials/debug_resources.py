"""Debug forms of resources to resources, one reader per resource kind.

Source: host 5.2; cards 2.2.
"""

from __future__ import annotations

from collections.abc import Callable

from policyd.core.grants import ANYONE, Level, Recipient, ResourceKind
from policyd.core.grants.names import U64_MAX, ascii_lower, is_env_var, parse_uuid
from policyd.core.grants.resources import (
    Argument,
    CardTarget,
    Exact,
    FilePath,
    HttpRoute,
    Invocation,
    NetworkResource,
    OplogRange,
    Ports,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.exact import ANY, EMPTY, NOTHING
from policyd.core.grants.resources.network import ANY_PORT, PORT_MAX
from policyd.syntax.denials.debug_form import Form

LEVELS = ("account", "application", "environment", "component")
"""The fields of the leading segments of owners and recipients."""

LEAVES = ("agent", "tool", "name", "tool_name", "agent_type", "agent_type_name")
"""The fields of their last segment."""


_STARS = frozenset({"Wildcard", "Star", "Any", "AnySegment", "SingleWildcard", "AnyOne"})

_GLOBSTARS = frozenset({"Globstar", "GlobStar", "DoubleStar", "DoubleWildcard", "AnyDepth", "Recursive", "AnyMany"})

_ANYS = frozenset({"Any", "AnyInvocation", "AnyRecipient", "Wildcard", "All"})


class NoTarget(Exception):  # noqa: N818 - never leaves the package
    """The form is no target that we know; the text says which part."""


def name_of(form: Form) -> str:
    """The one text inside a form.

    Raises:
        NoTarget: if there is none, or more than one.
    """
    text = form.plain
    if text is None:
        raise NoTarget("name")
    return text


def _text(form: Form, *names: str) -> str:
    fields = form.by_name
    for name in names:
        if name in fields:
            inner = fields[name].bare
            if inner.text is None and inner.name in _STARS:
                return "*"
            return name_of(inner)
    raise NoTarget("resource")


def _is_any(bare: Form) -> bool:
    return bare.text is None and bare.name in _ANYS and not bare.fields and not bare.items


def _segments(form: Form) -> tuple[str, ...] | None:
    """The segments inside newtypes and a struct with the field `segments`, or None if there is no list."""
    here = form
    while True:
        if here.text is not None:
            return None
        if not here.name and not here.fields:
            return tuple(_segment(item) for item in here.items)
        if "segments" in here.by_name:
            here = here.by_name["segments"]
        elif len(here.fields) == 1:
            here = here.fields[0][1]
        elif len(here.items) == 1:
            here = here.items[0]
        else:
            return None


def _segment(form: Form) -> str:
    if form.text is None and not form.items and not form.fields:
        if form.name in _STARS:
            return "*"
        if form.name in _GLOBSTARS:
            return "**"
    return name_of(form)


def _files(bare: Form, form: Form) -> Resource:
    segments = _segments(form)
    if segments is not None:
        return FilePath(segments)
    if _is_any(bare):
        return FilePath(("**",))
    path = name_of(bare)
    if not path.startswith("/"):
        raise NoTarget("resource")
    return FilePath(tuple(s for s in path.split("/") if s))


def _initial_files(bare: Form, form: Form) -> Resource:
    files = _files(bare, form)
    assert isinstance(files, FilePath)  # the reader of paths gives nothing else
    return SegmentPath(files.segments, "/")


def _key(bare: Form, form: Form) -> Resource:
    segments = _segments(form)
    if segments:
        return SegmentPath(segments, ".")
    return ANY if _is_any(bare) else SegmentPath(tuple(name_of(bare).split(".")), ".")


def _network(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    ports = _ports(bare.by_name.get("ports", Form("Any")))
    return NetworkResource(ascii_lower(_text(bare, "host", "host_pattern")), ports)


def _ports(form: Form) -> Ports:
    if form.name == "Some" and len(form.items) == 1:
        form = form.items[0]
    if form.name in ("Any", "None"):
        return ANY_PORT
    parts = form.items or tuple(value for _, value in form.fields)
    numbers = [_number(part) for part in parts] if parts else [_number(form)]
    if len(numbers) > 2 or max(numbers) > PORT_MAX:
        raise NoTarget("resource")
    return Ports(numbers[0], numbers[-1], "range" if len(numbers) == 2 else "single")


def _number(form: Form) -> int:
    text = name_of(form)
    if not (text.isascii() and text.isdigit()) or int(text) > U64_MAX:
        raise NoTarget("resource")
    return int(text)


def _variable(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    name = name_of(bare)
    if not is_env_var(name):
        raise NoTarget("resource")
    return Exact("variable", name)


def _oplog(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    bounds = {name: None if value.name == "None" else _number(value) for name, value in bare.fields}
    if not bounds or not bounds.keys() <= {"start", "end"}:
        raise NoTarget("resource")
    return OplogRange(bounds.get("start"), bounds.get("end"))


_AGENT_KINDS = {
    "Method": "method",
    "OplogIndex": "oplog-index",
    "PluginName": "plugin",
    "InvocationId": "invocation-name",
}


def _agent(bare: Form, form: Form) -> Resource:
    if form.name == "Empty":
        return EMPTY
    if form.name == "Any":
        return ANY
    kind = _AGENT_KINDS.get(form.name, "")
    text = name_of(bare)
    if not kind:
        raise NoTarget("resource")
    if kind == "oplog-index":
        return Exact(kind, str(_number(bare)))
    uuid = parse_uuid(text) if kind == "invocation-name" else None
    return Exact("invocation-uuid", uuid) if uuid is not None else Exact(kind, text)


def _tool(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    fields = dict(bare.fields)
    command = _command(fields.pop("command_path", fields.pop("command", Form("None"))))
    arguments = fields.pop("arguments", fields.pop("args", Form()))
    if fields or arguments.name or arguments.text is not None:
        raise NoTarget("resource")
    return Invocation(command, tuple(_argument(item) for item in arguments.items))


def _command(form: Form) -> tuple[str, ...] | None:
    if form.name == "None":
        return None
    words = _segments(form)
    if words is None:
        words = tuple(name_of(form).split("."))
    return words or None


def _argument(form: Form) -> Argument:
    if "name" in form.by_name:
        name = name_of(form.by_name["name"])
        value = form.by_name.get("value", Form("None"))
        return Argument(f"--{name}") if value.name == "None" else Argument(f"--{name}={_segment(value.bare)}")
    if form.name.startswith("Short"):
        letters = _segments(form)
        return Argument("-" + (name_of(form) if letters is None else "".join(letters)))
    return Argument(name_of(form))


def _store_key(bare: Form, form: Form) -> Resource:
    store = _text(bare, "store", "bucket", "container", "store_pattern", "bucket_pattern")
    return StoreKey(store, _text(bare, "key_pattern", "key", "object"))


def _table(bare: Form, form: Form) -> Resource:
    return TableName(_text(bare, "database"), _text(bare, "schema"), _text(bare, "table"))


def _card(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    here = form
    while not here.fields and len(here.items) == 1:
        here = here.items[0]
    fields = here.by_name
    names = [name_of(fields[level]) for level in LEVELS if level in fields]
    names += [name_of(fields[leaf]) for leaf in LEAVES if leaf in fields]
    if len(names) != len(fields) or len(names) not in tuple(Level):
        raise NoTarget("resource")
    if names:
        names[0] = ascii_lower(names[0])
    return CardTarget(Recipient(Level(len(names)), tuple(names)) if names else ANYONE)


def _nothing(bare: Form, form: Form) -> Resource:
    return NOTHING


def _revision(bare: Form, form: Form) -> Resource:
    return ANY if _is_any(bare) else Exact("revision", f"@rev={_number(bare)}")


def _domain(bare: Form, form: Form) -> Resource:
    labels = _segments(form)
    if labels:
        return Exact("domain", ".".join(labels))
    return ANY if _is_any(bare) else Exact("domain", name_of(bare))


def _route(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    fields = bare.by_name
    if "domain" not in fields:
        raise NoTarget("resource")
    labels = _segments(fields["domain"])
    domain = ".".join(labels) if labels else _text(bare, "domain")
    path = next((value for name, value in bare.fields if name.startswith("path")), Form("Any"))
    segments = _segments(path)
    if segments is None:
        segments = ("**",) if _is_any(path.bare) else tuple(s for s in name_of(path).split("/") if s)
    return HttpRoute(domain, "/" + "/".join(segments))


def _identity(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    if bare.text is not None:
        return Exact("identity", bare.text)
    return Exact("identity", f"{_text(bare, 'provider')}/{_text(bare, 'external_id')}")


def _plan(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    uuid = parse_uuid(name_of(bare))
    return Exact("uuid", uuid) if uuid is not None else Exact("name", name_of(bare))


def _uuid(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    uuid = parse_uuid(name_of(bare))
    if uuid is None:
        raise NoTarget("resource")
    return Exact("uuid", uuid)


def _named(bare: Form, form: Form) -> Resource:
    return ANY if _is_any(bare) else Exact("name", name_of(bare))


READERS: dict[ResourceKind, Callable[[Form, Form], Resource]] = {
    ResourceKind.FILES: _files,
    ResourceKind.NETWORK: _network,
    ResourceKind.VARIABLE: _variable,
    ResourceKind.OPLOG: _oplog,
    ResourceKind.KEY: _key,
    ResourceKind.AGENT: _agent,
    ResourceKind.TOOL: _tool,
    ResourceKind.STORE_KEY: _store_key,
    ResourceKind.TABLE: _table,
    ResourceKind.CARD: _card,
    ResourceKind.EMPTY: _nothing,
    ResourceKind.PLAN: _plan,
    ResourceKind.UUID: _uuid,
    ResourceKind.IDENT: _named,
    ResourceKind.DOTTED_IDENT: _named,
    ResourceKind.APPLICATION: _nothing,
    ResourceKind.REVISION: _revision,
    ResourceKind.DOMAIN: _domain,
    ResourceKind.ROUTE: _route,
    ResourceKind.IDENTITY: _identity,
    ResourceKind.INITIAL_FILES: _initial_files,
    ResourceKind.NAME: _named,
    ResourceKind.TOOL_NAME: _named,
}

"""A reader per resource kind: of the innermost value, and of the whole form."""
