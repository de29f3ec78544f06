"""Resource texts to resources, one reader per resource kind.

Source: cards 2.2, 2.4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from policyd.core.edition import NEXT, Rules
from policyd.core.grants.classes import PermissionClass, ResourceKind, has_any
from policyd.core.grants.grant import ANY_VERB
from policyd.core.grants.names import (
    ascii_lower,
    is_env_var,
    is_environment,
    is_ident,
    parse_u64,
    parse_uuid,
)
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
from policyd.core.grants.resources.network import ANY_PORT, PORT_MAX, is_ipv4, looks_numeric
from policyd.syntax.parser import Mismatch, Piece, parse_pieces
from policyd.syntax.recipients import parse_recipient


class ResourceRefused(Exception):  # noqa: N818 - told onwards as a GrantSyntaxError by the caller
    """The text is no resource of this class; `start` and `end` mark the part at fault."""

    def __init__(self, why: str, help: str, start: int | None = None, end: int | None = None) -> None:
        # A start without an end is the one character there; neither is the whole text.
        self.why, self.help, self.start = why, help, start or 0
        self.end = end if start is None or end is not None else start + 1
        super().__init__(why)


def parse_resource(text: str, cls: PermissionClass, verb: str, rules: Rules = NEXT) -> Resource:
    """The resource that `text` writes for `cls` and `verb` (`*` for any verb).

    Raises:
        ResourceRefused: if it is none.
        RecipientRefused: for a bad target of a `card` grant, as the platform tells it.
    """
    # Only the targets of `card` grants depend on the edition; everything else is read once for both.
    return _parsed(text, cls, verb, rules if cls.resource is ResourceKind.CARD else NEXT)


@lru_cache(maxsize=16384)
def _parsed(text: str, cls: PermissionClass, verb: str, rules: Rules) -> Resource:
    if text == "*" and has_any(cls.resource) and cls.resource is not ResourceKind.AGENT:
        return ANY
    try:
        return _READERS[cls.resource](text, verb, rules)
    except Mismatch as refusal:
        raise ResourceRefused(_why(refusal, text, cls.resource), _HELP[cls.resource], refusal.offset) from None


_GLOBBED = frozenset({ResourceKind.FILES, ResourceKind.INITIAL_FILES, ResourceKind.KEY, ResourceKind.NETWORK})


def _why(refusal: Mismatch, text: str, kind: ResourceKind) -> str:
    if not text:
        return "it is empty"
    if (
        text[refusal.offset : refusal.offset + 1] == "*"
        and kind in _GLOBBED
        and "a port number" not in refusal.expected
    ):
        return "a `*` may not be a part of a word"
    expected = " or ".join(refusal.expected)
    return f"expected {expected}" if expected else "the text ends too early"


def _pieces(grammar: str, text: str) -> list[Piece]:
    return parse_pieces(f"resource/{grammar}", text)


def _words(grammar: str, text: str) -> tuple[str, ...]:
    return tuple(piece.text for piece in _pieces(grammar, text))


def _files(text: str, verb: str, rules: Rules) -> Resource:
    return FilePath(_words("paths", text))


def _initial_files(text: str, verb: str, rules: Rules) -> Resource:
    return SegmentPath(_words("paths", text), "/")


def _key(text: str, verb: str, rules: Rules) -> Resource:
    return SegmentPath(_words("key", text), ".")


def _network(text: str, verb: str, rules: Rules) -> Resource:
    help = _HELP[ResourceKind.NETWORK]
    pieces = _pieces("network", text)
    host = ".".join(p.text for p in pieces if p.rule == "label")
    if host == "*" and any(p.terminal == "TRAILING_DOT" for p in pieces):
        raise ResourceRefused("a trailing dot may not follow a bare `*`", help)
    if "*" not in host and looks_numeric(host) and not is_ipv4(host):
        raise ResourceRefused("digits and dots that are no IPv4 address", help)
    ports = ANY_PORT
    digits = [p for p in pieces if p.rule == "ports"]
    numbers = [_port(p) for p in digits]
    if numbers:
        if numbers[0] > numbers[-1]:
            raise ResourceRefused("the port range ends before it starts", help, digits[0].start, digits[-1].end)
        ports = Ports(numbers[0], numbers[-1], "range" if len(numbers) == 2 else "single")
    if host == "*" and ports is ANY_PORT:
        return ANY
    return NetworkResource(ascii_lower(host), ports)


def _port(digits: Piece) -> int:
    significant = digits.text.lstrip("0") or "0"
    if len(significant) > 5 or int(significant) > PORT_MAX:
        raise ResourceRefused("ports end at 65535", _HELP[ResourceKind.NETWORK], digits.start, digits.end)
    return int(significant)


def _oplog(text: str, verb: str, rules: Rules) -> Resource:
    bounds: dict[str, int] = {}
    pieces = _pieces("oplog", text)
    for name, digits in zip(pieces[::2], pieces[1::2], strict=True):
        value = parse_u64(digits.text)
        if value is None:
            raise ResourceRefused(
                "an index needs more than 64 bits", _HELP[ResourceKind.OPLOG], digits.start, digits.end
            )
        bounds[name.text] = value  # a repeated key overwrites the earlier value
    return OplogRange(bounds.get("start="), bounds.get("end="))


_EMPTY_ONLY = frozenset({"delete", "interrupt", "resume", "update-revision", "fork"})


def _agent(text: str, verb: str, rules: Rules) -> Resource:
    found = _agent_value(text, verb)
    if found is None:
        raise ResourceRefused(*_agent_help(verb))
    return found


def _agent_value(text: str, verb: str) -> Resource | None:
    if verb in _EMPTY_ONLY:
        return EMPTY if text == "" else None
    if text == "*":
        return ANY
    if text == "":
        return EMPTY if verb in ("view", ANY_VERB) else None
    number = parse_u64(text) if verb in ("revert", ANY_VERB) else None
    if number is not None:
        return Exact("oplog-index", str(number))
    uuid = parse_uuid(text) if verb in ("cancel-invocation", ANY_VERB) else None
    if uuid is not None:
        return Exact("invocation-uuid", uuid)
    if verb == "revert" or not is_ident(text):
        return None
    kind = {
        "cancel-invocation": "invocation-name",
        "activate-plugin": "plugin",
        "deactivate-plugin": "plugin",
    }.get(verb, "method")
    return Exact(kind, text)


def _agent_help(verb: str) -> tuple[str, str]:
    if verb in _EMPTY_ONLY:
        return (f"`{verb}` takes only the empty resource", f"end the grant with `: {verb} :`")
    takes = {
        "invoke": "a method name or `*`",
        "view": "nothing, a method name or `*`",
        "revert": "an oplog index or `*`",
        "cancel-invocation": "an invocation id or `*`",
        "activate-plugin": "a plugin name or `*`",
        "deactivate-plugin": "a plugin name or `*`",
    }.get(verb, "nothing, `*`, an index, an id or a method name")
    return (f"this is not {takes}", f"write {takes}")


def _tool(text: str, verb: str, rules: Rules) -> Resource:
    if text == "":
        raise ResourceRefused("it is empty", _HELP[ResourceKind.TOOL])
    pieces = _pieces("tool", text)
    command = tuple(p.text for p in pieces if p.rule == "command") or None
    arguments = (_argument(p.text, p.terminal) for p in pieces if p.rule != "command")
    return Invocation(command, tuple(arguments))


def _argument(word: str, form: str) -> Argument:
    value = word
    if form == "LONG_VALUE":
        value = word.partition("=")[2]
    elif form != "POSITIONAL":
        return Argument(word)
    return Argument(word, {"*": "star", "**": "globstar"}.get(value, ""))


def _store_key(text: str, verb: str, rules: Rules) -> Resource:
    store, key = _words("store_key", text)
    return StoreKey(store, key)


def _table(text: str, verb: str, rules: Rules) -> Resource:
    database, schema, table = _words("table", text)
    return TableName(database, schema, table)


def _route(text: str, verb: str, rules: Rules) -> Resource:
    domain, path = _words("route", text)
    return HttpRoute(domain, path)


def _identity(text: str, verb: str, rules: Rules) -> Resource:
    _pieces("identity", text)
    return Exact("identity", text)


def _domain(text: str, verb: str, rules: Rules) -> Resource:
    _pieces("domain", text)
    return Exact("domain", text)


def _revision(text: str, verb: str, rules: Rules) -> Resource:
    if text == "":
        return ANY
    digits = _words("revision", text)[-1]
    value = parse_u64(digits)
    if value is None:
        raise ResourceRefused("a revision needs more than 64 bits", _HELP[ResourceKind.REVISION])
    return Exact("revision", f"@rev={value}")


def _empty(text: str, verb: str, rules: Rules) -> Resource:
    if text:
        raise ResourceRefused("this class takes only the empty resource", _HELP[ResourceKind.EMPTY])
    return NOTHING


def _application(text: str, verb: str, rules: Rules) -> Resource:
    if text not in ("", "*"):
        raise ResourceRefused("applications take nothing or `*`", _HELP[ResourceKind.APPLICATION])
    return NOTHING


def _card(text: str, verb: str, rules: Rules) -> Resource:
    if text == "":
        raise ResourceRefused("it is empty", _HELP[ResourceKind.CARD])
    return CardTarget(parse_recipient(text, rules=rules))


def _plan(text: str, verb: str, rules: Rules) -> Resource:
    uuid = parse_uuid(text)
    return Exact("uuid", uuid) if uuid is not None else _word("name", text, is_ident(text), ResourceKind.PLAN)


def _uuid(text: str, verb: str, rules: Rules) -> Resource:
    uuid = parse_uuid(text)
    return _word("uuid", uuid or text, uuid is not None, ResourceKind.UUID)


def _dotted_ident(text: str, verb: str, rules: Rules) -> Resource:
    # Dots may stand behind the first character, so one replaced by a letter there leaves an IDENT.
    plain = text[:1] + text[1:].replace(".", "_")
    return _word("name", text, is_ident(plain), ResourceKind.DOTTED_IDENT)


def _word(kind: str, text: str, fits: bool, resource: ResourceKind) -> Exact:
    if not fits:
        raise ResourceRefused("it is empty" if not text else "the text has another form", _HELP[resource])
    return Exact(kind, text)


_READERS: dict[ResourceKind, Callable[[str, str, Rules], Resource]] = {
    ResourceKind.FILES: _files,
    ResourceKind.NETWORK: _network,
    ResourceKind.VARIABLE: lambda t, v, r: _word("variable", t, is_env_var(t), ResourceKind.VARIABLE),
    ResourceKind.OPLOG: _oplog,
    ResourceKind.KEY: _key,
    ResourceKind.AGENT: _agent,
    ResourceKind.TOOL: _tool,
    ResourceKind.STORE_KEY: _store_key,
    ResourceKind.TABLE: _table,
    ResourceKind.CARD: _card,
    ResourceKind.EMPTY: _empty,
    ResourceKind.PLAN: _plan,
    ResourceKind.UUID: _uuid,
    ResourceKind.IDENT: lambda t, v, r: _word("name", t, is_ident(t), ResourceKind.IDENT),
    ResourceKind.DOTTED_IDENT: _dotted_ident,
    ResourceKind.APPLICATION: _application,
    ResourceKind.REVISION: _revision,
    ResourceKind.DOMAIN: _domain,
    ResourceKind.ROUTE: _route,
    ResourceKind.IDENTITY: _identity,
    ResourceKind.INITIAL_FILES: _initial_files,
    ResourceKind.NAME: lambda t, v, r: _word("name", t, bool(t), ResourceKind.NAME),
    ResourceKind.TOOL_NAME: lambda t, v, r: _word("name", t, is_environment(t), ResourceKind.TOOL_NAME),
}

_HELP: dict[ResourceKind, str] = {
    ResourceKind.FILES: "write an absolute path; `*` and `**` only as whole segments, `/**` for everything",
    ResourceKind.NETWORK: "write `host`, `host:port` or `host:from-to`, a `*` per label, or `*` alone",
    ResourceKind.VARIABLE: "write one variable name (letters, digits, underscores) or `*`; there are no globs",
    ResourceKind.OPLOG: "write `start=N`, `end=M`, `start=N:end=M` or `*`",
    ResourceKind.KEY: "write segments separated by dots; `*` and `**` only as whole segments, or `*` alone",
    ResourceKind.AGENT: "see the verbs of `agent`",
    ResourceKind.TOOL: "write `command.path --flag=value -x argument`, or `*` for any call",
    ResourceKind.STORE_KEY: "write `store.key`, `store.*`, or `*.**` for everything",
    ResourceKind.TABLE: "write `database.schema.table`, each a name or `*`",
    ResourceKind.CARD: "write `*`, or for `install` a recipient such as `account/app/env/component/Type`",
    ResourceKind.EMPTY: "end the grant with ` :` and nothing behind it",
    ResourceKind.PLAN: "write a plan id, a plan name or `*`",
    ResourceKind.UUID: "write a UUID or `*`",
    ResourceKind.IDENT: "write one name (letters, digits, `_`, `-`) or `*`",
    ResourceKind.DOTTED_IDENT: "write one name (letters, digits, `_`, `-`, `.`) or `*`",
    ResourceKind.APPLICATION: "end the grant with ` :` and nothing behind it",
    ResourceKind.REVISION: "write nothing, `*` or `@rev=N`",
    ResourceKind.DOMAIN: "write a domain name without wildcards, or `*` alone",
    ResourceKind.ROUTE: "write `label./path` (only domains of one label can be written), or `*` alone",
    ResourceKind.IDENTITY: "write `provider/external-id` or `*`",
    ResourceKind.INITIAL_FILES: "write an absolute path; `*` and `**` only as whole segments, `/**` for everything",
    ResourceKind.NAME: "write a name or `*`",
    ResourceKind.TOOL_NAME: "write a tool name (lower-case letters, digits, single hyphens) or `*`",
}
