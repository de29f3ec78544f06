"""Targets in the Debug form in which the platform names them.

Source: host 5.2; the parts that are not published there are written as the values are named in cards 2.2.
"""

from __future__ import annotations

from policyd.core.grants import ANY_VERB, Owner, OwnerKind, ResourceKind, Target
from policyd.core.grants.resources import (
    CardTarget,
    Exact,
    FilePath,
    HttpRoute,
    Invocation,
    NetworkResource,
    OplogRange,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.exact import ANY, NOTHING

_NAMES = ("AccountEmail", "ApplicationName", "EnvironmentName", "ComponentName")
_FIELDS = ("account", "application", "environment", "component")
_WILDCARDS = ("Any", "Account", "Application", "Environment", "Component")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def text_of(value: str) -> str:
    """A text as Rust writes it."""

    def one(c: str) -> str:
        return _ESCAPES.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}")

    return '"' + "".join(one(c) for c in value) + '"'


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.replace(".", "-").split("-"))


def debug_of(target: Target) -> str:
    """The target as one line."""
    variant = camel(target.cls.name)
    verb = "None" if target.verb == ANY_VERB else f"Some({camel(target.verb)})"
    owner, resource = owner_of(target.owner), resource_of(target)
    return f"{variant}(ClassPermissionTarget {{ verb: {verb}, owner: {owner}, resource: {resource} }})"


def pretty(debug: str) -> str:
    """The same over many lines, as `{:#?}` writes it; texts stay whole."""
    out, depth, at = [], 0, 0
    while at < len(debug):
        c = debug[at]
        if c == '"':
            end = at + 1
            while debug[end] != '"':
                end += 2 if debug[end] == "\\" else 1
            out.append(debug[at : end + 1])
            at = end + 1
            continue
        if c in "({[" and debug[at + 1] not in ")}]":
            depth += 1
            out.append(c + "\n" + "    " * depth)
        elif c in ")}]" and debug[at - 1] not in "({[":
            depth -= 1
            out.append(",\n" + "    " * depth + c)
        elif c == ",":
            out.append(",\n" + "    " * depth)
        elif (c == " " and debug[at - 1] in "{,(") or (c == " " and debug[at + 1 : at + 2] in "})"):
            pass
        else:
            out.append(c)
        at += 1
    return "".join(out)


def owner_of(owner: Owner) -> str:
    if owner.kind is OwnerKind.EMPTY:
        return "EmptyOwnerPattern"
    fields = [f"{f}: {n}({text_of(v)})" for f, n, v in zip(_FIELDS, _NAMES, owner.known, strict=False)]
    if len(owner.known) < owner.kind.depth:
        plural = {"agent": "Agents", "tool": "Tools"}.get(owner.kind.value, camel(owner.kind.value) + "s")
        name = _WILDCARDS[len(owner.known)] + plural
        return f"{name} {{ {', '.join(fields)} }}" if fields else name
    if owner.kind is OwnerKind.AGENT:
        leaf = text_of(owner.known[4])
        fields.append(
            f"agent: AgentTypeWildcard(AgentTypeName({leaf}))" if owner.is_type_wildcard else f"agent: Agent({leaf})"
        )
    elif owner.kind is OwnerKind.TOOL:
        fields.append(f"tool: ToolName({text_of(owner.known[4])})")
    return f"{camel(owner.kind.value)} {{ {', '.join(fields)} }}"


def _segments(segments: tuple[str, ...]) -> str:
    names = {"*": "Wildcard", "**": "Globstar"}
    return "[" + ", ".join(names.get(s) or f"Literal({text_of(s)})" for s in segments) + "]"


_AGENT = {
    "method": "Method(AgentMethodName({}))",
    "oplog-index": "OplogIndex({})",
    "plugin": "PluginName(AgentPluginName({}))",
    "invocation-name": "InvocationId(Ident({}))",
    "invocation-uuid": "InvocationId(Uuid({}))",
}


def resource_of(target: Target) -> str:
    resource = target.resource
    if resource == ANY:
        return "Any"
    if resource == NOTHING:
        return "Empty"
    match resource:
        case FilePath(segments):
            return f"Path(FilesystemPathPattern {{ segments: {_segments(segments)} }})"
        case SegmentPath(segments, separator):
            inner = f"KeyPattern {{ segments: {_segments(segments)} }}"
            return f"Path({inner})" if separator == "/" else f"Key({inner})"
        case NetworkResource(host, ports):
            span = {"any": "Any", "single": f"Single({ports.low})"}.get(ports.form)
            span = span or f"Range {{ start: {ports.low}, end: {ports.high} }}"
            return f"HostPort {{ host: {text_of(host)}, ports: {span} }}"
        case OplogRange(start, end):
            bounds = ["None" if n is None else f"Some({n})" for n in (start, end)]
            return f"Range {{ start: {bounds[0]}, end: {bounds[1]} }}"
        case StoreKey(store, key):
            if target.cls.name == "blob":
                return f"BucketKey {{ bucket: {text_of(store)}, key_pattern: {text_of(key)} }}"
            return f"StoreKey {{ store: {text_of(store)}, key_pattern: {text_of(key)} }}"
        case TableName(database, schema, table):
            return f"Table {{ database: {text_of(database)}, schema: {text_of(schema)}, table: {text_of(table)} }}"
        case HttpRoute(domain, path):
            labels = ", ".join(text_of(label) for label in domain.split("."))
            return f"Route {{ domain: [{labels}], path: {_segments(tuple(s for s in path.split('/') if s))} }}"
        case Invocation(command, arguments):
            words = "None" if command is None else f"Some([{', '.join(text_of(w) for w in command)}])"
            items = ", ".join(_argument(a.text) for a in arguments)
            return f"Invocation(ToolInvocationPattern {{ command_path: {words}, arguments: [{items}] }})"
        case CardTarget(recipient):
            fields = [f"{f}: {n}({text_of(v)})" for f, n, v in zip(_FIELDS, _NAMES, recipient.known, strict=False)]
            if len(recipient.known) == 5:
                fields.append(f"agent_type: AgentTypeName({text_of(recipient.known[4])})")
            return f"Recipient(Agent {{ {', '.join(fields)} }})"
        case Exact("empty", _):
            return "Empty"
        case Exact(kind, text) if target.cls.resource is ResourceKind.AGENT:
            plain = kind in ("oplog-index", "invocation-uuid")
            return _AGENT[kind].format(text if plain else text_of(text))
        case Exact("revision", text):
            return f"Revision(ComponentRevision({text.partition('=')[2]}))"
        case Exact("uuid", text):
            return f"Id(TokenId({text}))"
        case Exact("domain", text):
            return f"Domain([{', '.join(text_of(label) for label in text.split('.'))}])"
        case Exact(_, text):
            return f"Name(ResourceName({text_of(text)}))"
    raise AssertionError(resource)


def _argument(text: str) -> str:
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        shown = f"Some(Literal({text_of(value)}))" if equals else "None"
        return f"LongFlag {{ name: {text_of(name)}, value: {shown} }}"
    if text.startswith("-"):
        return f"ShortFlags([{', '.join(chr(39) + c + chr(39) for c in text[1:])}])"
    return f"Positional(Literal({text_of(text)}))"
