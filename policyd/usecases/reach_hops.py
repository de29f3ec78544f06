"""The ways in which one actor comes by what another can do, each confirmed by the exact evaluator.

A hop from X to Y says: X can bring about, or learn, what Y can. What the code of an agent does between what it
receives and what it sends is taken at its worst.

Source: questions 2 (reach); host 2.8 to 2.11, 2.14 to 2.16; cards 6.2 to 6.7, 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from policyd.core.callsets import Fails, Undecided, admitted_by, query
from policyd.core.callsets.budget import Steps
from policyd.core.callsets.callset import CallSet, Intersection
from policyd.core.callsets.index import Words, fixed_words
from policyd.core.callsets.proof import is_empty
from policyd.core.cards import GrantRef, Surface
from policyd.core.cards.surface import Part
from policyd.core.grants import ANY_VERB, Grant, Owner, OwnerKind, Target
from policyd.core.grants.resources import Exact
from policyd.core.grants.resources.exact import EMPTY
from policyd.findings import InternalDefect, Span
from policyd.usecases.holders import written_target
from policyd.usecases.reach_accounts import Opening, over_accounts, over_agents
from policyd.usecases.reach_calls import invocation, searched
from policyd.usecases.reach_near import STORES
from policyd.usecases.reach_nodes import EXTERNAL, Node, platform_class
from policyd.usecases.reach_world import Entrance


class Flow(Enum):
    """What moves along a way."""

    CONTROL = "control"
    AUTHORITY = "authority"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class Way:
    """A way in which authority or data moves.

    Attributes:
        id: the word that `--assume no-…` takes.
        flow: what moves.
        words: for the hop, with the names of the two ends.
        condition: what else has to be the case, empty where nothing has.
        source: the section of the specification.
    """

    id: str
    flow: Flow
    words: str
    condition: str = ""
    source: str = ""


WAYS = {
    way.id: way
    for way in (
        Way("invoke", Flow.CONTROL, "{0} invokes {1}", "the code of {1} does what it is asked", "host 2.10"),
        Way("fork", Flow.CONTROL, "{0} forks {1}, which copies it with its wallet", "", "host 2.8"),
        Way(
            "update",
            Flow.CONTROL,
            "{0} moves {1} to another revision of its component",
            "a revision exists whose code serves {0}",
            "host 2.8",
        ),
        Way("entrance", Flow.CONTROL, "{0} reaches {1} without any card", "", "host 2.16"),
        Way(
            "webhook",
            Flow.CONTROL,
            "{0} answers a webhook of {1}, which asks no card",
            "the code of {1} makes a webhook and hands out its address",
            "host 2.8, 2.16",
        ),
        Way(
            "publish",
            Flow.CONTROL,
            "{0} makes an HTTP API or MCP deployment that serves {1} without any card",
            "the environment is deployed with it and {1} has endpoints",
            "host 2.15, 2.16",
        ),
        Way(
            "release",
            Flow.CONTROL,
            "{0} releases a tool or middleware that runs with the cards of {1}",
            "{1} is bound to that release",
            "middleware 2.2, 4.6",
        ),
        Way(
            "plugin",
            Flow.CONTROL,
            "{0} installs a plugin of its own, which is admitted everything that {1} is",
            "the plugin is an oplog processor",
            "host 1.1, 2.15",
        ),
        Way("component", Flow.CONTROL, "{0} replaces the component of {1}", "", "host 2.15"),
        Way("deploy", Flow.CONTROL, "{0} deploys the environment of {1}", "", "host 2.15"),
        Way("token", Flow.CONTROL, "{0} makes a token of the account {1}", "", "host 2.15"),
        Way("impersonate", Flow.CONTROL, "{0} impersonates {1}", "", "host 2.15"),
        Way(
            "install",
            Flow.AUTHORITY,
            "{0} gets a card installed and is {1}",
            "",
            "host 2.11, cards 6.2, 6.6",
        ),
        Way(
            "scope",
            Flow.AUTHORITY,
            "{0} is invoked with a scope card and is {1}",
            "",
            "host 2.11, cards 5.4, 6.5",
        ),
        Way("share", Flow.AUTHORITY, "{0} gets a share and is {1}", "", "host 2.15, cards 6.9"),
        Way("revoke", Flow.AUTHORITY, "{0} gives up other cards and is {1}", "", "cards 6.6, 6.7"),
        Way(
            "argument",
            Flow.DATA,
            "{1} invokes {0} and hands over what it knows",
            "the code of {1} tells it",
            "host 2.10",
        ),
        Way("store", Flow.DATA, "{0} reads what {1} writes", "the code of {1} writes it there", "host 2.5 to 2.7"),
        Way("files", Flow.DATA, "{0} reads the files of {1}", "the code of {1} writes it there", "host 2.14"),
        Way("log", Flow.DATA, "{0} reads the log of {1}", "", "host 2.9"),
        Way(
            "metadata",
            Flow.DATA,
            "{0} reads the metadata of {1}, its variables and configuration included",
            "",
            "host 3.2",
        ),
    )
}
"""All ways that are followed, by id."""


@dataclass(frozen=True, slots=True)
class HopCall:
    """A call that opens a hop.

    Attributes:
        who: the actor that makes it.
        target: in the form that `check` takes, slots filled from the actor.
        grants: those that admit it, as written, with their places.
    """

    who: str
    target: str
    grants: tuple[tuple[str, Span | None], ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """X comes by what Y can.

    Attributes:
        actor: X.
        subject: Y.
        way: how.
        calls: confirmed; none where no card is asked.
        place: where the manifest opens it, for entrances.
        remark: what else the call depends on.
    """

    actor: Node
    subject: Node
    way: Way
    calls: tuple[HopCall, ...] = ()
    place: Span | None = None
    remark: str = ""

    @property
    def words(self) -> str:
        """What happens."""
        return self.way.words.format(self.actor.name, self.subject.name)

    @property
    def condition(self) -> str:
        """What else has to be the case."""
        own = self.way.condition.format(self.actor.name, self.subject.name)
        return "; ".join(text for text in (own, self.remark) if text)


@dataclass(slots=True)
class Assumed:
    """What narrows the worst case.

    Attributes:
        without: ids of ways that are not followed.
        trusted: agent types that do nothing for others and tell nobody anything.
    """

    without: frozenset[str] = frozenset()
    trusted: frozenset[str] = frozenset()


@dataclass(slots=True)
class Hops:
    """Finds hops between two nodes.

    Attributes:
        nodes: everybody.
        entrances: from outside, by agent type.
        follows_data: whether data counts, because the question is about information.
        assumed: what narrows the worst case.
        steps: the budget of one exact search.
        undecided: what could not be decided.
    """

    nodes: Sequence[Node]
    entrances: Mapping[str, Sequence[Entrance]]
    follows_data: bool
    assumed: Assumed
    steps: Steps
    undecided: dict[str, None] = field(default_factory=dict)
    _held: dict[Node, list[Node]] = field(default_factory=dict)
    _lent_places: dict[tuple[Node, str, str], tuple[tuple[Words, Words], ...]] = field(default_factory=dict)
    _own_calls: dict[tuple[Node, str], CallSet] = field(default_factory=dict)
    _read_as_written: dict[tuple[Node, str], CallSet] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index who has cards of others."""
        for node in self.nodes:
            if node.receiver is not None:
                self._held.setdefault(node.receiver, []).append(node)

    def between(self, x: Node, y: Node) -> Hop | None:
        """A hop by which X comes by what Y can, or None."""
        if x is y or y.name == EXTERNAL:
            return None
        if x.party is None:
            return self._from_outside(x, y)
        if y.receiver is not None:
            return self._handed(x, y)
        if x.receiver is not None and y is x.receiver:
            return None
        if y.agent_type in self.assumed.trusted and y.agent_type:
            return self._replaced(x, y) or self._reading(x, y)
        return self._control(x, y) or self._told(x, y) or self._reading(x, y)

    def _follows(self, id: str) -> bool:
        way = WAYS[id]
        return id not in self.assumed.without and (way.flow is not Flow.DATA or self.follows_data)

    def _as(self, y: Node) -> Iterator[tuple[Node, tuple[HopCall, ...]]]:
        """Y, and Y with what it has of others, each with the calls by which it has that."""
        yield y, ()
        for node in self._held.get(y, ()):
            yield node, _handing(node)

    def _decided(self, who: str, found: Target | Undecided | None) -> Target | None:
        if isinstance(found, Undecided):
            self.undecided[f"{who}: {found.reason}"] = None
            return None
        return found

    # From outside.

    def _from_outside(self, x: Node, y: Node) -> Hop | None:
        if y.agent_type in self.assumed.trusted:
            return None
        entrances = self.entrances.get(y.agent_type, ())
        if entrances and y.receiver is None and self._follows("entrance"):
            return Hop(x, y, WAYS["entrance"], place=entrances[0].span)
        owner = y.owner
        if owner is not None and self._follows("webhook"):
            target = Target(platform_class("agent"), owner, "invoke", Exact("method", "create-webhook"))
            for node, calls in self._as(y):
                if node.allows(target):
                    return Hop(x, y, WAYS["webhook"], (*calls, call_of(node, target)))
        return None

    # Control.

    def _control(self, x: Node, y: Node) -> Hop | None:
        owner = y.owner
        if owner is None:
            return self._opened(x, y, over_accounts(x, y)) if x.is_account and y.is_account else None
        if self._follows("invoke"):
            found = self._decided(x.name, invocation(x, owner, self.steps))
            if found is not None:
                return Hop(x, y, WAYS["invoke"], (call_of(x, found),), remark=_by_name(x, y))
        for id, verb in (("fork", "fork"), ("update", "update-revision")):
            target = Target(platform_class("agent"), owner, verb, EMPTY)
            if self._follows(id) and x.allows(target):
                return Hop(x, y, WAYS[id], (call_of(x, target),))
        return self._opened(x, y, over_agents(x, owner, y)) if x.is_account else None

    def _replaced(self, x: Node, y: Node) -> Hop | None:
        """Trust is in the code of Y, which an account may exchange for other code."""
        owner = y.owner
        if owner is None or not x.is_account:
            return None
        ways = (way for way in over_agents(x, owner, y) if way[0] in ("component", "deploy"))
        return self._opened(x, y, ways)

    def _opened(self, x: Node, y: Node, ways: Iterable[Opening]) -> Hop | None:
        for id, targets in ways:
            if self._follows(id) and all(x.allows(target) for target in targets):
                return Hop(x, y, WAYS[id], tuple(call_of(x, target) for target in targets))
        return None

    # Authority that is passed on.

    def _handed(self, x: Node, y: Node) -> Hop | None:
        """Y is what a card gives to X that went through the hands of others, or that X keeps alone."""
        if y.receiver is not x or not self._follows(y.way):
            return None
        remark = f"the code of {y.passed_by[0].name} passes it on" if y.passed_by and y.way != "share" else ""
        if y.way == "share":
            remark = f"{y.passed_by[0].name} shares it"
        return Hop(x, y, WAYS[y.way], _handing(y), remark=remark)

    # Data.

    def _told(self, x: Node, y: Node) -> Hop | None:
        if not self._follows("argument") or x.owner is None or y.is_account:
            return None
        for node, calls in self._as(y):
            found = self._decided(node.name, invocation(node, x.owner, self.steps))
            if found is not None:
                return Hop(x, y, WAYS["argument"], (*calls, call_of(node, found)))
        return None

    def _reading(self, x: Node, y: Node) -> Hop | None:
        owner = y.owner
        if owner is not None:
            if self._follows("log") and _names(x, "oplog", owner):
                found = self._decided(x.name, searched(x, "oplog", owner, "read", self.steps))
                if found is not None:
                    return Hop(x, y, WAYS["log"], (call_of(x, found),))
            if self._follows("metadata"):
                # a listing shows each agent of the component, past a negative that names one of them
                for seen in (owner, Owner(OwnerKind.AGENT, owner.known[:4])):
                    view = Target(platform_class("agent"), seen, "view", EMPTY)
                    if x.allows(view):
                        return Hop(x, y, WAYS["metadata"], (call_of(x, view),))
        if y.agent_type and y.agent_type in self.assumed.trusted:
            return None
        if owner is not None and x.is_account and self._follows("files") and _names(x, "filesystem", owner):
            found = self._decided(x.name, searched(x, "filesystem", owner, "read", self.steps))
            if found is not None:
                return Hop(x, y, WAYS["files"], (call_of(x, found),))
        if x.is_account or y.is_account or not self._follows("store"):
            return None
        for node, calls in self._as(y):
            hop = self._channel(x, y, node, calls)
            if hop is not None:
                return hop
        return None

    def _channel(self, x: Node, y: Node, writer: Node, handing: tuple[HopCall, ...]) -> Hop | None:
        """A place in a store that Y may write and X may read: the same call but for its verb."""
        for name, writing, reading in STORES:
            cls = platform_class(name)
            if not self._may_meet(writer, x, name, writing, reading):
                continue
            as_writer = self._as_writer(x, name, reading, writing)
            calls = query(writer.universe, cls, None, writing)
            both = Intersection((calls, self._calls(writer, name), as_writer))
            answer = is_empty(both, writer.universe, steps=self.steps)
            if isinstance(answer, Undecided):
                self.undecided[f"{writer.name} to {x.name}: {answer.reason}"] = None
            elif isinstance(answer, Fails):
                read = replace(answer.witness, verb=reading)
                if not (writer.allows(answer.witness) and x.allows(read)):
                    raise InternalDefect.of(f"a channel is not admitted on replay: `{answer.witness.text}`")
                return Hop(x, y, WAYS["store"], (*handing, call_of(writer, answer.witness), call_of(x, read)))
        return None

    def _may_meet(self, writer: Node, reader: Node, name: str, writing: str, reading: str) -> bool:
        """Whether any place that a lent grant of the writer names can be one that a lent grant of the reader names."""
        read = self._places(reader, name, reading)
        return bool(read) and any(
            resource.agrees(other) and owner.agrees(other_owner)  # owners are mostly the same environment
            for owner, resource in self._places(writer, name, writing)
            for other_owner, other in read
        )

    def _places(self, node: Node, name: str, verb: str) -> tuple[tuple[Words, Words], ...]:
        """What each lent grant with a verb fixes of owner and resource."""
        key = (node, name, verb)
        if key not in self._lent_places:
            targets = (ref.grant.target for ref in node.lending((name,)))
            self._lent_places[key] = tuple(fixed_words(t) for t in targets if t.verb in (ANY_VERB, verb))
        return self._lent_places[key]

    def _calls(self, node: Node, name: str) -> CallSet:
        """What a node may do in a class; sorted out once."""
        key = (node, name)
        if key not in self._own_calls:
            self._own_calls[key] = node.admitted.within(name)
        return self._own_calls[key]

    def _as_writer(self, reader: Node, name: str, reading: str, writing: str) -> CallSet:
        """What a node may read in a class, as if that were written; sorted out once."""
        key = (reader, name)
        if key not in self._read_as_written:
            assert reader.surface is not None
            swapped = admitted_by(_with_verbs_swapped(reader.surface, name, reading, writing))
            self._read_as_written[key] = swapped.within(name)
        return self._read_as_written[key]


