"""Cards as the platform writes them in JSON, to core values and back.

Source: vectors of `card_json`; cards C, 1.5, 10.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import cast

from policyd.core.cards import Bound, Bounds, Card, CardId, ManagedBy, ScopeCard, Timestamp
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Grant
from policyd.core.grants.names import U64_MAX, parse_uuid
from policyd.findings import Finding, InputError, Severity, Span
from policyd.syntax.grants import Form, parse_grants
from policyd.syntax.mistakes import GrantSyntaxError, shown

MAX_GRANTS = 200_000
"""A card with more grants in one list is refused unread."""


class CardForm(Enum):
    """Which JSON shape is meant: the two persistent kinds, the scope card, or the tagged union of the store."""

    CARD = "card"
    POLYMORPHIC = "polymorphic"
    SCOPE = "scope"
    STORED = "stored"


class CardSyntaxError(InputError):
    """A JSON value that is no card of the form asked for; code CARD020."""


def _refuse(path: str, message: str, help: str = "") -> CardSyntaxError:
    return CardSyntaxError(
        Finding("CARD020", Severity.ERROR, f"unreadable card: {message}", Span("card", path=path), help)
    )


def _member(value: Mapping[str, object], name: str, path: str) -> object:
    if name not in value:
        raise _refuse(path, f"member `{name}` is missing", f"add `{name}`")
    return value[name]


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise _refuse(path, "expected text here")
    return value


def _id(value: object, path: str) -> str:
    uuid = parse_uuid(_text(value, path))
    if uuid is None:
        raise _refuse(path, f"{shown(str(value))} is no UUID")
    return uuid


def _ids(value: object, path: str) -> tuple[CardId, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _refuse(path, "expected a list of card ids here")
    return tuple(CardId(_id(item, f"{path}[{i}]")) for i, item in enumerate(value))


def _moment(value: object, path: str) -> Timestamp:
    text = _text(value, path)
    try:
        return Timestamp.parse(text)
    except ValueError as why:
        raise _refuse(path, f"{shown(text)} is no timestamp: {why}", "write `2026-12-24T00:00:00Z`") from None


def _grants(value: object, path: str, form: Form, rules: Rules) -> tuple[Grant, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _refuse(path, "expected a list of grants here")
    if len(value) > MAX_GRANTS:
        raise _refuse(path, f"{len(value)} grants in one list are too many", f"the limit is {MAX_GRANTS}")
    found: list[Grant] = []
    for index, item in enumerate(value):
        place = f"{path}[{index}]"
        try:
            found.extend(parse_grants(_text(item, place), form, rules))
        except GrantSyntaxError as refusal:
            raise CardSyntaxError(refusal.at(Span("card", path=place))) from None
    return tuple(found)


def _bounds(value: Mapping[str, object], path: str, form: Form, rules: Rules) -> Bounds:
    return Bounds(*(_grants(_member(value, b.value, path), f"{path}.{b.value}", form, rules) for b in Bound))


def read_card(value: object, form: CardForm, rules: Rules = NEXT, path: str = "$") -> Card | ScopeCard:
    """The card that a JSON value writes; unknown members are accepted and dropped.

    Args:
        value: parsed JSON.
        form: which shape.
        rules: which classes and kinds exist.
        path: where the value stands, for errors.

    Raises:
        CardSyntaxError: with the first thing that is wrong and its `$.path`.
    """
    if not isinstance(value, Mapping):
        raise _refuse(path, "expected an object here")
    members = cast("Mapping[str, object]", value)
    if form is CardForm.SCOPE:
        return ScopeCard(
            CardId(_id(_member(members, "scopeCardId", path), f"{path}.scopeCardId")),
            _bounds(members, path, Form.CONCRETE, rules),
            _ids(_member(members, "rootCardIds", path), f"{path}.rootCardIds"),
        )
    if form is CardForm.STORED:
        kind = _member(members, "type", path)
        if kind not in ("Concrete", "Polymorphic"):
            raise _refuse(f"{path}.type", "a stored card is `Concrete` or `Polymorphic`")
        form = CardForm.CARD if kind == "Concrete" else CardForm.POLYMORPHIC
    polymorphic = form is CardForm.POLYMORPHIC
    system = _member(members, "systemCard", path)
    if not isinstance(system, bool):
        raise _refuse(f"{path}.systemCard", "expected true or false here")
    expires = members.get("expiresAt")
    managed = None if polymorphic else members.get("managedBy")
    return Card(
        CardId(_id(_member(members, "cardId", path), f"{path}.cardId")),
        _bounds(members, path, Form.POLYMORPHIC if polymorphic else Form.CONCRETE, rules),
        polymorphic,
        _ids(_member(members, "parentIds", path), f"{path}.parentIds"),
        _moment(_member(members, "createdAt", path), f"{path}.createdAt"),
        None if expires is None else _moment(expires, f"{path}.expiresAt"),
        system,
        None if managed is None else _managed_by(managed, f"{path}.managedBy", rules),
    )


def _managed_by(value: object, path: str, rules: Rules) -> ManagedBy:
    if not isinstance(value, Mapping):
        raise _refuse(path, "expected an object here")
    members = cast("Mapping[str, object]", value)
    kind = _text(_member(members, "type", path), f"{path}.type")
    kinds = dict(_MANAGED)
    if rules.is_next("external_tool_owner"):
        kinds["ComponentInitial"] = (("componentId", _id), ("componentRevision", _revision))
    if kind not in kinds:
        raise _refuse(f"{path}.type", f"unknown kind {shown(kind)}", f"one of {', '.join(sorted(kinds))}")
    return ManagedBy(
        kind, tuple((name, read(_member(members, name, path), f"{path}.{name}")) for name, read in kinds[kind])
    )


def _whole_number(value: object, path: str, limit: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
        raise _refuse(path, "expected a whole number that is not negative here")
    return value


def _revision(value: object, path: str) -> int:
    return _whole_number(value, path, U64_MAX)


def _index(value: object, path: str) -> int:
    return _whole_number(value, path, U64_MAX)


def _agent_id(value: object, path: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise _refuse(path, "expected an object here")
    members = cast("Mapping[str, object]", value)
    return (
        ("componentId", _id(_member(members, "componentId", path), f"{path}.componentId")),
        ("agentId", _text(_member(members, "agentId", path), f"{path}.agentId")),
    )


_MANAGED = {
    "AccountRoot": (("accountId", _id),),
    "EnvironmentDefault": (("environmentId", _id),),
    "PermissionShare": (("permissionShareId", _id),),
    "AgentInitial": (("componentId", _id), ("componentRevision", _revision), ("agentType", _text)),
    "RuntimeDerived": (
        ("environmentId", _id),
        ("agentId", _agent_id),
        ("invocationKey", _text),
        ("oplogIndex", _index),
    ),
}


def card_json(card: Card | ScopeCard, *, tagged: bool = False) -> dict[str, object]:
    """The JSON of a card as the platform writes it: canonical grant texts, every member present.

    Args:
        card: any kind.
        tagged: whether to write `type` as the store does.
    """
    lists: dict[str, object] = {b.value: [g.text for g in card.bounds.of(b)] for b in Bound}
    if isinstance(card, ScopeCard):
        return {"scopeCardId": card.id, "rootCardIds": list(card.roots), **lists}
    written: dict[str, object] = {
        "cardId": card.id,
        "parentIds": list(card.parents),
        **lists,
        "createdAt": card.created_at.text,
        "expiresAt": card.expires_at.text if card.expires_at else None,
        "systemCard": card.is_system,
    }
    if not card.is_polymorphic:
        managed = card.managed_by
        written["managedBy"] = None if managed is None else {"type": managed.kind, **_members(managed)}
    if tagged:
        written["type"] = "Polymorphic" if card.is_polymorphic else "Concrete"
    return written


def _members(managed: ManagedBy) -> dict[str, object]:
    return {
        name: dict(cast("tuple[tuple[str, str], ...]", value)) if isinstance(value, tuple) else value
        for name, value in managed.members
    }
