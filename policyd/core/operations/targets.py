"""From an operation and its arguments to the targets that the platform checks, in order.

Source: host 1.2 (3), 1.6, 2, 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Target
from policyd.core.grants.classes import ResourceKind
from policyd.core.grants.resources import Exact, FilePath, Resource, StoreKey, TableName
from policyd.core.grants.resources.exact import ANY, EMPTY, NOTHING
from policyd.core.grants.resources.segments import GLOBSTAR
from policyd.core.operations.catalogue import Operation, Side, TargetTemplate
from policyd.core.operations.owners import Asker, owner_of
from policyd.core.operations.parameters import NO_PORTS, Arguments, ParameterKind, Ports
from policyd.core.operations.question import Part, Question
from policyd.core.operations.readers import read
from policyd.core.operations.refusal import Refusal, Unclear

_OF_RUNNING_CODE = frozenset({"filesystem", "agent"})
"""The classes whose own owner is named with the component of the running code (host 4.1)."""
HOLE = re.compile(r"\{([a-z-]+)\}")


@dataclass(frozen=True, slots=True)
class Asked:
    """One target that an operation asks for.

    Attributes:
        target: complete; its owner is `?agent` while only the type of the asker is known.
        template: from which it was made.
    """

    target: Target
    template: TargetTemplate


def targets_of(
    operation: Operation, arguments: Arguments, asker: Asker, ports: Ports = NO_PORTS, rules: Rules = NEXT
) -> tuple[Target, ...] | Refusal | Unclear:
    """The targets of one operation, in the order in which they are asked; possibly none, possibly one twice.

    A refusal means that the platform denies the operation without asking a card.
    """
    if operation.is_unknown(rules):
        return Unclear("targets", f"what `{operation.id}` asks for is not published")
    found = asked_by(operation, arguments, asker, ports, rules)
    return found if isinstance(found, (Refusal, Unclear)) else tuple(asked.target for asked in found)


def asked_by(
    operation: Operation, arguments: Arguments, asker: Asker, ports: Ports = NO_PORTS, rules: Rules = NEXT
) -> tuple[Asked, ...] | Refusal | Unclear:
    """The targets of one operation with the templates that they were made from, as far as they are published."""
    parts = _parts(operation, Question(arguments, asker, ports))
    if isinstance(parts, (Refusal, Unclear)):
        return parts
    found: list[Asked] = []
    for template in operation.targets:
        if not _is_asked(template, operation, parts, rules):
            continue
        owner = owner_of(
            template.owner,
            arguments,
            asker,
            is_service=operation.side is Side.SERVICE,
            is_executing=template.cls.name in _OF_RUNNING_CODE,
        )
        if isinstance(owner, Unclear):
            return owner
        for item in _items(template, parts):
            verb = str(item["verb"]) if template.verb == "{verb}" else template.verb
            found.append(Asked(Target(template.cls, owner, verb, _resource(template, item)), template))
    return tuple(found)


def _parts(operation: Operation, question: Question) -> Mapping[str, Part] | Refusal | Unclear:
    """All parameters, read in their order: the first that cannot be read decides."""
    found: dict[str, Part] = {}
    for parameter in operation.parameters:
        part = read(parameter, question)
        if isinstance(part, (Refusal, Unclear)):
            return part
        if part is not None:
            found[parameter.name] = part
    return found


def _is_asked(template: TargetTemplate, operation: Operation, parts: Mapping[str, Part], rules: Rules) -> bool:
    if template.under and not rules.is_next(template.under):
        return False
    if template.given and template.given not in parts:
        return False
    if not template.when:
        return True
    given = {
        word
        for parameter in operation.parameters
        if parameter.kind is ParameterKind.FLAGS
        for word in cast(frozenset[str], parts.get(parameter.name, frozenset()))
    }
    return any(word in given for word in template.when)


def _items(template: TargetTemplate, parts: Mapping[str, Part]) -> Iterator[Mapping[str, Part]]:
    """The parts of each target that a template asks for: once, or once per item of a list."""
    if not template.each:
        yield parts
        return
    for item in cast(tuple[Part, ...], parts[template.each]):
        match item:
            case (str(verb), table):
                yield {**parts, "verb": verb, template.each: table}
            case _:
                yield {**parts, template.each: item}


def _resource(template: TargetTemplate, parts: Mapping[str, Part]) -> Resource:
    """The resource of a template with its holes filled."""
    text = template.resource
    hole = HOLE.fullmatch(text)
    if hole is not None and not isinstance(parts[hole[1]], (str, int)):
        return cast(Resource, parts[hole[1]])
    match template.cls.resource:
        case ResourceKind.STORE_KEY:
            store, key = _filled(text.partition(".")[0], parts), _filled(text.partition(".")[2], parts)
            return StoreKey(store, key)
        case ResourceKind.TABLE:
            return TableName(*(_filled(part, parts) for part in text.split(".")))
        case ResourceKind.EMPTY | ResourceKind.APPLICATION:
            return NOTHING
        case ResourceKind.FILES:
            return FilePath((GLOBSTAR,))
        case ResourceKind.AGENT if text not in ("", "*"):
            return Exact("method", text)
        case ResourceKind.VARIABLE if text != "*":
            return Exact("variable", text)
        case ResourceKind.AGENT if text == "":
            return EMPTY
        case _:
            return ANY


def _filled(text: str, parts: Mapping[str, Part]) -> str:
    return HOLE.sub(lambda found: str(parts[found[1]]), text)
