"""Pairs of tools that would be accepted if values could be lifted into options.

Source: middleware 3.6 (`option_lift`).
"""

from __future__ import annotations

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Graph
from policyd.core.schema.lifted import projects_lifted
from policyd.core.tools.canonical_input import CanonicalInput, canonical_input
from policyd.core.tools.compat import Compatibility
from policyd.core.tools.compat_inputs import injected_value
from policyd.core.tools.incompatibility import IncompatibilityKind
from policyd.core.tools.remarks import Remark
from policyd.core.tools.tool import Tool


def lifted_remarks(
    expected: Tool, inner: Tool, found: Compatibility, engines: Engines, *, wraps_optional: bool = True
) -> tuple[Remark, ...]:
    """One remark per command that only lifting makes fit; nothing when lifting does not help or is not needed.

    Args:
        expected: what the layer above was built for.
        inner: what stands below.
        found: their comparison in structural mode.
        engines: for the records' types.
        wraps_optional: as in the comparison.
    """
    kinds = {reason.kind for reason in found.errors}
    if kinds != {IncompatibilityKind.INPUT_NOT_SUBSTITUTABLE}:
        return ()
    told: list[Remark] = []
    for path in dict.fromkeys(reason.path for reason in found.errors):
        above = canonical_input(expected, path, engines, wraps_optional=wraps_optional)
        below = canonical_input(inner, path, engines, wraps_optional=wraps_optional)
        if not isinstance(above, CanonicalInput) or not isinstance(below, CanonicalInput):
            return ()
        if not _fits(above, below):
            return ()
        words = "accepted only if values could be lifted into options: the platform refuses it"
        told.append(Remark("GOLEM_WOULD_REJECT", path, "", words))
    return tuple(told)


def _fits(above: CanonicalInput, below: CanonicalInput) -> bool:
    given = {field.name: field for field in reversed(above.fields)}
    for field in below.fields:
        own = given.get(field.name)
        if own is None:
            if injected_value(field, below.definitions) is None:
                return False
        elif not projects_lifted(Graph(own.type, above.definitions), Graph(field.type, below.definitions)):
            return False
    return True
