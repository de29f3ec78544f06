"""Who validates what, and before what: the approaches of a client as decision tables.

Source: middleware 5.1 to 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Approach(Enum):
    """How a client comes by its schemas; the value is the word of the command line."""

    NORMAL_RPC = "normal-rpc"
    METHOD_ONLY = "method-only"
    FULL_STATIC = "full-static"
    DISCOVERED = "discovered"
    DYNAMIC = "dynamic"


class By(Enum):
    """Who answers a question, and when; the value is the mark of the tables."""

    COMPILER = "C"
    LOCALLY = "L"
    ON_OUTCOME = "O"
    CALLER = "U"
    NOBODY = "-"


BY_WORDS: dict[By, str] = {
    By.COMPILER: "the compiler: typed code cannot express the violation",
    By.LOCALLY: "the client, before RPC is opened",
    By.ON_OUTCOME: "the client, on the value of an awaited call",
    By.CALLER: "the caller's own responsibility",
    By.NOBODY: "nobody locally",
}


@dataclass(frozen=True, slots=True)
class ApproachRow:
    """One approach.

    Attributes:
        approach: which one.
        source: where its schemas come from.
        validates: what it validates locally.
        is_reflection: whether it counts as reflection.
        fits: what the caller has when it is the one to choose.
    """

    approach: Approach
    source: str
    validates: str
    is_reflection: bool
    fits: str


APPROACHES: tuple[ApproachRow, ...] = (
    ApproachRow(
        Approach.NORMAL_RPC,
        "a definition shared with the producer",
        "static codecs encode typed inputs and decode outputs",
        False,
        "source shared with the producer",
    ),
    ApproachRow(
        Approach.METHOD_ONLY,
        "the caller's own definition of methods",
        "only the fields of those methods",
        True,
        "a stable interface without shared source, and the id of an agent that exists",
    ),
    ApproachRow(
        Approach.FULL_STATIC,
        "the caller's own definition of type name, constructor, configuration and methods",
        "methods, identity, and configuration that the definition declares",
        True,
        "a stable interface without shared source, and agents to create",
    ),
    ApproachRow(
        Approach.DISCOVERED,
        "an immutable snapshot of visible metadata",
        "inputs, declared outputs and command constraints, automatically",
        True,
        "a deployed environment that decides at run time what there is",
    ),
    ApproachRow(
        Approach.DYNAMIC,
        "whatever the caller carries",
        "nothing; the caller packs and validates",
        True,
        "packed values to transport, without schemas of its own",
    ),
)
"""The five approaches in order."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The answer of one approach to one question.

    Attributes:
        by: who answers locally.
        words: the answer.
    """

    by: By
    words: str


@dataclass(frozen=True, slots=True)
class Question:
    """One row of a decision table.

    Attributes:
        key: `A1` and so on before the call, `V1` and so on after it.
        words: the question.
        cells: one per approach, in their order.
        host: what the host checks in any case.
    """

    key: str
    words: str
    cells: tuple[Cell, Cell, Cell, Cell, Cell]
    host: str

    def cell(self, approach: Approach) -> Cell:
        """The answer of one approach."""
        return self.cells[list(Approach).index(approach)]


def _c(words: str = "typed code cannot express the violation") -> Cell:
    return Cell(By.COMPILER, words)


def _l(words: str) -> Cell:
    return Cell(By.LOCALLY, words)


def _o(words: str) -> Cell:
    return Cell(By.ON_OUTCOME, words)


def _u(words: str = "the caller's own responsibility") -> Cell:
    return Cell(By.CALLER, words)


def _n(words: str = "nobody locally") -> Cell:
    return Cell(By.NOBODY, words)


QUESTIONS: tuple[Question, ...] = (
    Question(
        "A1",
        "is the target type or tool visible to me",
        (_n(), _n(), _n(), _l("at discovery: the answer is absent, and nothing is created"), _n()),
        "checks visibility",
    ),
    Question(
        "A2",
        "does the agent type name match",
        (
            _c(),
            _n("no name is known"),
            _l("exactly, against the own definition"),
            _l("exactly, against the snapshot"),
            _u(),
        ),
        "resolves the identity",
    ),
    Question(
        "A3",
        "are constructor values right (names, types, restrictions)",
        (
            _c("typed code, and the codec for restrictions"),
            _n("not expressible: no constructor is described"),
            _l("against the own definition"),
            _l("against the snapshot"),
            _n("not expressible: it starts from an existing id, or an explicit one-shot ephemeral address"),
        ),
        "checks them again",
    ),
    Question(
        "A4",
        "is the principal supplied by the caller",
        (_n("no: the host injects it"),) * 5,
        "injects the principal",
    ),
    Question(
        "A5",
        "configuration override: is the path known",
        (_c(), _n("raw entries pass unvalidated"), _l("against the own definition"), _l("against the snapshot"), _u()),
        "checks the path",
    ),
    Question(
        "A6",
        "configuration override: declared type and restrictions",
        (_c(), _n("raw entries pass unvalidated"), _l("against the own definition"), _l("against the snapshot"), _u()),
        "checks type and restrictions",
    ),
    Question(
        "A7",
        "configuration override: is the path a secret (not overridable)",
        (
            _c("typed code, or the codec before RPC"),
            _n("raw entries pass unvalidated"),
            _l("rejects the override before RPC"),
            _l("rejects the override before RPC"),
            _u(),
        ),
        "refuses overrides of secrets",
    ),
    Question(
        "A8",
        "configuration: a required entry is missing",
        (
            _n(),
            _n(),
            _n("no error: a component default may supply it"),
            _n("no error: a component default may supply it"),
            _n(),
        ),
        "decides the effective configuration",
    ),
    Question(
        "A9",
        "does the method or command exist",
        (
            _c(),
            _l("in the own definition"),
            _l("in the own definition"),
            _l("in the snapshot; name spaces cannot be called"),
            _u(),
        ),
        "resolves it: `InvalidCommandPath`",
    ),
    Question(
        "A10",
        "input shape",
        (_c(), _l("before RPC"), _l("before RPC"), _l("before RPC"), _u()),
        "decodes and compares: `InvalidInput`",
    ),
    Question(
        "A11",
        "restrictions of numbers, text, binary, path, URL, quantity, collections, union discriminators",
        (
            _l("the codec, as far as the type carries them"),
            _l("as far as described"),
            _l("as far as described"),
            _l("all of them"),
            _u(),
        ),
        "validates every value",
    ),
    Question(
        "A12",
        "defaults and omitted options",
        (
            _l("the codec fills them"),
            _l("filled from the own definition"),
            _l("filled from the own definition"),
            _l("filled from the snapshot"),
            _u("every field, in declaration order"),
        ),
        "expects a complete record",
    ),
    Question(
        "A13",
        "command constraints",
        (
            _n("nobody, or the generated client"),
            _l("as described"),
            _l("as described"),
            _l("all of the snapshot"),
            _u(),
        ),
        "evaluates them: `ConstraintViolation`",
    ),
    Question(
        "A14",
        "is my schema still the deployed one",
        (_n(), _n(), _n("a full definition does not consult discovery"), _n("the snapshot does not follow"), _n()),
        "for tools, the input graph must be equivalent",
    ),
    Question("A15", "authorization", (_n(),) * 5, "only the host decides: `Denied`"),
    Question(
        "A16",
        "a regex or URL restriction while the guest is built without that feature",
        (
            _l("an explicit error, never silence"),
            _l("an explicit error, never silence"),
            _l("an explicit error, never silence"),
            _l("an explicit error, the call is not opened"),
            _u(),
        ),
        "has both features",
    ),
    Question(
        "V1",
        "result present when and only when declared",
        (_o("checked"), _o("checked"), _o("checked"), _o("checked"), _u()),
        "checks it: `InvalidResult`",
    ),
    Question(
        "V2",
        "result has the declared shape",
        (
            _o("decoded"),
            _o("decoded"),
            _o("decoded"),
            _o("validated"),
            _u("a discovered schema can be applied by hand"),
        ),
        "checks against the deployed schema",
    ),
    Question(
        "V3",
        "a failure of the remote agent or tool stays structured",
        (_o("yes"), _o("yes"), _o("yes"), _o("yes"), _o("yes")),
        "nothing more",
    ),
    Question(
        "V4",
        "custom error payload decoded",
        (_o("by declared error"), _o("by declared error"), _o("by declared error"), _o("by snapshot"), _n("raw")),
        "validates name and payload",
    ),
    Question(
        "V5",
        "undeclared custom error",
        (
            _o("a value for unknown errors"),
            _o("a value for unknown errors"),
            _o("a value for unknown errors"),
            _o("a value for unknown errors"),
            _n("raw"),
        ),
        "for tools, `InvalidResult` at the boundary of the callee",
    ),
)
"""The rows before the call (A) and after it (V)."""


class Identity(Enum):
    """What identity the caller has at hand."""

    CONSTRUCTOR_VALUES = "constructor-values"
    DURABLE_ID = "durable-id"
    DURABLE_PHANTOM_ID = "durable-phantom-id"
    EPHEMERAL_TYPE = "ephemeral-type"
    UNUSED_PHANTOM = "unused-phantom"
    FINAL_EPHEMERAL_ID = "final-ephemeral-id"


IDENTITIES: dict[Identity, tuple[str, str, str, str, str]] = {
    Identity.CONSTRUCTOR_VALUES: ("create", "no", "create", "create, by its factory", "no"),
    Identity.DURABLE_ID: (
        "through constructor values",
        "rebind",
        "rebind",
        "rebind after matching the type",
        "rebind",
    ),
    Identity.DURABLE_PHANTOM_ID: ("yes", "rebind", "factory or rebind", "factory or rebind", "rebind"),
    Identity.EPHEMERAL_TYPE: ("call", "no", "call", "call; there is no `get`", "explicit one-shot address"),
    Identity.UNUSED_PHANTOM: ("one call",) * 5,
    Identity.FINAL_EPHEMERAL_ID: ("no",) * 5,
}
"""What each approach can do with an identity, in the order of the approaches."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A rule that holds whatever the approach is.

    Attributes:
        key: for asking.
        words: the rule.
    """

    key: str
    words: str


FACTS: tuple[Fact, ...] = (
    Fact("snapshot", "a snapshot never changes; only an explicit rediscovery repairs staleness"),
    Fact("lookup", "a look-up of something missing, malformed or invisible answers nothing and never creates an agent"),
    Fact("identity", "identities are scoped to the environment, contain no component id and only supplied values"),
    Fact("override", "overrides are used when an agent is created; rebinding keeps the persisted configuration"),
    Fact("metadata", "invocation metadata can be stored, rediscovered and rebound when the identity is durable"),
    Fact(
        "ephemeral",
        "an ephemeral agent has no reusable identity; a phantom takes one call, its id none after",
    ),
    Fact("stream", "live streams go with awaited calls only; trigger and schedule cannot carry them"),
    Fact("started", "streams of started calls must be consumed, abandoned work cancelled or closed"),
)
"""Rules about snapshots, identity, configuration and resources."""

MOVES: dict[tuple[Approach, Approach], str] = {
    (Approach.NORMAL_RPC, Approach.METHOD_ONLY): "the compiler no longer checks; agents cannot be created",
    (
        Approach.NORMAL_RPC,
        Approach.FULL_STATIC,
    ): "the compiler no longer checks: violations show before RPC",
    (
        Approach.NORMAL_RPC,
        Approach.DISCOVERED,
    ): "the compiler no longer checks; the host tells a stale snapshot",
    (
        Approach.FULL_STATIC,
        Approach.METHOD_ONLY,
    ): "identity and configuration go unchecked; nothing can be created",
    (Approach.METHOD_ONLY, Approach.FULL_STATIC): "nothing is lost: identity and configuration are validated as well",
    (
        Approach.FULL_STATIC,
        Approach.DISCOVERED,
    ): "the definition follows what was deployed at discovery",
    (
        Approach.DISCOVERED,
        Approach.FULL_STATIC,
    ): "restrictions are only checked as far as they are described",
    (
        Approach.DISCOVERED,
        Approach.DYNAMIC,
    ): "validation does not travel with the value: caller and host from then on",
    (
        Approach.FULL_STATIC,
        Approach.DYNAMIC,
    ): "local validation: the caller packs every field, in order",
    (Approach.METHOD_ONLY, Approach.DYNAMIC): "local validation of the described fields",
    (Approach.NORMAL_RPC, Approach.DYNAMIC): "all local validation and typed outcomes",
    (Approach.DYNAMIC, Approach.DISCOVERED): "nothing is lost: packed values are validated against the snapshot again",
    (Approach.METHOD_ONLY, Approach.NORMAL_RPC): "independence of the producer's source; described constraints",
    (Approach.FULL_STATIC, Approach.NORMAL_RPC): "independence of the producer's source; described constraints",
    (Approach.DISCOVERED, Approach.NORMAL_RPC): "the look at what is deployed and visible; constraints of the snapshot",
    (Approach.DYNAMIC, Approach.NORMAL_RPC): "nothing is checked less, but source has to be shared with the producer",
    (
        Approach.METHOD_ONLY,
        Approach.DISCOVERED,
    ): "nothing is checked less, but the target has to be visible at discovery",
    (
        Approach.DISCOVERED,
        Approach.METHOD_ONLY,
    ): "identity and configuration go unchecked, restrictions as far as they are not described; nothing is created",
    (Approach.DYNAMIC, Approach.METHOD_ONLY): "explicit addresses of ephemeral types; only described methods remain",
    (Approach.DYNAMIC, Approach.FULL_STATIC): "nothing is checked less; only what is described remains",
}
"""What is lost by moving from one approach to another."""


_CHECKED = (By.COMPILER, By.LOCALLY, By.ON_OUTCOME)


def unchecked_after(start: Approach, to: Approach) -> tuple[Question, ...]:
    """The rows that somebody answers on the caller's side before a move, and nobody or only the caller after it.

    >>> [row.key for row in unchecked_after(Approach.DISCOVERED, Approach.NORMAL_RPC)]
    ['A1', 'A13']
    """
    return tuple(row for row in QUESTIONS if row.cell(start).by in _CHECKED and row.cell(to).by not in _CHECKED)


def impossible_after(start: Approach, to: Approach) -> tuple[Identity, ...]:
    """The identities with which something can be done before a move, and nothing after it."""
    before, after = list(Approach).index(start), list(Approach).index(to)
    return tuple(found for found, words in IDENTITIES.items() if words[before] != "no" and words[after] == "no")


class Knowledge(Enum):
    """What a caller has, by which an approach is chosen."""

    SHARED_SOURCE = "shared-source"
    STABLE_INTERFACE = "stable-interface"
    CONSTRUCTOR = "constructor"
    AGENT_ID = "agent-id"
    DEPLOYED_ENVIRONMENT = "deployed-environment"
    PACKED_VALUES = "packed-values"


def fitting(known: frozenset[Knowledge]) -> tuple[Approach, str]:
    """The approach that fits what a caller has, and why.

    >>> fitting(frozenset({Knowledge.STABLE_INTERFACE, Knowledge.AGENT_ID}))[0].value
    'method-only'
    """
    if Knowledge.SHARED_SOURCE in known:
        return Approach.NORMAL_RPC, "source is shared with the producer"
    if Knowledge.STABLE_INTERFACE in known:
        if Knowledge.CONSTRUCTOR in known or Knowledge.AGENT_ID not in known:
            return (
                Approach.FULL_STATIC,
                "a stable interface without shared source, and agents are created",
            )
        return Approach.METHOD_ONLY, "a stable interface without shared source, and the agent exists"
    if Knowledge.DEPLOYED_ENVIRONMENT in known:
        return Approach.DISCOVERED, "the deployed environment decides what there is"
    if Knowledge.CONSTRUCTOR in known:
        return Approach.DISCOVERED, "agents are created, and only the deployed environment describes their constructor"
    return Approach.DYNAMIC, "only packed values are transported"


def question(key: str) -> Question | None:
    """The row of a key, in any case; None where there is none."""
    return next((row for row in QUESTIONS if row.key.lower() == key.lower()), None)
