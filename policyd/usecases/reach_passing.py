"""Cards in other hands: what a receiver may do by a card that somebody installs on it or lends it for an invocation.

The child of one card admits, at most, what the grants of that card for the receiver admit; the ceilings of the
receiver hold for it, too, as long as the receiver keeps them. Each card is a parent by itself.

Source: cards 5.2, 5.4, 6.1 to 6.3, 6.5 to 6.7, 6.9; host 2.11.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from policyd.core.callsets import Undecided
from policyd.core.callsets.budget import MAX_STEPS, Steps
from policyd.core.cards import Bound, Card, CardId, Surface, surface_of
from policyd.core.cards.surface import Part
from policyd.core.grants import ANY_VERB, Level, Owner, OwnerKind, Recipient, Target, agent_holder
from policyd.core.grants.resources import CardTarget, Resource
from policyd.core.grants.resources.exact import ANY
from policyd.usecases.holders import Holder, Party
from policyd.usecases.reach_calls import invocation
from policyd.usecases.reach_nodes import Node, platform_class
from policyd.usecases.wallet_holders import WalletHolder

MAX_PASSED = 10_000
"""So many cards in other hands are looked at; past that a proof is not given."""

MAX_LOOKED = 200_000
"""So many pairs of a card and somebody who may get it are looked at; past that a proof is not given."""

PASSING = frozenset({"install", "scope", "share", "revoke"})
"""The ways that cards take."""

Calls = tuple[tuple[Node, Target], ...]
"""Calls with the node that makes each."""


_Says = tuple[int, tuple[Node, Target] | None, tuple[Node, Target] | None]


@dataclass(frozen=True, slots=True)
class _Carried:
    """A card in somebody's hand.

    Attributes:
        root: whose card it is.
        card: it, slots filled for the root.
        hand: who has it now.
        hands: through which it went, the root first.
        calls: by which it came.
        is_scope: whether it is lent for an invocation only, and can be lent on but not installed.
        recipients: for whom its lower positives are.
    """

    root: Node
    card: Card
    hand: Node
    hands: tuple[Node, ...]
    calls: Calls = ()
    is_scope: bool = False

    recipients: frozenset[Recipient] = frozenset()


def passed_on(
    nodes: Sequence[Node],
    *,
    trusted: frozenset[str] = frozenset(),
    without: frozenset[str] = frozenset(),
    steps: Steps = MAX_STEPS,
) -> tuple[list[Node], tuple[str, ...]]:
    """What the cards of some nodes give to others, through several hands, too, and to their own holders alone.

    Args:
        nodes: everybody.
        trusted: agent types that pass nothing on.
        without: ids of ways that are not followed.
        steps: the budget of one exact search.

    Returns:
        A node for every card in another hand, or without the ceilings around it; and what was left out, in sentences.
    """
    plain = [node for node in nodes if (node.is_plain or node.is_assumed) and node.party is not None]
    passing = _Passing(plain, trusted, without, steps)
    passing.run()
    return passing.found, tuple(passing.left_out)


@dataclass(slots=True)
class _Passing:
    """One walk of all cards through all hands."""

    plain: Sequence[Node]
    trusted: frozenset[str]
    without: frozenset[str]
    steps: Steps
    found: list[Node] = field(default_factory=list)
    left_out: dict[str, None] = field(default_factory=dict)
    _held: dict[Node, list[Node]] = field(default_factory=lambda: defaultdict(list))
    _at: dict[Node, list[_Carried]] = field(default_factory=lambda: defaultdict(list))
    _seen: set[tuple[str, str, str, str]] = field(default_factory=set)
    _waiting: deque[_Carried] = field(default_factory=deque)
    _receivers: dict[frozenset[Recipient], list[tuple[Node, Recipient]]] = field(default_factory=dict)
    _looked: int = 0
    _age: Counter[Node] = field(default_factory=Counter)
    _told: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _known_says: dict[tuple[Node, Node], _Says] = field(default_factory=dict)
    _known_derive: dict[Node, tuple[int, tuple[Node, Target] | None]] = field(default_factory=dict)
    _known_calls: dict[tuple[Node, Node], tuple[int, tuple[Node, Target] | None]] = field(default_factory=dict)
    _given: dict[Node, tuple[Part, ...]] = field(default_factory=dict)
    _raw: dict[tuple[Node, CardId], Card] = field(default_factory=dict)

    def run(self) -> None:
        for node in self.plain:
            if node.surface is None:
                continue
            for raw, card in _cards(node):
                self._raw[node, card.id] = raw
                recipients = frozenset(grant.recipient for grant in card.bounds.of(Bound.LOWER_POSITIVE))
                carried = _Carried(node, card, node, (node,), recipients=recipients)
                self._at[node].append(carried)
                self._waiting.append(carried)
            self._shed_own(node)
        while self._waiting and len(self.found) < MAX_PASSED and self._looked < MAX_LOOKED:
            carried = self._waiting.popleft()
            if carried.hand.agent_type not in self.trusted:
                self._pass(carried)
        if self._waiting:
            self.left_out["more cards can be passed on than are looked at"] = None

    def _pass(self, carried: _Carried) -> None:
        """Give a card to everybody to whom its hand can give it."""
        recipients = carried.recipients
        hand, root = carried.hand, carried.root
        if not recipients or not (hand.is_account or any(True for _ in self._acting(hand, "card"))):
            return
        if not hand.is_account and not self._gives(hand):
            return
        for other, receiver in self._for(recipients):
            self._looked += 1
            if other.party is hand.party or other.party is root.party:
                continue
            way, card, calls = self._handing(carried, other, receiver)
            kind = "lent" if way == "scope" else "given" if card is carried.card else "moved"
            key = (root.name, str(card.id), other.name, kind)
            if not way or key in self._seen:
                continue
            self._seen.add(key)
            self._give(replace(carried, card=card), other, way, calls)
            if len(self.found) >= MAX_PASSED:
                return

    def _gives(self, hand: Node) -> bool:
        """Whether any grant of a hand is about installing cards or invoking others."""
        verbs = (ANY_VERB, "install", "invoke")
        held = (hand, *self._held[hand])
        return any(ref.grant.target.verb in verbs for node in held for ref in node.lending(("card", "agent")))

    def _for(self, recipients: frozenset[Recipient]) -> list[tuple[Node, Recipient]]:
        """Everybody for whom grants with these recipients are."""
        if recipients not in self._receivers:
            pairs = ((node, recipient_of(node)) for node in self.plain)
            self._receivers[recipients] = [
                (node, receiver) for node, receiver in pairs if any(one.covers(receiver) for one in recipients)
            ]
        return self._receivers[recipients]

    def _handing(self, carried: _Carried, other: Node, receiver: Recipient) -> tuple[str, Card, Calls]:
        """The way by which a hand can give a card to somebody, with the card as it arrives; no way is empty."""
        hand, card = carried.hand, carried.card
        if hand.is_account or other.is_account:
            share = self._may(hand, "account.permission-share", "create", ANY) if "share" not in self.without else None
            is_between = hand.is_account and other.is_account and receiver.level is Level.ACCOUNT
            return ("share", card, (share,)) if is_between and share is not None else ("", card, ())
        if receiver.level is not Level.AGENT or other.context is None:
            return "", card, ()
        derive, install = self._says(hand, other, receiver)
        if install is not None and not carried.is_scope:
            if derive is not None:
                return "install", card, (derive, install)
            moved = self._may(hand, "card", "install", CardTarget(receiver), without=carried)
            if moved is not None:
                raw = self._raw.get((hand, card.id), card) if hand is carried.root else card
                return "install", raw.for_agent(other.context), (moved,)
        call = self._invoking(hand, other) if derive is not None and "scope" not in self.without else None
        return ("scope", card, (derive, call)) if derive is not None and call is not None else ("", card, ())

    def _says(
        self, hand: Node, other: Node, receiver: Recipient
    ) -> tuple[tuple[Node, Target] | None, tuple[Node, Target] | None]:
        """The calls by which a hand derives cards, and installs them on somebody; asked again once it has more say."""
        key, age = (hand, other), self._age[hand]
        known = self._known_says.get(key)
        if known is None or known[0] != age:
            derive = self._deriving(hand)
            to = CardTarget(receiver)
            install = self._may(hand, "card", "install", to) if "install" not in self.without else None
            known = self._known_says[key] = (age, derive, install)
        return known[1:]

    def _deriving(self, hand: Node) -> tuple[Node, Target] | None:
        """The call by which a hand derives cards."""
        age = self._age[hand]
        known = self._known_derive.get(hand)
        if known is None or known[0] != age:
            known = self._known_derive[hand] = (age, self._may(hand, "card", "derive", ANY))
        return known[1]

    def _invoking(self, hand: Node, other: Node) -> tuple[Node, Target] | None:
        """A call by which a hand invokes somebody."""
        key, age = (hand, other), self._age[hand]
        known = self._known_calls.get(key)
        if known is None or known[0] != age:
            found = None
            for actor in (hand, *self._held[hand]) if other.owner is not None else ():
                assert other.owner is not None
                asked = invocation(actor, other.owner, self.steps)
                if isinstance(asked, Undecided):
                    self.left_out[f"{actor.name}: {asked.reason}"] = None
                elif asked is not None:
                    found = (actor, asked)
                    break
            known = self._known_calls[key] = (age, found)
        return known[1]

    def _give(self, carried: _Carried, other: Node, way: str, calls: Calls) -> None:
        assert other.surface is not None
        root = carried.root
        given = surface_of([carried.card], recipient_of(other))
        own = other.surface
        if not any(part.positive for part in given.lower):
            return
        surface = Surface(own.holder, given.lower, (*own.upper, *given.upper), (*own.sources, *given.sources))
        thing = {"scope": "a scope card", "share": "a share"}.get(way, "a card")
        moved = replace(
            carried,
            hand=other,
            hands=(*carried.hands, other),
            calls=(*carried.calls, *calls),
            is_scope=way == "scope",
        )
        node = replace(
            root,
            name=f"{other.name} with {thing} of {root.name}",
            context=other.context,
            surface=surface,
            universe=other.universe,
            is_plain=True,
            receiver=other,
            way=way,
            handed=moved.calls,
            passed_by=carried.hands,
        )
        self._at[other].append(moved)
        self._waiting.append(moved)
        self._given[node] = given.upper
        self._keep(node)

    def _keep(self, node: Node) -> None:
        """Note a node; what its receiver already carries can go further if the node has a say about cards."""
        receiver = node.receiver
        assert receiver is not None
        self.found.append(node)
        self._held[receiver].append(node)
        if self._is_news(node, receiver):
            self._age[receiver] += 1
            self._waiting.extend(self._at[receiver])
            self._shed_own(receiver)
            for held in list(self._held[receiver]):
                self._strip(held)
        else:
            self._strip(node)

    def _is_news(self, node: Node, receiver: Node) -> bool:
        """Whether a node says anything about cards that its receiver did not have from two cards already.

        From two, because a card is not moved by its own say (cards T2).
        """
        surface = node.surface
        assert surface is not None
        limits = tuple(
            (part.card, len(part.positive), len(part.negative)) for part in surface.upper if not _is_open(part)
        )
        cuts = tuple(ref.grant.target for part in surface.lower for ref in part.negative)
        is_news = False
        for ref in node.lending(("card", "agent", "account.permission-share")):
            key = (receiver, ref.grant.target, limits, cuts)
            self._told[key] += 1
            is_news = is_news or self._told[key] <= 2
        return is_news

    def _strip(self, node: Node) -> None:
        """What a card of others gives to a receiver that has given up its own ceilings."""
        receiver, surface = node.receiver, node.surface
        assert receiver is not None
        assert receiver.surface is not None
        assert surface is not None
        key = (receiver.name, node.name, "", "alone")
        if node not in self._given or key in self._seen:
            return
        left, calls = self._ceilings_left(receiver, None)
        if calls:
            self._seen.add(key)
            bare = replace(surface, upper=(*left, *self._given[node]))
            self._keep(replace(node, name=f"{node.name} alone", surface=bare, handed=(*node.handed, *calls)))

    # Ceilings that their holder is rid of.

    def _shed_own(self, node: Node) -> None:
        """Each card of a wallet without the ceilings of the others, where the holder can be rid of those."""
        surface = node.surface
        if "revoke" in self.without or surface is None or len(surface.upper) < 2 or node.is_account:
            return
        for _, card in _cards(node):
            left, calls = self._ceilings_left(node, card)
            key = (node.name, str(card.id), node.name, "alone")
            own = surface_of([card], recipient_of(node))
            if not calls or key in self._seen or not any(part.positive for part in own.lower):
                continue
            if all(part in (*left, *own.upper) or _is_open(part) for part in surface.upper):
                continue
            self._seen.add(key)
            self.found.append(
                replace(
                    node,
                    name=f"{node.name} with card {card.id} alone",
                    surface=Surface(surface.holder, own.lower, (*left, *own.upper), surface.sources),
                    is_plain=True,
                    receiver=node,
                    way="revoke",
                    handed=calls,
                    passed_by=(),
                )
            )
            self._held[node].append(self.found[-1])

    def _ceilings_left(self, node: Node, kept: Card | None) -> tuple[tuple[Part, ...], Calls]:
        """The upper parts that a holder cannot be rid of while it keeps a card, and the calls that shed the others."""
        assert node.surface is not None
        if "revoke" in self.without or node.agent_type in self.trusted:
            return node.surface.upper, ()
        cards = {card.id: card for _, card in _cards(node)}
        revoke = self._may(node, "card", "revoke", ANY)
        needed = _ancestors(kept, cards) if kept is not None else frozenset()
        left: list[Part] = []
        calls: dict[tuple[Node, Target], None] = {}
        for part in node.surface.upper:
            card = cards.get(part.card)
            if card is None or (kept is not None and card.id == kept.id):
                left += [part] if card is None else []
            elif _is_open(part):
                continue
            elif revoke is not None and card.id not in needed:
                calls[revoke] = None
            elif (moving := self._moved_away(node, card)) is not None:
                calls[moving] = None
            else:
                left.append(part)
        return tuple(left), tuple(calls)

    def _moved_away(self, node: Node, card: Card) -> tuple[Node, Target] | None:
        """A call by which a concrete card leaves the wallet of its holder."""
        if self._raw[node, card.id].is_polymorphic:
            return None  # the source keeps a template
        carried = _Carried(node, card, node, (node,))
        bounds = (Bound.LOWER_POSITIVE, Bound.UPPER_POSITIVE, Bound.UPPER_NEGATIVE)
        recipients = {grant.recipient for bound in bounds for grant in card.bounds.of(bound)}
        for other in self.plain:
            receiver = recipient_of(other)
            if receiver.level is not Level.AGENT or not any(one.covers(receiver) for one in recipients):
                continue
            found = self._may(node, "card", "install", CardTarget(receiver), without=carried)
            if found is not None:
                return found
        return None

    # Who may what about cards.

    def _acting(self, hand: Node, name: str) -> Iterator[Node]:
        """The hand, and what it has of others, as far as grants of a class are lent."""
        for node in (hand, *self._held[hand]):
            if any(True for _ in node.lending((name,))):
                yield node

    def _may(
        self, hand: Node, name: str, verb: str, resource: Resource, without: _Carried | None = None
    ) -> tuple[Node, Target] | None:
        """The call of the hand, by a card of its own or of others; `without` the card that is moved (cards T2)."""
        cls = platform_class(name)
        for account in _accounts(hand):
            target = Target(cls, Owner(OwnerKind.ACCOUNT, (account,)), verb, resource)
            for node in self._acting(hand, name):
                surface = node.surface
                assert surface is not None
                if without is not None and any(part.card == without.card.id for part in surface.lower):
                    rest = [card for _, card in _cards(hand) if card.id != without.card.id]
                    if node is not hand or not rest or not surface_of(rest, recipient_of(hand)).allows(target):
                        continue
                if node.allows(target):
                    return node, target
        return None


def recipient_of(node: Node) -> Recipient:
    """Who a node is to the recipients of grants."""
    assert node.party is not None
    return agent_holder(node.context) if node.context is not None else node.party.recipient


def _accounts(node: Node) -> tuple[str, ...]:
    """The account whose cards it makes: of its component, or the one that was recorded (host Q-16)."""
    party: Party | None = node.party
    now = recipient_of(node).known[:1]
    recorded = (party.wallet.recorded_account,) if isinstance(party, WalletHolder) else ()
    return tuple(dict.fromkeys(account for account in (*now, *recorded) if account))


def _cards(node: Node) -> list[tuple[Card, Card]]:
    """The live cards of a node: as they are stored, and with their slots filled."""
    party: Party | None = node.party
    match party:
        case Holder() if node.context is not None:
            return [(party.template, party.template.for_agent(node.context))]
        case WalletHolder():
            wallet = party.wallet if node.context is None else party.wallet.for_agent(node.context)
            raw = {held.card.id: held.card for held in party.wallet.cards}
            return [(raw[held.card.id], held.card) for held in wallet.live(party.at)]
        case _:
            return []


def _ancestors(card: Card, cards: Mapping[CardId, Card]) -> frozenset[CardId]:
    """The cards of a wallet whose revocation takes this one along (cards V3)."""
    found: set[CardId] = set()
    waiting = list(card.parents)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += cards[one].parents if one in cards else ()
    return frozenset(found)


def _is_open(part: Part) -> bool:
    """Whether an upper part limits nothing."""
    return not part.positive and not part.negative
