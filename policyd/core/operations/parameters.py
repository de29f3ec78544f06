"""Parameters of operations: what users give, read into the parts that targets are made of.

Source: host 2, 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from policyd.core.operations.network import UrlReader
from policyd.core.operations.sql import SqlReader


class ParameterKind(Enum):
    """What a parameter is; each kind has one reader."""

    ADDRESS = "address"
    ADDRESSES = "addresses"
    CANONICAL_KEY = "canonical-key"
    CONFIG_KEY = "config-key"
    CONFIG_KEYS = "config-keys"
    DATABASE = "database"
    DOMAIN = "domain"
    FLAGS = "flags"
    GUEST_PAGE = "guest-page"
    HOST = "host"
    INDEX = "index"
    INDEXES = "indexes"
    INVOCATION_KEY = "invocation-key"
    LOOKUP_METHOD = "lookup-method"
    METHOD = "method"
    NAME = "name"
    NUMBER = "number"
    PATH = "path"
    PLAIN = "plain"
    PLAN = "plan"
    PLUGIN = "plugin"
    RECIPIENT = "recipient"
    REVISION = "revision"
    ROUTE = "route"
    SECRET_HANDLE = "secret-handle"
    SECRET_KEY = "secret-key"
    SERVICE_METHOD = "service-method"
    SERVICE_PAGE = "service-page"
    SERVICE_PATH = "service-path"
    STATEMENT = "statement"
    TEXT = "text"
    TEXTS = "texts"
    TOOL_CALL = "tool-call"
    URL = "url"
    UUID = "uuid"
    VARIABLES = "variables"
    WEBSOCKET_URL = "websocket-url"


GENERATION = "wasi"
"""The argument that names the generation of the WASI interfaces, `p2` or `p3`."""

LISTS = frozenset(
    {
        ParameterKind.ADDRESSES,
        ParameterKind.CONFIG_KEYS,
        ParameterKind.INDEXES,
        ParameterKind.STATEMENT,
        ParameterKind.TEXTS,
        ParameterKind.VARIABLES,
    }
)
"""The kinds whose value is a list, for which a template may ask once per item."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation.

    Attributes:
        name: as templates write it.
        kind: what it is.
        argument: the argument that it is read from, as users type it.
        words: the flags that it knows, for `flags`.
        is_optional: whether a question may leave it out.
        about: one line for a person.
    """

    name: str
    kind: ParameterKind
    argument: str
    words: tuple[str, ...] = ()
    is_optional: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True)
class Ports:
    """What reads the languages that the core does not: without it the answer is that it cannot be told."""

    sql: SqlReader | None = None
    urls: UrlReader | None = None


NO_PORTS = Ports()

Arguments = Mapping[str, object]
"""What a question gives: texts as people type them, or values as JSON has them."""
