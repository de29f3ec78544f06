"""policyd rules: all codes."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("rules")
@opt.output("text", "json")
def command(format: str, output: Path | None) -> int:
    """List every audit rule with its severity and confidence; `policyd rule CODE` prints its page."""
    from policyd.analysis.rules import RULES
    from policyd.cli.output import as_json, write

    rows = [
        {
            "code": rule.code,
            "slug": rule.slug,
            "severity": rule.severity.value,
            "confidence": rule.confidence.value,
        }
        for rule in RULES
    ]
    if format == "json":
        write(as_json({"rules": rows}), output)
    else:
        width = max(len(r["slug"]) for r in rows)
        write(
            "\n".join(f"{r['code']}  {r['slug'].ljust(width)}  {r['severity']}, {r['confidence']}" for r in rows),
            output,
        )
    return Exit.YES
