"""Exact answers about all calls: sets of calls, their differences, proofs and witnesses.

The way in: `admitted_by(surface)` is what a holder may do, as a set; `difference(a, b)` is what one side
admits and the other does not; `never`, `always`, `implies`, `disjoint` are proofs; `effects` says what
every grant is good for; `slips` what a delegation lets through; `compare` does whole deployments.
"""

from policyd.core.callsets.admitted import Admitted, admitted_by
from policyd.core.callsets.answer import Answer, Fails, Holds, Undecided
from policyd.core.callsets.below import Below, Everything, below, below_prefix
from policyd.core.callsets.budget import MAX_STEPS, Effort, Steps
from policyd.core.callsets.callset import (
    ALL_CALLS,
    NO_CALLS,
    CallSet,
    Complement,
    Intersection,
    Products,
    Union,
    calls_of,
    contains,
    minus,
)
from policyd.core.callsets.comparison import Change, compare
from policyd.core.callsets.delegation import Slip, slips
from policyd.core.callsets.difference import MAX_WITNESSES, Difference, difference
from policyd.core.callsets.effect import CeilingEffect, Effect, Standing, ceiling_effects, effect_of, effects
from policyd.core.callsets.holders import holders_of, instances_of
from policyd.core.callsets.proof import always, disjoint, equivalent, implies, is_empty, never, query, query_text
from policyd.core.callsets.universe import Form, Shape, Universe
from policyd.core.callsets.width import Width, width_of
from policyd.core.callsets.witness import Obstacle, Withheld, Witness, confirmed

__all__ = [
    "ALL_CALLS",
    "MAX_STEPS",
    "MAX_WITNESSES",
    "NO_CALLS",
    "Admitted",
    "Answer",
    "Below",
    "CallSet",
    "CeilingEffect",
    "Change",
    "Complement",
    "Difference",
    "Effect",
    "Effort",
    "Everything",
    "Fails",
    "Form",
    "Holds",
    "Intersection",
    "Obstacle",
    "Products",
    "Shape",
    "Slip",
    "Standing",
    "Steps",
    "Undecided",
    "Union",
    "Universe",
    "Width",
    "Withheld",
    "Witness",
    "admitted_by",
    "always",
    "below",
    "below_prefix",
    "calls_of",
    "ceiling_effects",
    "compare",
    "confirmed",
    "contains",
    "difference",
    "disjoint",
    "effect_of",
    "effects",
    "equivalent",
    "holders_of",
    "implies",
    "instances_of",
    "is_empty",
    "minus",
    "never",
    "query",
    "query_text",
    "slips",
    "width_of",
]
