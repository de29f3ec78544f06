"""The evaluation endpoint in the shape of the OpenID AuthZEN authorization API.

`decision` is true only for `admitted: yes`; `context.reason` says why. Subjects are `agent` (a type or a full
id), `account`, or `holder`; a resource has the name of a permission class as its type, and its owner, if it is
not the natural one of the class, in `properties.owner`.

Source: interface, Files and queries.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, assert_never

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from policyd.core.admission import Facet
from policyd.core.edition import Rules
from policyd.core.grants import OwnerKind, class_named
from policyd.explain.prose import deciding, headline
from policyd.findings import InputError, PolicydError
from policyd.service.access import Asker, Caller
from policyd.service.answers import answered, json_response
from policyd.service.problems import problem_body, status_of
from policyd.service.routes.decisions import opened
from policyd.service.routing import MISSING, OTHER, router
from policyd.service.wire import MAX_NAME, MAX_TEXT, Place, moment_of, scope_of
from policyd.service.wiring import services
from policyd.syntax import parse_target
from policyd.syntax.grants import parse_target_fields
from policyd.syntax.mistakes import shown
from policyd.usecases.answer import Answer, answer_json
from policyd.usecases.stored_decisions import MAX_BATCH, StoredQuestion

routes = router("/access/v1", "evaluation")
well_known = APIRouter(tags=["evaluation"])

_NATURAL = {
    OwnerKind.EMPTY: "",
    OwnerKind.ACCOUNT: "?account",
    OwnerKind.APPLICATION: "?app",
    OwnerKind.ENVIRONMENT: "?env",
    OwnerKind.COMPONENT: "?component",
    OwnerKind.AGENT: "?agent",
}
"""The owner of a resource where the request names none: the holder's own."""


class Open(BaseModel):
    """Members that the shape leaves open are accepted."""

    model_config = ConfigDict(extra="allow")


class Subject(Open):
    """Who wants to act."""

    type: Annotated[str, Field(max_length=64, description="`agent`, `account` or `holder`.", examples=["agent"])]
    id: Annotated[str, Field(min_length=1, max_length=MAX_NAME, examples=["Cart"])]
    properties: dict[str, Any] = {}


class Resource(Open):
    """What would be acted on."""

    type: Annotated[str, Field(max_length=128, description="A permission class.", examples=["secret"])]
    id: Annotated[str, Field(max_length=MAX_TEXT, examples=["stripe.key"])]
    properties: Annotated[dict[str, Any], Field(description="`owner`, where it is not the natural one.")] = {}


class Action(Open):
    """What would be done."""

    name: Annotated[str, Field(max_length=128, description="A verb of the class.", examples=["reveal"])]
    properties: dict[str, Any] = {}


class Context(Open):
    """The snapshot and the rules that are asked about."""

    snapshot: Annotated[str, Field(max_length=MAX_NAME, examples=["@acme@example.com/shop/prod"])]
    digest: Annotated[str | None, Field(max_length=64)] = None
    edition: Annotated[str, Field(max_length=32)] = "next"
    switches: Annotated[dict[str, str], Field(max_length=64)] = {}
    at: Annotated[str | None, Field(max_length=64)] = None
    scope: dict[str, Any] | None = None
    component: Annotated[str, Field(max_length=MAX_NAME)] = ""


class Evaluation(Open):
    """One question in the shape of AuthZEN."""

    subject: Subject
    action: Action
    resource: Resource
    context: Context


class PartEvaluation(Open):
    """One question of many; what it leaves out is taken from the whole."""

    subject: Subject | None = None
    action: Action | None = None
    resource: Resource | None = None
    context: Context | None = None


class Semantic(Enum):
    """Where the questions of one request end."""

    ALL = "execute_all"
    FIRST_DENY = "deny_on_first_deny"
    FIRST_PERMIT = "permit_on_first_permit"

    def ends_with(self, *, is_permitted: bool) -> bool:
        """Whether no question is asked after an outcome."""
        match self:
            case Semantic.ALL:
                return False
            case Semantic.FIRST_DENY:
                return not is_permitted
            case Semantic.FIRST_PERMIT:
                return is_permitted
            case _:
                assert_never(self)


class Options(Open):
    """How many questions are answered."""

    evaluations_semantic: Annotated[Semantic, Field(description="All, or none after the first `no` or `yes`.")] = (
        Semantic.ALL
    )


class Evaluations(PartEvaluation):
    """Many questions; without any, the request is one question by itself."""

    evaluations: Annotated[list[PartEvaluation], Field(max_length=MAX_BATCH)] = []
    options: Options = Options()


class Outcome(BaseModel):
    """`decision` is true only where the call is admitted."""

    decision: bool
    context: dict[str, Any]


class Outcomes(BaseModel):
    """The outcomes, in the order of the questions."""

    evaluations: list[Outcome]


