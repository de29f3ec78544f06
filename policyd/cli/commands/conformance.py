"""policyd conformance: check this build against recorded answers."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible_lines


@click.command("conformance")
@click.argument("sources", nargs=-1, required=True)
@opt.output("text", "json")
def command(sources: tuple[str, ...], format: str, output: Path | None) -> int:
    """Ask every recorded question and compare, per operation.

    Exit 0: all agree; 1: some differ; 3: some operations are not known to this build.
    """
    from policyd.cli.output import as_json, write
    from policyd.conformance import check_sources
    from policyd.report import finding_json, finding_text, no_lines

    outcome = check_sources(sources)
    if format == "json":
        write(
            as_json(
                {
                    "operations": {
                        op: {
                            "agree": c.agree,
                            "disagree": c.disagree,
                            "undecided": c.undecided,
                            "panics": c.panics,
                            "notChecked": c.unchecked,
                            "first": [{"source": d.source, "line": d.line, "places": list(d.places)} for d in c.first],
                        }
                        for op, c in outcome.counts.items()
                    },
                    "problems": [finding_json(f) for f in outcome.problems],
                }
            ),
            output,
        )
    else:
        out = []
        for op, c in outcome.counts.items():
            words = [f"{c.agree} agree", f"{c.disagree} disagree"]
            words += [f"{n} {w}" for n, w in ((c.undecided, "undecided"), (c.panics, "skipped as panics")) if n]
            out.append(f"{op}: not checked ({c.unchecked} lines)" if c.unchecked else f"{op}: {', '.join(words)}")
            for d in c.first:
                out.append(f"  {d.source}:{d.line}: differs at {', '.join(d.places)}")
                out.append(f"    recorded {_short(d.recorded)}")
                out.append(f"    given    {_short(d.given)}")
        for f in outcome.problems:
            out += finding_text(f, no_lines).split("\n")
        total = sum(c.agree for c in outcome.counts.values())
        out.append(f"in all: {total} agree, {outcome.disagreements} disagree, {outcome.unchecked} not checked")
        write(visible_lines(out), output)
    if outcome.problems:
        return Exit.NOT_ASKED
    if outcome.disagreements:
        return Exit.NO
    undecided = outcome.unchecked or any(c.undecided for c in outcome.counts.values())
    return Exit.UNDECIDED if undecided else Exit.YES


def _short(value: object) -> str:
    import json

    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 300 else f"{text[:300]}…"
