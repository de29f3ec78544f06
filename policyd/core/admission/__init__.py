"""Admission: may this holder do this, and why."""

from policyd.core.admission.compiled import CompiledWallet
from policyd.core.admission.decide import Lapse, Lapsed, decide, lapsed_grants, surface_at
from policyd.core.admission.decision import Decision, Forbidden, Withheld
from policyd.core.admission.wallet import HeldCard, Wallet

__all__ = [
    "CompiledWallet",
    "Decision",
    "Forbidden",
    "HeldCard",
    "Lapse",
    "Lapsed",
    "Wallet",
    "Withheld",
    "decide",
    "lapsed_grants",
    "surface_at",
]
