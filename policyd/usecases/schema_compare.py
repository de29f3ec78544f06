"""Two schemas side by side: does the relation hold, where do they part, and which value shows it.

Source: middleware 3; interface, Verbs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from policyd.core.schema.assignable import is_assignable
from policyd.core.schema.carry import violation_words
from policyd.core.schema.equivalent import SameTypes, are_equivalent
from policyd.core.schema.examples import Examples
from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.outcomes import Validity, validity_of
from policyd.core.schema.pairs import Proven
from policyd.core.schema.project import Mismatch, MismatchKind, project
from policyd.core.schema.relation_place import differing_place
from policyd.core.schema.schema_risks import SchemaRisk, schema_risks
from policyd.core.schema.steps import OutOfStepsError, within
from policyd.core.schema.types import SchemaType, replace_refs
from policyd.core.schema.validate import violations_of
from policyd.core.schema.wellformed import faults_of
from policyd.core.schema.witness import NoWitness, Shown, Witness, witness
from policyd.findings import Finding, InputError, Severity
from policyd.usecases.tool_documents import ENGINES, TEXTS
from policyd.usecases.tool_words import mismatch_words, place_words, shown_type, shown_value

MAX_STEPS = 10_000_000
"""Steps of work that one question about schemas may take."""
MAX_STEPS_SERVED = 500_000
"""Over HTTP, where others wait meanwhile."""
MAX_FAULTS = 50
"""Faults of one schema that are told one by one."""


class Relation(Enum):
    """What is asked about the pair."""

    PROJECT = "project"
    ASSIGN = "assign"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True, slots=True)
class SchemaAnswer:
    """The answer for one pair.

    Attributes:
        relation: what was asked.
        holds: whether it holds.
        path: where the types part, as in a mismatch; empty when it holds or at the root.
        reason: why not, in a few words.
        here: the two types at that place, in the short notation; empty when it holds.
        witness: a value that shows it, or why there is none; None when the relation holds.
        shown: the value as JSON, empty without one.
        risks: places at which an accepted pair may fail at run time.
        is_undecided: whether the steps were taken before it was known; then it says nothing else.
    """

    relation: Relation
    holds: bool
    path: str = ""
    reason: str = ""
    here: tuple[str, str] = ("", "")
    witness: Witness | None = None
    shown: str = ""
    risks: tuple[SchemaRisk, ...] = ()
    is_undecided: bool = False

    @property
    def verdict(self) -> str:
        """The word of the answer."""
        return "undecided" if self.is_undecided else "yes" if self.holds else "no"


TOO_MUCH = "there is more to compare than one question may"


def well_formed(graph: Graph, name: str, steps: int = MAX_STEPS) -> Graph:
    """The same schema, if it is well-formed.

    Raises:
        InputError: SCHEMA011, one finding per fault; SCHEMA017 where an engine is needed that is not there; CHAIN006
            where it takes more than `steps` to tell.
    """
    try:
        with within(steps):
            faults = faults_of(graph, ENGINES)
    except OutOfStepsError:
        raise InputError.of("CHAIN006", f"the schema in `{name}` is too large to be checked") from None
    if faults:
        more = len(faults) - MAX_FAULTS
        last = f"the schema in `{name}` has {more} further faults"
        raise InputError(
            *(
                Finding(
                    "SCHEMA017" if fault.is_undecided else "SCHEMA011",
                    Severity.ERROR,
                    f"the schema in `{name}` is not well-formed: {fault.kind.value}"
                    + "".join(f" `{part}`" for part in (fault.id, fault.name, fault.tag, fault.field) if part),
                )
                for fault in faults[:MAX_FAULTS]
            ),
            *((Finding("SCHEMA011", Severity.ERROR, last),) if more > 0 else ()),
        )
    return graph


def compare_schemas(source: Graph, target: Graph, relation: Relation, steps: int = MAX_STEPS) -> SchemaAnswer:
    """Whether the relation holds for two well-formed schemas, and what shows it where it does not.

    Args:
        source: a schema.
        target: another one.
        relation: what is asked.
        steps: how much work it may take; what is not known by then is undecided. A relation that is known not to hold
            stays refused when only the place or the value that shows it was not found in time.
    """
    try:
        with within(steps):
            match relation:
                case Relation.PROJECT:
                    return _projection(source, target)
                case Relation.ASSIGN:
                    return _assignment(source, target)
                case Relation.EQUIVALENT:
                    return _equivalence(source, target)
    except OutOfStepsError:
        return SchemaAnswer(relation, False, reason=TOO_MUCH, is_undecided=True)


def _assignment(source: Graph, target: Graph) -> SchemaAnswer:
    shared, one, other = merged(source, target)
    proven: Proven = {}
    if is_assignable(one, other, shared, proven):
        return SchemaAnswer(Relation.ASSIGN, True, risks=schema_risks(source, target))

    def assignable(a: SchemaType, b: SchemaType) -> bool:
        return is_assignable(a, b, shared, proven)

    return _parted(Relation.ASSIGN, source, target, lambda: differing_place(one, other, shared, shared, assignable))


def _equivalence(source: Graph, target: Graph) -> SchemaAnswer:
    if SameTypes(source.definitions).holds(source.root, target.root, target.definitions):
        return SchemaAnswer(Relation.EQUIVALENT, True)
    proven: Proven = {}

    def equivalent(a: SchemaType, b: SchemaType) -> bool:
        return are_equivalent(source.with_root(a), target.with_root(b), proven)

    def place() -> Mismatch:
        return differing_place(source.root, target.root, source.definitions, target.definitions, equivalent)

    return _parted(Relation.EQUIVALENT, source, target, place)


def _parted(relation: Relation, source: Graph, target: Graph, place: Callable[[], Mismatch]) -> SchemaAnswer:
    """The answer for a relation that does not hold; its place and its value are worth the steps that are left."""
    where, found = Mismatch("", MismatchKind.NOT_SUBSTITUTABLE, source.root, target.root), None
    try:
        where = place()
        found = _unchanged(witness(source, target, TEXTS), source, target)
    except OutOfStepsError:
        pass  # that it does not hold is known
    return _refused(relation, where, found or NoWitness.TOO_LARGE, source)


def _projection(source: Graph, target: Graph) -> SchemaAnswer:
    found = project(source, target)
    if not isinstance(found, Mismatch):
        return SchemaAnswer(Relation.PROJECT, True, risks=schema_risks(source, target))
    if found.kind is MismatchKind.TOO_LARGE:
        here = tuple(shown_type(t) if t is not None else "" for t in (found.source, found.target))
        words = NoWitness.TOO_LARGE.value
        return SchemaAnswer(Relation.PROJECT, False, found.path, words, (here[0], here[1]), NoWitness.TOO_LARGE)
    shown: Witness
    try:
        shown = witness(source, target, TEXTS) or NoWitness.NOT_FOUND
    except OutOfStepsError:
        shown = NoWitness.TOO_LARGE
    return _refused(Relation.PROJECT, found, shown, source)


def _refused(relation: Relation, place: Mismatch, found: Witness, source: Graph) -> SchemaAnswer:
    here = tuple("" if t is None else shown_type(t) for t in (place.source, place.target))
    try:
        shown = shown_value(found.value, source, ENGINES) if isinstance(found, Shown) else ""
    except OutOfStepsError:
        found, shown = NoWitness.TOO_LARGE, ""  # the refusal stands without its value
    return SchemaAnswer(relation, False, place.path, mismatch_words(place), (here[0], here[1]), found, shown)


def _unchanged(found: Witness | None, source: Graph, target: Graph) -> Witness:
    """A witness that fails as it stands, without reshaping; the smallest value is tried where none is known."""
    if isinstance(found, NoWitness):
        return found
    value = found.value if found is not None else Examples(source.definitions, TEXTS).of(source.root)
    if value is None:
        return NoWitness.NOMINAL
    broken = violations_of(value, target, ENGINES)
    if validity_of(broken) is Validity.INVALID:
        return Shown(value, found.reason if found is not None else violation_words(broken[0].kind))
    return NoWitness.NOMINAL


def merged(source: Graph, target: Graph) -> tuple[Definitions, SchemaType, SchemaType]:
    """Both types over one set of definitions: those of the target get names of their own where names meet."""
    taken = {item.id for item in source.definitions.items}
    names: dict[str, str] = {}
    for item in target.definitions.items:
        name = item.id
        while name in taken:
            name += "'"
        taken.add(name)
        names.setdefault(item.id, name)
    added = tuple(
        Definition(names[item.id], replace_refs(item.body, names), item.name) for item in target.definitions.items
    )
    return Definitions((*source.definitions.items, *added)), source.root, replace_refs(target.root, names)


def answer_json(answer: SchemaAnswer, source: Graph, target: Graph) -> dict[str, object]:
    """The answer as JSON."""
    found: dict[str, object] = {"relation": answer.relation.value, "verdict": answer.verdict}
    found["source"], found["target"] = shown_type(source.root), shown_type(target.root)
    if answer.is_undecided:
        found["reason"] = answer.reason
    elif not answer.holds:
        found |= {"path": answer.path or "$", "reason": answer.reason, "here": list(answer.here)}
        found["witness"] = answer.shown or None
        if isinstance(answer.witness, NoWitness):
            found["noWitness"] = {
                "reason": answer.witness.name.lower().replace("_", "-"),
                "words": answer.witness.value,
            }
        elif answer.witness is not None:
            found["refusedBecause"] = answer.witness.reason
    found["risks"] = [{"label": risk.kind.value, "path": risk.path or "$"} for risk in answer.risks]
    return found


def answer_lines(answer: SchemaAnswer, source: Graph, target: Graph) -> list[str]:
    """The answer as lines for a person."""
    verbs = {
        Relation.PROJECT: "source projects to target",
        Relation.ASSIGN: "source is assignable to target",
        Relation.EQUIVALENT: "source and target are equivalent",
    }
    lines = [f"{verbs[answer.relation]}: {answer.verdict}"]
    if answer.is_undecided:
        lines.append(answer.reason)
    elif not answer.holds:
        place = place_words(None, answer.path)
        lines.append(f"they part at {place or 'the root'}: {answer.reason}")
        lines += [f"  source: {answer.here[0] or '(nothing)'}", f"  target: {answer.here[1] or '(nothing)'}"]
        if isinstance(answer.witness, Shown):
            lines.append(f"for example {answer.shown}: {answer.witness.reason}")
        elif answer.witness is not None:
            lines.append(f"no value shows it: {answer.witness.value}")
    lines += [f"risk {risk.kind.value} at {place_words(None, risk.path) or 'the root'}" for risk in answer.risks]
    return lines
