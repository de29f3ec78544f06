"""The JSON of requests and answers under `/v1`.

Source: interface, Files and queries; style 11.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from policyd.core.cards import ScopeCard, Timestamp
from policyd.core.edition import SWITCHES, Edition, Rules
from policyd.findings import InputError, nearest
from policyd.syntax.cards import CardForm, read_card
from policyd.syntax.mistakes import shown
from policyd.usecases.stored_decisions import MAX_BATCH, StoredQuestion

MAX_TEXT = 65_536
MAX_NAME = 4_096

EDITIONS = ("next", "snapshot")
FacetWord = Literal["yes", "no", "unknown"]
SnapshotText = Annotated[
    str,
    Field(
        max_length=MAX_NAME,
        description="`@12`, or `@account/application/environment` for the latest one.",
        examples=["@acme@example.com/shop/prod"],
    ),
]
DigestText = Annotated[
    str | None, Field(max_length=64, description="Demands that the snapshot has this digest; otherwise 412.")
]
Moment = Annotated[str | None, Field(max_length=64, description="The moment asked about; null leaves expiry aside.")]


class Wire(BaseModel):
    """JSON members are written `camelCase`; unknown ones are refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class RulesChoice(Wire):
    """Edition and switches: arguments of every question."""

    edition: Annotated[str, Field(max_length=32, description="`next` or `snapshot`.", examples=["next"])] = "next"
    switches: Annotated[
        dict[str, str],
        Field(max_length=64, description="Rules set apart from their edition.", examples=[{}]),
    ] = {}

    def rules(self) -> Rules:
        """The rules that are chosen.

        Raises:
            InputError: MANIF091 for an unknown edition, switch or value.
        """
        return rules_of(self.edition, self.switches)


class Place(RulesChoice):
    """Which snapshot is asked about, under which rules."""

    snapshot: SnapshotText
    digest: DigestText = None


class Question(Wire):
    """Who wants to do what."""

    target: Annotated[
        str,
        Field(
            max_length=MAX_TEXT,
            description="`class(owner) : verb : resource`, slots filled from the holder.",
            examples=["secret(?env) : reveal : stripe.key"],
        ),
    ]
    agent: Annotated[str, Field(max_length=MAX_NAME, description="An agent type, or a full id.", examples=["Cart"])] = (
        ""
    )
    holder: Annotated[
        str, Field(max_length=MAX_NAME, description="An account, or `account/app/env/component/Type`.", examples=[""])
    ] = ""
    component: Annotated[
        str, Field(max_length=MAX_NAME, description="Where the deployment leaves it open.", examples=[""])
    ] = ""
    at: Moment = None
    scope: Annotated[dict[str, Any] | None, Field(description="The scope card of the invocation.")] = None

    def question(self, rules: Rules) -> StoredQuestion:
        """The question as it is asked.

        Raises:
            InputError: for a moment or scope card that cannot be read, or if nobody is asked about.
        """
        if not self.agent and not self.holder:
            raise InputError.of("MANIF091", "nobody is asked about", None, "name an `agent` or a `holder`")
        return StoredQuestion(
            self.target, self.agent, self.holder, moment_of(self.at), scope_of(self.scope, rules), self.component
        )


class DecisionRequest(Place, Question):
    """One question."""

    log: Annotated[bool, Field(description="Keep the decision in the decision log; needs a token that may write.")] = (
        False
    )


class BatchRequest(Place):
    """Many questions about one snapshot."""

    questions: Annotated[list[Question], Field(min_length=1, max_length=MAX_BATCH)]
    log: bool = False


class SourcePlace(Wire):
    """A place in a document."""

    source: str
    line: int
    column: int
    path: str


class FindingPlace(SourcePlace):
    """A place in a document with its length."""

    length: int


class Related(Wire):
    """Another place that explains a finding."""

    message: str
    place: FindingPlace | None


class FindingBody(Wire):
    """One thing to tell."""

    code: str
    severity: Literal["error", "warning", "info"]
    confidence: Literal["certain", "likely", "possible"]
    message: str
    place: FindingPlace | None
    help: str
    related: list[Related]
    witness: str


class Problem(BaseModel):
    """What went wrong, as RFC 9457 has it, with our code, findings and page."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    help: str
    page: str
    findings: list[FindingBody]


class GrantPlace(Wire):
    """A grant that a reason rests on, and where it comes from."""

    card: str
    bound: Literal["lowerPositive", "lowerNegative", "upperPositive", "upperNegative"]
    index: int
    grant: str
    written: str
    origin: str
    place: SourcePlace | None


class ReasonBody(Wire):
    """One reason of one facet."""

    facet: Literal["admitted", "bounded", "replay-stable"]
    code: str
    text: str
    card: str | None
    count: int
    detail: str
    grants: list[GrantPlace]


class Answered(Wire):
    """Which snapshot an answer used, under which rules."""

    edition: str
    switches: dict[str, str]
    snapshot: str | None
    digest: str
    revision: int


class Decision(Answered):
    """The verdict with its reasons."""

    who: str
    target: str
    admitted: FacetWord
    bounded: FacetWord
    replay_stable: FacetWord
    reasons: list[ReasonBody]
    holds_for: str
    exceptions: list[str]
    holds_from: str | None
    holds_until: str | None
    notes: list[str]


class BatchItem(Wire):
    """The answer to one question of a batch, or why it could not be asked."""

    decision: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None


class BatchAnswer(Answered):
    """The answers, in the order of the questions."""

    answers: list[BatchItem]


def rules_of(edition: str, switches: dict[str, str]) -> Rules:
    """The rules of an edition with switches set apart.

    Raises:
        InputError: MANIF091 for an unknown edition, switch or value.
    """
    if edition not in EDITIONS:
        raise InputError.of("MANIF091", f"unknown edition {shown(edition)}", None, "editions are `next` and `snapshot`")
    known = [row.name for row in SWITCHES]
    for name in switches:
        if name not in known:
            near = nearest(name, known)
            help = f"did you mean `{near}`?" if near else "see `policyd editions`"
            raise InputError.of("MANIF091", f"unknown switch {shown(name)}", None, help)
    try:
        return Rules.of(Edition(edition), switches)
    except ValueError as values:
        raise InputError.of(
            "MANIF091", f"a switch does not take that value, but {values}", None, "see `policyd editions`"
        ) from None


def moment_of(text: str | None) -> Timestamp | None:
    """The moment that a text writes.

    Raises:
        InputError: MANIF091 if it is none.
    """
    if text is None or text == "":
        return None
    try:
        return Timestamp.parse(text)
    except ValueError as why:
        raise InputError.of(
            "MANIF091", f"{shown(text)} is no moment: {why}", None, "write `2026-12-24T00:00:00Z`"
        ) from None


def scope_of(value: dict[str, Any] | None, rules: Rules) -> ScopeCard | None:
    """The scope card that a JSON value writes.

    Raises:
        InputError: CARD020 if it is none.
    """
    if value is None:
        return None
    card = read_card(value, CardForm.SCOPE, rules, "$.scope")
    assert isinstance(card, ScopeCard)  # the scope form reads nothing else
    return card
