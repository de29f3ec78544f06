"""The JSON of requests and answers under `/v1`.

Source: interface, Files and queries; style 11.
"""

from __future__ import annotations

from collections.abc import Sequence
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

EXAMPLE_MANIFEST = """\
manifestVersion: 1.6.0
app: shop
environments:
  prod:
    server: cloud
    account: acme@example.com
components:
  shop:cart:
    dir: cart
    templates: rust
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - "secret(?env) @ ?agent : reveal : stripe.key"
"""
"""The manifest of the examples in the description of the interface."""

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
            description="`class(owner) : verb : resource`, slots filled from the holder; or give `operation`.",
            examples=["secret(?env) : reveal : stripe.key"],
        ),
    ] = ""
    operation: Annotated[
        str, Field(max_length=200, description="An operation of the catalogue instead of a target.", examples=[""])
    ] = ""
    arguments: Annotated[
        dict[str, Any], Field(max_length=64, description="Of the operation, by name.", examples=[{}])
    ] = {}
    sdk: Annotated[str, Field(max_length=80, description="Whose surfaces are told: `rust@3.0.1`.", examples=[""])] = ""
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
        if bool(self.target) is bool(self.operation):
            raise InputError.of("MANIF091", "one question is wanted", None, "give a `target` or an `operation`")
        if (self.arguments or self.sdk) and not self.operation:
            raise InputError.of("MANIF091", "arguments and SDK belong to an operation", None, "give `operation`")
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
    operation: str | None = None
    arguments: dict[str, Any] | None = None
    sdk: str | None = None
    targets: Annotated[list[dict[str, Any]] | None, Field(description="Of an operation: the answer to each.")] = None
    refusal: str | None = None
    denial: Annotated[str | None, Field(description="How a denial shows with the SDK.")] = None
    by_generation: dict[str, str] | None = None
    self_metadata: dict[str, Any] | None = None


class OperationList(Wire):
    """Operations of the catalogue."""

    operations: list[dict[str, Any]]
    edition: str


class BatchItem(Wire):
    """The answer to one question of a batch, or why it could not be asked."""

    decision: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None


class BatchAnswer(Answered):
    """The answers, in the order of the questions."""

    answers: list[BatchItem]


class Snapshot(Wire):
    """A snapshot without its facts."""

    snapshot: str
    number: int
    digest: str
    account: str
    application: str
    environment: str
    revision: int
    is_latest: bool
    grants: int
    manifest_version: str
    edition: str
    switches: dict[str, str]
    created_at: str
    created_by: str
    imported_at: str


class SnapshotList(Wire):
    """A page of snapshots."""

    snapshots: list[Snapshot]
    next: str | None


class AgentRow(Wire):
    """An agent type, the origin of what decides for it, and its agents with wallets of their own."""

    name: str
    component: str
    card: str
    own_wallets: list[str]


class AgentList(Wire):
    """The agent types of a snapshot."""

    agents: list[AgentRow]
    edition: str
    switches: dict[str, str]
    snapshot: str
    digest: str
    revision: int


class CardGrant(Wire):
    """A grant of an effective card."""

    bound: str
    written: str
    filled: str
    origin: str
    place: str | None
    card: Annotated[str | None, Field(description="Its id; null for the initial card.")]


class AgentCard(Wire):
    """The effective initial card, or the live cards of an imported wallet that decides in its place."""

    agent: str
    environment: str
    origin: str
    place: str | None
    component: str | None
    account: str | None
    grants: list[CardGrant]
    replaces: list[str]
    unreadable: list[str]
    notes: list[str]
    holder: Annotated[str | None, Field(description="Whose wallet decides; null where the initial card does.")]
    cards: Annotated[list[str], Field(description="The ids of the wallet's live cards.")]
    own_wallets: Annotated[list[str], Field(description="Agents of the type whose own wallets decide for them.")]
    edition: str
    switches: dict[str, str]
    snapshot: str
    digest: str
    revision: int


class HeldCardBody(Wire):
    """A card in a wallet."""

    card_id: str
    by: Literal["self", "other", "unknown"]
    at: str | None


class WalletBody(Wire):
    """A wallet."""

    holder: str
    agent_id: str | None
    recorded_account: str | None
    cards: list[HeldCardBody]


