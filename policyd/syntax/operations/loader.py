"""Reads the files of the catalogue and checks them: a mistake in them is a defect, told with its place.

Source: host 2; host appendix A.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from policyd.core.edition import SWITCHES
from policyd.core.grants import PermissionClass
from policyd.core.grants.classes import ALL_CLASSES
from policyd.core.operations.catalogue import (
    ALWAYS,
    Catalogue,
    Combine,
    Denial,
    Operation,
    Record,
    RecordClass,
    Side,
    TargetTemplate,
)
from policyd.core.operations.owners import OwnerHole
from policyd.core.operations.parameters import LISTS, Parameter, ParameterKind
from policyd.core.operations.targets import HOLE

FILES = Path(__file__).resolve().parent

_TEMPLATE = re.compile(r"(?P<cls>[a-z0-9.-]+)\((?P<owner>.*)\) : (?P<verb>\S+) :(?: (?P<resource>.*))?")
_ID = re.compile(r"[a-z]+(?:[.-][a-z0-9]+)*")
_MEMBERS = frozenset(
    {
        "asks",
        "cli",
        "combine",
        "denial",
        "edition",
        "effect",
        "fails-under",
        "id",
        "may-go-unasked",
        "record",
        "remarks",
        "rest",
        "sdk",
        "side",
        "source",
        "takes",
        "unknown-under",
        "wit",
    }
)
_ASK_MEMBERS = frozenset({"ask", "when", "each", "if", "under", "disguise"})
_TAKE_MEMBERS = frozenset({"kind", "words", "from"})
EFFECTS = frozenset({"", "self-metadata", "own-environment", "without-moved-card", "durable", "stream"})
"""What is decided beside the targets, by operation."""
SURFACES = ("wit", "rust", "typescript", "moonbit", "scala", "rest", "cli")
LANGUAGES = SURFACES[1:5]


class CatalogueError(ValueError):
    """A file of the catalogue does not hold together; the text names the operation and what is wrong."""


@cache
def catalogue() -> Catalogue:
    """The catalogue of this build, read once."""
    return load_catalogue(FILES)


def load_catalogue(folder: Path) -> Catalogue:
    """The catalogue of a folder, one file per family.

    Raises:
        CatalogueError: if a file does not hold together.
    """
    operations: dict[str, Operation] = {}
    for path in sorted(folder.glob("*.yaml")):
        for operation in _family(_document(path), path.name):
            if operation.id in operations:
                raise CatalogueError(f"{path.name}: `{operation.id}` occurs twice")
            operations[operation.id] = operation
    return Catalogue(operations)


def _document(path: Path) -> Mapping[str, Any]:
    import yaml  # type: ignore[import-untyped]  # PyYAML comes without types

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(path.read_bytes(), Loader=loader)  # a safe loader, by libyaml where it is at hand
    if not isinstance(document, dict):
        raise CatalogueError(f"{path.name}: not a mapping")
    return document


def _family(document: Mapping[str, Any], file: str) -> Iterator[Operation]:
    denials = {name: _denial(name, surfaces) for name, surfaces in document.get("denials", {}).items()}
    for row in document["operations"]:
        id = str(row.get("id", ""))
        try:
            yield _operation(row, document, denials)
        except (KeyError, ValueError, TypeError) as error:
            raise CatalogueError(f"{file}: `{id}`: {error}") from error


def _denial(name: str, surfaces: Mapping[str, Any]) -> Denial:
    unknown = set(surfaces) - {*SURFACES, "carries-target"}
    if unknown:
        raise CatalogueError(f"denial `{name}`: unknown surface {sorted(unknown)}")
    seen = tuple((surface, str(surfaces[surface])) for surface in SURFACES if surface in surfaces)
    return Denial(name, seen, surfaces.get("carries-target", False))


def _operation(row: Mapping[str, Any], document: Mapping[str, Any], denials: Mapping[str, Denial]) -> Operation:
    _only(row, _MEMBERS)
    if not _ID.fullmatch(row["id"]):
        raise ValueError("an id is made of words, dots and hyphens")
    parameters = tuple(_parameter(name, given) for name, given in row.get("takes", {}).items())
    targets = tuple(_template(ask, parameters) for ask in row.get("asks", ()))
    operation = Operation(
        id=row["id"],
        family=document["family"],
        side=Side(row.get("side", document["side"])),
        record=_record(row["record"]),
        source=row.get("source", document["source"]),
        wit=_texts(row.get("wit", ())),
        sdk=tuple((language, name) for language in LANGUAGES for name in row.get("sdk", {}).get(language, ())),
        rest=_texts(row.get("rest", ())),
        cli=_texts(row.get("cli", ())),
        parameters=parameters,
        targets=targets,
        combine=Combine(row.get("combine", "all")),
        denial=denials[row["denial"]] if "denial" in row else None,
        edition=row.get("edition", "both"),
        unknown_under=row.get("unknown-under", ""),
        fails_under=row.get("fails-under", ""),
        may_go_unasked=row.get("may-go-unasked", False),
        effect=row.get("effect", ""),
        remarks=_texts(row.get("remarks", ())),
    )
    _holds_together(operation, row)
    return operation


def _only(row: Mapping[str, Any], members: frozenset[str]) -> None:
    unknown = set(row) - members
    if unknown:
        raise ValueError(f"unknown member {sorted(unknown)}")


def _texts(values: Any) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("a list of texts is needed")
    return tuple(values)


def _record(given: Any) -> Record:
    if isinstance(given, dict):
        return Record(RecordClass(given["p2"]), RecordClass(given["p3"]))
    return Record(RecordClass(given), RecordClass(given))


def _parameter(name: str, given: Any) -> Parameter:
    row = given if isinstance(given, dict) else {"kind": given}
    _only(row, _TAKE_MEMBERS)
    kind = row["kind"]
    return Parameter(
        name,
        ParameterKind(kind.removesuffix("?")),
        row.get("from", name),
        _texts(row.get("words", ())),
        is_optional=kind.endswith("?"),
    )


def _template(given: Any, parameters: tuple[Parameter, ...]) -> TargetTemplate:
    row = given if isinstance(given, dict) else {"ask": given}
    _only(row, _ASK_MEMBERS)
    found = _TEMPLATE.fullmatch(row["ask"])
    if found is None:
        raise ValueError(f"`{row['ask']}` is no target")
    cls = next((c for c in ALL_CLASSES if c.name == found["cls"]), None)
    if cls is None:
        raise ValueError(f"`{found['cls']}` is no class")
    template = TargetTemplate(
        cls,
        OwnerHole(found["owner"]),
        found["verb"],
        found["resource"] or "",
        _texts(row.get("when", ())),
        row.get("each", ""),
        row.get("if", ""),
        row.get("under", ""),
        str(row.get("disguise", "")),
    )
    _fits(template, cls, parameters)
    return template


def _fits(template: TargetTemplate, cls: PermissionClass, parameters: tuple[Parameter, ...]) -> None:
    named = {parameter.name: parameter for parameter in parameters}
    if template.verb not in cls.verbs and template.verb != "{verb}":
        raise ValueError(f"`{template.verb}` is no verb of `{cls.name}`")
    for hole in HOLE.findall(template.resource):
        if hole not in named:
            raise ValueError(f"`{{{hole}}}` is no parameter")
        if named[hole].is_optional and hole != template.given and named[hole].kind not in _MEANING_WHEN_ABSENT:
            raise ValueError(f"`{hole}` may be left out, so `if: {hole}` is needed")
        if (named[hole].kind in LISTS) != (hole == template.each):
            raise ValueError(f"`{hole}` asks once per item or not at all")
    if template.under and template.under not in {row.name for row in SWITCHES}:
        raise ValueError(f"`{template.under}` is no switch")
    words = {word for parameter in parameters for word in parameter.words}
    if not words.issuperset(template.when):
        raise ValueError(f"{sorted(set(template.when) - words)} is no flag")


_MEANING_WHEN_ABSENT = frozenset({ParameterKind.LOOKUP_METHOD, ParameterKind.TOOL_CALL})


def _holds_together(operation: Operation, row: Mapping[str, Any]) -> None:
    switches = {switch.name for switch in SWITCHES} | {"", ALWAYS}
    if operation.unknown_under not in switches or operation.fails_under not in switches:
        raise ValueError("no such switch")
    if operation.edition not in ("both", "snapshot", "next") or operation.effect not in EFFECTS:
        raise ValueError("no such edition or effect")
    if not any((operation.wit, operation.sdk, operation.rest, operation.cli)) and not operation.remarks:
        raise ValueError("nobody can call it")
    always = [template for template in operation.targets if not template.under]
    if always and operation.denial is None:
        raise ValueError("it does not say how a denial shows")
    if always and operation.record.p2 is RecordClass.UNGATED:
        raise ValueError("what asks for a target is not ungated")
