"""policyd prove: does it hold for all calls."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import Asked, both_parties, budget_of, cards_of, parties_at
from policyd.usecases.deployments import Selection


@click.command("prove")
@click.argument("sources", nargs=-1, required=True)
@click.option("--agent", default="", help="One agent type; default: all.")
@opt.place
@cards_of
@click.option("--cross-check", is_flag=True, help="Let a solver come to the same result by another way.")
@click.option("--never", help="A query whose calls must never be admitted.")
@click.option("--always", "always_", help="A query whose calls must all be admitted.")
@click.option("--implies", "relation", flag_value="implies", help="Everything A admits, B admits.")
@click.option("--equivalent", "relation", flag_value="equivalent", help="A and B admit the same.")
@click.option("--disjoint", "relation", flag_value="disjoint", help="Nothing is admitted by both A and B.")
@budget_of
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
    holder: str,
    at: str | None,
    cross_check: bool,
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
    The verb `*` is `any` verb here, each asked for alone; to `policyd check` it is one request for all verbs.
    """
    from policyd.cli.output import as_json, write
    from policyd.cli.replay import Flags, can_be_written, check_of
    from policyd.findings import visible_lines
    from policyd.report.changes import check_lines
    from policyd.usecases.proofs import Proved, proof_json, prove_query, prove_relation, steps_for

    claims = [c for c in (never, always_, relation) if c is not None]
    if len(claims) != 1:
        raise opt.usage(
            "one claim is wanted", "`--never QUERY`, `--always QUERY`, `--implies`, `--equivalent` or `--disjoint`"
        )
    wanted = 2 if relation else 1
    if len(sources) != wanted:
        raise opt.usage(f"{'two sources are' if relation else 'one source is'} wanted", "manifests, wallets or places")
    rules = opt.rules_of(edition, switch)
    steps = steps_for(budget)
    selection = Selection(env, opt.presets_of(preset), account, component)
    asked = Asked(selection, agent, include_root, rules, holder, opt.moment_of(at))
    if relation:
        left, right = both_parties(sources[0], sources[1], asked)
        proof = prove_relation(left, right, relation, rules, steps, is_cross_checked=cross_check)
    else:
        if sources[0].startswith("@"):
            asked.demand_unplaced()
        proof = prove_query(
            parties_at(sources[0], asked),
            never or always_ or "",
            rules,
            is_never=never is not None,
            steps=steps,
            is_cross_checked=cross_check,
        )
    flags = Flags(env, preset, account, component, include_root, at, edition, switch)

    def checks(row: Proved) -> list[dict[str, object]]:
        pairs = zip(sources, row.verdicts, strict=False)
        return [
            check
            for source, verdict in pairs
            if verdict is not None
            for check in check_of(source, flags, verdict[0], row.witness, admitted=verdict[1])
        ]

    if format == "json":
        plain = proof_json(proof)
        shown = plain["results"]
        assert isinstance(shown, list)
        for row, told in zip(proof.results, shown, strict=True):
            told["checks"] = checks(row)
            told["canBeWritten"] = not row.witness or can_be_written(row.witness)
        write(as_json(plain), output)
    else:
        out = [f"{proof.word}: {proof.claim}"]
        for r in proof.results:
            detail = r.witness.rstrip() or getattr(r.answer, "over", "") or getattr(r.answer, "reason", "")
            who = f" (asked by {r.agent})" if r.witness and r.agent and not r.name.endswith(r.agent) else ""
            out.append(f"  {r.name}: {r.word}, {'for example ' if r.witness else ''}{detail}{who}")
            out += [f"    by {grant}" for grant in r.grants]
            out += [
                f"    {line}"
                for line in check_lines(
                    {"checks": checks(r), "canBeWritten": not r.witness or can_be_written(r.witness)}
                )
            ]
        out += [f"note: {note}" for note in proof.notes]
        write(visible_lines([*out, f"edition: {rules.label}"]), output)
    return {"holds": Exit.YES, "fails": Exit.NO, "undecided": Exit.UNDECIDED}[proof.word]
