"""What the bags of a site can look like: groups of properties that vary together, each with its representatives.

The parts of a noun are never chosen apart from the noun: nouns are made and then taken apart as the host does.

Source: retry 2.3, 8.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import assert_never

from policyd.core.edition import Rules
from policyd.core.retry.compiled import Strict, compile_strict
from policyd.core.retry.context import IDEMPOTENT_METHODS, target_agent_type, uri_properties
from policyd.core.retry.errors import GlobEffortError
from policyd.core.retry.evaluate import evaluate_strict
from policyd.core.retry.predicate import PropText, TextTest
from policyd.core.retry.representatives import Leaf, Samples, constants_of, integer_samples, text_samples
from policyd.core.retry.sites import REACHABLE_TRAP_TYPES, Idempotence, Noun, Site
from policyd.core.retry.uri import masked_address
from policyd.core.retry.value import I64_MAX, Boolean, EvaluationError, Integer, PropertyNotFound, PropertyValue, Text

Tests = Mapping[str, tuple[Leaf, ...]]
"""The tests of some rules by property."""

Fragment = Mapping[str, PropertyValue]
"""The values of the properties of one group; those that are missing have none."""

MAX_NOUNS = 4_000
"""Nouns that are made for one site."""

_URI = frozenset(("uri-scheme", "uri-host", "uri-port", "uri-path"))
TRUE, FALSE, MISSING, ERROR = range(4)
"""What a test can come to."""

MAX_GLOB_EFFORT = 12_000_000
"""Characters of globs times characters of texts that are compared for one group."""

NOUN_NAMES = _URI | {"noun-uri", "db-type", "target-component-id", "target-agent-type"}
SOME_COMPONENT = "11111111-1111-4111-8111-111111111111"
_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
_GUEST_ENTRIES = ("initialize", "load-snapshot", "save-snapshot", "process-oplog-entries", "unknown", "", "run")
_STABLE_NEVER = frozenset(("status-code", "error-type", "attempt"))


@dataclass(frozen=True, slots=True)
class Group:
    """Properties that vary together.

    Attributes:
        names: the properties, sorted.
        cells: their values, each combination once.
        exact: whether every way in which the tests on them can come out is among the cells.
        is_stable: whether the values stay the same within one sequence.
        spread: for each cell all the values of a single property that it stands for, as far as they were made.
        outcomes: for each test on the group what it comes to in each cell.
    """

    names: tuple[str, ...]
    cells: tuple[Fragment, ...]
    exact: bool
    is_stable: bool
    spread: tuple[tuple[PropertyValue | None, ...], ...] = ()
    outcomes: Mapping[Leaf, tuple[int, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the operation.

    Attributes:
        values: of some properties.
        absent: properties that are known to be missing.
    """

    values: Fragment
    absent: frozenset[str] = frozenset()


NOTHING_KNOWN = Known({})


def groups_at(site: Site, rules: Rules, tests: Tests, known: Known, shared: dict[object, Group]) -> tuple[Group, ...]:
    """The groups of the properties that the tests read and that exist at the site; any other property is missing.

    Each group has one cell for each way in which all the tests on it can come out. At the guest's own call the
    properties outside the catalogue may have any value that the tests name, or none.

    Args:
        site: the place.
        rules: the edition.
        tests: all tests that will be asked about.
        known: what is known of the operation.
        shared: what was made for other sites with the same tests and knowledge; grows.
    """

    def made(key: object, make: Callable[[], Group]) -> Group:
        if key not in shared:
            shared[key] = distinct(make(), tests)
        return shared[key]

    present = site.always_present(rules)
    found: list[Group] = []
    if tests.keys() & NOUN_NAMES and site.noun is not Noun.NONE:
        found.append(made(site.noun, lambda: _noun_group(site, tests, known)))
    verb_names = {"verb"} if "verb" in present else set()
    either = site.idempotence is Idempotence.FLAG_OR_METHOD and "is-idempotent" in present
    if either:
        verb_names.add("is-idempotent")
    if tests.keys() & verb_names:
        found.append(
            made(("verb", either, site.verbs, site.noun), lambda: _verb_group(site, tests, known, either=either))
        )
    rest = present - NOUN_NAMES - verb_names
    for name in sorted(rest & tests.keys()):
        sort = (name, site.error_type if name == "error-type" else "")
        found.append(made(sort, partial(_single, site, name, tests[name], known)))
    if site.noun is Noun.GUEST:
        for name in sorted(tests.keys() - present - site.sometimes_present()):
            if name in known.absent:
                continue
            found.append(made(("custom", name), partial(_custom, name, tests[name], known)))
    return tuple(found)


