"""Identities that the platform computes: wallet ids, and the ids of derived cards.

Source: cards 6.8.
"""

from __future__ import annotations

from blake3 import blake3

from policyd.core.cards.card import CardId

WALLET_DOMAIN = b"golem:permissions:wallet-id:v1\0"
_SEQUENCE_MAX = 2**48 - 1
DERIVED_CARD = "golem:permissions:derived-card-id:v1"
TRANSFER = "golem:permissions:transfer-id:v1"
INSTALLED_CHILD = "golem:permissions:installed-child-card-id:v1"
SCOPE_CARD = "golem:permissions:scope-card-id:v1"


def _uuid_bytes(uuid: str) -> bytes:
    return bytes.fromhex(uuid.replace("-", ""))


def _sized(text: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    return len(raw).to_bytes(8, "big") + raw


def account_wallet_bytes(account_id: str) -> bytes:
    """The canonical identity bytes of an account's wallet (W2); the id is a canonical UUID."""
    return WALLET_DOMAIN + b"\x00" + _uuid_bytes(account_id)


def application_wallet_bytes(application_id: str) -> bytes:
    """The canonical identity bytes of an application's wallet (W2)."""
    return WALLET_DOMAIN + b"\x01" + _uuid_bytes(application_id)


def agent_wallet_bytes(component_id: str, agent_id: str) -> bytes:
    """The canonical identity bytes of an agent's wallet (W2); the length counts UTF-8 bytes."""
    return WALLET_DOMAIN + b"\x02" + _uuid_bytes(component_id) + _sized(agent_id)


def wallet_hash(identity: bytes) -> str:
    """The hex of the 32-byte hash that names a wallet."""
    return blake3(identity).hexdigest()


def derived_id(
    purpose: str, environment_id: str, component_id: str, agent_id: str, invocation_key: str, sequence: int
) -> CardId:
    """The id of a derived card, transfer, installed child or scope card (W3).

    Args:
        purpose: `DERIVED_CARD`, `TRANSFER`, `INSTALLED_CHILD` or `SCOPE_CARD`.
        environment_id: canonical UUID.
        component_id: canonical UUID.
        agent_id: raw id text.
        invocation_key: of the running invocation.
        sequence: oplog index of the operation, for scope cards the count of those minted before.
    """
    material = (
        _uuid_bytes(environment_id)
        + _uuid_bytes(component_id)
        + _sized(agent_id)
        + _sized(invocation_key)
        + sequence.to_bytes(8, "big")
    )
    digest = blake3(material, derive_key_context=purpose).digest()
    raw = bytearray(min(sequence, _SEQUENCE_MAX).to_bytes(6, "big") + digest[:10])
    raw[6] = (raw[6] & 0x0F) | 0x70
    raw[8] = (raw[8] & 0x3F) | 0x80
    text = raw.hex()
    return CardId("-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])))
