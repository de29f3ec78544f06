"""Questions about operations as the case files write them."""

from __future__ import annotations

from typing import Any

from policyd.core.admission import HeldCard, OperationCall, OperationVerdict, Wallet, admit_operation
from policyd.core.cards import Bounds, Card, CardId, ScopeCard, Timestamp, default_grants
from policyd.core.edition import Edition, Rules
from policyd.core.grants import ANYONE, AgentContext, Grant, account_holder, agent_holder
from policyd.core.operations import Generation, Ports
from policyd.syntax import Form, parse_grants, parse_target
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables

PORTS = Ports(SqlTables(), OutboundUrls())
ACCOUNT = "dev@acme.io"
CART = 'Cart("42")'


def context(agent: str | None = CART) -> AgentContext:
    return AgentContext(ACCOUNT, "shop", "prod", "shop:cart", "Cart", agent)


def grant_texts(texts: list[str]) -> tuple[Grant, ...]:
    """Grants for anyone, unless the text names a recipient."""
    found: list[Grant] = []
    for text in texts:
        whole = text if ") @ " in text else text.replace(") : ", ") @ * : ", 1)
        found += parse_grants(whole, Form.POLYMORPHIC)
    return tuple(found)


def bounds_of(raw: dict[str, Any]) -> Bounds:
    lists = [grant_texts(raw.get(name, [])) for name in ("lower", "lower-not", "upper", "upper-not")]
    if raw.get("default"):
        lists[0] = (*default_grants(ANYONE), *lists[0])
    return Bounds(*lists)


def wallet_of(case: dict[str, Any]) -> Wallet:
    """The cards of a case, called c0, c1 and so on."""
    held = []
    for index, raw in enumerate(case["cards"]):
        expires = Timestamp.parse(raw["expires"]) if "expires" in raw else None
        is_template = case.get("caller") != "user"
        card = Card(CardId(f"c{index}"), bounds_of(raw), is_template, expires_at=expires)
        held.append(HeldCard(card, bool(raw.get("initial"))))
    revoked = frozenset(CardId(name) for name in case.get("revoked", []))
    if case.get("caller") == "user":
        return Wallet.of(account_holder(ACCOUNT), tuple(held), revoked=revoked)
    here = context(case.get("agent", CART))
    return Wallet.of(agent_holder(here), tuple(held), here, case.get("creator", ""), revoked)


def call_of(case: dict[str, Any]) -> OperationCall:
    scope = None
    if "scope" in case:
        bounds = bounds_of(case["scope"]).mapped(lambda grant: grant.filled(context()))
        scope = ScopeCard(CardId("scope"), bounds, (CardId(case["scope"].get("root", "c0")),))
    return OperationCall(
        catalogue().operations[case["operation"]],
        case.get("arguments", {}),
        Timestamp.parse(case["at"]) if "at" in case else None,
        scope,
        generation=Generation(case["generation"]) if "generation" in case else None,
        carrier=catalogue().operations[case["carrier"]] if "carrier" in case else None,
        executing=tuple(case.get("executing", ())),
    )


def asked(case: dict[str, Any]) -> OperationVerdict:
    """The answer on a case; the examples are of edition `snapshot` unless they say otherwise."""
    rules = Rules.of(Edition(case.get("edition", "snapshot")))
    return admit_operation(wallet_of(case), call_of(case), PORTS, rules)


def target_text(text: str, agent: str = CART) -> str:
    """A target text with its slots filled, as targets print it."""
    return parse_target(text, slots=True).filled(context(agent)).text if "./**" not in text else text
