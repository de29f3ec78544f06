"""Tokens as they are shown: never with their secret half."""

from __future__ import annotations

from policyd.store.tokens import Token


def token_json(token: Token) -> dict[str, object]:
    """A token on the wire."""
    return {
        "id": token.public_id,
        "name": token.name,
        "scope": token.scope.value,
        "account": token.account or None,
        "application": token.application or None,
        "createdAt": token.created_at,
        "createdBy": token.created_by,
        "expiresAt": token.expires_at or None,
        "revokedAt": token.revoked_at or None,
    }
