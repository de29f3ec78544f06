"""The JSON of questions about all calls: differences, proofs, what-if, the least grants.

Source: interface, `diff`, `prove`, `what-if`, `synth`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from policyd.service.wire import (
    MAX_NAME,
    MAX_TEXT,
    Answered,
    DigestText,
    Moment,
    Place,
    RulesChoice,
    SnapshotText,
    Wire,
)
from policyd.usecases.changes import MAX_SHOWN

MAX_BUDGET_S = 10.0
"""The most effort that one question may ask for; the settings of the service may give less."""

MAX_LINES = 200
"""The most calls, grants, places or cards in one list of a question."""

Word = Literal["holds", "fails", "undecided"]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Budget = Annotated[
    float, Field(gt=0, le=MAX_BUDGET_S, description="Effort in seconds for all holders, roughly, before `undecided`.")
]
Agent = Annotated[str, Field(max_length=MAX_NAME, description="An agent type or id; empty for all.", examples=["Cart"])]
CrossCheck = Annotated[bool, Field(description="Let a solver come to the same result by another way.")]
Shown = Annotated[int, Field(ge=1, le=200, description="The most witnesses for each holder and direction.")]


class DifferenceRequest(RulesChoice):
    """Two snapshots."""

    old: SnapshotText
    new: SnapshotText
    old_digest: DigestText = None
    new_digest: DigestText = None
    agent: Agent = ""
    component: Name = ""
    at: Moment = None
    limit: Shown = MAX_SHOWN
    budget: Budget = 5.0
    cross_check: CrossCheck = False


class ProofRequest(Place):
    """One claim about all calls: exactly one of `never` and `always`, or a relation to another snapshot."""

    agent: Agent = ""
    component: Name = ""
    at: Moment = None
    never: Annotated[Text | None, Field(description="A query whose calls must never be admitted.")] = None
    always: Annotated[Text | None, Field(description="A query whose calls must all be admitted.")] = None
    relation: Annotated[
        Literal["implies", "equivalent", "disjoint"] | None, Field(description="How it relates to `other`.")
    ] = None
    other: Annotated[str | None, Field(max_length=MAX_NAME, description="The other snapshot of a relation.")] = None
    budget: Budget = 5.0
    cross_check: CrossCheck = False


class AddedGrant(Wire):
    """A grant to add."""

    bound: Literal["lower-positive", "lower-negative", "upper-positive", "upper-negative"] = "lower-positive"
    grant: Text


class WhatIfRequest(Place):
    """An edit: grants of initial cards that come and go, or cards."""

    agent: Agent = ""
    component: Name = ""
    at: Moment = None
    add: Annotated[list[AddedGrant], Field(default_factory=list, max_length=MAX_LINES)]
    remove: Annotated[
        list[Name],
        Field(
            default_factory=list, max_length=MAX_LINES, description="Places of grants to take away, `golem.yaml:14`."
        ),
    ]
    revoke: Annotated[
        list[Name], Field(default_factory=list, max_length=MAX_LINES, description="Ids of cards to revoke.")
    ]
    install: Annotated[
        list[dict[str, Any]],
        Field(default_factory=list, max_length=MAX_LINES, description="Cards to put into wallets."),
    ]
    on: Annotated[
        list[Name],
        Field(default_factory=list, max_length=MAX_LINES, description="Names of the holders they are put on."),
    ]
    limit: Shown = MAX_SHOWN
    budget: Budget = 5.0
    cross_check: CrossCheck = False


class SynthesisRequest(Place):
    """Which calls must and must not be admitted."""

    agent: Annotated[str, Field(min_length=1, max_length=MAX_NAME, description="An agent type or id.")]
    component: Name = ""
    allow: Annotated[list[Text], Field(max_length=MAX_LINES, description="Targets, all wanted; may be empty.")]
    deny: Annotated[list[Text], Field(default_factory=list, max_length=MAX_LINES, description="Targets, none wanted.")]
    deployer: Annotated[
        list[dict[str, Any]] | None, Field(max_length=MAX_LINES, description="Cards of whoever deploys.")
    ] = None
    keep: Annotated[bool, Field(description="Add to the present card instead of writing a new one.")] = False
    budget: Budget = 5.0


class WitnessBody(Wire):
    """One kind of call that changes."""

    call: str
    agent: Annotated[str, Field(description="The agent that asks it; empty for an account.")]
    cls: Annotated[str, Field(alias="class")]
    verb: str
    cause: str
    obstacle: str


class SideBody(Wire):
    """One direction of a change."""

    count: int
    witnesses: list[WitnessBody]
    more: int
    undecided: list[str]


class HolderChangeBody(Wire):
    """What changes for one holder."""

    name: str
    started: SideBody
    stopped: SideBody
    classes: int
    left_out: list[str]


class ChangesBody(Wire):
    """What changes for all holders, and under which rules it was asked."""

    old: str
    new: str
    holders: list[HolderChangeBody]
    notes: list[str]
    edition: str
    switches: dict[str, str]


class SnapshotNamed(Wire):
    """A snapshot that was read."""

    snapshot: str
    digest: str
    revision: int


class DifferenceAnswer(ChangesBody):
    """The difference of two snapshots."""

    snapshots: list[SnapshotNamed]


class WhatIfAnswer(ChangesBody):
    """What an edit of a snapshot changes."""

    snapshot: str
    digest: str
    revision: int


class ProvedBody(Wire):
    """The answer for one holder."""

    name: str
    answer: Word
    witness: str | None
    agent: Annotated[str | None, Field(description="The agent that asks the witness.")]
    grants: list[str]
    reason: str | None
    over: str | None


class ProofAnswer(Answered):
    """The answer over all holders asked about."""

    claim: str
    answer: Word
    results: list[ProvedBody]
    notes: list[str]


class SynthesisAnswer(Answered):
    """The least grants, or why there are none."""

    positive: list[str]
    negative: list[str]
    also_opens: list[str]
    refusal: str | None
    undecided: str | None
    notes: list[str]
    manifest: Annotated[str, Field(description="Manifest text of the new card.")]
