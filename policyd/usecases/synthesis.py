"""The least grants that let these calls through and keep those out, as manifest text.

Source: questions 2; interface, `synth`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from policyd.core.application import GrantOrigin, PlacedGrant
from policyd.core.callsets import (
    Fails,
    Holds,
    Obstacle,
    Undecided,
    Universe,
    Withheld,
    admitted_by,
    calls_of,
    instances_of,
    never,
)
from policyd.core.cards import Bounds, Card, CardId, GrantRef, account_root_bounds, surface_of
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Grant, Level, Recipient, Slot, Target, agent_holder
from policyd.findings import Finding, InputError, Severity, visible
from policyd.findings.span import span_of_text
from policyd.solver.candidates import slotted
from policyd.solver.synth import NEW_CARD, NoSolution, Synthesis, SynthesisQuestion, synthesise
from policyd.syntax import Form, GrantSyntaxError, parse_grant, parse_target
from policyd.syntax.mistakes import shown
from policyd.usecases.holders import Holder, written_target
from policyd.usecases.never_asked import is_never_asked
from policyd.usecases.proofs import effort_for

THIS_AGENT = Recipient(Level.AGENT, (), Slot.AGENT)
ROOT = CardId("00000000-0000-0000-0000-000000000001")

START_UP_READS = ("GOLEM_AGENT_ID", "GOLEM_COMPONENT_ID")
"""Variables that the SDKs read before or while they dispatch a call, so that a card without them starts nothing."""

NEVER_ASKED = "GRANT010"
"""The code of a target that no operation can ask for."""

_ASKED_HELP = "write it as the platform asks for it, or leave the line out; `policyd rule GRANT010` tells the forms"

MAX_NAMED = 4
"""So many grants of a ceiling are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Synthesised:
    """What came of it.

    Attributes:
        yaml: manifest text of the whole new `lowerBound`, empty where there is no solution.
        added: the new positives as written, those for the start-up of the SDK among them.
        denied: the new negatives as written.
        extra: calls that they open besides, in the form that `check` takes, one of each kind.
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


def unnamed_instance(holder: Holder, texts: Sequence[str]) -> str:
    """The id of an agent of the type that neither these texts nor the card of the type name.

    What is written about it is about every agent of the type itself, so a target that names one must not be taken
    for one about the agent itself.
    """
    written = "\n".join((*texts, *(placed.text for _, _, placed in holder.card.each())))
    ids = (f'{holder.name}("a{number or ""}")' for number in count())
    return next(found for found in ids if found not in written)


def calls_in(text: str, source: str, context: AgentContext, rules: Rules) -> tuple[Target, ...]:
    """The targets in a text, one per line; empty lines and lines that begin with `#` are passed over.

    Raises:
        InputError: at the first line that is no target, with its place; `GRANT010` with all lines that name what no
            operation asks for, because no grant lets such a call through and nobody needs to be kept from it.
    """
    found: dict[Target, None] = {}
    never_asked = []
    start = 0
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                target = parse_target(line, rules, slots=True).filled(context)
            except GrantSyntaxError as refusal:
                span = span_of_text(source, text, start + refusal.start, start + refusal.end)
                raise InputError(refusal.at(span)) from None
            if target not in found and is_never_asked(target, rules, context.segments):
                written = line.strip()
                first = start + len(line) - len(line.lstrip())
                span = span_of_text(source, text, first, first + len(written))
                message = f"no operation asks for {shown(written)}"
                never_asked.append(Finding(NEVER_ASKED, Severity.ERROR, message, span, _ASKED_HELP))
            found[target] = None
        start += len(line) + 1
    if never_asked:
        raise InputError(*never_asked)
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
        keep: whether the present lower bound stays and is only added to. The upper bound of the card, and what
            `files` adds to it, stay in any case.
    """
    context = replace(holder.context, agent_id=instance)
    cards = deployer
    notes = list[str]()
    if cards is None:
        cards = (Card(ROOT, account_root_bounds(context.account)),)
        notes.append("an account root card is assumed for whoever deploys")
    kept = _kept(holder, context, keep=keep)
    # Of files, variables and configuration everybody's count: code of tools elsewhere may reach them, and what is
    # to be kept out is kept out of them as well.
    universe = Universe(rules, (*context.segments, instance))
    reads = _start_up(holder, context, allow, deny, rules, notes, keep=keep)
    question = SynthesisQuestion(
        (*allow, *reads),
        deny,
        agent_holder(context),
        context,
        kept=kept,
        deployer=cards,
        universe=universe,
        is_writable=_is_writable,
        steps=effort_for(timeout_ms / 1000),
    )
    outcome = synthesise(question, timeout_ms)
    if reads and isinstance(outcome, Synthesis):
        words = " and ".join(f"`{read.resource.text}`" for read in reads)
        notes.append(
            f"{words} stay admitted, because the SDK reads them at start-up; list them under --deny to drop them"
        )
    if isinstance(outcome, Synthesis) and outcome.more:
        notes.append(f"{outcome.more} more kinds of calls are opened")
    if isinstance(outcome, Synthesis):
        notes += _present_already(holder, context, allow, deny, universe, keep=keep)
    if isinstance(outcome, Undecided):
        return Synthesised("", (), (), (), undecided=outcome.reason, notes=tuple(notes))
    if isinstance(outcome, NoSolution):
        return Synthesised("", (), (), (), refusal=_refused(outcome, holder, context), notes=tuple(notes))
    if holder.is_one:
        notes.append(f"the card is that of every agent of type {shown(context.agent_type)}: only one was asked about")
    else:
        try:
            against, further = _for_others(outcome, context, allow, deny, universe)
        except _OpenError as open_:
            return Synthesised("", (), (), (), undecided=open_.reason, notes=tuple(notes))
        if against:
            return Synthesised("", (), (), (), refusal=against, notes=tuple(notes))
        notes += further
    return _written(outcome, holder, context, kept, reads, tuple(notes), keep=keep)


