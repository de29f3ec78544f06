"""The short form of tools and middleware in interchange documents, and the metadata JSON that may stand in its place.

Source: middleware 6.2 to 6.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definition, Definitions
from policyd.core.schema.json_faults import NEWEST_FORM, JsonForm
from policyd.core.schema.reading import at, fail, list_of, member, members, optional, text
from policyd.core.schema.types import (
    EMPTY_RECORD,
)
from policyd.core.tools.middleware import Middleware, Monomorphic, Scope, Universal, middleware_at
from policyd.core.tools.tool import (
    NO_DOC,
    Tool,
)
from policyd.core.tools.tool_read import tool_at
from policyd.findings import InputError
from policyd.syntax.tool_constraints import only
from policyd.syntax.tool_forms import NO_VERSION, ToolReader, TypeReader, short_doc, version_at

T = TypeVar("T")
Json = Mapping[str, object]
Load = Callable[[str], object]
"""Gives the JSON value in a file named beside the document; raises InputError where it cannot be read."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The definitions of a document.

    Attributes:
        types: shared named types.
        tools: by the name under which they are defined, which need not be the name of the root command.
        middleware: by name.
    """

    types: Definitions = field(default_factory=Definitions)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    middleware: Mapping[str, Middleware] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reader:
    """What reading depends on.

    Attributes:
        engines: for unions with patterns in literals.
        load: for `metadata: ./file.json`.
        form: the spellings of literals.
        types: the shared named types.
    """

    engines: Engines
    load: Load
    form: JsonForm = NEWEST_FORM
    types: Definitions = field(default_factory=Definitions)

    @property
    def forms(self) -> TypeReader:
        """The reader of types."""
        return TypeReader(self.engines, self.form, self.types)

    def catalogue(self, json: object) -> Catalogue:
        """What stands under `definitions`.

        Raises:
            UnreadableError: at the place that cannot be read.
        """
        found = members(json)
        only(found, "types", "tools", "middleware")
        types = Definitions(optional(found, "types", self._types) or ())
        inside = Reader(self.engines, self.load, self.form, types)
        tools = optional(found, "tools", lambda part: _by_name(part, inside.tool)) or {}
        reader = _Middlewares(inside, tools)
        middleware = optional(found, "middleware", lambda part: _by_name(part, reader.middleware)) or {}
        return Catalogue(types, tools, middleware)

    def _types(self, json: object) -> tuple[Definition, ...]:
        return tuple(
            Definition(name, body) for name, body in _by_name(json, lambda _, part: self.forms.type(part)).items()
        )

    def tool(self, name: str, json: object) -> Tool:
        """A tool: metadata of the platform, a file with such, or the short form."""
        found = members(json)
        if "metadata" in found:
            only(found, "metadata")
            return at("metadata", lambda: tool_of_json(self._loaded(found["metadata"])))
        if is_metadata(found):
            return tool_of_json(found)
        return ToolReader(TypeReader(self.engines, self.form, self.types), name).tool(found)

    def loaded(self, json: object) -> object:
        """The value itself, or that of the file which a text names."""
        return self._loaded(json)

    def _loaded(self, json: object) -> object:
        if not isinstance(json, str):
            return json
        try:
            return self.load(json)
        except InputError as error:
            fail(error.findings[0].message)


def is_metadata(found: Json) -> bool:
    """Whether an object is a tool as the platform writes it, or a record of its registry around one."""
    commands = found.get("commands")
    return (isinstance(commands, Mapping) and isinstance(commands.get("nodes"), (list, tuple))) or (
        isinstance(found.get("definition"), Mapping)
    )


def tool_of_json(json: object) -> Tool:
    """A tool of its metadata, or of a registry record that holds it."""
    found = members(json)
    return member(found, "definition", tool_at) if "definition" in found else tool_at(found)


def _by_name(json: object, read: Callable[[str, object], T]) -> dict[str, T]:
    """A map of names, each read with its name."""
    found: dict[str, T] = {}
    for name, part in members(json).items():
        found[str(name)] = at(str(name), lambda name=str(name), part=part: read(name, part))  # type: ignore[misc]
    return found


@dataclass(frozen=True, slots=True)
class _Middlewares:
    reader: Reader
    tools: Mapping[str, Tool]

    def middleware(self, name: str, json: object) -> Middleware:
        """A middleware: metadata, a file with such, or the short form."""
        found = members(json)
        if "metadata" in found:
            only(found, "metadata")
            return at("metadata", lambda: middleware_at(self.reader.loaded(found["metadata"])))
        if "parameter_schema" in found:
            return middleware_at(found)
        only(found, "scope", "version", "aliases", "doc", "parameters", "presents", "expects", "account")
        parameters = optional(found, "parameters", self.reader.forms.type) or EMPTY_RECORD
        return Middleware(
            name,
            optional(found, "version", version_at) or NO_VERSION,
            optional(found, "aliases", list_of(text)) or (),
            self.scope(found),
            self.reader.forms.graph(parameters),
            optional(found, "doc", short_doc) or NO_DOC,
            optional(found, "account", text),
        )

    def scope(self, found: Json) -> Scope:
        """Universal, or what it presents and expects; `expects: null` is a wildcard."""
        if "scope" in found and member(found, "scope", text) != "universal":
            fail("`scope` is `universal`; a monomorphic middleware has `presents` and `expects`")
        if "presents" not in found:
            if "scope" not in found or "expects" in found:
                fail("`scope: universal`, or `presents` and `expects` are wanted")
            return Universal()
        if "scope" in found:
            fail("universal middleware presents nothing")
        presented = member(found, "presents", self.named)
        if "expects" not in found:
            fail("`expects` is missing; `expects: null` stands for any tool")
        return Monomorphic(presented, optional(found, "expects", self.named))

    def named(self, json: object) -> Tool:
        """A tool by its name, or written out."""
        if not isinstance(json, str):
            return self.reader.tool("", json)
        tool = self.tools.get(json)
        return tool if tool is not None else fail(f"no tool `{json[:60]}` is defined")
