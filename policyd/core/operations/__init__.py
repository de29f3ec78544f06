"""Host operations: what each is called, takes and asks for, and what its denial leaves behind."""

from policyd.core.operations.catalogue import (
    Catalogue,
    Combine,
    Denial,
    Generation,
    Operation,
    Record,
    RecordClass,
    Side,
    TargetTemplate,
)
from policyd.core.operations.owners import Asker, OwnerHole
from policyd.core.operations.parameters import NO_PORTS, Arguments, Parameter, ParameterKind, Ports
from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear
from policyd.core.operations.targets import Asked, asked_by, targets_of

__all__ = [
    "NO_PORTS",
    "Arguments",
    "Asked",
    "Asker",
    "Catalogue",
    "Combine",
    "Denial",
    "Generation",
    "Operation",
    "OwnerHole",
    "Parameter",
    "ParameterKind",
    "Ports",
    "Record",
    "RecordClass",
    "Refusal",
    "RefusalKind",
    "Side",
    "TargetTemplate",
    "Unclear",
    "asked_by",
    "targets_of",
]
