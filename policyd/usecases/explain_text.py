"""An explanation as a person reads it: first one sentence, then what it rests on, then what would change it.

Source: questions 1, 2; host 6.4; interface, Words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.explain.causes import Cause, Standing
from policyd.explain.near_misses import NearMiss
from policyd.findings import visible_lines
from policyd.report import Lines, snippet
from policyd.syntax.denials.reading import KINDS
from policyd.usecases.answer_sections import sections
from policyd.usecases.changes import ShownWitness
from policyd.usecases.explain_fixes import Fix, Fixes
from policyd.usecases.explain_values import Explained, ExplainedTarget, Explanation, OperationReading, listing

MAX_OPENED = 10
"""So many kinds of calls that a fix opens are listed."""

MAX_OPEN_CAUSES = 6
"""So many causes that nothing settles are listed."""


def explanation_text(explanation: Explanation, lines: Lines) -> str:
    """The explanation for a terminal."""
    if not explanation.items:
        out = [explanation.unrecognised]
        out += [f"note: {note}" for note in explanation.notes]
        return visible_lines([*out, f"edition: {explanation.rules.label}"])
    blocks = []
    for number, item in enumerate(explanation.items, 1):
        head = [] if len(explanation.items) == 1 else [f"denial {number} of {len(explanation.items)}{_where(item)}"]
        blocks.append("\n".join([*head, *_item(item, lines)]))
    tail = [*(f"note: {note}" for note in explanation.notes), f"edition: {explanation.rules.label}"]
    return "\n\n".join([*blocks, visible_lines(tail)])


def _where(item: Explained) -> str:
    return f" (line {item.denial.line})" if item.denial is not None else ""


def _item(item: Explained, lines: Lines) -> list[str]:
    out = [item.sentence]
    if item.verdict is not None:
        out.append(item.verdict.line)
    out += _operations(item)
    for target in item.targets:
        out += ["", *_target(target, lines, is_only=len(item.targets) == 1)]
    if item.targets and item.verdict is not None:
        out += _other_facets(item)
    out += ["", *_causes(item.causes)]
    out += ["", *_fixes(item.fixes)]
    out += [f"note: {note}" for note in item.notes]
    # diffs have to stay as they are, line by line
    return [visible_lines(line.split("\n")) for line in out]


def _operations(item: Explained) -> Iterator[str]:
    denial = item.denial
    if denial is not None:
        yield f"recognised: {KINDS.get(denial.kind, denial.kind)} ({denial.shape})" + (
            f", {denial.count} times" if denial.count > 1 else ""
        )
        if denial.remark:
            yield f"  {denial.remark}"
    if not item.operations:
        return
    if len(item.operations) == 1 and item.operations[0].why == "it was named":
        yield f"operation: {item.operations[0].operation}"
        return
    yield "operations that it may have been:"
    listed = listing(item.operations)
    for reading in listed.single:
        yield from _reading(reading)
    for word, names in listed.groups:
        yield f"  {word}: {', '.join(names)}"


def _reading(reading: OperationReading) -> Iterator[str]:
    admitted = f"admitted: {reading.admitted.value}" + (f", {reading.missing}" if reading.missing else "")
    yield f"  {reading.operation}: {reading.how_sure}, {reading.why}; {admitted}"
    if reading.detail is None:
        return
    yield f"    {reading.detail.sentence}"
    for fix in reading.detail.fixes.fixes[:1]:
        yield from (f"    {line}" for line in _fix(replace(fix, patch=None)))
    fixes = reading.detail.fixes
    for text in (fixes.keep_denied, *(() if fixes.fixes else fixes.instead), fixes.ask):
        if text:
            yield f"    {text}"


def _target(told: ExplainedTarget, lines: Lines, *, is_only: bool) -> Iterator[str]:
    state = told.answer.verdict.admitted.value
    yield f"target: {told.text}" + ("" if is_only else f" (admitted: {state})")
    for section in sections(told.answer):
        if section.facet:
            continue
        yield f"  {section.title}:"
        for reason in section.reasons:
            yield f"    {reason.text} [{reason.code}]"
            for place in reason.places:
                if place.span is None:
                    yield f"      --> {place.origin}: {place.text}"
                    continue
                yield f"      --> {place.span.where}  {place.origin}"
                yield from (f"      {line}" for line in snippet(place.span, lines))
        if section.remark:
            yield f"    {section.remark}"
    if told.near:
        yield "  nearest grants:"
        for near in told.near:
            yield from _near(near, lines)
    if told.near_ceilings:
        yield "  nearest grants of the ceiling:"
        for near in told.near_ceilings:
            yield from _near(near, lines)


def _near(near: NearMiss, lines: Lines) -> Iterator[str]:
    yield f"    {near.grant}: {near.text}"
    if near.span is not None:
        yield f"      --> {near.span.where}"
        yield from (f"      {line}" for line in snippet(near.span, lines))


def _other_facets(item: Explained) -> Iterator[str]:
    verdict = item.verdict
    told = next((t for t in item.targets if not t.is_admitted), item.targets[0])
    assert verdict is not None  # asked for with a verdict only
    for section in sections(told.answer):
        if section.title not in ("bounded", "replay-stable"):
            continue
        if section.title == "replay-stable":
            # the operation decides here where it is known, not its target alone
            for reason in verdict.reasons:
                if reason.facet.value == "replay-stable":
                    yield f"replay-stable: {verdict.replay_stable.value}: {told.answer.sentence(reason)}"
            continue
        yield f"{section.title}: {section.facet}" + "".join(f": {reason.text}" for reason in section.reasons[:1])


def _causes(found: tuple[Cause, ...]) -> Iterator[str]:
    yield "causes, the likeliest first:"
    proved = [cause for cause in found if cause.standing is Standing.PROVED]
    for cause in proved:
        yield f"  {cause.id}: {cause.title}" + (f": {cause.detail}" if cause.detail else "")
    still_open = [cause for cause in found if cause.standing is Standing.OPEN]
    for cause in still_open[:MAX_OPEN_CAUSES]:
        name = f"{cause.id}: " if cause.id else ""
        settled = f"; settled by {', '.join(cause.evidence)}" if cause.evidence else ""
        yield f"  {name}{cause.title}: open" + (f", {cause.detail}" if cause.detail else "") + settled
    if len(still_open) > MAX_OPEN_CAUSES:
        rest = ", ".join(c.id or c.title for c in still_open[MAX_OPEN_CAUSES:])
        yield f"  open as well: {rest}"
    gone = [cause.id for cause in found if cause.standing is Standing.EXCLUDED]
    if gone:
        yield f"  excluded: {', '.join(gone)}"


def _fixes(fixes: Fixes) -> Iterator[str]:
    if fixes.keep_denied:
        yield fixes.keep_denied
    for number, fix in enumerate(fixes.fixes, 1):
        yield f"fix {number}: {', and '.join(dict.fromkeys(kind.value for kind in fix.kinds))}"
        yield from _fix(fix)
    if fixes.instead and not fixes.fixes:
        yield "not fixable in the manifest:"
        yield from (f"  {text}" for text in fixes.instead)
    if fixes.undecided:
        yield f"undecided: {fixes.undecided}"
    if fixes.ask:
        yield f"to get a change: {fixes.ask}"
    if not (fixes.keep_denied or fixes.fixes or fixes.instead or fixes.undecided or fixes.ask):
        yield "nothing to fix in the cards"


def _fix(fix: Fix) -> Iterator[str]:
    for line in fix.gone:
        yield f"  - {line}"
    for line in fix.lines:
        yield f"  + {line}"
    yield from (f"  {line}" for line in _opened(fix))
    for text in fix.ineffective:
        yield f"  not effective: {text}"
    for text in fix.remarks:
        yield f"  remark: {text}"
    if fix.patch is not None:
        yield "  patch:"
        yield from (f"    {line}" for line in fix.patch.diff.splitlines())


def _opened(fix: Fix) -> Iterator[str]:
    opened = fix.opened
    if opened.undecided:
        yield f"what else it opens is undecided: {opened.undecided[0]}"
    if not opened.witnesses and not opened.more and not opened.undecided:
        yield "opens nothing else"
    for witness in opened.witnesses[:MAX_OPENED]:
        yield f"also opens: {_call(witness)}"
    rest = len(opened.witnesses) - MAX_OPENED + opened.more
    if rest > 0:
        yield f"also opens {rest} further kinds of calls"
    for witness in opened.stopped[:MAX_OPENED]:
        yield f"ends: {_call(witness)}"
    if opened.others:
        yield f"also changes the cards of {', '.join(opened.others[:5])}"


def _call(witness: ShownWitness) -> str:
    return witness.call.rstrip()
