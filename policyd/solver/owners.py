"""Owners of calls as terms: one finite sort for each segment.

Source: cards 4.1; host-operations 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import z3

from policyd.core.callsets.owners import OwnerForm, is_agent_id
from policyd.core.grants import Owner, OwnerKind
from policyd.core.grants.owner import is_instance_text
from policyd.solver.names import Names, Term

_FRESH = ("fresh@example.com", "fresh", "fresh", "fresh:fresh")


@dataclass(frozen=True, slots=True)
class OwnerTerms:
    """The owner of a call in one form.

    Attributes:
        kind: how deep.
        form: which owners are asked for.
        segments: one sort for each segment.
    """

    kind: OwnerKind
    form: OwnerForm
    segments: tuple[Names, ...]

    @classmethod
    def of(
        cls, kind: OwnerKind, form: OwnerForm, owners: Sequence[Owner], only: Owner | None, context: z3.Context
    ) -> OwnerTerms:
        """The sorts for the owners that grants name."""
        all_owners = [*owners, *((only,) if only else ())]
        depth = 4 if form is OwnerForm.ALL_AGENTS else kind.depth
        segments = []
        for place in range(depth):
            named = [o.known[place] for o in all_owners if len(o.known) > place]
            fresh = _FRESH[place] if place < 4 else "fresh"
            if place == 4 and kind is OwnerKind.AGENT:
                named = list(_leaves(form, all_owners, only))
                fresh = "Fresh" if form is OwnerForm.ALL_OF_TYPE else 'Fresh("f")'
            segments.append(Names.at(f"owner{place}", named, context, fresh))
        return cls(kind, form, tuple(segments))

    def domain(self, only: Owner | None) -> list[Term]:
        """That the owner can be asked for."""
        found = [s.domain for s in self.segments]
        if only is not None:
            found += [s.equals(text) for s, text in zip(self.segments, only.known, strict=False)]
        return found

    def covered_by(self, owner: Owner, context: z3.Context) -> Term:
        """That a pattern covers the owner (O5, O6)."""
        if len(owner.known) > len(self.segments):
            return z3.BoolVal(False, context)
        if owner.is_type_wildcard:
            leaf = self.segments[4]
            if self.form is OwnerForm.ALL_OF_TYPE:
                last = leaf.equals(owner.known[4])
            else:
                fitting = [leaf.equals(text) for text in leaf.literals if is_instance_text(text, owner.known[4])]
                last = z3.Or(z3.BoolVal(False, context), *fitting)
            return z3.And(*(s.equals(t) for s, t in zip(self.segments, owner.known[:4], strict=False)), last)
        if self.form is OwnerForm.ALL_OF_TYPE and len(owner.known) == self.kind.depth:
            return z3.BoolVal(False, context)
        terms = [s.equals(t) for s, t in zip(self.segments, owner.known, strict=False)]
        return z3.And(z3.BoolVal(True, context), *terms)

    def decoded(self, model: z3.ModelRef) -> Owner:
        """The owner in a model."""
        known = tuple(s.decoded(model) for s in self.segments)
        return Owner(self.kind, known, None, self.form is OwnerForm.ALL_OF_TYPE)


def _leaves(form: OwnerForm, owners: Sequence[Owner], only: Owner | None) -> Iterable[str]:
    for owner in owners:
        if len(owner.known) < 5:
            continue
        leaf = owner.known[4]
        if form is OwnerForm.ALL_OF_TYPE:
            if owner.is_type_wildcard:
                yield leaf
        elif owner.is_type_wildcard:
            yield f'{leaf}("fresh")'
        elif owner is only or is_agent_id(leaf):
            yield leaf