class _OpenError(Exception):
    """A proof about another instance did not end."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _for_others(
    outcome: Synthesis, context: AgentContext, allow: Sequence[Target], deny: Sequence[Target], universe: Universe
) -> tuple[str, tuple[str, ...]]:
    """Why the new card does not do for every instance of the type, and for which ones a wanted call is withheld.

    The search was about an unnamed instance. Instances that the question or the card names may do other things to
    themselves.

    Raises:
        _OpenError: if a proof does not end.
    """
    named = [t.owner.known[4] for t in (*allow, *deny) if len(t.owner.known) == 5 and not t.owner.is_type_wildcard]
    withheld = []
    for other in instances_of(context, [outcome.bounds], (name for name in named if name != context.agent_id)):
        surface = surface_of([_held_by(other, outcome.bounds)], agent_holder(other))
        wanted = [_asked_by(target, context, other) for target in allow]
        unwanted = [_asked_by(target, context, other) for target in deny]
        through = next((u for u in unwanted if surface.allows(u)), None)
        if through is None:
            proof = never(admitted_by(surface), calls_of(unwanted), universe)
            if isinstance(proof, Undecided):
                raise _OpenError(proof.reason)
            through = proof.witness if isinstance(proof, Fails) else None
        who = f"as {shown(other.agent_id or '')}"
        if through is not None:
            call = shown(written_target(through, other).rstrip())
            return f"no card for all instances does it: {who} it would let {call} through, which is unwanted", ()
        missing = next((w for w in wanted if not surface.allows(w)), None)
        if missing is not None:
            withheld.append(f"{who} the card does not let {shown(written_target(missing, other).rstrip())} through")
    return "", tuple(withheld)


def _held_by(agent: AgentContext, bounds: Bounds) -> Card:
    return Card(NEW_CARD, bounds.mapped(lambda grant: grant.addressed(agent).filled(agent)))


def _asked_by(target: Target, context: AgentContext, other: AgentContext) -> Target:
    """The same as another instance asks it: what the unnamed one asks about itself, that one asks about itself."""
    if target.owner.known != (*context.segments, context.agent_id):
        return target
    return replace(target, owner=replace(target.owner, known=(*other.segments, other.agent_id or "")))


def _present_already(
    holder: Holder,
    context: AgentContext,
    allow: Sequence[Target],
    deny: Sequence[Target],
    universe: Universe,
    *,
    keep: bool,
) -> Iterator[str]:
    """Whether the question asks for anything that the present card does not do."""
    present = holder.surface(context.agent_id)
    if not allow:
        yield "no call is wanted" + ("" if keep else ": the new lower bound lets none through that it need not")
    elif all(map(present.allows, allow)) and not any(map(present.allows, deny)):
        unwanted = never(admitted_by(present), calls_of(deny), universe)
        if isinstance(unwanted, Holds):
            also = " and none of the unwanted ones" if deny else ""
            yield f"the present card admits all wanted calls{also} already"


def _kept(holder: Holder, context: AgentContext, *, keep: bool) -> Bounds:
    """What the card has anyway: its upper bound, the grants for `files`, and with `keep` all of it."""
    bounds = holder.template.for_agent(context).bounds
    if keep:
        return bounds
    files = [p.grant.addressed(context).filled(context) for p in holder.card.lower_positive if _is_for_file(p)]
    return replace(bounds, lower_positive=tuple(files), lower_negative=())


def _is_for_file(placed: PlacedGrant) -> bool:
    return placed.origin is GrantOrigin.FILE


def _start_up(
    holder: Holder,
    context: AgentContext,
    allow: Sequence[Target],
    deny: Sequence[Target],
    rules: Rules,
    notes: list[str],
    *,
    keep: bool,
) -> tuple[Target, ...]:
    """The start-up reads of the SDK that a new lower bound must not lose: those that the present card admits.

    One that is to be kept out is left out, and said.
    """
    present = holder.surface(context.agent_id)
    found = []
    for name in START_UP_READS:
        read = parse_target(f"env(?agent) : read : {name}", rules, slots=True).filled(context)
        if any(unwanted.covers(read) for unwanted in deny):
            notes.append(f"`{name}`, which the SDK reads at start-up, is not admitted: it is to be kept out")
        elif not keep and read not in allow and present.allows(read):
            found.append(read)
    return tuple(found)


def _refused(outcome: NoSolution, holder: Holder, context: AgentContext) -> str:
    """Why there is no solution: the calls, and the grants that stand in the way with their places."""
    calls = ", ".join(f"`{written_target(call, context).rstrip()}`" for call in outcome.calls[:3])
    reasons = [outcome.reason + (f": {calls}" if calls else "")]
    reasons += [_in_the_way(obstacle, holder, context) for obstacle in outcome.obstacles]
    return "; ".join(reasons)


def _in_the_way(withheld: Withheld, holder: Holder, context: AgentContext) -> str:
    named = [_placed(ref, holder, context) for ref in withheld.grants[:MAX_NAMED]]
    if len(withheld.grants) > MAX_NAMED:
        named.append(f"and {len(withheld.grants) - MAX_NAMED} more")
    if withheld.obstacle is not Obstacle.CEILING:
        return f"denied by {', '.join(named)}"
    if not named:
        return "the ceiling lists nothing of its class"
    return f"of its class the ceiling lists only {', '.join(named)}"


def _placed(ref: GrantRef, holder: Holder, context: AgentContext) -> str:
    """A grant as written with its place, or as one of the deployer's cards."""
    for placed in holder.card.of(ref.bound):
        if placed.grant.addressed(context).filled(context) == ref.grant:
            return f"`{placed.text}`" + (f" ({placed.span.where})" if placed.span else "")
    return f"`{ref.grant.text.rstrip()}` (demanded by the deployer's cards)"


