"""Explanations on the wire.

Source: interface, `explain`; questions 2.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from policyd.service.wire import MAX_NAME, MAX_TEXT, Document, Moment, RulesChoice, SnapshotText, Wire
from policyd.service.wire_all_calls import MAX_BUDGET_S

MAX_ERROR = 1_048_576
"""Characters of a pasted text."""


class ExplanationRequest(RulesChoice):
    """A denial: a pasted text, an operation or a target; of a stored deployment, or of manifests that are sent."""

    snapshot: Annotated[SnapshotText | None, Field(description="Or send `documents`, to get patches.")] = None
    digest: Annotated[str | None, Field(max_length=64, description="Demands this revision of the snapshot.")] = None
    documents: Annotated[list[Document], Field(default_factory=list, max_length=256)]
    environment: Annotated[str | None, Field(max_length=MAX_NAME, description="Of the documents.")] = None
    presets: Annotated[list[str] | None, Field(max_length=256)] = None
    account: Annotated[str, Field(max_length=MAX_NAME)] = ""
    component: Annotated[str, Field(max_length=MAX_NAME)] = ""
    agent: Annotated[str, Field(max_length=MAX_NAME, examples=["Cart"])] = ""
    holder: Annotated[str, Field(max_length=MAX_NAME)] = ""
    error: Annotated[str | None, Field(max_length=MAX_ERROR, description="The pasted text; it is never kept.")] = None
    operation: Annotated[str, Field(max_length=200)] = ""
    arguments: Annotated[dict[str, Any], Field(default_factory=dict, max_length=64)]
    target: Annotated[str, Field(max_length=MAX_TEXT, examples=["secret(?env) : reveal : stripe.key"])] = ""
    scope: Annotated[dict[str, Any] | None, Field(description="The scope card of the invocation.")] = None
    deployer: Annotated[
        list[dict[str, Any]] | None,
        Field(max_length=1000, description="Cards of whoever deploys; null for an assumed account root card."),
    ] = None
    at: Moment = None
    budget: Annotated[float, Field(gt=0, le=MAX_BUDGET_S, description="Effort on fixes in seconds, roughly.")] = 2.0


class ExplanationAnswer(Wire):
    """What was refused, why, and the narrowest changes that would let it through."""

    outcome: Literal["explained", "no denial", "several readings that differ"]
    who: str
    denials: list[dict[str, Any]]
    unrecognised: str | None
    notes: list[str]
    edition: str
    switches: dict[str, str]
    snapshot: str | None = None
    digest: str | None = None
    revision: int | None = None
