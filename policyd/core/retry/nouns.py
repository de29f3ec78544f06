"""Nouns of operations: those that stand for all at a site, and what the host makes of one.

Source: retry 2.1, 8.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import assert_never

from policyd.core.retry.compiled import compile_strict
from policyd.core.retry.context import target_agent_type, uri_properties
from policyd.core.retry.outcomes import kind_of_outcome
from policyd.core.retry.predicate import PropExists
from policyd.core.retry.representatives import Leaf, constants_of, integer_samples, text_samples
from policyd.core.retry.sites import Noun, Site
from policyd.core.retry.uri import masked_address
from policyd.core.retry.value import Integer, PropertyValue, Text

Tests = Mapping[str, tuple[Leaf, ...]]
"""The tests of some rules by property."""

Fragment = Mapping[str, PropertyValue]
"""The values of the properties of one group; those that are missing have none."""

MAX_NOUNS = 4_000
"""Nouns that are made for one site."""

MAX_PORT_TESTS = 300_000
"""Tests times ports that are tried; past it ports are sampled, and nothing is proved."""

SOME_COMPONENT = "11111111-1111-4111-8111-111111111111"
_GUEST_ENTRIES = ("initialize", "load-snapshot", "save-snapshot", "process-oplog-entries", "unknown", "", "run")


def noun_fragment(site: Site, noun: str) -> dict[str, PropertyValue]:
    """What the host makes of a noun at the site.

    Source: retry 2.1.
    """
    if site.noun is Noun.DATABASE:
        noun = masked_address(noun) or noun
    found: dict[str, PropertyValue] = {"noun-uri": Text(noun), **uri_properties(noun)}
    match site.noun:
        case Noun.DATABASE:
            scheme = found.get("uri-scheme")
            if scheme is not None:
                found["db-type"] = scheme
        case Noun.RPC:
            component, _, name = noun.removeprefix("worker://").partition("/")
            found["target-component-id"] = Text(component)
            agent_type = target_agent_type(name)
            if agent_type is not None:
                found["target-agent-type"] = Text(agent_type)
        case _:
            pass
    return found


_SCHEME: dict[Noun, tuple[str, ...]] = {
    Noun.HTTP: ("http", "https"),
    Noun.DNS: ("dns",),
    Noun.RPC: ("worker",),
    Noun.GOLEM_API: ("golem",),
    Noun.TRAP: ("wasm",),
    Noun.SAGA: ("urn",),
}


def is_possible(site: Site, fragment: Fragment) -> bool:
    """Whether an operation of the site can have this noun."""
    noun = fragment["noun-uri"]
    assert isinstance(noun, Text)  # it is made by `noun_fragment`
    schemes = _SCHEME.get(site.noun)
    scheme = fragment.get("uri-scheme")
    match site.noun:
        case Noun.HTTP:
            return isinstance(scheme, Text) and scheme.value in ("http", "https") and "uri-host" in fragment
        case Noun.DATABASE:
            return scheme is not None
        case Noun.SAGA:
            return noun.value.startswith("urn:worker:") and "/" in noun.value
        case Noun.GOLEM_API:
            return noun.value == "golem://api"
        case Noun.RPC:
            component = fragment.get("target-component-id")
            return noun.value.startswith("worker://") and isinstance(component, Text) and _is_uuid(component.value)
        case Noun.DNS | Noun.TRAP:
            assert schemes is not None  # both have one
            # A function's name holds no port.
            fits = site.noun is Noun.DNS or "uri-port" not in fragment
            return fits and noun.value.startswith(f"{schemes[0]}://")
        case Noun.GUEST | Noun.NONE:
            return True
        case _:
            assert_never(site.noun)


def _is_uuid(text: str) -> bool:
    parts = text.split("-")
    return [len(p) for p in parts] == [8, 4, 4, 4, 12] and all(c in "0123456789abcdef" for p in parts for c in p)


def _texts(tests: Tests, name: str, base: str = "qzx", fillers: Sequence[str] = ()) -> list[str]:
    return [v.value for v in text_samples(tests.get(name, ()), base, fillers).values if isinstance(v, Text)]


def nouns_of(site: Site, tests: Tests, wanted: Fragment) -> Iterator[str | None]:
    """Nouns of the site's form, and whatever the tests name that may be one; None where some were left out."""
    direct = [t for t in _texts(tests, "noun-uri", fillers=_fillers(tests)) if t]
    match site.noun:
        case Noun.NONE:
            return
        case Noun.GOLEM_API:
            yield "golem://api"
            return
        case Noun.HTTP:
            yield from _http_nouns(tests, wanted, direct)
        case Noun.DNS:
            hosts = _given(wanted, "uri-host", [*_texts(tests, "uri-host", "qzx.test"), *_hosts_in(direct)])
            yield from _across(("dns",), [h for h in hosts if h], _ports(tests), [""], "{}://{}{}{}")
        case Noun.RPC:
            yield from _rpc_nouns(tests, wanted, direct)
        case Noun.DATABASE:
            yield from _database_nouns(tests, wanted)
        case Noun.TRAP:
            names = [*_GUEST_ENTRIES, *_texts(tests, "uri-host"), *(t.removeprefix("wasm://") for t in direct)]
            yield from (f"wasm://{name}" for name in names)
            yield from (f"wasm://x{path}" for path in _texts(tests, "uri-path"))
        case Noun.SAGA:
            yield from _saga_nouns(tests, direct)
        case Noun.GUEST:
            yield "x"
            yield from _http_nouns(tests, wanted, direct)
            yield from _database_nouns(tests, wanted)
        case _:
            assert_never(site.noun)
    yield from direct


