"""Why something was refused, or would be, and what would change it: from a pasted error, an operation or a target.

Source: questions 2 (explanation); host 5, 6; interface, `explain`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from policyd.core.admission import Facet, OperationCall, Verdict, admit_operation_type
from policyd.core.admission.operation import asker_of
from policyd.core.grants import ANY_VERB, Target
from policyd.core.operations import Operation, Ports, Refusal, Unclear, asked_by
from policyd.explain.causes import Standing, causes
from policyd.syntax import parse_target
from policyd.syntax.denials.reading import KINDS, Denial, OperationGuess
from policyd.usecases.check_call import call_of
from policyd.usecases.explain_fixes import Fixes, Means
from policyd.usecases.explain_holding import Holding
from policyd.usecases.explain_kinds import kind_of_operation
from policyd.usecases.explain_targets import MAX_READINGS, Targets, named_reading
from policyd.usecases.explain_values import Asked, Explained, Explanation, OperationReading


def explain(
    holding: Holding, asked: Asked, ports: Ports, catalogue: Mapping[str, Operation], means: Means
) -> Explanation:
    """Explain a denial or a question.

    Args:
        holding: who was denied.
        asked: what is to be explained.
        ports: readers of URLs and statements.
        catalogue: the operations by id.
        means: deployer and budget for fixes.

    Raises:
        InputError: if the target cannot be read.
    """
    work = _Work(holding, ports, catalogue, means)
    denials = [] if asked.reading is None else list(asked.reading.denials)
    if asked.operation is not None:
        told = _like(asked, denials)
        guess = OperationGuess(asked.operation.id, "certain", "it was named")
        return work.explanation([work.of_operations(told, [(guess, asked.operation, asked.arguments)])])
    if asked.target:
        return work.explanation([work.of_target(asked.target, denials[0] if denials else None)])
    items = [work.of_denial(denial) for denial in denials]
    missing = "" if items or asked.reading is None else asked.reading.unrecognised or "nothing here is a denial"
    return work.explanation(items, missing)


def _like(asked: Asked, denials: Sequence[Denial]) -> Denial | None:
    """The pasted denial that the named operation gave, if one can have."""
    operation = asked.operation
    for denial in denials:
        if operation is not None and any(guess.operation == operation.id for guess in denial.operations):
            return denial
    return denials[0] if denials else None


Guessed = tuple[OperationGuess, Operation, Mapping[str, object]]

_ARGUMENT_OF_FACT = {"variable": "names"}


class _Work:
    """One run of explaining."""

    def __init__(self, holding: Holding, ports: Ports, catalogue: Mapping[str, Operation], means: Means) -> None:
        self.holding = holding
        self.ports = ports
        self.catalogue = catalogue
        self.targets = Targets(holding, catalogue, means)
        self.evidence = self.targets.evidence

    def explanation(self, items: list[Explained], unrecognised: str = "") -> Explanation:
        """The items as one answer."""
        return Explanation(self.holding.who, tuple(items), unrecognised, self.holding.rules)

    def of_denial(self, denial: Denial) -> Explained:
        """A recognised denial: by its target if it carries one, else by the operations it may have been."""
        if not denial.is_denial or denial.kind == "not-policy":
            return self.of_gate(denial)
        if denial.target is not None:
            return self.targets.of_targets([denial.target], denial, None, [])
        guessed: list[Guessed] = []
        for guess in denial.operations[:MAX_READINGS]:
            operation = self.catalogue.get(guess.operation)
            if operation is not None:
                named = {_ARGUMENT_OF_FACT.get(name, name): value for name, value in denial.facts.items()}
                guessed.append((guess, operation, {k: v for k, v in named.items() if k in operation.arguments}))
        return self.of_operations(denial, guessed)

    def of_gate(self, denial: Denial) -> Explained:
        """A refusal that no card decides."""
        why = denial.not_policy or KINDS.get(denial.kind, "another gate refuses")
        file = replace(self.evidence.file(denial.kind, None, (), None, denial), other_gate=why)
        return Explained(
            f"no card decides this: {why}",
            denial.kind,
            None,
            denial,
            tuple(OperationReading(g.operation, g.how_sure, g.why, Facet.UNKNOWN) for g in denial.operations),
            (),
            causes(file),
            Fixes(instead=(denial.remark,) if denial.remark else ("no grant changes it",)),
        )

    def of_target(self, text: str, denial: Denial | None) -> Explained:
        """A target as typed."""
        context = self.holding.wallet.context
        target = parse_target(text, self.holding.rules, slots=context is not None)
        return self.targets.of_targets([target], denial, None, [])

    def of_operations(self, denial: Denial | None, guessed: Sequence[Guessed]) -> Explained:
        """The operations that it may have been; the surest whose targets can be told is explained."""
        decided: list[tuple[OperationReading, Explained]] = []
        for guess, operation, arguments in guessed:
            item = self.of_operation(denial, operation, arguments)
            facet = item.operations[0].admitted if item.operations else Facet.UNKNOWN
            missing = item.sentence if item.is_open else ""
            decided.append((OperationReading(guess.operation, guess.how_sure, guess.why, facet, missing), item))
        if not decided:
            return self.unplaced(denial)
        readings = tuple(reading for reading, _ in decided)
        # less sure readings are listed, and only the surest ones have to agree
        surest = [(r, item) for r, item in decided if r.how_sure == readings[0].how_sure]
        first = next((item for _, item in surest if not item.is_open), surest[0][1])
        if len({reading.admitted for reading, _ in surest}) > 1 or first.is_open:
            which = self._which(denial, readings, first)
            bare = replace(first, verdict=None, targets=(), fixes=Fixes(ask=self._hint(readings)))
            return replace(bare, operations=readings, sentence=which, is_open=True)
        return replace(first, operations=readings)

    def _which(self, denial: Denial | None, readings: Sequence[OperationReading], first: Explained) -> str:
        if len(readings) == 1:
            return first.sentence
        names = ", ".join(f"`{r.operation}`" for r in readings[:4])
        more = f" or {len(readings) - 4} others" if len(readings) > 4 else ""
        kind = KINDS.get(denial.kind, "it is a denial") if denial else "it is a denial"
        return f"{kind}, and the text does not tell which call it was: {names}{more}"

    def _hint(self, readings: Sequence[OperationReading]) -> str:
        arguments = self.catalogue[readings[0].operation].arguments
        given = f" --arg {arguments[0]}=…" if arguments else ""
        return f"name the call, for instance `--op {readings[0].operation}{given}`"

    def unplaced(self, denial: Denial | None) -> Explained:
        """A denial of which not even the operation can be told."""
        kind = denial.kind if denial else "permission"
        file = self.evidence.file(kind, None, (), None, denial)
        sentence = f"{KINDS.get(kind, 'it is a denial')}, and the text does not tell which operation it was"
        return Explained(
            sentence, kind, None, denial, (), (), causes(file), Fixes(ask="name the call with `--op`"), (), True
        )

    def of_operation(self, denial: Denial | None, operation: Operation, arguments: Mapping[str, object]) -> Explained:
        """One operation with its arguments."""
        holding = self.holding
        call = OperationCall(operation, arguments, holding.at, holding.scope)
        if holding.scope is not None and holding.wallet.cards:
            known = call_of(holding.wallet, _nothing(holding), holding.at, holding.scope)
            call = replace(call, scope_refusal=known.scope_refusal)
        asked = asked_by(operation, arguments, asker_of(holding.wallet, call), self.ports, holding.rules)
        kind = denial.kind if denial else kind_of_operation(operation)
        if isinstance(asked, Refusal):
            return self.refused(denial, kind, operation, asked)
        if isinstance(asked, Unclear):
            return self.unclear(denial, kind, operation, asked)
        _, answer = admit_operation_type(holding.wallet, call, self.ports, holding.rules)
        targets = list(dict.fromkeys(item.target for item in asked))
        if not targets:
            return self.ungated(denial, kind, operation, answer.verdict)
        return self.targets.of_targets(targets, denial, operation, [answer.verdict])

    def refused(self, denial: Denial | None, kind: str, operation: Operation, refusal: Refusal) -> Explained:
        """No target can be built: refused before any card is asked."""
        file = replace(self.evidence.file(kind, None, (), operation, denial), refusal=refusal.message)
        instead = "no grant changes it: the parameters have to be others"
        if refusal.kind.value == "sql":
            instead = "no grant changes it: write the statement so that its tables can be told"
        sentence = f"`{operation.id}` is refused before any card is asked: {refusal.message}"
        return Explained(
            sentence,
            kind,
            None,
            denial,
            named_reading(operation, Facet.NO),
            (),
            causes(file),
            Fixes(instead=(instead,)),
        )

    def unclear(self, denial: Denial | None, kind: str, operation: Operation, unclear: Unclear) -> Explained:
        """Its targets cannot be told; where no grant of their classes exists, it is refused all the same."""
        file = self.evidence.file(kind, None, (), operation, denial)
        holding = self.holding
        absent = self.absent_class(operation)
        if absent:
            own = holding.own_card
            sentence = f"{holding.who} may not do `{operation.id}`, whatever its arguments: no card grants `{absent}`"
            found = causes(replace(file, is_admitted=False))
            told = f"no card grants anything of `{absent}`"
            shown_ids = {"C-1", "C-11"} if own is not None and not own.is_default else {"C-1"}
            settled = [
                replace(c, standing=Standing.PROVED, detail=told, evidence=()) if c.id in shown_ids else c
                for c in found
            ]
            ranked = tuple(sorted(settled, key=lambda c: list(Standing).index(c.standing)))
            ask = f"name the call to get the line to add: `--op {operation.id} --arg {unclear.about}=…`"
            return Explained(
                sentence, kind, None, denial, named_reading(operation, Facet.NO), (), ranked, Fixes(ask=ask)
            )
        sentence = f"what `{operation.id}` asked for cannot be told: {unclear.message}"
        ask = f"give `--op {operation.id}` with its arguments ({', '.join(operation.arguments) or 'none'})"
        return Explained(
            sentence,
            kind,
            None,
            denial,
            named_reading(operation, Facet.UNKNOWN),
            (),
            causes(file),
            Fixes(ask=ask),
            (),
            True,
        )

    def absent_class(self, operation: Operation) -> str:
        """A class and verb that the operation always needs and that no card grants to this holder; empty if none."""
        holding = self.holding
        context = holding.wallet.context
        cards = holding.live(replace(context, agent_id=f'{context.agent_type}("1")')) if context else holding.live(None)
        granted = {
            (g.target.cls.name, verb)
            for card in (*cards, *((holding.scope,) if holding.scope else ()))
            for g in card.bounds.lower_positive
            if g.recipient.covers(holding.wallet.holder)
            for verb in (g.target.cls.verbs if g.target.verb == ANY_VERB else (g.target.verb,))
        }
        for template in operation.targets:
            if template.when or template.given or template.under:
                continue
            verbs = template.cls.verbs if template.verb == "{verb}" else (template.verb,)
            if not any((template.cls.name, verb) in granted for verb in verbs):
                return f"{template.cls.name} : {template.verb if template.verb != '{verb}' else '*'}"
        return ""

    def ungated(self, denial: Denial | None, kind: str, operation: Operation, verdict: Verdict) -> Explained:
        """An operation that asks for nothing."""
        file = replace(self.evidence.file(kind, None, (), operation, denial), is_admitted=verdict.admitted is Facet.YES)
        sentence = f"`{operation.id}` asks no card for anything, so no card refused it"
        return Explained(
            sentence,
            kind,
            verdict,
            denial,
            named_reading(operation, verdict.admitted),
            (),
            causes(file),
            Fixes(),
            operation.remarks,
        )


def _nothing(holding: Holding) -> Target:
    """Any target of the holder's cards, for asking about the scope card alone."""
    return next(g.target for held in holding.wallet.cards for _, _, g in held.card.bounds.each())


__all__ = ["explain"]
