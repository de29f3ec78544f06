"""What is wrong with a chain, in sentences with the payload that shows it.

Source: middleware 3.12, 4.2; interface, Words.
"""

from __future__ import annotations

from policyd.analysis.labels import label_row
from policyd.core.schema.witness import NoWitness, Shown
from policyd.core.tools.chain import Chain, Edge, is_open
from policyd.core.tools.incompatibility import Incompatibility, IncompatibilityKind
from policyd.core.tools.profile import Profile
from policyd.core.tools.registry import fault_text
from policyd.core.tools.remarks import Remark
from policyd.core.tools.tool_witness import ToolWitness, tool_witness
from policyd.findings import Finding, Span
from policyd.usecases.tool_documents import ENGINES, TEXTS
from policyd.usecases.tool_words import (
    label_of,
    mismatch_place,
    mismatch_words,
    place_words,
    reason_words,
    shown_type,
    shown_value,
)

MAX_REASONS = 50
"""Reasons of one edge that are told one by one."""


def layer_name(edge: Edge) -> str:
    """A layer by its position from the outside and its name."""
    return f"layer {edge.layer} ({edge.name})"


def link_name(chain: Chain, edge: Edge) -> str:
    """A layer and what stands below it."""
    if edge.below is None:
        below = chain.leaf.name if chain.leaf is not None else edge.inner.name if edge.inner is not None else "the tool"
    else:
        below = f"layer {edge.below} ({chain.layers[edge.below - 1].name})"
    return f"{layer_name(edge)} → {below}"


def finding(label: str, message: str, span: Span | None, *, help: str = "", witness: str = "") -> Finding:
    """A finding under the code of a label."""
    row = label_row(label)
    return Finding(row.code, row.severity, message, span, help, witness=witness)


def edge_findings(chain: Chain, edge: Edge, span: Span | None, profile: Profile) -> list[Finding]:
    """Everything to tell about one layer, refusals first."""
    link = link_name(chain, edge)
    head = f"{link}: reject ({chain.mode.value})"
    found: list[Finding] = []
    errors = () if edge.found is None else edge.found.errors
    for reason in errors[:MAX_REASONS]:
        if is_open(reason):
            found.append(finding("ENGINE_MISSING", f"{link}: {reason_words(reason)}", span))
        else:
            found.append(_refusal(edge, reason, head, span, profile))
    if len(errors) > MAX_REASONS:
        more = f"{head}: {len(errors) - MAX_REASONS} further reasons"
        found.append(finding(label_of(errors[MAX_REASONS]), more, span))
    for conflict in edge.conflicts:
        where = "two commands below declare it" if conflict.path is None else f"at {place_words(conflict.path, '')}"
        words = f"{head}: the error `{conflict.error}` would be passed on in two forms ({where})"
        found.append(finding("INHERITED_ERROR_CONFLICT", words, span))
    for fault in edge.synthesized:
        words = f"{head}: with the errors passed on, what it presents is not valid: {fault_text(fault)}"
        found.append(finding("INVALID_SYNTHESIZED_TOOL", words, span))
    found.extend(remark_finding(remark, link, span) for remark in edge.remarks)
    for name, is_reachable in edge.inherited:
        if not is_reachable:
            words = f"{link}: the error `{name}` is passed on although no call through this layer can end in it"
            found.append(finding("INHERITED_UNREACHABLE", words, span))
    return found


def remark_finding(remark: Remark, head: str, span: Span | None) -> Finding:
    """A remark at its place."""
    place = place_words(remark.path, remark.place)
    return finding(remark.label, f"{head}: {remark.words}" + (f" (at {place})" if place else ""), span)


def _refusal(edge: Edge, reason: Incompatibility, head: str, span: Span | None, profile: Profile) -> Finding:
    assert edge.expected is not None  # there is no comparison without it
    assert edge.inner is not None
    shown = tool_witness(edge.expected, edge.inner, reason, TEXTS, wraps_optional=profile.optional_wrapping)
    return refusal_finding(reason, shown, edge.name, edge.inner.name, head, span)


