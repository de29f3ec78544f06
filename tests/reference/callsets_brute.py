"""All calls of small worlds, tried one by one: the slow and obvious twin of the call sets.

A world is one class with a handful of names, all the patterns that can be made of them, and every call
that an operation can ask for over the same names and a few that no pattern mentions. A wallet is decided
by the rules of cards 5.2 word by word, on sets of calls written as bits.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from policyd.core.cards import Bounds, Card, CardId, ScopeCard, Surface, surface_of
from policyd.core.edition import NEXT
from policyd.core.grants import Grant, Level, Owner, OwnerKind, PermissionClass, Recipient, Target, class_named
from policyd.core.grants.names import U64_MAX
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
from policyd.core.grants.resources.network import ANY_PORT

HOLDER = Recipient(Level.AGENT, ("a", "p", "e", "c", "T"))
RECIPIENTS = (
    Recipient(Level.ANY),
    Recipient(Level.ACCOUNT, ("a",)),
    Recipient(Level.AGENT, ("a", "p")),
    HOLDER,
    Recipient(Level.AGENT, ("a", "p", "e", "c", "U")),
    Recipient(Level.ACCOUNT, ("b",)),
)
PHANTOM = "[7d0f0f0f-0000-4000-8000-00000000000b]"


@dataclass(frozen=True)
class World:
    """One class with its small universe.

    Attributes:
        cls: the class.
        verbs: those that take part.
        owners: owner patterns of grants.
        resources: resource patterns of grants.
        calls: everything that can be asked for.
    """

    cls: PermissionClass
    verbs: tuple[str, ...]
    owners: tuple[Owner, ...]
    resources: tuple[Resource, ...]
    calls: tuple[Target, ...]


def _class(name: str) -> PermissionClass:
    found = class_named(name, NEXT)
    assert found is not None
    return found


def owner_patterns(kind: OwnerKind) -> tuple[Owner, ...]:
    full = {"a": ("a", "p", "e", "c"), "b": ("b", "p", "e", "c")}
    found = [Owner(kind, path[:depth]) for path in full.values() for depth in range(min(kind.depth, 4) + 1)]
    if kind is OwnerKind.AGENT:
        found += [Owner(kind, (*full["a"], leaf)) for leaf in ('T("1")', f'T("1"){PHANTOM}', 'U("1")', "T")]
        found += [Owner(kind, (*full["a"], leaf), None, True) for leaf in "TU"]
    if kind is OwnerKind.TOOL:
        found += [Owner(kind, (*full["a"], leaf)) for leaf in ("fmt", "fmt(*)")]
    return tuple(dict.fromkeys(found))


def owner_calls(kind: OwnerKind) -> tuple[Owner, ...]:
    depth = kind.depth
    paths = {("a", "p", "e", "c"), ("a", "p", "e", "x"), ("a", "p", "x", "c"), ("a", "x", "e", "c"), ("x",) * 4}
    paths |= {("b", "p", "e", "c"), ("b", "p", "e", "x"), ("b", "p", "x", "c"), ("b", "x", "e", "c")}
    if depth < 5:
        return tuple(Owner(kind, path) for path in sorted({p[:depth] for p in paths}))
    leaves = ['T("1")', 'T("9")', f'T("1"){PHANTOM}', f'T("9"){PHANTOM}', 'U("1")', 'U("9")', 'X("1")']
    if kind is OwnerKind.TOOL:
        leaves = ["fmt", "fmt(*)", "x"]
    return tuple(Owner(kind, (*path, leaf)) for path in sorted(paths) for leaf in leaves)


def symbolic_owner_calls() -> tuple[Owner, ...]:
    kind = OwnerKind.AGENT
    exact = owner_calls(kind)
    found = [Owner(kind, o.known[:4]) for o in exact]
    found += [Owner(kind, (*o.known[:4], o.known[4].partition("(")[0]), None, True) for o in exact]
    return tuple(dict.fromkeys(found))


def words(letters: str, sizes: Sequence[int]) -> Iterator[tuple[str, ...]]:
    for size in sizes:
        yield from product(letters.split(), repeat=size)


def _targets(cls: PermissionClass, verbs: Sequence[str], resources: Sequence[Resource]) -> Iterator[Target]:
    for verb in verbs:
        for owner in owner_calls(cls.owner):
            for resource in resources:
                yield Target(cls, owner, verb, resource)


def _world(
    name: str, verbs: str, patterns: Sequence[Resource], calls: Sequence[Resource], *, owned: bool = True
) -> World:
    cls, named = _class(name), tuple(verbs.split())
    kept = owner_patterns(cls.owner)
    asked = tuple(_targets(cls, named, calls))
    if not owned:
        # One owner that grants name and one that they do not are enough where resources are many.
        named_owner, other = ("a", "p", "e", "c", 'T("1")'), ("x", "x", "x", "x", 'X("1")')
        depth = cls.owner.depth
        kept = (Owner(cls.owner), Owner(cls.owner, named_owner[:depth]))
        few = (kept[1], Owner(cls.owner, other[:depth]))
        asked = tuple(t for v in named for o in few for t in (Target(cls, o, v, r) for r in calls))
    return World(cls, named, kept, tuple(patterns), asked)


def files() -> World:
    patterns = [FilePath(w) for w in words("a b * **", (0, 1, 2, 3))]
    calls = [FilePath(w) for w in words("a b z", (0, 1, 2, 3, 4, 5))]
    return _world("filesystem", "read", patterns, calls, owned=False)


def network() -> World:
    ports = [ANY_PORT, Ports(80, 80, "single"), Ports(80, 80, "range"), Ports(80, 443, "range"), Ports(0, 79, "range")]
    hosts = [".".join(w) for w in words("a b *", (1, 2, 3))] + ["1.2.3.4", "1.*.*.*", "*.2.3.*", "*.300"]
    patterns: list[Resource] = [ANY, *(NetworkResource(h, p) for h in hosts for p in ports)]
    asked = [ANY_PORT, *(Ports(n, n, "single") for n in (5, 79, 80, 81, 443, 444))]
    names = [".".join(w) for w in words("a b z", (1, 2, 3))]
    names += [".".join(w) for w in words("1 2 3 x", (4,))] + ["1.2.3.4", "x.300", "a.300", "b.300", "z.z.z.z.z"]
    calls = [NetworkResource(n, p) for n in names for p in asked]
    return _world("network", "connect", patterns, calls)


def variables() -> World:
    return _world(
        "env", "read", [ANY, *(Exact("variable", n) for n in "AB")], [ANY, *(Exact("variable", n) for n in "ABZ")]
    )


def oplog() -> World:
    numbers = (None, 0, 2, 3, 5)
    patterns = [ANY, *(OplogRange(s, e) for s in numbers for e in numbers if (s, e) != (None, None))]
    ends = (0, 1, 2, 3, 4, 5, 6, 7, U64_MAX)
    calls: list[Resource] = [ANY, *(OplogRange(s, e) for s in range(8) for e in ends if s <= e)]
    return _world("oplog", "read", patterns, calls, owned=False)


def config() -> World:
    patterns = [ANY, *(SegmentPath(w, ".") for w in words("a b * **", (1, 2, 3)))]
    calls = [ANY, *(SegmentPath(w, ".") for w in words("a b z", (1, 2, 3, 4)))]
    return _world("config", "read", patterns, calls, owned=False)


def secrets() -> World:
    patterns = [ANY, *(SegmentPath(w, ".") for w in words("a b_c * **", (1, 2)))]
    held = [SegmentPath(w, ".") for w in words("a b_c z", (1, 2, 3))]
    shown = [SegmentPath(w, ".") for w in words("a z", (1, 2, 3))]
    hold, reveal = (_world("secret", "hold", patterns, held), _world("secret", "reveal", patterns, shown))
    return World(hold.cls, ("hold", "reveal"), hold.owners, hold.resources, (*hold.calls, *reveal.calls))


def agent() -> World:
    cls = _class("agent")
    methods = [Exact("method", n) for n in ("run", "stop")]
    patterns = [
        ANY,
        EMPTY,
        *methods,
        Exact("oplog-index", "7"),
        Exact("plugin", "run"),
        Exact("invocation-name", "run"),
    ]
    asked: dict[str, list[Resource]] = {
        "invoke": [*methods, Exact("method", "z"), ANY, EMPTY, Exact("oplog-index", "7"), Exact("oplog-index", "8")],
        "view": [EMPTY, ANY, *methods, Exact("method", "z")],
        "fork": [EMPTY],
        "revert": [Exact("oplog-index", n) for n in "78"],
        "cancel-invocation": [Exact("invocation-name", n) for n in ("run", "z")],
        "activate-plugin": [Exact("plugin", n) for n in ("run", "z")],
    }
    calls = [t for verb, resources in asked.items() for t in _targets(cls, (verb,), resources)]
    calls += [Target(cls, owner, "view", EMPTY) for owner in symbolic_owner_calls()]
    return World(cls, tuple(asked), owner_patterns(cls.owner), tuple(patterns), tuple(calls))


def tools() -> World:
    starred = Invocation(("run",), (Argument("*", "star"),))
    patterns = [ANY, Invocation(("run",)), Invocation(("run",), (Argument("x"),)), starred]
    plain = Invocation(("run",), (Argument("*"),))
    calls = [*patterns[1:3], plain, Invocation(("z",)), Invocation(None)]
    return _world("tool", "invoke", patterns, calls)


def keys() -> World:
    patterns = [StoreKey(s, k) for s in ("s", "t", "*", "**") for k in ("k", "l", "*", "**", "k*")]
    single = [StoreKey(s, k) for s in ("s", "t", "z", "**") for k in ("k", "l", "z", "k*", "**")]
    whole = [StoreKey(s, "**") for s in ("s", "t", "z", "**")]
    read, listed = (_world("kv", verbs, patterns, calls) for verbs, calls in (("read write", single), ("list", whole)))
    return World(read.cls, ("read", "write", "list"), read.owners, read.resources, (*read.calls, *listed.calls))


def tables() -> World:
    patterns = [TableName(*w) for w in words("d s *", (3,))]
    calls = [TableName(*w) for w in words("d s z", (3,))]
    calls += [TableName(d, "*", "*") for d in ("d", "s", "z", "*")]
    return _world("rdbms", "query mutate", patterns, calls, owned=False)


def cards() -> World:
    recipients = [
        *RECIPIENTS,
        Recipient(Level.ENVIRONMENT, ("a", "p", "e")),
        Recipient(Level.AGENT, ("a", "p", "e", "c")),
    ]
    patterns: list[Resource] = [ANY, *(CardTarget(r) for r in recipients)]
    cls = _class("card")
    paths = [("a", "p", "e", "c", n) for n in "TUX"] + [("a", "p", "e", "x", "T"), ("a", "p", "x", "c", "T")]
    paths += [("a", "x", "e", "c", "T"), ("b", "p", "e", "c", "T"), ("x", "p", "e", "c", "T")]
    install = [CardTarget(Recipient(Level.AGENT, p)) for p in paths]
    calls = [*_targets(cls, ("install",), install), *_targets(cls, ("derive",), [ANY])]
    return World(cls, ("install", "derive"), owner_patterns(cls.owner), tuple(patterns), tuple(calls))


def routes() -> World:
    patterns = [ANY, *(HttpRoute(d, p) for d in ("h", "*") for p in ("/v1", "/v2"))]
    calls = [HttpRoute(d, p) for d in ("h", "z") for p in ("/v1", "/v2", "/z")]
    return _world("environment.http-api-deployment", "view", patterns, calls)


def initial_files() -> World:
    patterns = [SegmentPath(w, "/") for w in words("a * **", (0, 1, 2, 3))]
    calls = [SegmentPath(w, "/") for w in words("a z", (0, 1, 2, 3, 4))]
    return _world("environment.initial-files", "view", patterns, calls, owned=False)


def components() -> World:
    patterns = [ANY, Exact("revision", "@rev=1"), Exact("revision", "@rev=2")]
    view = _world("component", "view", patterns, [*patterns, Exact("revision", "@rev=9")])
    update = _world("component", "update", patterns, [ANY])
    return World(view.cls, ("view", "update"), view.owners, view.resources, (*view.calls, *update.calls))


def plans() -> World:
    uuid = "00000000-0000-4000-8000-00000000000b"
    patterns = [ANY, Exact("uuid", uuid), Exact("name", "basic")]
    return _world("plan", "view", patterns, [*patterns, Exact("name", "z"), Exact("uuid", uuid[:-1] + "c")])


def system() -> World:
    return _world("system", "create-account view-default-plan", [NOTHING], [NOTHING])


WORLDS: tuple[Callable[[], World], ...] = tuple(
    cache(make)
    for make in (
        files, network, variables, oplog, config, secrets, agent, tools, keys, tables, cards, routes, initial_files,
        components, plans, system,
    )
)  # fmt: skip


class Brute:
    """Decides wallets of one world call by call."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.everything = (1 << len(world.calls)) - 1
        self._covered: dict[Target, int] = {}

    def covered(self, box: Target) -> int:
        """The calls that one target pattern covers, as bits."""
        found = self._covered.get(box)
        if found is None:
            found = sum(1 << n for n, call in enumerate(self.world.calls) if box.covers(call))
            self._covered[box] = found
        return found

    def union(self, refs: Sequence[object]) -> int:
        found = 0
        for ref in refs:
            found |= self.covered(ref.grant.target)  # type: ignore[attr-defined]
        return found

    def admitted(self, surface: Surface) -> int:
        """The calls that a surface admits (cards 5.2)."""
        lent = 0
        for part in surface.lower:
            lent |= self.union(part.positive) & ~self.union(part.negative)
        for part in surface.upper:
            if part.positive:
                lent &= self.union(part.positive)
            lent &= ~self.union(part.negative)
        return lent

    def calls(self, bits: int) -> Iterator[Target]:
        """The calls of a set of bits."""
        for number, call in enumerate(self.world.calls):
            if bits >> number & 1:
                yield call


