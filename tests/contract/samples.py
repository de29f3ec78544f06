"""Deployments to store: one with a fact of every kind, and small ones."""

from policyd.core.application import GrantOrigin
from policyd.core.cards import Bounds, Card, CardId, ManagedBy, ScopeCard, Timestamp
from policyd.core.edition import Edition, Rules
from policyd.findings import Confidence, Finding, Related, Severity, Span
from policyd.store.facts import (
    AgentType,
    CardFact,
    ChainFact,
    ChainLayer,
    Component,
    Deployment,
    FindingFact,
    InitialCard,
    Installed,
    Installer,
    Level,
    NamedValue,
    Origin,
    PermissionShare,
    RetryPolicyFact,
    ToolFact,
    ValueKind,
    WalletFact,
)
from policyd.store.holders import read_holder
from policyd.syntax import Form, parse_grant

NOW = Timestamp.parse("2026-01-01T00:00:00Z")
HOME = ("acme@x.io", "shop", "prod")
CART = "acme@x.io/shop/prod/shop:cart/Cart"
U64 = 2**64 - 1


def card_id(number):
    return CardId(f"00000000-0000-7000-8000-{number:012d}")


def grant(text, form=Form.CONCRETE):
    return parse_grant(text, form)


def bounds(lower=(), lower_negative=(), upper=(), upper_negative=(), form=Form.CONCRETE):
    return Bounds(
        *(tuple(grant(text, form) for text in texts) for texts in (lower, lower_negative, upper, upper_negative))
    )


def span(line, path="$"):
    return Span("golem.yaml", line, 5, line * 10, line * 10 + 4, path)


def holder(text):
    return read_holder(text, Rules())


def deployment(**changes):
    """An environment with one agent type; `changes` replace its facts."""
    facts = {
        "manifest_version": "1.6.0",
        "components": (Component("shop:cart", place=span(1)),),
        "agent_types": (AgentType("Cart", "shop:cart", initial(), span(2)),),
    }
    return Deployment(*HOME, **{**facts, **changes})


def initial(lower=("kv(?env) @ ?agent : read : orders.**",), **others):
    made = bounds(lower, form=Form.MANIFEST, **others)
    return InitialCard(made, (tuple(span(9) for _ in lower), *(((),) * 3)) if not others else ())


def full():
    """A deployment with a fact of every kind, and with the odd values that a column could lose."""
    concrete = Card(
        card_id(2),
        bounds(
            ["kv(acme@x.io/shop/prod) @ * : read : s.k"] * 2 + ["kv(acme@x.io/shop/prod) @ * : read : a.b"],
            ["kv(acme@x.io/shop/prod) @ * : read : s.k"],
            ["network() @ acme@x.io : connect : *.org:443"],
            ["secret(acme@x.io/shop/prod) @ * : reveal : **"],
        ),
        False,
        (card_id(1), card_id(9), card_id(1)),
        Timestamp(1_700_000_000, 123_456_789),
        Timestamp.parse("2029-12-31T23:59:60.5Z"),
        True,
        ManagedBy(
            "RuntimeDerived",
            (
                ("environmentId", card_id(50)),
                ("agentId", (("componentId", card_id(51)), ("agentId", 'Cart("ü")'))),
                ("invocationKey", "key"),
                ("oplogIndex", U64),
            ),
        ),
    )
    template = Card(card_id(1), bounds(["env(?agent) @ * : read : *"], form=Form.POLYMORPHIC), True)
    scope = ScopeCard(card_id(3), bounds(upper=["kv(acme@x.io/shop/prod) @ * : * : *.**"]), (card_id(1), card_id(2)))
    places = ((span(20), None, span(21)), (span(22),), (span(23),), (span(24),))
    return deployment(
        rules=Rules.of(Edition.NEXT, {"elapsed": "zero"}),
        components=(Component("shop:cart", card_id(51), U64, span(1)), Component("a:other")),
        agent_types=(
            AgentType("Cart", "shop:cart", initial(), span(2, "$.agents.Cart")),
            AgentType(
                "Default",
                "a:other",
                InitialCard(
                    bounds(["env(?agent) @ ?agent : read : *", "kv(?env) @ ?agent : * : *.**"], form=Form.MANIFEST),
                    is_default=True,
                    layer="agents.Default.presets.x",
                    origins=(GrantOrigin.DEFAULT, GrantOrigin.FILE),
                ),
                is_declared=False,
                component_is_assumed=True,
            ),
            AgentType("Loose", "", None, span(3)),
        ),
        cards=(CardFact(scope), CardFact(concrete, places, span(19)), CardFact(template)),
        revoked=(card_id(9), card_id(7)),
        wallets=(
            WalletFact(
                holder(CART),
                'Cart("ü")',
                "ops@x.io",
                (Installed(card_id(2), Installer.OTHER, NOW), Installed(card_id(1), Installer.SELF)),
                span(30),
            ),
            WalletFact(holder("acme@x.io")),
        ),
        shares=(
            PermissionShare(
                card_id(60),
                U64,
                card_id(61),
                card_id(62),
                "team share!",
                bounds(["component(acme@x.io/shop/prod/*) @ * : view : *"] * 2),
                card_id(2),
                ((span(40), span(41)), (), (), ()),
                span(39),
            ),
        ),
        retry_policies=(
            RetryPolicyFact("r", 2**32 - 1, "true", '"never"', Origin.PLATFORM, card_id(70), U64, span(50)),
            RetryPolicyFact("r", 0, "false", '"immediate"', Origin.MANIFEST),
        ),
        tools=(ToolFact("jq", Origin.MANIFEST, "a:other", "1.0", "acme@x.io", '{"name":"jq"}', span(60)),),
        middlewares=(ToolFact("audit", Origin.MANIFEST),),
        chains=(
            ChainFact(
                Level.AGENT,
                "Cart",
                "jq",
                "append",
                (ChainLayer("audit", "1", "acme@x.io", "denied", True, span(61)), ChainLayer("audit")),
                span(62),
            ),
        ),
        values=(
            NamedValue(ValueKind.SECRET, Level.ENVIRONMENT, "", ("stripe", "key"), True, span(70)),
            NamedValue(ValueKind.ENV, Level.AGENT, "Cart", ("TOKEN",), False),
        ),
        findings=(
            FindingFact(
                Finding(
                    "MANIF001",
                    Severity.WARNING,
                    "something in `golem.yaml`",
                    span(80, "$.x"),
                    "write something else",
                    (Related("see here", span(81)),),
                    Confidence.LIKELY,
                    "kv(a/b/c) : read : x.y",
                ),
                Origin.MANIFEST,
            ),
            FindingFact(Finding("STORE023", Severity.INFO, "no place"), Origin.PLATFORM),
        ),
    )