def _target(evaluation: Evaluation, rules: Rules) -> str:
    resource = evaluation.resource
    owner = resource.properties.get("owner")
    if owner is None:
        cls = class_named(resource.type, rules)
        natural = None if cls is None else _NATURAL.get(cls.owner)
        if cls is not None and natural is None:
            raise InputError.of("MANIF091", f"the owner of a {shown(resource.type)} must be named", None, "`owner`")
        owner = natural or ""
    if not isinstance(owner, str):
        raise InputError.of("MANIF091", "`owner` is text", None, "write it as in a grant")
    # each part is read by itself: joined, a part that holds ` : ` would be read as several
    parts = (resource.type, owner, evaluation.action.name, resource.id)
    asked = parse_target_fields(*parts, rules, slots=True)
    text = "{}({}) : {} : {}".format(*parts)
    if parse_target(text, rules, slots=True) != asked:
        raise InputError.of("MANIF091", f"{shown(text)} is read otherwise than its parts", None, "write plain names")
    return text


def _question(evaluation: Evaluation, rules: Rules) -> StoredQuestion:
    subject, context = evaluation.subject, evaluation.context
    if subject.type not in ("agent", "account", "holder", "user"):
        raise InputError.of(
            "MANIF091", f"unknown type of subject {shown(subject.type)}", None, "`agent`, `account` or `holder`"
        )
    is_agent = subject.type == "agent"
    return StoredQuestion(
        _target(evaluation, rules),
        subject.id if is_agent else "",
        "" if is_agent else subject.id,
        moment_of(context.at),
        scope_of(context.scope, rules),
        context.component,
    )


def _outcome(answer: Answer, where: dict[str, Any]) -> dict[str, Any]:
    verdict = answer.verdict
    reason = deciding(verdict)
    return {
        "decision": verdict.admitted is Facet.YES,
        "context": {
            "reason": headline(verdict, answer.who, answer.target, answer.naming),
            "code": reason.why.value if reason else None,
            **answer_json(answer),
            **where,
        },
    }


def _evaluated(request: Request, asker: Caller, evaluation: Evaluation) -> dict[str, Any]:
    context = evaluation.context
    place = Place(snapshot=context.snapshot, digest=context.digest, edition=context.edition, switches=context.switches)
    rules = place.rules()
    facts, info = opened(request, asker, place)
    answer = services(request).decisions.answer(facts, info, _question(evaluation, rules), rules)
    services(request).metrics.decisions.labels(answer.verdict.admitted.value).inc()
    return _outcome(answer, answered(info, rules))


@routes.post("/evaluation", response_model=Outcome, responses={**MISSING, **OTHER}, summary="Evaluate one request")
def evaluate(request: Request, body: Evaluation, asker: Asker) -> Response:
    """One question in the shape of AuthZEN; `unknown` is no yes."""
    return json_response(_evaluated(request, asker, body))


@routes.post(
    "/evaluations",
    response_model=Outcomes | Outcome,
    responses={**MISSING, **OTHER},
    summary="Evaluate many requests",
)
def evaluate_many(request: Request, body: Evaluations, asker: Asker) -> Response:
    """Up to 1,000 questions, in their order; one that cannot be asked is no yes, and says why.

    `options.evaluations_semantic` ends them after the first `no` or the first `yes`; the last outcome is that one.
    Without `evaluations`, or with none in it, the request is a single one and gets a single outcome.
    """
    if not body.evaluations:
        return json_response(_evaluated(request, asker, _whole(body, body)))
    outcomes: list[dict[str, Any]] = []
    for part in body.evaluations:
        try:
            outcomes.append(_evaluated(request, asker, _whole(part, body)))
        except PolicydError as error:
            outcomes.append({"decision": False, "context": {"error": problem_body(status_of(error), error.findings)}})
        if body.options.evaluations_semantic.ends_with(is_permitted=outcomes[-1]["decision"]):
            break
    return json_response({"evaluations": outcomes})


def _whole(part: PartEvaluation, rest: PartEvaluation) -> Evaluation:
    """One question; what it leaves out is taken from `rest`."""
    whole = {name: getattr(part, name) or getattr(rest, name) for name in ("subject", "action", "resource", "context")}
    missing = [name for name, value in whole.items() if value is None]
    if missing:
        raise InputError.of("MANIF091", f"`{missing[0]}` is missing", None, "name it here or for all")
    return Evaluation(**whole)


@well_known.get("/.well-known/authzen-configuration", summary="Where evaluations are asked for")
async def configuration(request: Request) -> dict[str, str]:
    """The metadata of AuthZEN."""
    base = str(request.base_url).rstrip("/")
    return {
        "policy_decision_point": base,
        "access_evaluation_endpoint": f"{base}/access/v1/evaluation",
        "access_evaluations_endpoint": f"{base}/access/v1/evaluations",
    }
