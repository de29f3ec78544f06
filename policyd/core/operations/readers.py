"""One reader per kind of parameter: from an argument to the part of a target that it stands for.

Source: host 4.
"""

from __future__ import annotations

from collections.abc import Callable

from policyd.core.grants import Level, Recipient
from policyd.core.grants.names import is_env_var, parse_uuid
from policyd.core.grants.resources import CardTarget, Exact, HttpRoute, OplogRange
from policyd.core.grants.resources.exact import ANY
from policyd.core.grants.resources.tools import invocation_of_call
from policyd.core.operations.agents import GUEST_PAGE, called_method, guest_page, invocation_key, service_page
from policyd.core.operations.keys import canonical_path, config_key, secret_key
from policyd.core.operations.network_readers import (
    read_address,
    read_addresses,
    read_host,
    read_url,
    read_websocket_url,
)
from policyd.core.operations.owners import place_of
from policyd.core.operations.parameters import Parameter, ParameterKind
from policyd.core.operations.paths import GuestName, absolute_path, guest_path, service_path
from policyd.core.operations.question import Question, Read, read_each
from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear
from policyd.core.operations.statement_readers import read_database, read_statement
from policyd.core.operations.values import members_of, number_of, numbers_of, segments_of, text_of, texts_of, words_of


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


def _variables(value: object, parameter: Parameter, question: Question) -> Read:
    names = texts_of(value, parameter.argument)
    return names if isinstance(names, Unclear) else read_each(names, _variable)


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
    return read_each(tuple(keys), lambda key: _config_key(key, parameter, question))


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
    ParameterKind.ADDRESS: read_address,
    ParameterKind.ADDRESSES: read_addresses,
    ParameterKind.CANONICAL_KEY: _canonical_key,
    ParameterKind.CONFIG_KEY: _config_key,
    ParameterKind.CONFIG_KEYS: _config_keys,
    ParameterKind.DATABASE: read_database,
    ParameterKind.DOMAIN: _exact("domain"),
    ParameterKind.FLAGS: _flags,
    ParameterKind.GUEST_PAGE: _guest_page,
    ParameterKind.HOST: read_host,
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
    ParameterKind.STATEMENT: read_statement,
    ParameterKind.TEXT: _text,
    ParameterKind.TEXTS: _texts,
    ParameterKind.TOOL_CALL: _tool_call,
    ParameterKind.URL: read_url,
    ParameterKind.UUID: _uuid,
    ParameterKind.VARIABLES: _variables,
    ParameterKind.WEBSOCKET_URL: read_websocket_url,
}