def refusal_finding(
    reason: Incompatibility, shown: ToolWitness | None, above: str, below: str, head: str, span: Span | None
) -> Finding:
    """One reason with the payload that shows it.

    Args:
        reason: why a pair is refused.
        shown: the payload, None where none is involved.
        above: the name of the side that expects.
        below: the name of the side that is there.
        head: what stands before the sentence.
        span: where the layer is installed.
    """
    sentence = _sentence(reason, shown, above, below)
    help = _both_sides(reason, above, below)
    payload = ""
    if shown is not None:
        match shown.witness:
            case Shown(value):
                payload = shown_value(value, shown.graph, ENGINES)
            case NoWitness() as why:
                sentence += f"; no value shows it: {why.value}"
    return finding(label_of(reason), f"{head}: {sentence}", span, help=help, witness=payload)


def _sentence(reason: Incompatibility, shown: ToolWitness | None, above: str, below: str) -> str:
    command = " ".join(reason.path) or "the root command"
    subject = reason.subject
    payload = ""
    if shown is not None and isinstance(shown.witness, Shown):
        payload = shown_value(shown.witness.value, shown.graph, ENGINES, 160)
    where = place_words(reason.path, reason.place)
    if reason.mismatch is not None:
        prefix = reason.place.removesuffix(reason.mismatch.path)
        at = place_words(reason.path, prefix + mismatch_place(reason.mismatch))
        where = f"{mismatch_words(reason.mismatch)} at {at}"
    elif where:
        where = f"at {where}"
    match reason.kind:
        case IncompatibilityKind.INPUT_NOT_SUBSTITUTABLE:
            can = f"can be {payload}" if payload else "is of a type"
            return f"the input `{subject}` of {command} {can}, which {below} does not take ({where})"
        case IncompatibilityKind.RESULT_NOT_SUBSTITUTABLE:
            can = f"can be {payload}" if payload else "is of a type"
            return f"the result of {command} {can}, which {above} does not expect ({where})"
        case IncompatibilityKind.ERROR_PAYLOAD_NOT_SUBSTITUTABLE:
            can = f"can carry {payload}" if payload else "carries a type"
            return f"the error `{subject}` of {command} {can}, which {above} does not expect ({where})"
        case IncompatibilityKind.INNER_ONLY_ERROR:
            carrying = f" with {payload}" if payload else ""
            return f"{command} can end in the error `{subject}`{carrying}, which {above} does not declare ({where})"
        case IncompatibilityKind.INNER_INPUT_WITHOUT_DEFAULT:
            call = f", as in the call {payload}" if payload else ""
            return f"{command} needs the input `{subject}`, which {above} never gives{call} ({where})"
        case IncompatibilityKind.COMMAND_MISSING:
            return f"{above} can call {command}, which {below} does not have"
        case IncompatibilityKind.CONSTRAINT_NOT_GUARANTEED:
            call = f"the call {payload} keeps" if payload else "a call may keep"
            return f"{call} what {above} promises and breaks a constraint of {command}"
        case _:
            return reason_words(reason) + (f" ({where})" if reason.path or reason.place else "")


def _both_sides(reason: Incompatibility, above: str, below: str) -> str:
    """The two types at the place, side by side."""
    mismatch = reason.mismatch
    if mismatch is None or (mismatch.source is None and mismatch.target is None):
        return ""
    source = "nothing" if mismatch.source is None else f"`{shown_type(mismatch.source)}`"
    target = "nothing" if mismatch.target is None else f"`{shown_type(mismatch.target)}`"
    if reason.kind is IncompatibilityKind.INPUT_NOT_SUBSTITUTABLE:
        return f"{above} gives {source}, {below} takes {target}"
    return f"{below} gives {source}, {above} expects {target}"
