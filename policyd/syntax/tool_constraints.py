"""Constraints of the short form, their literals read with the type of the argument that they are about.

Source: middleware 6.2, 1.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.json_decode import decode_json
from policyd.core.schema.json_faults import JsonFault, JsonForm
from policyd.core.schema.reading import at, elements, fail, list_of, member, members, text
from policyd.core.schema.types import FixedListType, ListType, MapType, OptionType, SchemaType
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.constraint import (
    AllOrNone,
    ArgumentRef,
    Constraint,
    Forbids,
    Implies,
    MutexGroups,
    Present,
    Quantifier,
    RequiresAll,
    RequiresAny,
    ValueIs,
)
from policyd.core.tools.scope import Argument
from policyd.core.tools.tool import Flag, Option, Positional, RepeatableList, RepeatableMap, Tail

Json = Mapping[str, object]


def only(found: Json, *known: str) -> None:
    """Refuse members that the form does not have: a misspelled one would be lost in silence.

    Raises:
        UnreadableError: for a member that is not among `known`.
    """
    for name in found:
        if name not in known:
            fail(f"there is no member `{str(name)[:60]}` here, known are {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class ConstraintReader:
    """Reads constraints; literals are read with the type of the argument that they are about."""

    types: Definitions
    engines: Engines
    form: JsonForm
    arguments: Mapping[str, Argument]

    def read(self, json: object) -> Constraint:
        """One constraint: a map of one kind to its content."""
        found = members(json)
        if len(found) != 1:
            fail("a constraint is one of requires-all, requires-any, all-or-none, mutex-groups, implies, forbids")
        kind = next(iter(found))
        match kind:
            case "requires-all":
                return RequiresAll(member(found, kind, self.refs))
            case "requires-any":
                return RequiresAny(member(found, kind, self.refs))
            case "all-or-none":
                return AllOrNone(member(found, kind, self.refs))
            case "mutex-groups":
                return MutexGroups(member(found, kind, list_of(self.refs)))
            case "implies":
                return member(found, kind, self.implies)
            case "forbids":
                return member(found, kind, self.forbids)
            case _:
                return fail(f"`{str(kind)[:60]}` is no constraint")

    def refs(self, json: object) -> tuple[ArgumentRef, ...]:
        """Names, or names with a literal."""
        return elements(json, self.ref)

    def ref(self, json: object) -> ArgumentRef:
        """One name, or `{name, is}`."""
        if isinstance(json, str):
            return Present(json)
        found = members(json)
        only(found, "name", "is")
        name = member(found, "name", text)
        if "is" not in found:
            return Present(name)
        return ValueIs(name, at("is", lambda: self.literal(name, found["is"])))

    def literal(self, name: str, json: object) -> SchemaValue:
        """A value of the whole argument or, for lists and maps, of one occurrence."""
        argument = self.arguments.get(name)
        if argument is None:
            fail(f"no argument is called `{name[:60]}`")
        problem = f"a flag such as `{name[:60]}` cannot be compared"
        for schema in _occurrences(argument, self.types):
            decoded = decode_json(json, Graph(schema, self.types), self.engines, form=self.form)  # type: ignore[arg-type]
            if not isinstance(decoded, JsonFault):
                return decoded
            problem = f"it is no value of `{name[:60]}`: {decoded.reason}"
        return fail(problem)

    def side(self, found: Json, *names: str) -> tuple[Quantifier, tuple[ArgumentRef, ...]]:
        """One of two names with its references; the name says how many must hold."""
        written = [name for name in names if name in found]
        if len(written) != 1:
            fail(f"one of {', '.join(names)} is wanted")
        return Quantifier(written[0].rpartition("-")[2]), member(found, written[0], self.refs)

    def implies(self, json: object) -> Constraint:
        """If the left side holds, the right side must."""
        found = members(json)
        only(found, "if-all", "if-any", "then-all", "then-any")
        return Implies(*self.side(found, "if-all", "if-any"), *self.side(found, "then-all", "then-any"))

    def forbids(self, json: object) -> Constraint:
        """If the left side holds, nothing of the right side may."""
        found = members(json)
        only(found, "if-all", "if-any", "then")
        return Forbids(*self.side(found, "if-all", "if-any"), member(found, "then", self.refs))


def _occurrences(argument: Argument, definitions: Definitions) -> tuple[SchemaType, ...]:
    """The types of which a literal may be: an item of what repeats, else the whole or what is inside lists and maps."""
    match argument:
        case Flag():
            return ()
        case Tail():
            return (argument.item_type,)
        case Option(_, RepeatableList(item_type)):
            return (item_type,)
        case Option(_, RepeatableMap(map_type)):
            resolved = definitions.resolve(map_type).type
            return (resolved.value,) if isinstance(resolved, MapType) else (map_type,)
        case Option() | Positional():
            schema = argument.declared_type if isinstance(argument, Option) else argument.type
    current = definitions.resolve(schema).type
    for _ in range(len(definitions.items) + 1):
        if not isinstance(current, OptionType):
            break
        current = definitions.resolve(current.inner).type
    match current:
        case ListType(element) | FixedListType(element):
            return (schema, element)
        case MapType(_, value):
            return (schema, value)
        case _:
            return (schema,)
