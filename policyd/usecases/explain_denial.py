"""Why something was refused, or would be, and what would change it: from a pasted error, an operation or a target.

Source: questions 2 (explanation); host 5, 6; interface, `explain`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from policyd.core.admission import Facet, Verdict, admit_operation_type
from policyd.core.admission.operation import asker_of
from policyd.core.operations import Operation, Ports, Refusal, Unclear, asked_by
from policyd.explain.causes import Standing, causes
from policyd.syntax import parse_target
from policyd.syntax.denials.reading import KINDS, Denial, OperationGuess
from policyd.syntax.denials.redaction import HIDDEN
from policyd.usecases.explain_fixes import Fixes, Means
from policyd.usecases.explain_holding import Holding
from policyd.usecases.explain_instances import over_own_explained
from policyd.usecases.explain_kinds import kind_of_operation
from policyd.usecases.explain_readings import (
    MAX_READINGS,
    MAX_TOLD,
    Readings,
    Tried,
    agreed,
    decisive,
    ranked,
    wanted_of,
    which,
    words_of,
)
from policyd.usecases.explain_targets import Targets, named_reading
from policyd.usecases.explain_values import MAX_LISTED, Asked, Explained, Explanation, OperationReading
from policyd.usecases.operation_answer import discreet


def explain(
    holding: Holding, asked: Asked, ports: Ports, catalogue: Mapping[str, Operation], means: Means
) -> Explanation:
    """Explain a denial or a question; about a type it speaks of its agents with wallets of their own, too.

    Args:
        holding: who was denied.
        asked: what is to be explained.
        ports: readers of URLs and statements.
        catalogue: the operations by id.
        means: deployer and budget for fixes.

    Raises:
        InputError: if the target cannot be read.
    """
    found = _explained(holding, asked, ports, catalogue, means)
    if not holding.own:
        return found
    quick = replace(means, budget=-1.0)
    own = {each.who: _explained(each, asked, ports, catalogue, quick) for each in holding.own}
    wallets = {each.who: each for each in holding.own}
    return over_own_explained(
        found,
        own,
        lambda name: _explained(wallets[name], asked, ports, catalogue, means),
        is_all=holding.is_all,
        is_denied=asked.reading is not None,
    )


def _explained(
    holding: Holding, asked: Asked, ports: Ports, catalogue: Mapping[str, Operation], means: Means
) -> Explanation:
    """The explanation for one agent or account, or for those agents of a type that have no wallet of their own."""
    work = _Work(holding, ports, catalogue, means)
    denials = [] if asked.reading is None else list(asked.reading.denials)
    if asked.operation is not None:
        told = _like(asked, denials)
        guess = OperationGuess(asked.operation.id, "certain", NAMED)
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

NAMED = "it was named"
"""Why an operation is certain that whoever asks gave."""

MAX_HINTED = 3
"""So many calls are written out for somebody who has to name one."""

_ARGUMENT_OF_FACT = {"variable": "names"}


class _Work:
    """One run of explaining."""

    def __init__(self, holding: Holding, ports: Ports, catalogue: Mapping[str, Operation], means: Means) -> None:
        self.holding = holding
        self.ports = ports
        self.catalogue = catalogue
        self.targets = Targets(holding, catalogue, means)
        self.evidence = self.targets.evidence
        self.readings = Readings(holding, ports)
        self.means = means

    def explanation(self, items: list[Explained], unrecognised: str = "") -> Explanation:
        """The items as one answer."""
        return Explanation(self.holding.who, tuple(items), unrecognised, self.holding.rules)

    def of_denial(self, denial: Denial) -> Explained:
        """A recognised denial: by its target if it carries one, else by the operations it may have been."""
        if not denial.is_denial or denial.kind == "not-policy":
            return self.of_gate(denial)
        if denial.target is not None and HIDDEN in denial.target_text:
            return self.of_secret(denial)
        if denial.target is not None:
            return self.targets.of_targets([denial.target], denial, None, [])
        guessed: list[Guessed] = []
        for guess in denial.operations[:MAX_READINGS]:
            operation = self.catalogue.get(guess.operation)
            if operation is not None:
                told = {name: value for name, value in denial.facts.items() if HIDDEN not in value}
                named = {_ARGUMENT_OF_FACT.get(name, name): value for name, value in told.items()}
                guessed.append((guess, operation, {k: v for k, v in named.items() if k in operation.arguments}))
        return self.of_operations(denial, guessed)

    def of_secret(self, denial: Denial) -> Explained:
        """A denial whose target holds what looks like a secret: an answer would repeat it."""
        sentence = f"the target holds what looks like a secret, which is not repeated: `{denial.target_text.rstrip()}`"
        readings = tuple(OperationReading(g.operation, g.how_sure, g.why, Facet.UNKNOWN) for g in denial.operations)
        file = self.evidence.file(denial.kind, None, (), None, denial)
        ask = "give the target itself in place of the error, where it may be shown; and keep secrets out of names"
        return Explained(sentence, denial.kind, None, denial, readings, (), causes(file), Fixes(ask=ask), (), True)

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
        """The operations that it may have been: one answer where they agree, else every reading with its own."""
        if not guessed:
            return self.unplaced(denial)
        if guessed[0][0].why == NAMED and len(guessed) == 1:
            return self.of_operation(denial, guessed[0][1], guessed[0][2])
        tried = [self.readings.tried(*one) for one in guessed]
        deciding = decisive(tried)
        if len({one.admitted for one in deciding}) > 1 or deciding[0].admitted is Facet.UNKNOWN:
            return self.open_between(denial, tried, deciding)
        lead = deciding[0]
        item = self.of_operation(denial, lead.operation, lead.asked)
        readings = tuple(map(self.reading, ranked(tried)))
        if lead.is_partial:
            item = replace(item, fixes=Fixes(ask=self.hint(deciding)))
        return replace(item, operations=readings, sentence=agreed(deciding, self.holding.who, item.sentence))

    def open_between(self, denial: Denial | None, tried: Sequence[Tried], deciding: Sequence[Tried]) -> Explained:
        """Readings that differ, or that the text leaves open: each with its verdict, the refused ones with a change."""
        readings: list[OperationReading] = []
        for one in ranked(tried):
            is_told = one.admitted is Facet.NO and not one.is_partial and one in deciding
            is_told = is_told and (not one.missing or len(deciding) <= MAX_LISTED)
            is_room = sum(r.detail is not None for r in readings) < MAX_TOLD and not self.means.is_spent
            detail = self.of_operation(denial, one.operation, one.arguments) if is_told and is_room else None
            readings.append(self.reading(one, detail))
        kind = denial.kind if denial else "permission"
        sentence = which(denial, deciding)
        if len(deciding) == 1:
            sentence = f"what `{deciding[0].operation.id}` asked for cannot be told: {deciding[0].missing}"
        return Explained(
            sentence,
            kind,
            None,
            denial,
            tuple(readings),
            (),
            causes(self.evidence.file(kind, None, (), None, denial)),
            Fixes(ask=self.hint(deciding)),
            (),
            True,
        )

    @staticmethod
    def reading(one: Tried, detail: Explained | None = None) -> OperationReading:
        """A reading as it is told."""
        guess = one.guess
        return OperationReading(guess.operation, guess.how_sure, guess.why, one.admitted, one.missing, detail)

    def hint(self, tried: Sequence[Tried]) -> str:
        """What to say besides, so that a change can be given."""
        if len(tried) > MAX_HINTED:
            return "paste the whole error with its stack, which names the function, or name the call with `--op`"
        calls = []
        for one in tried:
            name = wanted_of(one)
            calls.append(f"`--op {one.operation.id}{f' --arg {name}=…' if name else ''}`")
        return f"name the call: {' or '.join(calls)}"

    def unplaced(self, denial: Denial | None) -> Explained:
        """A denial of which not even the operation can be told."""
        kind = denial.kind if denial else "permission"
        file = self.evidence.file(kind, None, (), None, denial)
        sentence = f"{words_of(denial)}, and the text does not tell which operation it was"
        return Explained(
            sentence, kind, None, denial, (), (), causes(file), Fixes(ask="name the call with `--op`"), (), True
        )

    def of_operation(self, denial: Denial | None, operation: Operation, arguments: Mapping[str, object]) -> Explained:
        """One operation with its arguments."""
        holding = self.holding
        call = self.readings.call(operation, arguments)
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
        refusal = discreet(refusal)
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
        absent = self.readings.absent_class(operation)
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


__all__ = ["explain"]
