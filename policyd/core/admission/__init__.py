"""Admission: may this holder do this, and why."""

from policyd.core.admission.admit import Call, Reach, TypeAnswer, admit, admit_type
from policyd.core.admission.bounded import bounded
from policyd.core.admission.compiled import CompiledWallet
from policyd.core.admission.decide import Lapse, Lapsed, decide, lapsed_grants, surface_at
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
