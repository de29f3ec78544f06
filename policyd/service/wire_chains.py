"""The JSON of questions about chains, tools, schemas and values.

Source: interface, `chain check`, `tool diff`, `schema compare`, `value check`; middleware 6.5.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from policyd.core.edition import Rules
from policyd.core.schema.json_text import JsonValue as Exact
from policyd.core.schema.json_text import parse_json
from policyd.core.tools.profile import KEYS, Profile, switch_word
from policyd.findings import InputError
from policyd.service.wire import MAX_NAME, DigestText, Document, FindingBody, RulesChoice, Wire, rules_of

MAX_DOCUMENTS = 64
"""Documents of one question."""

MAX_PARTS = 10_000
"""Steps, environments or words in one list of a question."""

Verdict = Literal["accept", "accept-with-warnings", "reject", "undecided"]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Schema = Annotated[
    str | dict[str, Any],
    Field(description="A type in the short notation, or the platform's JSON.", examples=["record{a: u8}"]),
]


class ChainRules(RulesChoice):
    """Edition, switches, and switches of the profile."""

    def rules(self) -> Rules:
        """The rules that are chosen.

        Raises:
            InputError: MANIF091 for an unknown edition, switch or value.
        """
        words = {name: switch_word(name, value) for name, value in self.switches.items()}
        return rules_of(self.edition, {name: word for name, word in words.items() if word is not None})

    def profile(self) -> Profile:
        """The profile that is chosen.

        Raises:
            InputError: MANIF091 for an unknown value.
        """
        profile = Profile.of(self.rules())
        for name, value in self.switches.items():
            if name in KEYS and switch_word(name, value) is None:
                try:
                    profile = profile.set(name, value)
                except ValueError as words:
                    raise InputError.of("MANIF091", f"`{name}` takes {words}") from None
        return profile


class ChainPlace(ChainRules):
    """Which chains are asked about: those of a snapshot, or of documents that are sent."""

    snapshot: Annotated[str | None, Field(max_length=MAX_NAME, description="`@12`, or its latest by names.")] = None
    digest: DigestText = None
    documents: Annotated[
        list[Document],
        Field(
            default_factory=list,
            max_length=MAX_DOCUMENTS,
            description="One interchange document, or the documents of a manifest, the root first.",
        ),
    ]
    definitions: Annotated[
        list[Document],
        Field(
            default_factory=list,
            max_length=MAX_DOCUMENTS,
            description="Interchange documents that define tools and middleware.",
        ),
    ]
    account: Annotated[str, Field(max_length=MAX_NAME, description="Owner of a manifest's environments.")] = ""


class ChainCheckRequest(ChainPlace):
    """Every chain, or some of them."""

    environments: Annotated[list[Name] | None, Field(max_length=MAX_PARTS, description="Null for all.")] = None
    tool: Annotated[str, Field(max_length=MAX_NAME, description="Only chains of this tool.")] = ""


class ChainExplainRequest(ChainPlace):
    """One call through a chain."""

    call: Annotated[str, Field(min_length=1, max_length=MAX_NAME, description="The tool and the command.")]
    input: Annotated[
        dict[str, JsonValue],
        Field(default_factory=dict, description="Canonical JSON of the outermost definition's record."),
    ]
    agent: Annotated[str, Field(max_length=MAX_NAME, description="Agent type, where chains differ.")] = ""
    environment: Annotated[str | None, Field(max_length=MAX_NAME)] = None
    result: Annotated[JsonValue, Field(description="What the tool returns; left out: a smallest result.")] = None
    error: Annotated[str, Field(max_length=MAX_NAME, description="A declared error in which the tool ends.")] = ""
    payload: Annotated[JsonValue, Field(description="The payload of that error.")] = None


class ToolDiffRequest(ChainRules):
    """Two states of a tool: the platform's metadata, a registry record, or the short form."""

    old: dict[str, Any]
    new: dict[str, Any]


class SchemaCompareRequest(Wire):
    """Two schemas."""

    source: Schema
    target: Schema
    relation: Literal["project", "assign", "equivalent"] = "project"


class OutcomeRequest(Wire):
    """A declared sequence around one call."""

    component: Annotated[dict[str, Any] | None, Field(description="Which capabilities it has.")] = None
    call: Annotated[dict[str, Any] | None, Field(description="`errors`, `outputs`, `observers`.")] = None
    steps: Annotated[list[JsonValue], Field(default_factory=list, max_length=MAX_PARTS)]

    def sequence(self) -> dict[str, Any]:
        """The sequence as a document has it."""
        return {k: v for k in ("component", "call", "steps") if (v := getattr(self, k)) is not None}