_AXES: dict[Noun, tuple[frozenset[str], ...]] = {
    Noun.HTTP: (
        frozenset(("uri-scheme",)),
        frozenset(("uri-host",)),
        frozenset(("uri-port",)),
        frozenset(("uri-path",)),
    ),
    Noun.DNS: (frozenset(("uri-host",)), frozenset(("uri-port",)), frozenset(("uri-path",))),
    Noun.RPC: (frozenset(("target-component-id", "uri-host")), frozenset(("target-agent-type", "uri-path"))),
    Noun.DATABASE: (
        frozenset(("db-type", "uri-scheme")),
        frozenset(("uri-host",)),
        frozenset(("uri-port",)),
        frozenset(("uri-path",)),
    ),
}
"""Parts of nouns that are made in all combinations; of the names of one part only one can be told apart."""

_SURE: dict[Noun, frozenset[str]] = {
    Noun.HTTP: frozenset(("uri-scheme", "uri-host", "uri-path")),
    Noun.RPC: frozenset(("uri-scheme", "uri-host", "target-component-id")),
    Noun.DATABASE: frozenset(("uri-scheme", "db-type")),
    Noun.SAGA: frozenset(("uri-scheme", "uri-path")),
}
"""Names that every noun has: whether they exist is no question."""

_ONE_SCHEME = frozenset((Noun.DNS, Noun.RPC, Noun.TRAP, Noun.SAGA))


def tells_parts_apart(site: Site, tests: Tests, names: Iterable[str]) -> bool:
    """Whether tests on several parts of a noun come out together in every way among the nouns that are made.

    The whole noun, and parts that overlap, are sampled one by one.
    """
    if site.noun is Noun.GOLEM_API:
        return True
    sure = _SURE.get(site.noun, frozenset()) | {"noun-uri"}
    read = {
        name
        for name in names
        if any(not (isinstance(leaf, PropExists) and name in sure) for leaf in tests.get(name, ()))
    }
    if site.noun in _ONE_SCHEME:
        read.discard("uri-scheme")
    axes = _AXES.get(site.noun, ())
    return len(read) <= 1 or (read <= frozenset().union(*axes) and all(len(read & axis) <= 1 for axis in axes))


def _given(wanted: Fragment, name: str, otherwise: Iterable[str]) -> list[str]:
    value = wanted.get(name)
    return [value.value] if isinstance(value, Text) else list(dict.fromkeys(otherwise))


def _fillers(tests: Tests) -> tuple[str, ...]:
    """What stands in a glob over a noun so that tests on its parts can be true at the same time."""
    found: list[str] = []
    for name in ("uri-host", "uri-path", "target-agent-type"):
        for leaf in tests.get(name, ()):
            found += [v.value for v in constants_of(leaf) if isinstance(v, Text)]
    return tuple(dict.fromkeys(found))[:6]


def _hosts_in(nouns: Iterable[str]) -> list[str]:
    return [v.value for noun in nouns if isinstance(v := uri_properties(noun).get("uri-host"), Text)]


def _paths(tests: Tests) -> list[str]:
    """Paths with a slash in front, and the empty one."""
    found = {"": None}
    for text in _texts(tests, "uri-path"):
        found[text if text.startswith("/") else f"/{text}"] = None
    return list(found)


def _ports(tests: Tests, *, defaults: Callable[[int], bool] = lambda port: False) -> list[str]:
    leaves = tests.get("uri-port", ())
    if not leaves:
        return [""]
    return ["", *(f":{n}" for n in _port_samples(tuple(leaves))[0] if not defaults(n))]


def tells_ports_apart(tests: Tests) -> bool:
    """Whether every way in which the tests on a port come out is among the nouns that are made."""
    leaves = tests.get("uri-port", ())
    return not leaves or _port_samples(tuple(leaves))[1]


