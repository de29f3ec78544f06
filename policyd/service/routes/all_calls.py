"""Questions about all calls: differences, proofs, what-if, the least grants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus

from fastapi import Request, Response

from policyd.core.edition import Rules
from policyd.findings import InputError
from policyd.service.access import Asker, Caller, snapshots_for
from policyd.service.answers import answered, json_response
from policyd.service.problems import ServiceCode, ServiceError
from policyd.service.routes.decisions import opened
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import moment_of
from policyd.service.wire_all_calls import (
    MAX_BUDGET_S,
    DifferenceAnswer,
    DifferenceRequest,
    ProofAnswer,
    ProofRequest,
    SynthesisAnswer,
    SynthesisRequest,
    WhatIfAnswer,
    WhatIfRequest,
)
from policyd.service.wiring import services
from policyd.store.snapshots import SnapshotInfo
from policyd.syntax.wallets import read_cards
from policyd.usecases.changes import Changes, changes_between, changes_json
from policyd.usecases.deployments import agent_name
from policyd.usecases.proofs import Proof, effort_for, proof_json, prove_query, prove_relation
from policyd.usecases.revocation import card_id
from policyd.usecases.snapshots import demand
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.stored_parties import StoredParties, aligned, initial_cards, stored_parties, what_if_stored
from policyd.usecases.synthesis import calls_in, synthesis, synthesis_json, unnamed_instance
from policyd.usecases.what_if import LISTS, Edit, what_if
from policyd.usecases.what_if_wallets import CardEdit

routes = router("/v1", "all calls")
READ = {**MISSING, **OTHER}

WAIT_S = 5.0
"""So long a question about all calls waits for others before it is refused."""


@contextmanager
def proving(request: Request) -> Iterator[None]:
    """One search at a time: threads that only compute would keep each other and all decisions waiting.

    Raises:
        ServiceError: 429, if others take too long.
    """
    lock = services(request).proving
    if not lock.acquire(timeout=WAIT_S):
        raise ServiceError(
            ServiceCode.TOO_MANY,
            HTTPStatus.TOO_MANY_REQUESTS,
            "other questions about all calls are worked on",
            "come again in a few seconds",
        )
    try:
        yield
    finally:
        lock.release()


def seconds_for(request: Request, asked: float = MAX_BUDGET_S) -> float:
    """How much effort a question gets: what it asks for, within what the settings allow."""
    return min(asked, services(request).settings.question_timeout_s)


def facts_of(request: Request, asker: Caller, reference: str, digest: str | None) -> tuple[StoredFacts, SnapshotInfo]:
    """The facts of a snapshot, and which it is.

    Raises:
        InputError: if there is none, or it is not the one demanded.
    """
    snapshots = snapshots_for(request, asker)
    info = snapshots.resolve(reference)
    demand(info, digest)
    return services(request).decisions.facts(snapshots, info), info


@routes.post("/differences", response_model=DifferenceAnswer, responses=READ, summary="What changes between snapshots")
def differences(request: Request, body: DifferenceRequest, asker: Asker) -> Response:
    """What the new snapshot admits that the old one does not, and the reverse, with witnesses; the rest is proved."""
    rules = body.rules()
    moment = moment_of(body.at)
    old, before = facts_of(request, asker, body.old, body.old_digest)
    new, after = facts_of(request, asker, body.new, body.new_digest)
    sides = [
        stored_parties(facts, rules, f"@{info.number}", body.agent, body.component, moment, is_optional=True)
        for facts, info in ((old, before), (new, after))
    ]
    if body.agent and not any(side.by_name or side.unreadable for side in sides):
        stored_parties(new, rules, f"@{after.number}", body.agent, body.component, moment)  # says what is near
    left, right = aligned(sides[0], sides[1])
    seconds = seconds_for(request, body.budget)
    with proving(request):
        changes = changes_between(
            left,
            right,
            rules,
            body.limit,
            is_cross_checked=body.cross_check,
            cross_check_s=seconds,
            steps=effort_for(seconds),
        )
    return json_response({**changes_json(changes), "snapshots": [named(before), named(after)]})


def named(info: SnapshotInfo) -> dict[str, object]:
    """A snapshot that was read."""
    return {"snapshot": f"@{info.number}", "digest": info.digest, "revision": info.revision}


@routes.post("/proofs", response_model=ProofAnswer, responses=READ, summary="Does it hold for all calls")
def proofs(request: Request, body: ProofRequest, asker: Asker) -> Response:
    """A claim about every call of every holder: it holds, or a call shows that it fails, or it is undecided."""
    rules = body.rules()
    if sum(claim is not None for claim in (body.never, body.always, body.relation)) != 1:
        raise InputError.of("MANIF091", "one claim is wanted", None, "`never`, `always` or `relation`")
    if (body.relation is None) is not (body.other is None):
        raise InputError.of("MANIF091", "a relation is one to another snapshot", None, "give `relation` and `other`")
    facts, info = opened(request, asker, body)
    parties = stored_parties(facts, rules, f"@{info.number}", body.agent, body.component, moment_of(body.at))
    proof = _proof(request, body, asker, parties, rules)
    return json_response({**proof_json(proof), **answered(info, rules)}, info)


def _proof(request: Request, body: ProofRequest, asker: Caller, parties: StoredParties, rules: Rules) -> Proof:
    seconds = seconds_for(request, body.budget)
    steps = effort_for(seconds)
    if body.relation is not None and body.other is not None:
        facts, info = facts_of(request, asker, body.other, None)
        other = stored_parties(facts, rules, f"@{info.number}", body.agent, body.component, moment_of(body.at))
        left, right = aligned(parties, other)
        with proving(request):
            return prove_relation(
                left,
                right,
                body.relation,
                rules,
                steps,
                is_cross_checked=body.cross_check,
                cross_check_s=seconds,
            )
    is_never = body.never is not None
    text = (body.never if is_never else body.always) or ""
    with proving(request):
        return prove_query(
            parties,
            text,
            rules,
            is_never=is_never,
            steps=steps,
            is_cross_checked=body.cross_check,
            cross_check_s=seconds,
        )


@routes.post("/what-if", response_model=WhatIfAnswer, responses=READ, summary="What would an edit change")
def what_would(request: Request, body: WhatIfRequest, asker: Asker) -> Response:
    """Per holder, which calls would start and stop; nothing is changed."""
    rules = body.rules()
    facts, info = opened(request, asker, body)
    changes = _edited(request, body, facts, info, rules)
    return json_response({**changes_json(changes), **named(info)}, info)


def _edited(request: Request, body: WhatIfRequest, facts: StoredFacts, info: SnapshotInfo, rules: Rules) -> Changes:
    grants, cards = bool(body.add or body.remove), bool(body.revoke or body.install)
    if grants is cards:
        raise InputError.of("MANIF091", "what is to change?", None, "`add` and `remove`, or `revoke` and `install`")
    source = f"@{info.number}"
    seconds = seconds_for(request, body.budget)
    if cards:
        edit = CardEdit(
            tuple(card_id(text) for text in body.revoke),
            read_cards(body.install, rules, "$.install") if body.install else (),
            tuple(body.on),
        )
        parties = stored_parties(facts, rules, source, body.agent, body.component, moment_of(body.at))
        with proving(request):
            return what_if_stored(
                facts,
                parties,
                edit,
                rules,
                body.limit,
                is_cross_checked=body.cross_check,
                cross_check_s=seconds,
                steps=effort_for(seconds),
            )
    if body.add and not body.agent:
        raise InputError.of("MANIF091", "to which agent type is the grant added?", None, "name an `agent`")
    holders = initial_cards(facts, rules, source, body.agent, body.component)
    with proving(request):
        edited = Edit(tuple((LISTS[item.bound], item.grant) for item in body.add), tuple(body.remove))
        return what_if(
            holders,
            edited,
            rules,
            body.limit,
            is_cross_checked=body.cross_check,
            cross_check_s=seconds,
            steps=effort_for(seconds),
        )


@routes.post("/synthesis", response_model=SynthesisAnswer, responses=READ, summary="The least grants")
def least_grants(request: Request, body: SynthesisRequest, asker: Asker) -> Response:
    """The least grants that let the wanted calls through and keep the others out, as manifest text."""
    rules = body.rules()
    facts, info = opened(request, asker, body)
    type_name, agent_id = agent_name(body.agent)
    holders = initial_cards(facts, rules, f"@{info.number}", type_name, body.component)
    holder = holders.by_name[type_name]
    holder = replace(holder, context=replace(holder.context, agent_id=agent_id))
    texts = "\n".join(body.allow), "\n".join(body.deny)
    instance = agent_id or unnamed_instance(holder, texts)
    context = replace(holder.context, agent_id=instance)
    wanted = calls_in(texts[0], "$.allow", context, rules)
    unwanted = calls_in(texts[1], "$.deny", context, rules)
    if not wanted:
        raise InputError.of("MANIF091", "no call is wanted", None, "list at least one in `allow`")
    deployer = None if body.deployer is None else read_cards(body.deployer, rules, "$.deployer")
    with proving(request):
        timeout_ms = max(100, int(seconds_for(request, body.budget) * 1000))
        made = synthesis(holder, instance, wanted, unwanted, deployer, rules, timeout_ms, keep=body.keep)
    made = replace(made, notes=(*holders.notes, *made.notes))
    return json_response({**synthesis_json(made, rules), "manifest": made.yaml, **answered(info, rules)}, info)
