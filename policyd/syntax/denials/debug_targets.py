"""Debug forms of targets to targets.

The forms that are published are read exactly; of the others (paths, keys, tool calls, objects of the services) the
meaning of the parts is taken from their names, and what does not fit is no target: nothing is guessed into one.

Source: host 5.2; cards 2.1, 2.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from policyd.core.grants import (
    ALL_CLASSES,
    ANY_VERB,
    ANYONE,
    Level,
    Owner,
    OwnerKind,
    PermissionClass,
    Recipient,
    ResourceKind,
    Target,
)
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

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_CLASSES = {cls.name: cls for cls in ALL_CLASSES}
_FULL_OWNERS = frozenset(kind.value for kind in OwnerKind) - {"empty"}
_LEVELS = ("account", "application", "environment", "component")
_LEAVES = ("agent", "tool", "name", "tool_name", "agent_type", "agent_type_name")
_STARS = frozenset({"Wildcard", "Star", "Any", "AnySegment", "SingleWildcard", "AnyOne"})
_GLOBSTARS = frozenset({"Globstar", "GlobStar", "DoubleStar", "DoubleWildcard", "AnyDepth", "Recursive", "AnyMany"})
_ANYS = frozenset({"Any", "AnyInvocation", "AnyRecipient", "Wildcard", "All"})


class NoTarget(Exception):  # noqa: N818 - never leaves the package
    """The form is no target that we know; the text says which part."""


@dataclass(frozen=True, slots=True)
class ReadTarget:
    """What a Debug form says about a target.

    Attributes:
        cls: the class, None for an unknown one.
        verb: the verb, empty where it is not told or not one of the class.
        target: all of it, None where a part is missing or unknown.
        missing: which part, empty with a target.
    """

    cls: PermissionClass | None
    verb: str
    target: Target | None
    missing: str

    @property
    def text(self) -> str:
        """The target in the short form, or what is known of it."""
        if self.target is not None:
            return self.target.text
        name = self.cls.name if self.cls else "?"
        return f"{name}(…) : {self.verb or '…'} : …"


def kebab(name: str) -> str:
    """A CamelCase identifier as the specifications write it.

    >>> kebab("UpdateRevision"), kebab("AccountOauth2Identity")
    ('update-revision', 'account-oauth2-identity')
    """
    return _CAPITAL.sub("-", name).lower()


def class_of(variant: str) -> PermissionClass | None:
    """The class that a variant names, or None.

    >>> class_of("EnvironmentRetryPolicy").name, class_of("Kv").name
    ('environment.retry-policy', 'kv')
    """
    name = kebab(variant)
    return _CLASSES.get(name) or _CLASSES.get(name.replace("-", ".", 1))


def read_target(form: Form) -> ReadTarget:
    """The target that `Variant(ClassPermissionTarget { … })` stands for, or what of it is readable."""
    cls = class_of(form.name)
    inner = form.items[0] if len(form.items) == 1 else form
    fields = inner.by_name
    verb = _verb(fields.get("verb"), cls)
    if cls is None:
        return ReadTarget(None, verb, None, "class")
    if not verb:
        return ReadTarget(cls, "", None, "verb")
    try:
        owner = _owner(fields.get("owner", Form()), cls.owner)
    except NoTarget:
        return ReadTarget(cls, verb, None, "owner")
    try:
        resource = _READERS[cls.resource](fields["resource"].bare, fields["resource"])
    except (NoTarget, KeyError):
        return ReadTarget(cls, verb, None, "resource")
    return ReadTarget(cls, verb, Target(cls, owner, verb, resource), "")


def _verb(form: Form | None, cls: PermissionClass | None) -> str:
    if form is None:
        return ""
    if form.name == "None":
        return ANY_VERB
    name = kebab(form.items[0].name) if form.name == "Some" and len(form.items) == 1 else kebab(form.name)
    return name if cls is not None and name in cls.verbs else ""


def _owner(form: Form, kind: OwnerKind) -> Owner:
    if kind is OwnerKind.EMPTY:
        if form.fields or form.items:
            raise NoTarget("owner")
        return Owner(kind)
    form = form if form.fields else form.bare
    fields = form.by_name
    known: list[str] = []
    for level in _LEVELS[: kind.depth]:
        if level not in fields:
            break
        known.append(_name(fields[level]))
    leaves = [name for name in _LEAVES if name in fields]
    is_type = False
    if leaves:
        if len(known) != len(_LEVELS) or len(leaves) != 1 or kind.depth != len(_LEVELS) + 1:
            raise NoTarget("owner")
        leaf = fields[leaves[0]]
        is_type = leaf.name == "AgentTypeWildcard"
        known.append(_name(leaf))
    if len(fields) != len(known) or not form.name:
        raise NoTarget("owner")
    # The names of whole owners are those of the kinds; every other name is a wildcard and stops earlier.
    is_whole = form.name.lower() in _FULL_OWNERS
    if is_whole != (len(known) == kind.depth) or not (known or form.name.startswith("Any")):
        raise NoTarget("owner")
    if known:
        known[0] = ascii_lower(known[0])
    return Owner(kind, tuple(known), None, is_type)


def _name(form: Form) -> str:
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
            return _name(inner)
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
    return _name(form)


def _files(bare: Form, form: Form) -> Resource:
    segments = _segments(form)
    if segments is not None:
        return FilePath(segments)
    if _is_any(bare):
        return FilePath(("**",))
    path = _name(bare)
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
    return ANY if _is_any(bare) else SegmentPath(tuple(_name(bare).split(".")), ".")


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
    text = _name(form)
    if not (text.isascii() and text.isdigit()) or int(text) > U64_MAX:
        raise NoTarget("resource")
    return int(text)


def _variable(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    name = _name(bare)
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
    text = _name(bare)
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
        words = tuple(_name(form).split("."))
    return words or None


def _argument(form: Form) -> Argument:
    if "name" in form.by_name:
        name = _name(form.by_name["name"])
        value = form.by_name.get("value", Form("None"))
        return Argument(f"--{name}") if value.name == "None" else Argument(f"--{name}={_segment(value.bare)}")
    if form.name.startswith("Short"):
        letters = _segments(form)
        return Argument("-" + (_name(form) if letters is None else "".join(letters)))
    return Argument(_name(form))


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
    names = [_name(fields[level]) for level in _LEVELS if level in fields]
    names += [_name(fields[leaf]) for leaf in _LEAVES if leaf in fields]
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
    return ANY if _is_any(bare) else Exact("domain", _name(bare))


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
        segments = ("**",) if _is_any(path.bare) else tuple(s for s in _name(path).split("/") if s)
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
    uuid = parse_uuid(_name(bare))
    return Exact("uuid", uuid) if uuid is not None else Exact("name", _name(bare))


def _uuid(bare: Form, form: Form) -> Resource:
    if _is_any(bare):
        return ANY
    uuid = parse_uuid(_name(bare))
    if uuid is None:
        raise NoTarget("resource")
    return Exact("uuid", uuid)


def _named(bare: Form, form: Form) -> Resource:
    return ANY if _is_any(bare) else Exact("name", _name(bare))


_READERS: dict[ResourceKind, Callable[[Form, Form], Resource]] = {
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
