"""Declared sequences around one call: what each observer sees, what is still owned by whom, what may never end.

Source: sdk-facts 7, 8; middleware 2.2, 7.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from policyd.core.schema.reading import at, elements, fail, list_of, members, optional, surfaced, text, truth
from policyd.core.tools.boundaries import FORWARDING, Answering, Underlying, answered, through_layers
from policyd.core.tools.guest_exports import Ask, Capability, absent_answer
from policyd.core.tools.outcome import Action, Invocation, Output, Seen, Verb, act, left_over
from policyd.usecases.tool_documents import read_document

MAX_STEPS = 10_000
"""Steps of one sequence."""
MAX_LAYERS = 1_000
"""Layers through which one error comes back."""


@dataclass(frozen=True, slots=True)
class Told:
    """One step with what is seen."""

    step: str
    seen: str
    is_refused: bool


@dataclass(frozen=True, slots=True)
class OutcomeAnswer:
    """The whole sequence.

    Attributes:
        steps: in order.
        owned: what is still owned by whom.
        open_ends: what may never end.
    """

    steps: tuple[Told, ...]
    owned: tuple[str, ...]
    open_ends: tuple[str, ...]


def follow_sequence(path: Path) -> OutcomeAnswer:
    """Follow the sequence of a document.

    Raises:
        InputError: CHAIN051, with the place of the mistake.
    """
    document = read_document(path)
    return document.surfaced("CHAIN051", lambda: _followed(document.value))


def follow_sent(value: object) -> OutcomeAnswer:
    """Follow a sequence that was sent as JSON.

    Raises:
        InputError: CHAIN051, with the path of the mistake.
    """
    return surfaced("CHAIN051", "sequence", lambda: _followed(value))


def _followed(json: object) -> OutcomeAnswer:
    found = members(json)
    for key in found:
        if key not in ("policyd", "component", "call", "steps"):
            at(str(key), lambda: fail("known are policyd, component, call, steps"))
    has = optional(found, "component", _capabilities)
    call = optional(found, "call", _call) or Invocation()
    told: list[Told] = []
    steps = optional(found, "steps", lambda part: elements(part, lambda item: item)) or ()
    if len(steps) > MAX_STEPS:
        fail(f"more than {MAX_STEPS} steps")
    for index, step in enumerate(steps):
        call, seen, words = at("steps", lambda i=index, s=step, c=call: at(i, lambda: _step(s, c, has)))  # type: ignore[misc]
        told.append(Told(words, seen.words, seen.is_refused))
    if not any(isinstance(step, Mapping) and set(step) & _CALL_WORDS for step in steps) and not any(
        isinstance(step, str) for step in steps
    ):
        return OutcomeAnswer(tuple(told), (), ())
    return OutcomeAnswer(tuple(told), *left_over(call))


_CALL_WORDS = {verb.value for verb in Verb}


def _capabilities(json: object) -> dict[Capability, bool]:
    """Which capabilities a component implements; all are there unless told otherwise."""
    names = {item.value: item for item in Capability}
    found = dict.fromkeys(Capability, True)
    for key, value in members(json).items():
        capability = names.get(str(key))
        if capability is None:
            return at(str(key), lambda: fail("known are " + ", ".join(names)))
        found[capability] = at(str(key), lambda value=value: truth(value))  # type: ignore[misc]
    return found


def _call(json: object) -> Invocation:
    found = members(json)
    for key in found:
        if key not in ("errors", "outputs", "observers", "withheld"):
            at(str(key), lambda: fail("known are errors, outputs, observers, withheld"))
    outputs = optional(found, "outputs", list_of(text)) or ()
    for name in outputs:
        if name not in ("stdout", "stderr"):
            at("outputs", lambda: fail("an output is `stdout` or `stderr`"))
    errors, withheld = (frozenset(optional(found, name, list_of(text)) or ()) for name in ("errors", "withheld"))
    base = Invocation(errors, tuple(Output(n) for n in outputs), withheld=withheld)
    for name in optional(found, "observers", list_of(text)) or ():
        base = act(base, Action(Verb.OBSERVE, name))[0]
    return base


def _step(json: object, call: Invocation, has: dict[Capability, bool] | None) -> tuple[Invocation, Seen, str]:
    """One step: a word, `word: subject`, a question to a component, or an error that layers forward."""
    if isinstance(json, str):
        word, subject = json, ""
    else:
        found = members(json)
        if len(found) != 1:
            fail("a step is one word with its subject, like `get: caller`")
        word = str(next(iter(found)))
        if word == "forwarded":
            return call, *_forwarded(found[word])
        subject = at(word, lambda: _subject(found[word]))
    asked = _asked(word, subject, has)
    if asked is not None:
        return call, asked, f"{word}: {subject}"
    for verb in Verb:
        if verb.value == word:
            call, seen = act(call, Action(verb, subject))
            return call, seen, f"{word}: {subject}" if subject else word
    return fail(f"there is no step `{word[:60]}`; steps are " + ", ".join(verb.value for verb in Verb))


def _subject(json: object) -> str:
    if json is None:
        return ""
    if isinstance(json, list):
        return ",".join(text(part) for part in json)
    return text(json)


def _asked(word: str, subject: str, has: dict[Capability, bool] | None) -> Seen | None:
    """A question to a component, if the step is one."""
    asks = {ask.value: ask for ask in Ask}
    capabilities = {item.value: item for item in Capability}
    kind = subject.partition(" ")[0]
    if word not in asks or kind not in capabilities:
        return None
    answer = absent_answer(capabilities[kind], asks[word])
    if answer is None:
        return fail(f"`{word}` cannot be asked of {kind}")
    if has is not None and not has[capabilities[kind]]:
        return Seen(f"{answer.outcome}: {answer.words}", is_refused=answer.outcome != "empty list")
    return Seen(f"the component implements {kind}: the answer is its own")


def _forwarded(json: object) -> tuple[Seen, str]:
    """What a caller sees of an error below a number of layers that forward it."""
    found = members(json)
    names = {item.value: item for item in Underlying}
    word = found.get("error")
    if not isinstance(word, str) or word not in names:
        return at("error", lambda: fail("known are " + ", ".join(names)))
    layers = found.get("layers", 1)
    if isinstance(layers, list):
        return _answered(names[word], found)
    if not isinstance(layers, int) or isinstance(layers, bool) or not 0 <= layers <= MAX_LAYERS:
        return at("layers", lambda: fail("a number of layers is wanted"))
    error = names[word]
    seen = through_layers(error, layers)
    lost = FORWARDING[error].words if layers else "no layer is between"
    step = f"forwarded: {error.value} through {layers} layer{'' if layers == 1 else 's'}"
    return Seen(f"the caller sees `{seen.value}`: {lost}"), step


def _answered(error: Underlying, found: Mapping[str, object]) -> tuple[Seen, str]:
    """What a caller sees where each layer is described, the innermost first."""
    layers = optional(found, "layers", list_of(_layer)) or ()
    if len(layers) > MAX_LAYERS:
        at("layers", lambda: fail(f"more than {MAX_LAYERS} layers"))
    seen, name = answered(error, optional(found, "name", text) or "", layers)
    named = f" `{name}`" if name else ""
    words = f"the caller sees `{seen.value}`{named}"
    return Seen(words), f"forwarded: {error.value} through {len(layers)} layer{'' if len(layers) == 1 else 's'}"


def _layer(json: object) -> Answering:
    """How a layer answers: `forward`, or what it maps the error to; with the errors that it declares."""
    if json == "forward":
        return Answering()
    found = members(json)
    for key in found:
        if key not in ("maps", "errors"):
            at(str(key), lambda: fail("`forward` is wanted, or maps and errors"))
    errors = optional(found, "errors", list_of(text))
    return Answering(optional(found, "maps", text) or "", None if errors is None else frozenset(errors))


def answer_lines(answer: OutcomeAnswer) -> list[str]:
    """The answer as lines for a person."""
    lines = [f"{i}. {t.step}: {'refused, ' if t.is_refused else ''}{t.seen}" for i, t in enumerate(answer.steps, 1)]
    if answer.owned:
        lines += ["still owned:", *(f"  {text}" for text in answer.owned)]
    if answer.open_ends:
        lines += ["may never end:", *(f"  {text}" for text in answer.open_ends)]
    return lines or ["nothing happens"]


def answer_json(answer: OutcomeAnswer) -> dict[str, object]:
    """The answer as JSON."""
    return {
        "steps": [{"step": t.step, "seen": t.seen, "refused": t.is_refused} for t in answer.steps],
        "owned": list(answer.owned),
        "mayNeverEnd": list(answer.open_ends),
    }
