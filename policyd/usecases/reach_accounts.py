"""What an account can do to agents and to other accounts over REST: hops that no agent has.

Source: questions 2 (reach); host 2.14 to 2.16; middleware 4.6; cards 2.4, 6.9.
"""

from __future__ import annotations

from collections.abc import Iterator

from policyd.core.admission import HeldCard, Wallet
from policyd.core.callsets import Universe
from policyd.core.cards import Card, CardId, account_root_bounds
from policyd.core.edition import Rules
from policyd.core.grants import ANY_VERB, Owner, OwnerKind, Target, account_holder
from policyd.core.grants.resources import Resource
from policyd.core.grants.resources.exact import ANY, EMPTY
from policyd.usecases.holders import UNNAMED_ACCOUNT, UNNAMED_COMPONENT
from policyd.usecases.reach_nodes import Node, platform_class
from policyd.usecases.wallet_holders import WalletHolder

OPERATOR_CARD = CardId("00000000-0000-7000-8000-000000000000")
"""Stands for the root card of the account of the environment, which is not among the facts."""

_UNMENTIONED = (UNNAMED_ACCOUNT, "any", "any", UNNAMED_COMPONENT)

Opening = tuple[str, tuple[Target, ...]]
"""A way with the calls that open it, all of which have to be admitted."""


def operator(account: str, rules: Rules) -> Node:
    """The account of the environment, by its root card: on the way of accounts that can act as it."""
    holder = account_holder(account)
    wallet = Wallet.of(holder, (HeldCard(Card(OPERATOR_CARD, account_root_bounds(account), is_system=True)),))
    party = WalletHolder(account, wallet)
    return Node(account, party, None, party.surface(None), Universe.of(holder, rules), is_plain=False, is_backdrop=True)


def over_agents(x: Node, owner: Owner, y: Node) -> Iterator[Opening]:
    """The ways in which an account may come by what an agent can."""
    known = owner.known
    component = Owner(OwnerKind.COMPONENT, known[:4])
    environment = Owner(OwnerKind.ENVIRONMENT, known[:3])
    yield "component", (Target(platform_class("component"), component, "update", ANY),)
    yield "deploy", (Target(platform_class("environment"), environment, "deploy", ANY),)
    for cls in ("environment.http-api-deployment", "environment.mcp-deployment"):
        for verb in ("create", "update"):
            for resource in _named(x, cls, verb):
                yield "publish", (Target(platform_class(cls), environment, verb, resource),)
    if any(True for _ in y.lending(("tool",))):
        own = Owner(OwnerKind.ACCOUNT, _account(x))
        for cls in ("account.tool-release", "account.tool-middleware-release"):
            for resource in _named(x, cls, "publish"):
                yield "release", (Target(platform_class(cls), own, "publish", resource),)


def over_accounts(x: Node, y: Node) -> Iterator[Opening]:
    """The ways in which an account may act as another one, or, for the operator, past all cards."""
    assert y.party is not None  # an account
    owner = Owner(OwnerKind.ACCOUNT, y.party.recipient.known[:1])
    yield "token", (Target(platform_class("account.token"), owner, "create", ANY),)
    yield "impersonate", (Target(platform_class("system"), Owner(OwnerKind.EMPTY), "impersonate-user", EMPTY),)
    if y.is_backdrop:
        yield from _plugins(x)


def _plugins(x: Node) -> Iterator[Opening]:
    """A plugin of its own on a component: the code of an oplog processor is admitted everything (host 1.1)."""
    own = Owner(OwnerKind.ACCOUNT, _account(x))
    names = [*_named(x, "account.plugin", "register"), *_named(x, "environment.plugin-grant", "create")]
    for register in dict.fromkeys(names):
        for component in _components(x):
            environment = Owner(OwnerKind.ENVIRONMENT, component.known[:3])
            yield (
                "plugin",
                (
                    Target(platform_class("account.plugin"), own, "register", register),
                    Target(platform_class("environment.plugin-grant"), environment, "create", register),
                    Target(platform_class("component"), component, "update", ANY),
                ),
            )


def _components(x: Node) -> list[Owner]:
    """The components that its grants name; names that nothing mentions stand for what they leave open."""
    found: dict[Owner, None] = {}
    for ref in x.lending(("component",)):
        known = ref.grant.target.owner.known
        found[Owner(OwnerKind.COMPONENT, (*known, *_UNMENTIONED[len(known) :]))] = None
    return list(found)


def _named(x: Node, name: str, verb: str) -> list[Resource]:
    """The resources that its grants name, where they grant the verb."""
    found = (ref.grant.target for ref in x.lending((name,)) if ref.grant.target.verb in (ANY_VERB, verb))
    return list(dict.fromkeys(target.resource for target in found))


def _account(x: Node) -> tuple[str, ...]:
    assert x.party is not None  # an account
    node = x.receiver if x.receiver is not None else x
    assert node.party is not None
    return node.party.recipient.known[:1]
