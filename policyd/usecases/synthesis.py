"""The least grants that let these calls through and keep those out, as manifest text.

Source: questions 2; interface, `synth`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.core.callsets import Undecided, Universe
from policyd.core.cards import Bounds, Card, CardId, account_root_bounds
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Grant, Level, Recipient, Slot, Target, agent_holder
from policyd.findings import InputError, visible
from policyd.findings.span import span_of_text
from policyd.solver.synth import NoSolution, Synthesis, SynthesisQuestion, synthesise
from policyd.syntax import Form, GrantSyntaxError, parse_grant, parse_target
from policyd.usecases.holders import Holder, written_target

THIS_AGENT = Recipient(Level.AGENT, (), Slot.AGENT)
ROOT = CardId("00000000-0000-0000-0000-000000000001")


@dataclass(frozen=True, slots=True)
class Synthesised:
    """What came of it.

    Attributes:
        yaml: manifest text of the new `lowerBound`, empty where there is no solution.
        added: the new positives as written.
        denied: the new negatives as written.
        extra: calls that they open besides, in the form that `check` takes.
        refusal: why there is none, empty if there is.
        undecided: on what the search ended early, empty if it did not.
        notes: what was assumed.
    """

    yaml: str
    added: tuple[str, ...]
    denied: tuple[str, ...]
    extra: tuple[str, ...]
    refusal: str = ""
    undecided: str = ""
    notes: tuple[str, ...] = ()


def calls_in(text: str, source: str, context: AgentContext, rules: Rules) -> tuple[Target, ...]:
    """The targets in a text, one per line; empty lines and lines that begin with `#` are passed over.

    Raises:
        InputError: at the first line that is no target, with its place.
    """
    found = []
    start = 0
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found.append(parse_target(line, rules, slots=True).filled(context))
            except GrantSyntaxError as refusal:
                span = span_of_text(source, text, start + refusal.start, start + refusal.end)
                raise InputError(refusal.at(span)) from None
        start += len(line) + 1
    return tuple(found)


def synthesis(
    holder: Holder,
    instance: str,
    allow: tuple[Target, ...],
    deny: tuple[Target, ...],
    deployer: tuple[Card, ...] | None,
    rules: Rules,
    timeout_ms: int,
    *,
    keep: bool,
) -> Synthesised:
    """The least card for an agent type.

    Args:
        holder: the agent type.
        instance: the id of the instance that the calls are of.
        allow: calls that must be admitted.
        deny: calls of which none may be.
        deployer: cards of whoever deploys; None for an assumed account root card.
        rules: the edition.
        timeout_ms: the solver's effort.
        keep: whether the present card stays and is only added to; its ceiling holds then.
    """
    context = replace(holder.context, agent_id=instance)
    cards = deployer
    notes = list[str]()
    if cards is None:
        cards = (Card(ROOT, account_root_bounds(context.account)),)
        notes.append("an account root card is assumed for whoever deploys")
    kept = holder.template.for_agent(context).bounds if keep else Bounds()
    question = SynthesisQuestion(
        allow,
        deny,
        agent_holder(context),
        context,
        kept=kept,
        deployer=cards,
        universe=Universe.of(agent_holder(context), rules, instance),
        is_writable=_is_writable,
    )
    outcome = synthesise(question, timeout_ms)
    if isinstance(outcome, Undecided):
        return Synthesised("", (), (), (), undecided=outcome.reason, notes=tuple(notes))
    if isinstance(outcome, NoSolution):
        calls = ", ".join(f"`{written_target(call, context).rstrip()}`" for call in outcome.calls[:3])
        return Synthesised(
            "", (), (), (), refusal=f"{outcome.reason}{f': {calls}' if calls else ''}", notes=tuple(notes)
        )
    return _written(outcome, context, tuple(notes))


def _is_writable(target: Target) -> bool:
    """Whether an exact grant for the target can be written and read back."""
    grant = Grant(target, Recipient(Level.ANY))
    try:
        return parse_grant(grant.text, Form.POLYMORPHIC) == grant
    except GrantSyntaxError:
        return False


def _written(outcome: Synthesis, context: AgentContext, notes: tuple[str, ...]) -> Synthesised:
    added = tuple(_text(grant) for grant in outcome.added)
    denied = tuple(_text(grant) for grant in outcome.denied)
    lines = [
        "# the lower bound only: keep the rest of the card",
        "initialCard:",
        "  lowerBound:",
        "    positive:",
        *(f'      - "{_quoted(t)}"' for t in added),
    ]
    if denied:
        lines += ["    negative:", *(f'      - "{_quoted(t)}"' for t in denied)]
    extra = tuple(written_target(target, context).rstrip() for target in outcome.extra)
    return Synthesised("\n".join(lines), added, denied, extra, notes=notes)


def _text(grant: Grant) -> str:
    return Grant(grant.target, THIS_AGENT).text.rstrip()


def _quoted(text: str) -> str:
    return visible(text.replace("\\", "\\\\").replace('"', '\\"'))  # escapes of a YAML text as well


def synthesis_json(made: Synthesised, rules: Rules) -> dict[str, object]:
    """What came of it, as JSON."""
    return {
        "positive": list(made.added),
        "negative": list(made.denied),
        "alsoOpens": list(made.extra),
        "refusal": made.refusal or None,
        "undecided": made.undecided or None,
        "notes": list(made.notes),
        "edition": rules.edition.value,
        "switches": dict(rules.overrides),
    }
