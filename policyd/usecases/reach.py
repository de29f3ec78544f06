"""Who can get to this, through any chain of calls, cards and, for information, of data that is handed on?

Source: questions 2 (reach), 3; interface, `reach`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

import networkx as nx

from policyd.core.callsets import MAX_STEPS, Fails, Undecided, never, query, query_text
from policyd.core.callsets.below import Everything
from policyd.core.callsets.budget import Steps
from policyd.core.edition import Rules
from policyd.core.grants import Owner, Slot, Target
from policyd.core.grants.classes import classes_of
from policyd.findings import InputError, nearest
from policyd.syntax.mistakes import shown
from policyd.syntax.queries import ParsedQuery, parse_query
from policyd.usecases.open_names import party_of
from policyd.usecases.reach_graph import chain, closure, members
from policyd.usecases.reach_hops import WAYS, Assumed, Flow, Hop, HopCall, Hops, call_of
from policyd.usecases.reach_near import Near, may_meet
from policyd.usecases.reach_nodes import Node
from policyd.usecases.reach_world import World, is_information

TRUSTED = "trusted="
MAX_CHAINS = 200
"""So many actors are listed with their chains; the others are counted."""


@dataclass(frozen=True, slots=True)
class Chain:
    """How one actor gets there.

    Attributes:
        start: the actor.
        hops: in order, empty where it needs nobody.
        end: the call at the end, with the grants that admit it.
    """

    start: str
    hops: tuple[Hop, ...]
    end: HopCall


@dataclass(frozen=True, slots=True)
class Reach:
    """The answer.

    Attributes:
        claim: what was asked, in words.
        word: `path` if anybody asked about gets there, `none` if it is proved that nobody does, else `undecided`.
        chains: the shortest one of each actor asked about, shortest first; both of a pair for separation.
        asked: who was asked about; empty for everybody.
        actors: how many actors have cards: agent types, agents and accounts with wallets of their own.
        reaching: how many of them, the outside included, get there.
        assumptions: under which a proof of none holds.
        undecided: what could not be decided.
        rules: the edition.
    """

    claim: str
    word: str
    chains: tuple[Chain, ...]
    asked: str
    actors: int
    reaching: int
    assumptions: tuple[str, ...]
    undecided: tuple[str, ...]
    rules: Rules


def assumed_of(texts: Iterable[str], world: World) -> Assumed:
    """What `--assume` narrows: `no-WAY` for a way that is not taken, `trusted=Type` for code that serves nobody else.

    Raises:
        InputError: MANIF091 for anything else.
    """
    without, trusted = set(), set()
    types = sorted({node.agent_type for node in world.nodes if node.agent_type})
    for text in texts:
        if text.startswith(TRUSTED):
            name = text.removeprefix(TRUSTED)
            if name not in types:
                near = nearest(name, types)
                raise InputError.of(
                    "MANIF091",
                    f"no agent type is called {shown(name)}",
                    None,
                    f"did you mean `{near}`?" if near else "",
                )
            trusted.add(name)
        elif text == "no-data":
            without |= {way.id for way in WAYS.values() if way.flow is Flow.DATA}
        elif text.removeprefix("no-") in WAYS and text.startswith("no-"):
            without.add(text.removeprefix("no-"))
        else:
            known = ", ".join(["no-data", *(f"no-{id}" for id in WAYS), "trusted=Type"])
            raise InputError.of("MANIF091", f"{shown(text)} is no assumption", None, f"write one of {known}")
    return Assumed(frozenset(without), frozenset(trusted))


@dataclass(slots=True)
class Search:
    """One search over a world; what could not be decided on the way is kept."""

    world: World
    assumed: Assumed
    steps: Steps = MAX_STEPS
    open: dict[str, None] = field(default_factory=dict)

    def to(self, asked: ParsedQuery) -> tuple[nx.DiGraph, dict[Node, HopCall]]:
        """Everybody from whom a chain leads to a call of the query, and the calls of those who make one themselves."""
        ends = {node: call for node in self.world.nodes if (call := self.end(node, asked)) is not None}
        hops = self._hops(is_information(asked.cls, asked.verb))
        near = Near(self.world.nodes, follows_data=hops.follows_data)
        graph = closure(ends, self.world.nodes, hops.between, near.to)
        self.open |= hops.undecided
        return graph, ends

    def from_(self, starts: Sequence[Node]) -> nx.DiGraph:
        """Everybody to whom a chain leads from one of the nodes; edges lead back to it and carry their hop."""
        hops = self._hops(follows_data=True)
        near = Near(self.world.nodes, follows_data=True, is_onward=True)
        others = [node for node in self.world.nodes if node.party is not None]
        graph = closure(starts, others, lambda y, x: hops.between(x, y), near.onward)
        self.open |= hops.undecided
        return graph

    def _hops(self, follows_data: bool) -> Hops:
        return Hops(self.world.nodes, self.world.entrances, follows_data, self.assumed, self.steps)

    def end(self, node: Node, asked: ParsedQuery) -> HopCall | None:
        """A call of the query that the node may make itself."""
        if node.surface is None:
            return None
        lent = [ref.grant.target for ref in node.lending((asked.cls.name,))]
        for owner in self._owners(node, asked) if lent else ():
            wanted = Target(asked.cls, owner or Owner(asked.cls.owner), asked.verb, asked.resource or Everything())
            if not may_meet((wanted,), lent):
                continue
            calls = query(node.universe, asked.cls, owner, asked.verb, asked.resource)
            answer = never(node.admitted, calls, node.universe, steps=self.steps)
            if isinstance(answer, Undecided):
                self.open[f"{node.name}: {answer.reason}"] = None
            elif isinstance(answer, Fails):
                return call_of(node, answer.witness)
        return None

    def _owners(self, node: Node, asked: ParsedQuery) -> tuple[Owner | None, ...]:
        """The owner of the query for a node; an account has no place of its own and is asked about every one here."""
        owner = asked.owner
        if owner is None or owner.slot is None:
            return (owner,)
        if node.context is not None:
            return (asked.owner_for(node.context),)
        if owner.slot is Slot.AGENT:
            return ()
        contexts = (other.context for other in self.world.nodes if other.context is not None)
        return tuple({owner.filled(context): None for context in contexts})


def reach_to(
    world: World,
    text: str,
    *,
    start: str = "",
    assume: Sequence[str] = (),
    together: str = "",
    steps: Steps = MAX_STEPS,
) -> Reach:
    """Who gets to a call of a query, or, with `together`, who gets to a call of each of two queries.

    Args:
        world: the deployment.
        text: the query.
        start: the actor asked about: an agent type, an agent id, an account or `external`; empty for everybody.
        assume: what narrows the worst case.
        together: the second query of a separation check.
        steps: the budget of one exact search.

    Raises:
        InputError: for a query, an actor or an assumption that cannot be read.
    """
    assumed = assumed_of(assume, world)
    world = world.under(assumed.trusted, assumed.without, steps)
    search = Search(world, assumed, steps)
    asked = parse_query(text, world.rules)
    graph, ends = search.to(asked)
    starts = _starts(world, start) if start else tuple(node for node in world.nodes if not node.is_backdrop)
    queries = [asked]
    follows_data = is_information(asked.cls, asked.verb)
    others: list[nx.DiGraph] = []
    if together:
        other = parse_query(together, world.rules)
        more, other_ends = search.to(other)
        others.append(more)
        queries.append(other)
        follows_data = follows_data or is_information(other.cls, other.verb)
        found = [node for node in members(graph) if node in more and node in set(starts)]
        found.sort(key=lambda n: len(chain(graph, n)) + len(chain(more, n)))
        found = _folded(found)
        pairs = [(_chain(graph, ends, n), _chain(more, other_ends, n)) for n in found[:MAX_CHAINS]]
        chains = tuple(each for pair in pairs for each in pair)
    else:
        wanted = set(starts)
        found = _folded(node for node in members(graph) if node in wanted)
        chains = tuple(_chain(graph, ends, node) for node in found[:MAX_CHAINS])
    left_open = (
        *(f"{name}: a part of its card cannot be read" for name in world.unreadable),
        *(world.left_out if ends else _passable(world, asked)),
        *search.open,
    )
    certain = [node for node in found if not _is_conditional(node, [graph, *others])]
    if found and not certain:
        left_open = (*left_open, "every chain needs a component or an account that the input does not tell")
    word = "path" if certain else "undecided" if found or left_open else "none"
    quantity = "some" if found else "any"
    claim = " together with ".join(query_text(q.cls, q.owner, q.verb, q.resource, quantity) for q in queries)
    return Reach(
        claim,
        word,
        chains,
        start,
        world.actors,
        len(found),
        _assumptions(world, search.assumed, follows_data),
        left_open,
        world.rules,
    )


def _passable(world: World, asked: ParsedQuery) -> tuple[str, ...]:
    """What was left out about cards in other hands, unless no card lends anything of the class."""
    return world.left_out if any(True for node in world.nodes for _ in node.lending((asked.cls.name,))) else ()


def _is_conditional(node: Node, graphs: Sequence[nx.DiGraph]) -> bool:
    """Whether a shortest chain of the node needs an open name to be filled in a certain way."""
    return node.is_assumed or any(hop.subject.is_assumed for graph in graphs for hop in chain(graph, node))


def _folded(nodes: Iterable[Node]) -> list[Node]:
    """Without the further instances of a party whose first one is among them: the chain of that is theirs, too."""
    found = [node for node in nodes if node.receiver is None]
    plain = {node.name for node in found if node.is_plain}
    return [node for node in found if node.is_plain or party_of(node.name) not in plain]


def _starts(world: World, name: str) -> tuple[Node, ...]:
    found = world.named(name)
    if not found:
        names = sorted({party_of(node.name) for node in world.nodes if node.receiver is None})
        near = nearest(name, names)
        raise InputError.of(
            "MANIF090",
            f"nobody is called {shown(name)}",
            None,
            f"did you mean `{near}`?" if near else "known: " + ", ".join(names[:10]),
        )
    return found


def _chain(graph: nx.DiGraph, ends: dict[Node, HopCall], node: Node) -> Chain:
    hops = chain(graph, node)
    last = hops[-1].subject if hops else node
    return Chain(node.name, hops, ends[last])


@dataclass(frozen=True, slots=True)
class Touched:
    """One actor within a blast radius.

    Attributes:
        chain: how the first one comes by what it can; empty for itself.
        name: the actor.
        classes: the classes in which it may do something, each with a call.
    """

    name: str
    chain: tuple[Hop, ...]
    classes: tuple[tuple[str, HopCall], ...]


@dataclass(frozen=True, slots=True)
class Blast:
    """Everything that one actor can bring about, itself and through others.

    Attributes:
        start: the actor, or the card or account asked about, in words.
        touched: it first, then the others by the length of the chains; past `MAX_CHAINS` they are only counted.
        others: how many there are beside it.
        gained: the classes in which only others can do something.
        actors, assumptions, undecided, rules: as for `Reach`.
    """

    start: str
    touched: tuple[Touched, ...]
    others: int
    gained: tuple[str, ...]
    actors: int
    assumptions: tuple[str, ...]
    undecided: tuple[str, ...]
    rules: Rules


def blast_radius(world: World, start: str, *, assume: Sequence[str] = (), steps: Steps = MAX_STEPS) -> Blast:
    """Everything that an actor can bring about or learn, itself and through any chain.

    Args:
        world: the deployment.
        start: an agent type, an agent id, an account, `external`, or the id of a card: then whoever holds it.
        assume: what narrows the worst case.
        steps: the budget of one exact search.

    Raises:
        InputError: for an actor or an assumption that is not known.
    """
    assumed = assumed_of(assume, world)
    world = world.under(assumed.trusted, assumed.without, steps)
    search = Search(world, assumed, steps)
    holding = tuple(n for n in world.nodes if n.surface is not None and start in map(str, n.surface.sources))
    starts = holding or _starts(world, start)
    graph = search.from_(starts)
    touched: list[Touched] = []
    own: set[str] = set()
    gained: dict[str, None] = {}
    for node in _folded(members(graph)):
        is_listed, is_start = len(touched) < MAX_CHAINS, node in starts
        known = () if is_listed or is_start else {*own, *gained}
        classes = tuple(_classes(search, node, known))
        if is_start:
            own |= {name for name, _ in classes}
        else:
            gained.update((name, None) for name, _ in classes)
        # edges lead back to the start, so the hops come in the order in which one would have to undo them
        hops = tuple(reversed(chain(graph, node))) if is_listed else ()
        touched.append(Touched(node.name, hops, classes))
    open_ = (
        *(f"{name}: a part of its card cannot be read" for name in world.unreadable),
        *world.left_out,
        *search.open,
    )
    return Blast(
        start,
        tuple(touched[:MAX_CHAINS]),
        len(touched) - sum(t.name in {n.name for n in starts} for t in touched),
        tuple(name for name in gained if name not in own),
        world.actors,
        _assumptions(world, search.assumed, follows_data=True),
        open_,
        world.rules,
    )


def _classes(search: Search, node: Node, known: Container[str]) -> Iterable[tuple[str, HopCall]]:
    """The classes in which a node may do something, with a call of each, without those that are known already."""
    if node.surface is None:
        return
    lent = {ref.grant.target.cls.name for part in node.surface.lower for ref in part.positive}
    for cls in classes_of(search.world.rules):
        if cls.name in lent and cls.name not in known:
            found = search.end(node, ParsedQuery(cls, None, "*", None))
            if found is not None:
                yield cls.name, found


def _assumptions(world: World, assumed: Assumed, follows_data: bool) -> tuple[str, ...]:
    told = ["the code of every agent does the worst that its cards let it do, except where `--assume` says otherwise"]
    ways = [w.id for w in WAYS.values() if w.id not in assumed.without and (follows_data or w.flow is not Flow.DATA)]
    told.append(f"ways followed: {', '.join(ways)}")
    if assumed.without:
        told.append(f"assumed not to be taken: {', '.join(sorted(assumed.without))}")
    if assumed.trusted:
        told.append(f"assumed to serve nobody else: {', '.join(sorted(assumed.trusted))}")
    if not follows_data:
        told.append("the question is about acting, so data that is handed on gives nothing")
    told += _not_followed(world, follows_data)
    if not world.entrances:
        told.append("the input names no HTTP API and no MCP deployment: `external` stands for webhooks only")
    return (*told, *world.notes)


def _not_followed(world: World, follows_data: bool) -> Iterable[str]:
    """What no way stands for, so that a proof of none does not speak about it."""
    if not any(node.is_account for node in world.nodes):
        yield "not asked about: the account of the environment and its tokens, whose root card admits everything"
    yield "not followed: administrators of the platform, plugins that the operator installs, files that tools share"
    if not world.rules.is_next("tool_code_authority"):
        yield "not followed: tools, whose code has one card alone"
    else:
        yield "not followed: tools that are called from outside, which have a card of their component"
    yield (
        "not followed: retry policies, and reverting, resuming or interrupting agents, which change when and how often"
        " an agent does what it does"
    )
    yield "not followed: cards of agents that an account revokes, which may take a ceiling away"
    if follows_data:
        yield (
            "not followed: data sent to hosts or into databases of others (ask `--never-together 'network() : connect :"
            " any'`), and what names of keys, deletions and statements without a table tell"
        )
