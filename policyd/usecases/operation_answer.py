"""The answer to `may this operation happen`: every target with its own answer, and the three facets of the whole.

The command line, the interface, the page and explanations call this one function.

Source: questions 1, 3; host 1.6, 2, 3; interface, `check --op`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from policyd.core.admission import OperationCall, admit_operation_type, look_at_self
from policyd.core.admission.operation import OperationVerdict, asker_of
from policyd.core.admission.self_view import SHOWS_THE_SAME, SelfView
from policyd.core.admission.verdict import Facet, FacetName, Verdict
from policyd.core.cards import CardId
from policyd.core.edition import Edition, Rules
from policyd.core.grants import Target
from policyd.core.operations import Arguments, Operation, Ports, Refusal, Unclear, asked_by
from policyd.core.operations.durable import NOTHING_DECLARED, Declarations
from policyd.core.operations.network import OutboundUrl, UrlReader
from policyd.core.operations.sql import Engine, NamedTable, SqlReader
from policyd.findings import InputError, PolicydError, nearest
from policyd.syntax.denials.redaction import redacted_argument, redacted_name
from policyd.syntax.mistakes import shown
from policyd.usecases.answer import Answer
from policyd.usecases.check_call import placed_refs, reach_notes
from policyd.usecases.explain_holding import Holding
from policyd.usecases.holders import written_target
from policyd.usecases.operation_listing import record_words, remarks_of
from policyd.usecases.operation_sdk import NEWEST_RUST, Sdk, contradiction, start_up_notes
from policyd.usecases.stored_decisions import over_own_wallets


@dataclass(frozen=True, slots=True)
class OperationQuestion:
    """An operation with its arguments.

    Attributes:
        operation: of the catalogue.
        arguments: as typed.
        sdk: whose surfaces are told.
        declarations: what the program declares of durable operations and streams.
        executing: `account/application/environment/component` of a tool whose code asks, empty for the agent's own.
        carrier: the operation that carries a secret, None if not given.
    """

    operation: Operation
    arguments: Arguments
    sdk: Sdk = NEWEST_RUST
    declarations: Declarations = NOTHING_DECLARED
    executing: tuple[str, ...] = ()
    carrier: Operation | None = None


@dataclass(frozen=True, slots=True)
class SelfMetadata:
    """What is special about reading one's own metadata.

    Attributes:
        view: both conditions apart.
        exposes: names of variables and configuration that the result would show, as far as they are known.
        same: other operations that show the same.
    """

    view: SelfView
    exposes: tuple[str, ...]
    same: tuple[str, ...] = SHOWS_THE_SAME


@dataclass(frozen=True, slots=True)
class OperationAnswer:
    """Everything that is said about an operation.

    Attributes:
        question: as asked.
        answer: of the whole, with reasons and places.
        targets: in the order in which they are asked, each with its own answer.
        refusal: why no target can be made, empty where targets can.
        denial: how a denial shows with the SDK, empty where nothing can be denied.
        self_metadata: for `agent.get-self-metadata`.
        alternatives: replay-stability under each WASI generation, where that decides.
    """

    question: OperationQuestion
    answer: Answer
    targets: tuple[Answer, ...]
    refusal: str = ""
    denial: str = ""
    self_metadata: SelfMetadata | None = None
    alternatives: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def verdict(self) -> Verdict:
        """Of the whole."""
        return self.answer.verdict


MAX_TARGETS = 100
"""So many targets of one operation are answered one by one; all of them count for the whole."""


class _ReadOnce:
    """A reader of statements that reads each statement once: a hostile one may take a second each time."""

    def __init__(self, reader: SqlReader) -> None:
        self._reader = reader
        self._known: dict[tuple[Engine, str], tuple[NamedTable, ...] | Refusal | Unclear] = {}

    def tables(self, engine: Engine, sql: str) -> tuple[NamedTable, ...] | Refusal | Unclear:
        """As the reader says."""
        key = (engine, sql)
        if key not in self._known:
            self._known[key] = self._reader.tables(engine, sql)
        return self._known[key]


def discreet(refusal: Refusal) -> Refusal:
    """A refusal that repeats no credentials of a URL: answers stand in logs of CI jobs."""
    start, found, url = refusal.message.partition(_REFUSED_URL)
    if found and not start:
        return replace(refusal, message=f"{_REFUSED_URL}{redacted_argument('url', url)}")
    return replace(refusal, message=redacted_name(refusal.message))


_REFUSED_URL = "invalid outbound URL: "


class _Discreet:
    """A reader of URLs whose refusals do not repeat credentials."""

    def __init__(self, reader: UrlReader) -> None:
        self._reader = reader

    def outbound(self, text: str, ports: dict[str, int]) -> OutboundUrl | Refusal | Unclear:
        """As the reader says, the refused URL redacted."""
        found = self._reader.outbound(text, ports)
        return discreet(found) if isinstance(found, Refusal) else found

    def path_of(self, text: str) -> str | Refusal:
        """As the reader says."""
        found = self._reader.path_of(text)
        return discreet(found) if isinstance(found, Refusal) else found


Again = Callable[[Rules], Holding]
"""The same holder under other rules."""


def demand_arguments(operation: Operation, arguments: Arguments) -> None:
    """Refuse arguments that the operation does not take.

    Raises:
        InputError: HOST111, with what it takes.
    """
    beside = {"placement"} if operation.may_go_unasked else set()
    if operation.effect == "without-moved-card":
        beside.add("card")
    beside |= {"preopen", "opened"} if any(p.kind.value == "path" for p in operation.parameters) else set()
    beside |= {"operation", "stream"} if operation.effect in ("durable", "stream") else set()
    known = tuple(dict.fromkeys((*operation.arguments, *sorted(beside))))
    for name in arguments:
        if name not in known:
            near = nearest(name, known)
            takes = f"`{operation.id}` takes {', '.join(known)}" if known else f"`{operation.id}` takes no arguments"
            help = f"did you mean `{near}`? {takes}" if near else takes
            raise InputError.of("HOST111", f"{shown(name)} is no argument of `{operation.id}`", None, help)


def answer_operation(
    holding: Holding, question: OperationQuestion, ports: Ports, again: Again | None = None
) -> OperationAnswer:
    """The three facets of an operation for a holder, target by target and as a whole.

    About a type it speaks of its agents with wallets of their own, too.

    Args:
        holding: the holder with its cards.
        question: what is asked.
        ports: what reads URLs and SQL.
        again: the same holder under other rules, so that the answer says whether it would change; None to leave it out.

    Raises:
        InputError: for arguments that the operation does not take.
    """
    if ports.sql is not None:
        ports = replace(ports, sql=_ReadOnce(ports.sql))
    if ports.urls is not None:
        ports = replace(ports, urls=_Discreet(ports.urls))
    demand_arguments(question.operation, question.arguments)
    found = _alone(holding, question, ports)
    if holding.own:
        found = _over_own(found, {each.who: _alone(each, question, ports) for each in holding.own}, holding)
    notes = (*found.answer.notes, *_other_edition(question, found.verdict, ports, again, holding.rules))
    return replace(found, answer=replace(found.answer, notes=tuple(dict.fromkeys(notes))))


_FACETS = (Facet.NO, Facet.UNKNOWN, Facet.YES)


def _over_own(found: OperationAnswer, own: Mapping[str, OperationAnswer], holding: Holding) -> OperationAnswer:
    """One answer about a type, from that by its card and those of its agents with wallets of their own."""
    whole = over_own_wallets(found.answer, {n: a.answer for n, a in own.items()}, is_all=holding.is_all)
    least = min(own.values(), key=lambda a: _FACETS.index(a.verdict.replay_stable)).verdict
    verdict = whole.verdict
    if _FACETS.index(least.replay_stable) < _FACETS.index(verdict.replay_stable):
        kept = tuple(r for r in verdict.reasons if r.facet is not FacetName.REPLAY_STABLE)
        told = tuple(r for r in least.reasons if r.facet is FacetName.REPLAY_STABLE)
        verdict = replace(verdict, replay_stable=least.replay_stable, reasons=(*kept, *told))
    targets = []
    for at, target in enumerate(found.targets):
        same = {n: a.targets[at] for n, a in own.items() if len(a.targets) == len(found.targets)}
        targets.append(over_own_wallets(target, same, is_all=holding.is_all) if same else target)
    notes = list(whole.notes)
    other = next((a for a in own.values() if a.self_metadata and not a.self_metadata.view.is_admitted), None)
    if found.self_metadata is not None and other is not None and found.self_metadata.view.is_admitted:
        notes.append(f"both conditions are told of {shown(other.answer.who)}, which has a wallet of its own")
        found = replace(found, self_metadata=other.self_metadata)
    return replace(found, answer=replace(whole, verdict=verdict, notes=tuple(notes)), targets=tuple(targets))


def _alone(holding: Holding, question: OperationQuestion, ports: Ports) -> OperationAnswer:
    """The answer for one agent or account, or for those agents of a type that have no wallet of their own."""
    operation, rules = question.operation, holding.rules
    call = _call(holding, question)
    found, full = admit_operation_type(holding.wallet, call, ports, rules)
    asked = asked_by(operation, question.arguments, asker_of(holding.wallet, call), ports, rules)
    texts = (
        [] if isinstance(asked, (Refusal, Unclear)) else list(dict.fromkeys(_text(holding, a.target) for a in asked))
    )
    targets = tuple(holding.answering(text) for text in texts[:MAX_TARGETS])
    notes = [*reach_notes(found), *_notes(holding, question, full, texts)]
    notes += dict.fromkeys(note for each in targets for note in each.notes if _is_about_cards(note))
    places = placed_refs(full.verdict, holding.own_card, holding.places)
    cards: dict[CardId, str] = {}
    for each in targets:
        cards.update(each.cards)
    answer = Answer(
        holding.who if not holding.source else f"{holding.who} in {holding.source}",
        described(question),
        full.verdict,
        found.reach,
        found.exceptions,
        rules,
        tuple(dict.fromkeys(notes)),
        cards,
        places,
        findings=tuple(dict.fromkeys(f for each in targets for f in each.findings)),
    )
    return OperationAnswer(
        question,
        answer,
        targets,
        asked.message if isinstance(asked, (Refusal, Unclear)) else "",
        _denial(question),
        _self_metadata(holding, question),
        {generation.value: facet.value for generation, facet in full.alternatives},
    )


def described(question: OperationQuestion) -> str:
    """The operation with its arguments, as one reads it."""
    given = " ".join(f"{name}={_value(name, value)}" for name, value in question.arguments.items())
    return f"{question.operation.id} {given}".rstrip()


def _value(name: str, value: object) -> str:
    text = redacted_argument(name, value if isinstance(value, str) else str(value))
    return text if len(text) <= 120 else f"{text[:119]}…"


def _call(holding: Holding, question: OperationQuestion) -> OperationCall:
    return OperationCall(
        question.operation,
        question.arguments,
        holding.at,
        holding.scope,
        carrier=question.carrier,
        executing=question.executing,
        declarations=question.declarations,
    )


def _text(holding: Holding, target: Target) -> str:
    return written_target(target, holding.wallet.context)


def _is_about_cards(note: str) -> bool:
    """Notes of single targets that hold for the whole question: who replaced which card, what is assumed."""
    return not note.startswith(("under edition", "edition ", "holds for", "admitted are only"))


def _notes(
    holding: Holding, question: OperationQuestion, full: OperationVerdict, texts: Sequence[str]
) -> Iterator[str]:
    operation = question.operation
    if len(texts) > MAX_TARGETS:
        yield f"of {len(texts)} targets the first {MAX_TARGETS} are answered one by one; all of them count"
    refused = full.first_refused
    if refused is not None and len(texts) > 1:
        names = list(dict.fromkeys(item.asked.target for item in full.targets))
        at = names.index(refused.asked.target)
        text = texts[at] if len(names) == len(texts) else refused.asked.target.text
        yield f"an error names the first target that fails: `{text.rstrip()}`"
    yield f"a denial in the log: {record_words(operation)}"
    yield from remarks_of(operation, holding.rules)
    if operation.effect == "self-metadata" or operation.id == "env.get":
        yield from start_up_notes(question.sdk)
    other = contradiction(question.sdk, holding.rules)
    if other is not None:
        yield f"SDK {question.sdk.text} belongs to edition {other.value}, the question to {holding.rules.edition.value}"


def _other_edition(
    question: OperationQuestion, told: Verdict, ports: Ports, again: Again | None, rules: Rules
) -> Iterator[str]:
    if again is None or rules.overrides:
        return
    other = Rules(Edition.SNAPSHOT if rules.edition is Edition.NEXT else Edition.NEXT)
    if not question.operation.is_part_of(other):
        yield f"edition {other.edition.value} has no operation `{question.operation.id}`"
        return
    try:
        there = answer_operation(again(other), question, ports).verdict
    except PolicydError as refusal:
        yield f"under edition {other.edition.value} the question cannot be asked: {refusal.findings[0].message}"
        return
    if there.line != told.line:
        yield f"under edition {other.edition.value}: {there.line}"
    else:
        yield f"edition {rules.edition.value}, rule as in {other.edition.value}"


def _denial(question: OperationQuestion) -> str:
    denial = question.operation.denial
    if denial is None:
        return ""
    seen = dict(denial.surfaces)
    for surface in (question.sdk.language, "wit", "rest", "cli"):
        if surface in seen:
            return f"{surface}: {seen[surface]}"
    return ""


def _self_metadata(holding: Holding, question: OperationQuestion) -> SelfMetadata | None:
    if question.operation.effect != "self-metadata":
        return None
    wallet = holding.wallet
    if wallet.context is not None and wallet.context.agent_id is None:
        wallet = wallet.for_agent(replace(wallet.context, agent_id=f'{wallet.context.agent_type}("1")'))
    view = look_at_self(wallet, holding.at, holding.scope)
    if view is None:
        return None
    agent = holding.manifest.agent if holding.manifest is not None else None
    exposes: list[str] = []
    if agent is not None:
        exposes += [f"variable {place.name}" for place in agent.env]
        exposes += [f"configuration {place.name}" for place in agent.config]
    return SelfMetadata(view, tuple(exposes))
