"""The JSON of questions about retry policies and sagas.

Source: interface, `retry`, `saga`; retry 8.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from policyd.service.wire import MAX_NAME, DigestText, Document, FacetWord, FindingBody, RulesChoice, Wire

MAX_RULES = 60
"""Retry policies of one question, wherever they come from; the command line takes more."""

MAX_RUNS = 2_000
"""Random runs of one question."""

Name = Annotated[str, Field(max_length=MAX_NAME)]
Duration = Annotated[str, Field(max_length=64, description="Such as `200ms` or `12s`.", examples=["200ms"])]
Props = Annotated[
    list[Name],
    Field(
        default_factory=list,
        max_length=200,
        description="`name=value`, typed by the catalogue, or `name=int:503`, `name=text:503`, `name=bool:true`.",
        examples=[["verb=GET", "status-code=503"]],
    ),
]
RuleList = Annotated[list[dict[str, Any]], Field(max_length=MAX_RULES)]


class RetrySource(Wire):
    """Where rules come from: a snapshot, documents, or the JSON of the platform."""

    snapshot: Annotated[str | None, Field(max_length=MAX_NAME, description="`@12`, or its latest by names.")] = None
    digest: DigestText = None
    documents: Annotated[
        list[Document],
        Field(default_factory=list, max_length=256, description="The documents of a manifest, the root first."),
    ]
    policies: Annotated[
        RuleList | None, Field(description="Named policies as the platform's REST interface lists them.")
    ] = None
    environment: Annotated[str | None, Field(max_length=MAX_NAME, description="Of a manifest; null: its default.")] = (
        None
    )


class RetryPlace(RulesChoice, RetrySource):
    """Whose rules are asked about, under which edition."""


class ResolveRequest(RetryPlace):
    """One operation at a site."""

    site: Annotated[str, Field(max_length=MAX_NAME, examples=["http-status-p3"])]
    properties: Props
    event: Annotated[
        Literal[
            "application-error",
            "trap",
            "crash-between-retries",
            "crash-before-record",
            "replay",
            "atomic-region",
            "pending",
        ]
        | None,
        Field(description="Also say what follows this."),
    ] = None
    done: Annotated[
        int | None, Field(ge=0, lt=1 << 32, description="Retries already made: also say how many are left.")
    ] = None


class SimulateRequest(RetryPlace):
    """How the retries of some rules go."""

    names: Annotated[
        list[Name], Field(default_factory=list, max_length=MAX_RULES, description="Rules by name; none for all.")
    ]
    properties: Props
    site: Name = ""
    execution: Duration = "0"
    runs: Annotated[int, Field(ge=0, le=MAX_RUNS)] = 0
    seed: Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] = 0
    svg: Annotated[bool, Field(description="Also draw the schedules.")] = False


class LimitsRequest(RetryPlace):
    """Where the retries of every rule end."""


class LintRequest(RetryPlace):
    """What is wrong or risky."""

    existing: Annotated[RuleList | None, Field(description="Policies that the environment already has.")] = None
    overlay_set: Annotated[RuleList, Field(default_factory=list, description="What agents set at run time.")]
    overlay_removed: Annotated[list[Name], Field(default_factory=list, max_length=MAX_RULES)]


class RetryDiffRequest(RulesChoice):
    """Two sets of rules."""

    old: RetrySource
    new: RetrySource
    deploy: Annotated[bool, Field(description="`new` is deployed onto `old`: existing names are skipped.")] = False


class SagaRequest(RetryPlace):
    """The sagas of an agent."""

    agent: Annotated[str, Field(min_length=1, max_length=MAX_NAME, examples=["Cart"])]
    account: Name = ""
    component: Name = ""
    component_id: Name = ""
    attempt: Annotated[int | None, Field(ge=1, lt=1 << 64, description="Null for the whole sequence.")] = None
    continuation: Annotated[
        dict[str, Any] | None, Field(description="What the decision before handed on, as its answer has it.")
    ] = None
    elapsed: Duration = "0"
    form: Literal["infallible", "fallible"] = "infallible"
    body: Literal["failed", "ok", "trapped"] = "failed"
    compensation: Literal["ok", "failed", "trapped"] = "ok"
    body_time: Duration = "0"
    compensation_time: Duration = "0"
    identity: Literal["tree", "rule", "name+tree"] = "tree"
    admission: Literal["lenient", "strict"] = "lenient"
    self_view: Annotated[Literal["granted", "denied"] | None, Field(description="In place of what the cards say.")] = (
        None
    )
    sets_policies: bool = False


class CompileRequest(RulesChoice):
    """One policy as a user-space schedule."""

    policy: Annotated[JsonValue, Field(description="A tree: canonical JSON, a rule, a node list, or YAML text.")]
    sdk: Annotated[str, Field(max_length=64)] = "rust"
    with_properties: bool = False


class Told(Wire):
    """Which rules of the platform an answer is about, and the snapshot if it is of one."""

    edition: str
    switches: dict[str, str]
    snapshot: str | None = None
    notes: Annotated[list[str], Field(default_factory=list)]


class OutcomeRow(Wire):
    """One outcome that is possible with what was given."""

    rule: str | None
    error: bool
    properties: dict[str, JsonValue]


class ConsideredRow(Wire):
    """What became of one rule."""

    rule: str
    priority: int
    outcome: str
    why: str


class ResolveAnswer(Told):
    """Which rule decides, and why each other one does not."""

    site: str
    decided: bool
    rule: str | None
    error: str | None
    alternatives: list[OutcomeRow]
    considered: list[ConsideredRow]
    properties: dict[str, JsonValue]


class WaitRange(Wire):
    """One wait without jitter and with all of it, in nanoseconds as decimal text."""

    min_ns: str
    max_ns: str


class DistributionBody(Wire):
    """Percentiles of random runs."""

    runs: int
    seed: int
    total_ns: dict[str, str]
    retries: dict[str, int]


class CourseBody(Told):
    """How the retries of one rule go."""

    policy: str
    attempts: int | None
    retries: int | None
    waits: list[WaitRange]
    total_min_ns: str
    total_max_ns: str
    end: str | None
    sentence: str
    distribution: DistributionBody | None


class SimulateAnswer(Told):
    """Courses, one for each rule, and the picture if it was asked for."""

    courses: list[CourseBody]
    svg: str | None


class LimitsAnswer(Told):
    """Bounds per rule and per site."""

    policies: list[dict[str, JsonValue]]
    sites: list[dict[str, JsonValue]]
    elapsed: str | None = None


class LintAnswer(Told):
    """Findings on the rules, and what was not analysed."""

    findings: list[FindingBody]
    not_analysed: list[str]


class RetryDiffAnswer(Told):
    """What changes for which calls."""

    differences: list[dict[str, JsonValue]]
    added: list[str]
    removed: list[str]
    edited: list[str]
    latent: list[str]
    new_ties: list[list[str]]
    skipped: list[str]
    undecided: list[dict[str, JsonValue]]
    old: dict[str, JsonValue] | None
    new: dict[str, JsonValue] | None


class SagaAnswerBody(Told):
    """Three facets, the verdict, the continuation, and what could change the selection."""

    agent: str
    admitted: FacetWord
    bounded: FacetWord
    replay_stable: FacetWord
    verdict: str | None
    result: str | None
    why: str
    alternatives: list[str]
    reasons: list[dict[str, JsonValue]]
    rule: str | None
    policy: str | None
    delay_ns: dict[str, JsonValue] | None
    next_attempt: int | None
    continuation: dict[str, JsonValue] | None
    bounds: dict[str, JsonValue] | None
    stability: str | None
    first_unstable_attempt: int | None
    instability: list[str]
    retries_left: dict[str, JsonValue] | None
    course: dict[str, JsonValue] | None
    steps: dict[str, JsonValue] | None
    self_view: str
    self_metadata: dict[str, JsonValue]
    warnings: list[str]
    advice: str | None


class CompileAnswer(Told):
    """What compiles, and where it differs from the host with the same tree."""

    compiles: bool
    error: dict[str, JsonValue] | None
    bounds: dict[str, JsonValue] | None
    differences: list[str]
    sdk: str


class SitesAnswer(Told):
    """The places that ask for retry decisions."""

    sites: list[dict[str, JsonValue]]
