"""Resources of calls as products of axes, one way per resource kind.

Source: cards 2.2; host-operations 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policyd.core.callsets.axes import ALL, UUIDS, EndAxis, StartAxis, TextAxis, ValueAxis, numbered_uuid
from policyd.core.callsets.below import Below
from policyd.core.callsets.frame import Frame, Parts, padded, product_frame, starred, symbol_frame, texts_of
from policyd.core.callsets.hosts import host_frames
from policyd.core.callsets.keys import initial_file_frames, is_canonical_segment, is_key_segment, key_frames
from policyd.core.callsets.owners import HolderAxis
from policyd.core.callsets.paths import PathAxis
from policyd.core.callsets.universe import Form, Universe
from policyd.core.grants import Level, PermissionClass, Recipient, ResourceKind
from policyd.core.grants.names import U64_MAX, is_env_var
from policyd.core.grants.resources import (
    CardTarget,
    Exact,
    FilePath,
    HttpRoute,
    Invocation,
    OplogRange,
    Resource,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.exact import ANY, EMPTY, NOTHING
from policyd.core.grants.resources.segments import GLOBSTAR, STAR


def frames(
    universe: Universe, cls: PermissionClass, verb: str, forms: Sequence[Form], resources: Sequence[Resource]
) -> Iterator[Frame]:
    """The frames that together make up the resources of calls, the most natural first.

    Args:
        universe: what calls there are.
        cls: the class.
        verb: one verb of it.
        forms: the forms that calls of this verb have.
        resources: all patterns that take part; they decide how many lengths have to be told apart.
    """
    for form in forms:
        match form:
            case Form.EMPTY:
                yield symbol_frame(EMPTY)
            case Form.ANY:
                yield symbol_frame(ANY)
            case Form.WHOLE:
                yield from _whole(cls)
            case Form.CANONICAL:
                yield from key_frames(resources, is_canonical_segment)
            case Form.VALUE:
                yield from _values(universe, cls, verb, resources)


def _values(universe: Universe, cls: PermissionClass, verb: str, resources: Sequence[Resource]) -> Iterator[Frame]:
    kind = cls.resource
    match kind:
        case ResourceKind.FILES:
            yield _files()
        case ResourceKind.NETWORK:
            yield from host_frames(resources)
        case ResourceKind.OPLOG:
            yield _ranges()
        case ResourceKind.KEY:
            yield from key_frames(resources, is_key_segment)
        case ResourceKind.INITIAL_FILES:
            yield from initial_file_frames(resources)
        case ResourceKind.STORE_KEY:
            yield _store_keys()
        case ResourceKind.TABLE:
            yield _tables()
        case ResourceKind.ROUTE:
            yield _routes()
        case ResourceKind.CARD:
            yield _holders(universe)
        case ResourceKind.TOOL:
            yield _invocations()
        case ResourceKind.EMPTY | ResourceKind.APPLICATION:
            yield symbol_frame(NOTHING)
        case ResourceKind.AGENT:
            for name, words in _AGENT_KINDS[verb]:
                yield _named(name, words)
        case _:
            for name, words in _NAMED[kind]:
                yield _named(name, words, is_env_var if kind is ResourceKind.VARIABLE else bool)


_METHODS = ("run", "start", "other")
_INDEXES = ("1", "2", "3")
_PLUGINS = ("plugin", "other")

_AGENT_KINDS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "invoke": (("method", _METHODS), ("oplog-index", _INDEXES), ("invocation-uuid", UUIDS)),
    "view": (("method", _METHODS),),
    "delete": (),
    "interrupt": (),
    "resume": (),
    "update-revision": (),
    "fork": (),
    "revert": (("oplog-index", _INDEXES),),
    "cancel-invocation": (("invocation-uuid", UUIDS), ("invocation-name", ("order-1", "order-2"))),
    "activate-plugin": (("plugin", _PLUGINS),),
    "deactivate-plugin": (("plugin", _PLUGINS),),
}
"""Which kinds of resources the calls of a verb name (host-operations 4.10)."""

_NAMED: dict[ResourceKind, tuple[tuple[str, tuple[str, ...]], ...]] = {
    ResourceKind.VARIABLE: (("variable", ("HOME", "PATH", "LANG", "OTHER")),),
    ResourceKind.PLAN: (("uuid", UUIDS), ("name", ("basic", "other"))),
    ResourceKind.UUID: (("uuid", UUIDS),),
    ResourceKind.IDENT: (("name", ("main", "other")),),
    ResourceKind.DOTTED_IDENT: (("name", ("main", "other")),),
    ResourceKind.REVISION: (("revision", ("@rev=0", "@rev=1", "@rev=2")),),
    ResourceKind.DOMAIN: (("domain", ("example.com", "example.org")),),
    ResourceKind.IDENTITY: (("identity", ("github/someone", "github/other")),),
    ResourceKind.NAME: (("name", ("main", "other")),),
    ResourceKind.TOOL_NAME: (("name", ("tool", "other")),),
}


_NUMBERED: dict[str, Callable[[int], str]] = {
    "uuid": numbered_uuid,
    "invocation-uuid": numbered_uuid,
    "revision": "@rev={}".format,
    "oplog-index": str,
}
"""How further ones are spelled, of kinds that no number can be put behind."""


def _named(kind: str, words: tuple[str, ...], is_value: Callable[[str], bool] = bool) -> Frame:
    return product_frame(
        (TextAxis(words, is_value, _NUMBERED.get(kind)),),
        lambda r: (r.text,) if isinstance(r, Exact) and r.kind == kind else None,
        lambda v: Exact(kind, str(v[0])),
    )


def _files() -> Frame:
    def of(resource: Resource) -> Parts | None:
        match resource:
            case FilePath((segment,)) if segment == GLOBSTAR:
                return (ALL,)
            case FilePath(segments):
                return (segments,)
            case _:
                return None

    def build(values: Parts) -> Resource:
        path = values[0]
        assert isinstance(path, tuple)
        return FilePath(path)

    return product_frame((PathAxis(),), of, build)


def _ranges() -> Frame:
    def of(resource: Resource) -> Parts | None:
        if not isinstance(resource, OplogRange):
            return None
        return (resource.first or ALL, ALL if resource.last == U64_MAX else resource.last)

    def build(values: Parts) -> Resource:
        start, end = values
        assert isinstance(start, int)
        assert isinstance(end, int)
        return OplogRange(start, end)

    return product_frame((StartAxis(), EndAxis()), of, build, lambda values: values[:1])


_STORES = TextAxis(("store", "other"))
_STORED = TextAxis(("key", "item", "other"))
_DATABASES = TextAxis(("db", "app", "other"))
_SCHEMAS = TextAxis(("public", "sales", "other"))
_TABLES = TextAxis(("t", "orders", "other"))


def _store_keys() -> Frame:
    def of(resource: Resource) -> Parts | None:
        match resource:
            case StoreKey(store, key):
                return (starred(store), ALL if key in (STAR, GLOBSTAR) else key)
            case Below(words):
                return padded(words, 2)
            case _:
                return None

    return product_frame((_STORES, _STORED), of, lambda v: StoreKey(*texts_of(v)))


def _tables() -> Frame:
    def of(resource: Resource) -> Parts | None:
        match resource:
            case TableName(database, schema, table):
                return (starred(database), starred(schema), starred(table))
            case Below(words):
                return padded(words, 3)
            case _:
                return None

    return product_frame((_DATABASES, _SCHEMAS, _TABLES), of, lambda v: TableName(*texts_of(v)))


def _whole(cls: PermissionClass) -> Iterator[Frame]:
    """Requests for a whole bucket, container or database, and for all databases (cards B)."""
    if cls.resource is ResourceKind.STORE_KEY:

        def store(resource: Resource) -> Parts | None:
            match resource:
                case StoreKey(store, key):
                    return (starred(store),) if key in (STAR, GLOBSTAR) else None
                case Below(words):
                    return padded(words, 1)
                case _:
                    return None

        yield product_frame((_STORES,), store, lambda v: StoreKey(str(v[0]), GLOBSTAR))
        return

    def database(resource: Resource) -> Parts | None:
        match resource:
            case TableName(database, schema, table):
                return (starred(database),) if schema == table == STAR else None
            case Below(words):
                return padded(words, 1)
            case _:
                return None

    yield product_frame((_DATABASES,), database, lambda v: TableName(str(v[0]), STAR, STAR))
    yield symbol_frame(TableName(STAR, STAR, STAR))


def _routes() -> Frame:
    def of(resource: Resource) -> Parts | None:
        match resource:
            case HttpRoute(domain, path):
                return (starred(domain), path)
            case Below(words):
                return padded(words, 2)
            case _:
                return None

    axes = (TextAxis(("localhost", "server", "other")), TextAxis(("/", "/v1", "/other")))
    return product_frame(axes, of, lambda v: HttpRoute(*texts_of(v)))


def _holders(universe: Universe) -> Frame:
    def of(resource: Resource) -> Parts | None:
        if not isinstance(resource, CardTarget) or resource.recipient.is_external_tool_owner:
            return None
        return (resource.recipient.known or ALL,)

    home = universe.home
    holder = (*home[:4], home[4].partition("(")[0]) if len(home) == 5 else ()
    return product_frame((HolderAxis(holder),), of, lambda v: CardTarget(Recipient(Level.AGENT, _path(v[0]))))


def _path(value: object) -> tuple[str, ...]:
    assert isinstance(value, tuple)
    return value


def _invocations() -> Frame:
    def is_asked(value: object) -> bool:
        return isinstance(value, Invocation) and not any(a.symbol for a in value.arguments)

    def build(values: Parts) -> Resource:
        call = values[0]
        assert isinstance(call, Invocation)
        return call

    axis = ValueAxis(lambda n: Invocation((f"run{n + 1 if n else ''}",)), is_asked)
    return product_frame((axis,), lambda r: (r,) if isinstance(r, Invocation) else None, build)
