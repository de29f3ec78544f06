"""Admission: may this holder do this, and why."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# functions that bear the names of their modules must be bound at once
from policyd.core.admission.admit import admit
from policyd.core.admission.bounded import bounded
from policyd.core.admission.decide import decide

if TYPE_CHECKING:
    from policyd.core.admission.admit import Call, Reach, TypeAnswer, admit_type
    from policyd.core.admission.compiled import CompiledWallet
    from policyd.core.admission.decide import Lapse, Lapsed, lapsed_grants, surface_at
    from policyd.core.admission.decision import Decision, Forbidden, Withheld
    from policyd.core.admission.verdict import Facet, FacetName, Reason, Verdict, Why
    from policyd.core.admission.wallet import HeldCard, Wallet

__all__ = [
    "Call",
    "CompiledWallet",
    "Decision",
    "Facet",
    "FacetName",
    "Forbidden",
    "HeldCard",
    "Lapse",
    "Lapsed",
    "Reach",
    "Reason",
    "TypeAnswer",
    "Verdict",
    "Wallet",
    "Why",
    "Withheld",
    "admit",
    "admit_type",
    "bounded",
    "decide",
    "lapsed_grants",
    "surface_at",
]

# A cold start pays for every module: each name is imported from its module when it is first asked for.
_HOME = {
    "Call": "admit",
    "CompiledWallet": "compiled",
    "Decision": "decision",
    "Facet": "verdict",
    "FacetName": "verdict",
    "Forbidden": "decision",
    "HeldCard": "wallet",
    "Lapse": "decide",
    "Lapsed": "decide",
    "Reach": "admit",
    "Reason": "verdict",
    "TypeAnswer": "admit",
    "Verdict": "verdict",
    "Wallet": "wallet",
    "Why": "verdict",
    "Withheld": "decision",
    "admit_type": "admit",
    "lapsed_grants": "decide",
    "surface_at": "decide",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
