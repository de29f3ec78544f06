"""Files with schemas, tools and middleware: JSON or YAML, every mistake with its place.

Source: middleware 1.4, 6.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.json_text import MAX_JSON_TEXT
from policyd.core.schema.reading import UnreadableError, fail, member, members, optional, surfaced, text
from policyd.core.schema.text_wish import FoundText, Texts, TextWish
from policyd.core.schema.type_read import graph_at, type_at
from policyd.core.schema.types import SchemaType
from policyd.core.tools.tool import Tool
from policyd.findings import Finding, InputError, Severity, Span
from policyd.findings.span import span_of_text
from policyd.manifest import json_of
from policyd.manifest.compose import compose
from policyd.manifest.located import Located, LocatedList, LocatedMap
from policyd.manifest.scalars import MisfitError, free_problems
from policyd.manifest.source import decode
from policyd.syntax.json_places import places
from policyd.syntax.mistakes import shown
from policyd.syntax.patterns import Re2Patterns
from policyd.syntax.tools import Reader, is_metadata, tool_of_json
from policyd.syntax.type_text import parse_type
from policyd.syntax.urls import WhatwgUrls

ENGINES = Engines(Re2Patterns(), WhatwgUrls())
"""The engines of the platform: both features on, as hosts have them."""

T = TypeVar("T")


class _Finder:
    """Asks the solver, which is only imported when a text is hard to find."""

    def find(self, wish: TextWish) -> FoundText:
        """As `policyd.solver.texts.SolverTexts`."""
        from policyd.solver.texts import SolverTexts

        return SolverTexts().find(wish)


TEXTS = Texts(ENGINES, _Finder())
"""The engines with a finder for harder texts."""


@dataclass(frozen=True, slots=True)
class PlainDocument:
    """A file as a plain value, with the places of its parts.

    Attributes:
        name: of the file as given.
        text: of the file.
        value: what it stands for.
        root: its tree, None for JSON.
    """

    name: str
    text: str = field(repr=False)
    value: object = field(repr=False)
    root: Located | None = field(repr=False)

    @property
    def folder(self) -> Path:
        """Where files named in it are looked for."""
        return Path(self.name).parent

    def span(self, steps: tuple[str | int, ...]) -> Span:
        """The place of a part, or of the nearest one around it."""
        if self.root is not None:
            return _tree_span(self.root, steps)
        found = _places(self.text)
        for size in range(len(steps), -1, -1):
            path = "$" + "".join(_step(step) for step in steps[:size])
            if path in found:
                return span_of_text(self.name, self.text, *found[path], path)
        return Span(self.name)

    def surfaced(self, code: str, read: Callable[[], T]) -> T:
        """What `read` gives; what it cannot read is told with its place.

        Raises:
            InputError: `code`.
        """
        try:
            return read()
        except UnreadableError as error:
            steps = tuple(reversed(error.steps))
            raise InputError.of(code, error.reason, self.span(steps)) from None

    def line(self, source: str, number: int) -> str | None:
        """A line of the file, None for another one."""
        rows = self.text.split("\n")
        return rows[number - 1] if source == self.name and 0 < number <= len(rows) else None


@lru_cache(maxsize=4)
def _places(content: str) -> Mapping[str, tuple[int, int]]:
    """Where the parts of a JSON text stand; many places of one text are asked for."""
    return places(content)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    plain = step.isascii() and step.replace("_", "a").replace("-", "a").isalnum() and not step[:1].isdigit()
    return f".{step}" if plain and step[:1] != "-" else f"[{json.dumps(step, ensure_ascii=False)}]"


def _tree_span(root: Located, steps: tuple[str | int, ...]) -> Span:
    current = root
    for step in steps:
        if isinstance(current, LocatedList) and isinstance(step, int) and step < len(current.items):
            current = current.items[step]
            continue
        found = current.get(str(step)) if isinstance(current, LocatedMap) else None
        if found is None:
            break
        current = found
    return current.span


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        InputError: CHAIN003, where it cannot be read.
    """
    name = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_JSON_TEXT + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "it is no file name").lower()
        raise InputError.of("CHAIN003", f"{shown(name)} cannot be read: {reason}") from None
    if len(data) > MAX_JSON_TEXT:
        raise InputError.of("CHAIN003", f"{shown(name)} is larger than {MAX_JSON_TEXT} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.of("CHAIN003", f"{shown(name)} is not UTF-8 at byte {error.start}") from None


def read_document(path: Path) -> PlainDocument:
    """The value in a JSON or YAML file.

    Raises:
        InputError: CHAIN003 or the code of the mistake, with its place.
    """
    return document_of(str(path), read_text(path))


def document_of(name: str, content: str) -> PlainDocument:
    """Like `read_document`, for a text at hand."""
    if content.lstrip()[:1] in ("{", "["):
        try:
            return PlainDocument(name, content, json.loads(content), None)
        except (ValueError, RecursionError):
            pass  # a flow collection of YAML begins alike
    source, is_text, findings = decode(name, content)
    root, more = compose(source) if is_text else (None, ())
    bad = [finding for finding in (*findings, *more) if finding.severity is Severity.ERROR]
    if bad or root is None:
        raise InputError(*(bad or [Finding("CHAIN003", Severity.ERROR, f"{shown(name)} is empty")]))
    problems: list[Finding] = []
    free_problems(root, problems.append)
    bad = [finding for finding in problems if finding.severity is Severity.ERROR]
    if bad:
        raise InputError(*bad)
    try:
        return PlainDocument(name, source.text, json_of(root), root)
    except MisfitError as misfit:
        raise InputError.of(misfit.code, misfit.message, root.span) from None


def read_schema(path: Path) -> Graph:
    """A schema: a graph or type as the platform writes it, a type in the short notation, or one with named types.

    Raises:
        InputError: with the place of the mistake.
    """
    content = read_text(path)
    document = _document_or_notation(str(path), content)
    if isinstance(document.value, str):
        return Graph(parse_type(document.value, str(path)))
    return document.surfaced("SCHEMA004", lambda: schema_at(document.value))


def _document_or_notation(name: str, content: str) -> PlainDocument:
    """A file that is no JSON object holds one type in the short notation, unless it is a YAML map."""
    stripped = content.strip()
    head = stripped.partition("\n")[0].partition(":")[0].strip().strip("\"'")
    if stripped[:1] not in ("{", "[") and head not in ("type", "types", "kind", "value", "defs", "root", "---"):
        return PlainDocument(name, content, stripped, None)
    return document_of(name, content)


def schema_at(value: object) -> Graph:
    """A schema that is being read: `root` with `defs`, a type with its `kind`, or `type` with `types`."""
    found = members(value)
    if "root" in found:
        return graph_at(found)
    if "kind" in found:
        return Graph(type_at(found))
    if "type" not in found:
        fail("a graph (`root`), a type (`kind`) or `type` in the short notation is wanted")
    types = optional(found, "types", _named_types) or ()
    return Graph(member(found, "type", _notation), Definitions(types))


def _named_types(value: object) -> tuple[Definition, ...]:
    return tuple(Definition(name, member(members(value), name, _notation)) for name in members(value))


def _notation(value: object) -> SchemaType:
    try:
        return parse_type(text(value))
    except InputError as error:
        return fail(error.findings[0].message)


def loader(folder: Path) -> Callable[[str], object]:
    """Reads files that a document names, beside it."""

    def load(name: str) -> object:
        return read_document(folder / name).value

    return load


def sealed(name: str) -> object:
    """Refuses every file that a document names: for documents that are sent, which have no folder."""
    return fail(f"{shown(name)} cannot be read from here: write the metadata out")


def schema_of(value: object, name: str) -> Graph:
    """A schema that was sent: a text in the short notation, or what `read_schema` reads as JSON.

    Raises:
        InputError: with the path of the mistake.
    """
    if isinstance(value, str):
        return Graph(parse_type(value, name))
    return surfaced("SCHEMA004", name, lambda: schema_at(value))


UNNAMED = "tool"
"""The name of two states of a tool of which neither says it."""


def tools_of(old: object, new: object) -> tuple[Tool, Tool]:
    """Two states of a tool that were sent, in the forms that `read_tool_files` reads.

    Raises:
        InputError: with the path of the mistake.
    """
    name = _name_of(old) or _name_of(new) or UNNAMED
    first = surfaced("CHAIN004", "old tool", lambda: _tool_at(old, name, sealed))
    return first, surfaced("CHAIN004", "new tool", lambda: _tool_at(new, name, sealed))


def read_tool_files(old: Path, new: Path) -> tuple[Tool, Tool]:
    """Two states of a tool: metadata of the platform, a registry record, the short form, or a document with one tool.

    One that does not say its name has that of the other.

    Raises:
        InputError: with the place of the mistake.
    """
    documents = [read_document(path) for path in (old, new)]
    name = next(filter(None, (_name_of(document.value) for document in documents)), UNNAMED)

    def read(document: PlainDocument) -> Tool:
        load = loader(document.folder)
        return document.surfaced("CHAIN004", lambda: _tool_at(document.value, name, load))

    return read(documents[0]), read(documents[1])


def _name_of(value: object) -> str:
    """The name that a tool says, empty where it says none or another mistake comes first."""
    match value:
        case {"definition": {"commands": {"nodes": [{"name": str(name)}, *_]}}}:
            return name
        case {"commands": {"nodes": [{"name": str(name)}, *_]}}:
            return name
        case {"name": str(name)}:
            return name
        case _:
            return ""


def _tool_at(value: object, unnamed: str, load: Callable[[str], object]) -> Tool:
    found = members(value)
    reader = Reader(ENGINES, load)
    if is_metadata(found):
        return tool_of_json(found)
    if "definitions" not in found:
        return reader.tool(_name_of(found) or unnamed, found)
    catalogue = member(found, "definitions", reader.catalogue)
    if len(catalogue.tools) != 1:
        fail("a document with exactly one tool is wanted here")
    return next(iter(catalogue.tools.values()))
