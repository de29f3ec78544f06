"""Resources of calls as products of axes, one way per resource kind.

Source: cards 2.2; host-operations 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from policyd.core.callsets.axes import (
    ALL,
    ANY_PORT_ASKED,
    Axis,
    EndAxis,
    PortAxis,
    StartAxis,
    TextAxis,
    ValueAxis,
)
from policyd.core.callsets.below import Below, Everything
from policyd.core.callsets.budget import check_parts
from policyd.core.callsets.owners import HolderAxis
from policyd.core.callsets.paths import PathAxis
from policyd.core.callsets.universe import Form, Universe
from policyd.core.grants import Level, PermissionClass, Recipient, ResourceKind
from policyd.core.grants.names import U64_MAX, ascii_lower, is_env_var
from policyd.core.grants.resources import (
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
from policyd.core.grants.resources.exact import ANY, EMPTY, NOTHING, AnyResource
from policyd.core.grants.resources.network import ANY_PORT, is_ipv4, looks_numeric
from policyd.core.grants.resources.segments import GLOBSTAR, STAR

Parts = tuple[object, ...]
"""One component or value per axis."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One way in which resources of calls are products.

    Attributes:
        axes: the dimensions behind the owner.
        project: the components of a resource pattern, None where it contains no value of this frame.
        build: the resource of chosen values, None where it cannot occur.
        memory: what of the values chosen so far later steps depend on besides which products contain them.
    """

    axes: tuple[Axis, ...]
    project: Callable[[Resource], Parts | None]
    build: Callable[[Parts], Resource | None]
    memory: Callable[[Parts], object] = lambda _: None


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
                yield _symbol(EMPTY)
            case Form.ANY:
                yield _symbol(ANY)
            case Form.WHOLE:
                yield from _whole(cls)
            case Form.CANONICAL:
                yield from _keys(resources, is_canonical_segment)
            case Form.VALUE:
                yield from _values(universe, cls, verb, resources)


def _symbol(value: Resource) -> Frame:
    """A frame of one value."""
    return Frame((), lambda r: () if r.covers(value) else None, lambda _: value)


def _parts(
    axes: Sequence[Axis],
    of: Callable[[Resource], Parts | None],
    build: Callable[[Parts], Resource | None],
    memory: Callable[[Parts], object] = lambda _: None,
) -> Frame:
    """A frame in which the pattern for everything has `ALL` everywhere."""
    everything: Parts = (ALL,) * len(axes)

    def project(resource: Resource) -> Parts | None:
        return everything if isinstance(resource, AnyResource | Everything) else of(resource)

    return Frame(tuple(axes), project, build, memory)


def _star(text: str) -> object:
    return ALL if text == STAR else text


def _padded(words: tuple[str, ...], size: int) -> Parts | None:
    """The components of `under(…)`: its words, then anything; None if it is longer than the values."""
    return (*map(_star, words), *(ALL,) * (size - len(words))) if len(words) <= size else None


def _values(universe: Universe, cls: PermissionClass, verb: str, resources: Sequence[Resource]) -> Iterator[Frame]:
    kind = cls.resource
    match kind:
        case ResourceKind.FILES:
            yield _files()
        case ResourceKind.NETWORK:
            yield from _hosts(resources)
        case ResourceKind.OPLOG:
            yield _ranges()
        case ResourceKind.KEY:
            yield from _keys(resources, is_key_segment)
        case ResourceKind.INITIAL_FILES:
            yield from _initial_files(resources)
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
            yield _symbol(NOTHING)
        case ResourceKind.AGENT:
            for name, words in _AGENT_KINDS[verb]:
                yield _named(name, words)
        case _:
            for name, words in _NAMED[kind]:
                yield _named(name, words, is_env_var if kind is ResourceKind.VARIABLE else bool)


_METHODS = ("run", "start", "other")
_UUIDS = ("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002")
_INDEXES = ("1", "2", "3")
_PLUGINS = ("plugin", "other")

_AGENT_KINDS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "invoke": (("method", _METHODS), ("oplog-index", _INDEXES), ("invocation-uuid", _UUIDS)),
    "view": (("method", _METHODS),),
    "delete": (),
    "interrupt": (),
    "resume": (),
    "update-revision": (),
    "fork": (),
    "revert": (("oplog-index", _INDEXES),),
    "cancel-invocation": (("invocation-uuid", _UUIDS), ("invocation-name", ("order-1", "order-2"))),
    "activate-plugin": (("plugin", _PLUGINS),),
    "deactivate-plugin": (("plugin", _PLUGINS),),
}
"""Which kinds of resources the calls of a verb name (host-operations 4.10)."""

_NAMED: dict[ResourceKind, tuple[tuple[str, tuple[str, ...]], ...]] = {
    ResourceKind.VARIABLE: (("variable", ("HOME", "PATH", "LANG", "OTHER")),),
    ResourceKind.PLAN: (("uuid", _UUIDS), ("name", ("basic", "other"))),
    ResourceKind.UUID: (("uuid", _UUIDS),),
    ResourceKind.IDENT: (("name", ("main", "other")),),
    ResourceKind.DOTTED_IDENT: (("name", ("main", "other")),),
    ResourceKind.REVISION: (("revision", ("@rev=0", "@rev=1", "@rev=2")),),
    ResourceKind.DOMAIN: (("domain", ("example.com", "example.org")),),
    ResourceKind.IDENTITY: (("identity", ("github/someone", "github/other")),),
    ResourceKind.NAME: (("name", ("main", "other")),),
    ResourceKind.TOOL_NAME: (("name", ("tool", "other")),),
}


def _named(kind: str, words: tuple[str, ...], is_value: Callable[[str], bool] = bool) -> Frame:
    return _parts(
        (TextAxis(words, is_value),),
        lambda r: (r.text,) if isinstance(r, Exact) and r.kind == kind else None,
        lambda v: Exact(kind, str(v[0])),
    )


def _texts(values: Parts) -> tuple[str, ...]:
    return tuple(str(v) for v in values)


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

    return _parts((PathAxis(),), of, build)


_TOP = ("com", "org", "net", "dev")
_SECOND = ("example", "acme", "other")
_LABELS = ("a", "b", "c", "www")


def _hosts(resources: Sequence[Resource]) -> Iterator[Frame]:
    """Hosts by their number of labels, from the right, then the port (RS-net)."""
    named = {len(r.host.split(".")) for r in resources if isinstance(r, NetworkResource) and r.host != STAR}
    # Names of two labels read best in examples, single ones worst.
    for count in sorted({2, *_lengths(named, resources, 1)}, key=lambda n: (n == 1, n)):
        yield _host(count)


def _lengths(named: set[int], resources: Sequence[Resource], least: int) -> set[int]:
    """Which numbers of parts have to be told apart: the named ones, and unnamed ones below every query.

    Every other number lies above the same queries as one of these.
    """
    starts = {least, *(max(least, len(r.words)) for r in resources if isinstance(r, Below))}
    found = {n for n in named if n >= least}
    check_parts(max((*starts, *named)))
    for start in starts:
        while start in named:
            start += 1
        found.add(start)
    return found


def _host(count: int) -> Frame:
    axes: list[Axis] = [TextAxis(_TOP if i == 0 else _SECOND if i == 1 else _LABELS) for i in range(count)]
    if count == 1:
        axes = [TextAxis(("localhost", "server", "other"))]

    def of(resource: Resource) -> Parts | None:
        match resource:
            case NetworkResource(host, ports):
                port = ALL if ports.form == "any" else ports
                if host == STAR:
                    return (*(ALL,) * count, port)
                named = [_star(ascii_lower(label)) for label in reversed(host.split("."))]
                return (*named, port) if len(named) == count else None
            case Below(words, _, ports):
                port = ALL if ports.form == "any" else ports
                labels = _padded(words, count)
                return (*labels, port) if labels is not None else None
            case _:
                return None

    def build(values: Parts) -> Resource | None:
        host = ".".join(reversed(_texts(values[:count])))
        if looks_numeric(host) and not is_ipv4(host):
            return None
        asked = values[count]
        if asked == ANY_PORT_ASKED:
            return NetworkResource(host, ANY_PORT)
        assert isinstance(asked, int)
        return NetworkResource(host, Ports(asked, asked, "single"))

    def memory(values: Parts) -> object:
        # A host of digits alone must be an address, which the labels decide together.
        labels = _texts(values[:count])
        return labels if all(label.isascii() and label.isdigit() for label in labels) else None

    return _parts((*axes, PortAxis()), of, build, memory)


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

    return _parts((StartAxis(), EndAxis()), of, build, lambda values: values[:1])


def is_key_segment(text: str) -> bool:
    """Whether a configuration or secret path of a call can have this segment (host-operations 4.6)."""
    return text != "" and not any(c in text for c in ".*")


def is_canonical_segment(text: str) -> bool:
    """Whether a stored secret key can have this segment: lower camel case (host-operations 4.6)."""
    return text.isalnum() and not text[0].isupper()


_KEYS = ("key", "name", "other")


def _keys(resources: Sequence[Resource], is_segment: Callable[[str], bool]) -> Iterator[Frame]:
    for count in sorted(_lengths(_sizes(resources), resources, 1)):
        yield _key(count, ".", TextAxis(_KEYS, is_segment))


def _initial_files(resources: Sequence[Resource]) -> Iterator[Frame]:
    for count in sorted(_lengths(_sizes(resources), resources, 0)):
        yield _key(count, "/", TextAxis(("a", "b", "c"), lambda text: text not in ("", ".", "..") and "*" not in text))


def _sizes(resources: Sequence[Resource]) -> set[int]:
    """How long the key patterns are; a leading `**` has no length."""
    return {len(r.segments) for r in resources if isinstance(r, SegmentPath) and r.segments[:1] != (GLOBSTAR,)}


def _key(count: int, separator: str, axis: Axis) -> Frame:
    """Keys of one length; a pattern with a leading `**` contains all (RS-key, RS-ifile)."""
    everything: Parts = (ALL,) * count

    def of(resource: Resource) -> Parts | None:
        match resource:
            case SegmentPath(segments):
                if segments[:1] == (GLOBSTAR,):
                    return everything
                return tuple(ALL if s in (STAR, GLOBSTAR) else s for s in segments) if len(segments) == count else None
            case Below(words):
                return _padded(words, count)
            case _:
                return None

    return _parts((axis,) * count, of, lambda v: SegmentPath(_texts(v), separator))


_STORES = TextAxis(("store", "other"))
_STORED = TextAxis(("key", "item", "other"))
_DATABASES = TextAxis(("db", "app", "other"))
_SCHEMAS = TextAxis(("public", "sales", "other"))
_TABLES = TextAxis(("t", "orders", "other"))


def _store_keys() -> Frame:
    def of(resource: Resource) -> Parts | None:
        match resource:
            case StoreKey(store, key):
                return (_star(store), ALL if key in (STAR, GLOBSTAR) else key)
            case Below(words):
                return _padded(words, 2)
            case _:
                return None

    return _parts((_STORES, _STORED), of, lambda v: StoreKey(*_texts(v)))


def _tables() -> Frame:
    def of(resource: Resource) -> Parts | None:
        match resource:
            case TableName(database, schema, table):
                return (_star(database), _star(schema), _star(table))
            case Below(words):
                return _padded(words, 3)
            case _:
                return None

    return _parts((_DATABASES, _SCHEMAS, _TABLES), of, lambda v: TableName(*_texts(v)))


def _whole(cls: PermissionClass) -> Iterator[Frame]:
    """Requests for a whole bucket, container or database, and for all databases (cards B)."""
    if cls.resource is ResourceKind.STORE_KEY:

        def store(resource: Resource) -> Parts | None:
            match resource:
                case StoreKey(store, key):
                    return (_star(store),) if key in (STAR, GLOBSTAR) else None
                case Below(words):
                    return _padded(words, 1)
                case _:
                    return None

        yield _parts((_STORES,), store, lambda v: StoreKey(str(v[0]), GLOBSTAR))
        return

    def database(resource: Resource) -> Parts | None:
        match resource:
            case TableName(database, schema, table):
                return (_star(database),) if schema == table == STAR else None
            case Below(words):
                return _padded(words, 1)
            case _:
                return None

    yield _parts((_DATABASES,), database, lambda v: TableName(str(v[0]), STAR, STAR))
    yield _symbol(TableName(STAR, STAR, STAR))


def _routes() -> Frame:
    def of(resource: Resource) -> Parts | None:
        match resource:
            case HttpRoute(domain, path):
                return (_star(domain), path)
            case Below(words):
                return _padded(words, 2)
            case _:
                return None

    axes = (TextAxis(("localhost", "server", "other")), TextAxis(("/", "/v1", "/other")))
    return _parts(axes, of, lambda v: HttpRoute(*_texts(v)))


def _holders(universe: Universe) -> Frame:
    def of(resource: Resource) -> Parts | None:
        if not isinstance(resource, CardTarget) or resource.recipient.is_external_tool_owner:
            return None
        return (resource.recipient.known or ALL,)

    home = universe.home
    holder = (*home[:4], home[4].partition("(")[0]) if len(home) == 5 else ()
    return _parts((HolderAxis(holder),), of, lambda v: CardTarget(Recipient(Level.AGENT, _path(v[0]))))


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
    return _parts((axis,), lambda r: (r,) if isinstance(r, Invocation) else None, build)
