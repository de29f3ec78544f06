"""The ways in which one actor comes by what another can do, each confirmed by the exact evaluator.

A hop from X to Y says: X can bring about, or learn, what Y can. What the code of an agent does between what it
receives and what it sends is taken at its worst.

Source: questions 2 (reach); host 2.8 to 2.11, 2.14 to 2.16; cards 6.2 to 6.7, 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from policyd.core.callsets import Fails, Undecided, admitted_by, never, query
from policyd.core.callsets.budget import Steps
from policyd.core.callsets.callset import Intersection
from policyd.core.callsets.proof import is_empty
from policyd.core.cards import GrantRef, Surface
from policyd.core.cards.surface import Part
from policyd.core.edition import NEXT
from policyd.core.grants import ANY_VERB, Grant, Owner, OwnerKind, PermissionClass, Target, class_named
from policyd.core.grants.resources import CardTarget, Exact
from policyd.core.grants.resources.exact import ANY, EMPTY
from policyd.findings import InternalDefect, Span
from policyd.usecases.holders import written_target
from policyd.usecases.reach_nodes import EXTERNAL, Node
from policyd.usecases.reach_passing import recipient_of
from policyd.usecases.reach_world import World


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
            "argument",
            Flow.DATA,
            "{1} invokes {0} and hands over what it knows",
            "the code of {1} tells it",
            "host 2.10",
        ),
        Way("store", Flow.DATA, "{0} reads what {1} writes", "the code of {1} writes it there", "host 2.5 to 2.7"),
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
        world: the nodes.
        follows_data: whether data counts, because the question is about information.
        assumed: what narrows the worst case.
        steps: the budget of one exact search.
        undecided: what could not be decided.
    """

    world: World
    follows_data: bool
    assumed: Assumed
    steps: Steps
    undecided: dict[str, None] = field(default_factory=dict)

    def between(self, x: Node, y: Node) -> Hop | None:
        """A hop by which X comes by what Y can, or None."""
        if x is y or y.name == EXTERNAL:
            return None
        if x.party is None:
            return self._from_outside(x, y)
        if y.receiver is not None:
            return self._installed(x, y)
        if x.receiver is not None and y is x.receiver:
            return None
        if y.agent_type in self.assumed.trusted and y.agent_type:
            return self._reading(x, y)
        return self._control(x, y) or self._told(x, y) or self._reading(x, y)

    def _follows(self, id: str) -> bool:
        way = WAYS[id]
        return id not in self.assumed.without and (way.flow is not Flow.DATA or self.follows_data)

    # From outside.

    def _from_outside(self, x: Node, y: Node) -> Hop | None:
        if y.agent_type in self.assumed.trusted:
            return None
        entrances = self.world.entrances.get(y.agent_type, ())
        if entrances and y.is_plain and self._follows("entrance"):
            return Hop(x, y, WAYS["entrance"], place=entrances[0].span)
        owner = y.owner
        if owner is not None and self._follows("webhook"):
            target = Target(_class("agent"), owner, "invoke", Exact("method", "create-webhook"))
            if _allows(y, target):
                return Hop(x, y, WAYS["webhook"], (call_of(y, target),))
        return None

    # Control.

    def _control(self, x: Node, y: Node) -> Hop | None:
        owner = y.owner
        if owner is None:
            return self._account(x, y)
        if self._follows("invoke"):
            found = self._invoke(x, owner)
            if found is not None:
                return Hop(x, y, WAYS["invoke"], (call_of(x, found),), remark=_by_name(x, y))
        for id, verb in (("fork", "fork"), ("update", "update-revision")):
            target = Target(_class("agent"), owner, verb, EMPTY)
            if self._follows(id) and _allows(x, target):
                return Hop(x, y, WAYS[id], (call_of(x, target),))
        if x.is_account:
            known = owner.known
            component = Target(_class("component"), Owner(OwnerKind.COMPONENT, known[:4]), "update", ANY)
            environment = Target(_class("environment"), Owner(OwnerKind.ENVIRONMENT, known[:3]), "deploy", ANY)
            for id, target in (("component", component), ("deploy", environment)):
                if self._follows(id) and _allows(x, target):
                    return Hop(x, y, WAYS[id], (call_of(x, target),))
        return None

    def _account(self, x: Node, y: Node) -> Hop | None:
        if not x.is_account or not y.is_account or y.party is None:
            return None
        owner = Owner(OwnerKind.ACCOUNT, y.party.recipient.known[:1])
        token = Target(_class("account.token"), owner, "create", ANY)
        system = Target(_class("system"), Owner(OwnerKind.EMPTY), "impersonate-user", EMPTY)
        for id, target in (("token", token), ("impersonate", system)):
            if self._follows(id) and _allows(x, target):
                return Hop(x, y, WAYS[id], (call_of(x, target),))
        return None

    def _invoke(self, x: Node, owner: Owner) -> Target | None:
        """A call that X may make to an agent: first what a grant names, then by exact search."""
        cls = _class("agent")
        is_near = False
        for ref in x.lending(("agent",)):
            target = ref.grant.target
            if target.verb not in (ANY_VERB, "invoke") or not target.owner.covers(owner):
                continue
            is_near = True
            resource = target.resource if isinstance(target.resource, Exact) else Exact("method", "call")
            asked = Target(cls, owner, "invoke", resource)
            if resource.kind == "method" and _allows(x, asked):
                return asked
        return self._searched(x, cls, owner, "invoke") if is_near else None

    def _searched(self, x: Node, cls: PermissionClass, owner: Owner | None, verb: str) -> Target | None:
        answer = never(x.admitted, query(x.universe, cls, owner, verb), x.universe, steps=self.steps)
        if isinstance(answer, Undecided):
            self.undecided[f"{x.name}: {answer.reason}"] = None
        return answer.witness if isinstance(answer, Fails) else None

    # Authority that is passed on.

    def _installed(self, x: Node, y: Node) -> Hop | None:
        """Y is what a card gives to X that went through the hands of others."""
        if y.receiver is not x or not self._follows("install"):
            return None
        if any(hand.agent_type in self.assumed.trusted for hand in y.passed_by if hand.agent_type):
            return None
        calls = []
        for hand, to in zip(y.passed_by, (*y.passed_by[1:], x), strict=True):
            owner = Owner(OwnerKind.ACCOUNT, recipient_of(hand).known[:1])
            cls = _class("card")
            calls.append(call_of(hand, Target(cls, owner, "derive", ANY)))
            calls.append(call_of(hand, Target(cls, owner, "install", CardTarget(recipient_of(to)))))
        return Hop(x, y, WAYS["install"], tuple(calls), remark=f"the code of {y.passed_by[0].name} passes it on")

    # Data.

    def _told(self, x: Node, y: Node) -> Hop | None:
        if not self._follows("argument") or x.owner is None or y.is_account:
            return None
        found = self._invoke(y, x.owner)
        return Hop(x, y, WAYS["argument"], (call_of(y, found),)) if found is not None else None

    def _reading(self, x: Node, y: Node) -> Hop | None:
        owner = y.owner
        if owner is not None and self._follows("log"):
            found = self._log(x, owner)
            if found is not None:
                return Hop(x, y, WAYS["log"], (call_of(x, found),))
        if owner is not None and self._follows("metadata"):
            view = Target(_class("agent"), owner, "view", EMPTY)
            if _allows(x, view):
                return Hop(x, y, WAYS["metadata"], (call_of(x, view),))
        is_trusted = bool(y.agent_type) and y.agent_type in self.assumed.trusted
        return self._channel(x, y) if self._follows("store") and not is_trusted else None

    def _log(self, x: Node, owner: Owner) -> Target | None:
        cls = _class("oplog")
        if any(ref.grant.target.owner.covers(owner) for ref in x.lending(("oplog",))):
            return self._searched(x, cls, owner, "read")
        return None

    def _channel(self, x: Node, y: Node) -> Hop | None:
        """A place in a store that Y may write and X may read: the same call but for its verb."""
        for name, writing, reading in (
            ("kv", "write", "read"),
            ("blob", "write", "read"),
            ("rdbms", "mutate", "query"),
        ):
            cls = _class(name)
            if not (_lends(y, name, writing) and _lends(x, name, reading)):
                continue
            assert x.surface is not None
            as_writer = admitted_by(_with_verbs_swapped(x.surface, name, reading, writing))
            both = Intersection((query(y.universe, cls, None, writing), y.admitted.calls, as_writer.calls))
            answer = is_empty(both, y.universe, steps=self.steps)
            if isinstance(answer, Undecided):
                self.undecided[f"{y.name} to {x.name}: {answer.reason}"] = None
            elif isinstance(answer, Fails):
                read = replace(answer.witness, verb=reading)
                if not (_allows(y, answer.witness) and _allows(x, read)):
                    raise InternalDefect.of(f"a channel is not admitted on replay: `{answer.witness.text}`")
                return Hop(x, y, WAYS["store"], (call_of(y, answer.witness), call_of(x, read)))
        return None


def _by_name(x: Node, y: Node) -> str:
    """What invoking over REST by the name of the type asks beside `invoke` (host 2.14)."""
    owner = y.owner
    if not x.is_account or owner is None:
        return ""
    every = Owner(OwnerKind.AGENT, (*owner.known[:4], y.agent_type), None, True)
    if _allows(x, Target(_class("agent"), every, "view", EMPTY)):
        return ""
    return (
        f"it asks by the agent's id: by the name of the type, `agent({every.text}) : view :` is asked, too, and refused"
    )


def _lends(node: Node, name: str, verb: str) -> bool:
    return any(ref.grant.target.verb in (ANY_VERB, verb) for ref in node.lending((name,)))


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


def _class(name: str) -> PermissionClass:
    found = class_named(name, NEXT)
    assert found is not None  # one of the platform's classes
    return found


def _allows(node: Node, target: Target) -> bool:
    return node.surface is not None and node.surface.allows(target)


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
