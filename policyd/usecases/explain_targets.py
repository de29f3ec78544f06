"""Targets that are known: what the cards say to each, why, and what would change it.

Source: host 6.2 to 6.4; questions 2 (explanation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from policyd.core.admission import Facet, FacetName, Verdict, admit_type
from policyd.core.admission.replay import Replayed, replay_stable
from policyd.core.admission.verdict import Why
from policyd.core.cards import Bound
from policyd.core.grants import Target
from policyd.core.operations import Operation
from policyd.core.operations.durable import NOTHING_DECLARED
from policyd.explain.causes import Cause, Standing, causes
from policyd.explain.near_misses import NearMiss, near_misses
from policyd.explain.prose import deciding, headline
from policyd.syntax import GrantSyntaxError, parse_target
from policyd.syntax.denials.reading import Denial
from policyd.usecases.answer import Answer
from policyd.usecases.check_call import call_of
from policyd.usecases.explain_evidence import Evidence
from policyd.usecases.explain_fixes import Fixes, Means, fixes_of
from policyd.usecases.explain_holding import Holding
from policyd.usecases.explain_kinds import kind_of_asked, kind_of_operation
from policyd.usecases.explain_readings import ELSEWHERE, MAX_READINGS
from policyd.usecases.explain_values import Explained, ExplainedTarget, OperationReading
from policyd.usecases.holders import written_target

_OF_CLASSES = frozenset({"permission", "fs", "env", "config", "secret-reveal", "kv", "blob", "rdbms", "oplog", "http"})
"""Kinds that a target tells better than the text around it."""


class Targets:
    """Explains targets of one holder."""

    def __init__(self, holding: Holding, catalogue: Mapping[str, Operation], means: Means) -> None:
        self.holding = holding
        self.catalogue = catalogue
        self.means = means
        self.evidence = Evidence(holding, means)

    def of_targets(
        self,
        targets: Sequence[Target],
        denial: Denial | None,
        operation: Operation | None,
        verdicts: Sequence[Verdict],
    ) -> Explained:
        """Targets that are known: what the cards say to each, why, and what would change it."""
        told = tuple(self.told(target) for target in targets)
        first = next((t for t in told if not t.is_admitted), told[0])
        verdict = verdicts[0] if verdicts else self.replayed(first.answer.verdict, denial)
        # what an operation as a whole is may differ from its targets: filters, scope cards, other gates
        is_no = any(t.answer.verdict.admitted is Facet.NO for t in told)
        context = self.holding.for_instance(first.target, first.answer)
        kind = kind_of_operation(operation) if operation else kind_of_asked(first.target, self.holding.wallet.context)
        if denial is not None and (denial.kind not in _OF_CLASSES or operation is not None):
            kind = denial.kind
        file = self.evidence.file(kind, first.target, told, operation or self.named(denial), denial)
        fixes = Fixes()
        if is_no and verdict.admitted is not Facet.UNKNOWN:
            concrete = [t.target.filled(context) if context else t.target for t in told]
            fixes = fixes_of(self.holding, concrete, context, self.means, is_for_saga=kind == "saga")
        elif is_no:
            fixes = Fixes(instead=("settle first what the answer depends on",))
        found = causes(file)
        return Explained(
            self.sentence(first, told, denial, found, verdict),
            kind,
            verdict,
            denial,
            self.readings(denial, operation, verdict, first.target),
            told,
            found,
            fixes,
            self.notes(told, operation, fixes),
            verdict.admitted is Facet.UNKNOWN and not is_no,
        )

    def named(self, denial: Denial | None) -> Operation | None:
        """The one operation that the text surely names."""
        sure = [g for g in denial.operations if g.how_sure == "certain"] if denial is not None else []
        return self.catalogue.get(sure[0].operation) if len(sure) == 1 else None

    def replayed(self, verdict: Verdict, denial: Denial | None) -> Verdict:
        """The verdict on a target, with what the log keeps of the operation if the text surely names one."""
        operation = self.named(denial)
        if operation is None:
            return verdict
        is_published = not operation.is_unknown(self.holding.rules)
        asked = Replayed(operation, {}, None, None, verdict.holds_until, is_published, NOTHING_DECLARED)
        facet, reasons = replay_stable(self.holding.wallet, asked)
        others = tuple(r for r in verdict.reasons if r.facet is not FacetName.REPLAY_STABLE)
        return replace(verdict, replay_stable=facet, reasons=(*others, *reasons))

    def told(self, target: Target) -> ExplainedTarget:
        """One target with its answer and the nearest misses."""
        holding = self.holding
        context = holding.wallet.context
        known = context if context is None or context.agent_id else replace(context, agent_id=None)
        if known is not None and known.agent_id is not None:
            target = target.filled(known)
        text = written_target(target, known) if known is not None else target.text
        answer = self.answer(target, text)
        if answer.verdict.admitted is Facet.YES:
            return ExplainedTarget(text.rstrip(), target, answer)
        instance = holding.for_instance(target, answer)
        concrete = target.filled(instance) if instance is not None else target
        live = holding.live(instance)
        lends = any(r.why is Why.GRANTED for r in answer.verdict.reasons)
        holder = holding.wallet.holder
        near = () if lends else near_misses(live, concrete, holder)
        withheld = {r.card for r in answer.verdict.reasons if r.why is Why.WITHHELD}
        capping = [card for card in live if card.id in withheld]
        ceilings = near_misses(capping, concrete, holder, Bound.UPPER_POSITIVE, 1) if capping else ()
        folded = written_target(concrete, instance) if instance is not None else text
        near, ceilings = (tuple(map(self.placed, found)) for found in (near, ceilings))
        return ExplainedTarget(folded.rstrip(), target, answer, near, ceilings)

    def answer(self, target: Target, text: str) -> Answer:
        """The answer to a target; one that no text can write, as it would be trimmed or cut, is decided as a value."""
        holding = self.holding
        context = holding.wallet.context
        try:
            read = parse_target(text, holding.rules, slots=context is not None)
            same = read == target if context is None else read.filled(context) == target.filled(context)
        except GrantSyntaxError:
            same = False
        if same:
            return holding.answering(text)
        found = admit_type(holding.wallet, call_of(holding.wallet, target, holding.at, holding.scope))
        names = {held.card.id: self.evidence.card_name(held.card.id) for held in holding.wallet.cards}
        return Answer(
            holding.who, target.text, found.verdict, found.reach, found.exceptions, holding.rules, (), names, {}
        )

    def placed(self, near: NearMiss) -> NearMiss:
        """A near miss with its text and place."""
        written, span = self.evidence.source_of(near.ref)
        return replace(near, written=written, span=span)

    def readings(
        self, denial: Denial | None, operation: Operation | None, verdict: Verdict, target: Target
    ) -> tuple[OperationReading, ...]:
        """The operations it may have been."""
        if operation is not None:
            return named_reading(operation, verdict.admitted)
        if denial is not None and denial.operations:
            return tuple(
                OperationReading(g.operation, g.how_sure, g.why, verdict.admitted)
                for g in denial.operations[:MAX_READINGS]
            )
        side = "service" if self.holding.is_service else "agent"
        found = [o for o in self.catalogue.values() if o.side.value == side and _asks(o, target)]
        return tuple(
            OperationReading(o.id, "possible", "it asks for such a target", verdict.admitted)
            for o in found[:MAX_READINGS]
        )

    def sentence(
        self,
        first: ExplainedTarget,
        told: Sequence[ExplainedTarget],
        denial: Denial | None,
        found: Sequence[Cause],
        verdict: Verdict,
    ) -> str:
        """The answer in one sentence."""
        who = self.holding.who
        if verdict.admitted is Facet.YES and denial is not None:
            likely = next((c for c in found if c.standing is not Standing.EXCLUDED), None)
            rest = f"; the likeliest cause: {likely.title}" if likely else ""
            return f"with these cards {who} may do `{first.text}`{ELSEWHERE}{rest}"
        if verdict.admitted is Facet.YES:
            return headline(first.answer.verdict, who, first.text, first.answer.naming)
        reason = deciding(first.answer.verdict)
        if reason is not None and reason.why is Why.NOT_GRANTED:
            place = f" ({told.index(first) + 1} of {len(told)} targets)" if len(told) > 1 else ""
            may = "may not" if verdict.admitted is Facet.NO else "may or may not"
            head = f"{who} {may} do `{first.text}`{place}: it is not granted"
            if not first.near:
                return f"{head}, and no card grants anything of class `{first.target.cls.name}`"
            near = first.near[0]
            return f"{head}; nearest is `{near.grant}`, but the {near.text}"
        return headline(first.answer.verdict, who, first.text, first.answer.naming)

    def notes(self, told: Sequence[ExplainedTarget], operation: Operation | None, fixes: Fixes) -> tuple[str, ...]:
        """What else must be said."""
        found = list(dict.fromkeys(note for t in told for note in t.answer.notes))
        record = operation.record.of(None) if operation is not None else None
        if fixes.fixes and record is not None and record.value in ("recorded", "filtered"):
            found.append("the denial is recorded: a replay shows it again, only a new live call asks anew")
        if fixes.fixes and not self.holding.knows_wallet:
            found.append("installed cards are not in the manifest: a ceiling of one of them could still withhold it")
        return tuple(found)


def named_reading(operation: Operation, admitted: Facet) -> tuple[OperationReading, ...]:
    """The reading of an operation that was named by whoever asks."""
    return (OperationReading(operation.id, "certain", "it was named", admitted),)


def _asks(operation: Operation, target: Target) -> bool:
    return any(t.cls == target.cls and t.verb in (target.verb, "{verb}") for t in operation.targets)