def distinct(group: Group, tests: Tests) -> Group:
    """The group with one cell for each way in which all tests on it come out."""
    read = tuple((name, leaf) for name in group.names for leaf in tests.get(name, ()))
    known: dict[tuple[int, PropertyValue | None], int] = {}
    made_ready = tuple((place, name, compile_strict(leaf)) for place, (name, leaf) in enumerate(read))

    def kind(place: int, name: str, test: Strict, cell: Fragment) -> int:
        value = cell.get(name)
        key = (place, value)
        found = known.get(key)
        if found is None:
            found = known[key] = _kind_of(test({} if value is None else {name: value}))
        return found

    kept: dict[tuple[int, ...], Fragment] = {}
    spread: dict[tuple[int, ...], list[PropertyValue | None]] = {}
    globs = sum(len(leaf.operand) for _, leaf in read if isinstance(leaf, PropText) and leaf.test is TextTest.MATCHES)
    effort, exact = 0, group.exact
    for cell in group.cells:
        effort += globs * max((len(v.value) for v in cell.values() if isinstance(v, Text)), default=0)
        if effort > MAX_GLOB_EFFORT:
            exact = False
            break
        try:
            kinds = tuple(kind(place, name, test, cell) for place, name, test in made_ready)
        except GlobEffortError:
            exact = False
            continue
        kept.setdefault(kinds, cell)
        if len(group.names) == 1:
            spread.setdefault(kinds, []).append(cell.get(group.names[0]))
    if not kept and group.cells:
        # No representative could be compared: one that passes no test stands for all, and proves nothing.
        kept[(FALSE,) * len(read)] = group.cells[0]
        spread = {}
    outcomes = {leaf: tuple(kinds[i] for kinds in kept) for i, (_, leaf) in enumerate(read)}
    together = tuple(tuple(values) for values in spread.values())
    return Group(group.names, tuple(kept.values()), exact, group.is_stable, together, outcomes)


def _kind(leaf: Leaf, cell: Fragment) -> int:
    """What a test comes to: one of the four numbers above."""
    return _kind_of(evaluate_strict(leaf, cell))


def _kind_of(outcome: bool | EvaluationError) -> int:
    if isinstance(outcome, bool):
        return TRUE if outcome else FALSE
    return MISSING if isinstance(outcome, PropertyNotFound) else ERROR


def _only(name: str, values: Samples, known: Known, *, stable: bool) -> Group:
    given = known.values.get(name)
    if given is not None:
        return Group((name,), ({name: given},), True, stable)
    return Group((name,), tuple({name: v} for v in values.values), values.exact, stable)


def _single(site: Site, name: str, leaves: Sequence[Leaf], known: Known) -> Group:
    stable = name not in _STABLE_NEVER
    match name:
        case "error-type":
            return _only(name, Samples((Text(site.error_type),), exact=True), known, stable=False)
        case "error-kind":
            return _only(name, Samples((Text("operation-error"),), exact=True), known, stable=True)
        case "status-code":
            return _only(name, integer_samples(leaves, 100, 999), known, stable=False)
        case "attempt":
            return _only(name, integer_samples(leaves, 1, I64_MAX), known, stable=False)
        case "is-idempotent":
            return _only(name, Samples((Boolean(True), Boolean(False)), exact=True), known, stable=True)
        case "trap-type":
            return _only(name, Samples(tuple(map(Text, REACHABLE_TRAP_TYPES)), exact=True), known, stable=True)
        case _:
            return _only(name, text_samples(leaves), known, stable=stable)


def _custom(name: str, leaves: Sequence[Leaf], known: Known) -> Group:
    given = known.values.get(name)
    if given is not None:
        return Group((name,), ({name: given},), True, False)
    texts = text_samples(leaves)
    numbers = integer_samples(leaves, -I64_MAX - 1, I64_MAX)
    values = (*texts.values, *numbers.values, Boolean(True), Boolean(False))
    return Group((name,), ({}, *({name: v} for v in values)), texts.exact and numbers.exact, False)


