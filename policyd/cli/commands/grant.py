"""policyd grant: read a grant and say what it means."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("grant")
@click.argument("text")
@opt.rules
@opt.output("text", "json")
def command(text: str, edition: str, switch: tuple[str, ...], format: str, output: Path | None) -> int:
    """Read a grant: canonical text, what each part means, what it covers and what it does not.

    The manifest form is read: slots may stand in owner and recipient.
    """
    from policyd.cli.output import as_json, write
    from policyd.explain.meaning import meaning
    from policyd.findings import visible_lines
    from policyd.syntax import Form, parse_grants

    grants = parse_grants(text, Form.MANIFEST, opt.rules_of(edition, switch))
    explained = [(grant, meaning(grant)) for grant in grants]
    if format == "json":
        rows = [
            {
                "canonical": g.text,
                "class": g.target.cls.name,
                "owner": {"text": g.target.owner.text, "means": m.owner},
                "recipient": {"text": g.recipient.text, "means": m.recipient},
                "verb": {"text": g.target.verb, "means": m.verb},
                "resource": {"text": g.target.resource.text, "means": m.resource},
                "covers": list(m.covers),
                "doesNotCover": list(m.misses),
                "remarks": list(m.remarks),
            }
            for g, m in explained
        ]
        write(as_json({"grants": rows}), output)
        return Exit.YES
    blocks = []
    if len(grants) > 1:
        blocks.append(f"the old alias `debug` stands for {len(grants)} grants:")
    for grant, said in explained:
        target = grant.target
        rows_text = [
            grant.text,
            f"  class      {target.cls.name}",
            f"  owner      {target.owner.text or '(none)'}: {said.owner}",
            f"  recipient  {grant.recipient.text}: {said.recipient}",
            f"  verb       {target.verb}: {said.verb}",
            f"  resource   {target.resource.text or '(empty)'}: {said.resource}",
        ]
        if said.covers:
            rows_text.append(f"  covers          {' · '.join(said.covers)}")
        if said.misses:
            rows_text.append(f"  does not cover  {' · '.join(said.misses)}")
        rows_text += [f"  remark: {remark}" for remark in said.remarks]
        blocks.append(visible_lines(rows_text))
    write("\n\n".join(blocks), output)
    return Exit.YES
