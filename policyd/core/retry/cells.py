"""What the bags of a site can look like: groups of properties that vary together, each with its representatives.

The parts of a noun are never chosen apart from the noun: nouns are made and then taken apart as the host does.

Source: retry 2.3, 8.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from policyd.core.edition import Rules
from policyd.core.retry.compiled import Strict, compile_strict
from policyd.core.retry.context import IDEMPOTENT_METHODS
from policyd.core.retry.errors import GlobEffortError
from policyd.core.retry.nouns import (
    MAX_NOUNS,
    Fragment,
    Tests,
    is_possible,
    noun_fragment,
    nouns_of,
    tells_parts_apart,
    tells_ports_apart,
)
from policyd.core.retry.outcomes import FALSE, kind_of_outcome
from policyd.core.retry.predicate import PropText, TextTest
from policyd.core.retry.representatives import Leaf, Samples, integer_samples, text_samples
from policyd.core.retry.sites import REACHABLE_TRAP_TYPES, Idempotence, Noun, Site
from policyd.core.retry.value import I64_MAX, Boolean, PropertyValue, Text

_URI = frozenset(("uri-scheme", "uri-host", "uri-port", "uri-path"))

MAX_GLOB_EFFORT = 12_000_000
"""Characters of globs times characters of texts that are compared for one group."""

MAX_OUTCOMES = 1_000_000
"""Tests times values that are tried for one group; past them values are left out, and nothing is proved."""

NOUN_NAMES = _URI | {"noun-uri", "db-type", "target-component-id", "target-agent-type"}
_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
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
            found = known[key] = kind_of_outcome(test({} if value is None else {name: value}))
        return found

    kept: dict[tuple[int, ...], Fragment] = {}
    spread: dict[tuple[int, ...], list[PropertyValue | None]] = {}
    globs = sum(len(leaf.operand) for _, leaf in read if isinstance(leaf, PropText) and leaf.test is TextTest.MATCHES)
    effort, exact = 0, group.exact
    most = max(1, MAX_OUTCOMES // max(1, len(read)))
    if len(group.cells) > most:
        exact = False
    for cell in group.cells[:most]:
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


def _noun_group(site: Site, tests: Tests, known: Known) -> Group:
    names = tuple(sorted(NOUN_NAMES & (site.sometimes_present() | {"noun-uri", *_EXTRA.get(site.noun, ())} | _URI)))
    given = known.values.get("noun-uri")
    if isinstance(given, Text):
        fragment = {**noun_fragment(site, given.value), **{n: v for n, v in known.values.items() if n in names}}
        return Group(names, (fragment,), True, True)
    exact = (
        tells_ports_apart(tests)
        and tells_parts_apart(site, tests, names)
        and all(text_samples(tests.get(name, ())).exact for name in names if name != "uri-port")
    )
    cells: dict[tuple[tuple[str, PropertyValue], ...], Fragment] = {}
    wanted = {n: v for n, v in known.values.items() if n in NOUN_NAMES}
    count = 0
    for noun in nouns_of(site, tests, wanted):
        if noun is None:
            exact = False
            continue
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
