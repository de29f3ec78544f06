"""Finite sorts: the literals that occur at a place, and one fresh element for all others.

Source: style 10 (finite abstraction).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import z3

Term = Any
"""A z3 expression; the library has no types."""


@dataclass(frozen=True, slots=True)
class Names:
    """One variable over the literals of a place and a fresh one.

    Attributes:
        variable: an integer; `len(literals)` is the fresh element.
        literals: texts that can occur there.
        fresh: how the fresh element is written.
    """

    variable: Term
    literals: tuple[str, ...]
    fresh: str

    @classmethod
    def at(cls, name: str, literals: Iterable[str], context: z3.Context, fresh: str = "fresh") -> Names:
        """The sort of a place whose grants name `literals`."""
        known = tuple(dict.fromkeys(literals))
        while fresh in known:
            fresh += "x"
        return cls(z3.Int(name, context), known, fresh)

    @property
    def domain(self) -> Term:
        """That the variable is one of its elements."""
        return z3.And(self.variable >= 0, self.variable <= len(self.literals))

    def equals(self, text: str) -> Term:
        """That the value is `text`; never for one that is no element."""
        if text not in self.literals:
            return z3.BoolVal(False, self.variable.ctx)
        return self.variable == self.literals.index(text)

    def decoded(self, model: z3.ModelRef) -> str:
        """The text of the value in a model."""
        number = model.eval(self.variable, model_completion=True).as_long()
        return self.literals[number] if number < len(self.literals) else self.fresh