def _handing(node: Node) -> tuple[HopCall, ...]:
    """The calls by which a node with a receiver came to it."""
    return tuple(call_of(who, target) for who, target in node.handed)


def _names(node: Node, name: str, owner: Owner) -> bool:
    return any(ref.grant.target.owner.covers(owner) for ref in node.lending((name,)))


def _by_name(x: Node, y: Node) -> str:
    """What invoking over REST by the name of the type asks beside `invoke` (host 2.14)."""
    owner = y.owner
    if not x.is_account or owner is None:
        return ""
    every = Owner(OwnerKind.AGENT, (*owner.known[:4], y.agent_type), None, True)
    if x.allows(Target(platform_class("agent"), every, "view", EMPTY)):
        return ""
    return (
        f"it asks by the agent's id: by the name of the type, `agent({every.text}) : view :` is asked, too, and refused"
    )


def _with_verbs_swapped(surface: Surface, name: str, one: str, other: str) -> Surface:
    """The surface as it were if, in one class, the two verbs had each other's name."""
    verbs = {one: other, other: one}

    def moved(refs: tuple[GrantRef, ...]) -> tuple[GrantRef, ...]:
        return tuple(
            replace(ref, grant=Grant(replace(target, verb=verbs[target.verb]), ref.grant.recipient))
            if (target := ref.grant.target).cls.name == name and target.verb in verbs
            else ref
            for ref in refs
        )

    def part(given: Part) -> Part:
        return Part(given.card, moved(given.positive), moved(given.negative))

    return Surface(surface.holder, tuple(map(part, surface.lower)), tuple(map(part, surface.upper)), surface.sources)


def call_of(node: Node, target: Target) -> HopCall:
    """A call that the node may make, with the grants that admit it."""
    surface, party = node.surface, node.party
    assert surface is not None
    assert party is not None  # somebody with cards
    refs = [
        ref for part in surface.lower if part.denying(target) is None and (ref := part.granting(target)) is not None
    ]
    grants = tuple((party.written(ref), party.place(ref)) for ref in refs[:3])
    return HopCall(node.name, written_target(target, node.context), grants)
