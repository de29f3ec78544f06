"""policyd prove: does it hold for all calls."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.commands.diff import holders_at
from policyd.cli.exits import Exit
from policyd.usecases.deployments import Selection


@click.command("prove")
@click.argument("sources", nargs=-1, required=True)
@click.option("--agent", default="", help="One agent type; default: all.")
@opt.place
@click.option("--never", help="A query whose calls must never be admitted.")
@click.option("--always", "always_", help="A query whose calls must all be admitted.")
@click.option("--implies", "relation", flag_value="implies", help="Everything A admits, B admits.")
@click.option("--equivalent", "relation", flag_value="equivalent", help="A and B admit the same.")
@click.option("--disjoint", "relation", flag_value="disjoint", help="Nothing is admitted by both A and B.")
@click.option("--budget", type=float, default=10.0, help="Effort in seconds, roughly, before `undecided`.")
@opt.rules
@opt.output("text", "json")
def command(
    sources: tuple[str, ...],
    agent: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    never: str | None,
    always_: str | None,
    relation: str | None,
    budget: float,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Prove a claim about every call of every agent, or show a call against it.

    A query is a target whose owner, verb and resource may be `any`; the resource may be `under(x)` or a pattern.
    """
    from policyd.cli.output import as_json, write
    from policyd.findings import visible_lines
    from policyd.usecases.proofs import STEPS_PER_SECOND, prove_query, prove_relation

    claims = [c for c in (never, always_, relation) if c is not None]
    if len(claims) != 1:
        raise opt.usage(
            "one claim is wanted", "`--never QUERY`, `--always QUERY`, `--implies`, `--equivalent` or `--disjoint`"
        )
    wanted = 2 if relation else 1
    if len(sources) != wanted:
        raise opt.usage(f"{'two manifests are' if relation else 'one manifest is'} wanted")
    rules = opt.rules_of(edition, switch)
    steps = max(1000, int(budget * STEPS_PER_SECOND))
    selection = Selection(env, opt.presets_of(preset), account, component)
    sides = [holders_at(s, selection, agent, include_root, rules, is_optional=bool(relation)) for s in sources]
    if relation:
        proof = prove_relation(sides[0], sides[1], relation, rules, steps)
    else:
        proof = prove_query(sides[0], never or always_ or "", rules, is_never=never is not None, steps=steps)
    if format == "json":
        rows = [
            {
                "name": r.name,
                "answer": r.word,
                "witness": r.witness or None,
                "grants": list(r.grants),
                "reason": getattr(r.answer, "reason", None),
                "over": getattr(r.answer, "over", None),
            }
            for r in proof.results
        ]
        body = {"claim": proof.claim, "answer": proof.word, "results": rows, "notes": list(proof.notes)}
        write(as_json({**body, "edition": rules.edition.value, "switches": dict(rules.overrides)}), output)
    else:
        out = [f"{proof.word}: {proof.claim}"]
        for r in proof.results:
            detail = r.witness.rstrip() or getattr(r.answer, "over", "") or getattr(r.answer, "reason", "")
            out.append(f"  {r.name}: {r.word}, {'for example ' if r.witness else ''}{detail}")
            out += [f"    by {grant}" for grant in r.grants]
        out += [f"note: {note}" for note in proof.notes]
        write(visible_lines([*out, f"edition: {rules.label}"]), output)
    return {"holds": Exit.YES, "fails": Exit.NO, "undecided": Exit.UNDECIDED}[proof.word]