class WalletList(Wire):
    """A page of wallets."""

    wallets: list[WalletBody]
    next: str | None
    snapshot: str
    digest: str
    revision: int


class CardRow(Wire):
    """A card of a list."""

    card_id: str
    is_scope: bool
    is_revoked: bool


class CardList(Wire):
    """A page of cards."""

    cards: list[CardRow]
    next: str | None
    snapshot: str
    digest: str
    revision: int


class FindingList(Wire):
    """The findings of a snapshot."""

    findings: list[FindingBody]
    snapshot: str
    digest: str
    revision: int


class LoggedReason(Wire):
    """Why a facet of a logged decision was what it was."""

    facet: Literal["admitted", "bounded", "replay-stable"]
    code: str
    text: str


class LoggedDecisionBody(Wire):
    """A decision of the log."""

    asked_at: str
    asked_by: str
    holder: str
    agent_id: str | None
    question: str
    at: str | None
    rules: str
    admitted: FacetWord
    bounded: FacetWord
    replay_stable: FacetWord
    reasons: list[LoggedReason]


class DecisionLog(Wire):
    """A page of the decision log."""

    decisions: list[LoggedDecisionBody]
    next: str | None


class Document(Wire):
    """A document of a manifest; the first one is the root."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME, examples=["golem.yaml"])] = "golem.yaml"
    text: Annotated[str, Field(examples=[EXAMPLE_MANIFEST])]


class ManifestImport(RulesChoice):
    """A manifest to be stored in one environment."""

    documents: Annotated[list[Document], Field(min_length=1, max_length=256)]
    account: Annotated[str, Field(max_length=MAX_NAME, examples=["acme@example.com"])] = ""
    environment: Annotated[str | None, Field(max_length=MAX_NAME, examples=["prod"])] = None
    application: Annotated[str, Field(max_length=MAX_NAME, examples=[""])] = ""
    component: Annotated[str, Field(max_length=MAX_NAME, examples=[""])] = ""
    presets: Annotated[list[str] | None, Field(max_length=256)] = None


class ImportAnswer(Snapshot):
    """What an import did."""

    is_new: bool
    is_revision: bool
    findings: list[FindingBody]
    not_analysed: list[str]
    notes: Annotated[list[str], Field(description="What was decided otherwise than the documents say.")]


class AuditRequest(RulesChoice):
    """A manifest to be looked at."""

    documents: Annotated[list[Document], Field(min_length=1, max_length=256)]
    environments: Annotated[list[str] | None, Field(max_length=256, description="Null for all.")] = None
    presets: Annotated[list[str] | None, Field(max_length=256)] = None
    account: Annotated[str, Field(max_length=MAX_NAME, examples=["acme@example.com"])] = ""
    component: Annotated[str, Field(max_length=MAX_NAME, examples=[""])] = ""
    deployer: Annotated[
        list[dict[str, Any]] | None,
        Field(max_length=1000, description="Cards of whoever deploys; null for an assumed account root card."),
    ] = None


class AuditAnswer(Wire):
    """The findings on a manifest."""

    findings: list[FindingBody]
    not_analysed: list[str]
    edition: str
    switches: dict[str, str]


class WhoCanRequest(Place):
    """Which holders may do this: a target, or a query with `any` or `under(x)`."""

    target: Annotated[str, Field(max_length=MAX_TEXT, examples=["secret(?env) : reveal : stripe.key"])]
    at: Moment = None


class StoredGrant(Wire):
    """A stored grant with its place."""

    card: str
    bound: str
    index: int
    grant: str
    place: SourcePlace | None


class HolderAccess(Wire):
    """A holder that may do all of it by one grant, or some of it, and by which grants."""

    holder: Annotated[str, Field(description="An account, an agent type in full, or a type of no known component.")]
    agent_id: str | None
    extent: Literal["all", "some"]
    witness: Annotated[str | None, Field(description="For `some`: a call that it may make, by these grants.")]
    only: str | None
    except_for: str | None
    except_wallets: list[str]
    grants: list[StoredGrant]


class WhoCanAnswer(Answered):
    """All holders that are admitted to all of it, and after them those that may do some of it."""

    target: str
    holders: list[HolderAccess]
    unheld: list[StoredGrant]
    not_analysed: list[str]
    complete: bool


class WhatCanRequest(Place):
    """What a holder may do."""

    holder: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_NAME,
            description="An agent type, a full agent id, `account/app/env/component/Type`, or an account.",
            examples=["Cart"],
        ),
    ]
    classes: Annotated[
        list[str], Field(max_length=64, description="Empty for all classes.", examples=[["secret"]])
    ] = []
    at: Moment = None


class LentGrant(StoredGrant):
    """A grant that lends something, and how much of it comes through."""

    extent: Literal["whole", "limited", "nothing"]
    denied_by: list[str]


class CeilingBody(Wire):
    """The upper bound of a card, as far as a class is concerned."""

    card: str
    is_closed: bool
    positive: list[str]
    negative: list[str]


class ClassAccess(Wire):
    """What a holder may do in a class."""

    class_: Annotated[str, Field(alias="class")]
    lent: list[LentGrant]
    ceilings: list[CeilingBody]


class WhatCanAnswer(Answered):
    """What a holder may do, class by class."""

    holder: str
    classes: list[ClassAccess]


class RelativeBody(Wire):
    """A card of the family."""

    card_id: str
    is_known: bool
    is_revoked: bool


class HolderBody(Wire):
    """Who has a card."""

    holder: str
    agent_id: str | None


class BoundPlace(Wire):
    """Where a grant of a card stands."""

    bound: str
    index: int
    grant: str
    place: SourcePlace | None


class CardAnswer(Wire):
    """A card with its family and its holders."""

    card: dict[str, Any]
    is_revoked: bool
    places: list[BoundPlace]
    parents: list[RelativeBody]
    children: list[RelativeBody]
    descendants: list[RelativeBody]
    holders: list[HolderBody]
    snapshot: str
    digest: str
    revision: int


class LossBody(HolderBody):
    """What one holder would lose."""

    cards: list[str]
    floors: list[StoredGrant]
    exceptions: list[StoredGrant]
    ceilings: list[StoredGrant]
    denials: list[StoredGrant]


class RevocationAnswer(Wire):
    """What revoking a card would take from whom."""

    card: str
    refusal: str | None
    gone: list[str]
    losses: list[LossBody]
    snapshot: str
    digest: str
    revision: int


class RuleRow(Wire):
    """A rule."""

    code: str
    slug: str
    severity: Literal["error", "warning", "info"]
    confidence: Literal["certain", "likely", "possible"]


class RuleList(Wire):
    """All rules."""

    rules: list[RuleRow]


class RulePage(Wire):
    """The page of a code."""

    code: str
    slug: str | None
    markdown: str


class TokenRequest(Wire):
    """A token to be made."""

    name: Annotated[str, Field(min_length=1, max_length=600, examples=["ci"])]
    scope: Literal["read", "write", "admin"] = "read"
    account: Annotated[str, Field(max_length=MAX_NAME, examples=["acme@example.com"])] = ""
    application: Annotated[str, Field(max_length=MAX_NAME, examples=["shop"])] = ""
    expires_at: Moment = None


class TokenBody(Wire):
    """A token without its text."""

    id: str
    name: str
    scope: Literal["read", "write", "admin"]
    account: str | None
    application: str | None
    created_at: str
    created_by: str
    expires_at: str | None
    revoked_at: str | None


class NewToken(TokenBody):
    """A token with the text that is never shown again."""

    token: str


class TokenList(Wire):
    """All tokens."""

    tokens: list[TokenBody]


class AuditEntry(Wire):
    """One write."""

    number: int
    at: str
    actor: str
    action: str
    subject: str
    account: str | None
    application: str | None
    detail: Any


class AuditLog(Wire):
    """A page of the log of writes."""

    entries: list[AuditEntry]
    next: str | None


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


def rules_named(edition: str, switches: Sequence[str]) -> Rules:
    """The rules that query parameters name; a switch is written `name=value`.

    Raises:
        InputError: MANIF091 for an unknown edition, switch or value.
    """
    pairs = [text.partition("=") for text in switches]
    return rules_of(edition, {name: value for name, _, value in pairs})


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