class ValueCheckRequest(ChainRules):
    """A JSON text and the type of which it should be a value."""

    type: Schema
    value: Annotated[str, Field(max_length=1 << 20, description="The JSON text, exactly.", examples=['{"a": 1}'])]
    trusted: Annotated[bool, Field(description="Whether it may hold capabilities, as the host's own JSON does.")] = (
        False
    )


class JsonSchemaRequest(Wire):
    """A type, and for whom it is described."""

    type: Schema
    policy: Literal["canonical", "embedded", "external-input", "external-output", "reflection"] = "canonical"


class Fingerprinted(FindingBody):
    """A finding, with a name that survives unrelated edits."""

    fingerprint: str


class DeploymentBody(Wire):
    """The verdict of a deployment."""

    verdict: Verdict
    mode: str


class CallerBody(Wire):
    """What happens to one caller."""

    name: str
    verdict: Verdict
    findings: list[Fingerprinted]


class PermissionBody(Wire):
    """One call along the chain, decided with the cards."""

    agent: str
    source: Annotated[str, Field(alias="from")]
    target: str
    decided: str


class ChainBody(Wire):
    """One chain."""

    environment: str
    agents: list[str]
    tool: str
    deployment: DeploymentBody
    chain: list[str]
    effective: dict[str, Any] | None
    edges: list[dict[str, Any]]
    callers: list[CallerBody]
    permissions: list[PermissionBody]
    diagnostics: list[Fingerprinted]
    not_analysed: list[str]


class ChainAnswer(Wire):
    """All chains, as middleware 6.5 has it; `snapshot` is null for documents that were sent."""

    policyd: int
    report: list[ChainBody]
    findings: list[Fingerprinted]
    unmet: list[Fingerprinted]
    not_analysed: list[str]
    edition: str
    switches: dict[str, str]
    snapshot: str | None


class StepBody(Wire):
    """One thing that happens to a call."""

    where: str
    words: str
    value: Any
    ends: bool


class FollowedAnswer(Wire):
    """The way of a call inward, and of its outcome outward; `found` is false where there is no such chain."""

    found: bool
    chain: str | None
    inward: list[StepBody]
    outward: list[StepBody]
    reaches: Annotated[str, Field(description="`yes`, if every layer forwards; `no`; `unknown`.")]
    reaches_tool: Annotated[bool, Field(description="Whether `reaches` is `yes`.")]
    bound: Annotated[list[str], Field(description="The tools that have chains.")]
    edition: str
    switches: dict[str, str]
    snapshot: str | None


class ModeBody(Wire):
    """One mode of compatibility."""

    mode: str
    verdict: Verdict
    findings: list[FindingBody]


class CallersBody(Wire):
    """Callers built from the old state."""

    verdict: str
    findings: list[FindingBody]


class ToolDiffAnswer(Wire):
    """May the new tool stand where the old one was."""

    modes: list[ModeBody]
    callers: CallersBody
    added: list[str]
    removed: list[str]
    edition: str
    switches: dict[str, str]


class NoWitnessBody(Wire):
    """Why no value shows it."""

    reason: str
    words: str


class RiskBody(Wire):
    """A place at which an accepted pair may fail at run time."""

    label: str
    path: str


class SchemaAnswer(Wire):
    """Whether the relation holds, and what shows it where it does not; those members are there for a `no` only."""

    relation: str
    verdict: Literal["yes", "no", "undecided"]
    source: str
    target: str
    path: str = ""
    reason: str = ""
    here: Annotated[list[str], Field(default_factory=list)]
    witness: str | None = None
    no_witness: NoWitnessBody | None = None
    refused_because: str = ""
    risks: list[RiskBody]


class ToldBody(Wire):
    """One step with what is seen."""

    step: str
    seen: str
    refused: bool


class OutcomeBody(Wire):
    """The whole sequence."""

    steps: list[ToldBody]
    owned: list[str]
    may_never_end: list[str]


class BrokenBody(Wire):
    """One rule that is broken."""

    stage: Literal["decode", "validate"]
    rule: str
    path: str
    words: str


class ValueAnswer(Wire):
    """Whether the text is a value; `canonical` is there where it has that form."""

    verdict: str
    broken: list[BrokenBody]
    canonical: Any = None


def named(documents: Sequence[Document]) -> list[tuple[str, str]]:
    """Documents by name and text."""
    return [(document.name, document.text) for document in documents]


def exact(value: object) -> Exact:
    """A JSON value of a request as the readers of canonical JSON take it.

    Raises:
        InputError: MANIF091 for what is no JSON.
    """
    try:
        return parse_json(json.dumps(value))
    except (ValueError, RecursionError) as why:
        raise InputError.of("MANIF091", f"no JSON: {why}") from None
