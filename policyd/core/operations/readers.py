"""One reader per kind of parameter: from an argument to the part of a target that it stands for.

Source: host 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policyd.core.grants import Level, Recipient
from policyd.core.grants.names import is_env_var, parse_uuid
from policyd.core.grants.resources import CardTarget, Exact, HttpRoute, OplogRange, Resource
from policyd.core.grants.resources.exact import ANY
from policyd.core.grants.resources.network import PORT_MAX
from policyd.core.grants.resources.tools import invocation_of_call
from policyd.core.operations.agents import GUEST_PAGE, called_method, guest_page, invocation_key, service_page
from policyd.core.operations.keys import canonical_path, config_key, secret_key
from policyd.core.operations.network import (
    SOCKETS,
    WEB,
    Address,
    OutboundUrl,
    address_resource,
    lookup_resource,
    request_text,
    url_resource,
)
from policyd.core.operations.owners import Asker, place_of
from policyd.core.operations.parameters import Arguments, Parameter, ParameterKind, Ports
from policyd.core.operations.paths import GuestName, absolute_path, guest_path, service_path
from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear
from policyd.core.operations.sql import ENGINE_NAMES, Defaults, Engine, begin_database, complete, defaults_of
from policyd.core.operations.values import members_of, number_of, numbers_of, segments_of, text_of, texts_of, words_of

Part = Resource | str | int | frozenset[str] | tuple["Part", ...] | tuple[str, Resource]
"""What a parameter becomes: a whole resource, a text or number of one, flags, or a list with one item per target."""

Read = Part | Refusal | Unclear


@dataclass(frozen=True, slots=True)
class Question:
    """What is at hand while the parameters of one question are read."""

    arguments: Arguments
    asker: Asker
    ports: Ports


def read(parameter: Parameter, question: Question) -> Read | None:
    """The part that one parameter gives; None where an optional one is left out."""
    value = question.arguments.get(parameter.argument)
    if value is None and parameter.kind not in _READ_WITHOUT:
        if parameter.is_optional:
            return None
        return Unclear(parameter.argument, f"`{parameter.argument}` is not given")
    return _READERS[parameter.kind](value, parameter, question)


_READ_WITHOUT = frozenset(
    {ParameterKind.LOOKUP_METHOD, ParameterKind.PATH, ParameterKind.SECRET_HANDLE, ParameterKind.TOOL_CALL}
)
"""Kinds that mean something when the argument itself is missing."""


def _each(values: tuple[object, ...], reader: Callable[[object], Read]) -> Read:
    found = []
    for value in values:
        part = reader(value)
        if isinstance(part, (Refusal, Unclear)):
            return part
        found.append(part)
    return tuple(found)


def _path(value: object, parameter: Parameter, question: Question) -> Read:
    where = members_of(value)
    if where is None:
        if value is None and not any(name in question.arguments for name in ("preopen", "opened")):
            return Unclear(parameter.argument, f"`{parameter.argument}` is not given")
        if isinstance(value, str) and value.startswith("/") and "preopen" not in question.arguments:
            return absolute_path(value)
        where = {name: question.arguments[name] for name in ("preopen", "opened") if name in question.arguments}
        where["path"] = value
    opened = texts_of(where.get("opened") or (), "opened")
    if isinstance(opened, Unclear):
        return opened
    path = where.get("path")
    return guest_path(GuestName(None if path is None else str(path), str(where.get("preopen", "/")), opened))


def _service_path(value: object, parameter: Parameter, question: Question) -> Read:
    text = text_of(value, parameter.argument)
    if isinstance(text, Unclear):
        return text
    return service_path(text, is_rest=question.arguments.get("via", "rest") == "rest")


def _flags(value: object, parameter: Parameter, question: Question) -> Read:
    words = words_of(value, parameter.argument)
    if isinstance(words, Unclear):
        return words
    for word in words:
        if word not in parameter.words:
            return Unclear(parameter.argument, f"`{word}` is none of {', '.join(parameter.words)}")
    return frozenset(words)


def _host(value: object, parameter: Parameter, question: Question) -> Read:
    text = text_of(value, parameter.argument)
    return text if isinstance(text, Unclear) else lookup_resource(text)


def _url(value: object, parameter: Parameter, question: Question) -> Read:
    parts = members_of(value)
    is_p2 = question.arguments.get("wasi") == "p2"
    if parts is None:
        text: str | Refusal | Unclear = text_of(value, parameter.argument)
    else:
        given = {name: None if parts.get(name) is None else str(parts[name]) for name in _REQUEST}
        text = request_text(is_p2=is_p2, scheme=given["scheme"], authority=given["authority"], path=given["path"])
    found = text if isinstance(text, (Refusal, Unclear)) else _sent_to(text, WEB, question.ports)
    if isinstance(found, Refusal) and parts is not None and is_p2:
        return Refusal(RefusalKind.URL, "HTTP-request-denied")  # P2 maps every failure on the way to this one
    return found


_REQUEST = ("scheme", "authority", "path")


def _websocket_url(value: object, parameter: Parameter, question: Question) -> Read:
    text = text_of(value, parameter.argument)
    return text if isinstance(text, Unclear) else _sent_to(text, SOCKETS, question.ports)


def _sent_to(text: str, ports: dict[str, int], readers: Ports) -> Read:
    if readers.urls is None:
        return Unclear("url", "URLs are not read here")
    url = readers.urls.outbound(text, ports)
    return url_resource(url) if isinstance(url, OutboundUrl) else url


def _address(value: object, parameter: Parameter, question: Question) -> Read:
    address = _address_of(value, parameter.argument)
    return address if isinstance(address, Unclear) else address_resource(address)


def _address_of(value: object, name: str) -> Address | Unclear:
    if isinstance(value, str):
        host, colon, digits = value.rpartition(":")
        octets = None if ":" in host else host.split(".")
        port = number_of(digits if colon else None, name)
    else:
        parts = members_of(value) or {}
        raw = parts.get("v4")
        octets = [str(octet) for octet in raw] if isinstance(raw, (list, tuple)) else None
        if octets is None and "v6" not in parts:
            return Unclear(name, f"`{name}` is an address with a port")
        port = number_of(parts.get("port"), name)
    if isinstance(port, Unclear) or port > PORT_MAX:
        return Unclear(name, f"`{name}` needs a port up to {PORT_MAX}")
    if octets is None:
        return Address(None, port)
    if len(octets) != 4 or not all(o.isascii() and o.isdigit() and int(o) < 256 for o in octets):
        return Unclear(name, f"`{name}` is an address, not a name: the name is resolved first")
    return Address(".".join(str(int(octet)) for octet in octets), port)


def _addresses(value: object, parameter: Parameter, question: Question) -> Read:
    items = value if isinstance(value, (list, tuple)) else (value,)
    addressed = tuple(item for item in items if item is not None)
    return _each(addressed, lambda item: _address(item, parameter, question))


def _variables(value: object, parameter: Parameter, question: Question) -> Read:
    names = texts_of(value, parameter.argument)
    return names if isinstance(names, Unclear) else _each(names, _variable)


def _variable(name: object) -> Read:
    text = str(name)
    if text == "*":
        return ANY
    if not is_env_var(text):
        return Refusal(RefusalKind.RESOURCE, f"invalid env resource: {text}")
    return Exact("variable", text)


def _config_key(value: object, parameter: Parameter, question: Question) -> Read:
    segments = segments_of(value, parameter.argument)
    return segments if isinstance(segments, Unclear) else config_key(segments)


def _config_keys(value: object, parameter: Parameter, question: Question) -> Read:
    keys = value if isinstance(value, (list, tuple)) else (value,)
    return _each(tuple(keys), lambda key: _config_key(key, parameter, question))


def _secret_key(value: object, parameter: Parameter, question: Question) -> Read:
    segments = segments_of(value, parameter.argument)
    return segments if isinstance(segments, Unclear) else secret_key(segments)


def _canonical_key(value: object, parameter: Parameter, question: Question) -> Read:
    segments = segments_of(value, parameter.argument)
    return segments if isinstance(segments, Unclear) else secret_key(canonical_path(segments))


def _secret_handle(value: object, parameter: Parameter, question: Question) -> Read:
    """The key in the handle, or what it becomes from the path as declared."""
    declared = question.arguments.get("declared")
    if value is not None:
        return _secret_key(value, parameter, question)
    if declared is None:
        return Unclear(parameter.argument, f"`{parameter.argument}` or `declared` is not given")
    return _canonical_key(declared, parameter, question)


def _method(value: object, parameter: Parameter, question: Question) -> Read:
    text = text_of(value, parameter.argument)
    return text if isinstance(text, Unclear) else called_method(text)


def _exact(kind: str) -> Callable[[object, Parameter, Question], Read]:
    def reader(value: object, parameter: Parameter, question: Question) -> Read:
        text = text_of(value, parameter.argument)
        return text if isinstance(text, Unclear) else Exact(kind, text)

    return reader


def _lookup_method(value: object, parameter: Parameter, question: Question) -> Read:
    return ANY if value is None else _exact("method")(value, parameter, question)


def _index(value: object, parameter: Parameter, question: Question) -> Read:
    number = number_of(value, parameter.argument)
    return number if isinstance(number, Unclear) else Exact("oplog-index", str(number))


def _indexes(value: object, parameter: Parameter, question: Question) -> Read:
    numbers = numbers_of(value, parameter.argument)
    return numbers if isinstance(numbers, Unclear) else tuple(OplogRange(n, n) for n in numbers)


def _guest_page(value: object, parameter: Parameter, question: Question) -> Read:
    start = number_of(value, parameter.argument)
    size = number_of(question.arguments.get("page-size", GUEST_PAGE), "page-size")
    for number in (start, size):
        if isinstance(number, Unclear):
            return number
    assert isinstance(start, int)
    assert isinstance(size, int)
    return guest_page(start, size)


def _service_page(value: object, parameter: Parameter, question: Question) -> Read:
    cursor = question.arguments.get("cursor")
    start = number_of(value if cursor is None else cursor, parameter.argument)
    count = number_of(question.arguments.get("count"), "count")
    for number in (start, count):
        if isinstance(number, Unclear):
            return number
    assert isinstance(start, int)
    assert isinstance(count, int)
    return service_page(start, count)


def _invocation_key(value: object, parameter: Parameter, question: Question) -> Read:
    text = text_of(value, parameter.argument)
    return text if isinstance(text, Unclear) else invocation_key(text)


def _connection(question: Question) -> tuple[Engine, Defaults] | Refusal | Unclear:
    name = question.arguments.get("engine")
    engine = ENGINE_NAMES.get(str(name))
    if engine is None:
        return Unclear("engine", "`engine` is one of " + ", ".join(ENGINE_NAMES))
    address = question.arguments.get("address")
    if address is None:
        return Unclear("address", "`address` is not given")
    if question.ports.urls is None:
        return Unclear("address", "URLs are not read here")
    path = question.ports.urls.path_of(str(address))
    return path if isinstance(path, Refusal) else (engine, defaults_of(engine, path))


def _database(value: object, parameter: Parameter, question: Question) -> Read:
    connection = _connection(question)
    return connection if isinstance(connection, (Refusal, Unclear)) else begin_database(connection[1])


def _statement(value: object, parameter: Parameter, question: Question) -> Read:
    connection = _connection(question)
    text = text_of(value, parameter.argument)
    if isinstance(connection, (Refusal, Unclear)):
        return connection
    if isinstance(text, Unclear):
        return text
    if question.ports.sql is None:
        return Unclear(parameter.argument, "SQL is not read here")
    engine, defaults = connection
    named = question.ports.sql.tables(engine, text)
    if isinstance(named, (Refusal, Unclear)):
        return named
    found: list[Part] = []
    for use in named:
        table = complete(use, engine, defaults)
        if isinstance(table, Refusal):
            return table
        found.append((use.verb, table))
    return tuple(found)


def _tool_call(value: object, parameter: Parameter, question: Question) -> Read:
    command = question.arguments.get("command", ())
    words = tuple(command.replace(".", " ").split()) if isinstance(command, str) else texts_of(command, "command")
    given = texts_of(() if value is None else value, parameter.argument)
    for part in (words, given):
        if isinstance(part, Unclear):
            return part
    assert isinstance(words, tuple)
    assert isinstance(given, tuple)
    try:
        return invocation_of_call(words, given)
    except ValueError as error:
        return Refusal(RefusalKind.RESOURCE, f"invalid tool resource: {error}")


def _recipient(value: object, parameter: Parameter, question: Question) -> Read:
    text = text_of(value, parameter.argument)
    place = place_of(4, question.arguments, question.asker)
    if isinstance(text, Unclear):
        return text
    if isinstance(place, Unclear):
        return place
    return CardTarget(Recipient(Level.AGENT, (*place, text)))


def _uuid(value: object, parameter: Parameter, question: Question) -> Read:
    text = text_of(value, parameter.argument)
    if isinstance(text, Unclear):
        return text
    uuid = parse_uuid(text)
    return Unclear(parameter.argument, f"`{parameter.argument}` is a UUID") if uuid is None else Exact("uuid", uuid)


def _plan(value: object, parameter: Parameter, question: Question) -> Read:
    text = text_of(value, parameter.argument)
    if isinstance(text, Unclear):
        return text
    uuid = parse_uuid(text)
    return Exact("name", text) if uuid is None else Exact("uuid", uuid)


def _revision(value: object, parameter: Parameter, question: Question) -> Read:
    number = number_of(value, parameter.argument)
    return number if isinstance(number, Unclear) else Exact("revision", f"@rev={number}")


def _route(value: object, parameter: Parameter, question: Question) -> Read:
    """A domain with its whole path space, for which dotted domains have no text in grants."""
    text = text_of(value, parameter.argument)
    return text if isinstance(text, Unclear) else HttpRoute(text, "/**")


def _number(value: object, parameter: Parameter, question: Question) -> Read:
    return number_of(value, parameter.argument)


def _text(value: object, parameter: Parameter, question: Question) -> Read:
    return text_of(value, parameter.argument)


def _texts(value: object, parameter: Parameter, question: Question) -> Read:
    return texts_of(value, parameter.argument)


def _plain(value: object, parameter: Parameter, question: Question) -> Read:
    """An argument that another parameter reads."""
    return ""


_READERS: dict[ParameterKind, Callable[[object, Parameter, Question], Read]] = {
    ParameterKind.ADDRESS: _address,
    ParameterKind.ADDRESSES: _addresses,
    ParameterKind.CANONICAL_KEY: _canonical_key,
    ParameterKind.CONFIG_KEY: _config_key,
    ParameterKind.CONFIG_KEYS: _config_keys,
    ParameterKind.DATABASE: _database,
    ParameterKind.DOMAIN: _exact("domain"),
    ParameterKind.FLAGS: _flags,
    ParameterKind.GUEST_PAGE: _guest_page,
    ParameterKind.HOST: _host,
    ParameterKind.INDEX: _index,
    ParameterKind.INDEXES: _indexes,
    ParameterKind.INVOCATION_KEY: _invocation_key,
    ParameterKind.LOOKUP_METHOD: _lookup_method,
    ParameterKind.METHOD: _method,
    ParameterKind.NAME: _exact("name"),
    ParameterKind.NUMBER: _number,
    ParameterKind.PATH: _path,
    ParameterKind.PLAIN: _plain,
    ParameterKind.PLAN: _plan,
    ParameterKind.PLUGIN: _exact("plugin"),
    ParameterKind.RECIPIENT: _recipient,
    ParameterKind.REVISION: _revision,
    ParameterKind.ROUTE: _route,
    ParameterKind.SECRET_HANDLE: _secret_handle,
    ParameterKind.SECRET_KEY: _secret_key,
    ParameterKind.SERVICE_METHOD: _exact("method"),
    ParameterKind.SERVICE_PAGE: _service_page,
    ParameterKind.SERVICE_PATH: _service_path,
    ParameterKind.STATEMENT: _statement,
    ParameterKind.TEXT: _text,
    ParameterKind.TEXTS: _texts,
    ParameterKind.TOOL_CALL: _tool_call,
    ParameterKind.URL: _url,
    ParameterKind.UUID: _uuid,
    ParameterKind.VARIABLES: _variables,
    ParameterKind.WEBSOCKET_URL: _websocket_url,
}