@lru_cache(maxsize=64)
def _port_samples(leaves: tuple[Leaf, ...]) -> tuple[tuple[int, ...], bool]:
    """Ports, and whether the tests come out otherwise for none."""
    made = integer_samples(leaves, 0, 65_535, MAX_PORT_TESTS // len(leaves))
    numbers = [v.value for v in made.values if isinstance(v, Integer)]
    if len(numbers) > 400:
        numbers = _distinct(numbers, leaves)
    return tuple(numbers), made.exact


def _distinct(numbers: Sequence[int], leaves: Sequence[Leaf]) -> list[int]:
    """One number for each way in which the tests come out."""
    name = leaves[0].property
    ready = tuple(map(compile_strict, leaves))
    kept: dict[tuple[int, ...], int] = {}
    for number in numbers[: max(1, MAX_PORT_TESTS // len(leaves))]:
        bag = {name: Integer(number)}
        kept.setdefault(tuple(kind_of_outcome(test(bag)) for test in ready), number)
    return list(kept.values())


def _http_nouns(tests: Tests, wanted: Fragment, direct: Sequence[str]) -> Iterator[str | None]:
    schemes = _given(wanted, "uri-scheme", ("https", "http"))
    hosts = _given(wanted, "uri-host", ["qzx.test", *_texts(tests, "uri-host", "qzx"), *_hosts_in(direct)])
    paths = _given(wanted, "uri-path", _paths(tests))
    port = wanted.get("uri-port")
    ports = [f":{port.value}"] if isinstance(port, Integer) else _ports(tests)
    yield from _across(schemes, [h for h in hosts if h], ports, paths, "{}://{}{}{}")
    for text in direct:
        if "://" not in text:
            yield f"https://{text}"
            yield f"https://qzx.test/{text}"


def _across(
    schemes: Sequence[str], hosts: Sequence[str], ports: Sequence[str], paths: Sequence[str], form: str
) -> Iterator[str | None]:
    """All combinations, or where they are too many those that differ from one in two parts, and None."""
    if len(schemes) * len(hosts) * len(ports) * len(paths) <= MAX_NOUNS:
        for parts in product(schemes, hosts, ports, paths):
            yield form.format(*parts)
        return
    yield None
    first = (schemes[0], hosts[0], ports[0], paths[0])
    yield form.format(*first)
    lists = (schemes, hosts, ports, paths)
    longest = max(map(len, lists))
    for i in range(min(longest, MAX_NOUNS // 2)):
        yield form.format(*(some[i % len(some)] for some in lists))
    for one in range(4):
        for other in range(one + 1, 4):
            for left, right in product(lists[one], lists[other]):
                changed = list(first)
                changed[one], changed[other] = left, right
                yield form.format(*changed)


def _rpc_nouns(tests: Tests, wanted: Fragment, direct: Sequence[str]) -> Iterator[str]:
    components = [SOME_COMPONENT, *_texts(tests, "target-component-id"), *_texts(tests, "uri-host"), *_hosts_in(direct)]
    components = _given(wanted, "target-component-id", [c for c in components if _is_uuid(c)])
    types = [t for t in _texts(tests, "target-agent-type", "Qzx") if t and "(" not in t and "/" not in t]
    types = _given(wanted, "target-agent-type", types)
    names = [f"{t}(1)" for t in types] + ["qzx"] + [p.lstrip("/") for p in _paths(tests)]
    names += [text.removeprefix("worker://").partition("/")[2] for text in direct]
    for component, name in product(components, dict.fromkeys(names)):
        yield f"worker://{component}/{name}"


def _database_nouns(tests: Tests, wanted: Fragment) -> Iterator[str | None]:
    schemes = ["postgres", "mysql", "ignite", *_texts(tests, "db-type"), *_texts(tests, "uri-scheme")]
    schemes = _given(wanted, "db-type", [s for s in dict.fromkeys(schemes) if s])
    hosts = _given(wanted, "uri-host", ["db.test", *_texts(tests, "uri-host", "qzx")])
    paths = _given(wanted, "uri-path", ["/db", *_paths(tests)])
    yield from _across(schemes, [h for h in hosts if h], _ports(tests), paths, "{}://{}{}{}")


def _saga_nouns(tests: Tests, direct: Sequence[str]) -> Iterator[str]:
    head = f"urn:worker:{SOME_COMPONENT}/"
    yield head + "Qzx(1)"
    yield head + 'Qzx("a/b")'
    for path in _texts(tests, "uri-path"):
        yield f"urn:{path}"
        yield head + path
    for text in direct:
        yield head + text
        yield head + text.rpartition("/")[2]
