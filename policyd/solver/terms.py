"""What a resource of a call is to the solver: variables, their domain, and when a pattern covers them.

Source: style 10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import z3

from policyd.core.grants.resources import Resource
from policyd.core.grants.resources.exact import AnyResource
from policyd.solver.names import Term


@dataclass(frozen=True, slots=True)
class ResourceTerms:
    """The resource of a call in one form.

    Attributes:
        domain: what its variables satisfy.
        covered_by: that a pattern covers it.
        decoded: the resource in a model.
        is_complete: whether the abstraction loses nothing; false where only words up to a length are tried.
    """

    domain: list[Term]
    covered_by: Callable[[Resource], Term]
    decoded: Callable[[z3.ModelRef], Resource]
    is_complete: bool = True


def either(pattern: Resource, context: z3.Context, term: Callable[[Resource], Term | None]) -> Term:
    """The term of a pattern: everything for `*`, nothing where the pattern is of another shape."""
    if isinstance(pattern, AnyResource):
        return z3.BoolVal(True, context)
    found = term(pattern)
    return z3.BoolVal(False, context) if found is None else found


def all_terms(context: z3.Context, terms: Sequence[Term]) -> Term:
    """The conjunction; true for no terms."""
    return z3.And(z3.BoolVal(True, context), *terms)