def random_grant(world: World, rng: random.Random) -> Grant:
    verb = rng.choice(("*", *world.verbs))
    target = Target(world.cls, rng.choice(world.owners), verb, rng.choice(world.resources))
    return Grant(target, rng.choice(RECIPIENTS) if rng.random() < 0.3 else RECIPIENTS[0])


def random_bounds(world: World, rng: random.Random) -> Bounds:
    sizes = (rng.randint(0, 4), rng.randint(0, 3), rng.choice((0, 0, 1, 3)), rng.choice((0, 0, 1, 2)))
    return Bounds(*(tuple(random_grant(world, rng) for _ in range(size)) for size in sizes))


def random_surface(world: World, rng: random.Random) -> Surface:
    """A surface of one to three cards, sometimes with a scope card."""
    cards = [Card(CardId(f"card-{n}"), random_bounds(world, rng)) for n in range(rng.randint(1, 3))]
    scope = ScopeCard(CardId("scope"), random_bounds(world, rng)) if rng.random() < 0.2 else None
    return surface_of(cards, HOLDER, scope)


def changed_surface(surface: Surface, world: World, rng: random.Random) -> Surface:
    """The same surface with one or two parts made anew, as a pull request would."""
    other = random_surface(world, rng)
    lower, upper = list(surface.lower), list(surface.upper)
    for parts, fresh in ((lower, other.lower), (upper, other.upper)):
        if parts and fresh and rng.random() < 0.7:
            parts[rng.randrange(len(parts))] = rng.choice(fresh)
    return Surface(surface.holder, tuple(lower), tuple(upper), surface.sources)