def _is_writable(target: Target) -> bool:
    """Whether an exact grant for the target can be written and read back."""
    grant = Grant(target, Recipient(Level.ANY))
    try:
        return parse_grant(grant.text, Form.POLYMORPHIC) == grant
    except GrantSyntaxError:
        return False


def _written(
    outcome: Synthesis,
    holder: Holder,
    context: AgentContext,
    kept: Bounds,
    reads: Sequence[Target],
    notes: tuple[str, ...],
    *,
    keep: bool,
) -> Synthesised:
    added = tuple(_text(grant) for grant in outcome.added)
    denied = tuple(_text(replace(grant, target=slotted(grant.target, context))) for grant in outcome.denied)
    mark = "added" if keep else ""
    card = holder.card
    positive = [*(_present(card.lower_positive) if keep else ())]
    for grant, text in zip(outcome.added, added, strict=True):
        target = grant.target.filled(context)
        is_read = any(target.covers(read) for read in reads)
        positive.append((text, "the SDK reads it at start-up" if is_read else mark))
    negative = [*(_present(card.lower_negative) if keep else ())]
    bounds = outcome.bounds
    restated = [g for g in bounds.lower_negative if g not in kept.lower_negative and g not in outcome.denied]
    negative += [(g.text.rstrip(), _DEMANDED) for g in restated]
    negative += [(text, mark) for text in denied]
    upper = [(g.text.rstrip(), _DEMANDED) for g in bounds.upper_positive if g not in kept.upper_positive]
    upper_negative = [(g.text.rstrip(), _DEMANDED) for g in bounds.upper_negative if g not in kept.upper_negative]
    lines = [
        "# the whole lower bound: keep the rest of the card",
        "initialCard:",
        "  lowerBound:",
        *(_list("positive", positive) if positive or negative else ["    positive: []"]),
        *_list("negative", negative),
    ]
    if upper or upper_negative:
        lines += ["  upperBound:", *_list("positive", upper), *_list("negative", upper_negative)]
    extra = tuple(written_target(target, context).rstrip() for target in outcome.extra)
    return Synthesised("\n".join(lines), added, denied, extra, notes=notes)


_DEMANDED = "demanded by the deployer's cards"


def _present(grants: Sequence[PlacedGrant]) -> list[tuple[str, str]]:
    """The texts of a list as written; what `files` adds is added again anyway."""
    texts = dict.fromkeys(placed.text for placed in grants if not _is_for_file(placed))
    return [(text, "") for text in texts]


def _list(name: str, grants: Sequence[tuple[str, str]]) -> Iterator[str]:
    if grants:
        yield f"    {name}:"
    for text, mark in grants:
        yield f'      - "{_quoted(text)}"' + (f"  # {mark}" if mark else "")


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
