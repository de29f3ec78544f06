"""Answers about operations as text and JSON.

Source: questions 1; interface, `check --op`.
"""

from __future__ import annotations

from collections.abc import Iterator

from policyd.core.admission import Facet
from policyd.core.admission.self_view import Ceiling
from policyd.explain.prose import headline
from policyd.syntax.denials.redaction import redacted_argument
from policyd.usecases.answer import Answer, answer_json
from policyd.usecases.operation_answer import OperationAnswer, SelfMetadata

_WORDS = {Facet.YES: "admitted", Facet.NO: "not admitted", Facet.UNKNOWN: "unknown"}


def target_lines(answer: OperationAnswer) -> Iterator[str]:
    """What the operation asks for, each target with the outcome and the reason."""
    if answer.refusal:
        yield f"no target can be told: {answer.refusal}"
        return
    if not answer.targets:
        yield "it asks for nothing"
        return
    for each in answer.targets:
        yield target_line(each)


def target_line(each: Answer) -> str:
    """One target with its outcome and the deciding reason."""
    sentence = headline(each.verdict, "", "", each.naming).partition(": ")[2]
    return f"{each.target.rstrip()}  {_WORDS[each.verdict.admitted]}{f': {sentence}' if sentence else ''}"


def self_lines(found: SelfMetadata, answer: Answer) -> Iterator[str]:
    """Both conditions of self-metadata, what the result shows, and what else shows it."""
    view = found.view
    lent = f"lent by {answer.card_name(view.lent_by.card)}" if view.lent_by is not None else "no card lends it"
    yield f"first condition, the effective card: {'yes' if view.is_granted else 'no'}, {lent}"
    yield f"second condition, every ceiling: {'yes' if view.is_let_through else 'no'}"
    for ceiling in view.ceilings:
        yield f"  {_ceiling(ceiling, answer)}"
    shown = ", ".join(found.exposes) or "none that the input names"
    yield f"it would show every stored variable and configuration value, unfiltered: {shown}"
    yield f"the same is shown by {', '.join(found.same)}"


def _ceiling(ceiling: Ceiling, answer: Answer) -> str:
    name = "the scope card" if ceiling.is_scope else answer.card_name(ceiling.card)
    if ceiling.denied_by is not None:
        return f"{name}: denied by `{ceiling.denied_by.grant.text}`"
    if ceiling.is_open:
        return f"{name}: no ceiling"
    if ceiling.passes_by is not None:
        return f"{name}: lets it through by `{ceiling.passes_by.grant.text}`"
    return f"{name}: withholds it, no upper positive covers it"


def operation_answer_json(answer: OperationAnswer) -> dict[str, object]:
    """The answer on the wire: that of the whole, and that of each target."""
    found = answer.self_metadata
    return {
        **answer_json(answer.answer),
        "operation": answer.question.operation.id,
        "arguments": {name: _told(name, value) for name, value in answer.question.arguments.items()},
        "sdk": answer.question.sdk.text,
        "targets": [answer_json(each) for each in answer.targets],
        "refusal": answer.refusal or None,
        "denial": answer.denial or None,
        "byGeneration": dict(answer.alternatives),
        "selfMetadata": None
        if found is None
        else {
            "granted": found.view.is_granted,
            "letThrough": found.view.is_let_through,
            "ceilings": [
                {"card": c.card, "initial": c.is_initial, "scope": c.is_scope, "letsThrough": c.lets_through}
                for c in found.view.ceilings
            ],
            "exposes": list(found.exposes),
            "same": list(found.same),
        },
    }


def _told(name: str, value: object) -> object:
    """An argument without credentials: what is asked may stand in the log of a CI job."""
    if isinstance(value, (list, tuple)):
        return [_told(name, each) for each in value]
    return redacted_argument(name, value) if isinstance(value, str) else value
