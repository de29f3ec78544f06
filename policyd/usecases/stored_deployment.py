"""Stored facts as the deployment and the wallets that questions are asked about.

Source: cards 5.3, 6.7, 8; interface, a place in the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from policyd.core import application as core
from policyd.core.admission import HeldCard, Wallet
from policyd.core.application import BadGrant, GrantOrigin, NamedPlace, PlacedGrant
from policyd.core.cards import Bound, Card, CardId, ScopeCard
from policyd.core.cards.lineage import descendants
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Grant, Level, Recipient
from policyd.findings import Finding, InputError, Severity, Span
from policyd.manifest import Application, LoadedManifest
from policyd.store import facts
from policyd.store.facts import Installed, Installer, NamedValue, ValueKind, WalletFact, place_of
from policyd.usecases.deployments import Described
from policyd.usecases.recent import Recent

CARD_UNKNOWN = "CARD050"
"""The card of an agent type is not known, so nothing is said about its authority."""


ROOM_CARDS = 100_000
"""How many cards the wallets of one snapshot that are kept ready may hold together."""


def readable_under(grant: Grant, rules: Rules) -> bool:
    """Whether the text of `grant` is a grant under `rules`, too: newer classes and recipients may be missing."""
    recipient = grant.recipient
    if grant.target.cls.is_newer and not rules.is_next("card_classes"):
        return False
    return not recipient.is_external_tool_owner or rules.is_next("external_tool_owner")


def described_facts(deployment: facts.Deployment, rules: Rules) -> Described:
    """The deployment as manifests describe it, every grant at the place it was imported from.

    Args:
        deployment: as stored.
        rules: the edition asked about; cards with grants that do not exist under it cannot be read.
    """
    agents = tuple(_agent(agent, deployment, rules) for agent in deployment.agent_types)
    secrets = (_named(v) for v in deployment.values if v.kind is ValueKind.SECRET)
    described = core.Deployment(
        deployment.application,
        deployment.environment,
        None,
        (),
        deployment.account,
        "",
        tuple(sorted(agents, key=lambda a: a.name)),
        tuple(sorted(a.name for a in agents)),
        tuple(NamedPlace(c.name, c.place) for c in deployment.components),
        (),
        tuple(secrets),
        (deployment.account,),
    )
    loaded = LoadedManifest(Application(), (), (), (), deployment.rules)
    return Described(described, loaded, tuple(f.finding for f in deployment.findings))


def _named(value: NamedValue) -> NamedPlace:
    return NamedPlace(".".join(value.path), value.place, value.is_known)


def _agent(agent: facts.AgentType, deployment: facts.Deployment, rules: Rules) -> core.AgentType:
    place = agent.place
    values = [v for v in deployment.values if v.level is facts.Level.AGENT and v.subject == agent.name]
    return core.AgentType(
        agent.name,
        place or Span(deployment.label),
        agent.is_declared,
        agent.component,
        agent.component_is_assumed,
        _initial_card(agent, deployment, rules),
        tuple(_named(v) for v in values if v.kind is ValueKind.ENV),
        tuple(_named(v) for v in values if v.kind is ValueKind.CONFIG),
    )


def _initial_card(agent: facts.AgentType, deployment: facts.Deployment, rules: Rules) -> core.InitialCard:
    card = agent.card
    if card is None:
        return core.InitialCard("", None, bad=tuple(_reasons(agent, deployment)))
    bad = [
        BadGrant(bound, grant.text, _unreadable(grant, place_of(card.places, bound, index), rules))
        for bound, index, grant in card.bounds.each()
        if not readable_under(grant, rules)
    ]

    def listed(bound: Bound) -> tuple[PlacedGrant, ...]:
        origins = card.origins if bound is Bound.LOWER_POSITIVE else ()
        return tuple(
            PlacedGrant(
                grant,
                origins[index] if origins else GrantOrigin.WRITTEN,
                grant.text,
                place_of(card.places, bound, index),
            )
            for index, grant in enumerate(card.bounds.of(bound))
        )

    return core.InitialCard(
        card.layer,
        card.place,
        listed(Bound.LOWER_POSITIVE),
        listed(Bound.LOWER_NEGATIVE),
        listed(Bound.UPPER_POSITIVE),
        listed(Bound.UPPER_NEGATIVE),
        tuple(bad),
        is_default=card.is_default,
    )


def _unreadable(grant: Grant, place: Span | None, rules: Rules) -> Finding:
    message = f"`{grant.text}` is no grant under edition {rules.label}"
    return Finding(CARD_UNKNOWN, Severity.ERROR, message, place, "ask under edition `next`")


def _reasons(agent: facts.AgentType, deployment: facts.Deployment) -> Iterator[BadGrant]:
    """Why the card of an agent type is not known: the findings of the import that stand in it."""
    here = agent.place.path if agent.place is not None else ""
    found = False
    for fact in deployment.findings:
        finding = fact.finding
        inside = finding.span is not None and here and finding.span.path.startswith((f"{here}.", f"{here}["))
        if inside and finding.severity is Severity.ERROR and finding.code.startswith(("GRANT", "CARD")):
            found = True
            yield BadGrant(Bound.LOWER_POSITIVE, "", finding)
    if not found:
        message = f"the initial card of `{agent.name}` is not known"
        yield BadGrant(
            Bound.LOWER_POSITIVE, "", Finding(CARD_UNKNOWN, Severity.ERROR, message, agent.place, "import it")
        )


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """The facts of a snapshot, indexed for questions.

    Attributes:
        deployment: all facts.
        cards: by id; scope cards among them.
        wallets: holder and agent id to the wallet.
        components: agent type to the components that have one of that name, empty text for not known.
        instances: holder to the ids of its agents with wallets of their own, sorted.
        revoked: ids of revoked cards and of everything derived from them.
    """

    deployment: facts.Deployment
    cards: Mapping[CardId, facts.CardFact]
    wallets: Mapping[tuple[str, str], WalletFact]
    components: Mapping[str, frozenset[str]]
    instances: Mapping[str, tuple[str, ...]]
    revoked: frozenset[CardId]
    described: dict[Rules, Described] = field(default_factory=dict, compare=False)
    strange: dict[Rules, frozenset[CardId]] = field(default_factory=dict, compare=False)
    held: Recent = field(default_factory=lambda: Recent(ROOM_CARDS), compare=False)

    @classmethod
    def of(cls, deployment: facts.Deployment) -> StoredFacts:
        """The facts of `deployment`, indexed."""
        cards = {fact.card.id: fact for fact in deployment.cards}
        wallets = {(w.holder.text, w.agent_id): w for w in deployment.wallets}
        parents = parents_of(deployment)
        gone = {gone for card in deployment.revoked for gone in descendants(card, parents)}
        components: dict[str, set[str]] = {}
        for agent in deployment.agent_types:
            components.setdefault(agent.name, set()).add(agent.component)
        instances: dict[str, list[str]] = {}
        for wallet in deployment.wallets:
            if wallet.holder.level is Level.AGENT:
                components.setdefault(wallet.holder.known[4], set()).add(wallet.holder.known[3])
            if wallet.agent_id:
                instances.setdefault(wallet.holder.text, []).append(wallet.agent_id)
        return cls(
            deployment,
            cards,
            wallets,
            {name: frozenset(found) for name, found in components.items()},
            {holder: tuple(sorted(ids)) for holder, ids in instances.items()},
            frozenset(gone),
        )

    def under(self, rules: Rules) -> Described:
        """The deployment under `rules`, described once."""
        found = self.described.get(rules)
        if found is None:
            found = self.described[rules] = described_facts(self.deployment, rules)
        return found

    def unreadable(self, rules: Rules) -> frozenset[CardId]:
        """The cards with grants that do not exist under `rules`: a platform of that edition cannot hold them."""
        if rules == self.deployment.rules:
            return frozenset()
        found = self.strange.get(rules)
        if found is None:
            found = self.strange[rules] = frozenset(
                fact.card.id
                for fact in self.deployment.cards
                if not all(readable_under(grant, rules) for _, _, grant in fact.card.bounds.each())
            )
        return found

    def require_readable(self, wallet: Wallet, rules: Rules) -> None:
        """Refuse a wallet with a card that cannot be read under `rules`.

        Raises:
            InputError: CARD050.
        """
        strange = self.unreadable(rules)
        for held in wallet.cards if strange else ():
            if held.card.id in strange:
                raise InputError(
                    Finding(
                        CARD_UNKNOWN,
                        Severity.ERROR,
                        f"card `{held.card.id}` has grants that do not exist under edition {rules.label}",
                        None,
                        f"ask under edition {self.deployment.rules.label}, under which it was imported",
                    )
                )

    def holder_of(self, agent_type: str) -> Recipient | None:
        """The holder that an agent type is, None where its component is not known or several have the type."""
        components = self.components.get(agent_type, frozenset())
        if len(components) != 1 or components == {""}:
            return None
        d = self.deployment
        return Recipient(Level.AGENT, (d.account, d.application, d.environment, *components, agent_type))

    def instances_with_wallets(self, holder: Recipient) -> tuple[str, ...]:
        """The ids of the agents of a type that have wallets of their own, sorted."""
        return self.instances.get(holder.text, ())

    def wallet_for(self, holder: Recipient, agent_id: str = "") -> Wallet | None:
        """The imported wallet of an agent or account; that of its type where the agent has none of its own."""
        found = self.wallets.get((holder.text, agent_id)) or self.wallets.get((holder.text, ""))
        if found is None:
            return None
        key = (holder.text, found.agent_id or agent_id)
        return self.held.get(key, lambda: self._wallet(found, agent_id), lambda wallet: len(wallet.cards))

    def _wallet(self, fact: WalletFact, agent_id: str) -> Wallet:
        held = []
        for installed in fact.cards:
            card = self.cards[installed.card].card
            assert isinstance(card, Card)  # wallets hold no scope cards
            held.append(_held(card, installed))
        context = None
        if fact.holder.level is Level.AGENT and not fact.holder.is_external_tool_owner:
            account, application, environment, component, agent_type = fact.holder.known
            agent = fact.agent_id or agent_id or None
            context = AgentContext(account, application, environment, component, agent_type, agent)
        return Wallet.of(fact.holder, tuple(held), context, fact.recorded_account, self.revoked)

    def place(self, card: CardId, bound: Bound, index: int) -> Span | None:
        """Where a grant of a card with an id stands, None where that is not known."""
        fact = self.cards.get(card)
        return None if fact is None else place_of(fact.places, bound, index)


def _held(card: Card, installed: Installed) -> HeldCard:
    managed = card.managed_by
    initial = (managed is not None and managed.kind == "AgentInitial") or (
        card.is_polymorphic and installed.by is Installer.UNKNOWN
    )
    return HeldCard(card, initial, installed.by is not Installer.OTHER and not initial)


def parents_of(deployment: facts.Deployment) -> dict[CardId, tuple[CardId, ...]]:
    """Every stored card to its parents; scope cards to their roots."""
    return {
        fact.card.id: fact.card.roots if isinstance(fact.card, ScopeCard) else fact.card.parents
        for fact in deployment.cards
    }
