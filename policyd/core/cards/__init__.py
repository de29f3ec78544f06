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
from policyd.core.cards.envelope import deploy_envelopes, envelope
from policyd.core.cards.install import applies_to
from policyd.core.cards.lineage import ancestors, descendants, registry_refusal
from policyd.core.cards.surface import GrantRef, Part, Surface, surface_of
from policyd.core.cards.timestamp import Timestamp

__all__ = [
    "Attenuates",
    "Bound",
    "Bounds",
    "Card",
    "CardId",
    "GrantRef",
    "ManagedBy",
    "MultipleRequired",
    "NotPermitted",
    "Part",
    "ScopeCard",
    "Selection",
    "SingleParent",
    "Surface",
    "Timestamp",
    "TooBroad",
    "account_root_bounds",
    "ancestors",
    "applies_to",
    "attenuate",
    "default_grants",
    "deploy_envelopes",
    "descendants",
    "envelope",
    "environment_default_bounds",
    "registry_refusal",
    "select_parent",
    "surface_of",
]
