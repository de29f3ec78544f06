"""Small deployments from case files: agent types with cards, and accounts."""

from pathlib import Path

from policyd.core.admission import HeldCard, Wallet
from policyd.core.cards import Bounds, Card, CardId
from policyd.core.edition import NEXT
from policyd.core.grants import AgentContext, account_holder, agent_holder
from policyd.syntax import Form, parse_grants
from policyd.usecases.reach_world import Entrance, world_of
from policyd.usecases.stored_parties import StoredParties
from policyd.usecases.wallet_holders import WalletHolder

CASES = Path(__file__).parent.parent / "cases" / "reach"
FORM = Form.MANIFEST
PLACE = ("o@x.io", "shop", "prod", "a:b")


def deployed(case):
    """The world of a case."""
    parties = {}
    for name, written in case.get("agents", {}).items():
        context = AgentContext(*PLACE, name)
        cards = written["cards"] if isinstance(written, dict) and "cards" in written else [written]
        held = tuple(
            HeldCard(_card(name, number, card, context), is_initial=number == 0) for number, card in enumerate(cards)
        )
        parties[name] = WalletHolder(name, Wallet.of(agent_holder(context), held, context))
    for email, cards in case.get("accounts", {}).items():
        held = tuple(HeldCard(_card(email, number, card, None)) for number, card in enumerate(cards))
        parties[email] = WalletHolder(email, Wallet.of(account_holder(email), held))
    entrances = [Entrance("HTTP API", name, None) for name in case.get("entrances", ())]
    return world_of(StoredParties("case", parties), entrances, NEXT)


def _card(name, number, written, context):
    lists = {"lower": written} if isinstance(written, list) else written
    bounds = Bounds(*(_grants(lists.get(key, ()), context) for key in ("lower", "negative", "upper", "without")))
    parents = tuple(_id(name, parent) for parent in lists.get("parents", ()))
    is_template = any(grant.target.owner.slot is not None for _, _, grant in bounds.each())
    return Card(_id(name, number), bounds, is_template, parents)


def _id(name, number):
    return CardId(f"00000000-0000-7000-8000-{sum(name.encode()):06d}{number:06d}")


def _grants(texts, context):
    grants = [grant for text in texts for grant in parse_grants(text, FORM)]
    if context is None:
        return tuple(grants)
    return tuple(type(grant)(grant.target, grant.recipient.filled(context)) for grant in grants)
