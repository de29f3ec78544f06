"""Texts that match some patterns and not others, found by z3's theory of regular expressions.

Patterns in a common subset are translated; what is found is checked by the pattern engine of the caller, so that a
slip of the translation gives no answer, not a wrong one. That there is no such text is only said for patterns of
which the translation is exact.

Source: middleware 8.2; style 10.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3

from policyd.core.schema.text_wish import FoundText, NoText, TextWish
from policyd.core.schema.types import TextRule
from policyd.solver.answer import DEFAULT_TIMEOUT_MS
from policyd.solver.pattern_terms import UntranslatableError, search_term

MAX_FOUND = 2_000
"""Longer texts are not asked for."""


@dataclass(frozen=True, slots=True)
class SolverTexts:
    """The port `policyd.core.schema.text_wish.TextFinder` on z3.

    Attributes:
        timeout_ms: for one question.
    """

    timeout_ms: int = DEFAULT_TIMEOUT_MS

    def find(self, wish: TextWish) -> FoundText:
        """A shortest text, the proof that there is none, or neither.

        Unsatisfiable when there is none: a text of printable ASCII for finding, of any characters for the proof.
        """
        if wish.low > MAX_FOUND:
            return NoText.UNKNOWN
        try:
            found = self._ask(wish, printable=True, exact=False)
            if found is NoText.NONE:
                found = self._ask(wish, printable=False, exact=True)
        except (UntranslatableError, z3.Z3Exception, RecursionError):
            return NoText.UNKNOWN
        return found

    def _ask(self, wish: TextWish, *, printable: bool, exact: bool) -> FoundText:
        context = z3.Context()
        text = z3.String("text", ctx=context)
        solver = z3.Solver(ctx=context)
        solver.set("timeout", self.timeout_ms)
        solver.add(z3.Length(text) >= wish.low)
        if wish.high is not None:
            solver.add(z3.Length(text) <= wish.high)
        for pattern in wish.matches:
            solver.add(z3.InRe(text, search_term(pattern, context, exact=exact)))
        for pattern in wish.avoids:
            solver.add(z3.Not(z3.InRe(text, search_term(pattern, context, exact=exact))))
        for rule in wish.rules:
            literal = z3.StringVal(rule.text, ctx=context)
            match rule.rule:
                case TextRule.PREFIX:
                    solver.add(z3.PrefixOf(literal, text))
                case TextRule.SUFFIX:
                    solver.add(z3.SuffixOf(literal, text))
                case TextRule.CONTAINS:
                    solver.add(z3.Contains(text, literal))
                case TextRule.REGEX:
                    solver.add(z3.InRe(text, search_term(rule.text, context, exact=exact)))
        if printable:
            solver.add(z3.InRe(text, z3.Star(_range(" ", "~", context))))
        match solver.check():
            case z3.sat:
                return self._shortest(solver, text)
            case z3.unsat:
                return NoText.NONE
            case _:
                return NoText.UNKNOWN

    def _shortest(self, solver: z3.Solver, text: z3.SeqRef) -> FoundText:
        """Shorten the text while that takes little time."""
        best = _decoded(solver.model(), text)
        while best and len(best) <= MAX_FOUND:
            solver.push()
            solver.add(z3.Length(text) < len(best))
            if solver.check() != z3.sat:
                break
            best = _decoded(solver.model(), text)
        return best


def _range(first: str, last: str, context: z3.Context) -> z3.ReRef:
    return z3.Range(z3.StringVal(first, ctx=context), z3.StringVal(last, ctx=context), ctx=context)


def _decoded(model: z3.ModelRef, text: z3.SeqRef) -> str:
    value = model.eval(text, model_completion=True)
    assert isinstance(value, z3.SeqRef)
    return "".join(map(chr, _characters(value.as_string())))


def _characters(shown: str) -> list[int]:
    """The characters of a text as z3 shows it, with escapes."""
    found: list[int] = []
    at = 0
    while at < len(shown):
        if shown.startswith("\\u{", at):
            end = shown.index("}", at)
            found.append(int(shown[at + 3 : end], 16))
            at = end + 1
        else:
            found.append(ord(shown[at]))
            at += 1
    return found
