"""Questions about chains on the wire.

Source: interface, `reach`; questions 2.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from policyd.service.wire import MAX_NAME, MAX_TEXT, Answered, Moment, Place, SourcePlace, Wire
from policyd.service.wire_all_calls import MAX_BUDGET_S

MAX_ASSUMED = 200
"""So many assumptions of one question are read."""


class ReachRequest(Place):
    """Who gets to a call of a query by any chain (`to`), or what an actor comes by (`blastRadius`)."""

    to: Annotated[
        str | None, Field(max_length=MAX_TEXT, description="A query.", examples=["secret(?env) : reveal : stripe.key"])
    ] = None
    blast_radius: Annotated[
        str | None, Field(max_length=MAX_NAME, description="An actor, or the id of a card that somebody holds.")
    ] = None
    from_: Annotated[
        str,
        Field(alias="from", max_length=MAX_NAME, description="Only this actor: a type, an id, an account, `external`."),
    ] = ""
    never_together: Annotated[
        str, Field(max_length=MAX_TEXT, description="A second query: does one actor get to both?")
    ] = ""
    assume: Annotated[
        list[Annotated[str, Field(max_length=MAX_NAME)]],
        Field(
            default_factory=list,
            max_length=MAX_ASSUMED,
            description="Narrows the worst case: `no-data`, `no-WAY`, `trusted=TYPE`.",
        ),
    ]
    component: Annotated[str, Field(max_length=MAX_NAME, description="Of agent types, where it is not known.")] = ""
    at: Moment = None
    budget: Annotated[float, Field(gt=0, le=MAX_BUDGET_S, description="Effort in seconds, roughly.")] = 5.0


class CallGrant(Wire):
    """A grant that admits a call, as written."""

    grant: str
    place: SourcePlace | None


class HopCallBody(Wire):
    """A call that opens a hop."""

    who: str
    target: str
    grants: list[CallGrant]


class HopBody(Wire):
    """One actor comes by what another can."""

    from_: Annotated[str, Field(alias="from")]
    to: str
    way: str
    words: str
    condition: str | None
    calls: list[HopCallBody]
    place: SourcePlace | None
    source: str


class ChainBody(Wire):
    """How one actor gets there."""

    start: str
    hops: list[HopBody]
    end: HopCallBody


class ClassBody(Wire):
    """A class in which an actor may do something, with a call."""

    class_: Annotated[str, Field(alias="class")]
    call: HopCallBody


class TouchedBody(Wire):
    """An actor within a blast radius."""

    name: str
    hops: list[HopBody]
    classes: list[ClassBody]


class ReachAnswer(Answered):
    """Chains, or a proof that there are none; for a blast radius the actors that are touched."""

    claim: str | None = None
    answer: Literal["path", "none", "undecided"] | None = None
    from_: Annotated[str | None, Field(alias="from")] = None
    actors: int
    reaching: int | None = None
    chains: Annotated[list[ChainBody], Field(default_factory=list)]
    others: int | None = None
    gained: Annotated[list[str], Field(default_factory=list)]
    touched: Annotated[list[TouchedBody], Field(default_factory=list)]
    assumptions: list[str]
    undecided: list[str]
