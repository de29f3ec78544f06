"""The three modes, and how one type passes into another under each.

Source: middleware 3.5, 3.7, 3.12 (`plan`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.project import Mismatch, MismatchKind, Plan, project
from policyd.core.schema.reshape import Reshaped, Unshaped, pass_unchanged, reshape
from policyd.core.schema.types import SchemaType
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.incompatibility import Incompatibility, IncompatibilityKind


class Mode(Enum):
    """How much two tools may differ; the value is the manifest's word."""

    STRICT_EQUALITY = "strict-equality"
    STRUCTURAL_SUBTYPE = "structural-subtype"
    NOMINAL = "nominal"


@dataclass(frozen=True, slots=True)
class Passage:
    """How values of one type become values of another.

    Attributes:
        source: the type they have.
        target: the type they get.
        plan: how they are reshaped; None when they are passed on as they are, if they fit both.
    """

    source: Graph
    target: Graph
    plan: Plan | None

    def carry(self, value: SchemaValue, engines: Engines) -> Reshaped | Unshaped:
        """The value on the other side, or why it does not get there."""
        if self.plan is None:
            return pass_unchanged(value, self.source, self.target, engines)
        return reshape(value, self.plan, self.source, self.target, engines)


@dataclass(frozen=True, slots=True)
class NoPassage:
    """The place at which two types part."""

    mismatch: Mismatch

    def located(
        self, kind: IncompatibilityKind, path: tuple[str, ...], place: str, subject: str = ""
    ) -> Incompatibility:
        """The reason, as part of a comparison of tools."""
        if self.mismatch.kind is MismatchKind.TOO_LARGE:
            kind = IncompatibilityKind.PROJECTION_TOO_LARGE
        return Incompatibility(kind, path, place + self.mismatch.path, mismatch=self.mismatch, subject=subject)


def passage(
    source: SchemaType, sources: Definitions, target: SchemaType, targets: Definitions, mode: Mode
) -> Passage | NoPassage:
    """How `source` passes into `target`: projected in structural mode, left to the value in nominal mode.

    In strict mode the two descriptions as a whole have been found equal, so that nothing is left to compare.
    """
    one, other = Graph(source, sources), Graph(target, targets)
    if mode is not Mode.STRUCTURAL_SUBTYPE:
        return Passage(one, other, None)
    plan = project(one, other)
    return NoPassage(plan) if isinstance(plan, Mismatch) else Passage(one, other, plan)
