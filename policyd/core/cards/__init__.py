"""The card algebra: cards, surfaces, attenuation, lineage, defaults, identity."""

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
from policyd.core.cards.envelope import deploy_envelopes, envelope
from policyd.core.cards.generation import WalletVersion
from policyd.core.cards.install import applies_to, arrival_refusal, install
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
