"""The card algebra: cards, surfaces, attenuation, lineage, defaults, identity."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# a function that bears the name of its module must be bound at once
from policyd.core.cards.envelope import envelope

if TYPE_CHECKING:
    from policyd.core.cards.applicability import applies_to
    from policyd.core.cards.attenuation import (
        Attenuates,
        MultipleRequired,
        NotPermitted,
        Selection,
        SingleParent,
        TooBroad,
        attenuate,
        select_parent,
    )
    from policyd.core.cards.card import Bound, Bounds, Card, CardId, ManagedBy, ScopeCard
    from policyd.core.cards.defaults import account_root_bounds, default_grants, environment_default_bounds
    from policyd.core.cards.deploy import DeployAccepted, DeployRefused, bounds_after_update, validate_initial_card
    from policyd.core.cards.derivation import derive, derive_from_wallet, derive_scope
    from policyd.core.cards.envelope import deploy_envelopes
    from policyd.core.cards.generation import WalletVersion
    from policyd.core.cards.installation import arrival_refusal, install
    from policyd.core.cards.lineage import ancestors, descendants, registry_refusal
    from policyd.core.cards.operations import Accepted, Caller, Change, Effect, Ledger, Refused, Wanted
    from policyd.core.cards.revocation import revoke
    from policyd.core.cards.surface import GrantRef, Part, Surface, surface_of
    from policyd.core.cards.timestamp import Timestamp

__all__ = [
    "Accepted",
    "Attenuates",
    "Bound",
    "Bounds",
    "Caller",
    "Card",
    "CardId",
    "Change",
    "DeployAccepted",
    "DeployRefused",
    "Effect",
    "GrantRef",
    "Ledger",
    "ManagedBy",
    "MultipleRequired",
    "NotPermitted",
    "Part",
    "Refused",
    "ScopeCard",
    "Selection",
    "SingleParent",
    "Surface",
    "Timestamp",
    "TooBroad",
    "WalletVersion",
    "Wanted",
    "account_root_bounds",
    "ancestors",
    "applies_to",
    "arrival_refusal",
    "attenuate",
    "bounds_after_update",
    "default_grants",
    "deploy_envelopes",
    "derive",
    "derive_from_wallet",
    "derive_scope",
    "descendants",
    "envelope",
    "environment_default_bounds",
    "install",
    "registry_refusal",
    "revoke",
    "select_parent",
    "surface_of",
    "validate_initial_card",
]

# A cold start pays for every module: each name is imported from its module when it is first asked for.
_HOME = {
    "Accepted": "operations",
    "Attenuates": "attenuation",
    "Bound": "card",
    "Bounds": "card",
    "Caller": "operations",
    "Card": "card",
    "CardId": "card",
    "Change": "operations",
    "DeployAccepted": "deploy",
    "DeployRefused": "deploy",
    "Effect": "operations",
    "GrantRef": "surface",
    "Ledger": "operations",
    "ManagedBy": "card",
    "MultipleRequired": "attenuation",
    "NotPermitted": "attenuation",
    "Part": "surface",
    "Refused": "operations",
    "ScopeCard": "card",
    "Selection": "attenuation",
    "SingleParent": "attenuation",
    "Surface": "surface",
    "Timestamp": "timestamp",
    "TooBroad": "attenuation",
    "WalletVersion": "generation",
    "Wanted": "operations",
    "account_root_bounds": "defaults",
    "ancestors": "lineage",
    "applies_to": "applicability",
    "arrival_refusal": "installation",
    "attenuate": "attenuation",
    "bounds_after_update": "deploy",
    "default_grants": "defaults",
    "deploy_envelopes": "envelope",
    "derive": "derivation",
    "derive_from_wallet": "derivation",
    "derive_scope": "derivation",
    "descendants": "lineage",
    "environment_default_bounds": "defaults",
    "install": "installation",
    "registry_refusal": "lineage",
    "revoke": "revocation",
    "select_parent": "attenuation",
    "surface_of": "surface",
    "validate_initial_card": "deploy",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
