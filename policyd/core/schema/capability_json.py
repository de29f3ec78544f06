"""The trusted JSON form of capabilities: secrets, quota tokens, permission cards.

Text from outside may not use it; redacted output replaces it.

Source: middleware 5.4 (last row), 5.5 (capabilities).
"""

from __future__ import annotations

import re
from typing import assert_never

from policyd.core.schema.canonical_leaves import closed, instant_json, instant_of, malformed, string_of
from policyd.core.schema.instants import shortest_text
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.types import CapabilityType, PermissionCardType, QuotaTokenType, SecretType
from policyd.core.schema.uuids import parse_uuid
from policyd.core.schema.values import CapabilityValue, PermissionCardValue, QuotaTokenValue, SecretValue

_DIGITS = re.compile(r"-?[0-9]{1,20}")


def capability_of(schema: CapabilityType, json: JsonValue) -> CapabilityValue:
    """The capability that a closed object stands for."""
    match schema:
        case SecretType():
            return _secret_of(json)
        case QuotaTokenType():
            return _quota_token_of(json)
        case PermissionCardType():
            return _card_of(json)
        case _:
            assert_never(schema)


def _uuid(json: JsonValue) -> str:
    found = parse_uuid(string_of(json))
    if found is None:
        raise malformed("a UUID is needed")
    return found


def _integer(json: JsonValue, kind: NumberKind, *, or_text: bool) -> int:
    if or_text and isinstance(json, str) and _DIGITS.fullmatch(json):
        json = int(json)
    if not isinstance(json, int) or isinstance(json, bool) or not kind.holds(json):
        raise malformed("an integer in range is needed")
    return json


def _texts(json: JsonValue) -> list[str]:
    if not isinstance(json, list):
        raise malformed("a list is needed")
    return [string_of(part) for part in json]


def _secret_of(json: JsonValue) -> SecretValue:
    found = closed(json, ("secretId", "version", "resolvedAt"), ("configKey", "category"))
    key, category = found.get("configKey"), found.get("category")
    return SecretValue(
        _uuid(found["secretId"]),
        _integer(found["version"], NumberKind.U64, or_text=False),
        instant_of(found["resolvedAt"]),
        None if key is None else tuple(_texts(key)),
        None if category is None else string_of(category),
    )


def _quota_token_of(json: JsonValue) -> QuotaTokenValue:
    found = closed(json, ("environmentId", "resourceName", "expectedUse", "lastCredit", "lastCreditAt"))
    return QuotaTokenValue(
        _uuid(found["environmentId"]),
        string_of(found["resourceName"]),
        _integer(found["expectedUse"], NumberKind.U64, or_text=True),
        _integer(found["lastCredit"], NumberKind.S64, or_text=True),
        instant_of(found["lastCreditAt"]),
    )


def _card_of(json: JsonValue) -> PermissionCardValue:
    found = closed(json, ("cardId", "polymorphic"), ("parentIds", "expiresAt"))
    polymorphic, expires = found["polymorphic"], found.get("expiresAt")
    if not isinstance(polymorphic, bool):
        raise malformed("`true` or `false` is needed")
    parents = tuple(_uuid(part) for part in _texts(found.get("parentIds", [])))
    return PermissionCardValue(
        _uuid(found["cardId"]), polymorphic, parents, None if expires is None else instant_of(expires)
    )


def capability_json(value: CapabilityValue) -> JsonValue:
    """The closed object of a capability."""
    match value:
        case SecretValue(secret_id, version, resolved_at, config_key, category):
            resolved = shortest_text(resolved_at, "+00:00")
            secret: dict[str, JsonValue] = {"secretId": secret_id, "version": version, "resolvedAt": resolved}
            if config_key is not None:
                secret["configKey"] = list(config_key)
            if category is not None:
                secret["category"] = category
            return secret
        case QuotaTokenValue(environment, resource, expected_use, last_credit, last_credit_at):
            return {
                "environmentId": environment,
                "resourceName": resource,
                "expectedUse": str(expected_use),
                "lastCredit": str(last_credit),
                "lastCreditAt": instant_json(last_credit_at),
            }
        case PermissionCardValue(card_id, polymorphic, parents, expires_at):
            card: dict[str, JsonValue] = {"cardId": card_id, "polymorphic": polymorphic, "parentIds": list(parents)}
            if expires_at is not None:
                card["expiresAt"] = instant_json(expires_at)
            return card
        case _:
            assert_never(value)


def redacted(kind: str) -> str:
    """What stands for a capability in redacted output."""
    return f"<redacted: {kind}>"
