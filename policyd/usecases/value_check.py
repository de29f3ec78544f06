"""One JSON text against one schema: the value it stands for, or the exact rule that it breaks.

Source: middleware 5.4, 8.2; interface, Verbs.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.schema.carry import violation_words
from policyd.core.schema.graph import Graph
from policyd.core.schema.json_decode import decode_text
from policyd.core.schema.json_encode import Encoded, encode
from policyd.core.schema.json_faults import JsonFault, JsonFaultKind, JsonForm
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.outcomes import Validity, validity_of
from policyd.core.schema.steps import OutOfStepsError, within
from policyd.core.schema.validate import violations_of
from policyd.usecases.tool_documents import ENGINES


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """One rule that the text breaks.

    Attributes:
        stage: `decode` (the form of canonical JSON) or `validate` (a restriction of the type).
        rule: by the platform's name.
        path: in the JSON (`$.a[0]`) or in the value (`field:a › index:0`).
        words: why, for a person.
    """

    stage: str
    rule: str
    path: str
    words: str


@dataclass(frozen=True, slots=True)
class ValueAnswer:
    """Whether the text is a value of the type.

    Attributes:
        verdict: valid, invalid, or undecided for want of an engine.
        broken: the rules broken, the first decoding rule or all restrictions.
        canonical: the value as the platform writes it, None where it does not decode or has no JSON.
        has_canonical: whether there is such a form.
    """

    verdict: Validity
    broken: tuple[BrokenRule, ...] = ()
    canonical: JsonValue = None
    has_canonical: bool = False


MAX_STEPS = 10_000_000
"""Steps of work that one value may take."""
MAX_STEPS_SERVED = 500_000
"""Over HTTP, where others wait meanwhile."""


def check_value(
    text: str, graph: Graph, form: JsonForm, *, trusted: bool = False, steps: int = MAX_STEPS
) -> ValueAnswer:
    """Whether a JSON text is a value of the schema's root.

    Args:
        text: as received.
        graph: well-formed.
        form: which spellings are in force.
        trusted: whether the text may hold capabilities; text from outside may not.
        steps: how much work it may take; what is not known by then is undecided.
    """
    try:
        with within(steps):
            return _checked(text, graph, form, trusted=trusted)
    except OutOfStepsError:
        words = "the value and its type are more than one question may look at"
        return ValueAnswer(Validity.UNDECIDED, (BrokenRule("decode", "OutOfSteps", "$", words),))


def _checked(text: str, graph: Graph, form: JsonForm, *, trusted: bool) -> ValueAnswer:
    value = decode_text(text, graph, ENGINES, trusted=trusted, form=form)
    if isinstance(value, JsonFault):
        broken = (BrokenRule("decode", value.kind.value, value.path, value.reason),)
        verdict = Validity.UNDECIDED if value.kind is JsonFaultKind.NEEDS_PATTERNS else Validity.INVALID
        return ValueAnswer(verdict, broken)
    violations = violations_of(value, graph, ENGINES)
    told = tuple(
        BrokenRule("validate", v.kind.value, " › ".join(v.path) or "the value", violation_words(v.kind))
        for v in violations
    )
    again = encode(value, graph, ENGINES, form=form)
    if isinstance(again, Encoded):
        return ValueAnswer(validity_of(violations), told, again.json, has_canonical=True)
    return ValueAnswer(validity_of(violations), told)


def value_json(answer: ValueAnswer) -> dict[str, object]:
    """The answer as JSON."""
    broken = [{"stage": b.stage, "rule": b.rule, "path": b.path, "words": b.words} for b in answer.broken]
    found: dict[str, object] = {"verdict": answer.verdict.value, "broken": broken}
    if answer.has_canonical:
        found["canonical"] = answer.canonical
    return found
