"""policyd saga: is a saga retry admitted, bounded and replay-stable."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

_FORMS = ("infallible", "fallible")
_BODIES = ("failed", "ok", "trapped")
_COMPENSATIONS = ("ok", "failed", "trapped")
_IDENTITIES = ("tree", "rule", "name+tree")


@click.command("saga")
@click.argument("manifest", type=opt.FILE, metavar="MANIFEST|@PLACE")
@click.option("--agent", required=True, help="Agent type (Cart) or full id ('Cart(\"u1\")').")
@opt.place
@click.option("--component-id", default="", help="UUID of the component, where predicates name it.")
@click.option("--attempt", type=click.IntRange(1), help="The failed attempt; default: the whole sequence.")
@click.option("--continuation", type=opt.FILE, help="What the decision before handed on (JSON).")
@click.option("--elapsed", default="0", help="Time since the saga began, e.g. 12s.")
@click.option("--form", type=click.Choice(_FORMS), default=_FORMS[0], help="Form of the transaction.")
@click.option("--body", type=click.Choice(_BODIES), default=_BODIES[0], help="How the body ended.")
@click.option("--compensation", type=click.Choice(_COMPENSATIONS), default=_COMPENSATIONS[0],
              help="How the compensations ended.")  # fmt: skip
@click.option("--body-time", default="0", help="What each body takes, for the whole sequence.")
@click.option("--compensation-time", default="0", help="What each pass of compensations takes.")
@click.option("--identity", type=click.Choice(_IDENTITIES), default=_IDENTITIES[0], help="What is the same policy.")
@click.option("--admission", type=click.Choice(("lenient", "strict")), default="lenient",
              help="How the host's test for bounded policies is read.")  # fmt: skip
@click.option("--self-view", type=click.Choice(("granted", "denied")), help="In place of what the cards say.")
@click.option("--sets-policies", is_flag=True, help="The body sets or removes retry policies.")
@click.option("--steps", type=opt.FILE, help="The steps of the transaction (YAML): what follows the one that fails.")
@click.option("--require", default="admitted", help="Facets that must be yes for exit 0, separated by commas.")
@opt.rules
@opt.output("text", "json")
def command(
    manifest: Path,
    agent: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    component_id: str,
    attempt: int | None,
    continuation: Path | None,
    elapsed: str,
    form: str,
    body: str,
    compensation: str,
    body_time: str,
    compensation_time: str,
    identity: str,
    admission: str,
    self_view: str | None,
    sets_policies: bool,
    steps: Path | None,
    require: str,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Is a saga retry of this agent admitted, bounded and replay-stable, and why?

    Without --attempt the whole sequence of a saga that fails at every attempt is answered.
    Exit 0: every facet of --require is yes; 1: one is no; 3: one is unknown.
    """
    from policyd.cli.output import as_json, write
    from policyd.core.retry import Facet, parse_duration
    from policyd.core.retry.continuation import IdentityChoice, continuation_from_json
    from policyd.core.retry.saga import Admission, Body, Compensation, Form, SelfView
    from policyd.usecases.answer import facet_words
    from policyd.usecases.deployments import Selection, described, load
    from policyd.usecases.retry_saga import SagaQuestion, ask_saga
    from policyd.usecases.retry_sources import environment_of
    from policyd.usecases.saga_self_view import cards_of_manifest
    from policyd.usecases.saga_words import saga_json, saga_text
    from policyd.usecases.snapshots import is_place

    try:
        required = [name.value for name in facet_words(require)]
    except ValueError as word:
        raise opt.usage(f"unknown facet `{word}`", "facets are `admitted`, `bounded`, `replay-stable`") from None
    rules = opt.rules_of(edition, switch)
    question = SagaQuestion(
        agent,
        attempt,
        opt.read_file(continuation, continuation_from_json) if continuation is not None else None,
        parse_duration(elapsed),
        Form(form),
        Body(body),
        Compensation(compensation),
        parse_duration(body_time),
        parse_duration(compensation_time),
        IdentityChoice(identity),
        Admission(admission),
        SelfView(self_view) if self_view else None,
        component_id,
        sets_policies,
    )
    if is_place(str(manifest)):
        from policyd.cli.store import database
        from policyd.usecases.retry_stored import ask_stored_saga, stored_cards
        from policyd.usecases.snapshots import StoredSnapshots
        from policyd.usecases.stored_decisions import Decisions

        opt.demand_unplaced(env=env, preset=preset, account=account, include_root=include_root)
        decisions = Decisions()
        with database() as store:
            snapshots = StoredSnapshots(store)
            info = snapshots.resolve(str(manifest))
            facts = decisions.facts(snapshots, info)
        answer = ask_stored_saga(question, facts, info, rules, decisions, component)
        cards = stored_cards(facts, info, rules, decisions, component)
    else:
        selection = Selection(env, opt.presets_of(preset), account, component)
        loaded = load(manifest, rules, include_root)
        deployment = described(loaded, selection, rules)
        environment = environment_of(loaded, deployment.deployment.environment)
        cards = cards_of_manifest(deployment, selection, rules)
        answer = ask_saga(question, environment, deployment, selection, rules, cards)
    after = None
    if steps is not None:
        from policyd.usecases.saga_plan import follow, load_plan

        after = follow(load_plan(steps), cards, agent, rules)
    write(as_json(saga_json(answer, after)) if format == "json" else saga_text(answer, after), output)
    found = {"admitted": answer.admitted, "bounded": answer.bounded, "replay-stable": answer.replay_stable}
    facets = [found[name] for name in required]
    if Facet.NO in facets:
        return Exit.NO
    return Exit.UNDECIDED if Facet.UNKNOWN in facets else Exit.YES
