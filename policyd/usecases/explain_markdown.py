"""An explanation as Markdown, for a comment on a change or in a ticket.

Source: interface, Flags (`--format`).
"""

from __future__ import annotations

from policyd.explain.causes import Standing
from policyd.findings import visible
from policyd.usecases.explain_values import Explained, Explanation, listing


def explanation_markdown(explanation: Explanation) -> str:
    """The explanation: the sentence, the nearest grants, the proved causes, the fixes with their patches."""
    if not explanation.items:
        return f"**{visible(explanation.unrecognised)}**\n"
    blocks = [block for item in explanation.items for block in _item(item)]
    blocks += [f"- note: {visible(note)}" for note in explanation.notes]
    return "\n\n".join([*blocks, f"edition: {explanation.rules.label}"]) + "\n"


def _item(item: Explained) -> list[str]:
    out = [f"**{visible(item.sentence)}**"]
    if item.verdict is not None:
        out.append(item.verdict.line)
    out += _readings(item)
    near = [f"- {_code(n.grant)}: {visible(n.text)}" for t in item.targets for n in t.near]
    if near:
        out.append("\n".join(["Nearest grants:", "", *near]))
    proved = [c for c in item.causes if c.standing is Standing.PROVED]
    if proved:
        rows = [f"- {c.id}: {c.title}" + (f": {visible(c.detail)}" if c.detail else "") for c in proved]
        out.append("\n".join(["Causes:", "", *rows]))
    fixes = item.fixes
    if fixes.keep_denied:
        out.append(fixes.keep_denied)
    for number, fix in enumerate(fixes.fixes, 1):
        opened = [_code(w.call.rstrip()) for w in fix.opened.witnesses]
        more = f" and {fix.opened.more} more kinds" if fix.opened.more else ""
        said = f"also opens {', '.join(opened)}{more}" if opened else "opens nothing else"
        out.append(f"Fix {number} ({', '.join(dict.fromkeys(k.value for k in fix.kinds))}): {said}.")
        out += [f"Not effective: {visible(text)}." for text in fix.ineffective]
        out += [f"Remark: {visible(text)}." for text in fix.remarks]
        if fix.patch is not None:
            out.append(f"```diff\n{fix.patch.diff.rstrip()}\n```")
        else:
            out.append("```\n" + "\n".join([*(f"- {g}" for g in fix.gone), *(f"+ {a}" for a in fix.lines)]) + "\n```")
    if fixes.instead and not fixes.fixes:
        out.append("\n".join(["Not fixable in the manifest:", "", *(f"- {visible(t)}" for t in fixes.instead)]))
    if fixes.ask:
        out.append(f"To get a change: {fixes.ask}")
    if fixes.undecided:
        out.append(f"undecided: {fixes.undecided}")
    return out


def _readings(item: Explained) -> list[str]:
    """The readings, where there are several."""
    if len(item.operations) < 2:
        return []
    rows = []
    for reading in (listed := listing(item.operations)).single:
        missing = f", {visible(reading.missing)}" if reading.missing else ""
        rows.append(f"- `{reading.operation}`: admitted: {reading.admitted.value}{missing}")
        if reading.detail is not None:
            rows.append(f"  {visible(reading.detail.sentence)}")
            rows += [f"  Fix: {_code(line)}" for fix in reading.detail.fixes.fixes[:1] for line in fix.lines]
    rows += [f"- {word}: {', '.join(f'`{name}`' for name in names)}" for word, names in listed.groups]
    return ["\n".join(["Operations that it may have been:", "", *rows])]


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{visible(text)}{fence}"