def _verb_group(site: Site, tests: Tests, known: Known, *, either: bool) -> Group:
    leaves = tests.get("verb", ())
    verbs: Samples
    if "verb" in known.values:
        verbs = Samples((known.values["verb"],), exact=True)
    elif site.verbs:
        verbs = Samples(tuple(map(Text, site.verbs)), exact=True)
    elif site.noun is Noun.HTTP:
        made = text_samples(leaves, "QZX")
        tokens = [v for v in made.values if isinstance(v, Text) and _is_method(v.value)]
        verbs = Samples(tuple(dict.fromkeys((*map(Text, _METHODS), *tokens))), made.exact)
    else:
        verbs = text_samples(leaves)
    if not either:
        return Group(("verb",), tuple({"verb": v} for v in verbs.values), verbs.exact, True)
    cells: list[Fragment] = []
    for verb in verbs.values:
        sure = isinstance(verb, Text) and verb.value in IDEMPOTENT_METHODS
        for flag in (True,) if sure else (True, False):
            given = known.values.get("is-idempotent")
            if given is None or given == Boolean(flag):
                cells.append({"verb": verb, "is-idempotent": Boolean(flag)})
    return Group(("is-idempotent", "verb"), tuple(cells), verbs.exact, True)


def _is_method(text: str) -> bool:
    """Whether an HTTP request can have this method, as the analysis takes it.

    Source: retry 8.1.
    """
    return bool(text) and all(c.isascii() and (c.isupper() or c.isdigit() or c in "!#$%&'*+-.^_`|~") for c in text)


# Nouns.


def _noun_group(site: Site, tests: Tests, known: Known) -> Group:
    names = tuple(sorted(NOUN_NAMES & (site.sometimes_present() | {"noun-uri", *_EXTRA.get(site.noun, ())} | _URI)))
    given = known.values.get("noun-uri")
    if isinstance(given, Text):
        fragment = {**noun_fragment(site, given.value), **{n: v for n, v in known.values.items() if n in names}}
        return Group(names, (fragment,), True, True)
    exact = all(text_samples(tests.get(name, ())).exact for name in names if name != "uri-port")
    cells: dict[tuple[tuple[str, PropertyValue], ...], Fragment] = {}
    wanted = {n: v for n, v in known.values.items() if n in NOUN_NAMES}
    count = 0
    for noun in _nouns(site, tests, wanted):
        count += 1
        if count > MAX_NOUNS:
            exact = False
            break
        fragment = noun_fragment(site, noun)
        if not is_possible(site, fragment):
            continue
        if any(fragment.get(name) != value for name, value in wanted.items()):
            continue
        if any(name in fragment for name in known.absent):
            continue
        cells[tuple(sorted(fragment.items(), key=lambda item: item[0]))] = fragment
    if not cells and wanted:
        # What is said of the noun fits no noun that was made: it is taken as it is.
        return Group(names, (wanted,), False, True)
    return Group(names, tuple(cells.values()), exact, True)


_EXTRA: dict[Noun, tuple[str, ...]] = {
    Noun.RPC: ("target-component-id", "target-agent-type"),
    Noun.DATABASE: ("db-type",),
}


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


def _nouns(site: Site, tests: Tests, wanted: Fragment) -> Iterator[str]:
    """Nouns of the site's form, and whatever the tests name that may be one."""
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
    made = integer_samples(leaves, 0, 65_535).values
    numbers = [v.value for v in made if isinstance(v, Integer)]
    if len(numbers) > 400:
        numbers = _distinct(numbers, leaves)
    return ["", *(f":{n}" for n in numbers if not defaults(n))]


def _distinct(numbers: Sequence[int], leaves: Sequence[Leaf]) -> list[int]:
    """One number for each way in which the tests come out."""
    name = leaves[0].property
    kept: dict[tuple[int, ...], int] = {}
    for number in numbers:
        kept.setdefault(tuple(_kind(leaf, {name: Integer(number)}) for leaf in leaves), number)
    return list(kept.values())


def _http_nouns(tests: Tests, wanted: Fragment, direct: Sequence[str]) -> Iterator[str]:
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
) -> Iterator[str]:
    """All combinations, or where they are too many those that differ from one in two parts."""
    if len(schemes) * len(hosts) * len(ports) * len(paths) <= MAX_NOUNS:
        for parts in product(schemes, hosts, ports, paths):
            yield form.format(*parts)
        return
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


def _database_nouns(tests: Tests, wanted: Fragment) -> Iterator[str]:
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
