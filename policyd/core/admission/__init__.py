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
    from policyd.core.admission.operation import AskedVerdict, OperationCall, OperationVerdict, admit_operation
    from policyd.core.admission.operation_type import admit_operation_type
    from policyd.core.admission.self_view import Ceiling, SelfView, look_at_self
    from policyd.core.admission.verdict import Facet, FacetName, Reason, Verdict, Why
    from policyd.core.admission.wallet import HeldCard, Wallet

__all__ = [
    "AskedVerdict",
    "Call",
    "Ceiling",
    "CompiledWallet",
    "Decision",
    "Facet",
    "FacetName",
    "Forbidden",
    "HeldCard",
    "Lapse",
    "Lapsed",
    "OperationCall",
    "OperationVerdict",
    "Reach",
    "Reason",
    "SelfView",
    "TypeAnswer",
    "Verdict",
    "Wallet",
    "Why",
    "Withheld",
    "admit",
    "admit_operation",
    "admit_operation_type",
    "admit_type",
    "bounded",
    "decide",
    "lapsed_grants",
    "look_at_self",
    "surface_at",
]

# A cold start pays for every module: each name is imported from its module when it is first asked for.
_HOME = {
    "AskedVerdict": "operation",
    "Call": "admit",
    "Ceiling": "self_view",
    "CompiledWallet": "compiled",
    "Decision": "decision",
    "Facet": "verdict",
    "FacetName": "verdict",
    "Forbidden": "decision",
    "HeldCard": "wallet",
    "Lapse": "decide",
    "Lapsed": "decide",
    "OperationCall": "operation",
    "OperationVerdict": "operation",
    "Reach": "admit",
    "Reason": "verdict",
    "SelfView": "self_view",
    "TypeAnswer": "admit",
    "Verdict": "verdict",
    "Wallet": "wallet",
    "Why": "verdict",
    "Withheld": "decision",
    "admit_operation": "operation",
    "admit_operation_type": "operation_type",
    "admit_type": "admit",
    "lapsed_grants": "decide",
    "look_at_self": "self_view",
    "surface_at": "decide",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
