"""The operations that a denial may have been, each with what the cards say to it: several readings, ranked.

A denial names an operation rarely. Every operation that shows the same error is tried with what the text tells of its
arguments; what the text does not tell stays open and is never taken for the asker's own.

Source: host 2, 5.1, 6.2 (generic procedure); interface, `explain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from policyd.core.admission import Facet, OperationCall, admit_operation_type
from policyd.core.admission.operation import asker_of
from policyd.core.grants import ANY_VERB
from policyd.core.operations import Operation, Ports, Refusal, Unclear, asked_by
from policyd.core.operations.owners import OwnerHole
from policyd.core.operations.parameters import ParameterKind
from policyd.syntax.denials.reading import KINDS, Denial, OperationGuess
from policyd.usecases.explain_holding import Holding

MAX_READINGS = 64
"""So many operations are tried for one denial."""

MAX_TOLD = 4
"""So many readings of one denial are explained in full, with their changes."""

_SHOWN = 4

ELSEWHERE = ", so the denial came from elsewhere"
"""What is said where the cards admit a call that was refused."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One operation that a denial may have been, decided.

    Attributes:
        guess: how sure it is.
        operation: which.
        arguments: what the text tells of its arguments.
        admitted: what the cards say; unknown where the text leaves open what decides.
        missing: what the text leaves open; empty where nothing.
        is_partial: whether only some of what it asks for is known, so that no change can be given.
        whole: the arguments with all that it may have asked for, where `is_partial` says that flags are open.
    """

    guess: OperationGuess
    operation: Operation
    arguments: Mapping[str, object]
    admitted: Facet
    missing: str = ""
    is_partial: bool = False
    whole: Mapping[str, object] | None = None

    @property
    def asked(self) -> Mapping[str, object]:
        """The arguments that tell most of what it may have asked for."""
        return self.arguments if self.whole is None else self.whole


class Readings:
    """Decides for one holder what operations may have been."""

    def __init__(self, holding: Holding, ports: Ports) -> None:
        """Look at the cards of `holding`."""
        self.holding = holding
        self.ports = ports
        self._granted: frozenset[tuple[str, str]] | None = None

    def tried(self, guess: OperationGuess, operation: Operation, arguments: Mapping[str, object]) -> Tried:
        """One operation, with every choice of flags that the text leaves open."""
        arguments, is_placed = self._placed(operation, arguments)
        if "agent" in arguments and not is_placed:
            absent = self.absent_class(operation)
            if absent:
                return Tried(guess, operation, arguments, Facet.NO, f"no card grants `{absent}`", True)
            return Tried(guess, operation, arguments, Facet.UNKNOWN, "the component of the agent is not told", True)
        choices = list(_choices(operation, arguments))
        found = [self._decided(operation, {**arguments, **choice}) for choice in choices]
        facets = {facet for facet, _ in found}
        if len(choices) == 1:
            facet, missing = found[0]
        elif len(facets) == 1:
            facet, missing = found[0][0], found[0][1] if found[0][0] is not Facet.YES else ""
        else:
            told = ", ".join(
                f"{' '.join(map(str, choice.values()))} {facet.value}"
                for choice, (facet, _) in zip(choices, found, strict=True)
            )
            facet, missing = Facet.UNKNOWN, f"the flags are not told: {told}"
        if facet is Facet.YES and (open_owner := _open_owner(operation, arguments)):
            return Tried(guess, operation, arguments, Facet.UNKNOWN, open_owner, True)
        whole = None
        if len(choices) > 1:
            (name,) = choices[0]
            whole = {**arguments, name: ",".join(str(choice[name]) for choice in choices)}
        return Tried(guess, operation, arguments, facet, missing, whole is not None, whole)

    def call(self, operation: Operation, arguments: Mapping[str, object]) -> OperationCall:
        """The call at the moment and with the scope card of the holder."""
        return OperationCall(operation, arguments, self.holding.at, self.holding.scope)

    def _placed(self, operation: Operation, arguments: Mapping[str, object]) -> tuple[Mapping[str, object], bool]:
        """The arguments with the component of the agent that they name, and whether that is known."""
        if "agent" not in arguments or "component" in arguments or "component" not in operation.arguments:
            return arguments, True
        name = str(arguments["agent"]).partition("(")[0]
        context, manifest = self.holding.wallet.context, self.holding.manifest
        if context is not None and name == context.agent_type:
            return {**arguments, "component": context.component}, True
        found = manifest.described.deployment.agent(name) if manifest is not None else None
        if found is None or not found.component:
            return arguments, False
        return {**arguments, "component": found.component}, True

    def _decided(self, operation: Operation, arguments: Mapping[str, object]) -> tuple[Facet, str]:
        holding = self.holding
        call = self.call(operation, arguments)
        asked = asked_by(operation, arguments, asker_of(holding.wallet, call), self.ports, holding.rules)
        if isinstance(asked, Refusal):
            return Facet.NO, f"refused before any card is asked: {asked.message}"
        if isinstance(asked, Unclear):
            absent = self.absent_class(operation)
            return (Facet.NO, f"no card grants `{absent}`") if absent else (Facet.UNKNOWN, asked.message)
        _, answer = admit_operation_type(holding.wallet, call, self.ports, holding.rules)
        return answer.verdict.admitted, "" if asked else "it asks no card for anything"

    def absent_class(self, operation: Operation) -> str:
        """A class and verb that a denied call of it needed and that no card grants to this holder; empty if none."""
        granted = self._lent()
        always = [t for t in operation.targets if not (t.when or t.given or t.under)]
        by_flags = [t for t in operation.targets if t.when]
        missing = []
        for template in always or by_flags:
            verbs = template.cls.verbs if template.verb == "{verb}" else (template.verb,)
            if not any((template.cls.name, verb) in granted for verb in verbs):
                missing.append(f"{template.cls.name} : {template.verb if template.verb != '{verb}' else '*'}")
        if always or len(missing) == len(by_flags):
            return missing[0] if missing else ""
        return ""

    def _lent(self) -> frozenset[tuple[str, str]]:
        """Classes and verbs of which the floors of the live cards grant anything to this holder."""
        if self._granted is None:
            holding = self.holding
            context = holding.wallet.context
            one = replace(context, agent_id=f'{context.agent_type}("1")') if context else None
            self._granted = frozenset(
                (g.target.cls.name, verb)
                for card in (*holding.live(one), *((holding.scope,) if holding.scope else ()))
                for g in card.bounds.lower_positive
                if g.recipient.covers(holding.wallet.holder)
                for verb in (g.target.cls.verbs if g.target.verb == ANY_VERB else (g.target.verb,))
            )
        return self._granted


def _choices(operation: Operation, arguments: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """What flags a denied call may have had, where they are not told: each that asks for something of its own."""
    flags = [p for p in operation.parameters if p.kind is ParameterKind.FLAGS and p.argument not in arguments]
    if not flags or not all(t.when for t in operation.targets):
        yield {}
        return
    yield from ({flags[0].argument: template.when[0]} for template in operation.targets)


def _open_owner(operation: Operation, arguments: Mapping[str, object]) -> str:
    """Whose thing it was, where the text does not tell and the own is only one possibility; empty where it is told."""
    for template in operation.targets:
        if template.owner is OwnerHole.SOURCE and "agent" not in arguments:
            return "it is admitted for the own agent, and which agent was meant is not told"
        if template.owner is OwnerHole.COMPONENT_AGENTS and "component" not in arguments:
            return "it is admitted for the own component, and which component was meant is not told"
    return ""


def decisive(tried: Sequence[Tried]) -> list[Tried]:
    """Those that have to agree: the certain ones, else the one that the text names, else all."""
    certain = [t for t in tried if t.guess.how_sure == "certain"]
    return certain or [t for t in tried if t.guess.is_named] or list(tried)


_RANKS = (Facet.NO, Facet.UNKNOWN, Facet.YES)


def ranked(tried: Sequence[Tried]) -> list[Tried]:
    """The likeliest first: those that the text names, then those that the cards refuse, as a denial was seen."""

    def rank(one: Tried) -> tuple[bool, int]:
        is_told = one.guess.is_named or one.guess.how_sure == "certain"
        return (not is_told, _RANKS.index(one.admitted))

    return sorted(tried, key=rank)


def words_of(denial: Denial | None) -> str:
    """What was denied, in words that are right whichever of its operations it was."""
    if denial is None:
        return "it is a denial"
    families = {guess.operation.partition(".")[0] for guess in denial.operations}
    if denial.kind == "agent-rpc" and "tool" in families:
        return "a call of an agent or of a tool is denied"
    return KINDS.get(denial.kind, "it is a denial")


def which(denial: Denial | None, tried: Sequence[Tried]) -> str:
    """The answer where readings differ: which of them the cards refuse, which they admit."""
    parts = []
    for facet, words in ((Facet.NO, "refuse {}"), (Facet.YES, "admit {}"), (Facet.UNKNOWN, "leave {} open")):
        names = [f"`{t.operation.id}`" for t in tried if t.admitted is facet]
        if names:
            parts.append(words.format(_listed(names)))
    told = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    if denial is None or denial.kind == "permission":
        return f"the text does not tell which call was denied: the cards {told}"
    return f"{words_of(denial)}, and the text does not tell which call it was: the cards {told}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def agreed(tried: Sequence[Tried], who: str, sentence: str) -> str:
    """The answer where all readings agree, before the words on the first of them."""
    if len(tried) < 2:
        return sentence
    names = _listed([f"`{t.operation.id}`" for t in tried])
    if tried[0].admitted is Facet.NO:
        return f"whichever it was of {names}, the cards refuse it: {sentence}"
    if tried[0].guess.how_sure == "certain":
        return sentence
    _, _, rest = sentence.partition(ELSEWHERE)
    return f"with these cards {who} may do {names}, whichever it was{ELSEWHERE}{rest}"


def wanted_of(tried: Tried) -> str:
    """The argument that tells most of what is not known yet; empty where none is left."""
    given, operation = tried.arguments, tried.operation
    needed = [p.argument for p in operation.parameters if not p.is_optional and p.kind is not ParameterKind.DATABASE]
    flags = [p.argument for p in operation.parameters if p.kind is ParameterKind.FLAGS]
    rest = [name for name in ("agent", "component") if name in operation.arguments]
    return next((name for name in (*needed, *flags, *rest) if name not in given), "")


__all__ = [
    "ELSEWHERE",
    "MAX_READINGS",
    "MAX_TOLD",
    "Readings",
    "Tried",
    "agreed",
    "decisive",
    "ranked",
    "wanted_of",
    "which",
    "words_of",
]
