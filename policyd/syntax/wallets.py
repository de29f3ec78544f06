"""Wallet files to wallets.

Source: interface, Files and queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from policyd.core.admission.names import is_agent_id
from policyd.core.admission.wallet import HeldCard, Wallet
from policyd.core.cards import Bound, Card, CardId, ScopeCard
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import AgentContext, Level, Recipient
from policyd.core.grants.names import ascii_lower, parse_uuid
from policyd.core.grants.recipient import EXTERNAL_TOOL_OWNER_ID
from policyd.findings import Finding, InputError, Severity, Span
from policyd.syntax.cards import CardForm, read_card
from policyd.syntax.grants import Form, parse_grants
from policyd.syntax.json_places import places, span_at
from policyd.syntax.mistakes import shown
from policyd.syntax.recipients import RecipientRefused, parse_recipient


class WalletSyntaxError(InputError):
    """A JSON value that is no wallet; code CARD060."""


def _refuse(path: str, message: str, help: str = "") -> WalletSyntaxError:
    return WalletSyntaxError(
        Finding("CARD060", Severity.ERROR, f"unreadable wallet: {message}", Span("wallet", path=path), help)
    )


def read_any_card(value: object, rules: Rules = NEXT, path: str = "$") -> Card | ScopeCard:
    """A card of whatever kind its members show: tagged, concrete, or a scope card.

    Raises:
        CardSyntaxError: if it is none.
    """
    members = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
    if "scopeCardId" in members:
        return read_card(value, CardForm.SCOPE, rules, path)
    return read_card(value, CardForm.STORED if "type" in members else CardForm.CARD, rules, path)


def read_cards(value: object, rules: Rules = NEXT, path: str = "$") -> tuple[Card, ...]:
    """Persistent cards: one, a list, or the `values` of a listing.

    Raises:
        CardSyntaxError: if one of them is none.
        WalletSyntaxError: if the value holds no cards.
    """
    if isinstance(value, Mapping) and isinstance(value.get("values"), Sequence):
        value, path = value["values"], f"{path}.values"
    elif isinstance(value, Mapping) and isinstance(value.get("cards"), Sequence):
        value, path = value["cards"], f"{path}.cards"
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    multiple = items is value
    found: list[Card] = []
    for index, item in enumerate(items):
        place = f"{path}[{index}]" if multiple else path
        card = read_any_card(item, rules, place)
        if isinstance(card, ScopeCard):
            raise _refuse(place, "a scope card lives for one invocation and is in no wallet")
        found.append(card)
    return tuple(found)


def read_wallet(value: object, rules: Rules = NEXT) -> Wallet:
    """The wallet that a JSON value writes.

    Args:
        value: parsed JSON: `holder`, `cards`, and optionally `agentId`, `recordedAccount`, `installedBy`, `revoked`.
        rules: which classes and kinds exist.

    Raises:
        WalletSyntaxError: if a member is wrong.
        CardSyntaxError: if a card is.
    """
    if not isinstance(value, Mapping):
        raise _refuse("$", "expected an object here", '{"holder": …, "cards": […]}')
    members = cast("Mapping[str, object]", value)
    holder = _holder(members.get("holder"), rules)
    context = _context(holder, members.get("agentId"))
    cards = members.get("cards")
    if not isinstance(cards, Sequence) or isinstance(cards, str):
        raise _refuse("$.cards", "expected a list of cards here")
    installed = members.get("installedBy") or {}
    if not isinstance(installed, Mapping):
        raise _refuse("$.installedBy", "expected an object of card ids here")
    others: set[str] = set()
    for key, who in installed.items():
        if who not in ("self", "other"):
            raise _refuse(f"$.installedBy.{key}", 'write "self" or "other"')
        if who == "other":
            others.add(_card_id(key, f"$.installedBy.{key}"))
    held = []
    for number, card in enumerate(read_cards(cards, rules, "$.cards")):
        if card.is_polymorphic and context is None:
            raise _refuse(f"$.cards[{number}]", "a template has slots that only an agent can fill")
        managed = card.managed_by
        initial = managed is not None and managed.kind in ("AgentInitial", "ComponentInitial")
        # A template carries no `managedBy` on the wire; in a wallet it is the holder's initial card.
        initial = initial or (card.is_polymorphic and card.id not in installed)
        held.append(HeldCard(card, initial, card.id not in others and not initial))
    recorded = members.get("recordedAccount", "")
    if not isinstance(recorded, str):
        raise _refuse("$.recordedAccount", "expected an account e-mail here")
    revoked = members.get("revoked") or []
    if not isinstance(revoked, Sequence) or isinstance(revoked, str):
        raise _refuse("$.revoked", "expected a list of card ids here")
    gone = frozenset(CardId(_card_id(item, f"$.revoked[{i}]")) for i, item in enumerate(revoked))
    return Wallet.of(holder, tuple(held), context, ascii_lower(recorded), gone)


def _card_id(value: object, path: str) -> str:
    uuid = parse_uuid(value) if isinstance(value, str) else None
    if uuid is None:
        raise _refuse(path, f"{shown(str(value))} is no card id")
    return uuid


def _holder(value: object, rules: Rules) -> Recipient:
    if not isinstance(value, str):
        raise _refuse("$.holder", "expected a holder here", "write `account/app/env/component/Type` or an account")
    try:
        holder = parse_recipient(value, rules=rules)
    except RecipientRefused as refusal:
        raise _refuse("$.holder", f"{shown(value)} is no holder: {refusal.why}", refusal.help) from None
    full = holder.level is Level.AGENT and len(holder.known) == 5
    if not full and holder.level is not Level.ACCOUNT:
        raise _refuse("$.holder", f"{shown(value)} is a pattern, not one holder", "name an agent type or an account")
    return holder


def _context(holder: Recipient, agent_id: object) -> AgentContext | None:
    if holder.level is not Level.AGENT:
        if agent_id is not None:
            raise _refuse("$.agentId", "only agents have an agent id")
        return None
    account, application, environment, component, agent_type = holder.known
    if agent_id is not None:
        if not isinstance(agent_id, str):
            raise _refuse("$.agentId", "expected text here")
        if holder.is_external_tool_owner:
            uuid = agent_id.removeprefix(EXTERNAL_TOOL_OWNER_ID)
            if uuid == agent_id or parse_uuid(uuid) != uuid:
                raise _refuse("$.agentId", f"{shown(agent_id)} is no run-time id of an external tool owner")
        elif not is_agent_id(agent_id, agent_type):
            raise _refuse("$.agentId", f"{shown(agent_id)} is no id of type {shown(agent_type)}", 'write `Type("…")`')
    return AgentContext(account, application, environment, component, agent_type, agent_id)


def grant_places(value: object, source: str, text: str, rules: Rules = NEXT) -> dict[tuple[CardId, str, int], Span]:
    """Where the grants of a wallet stand in its file: by card, list and index.

    Args:
        value: the parsed JSON of a wallet that can be read.
        source: the name of the file.
        text: its text.
        rules: which classes exist.
    """
    where = places(text)
    found: dict[tuple[CardId, str, int], Span] = {}
    cards = value.get("cards", []) if isinstance(value, Mapping) else []
    for number, raw in enumerate(cards):
        card = CardId(parse_uuid(raw["cardId"]) or "")
        form = Form.POLYMORPHIC if raw.get("type") == "Polymorphic" else Form.CONCRETE
        for bound in Bound:
            index = 0
            for position, grant in enumerate(raw[bound.value]):
                span = span_at(source, text, where, f"$.cards[{number}].{bound.value}[{position}]")
                for _ in parse_grants(grant, form, rules):  # the old debug alias is eight grants at one place
                    found[(card, bound.value, index)] = span
                    index += 1
    return found
