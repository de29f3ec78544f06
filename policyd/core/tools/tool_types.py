"""The faults of the types that a tool uses, told per position.

Source: middleware 1.3 (the paragraph on type errors, `VariantInInputPosition`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from policyd.core.schema.engines import Engines
from policyd.core.schema.faults import Fault, FaultKind
from policyd.core.schema.graph import Definitions
from policyd.core.schema.types import RefType, SchemaType, VariantType, walk
from policyd.core.schema.wellformed import type_faults
from policyd.core.tools.positions import Position, positions_of
from policyd.core.tools.tool import Tool
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind

_ALIAS_FAULTS = (FaultKind.DANGLING_REF, FaultKind.RECURSIVE_ALIAS)


def tool_type_faults(tool: Tool, engines: Engines) -> Iterator[ToolFault]:
    """The faults of definitions, used or not, of every position, and variants among the inputs."""
    definitions = tool.schema.definitions
    positions = tuple(positions_of(tool))
    seen: set[str] = set()
    for item in definitions.items:
        if item.id in seen:
            yield ToolFault(ToolFaultKind.DUPLICATE_TYPE_ID, id=item.id)
        seen.add(item.id)
    for position in (*_definition_positions(definitions, positions), *positions):
        yield from _faults_at(position, definitions, engines)
    reaching = _reaching_variants(definitions)
    for position in positions:
        if position.is_input and _has_variant(position.type, reaching):
            yield ToolFault(ToolFaultKind.VARIANT_IN_INPUT_POSITION, position.command, position=position.name)


def _definition_positions(definitions: Definitions, positions: Iterable[Position]) -> Iterator[Position]:
    """The definitions that are reported on their own.

    One that is nothing but a reference is not, when a position or another kind of definition leads to it.
    """
    ids = [item.id for item in definitions.items]
    twice = {id for id, count in Counter(ids).items() if count > 1}
    led: set[str] = set()
    others = (item.body for item in definitions.items if not isinstance(item.body, RefType))
    for schema in (*(position.type for position in positions), *others):
        for part in walk(schema, into_secrets=False):
            if isinstance(part, RefType):
                _follow_aliases(part.id, definitions, led)
    for item in definitions.items:
        if not isinstance(item.body, RefType) or item.id not in led or item.id in twice:
            yield Position(f"<def {item.id}>", item.id, item.body, False)


def _follow_aliases(id: str, definitions: Definitions, led: set[str]) -> None:
    while id not in led:
        led.add(id)
        body = definitions.body(id)
        if not isinstance(body, RefType):
            return
        id = body.id


def _faults_at(position: Position, definitions: Definitions, engines: Engines) -> Iterator[ToolFault]:
    """One per fault; failures of alias chains that end in the same id count once."""
    ends: set[tuple[FaultKind, str | None]] = set()
    for fault in type_faults(position.type, definitions, engines):
        if fault.kind in _ALIAS_FAULTS:
            if (fault.kind, fault.id) in ends:
                continue
            ends.add((fault.kind, fault.id))
        yield _told(fault, position)


def _told(fault: Fault, position: Position) -> ToolFault:
    match fault.kind:
        case FaultKind.DANGLING_REF:
            kind, id = ToolFaultKind.UNRESOLVED_TYPE_REF, fault.id
        case FaultKind.NEEDS_PATTERNS:
            kind, id = ToolFaultKind.NEEDS_ENGINE, None
        case _:
            kind, id = ToolFaultKind.ILL_FORMED_SCHEMA, None
    return ToolFault(kind, position.command, position=position.name, id=id)


def _reaching_variants(definitions: Definitions) -> frozenset[str]:
    """The ids of definitions from which a variant can be reached, payloads of secrets left aside."""
    reaching: set[str] = set()
    users: dict[str, set[str]] = {}
    for item in definitions.items:
        if definitions.body(item.id) is not item.body:
            continue
        for part in walk(item.body, into_secrets=False):
            if isinstance(part, VariantType):
                reaching.add(item.id)
            elif isinstance(part, RefType):
                users.setdefault(part.id, set()).add(item.id)
    pending = list(reaching)
    while pending:
        for user in users.get(pending.pop(), ()):
            if user not in reaching:
                reaching.add(user)
                pending.append(user)
    return frozenset(reaching)


def _has_variant(schema: SchemaType, reaching: frozenset[str]) -> bool:
    return any(
        isinstance(part, VariantType) or (isinstance(part, RefType) and part.id in reaching)
        for part in walk(schema, into_secrets=False)
    )
