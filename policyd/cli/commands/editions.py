"""policyd editions: the editions of the platform's rules and the switches in which they differ."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt


@click.command("editions")
@opt.output("text", "json")
def command(format: str, output: Path | None) -> int:
    """List every rule in which the editions differ; `next` is the default."""
    from policyd.cli.output import as_json, write
    from policyd.core.edition import SWITCHES

    if format == "json":
        rows = [
            {"switch": r.name, "snapshot": r.snapshot, "next": r.next, "meaning": r.meaning, "source": r.source}
            for r in SWITCHES
        ]
        write(as_json({"default": "next", "switches": rows}), output)
        return 0
    width = max(len(r.name) for r in SWITCHES)
    head = f"{'switch'.ljust(width)}  {'snapshot'.ljust(13)} {'next'.ljust(17)} what it changes"
    rows_text = [
        f"{r.name.ljust(width)}  {r.snapshot.ljust(13)} {r.next.ljust(17)} {r.meaning} ({r.source})" for r in SWITCHES
    ]
    write("\n".join(["The default edition is `next`.", "", head, *rows_text]), output)
    return 0
