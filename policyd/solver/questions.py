"""Questions put to z3, one function each; every question has a context of its own and a time limit.

Source: style 10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import z3

from policyd.core.callsets import Difference, Universe
from policyd.core.cards import GrantRef, Surface
from policyd.core.grants import ANY_VERB, PermissionClass, Target
from policyd.findings import InternalDefect
from policyd.solver.answer import DEFAULT_TIMEOUT_MS, USED_UP, Allowance, Answer, Disagreement, Fails, Holds, Undecided
from policyd.solver.names import Term
from policyd.solver.owners import OwnerTerms
from policyd.solver.resources import resource_terms
from policyd.solver.terms import ResourceTerms

LONGER_PATHS = "paths longer than those that were tried"


def contained(
    narrow: Surface,
    wide: Surface,
    cls: PermissionClass,
    verb: str,
    universe: Universe,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> Answer:
    """Whether every call of one verb that `narrow` admits is admitted by `wide`.

    Unsatisfiable when it holds: a call, over the literals that occur and a fresh one per place, that satisfies
    the rules of cards 5.2 for `narrow` and not for `wide`. Paths under `**` are tried up to a length only, and
    the answer says so.

    Raises:
        InternalDefect: when the plain evaluator does not confirm the call of a model.
    """
    return _no_call(
        (narrow, wide),
        cls,
        verb,
        universe,
        lambda encoding: z3.And(encoding.admits(narrow), z3.Not(encoding.admits(wide))),
        lambda call: narrow.allows(call) and not wide.allows(call),
        timeout_ms,
    )


def apart(
    left: Surface,
    right: Surface,
    cls: PermissionClass,
    verb: str,
    universe: Universe,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> Answer:
    """Whether no call of one verb is admitted by both.

    Unsatisfiable when it holds: a call, over the literals that occur and a fresh one per place, that satisfies
    the rules of cards 5.2 for `left` and for `right`.

    Raises:
        InternalDefect: when the plain evaluator does not confirm the call of a model.
    """
    return _no_call(
        (left, right),
        cls,
        verb,
        universe,
        lambda encoding: z3.And(encoding.admits(left), encoding.admits(right)),
        lambda call: left.allows(call) and right.allows(call),
        timeout_ms,
    )


def _no_call(
    surfaces: Sequence[Surface],
    cls: PermissionClass,
    verb: str,
    universe: Universe,
    claim: Callable[[_Encoding], Term],
    is_confirmed: Callable[[Target], bool],
    timeout_ms: int,
) -> Answer:
    """Whether no call of one verb satisfies a claim about these surfaces."""
    undecided: Undecided | None = None
    left_out: tuple[str, ...] = universe.left_out
    targets = [ref.grant.target for surface in surfaces for ref in _relevant(surface, cls, verb)]
    for shape in universe.shapes(cls, verb):
        for form in shape.resources:
            context = z3.Context()
            only = universe.owners(cls, shape.owner).only
            owner = OwnerTerms.of(cls.owner, shape.owner, [t.owner for t in targets], only, context)
            for resource in resource_terms(cls, verb, form, [t.resource for t in targets], context):
                if not resource.is_complete:
                    left_out = (*left_out, LONGER_PATHS)
                encoding = _Encoding(cls, verb, owner, resource, context)
                solver = z3.Solver(ctx=context)
                solver.set("timeout", timeout_ms)
                solver.add(*owner.domain(only), *resource.domain)
                solver.add(claim(encoding))
                verdict = solver.check()
                if verdict == z3.sat:
                    model = solver.model()
                    call = Target(cls, owner.decoded(model), verb, resource.decoded(model))
                    if not is_confirmed(call):
                        raise InternalDefect.of(f"the model of a call is not confirmed on replay: `{call.text}`")
                    return Fails(call)
                if verdict != z3.unsat:
                    undecided = Undecided(f"`{cls.name}` : `{verb}`: {solver.reason_unknown()}")
    return undecided or Holds(f"`{cls.name}` : `{verb}` over the names that occur and fresh ones", left_out)


def cross_check(
    answer: Difference,
    admitting: Surface,
    refusing: Surface,
    universe: Universe,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
    allowance: Allowance | None = None,
) -> tuple[tuple[Disagreement, ...], tuple[Undecided, ...]]:
    """Where the solver contradicts a structural difference, and where it could not tell in time.

    Args:
        answer: the difference with all its witnesses (ask for enough, so that no verb is only counted).
        admitting: the side whose calls are asked about.
        refusing: the other side.
        universe: the calls of the difference.
        timeout_ms: for each single question.
        allowance: the time for all of them together; None for any.
    """
    shown = {(w.target.cls.name, w.target.verb): w.target for w in answer.witnesses}
    wrong: list[Disagreement] = []
    unknown: list[Undecided] = []
    for cls in universe.classes:
        for verb in cls.verbs:
            if not _relevant(admitting, cls, verb):
                continue
            timeout = timeout_ms if allowance is None else allowance.timeout_ms(timeout_ms)
            if not timeout:
                return tuple(wrong), (*unknown, USED_UP)
            found = contained(admitting, refusing, cls, verb, universe, timeout)
            call = shown.get((cls.name, verb))
            match found:
                case Undecided():
                    unknown.append(found)
                case Fails(witness) if call is None:
                    wrong.append(Disagreement(cls.name, verb, "no difference", f"`{witness.text}`"))
                case Holds(_, left_out) if call is not None and LONGER_PATHS in left_out:
                    unknown.append(Undecided(f"`{cls.name}` : `{verb}`: {LONGER_PATHS}"))
                case Holds() if call is not None:
                    wrong.append(Disagreement(cls.name, verb, f"`{call.text}`", "no difference"))
                case _:
                    pass
    return tuple(wrong), tuple(unknown)


def _relevant(surface: Surface, cls: PermissionClass, verb: str) -> list[GrantRef]:
    return [
        ref
        for part in (*surface.lower, *surface.upper)
        for ref in (*part.positive, *part.negative)
        if ref.grant.target.cls == cls and ref.grant.target.verb in (ANY_VERB, verb)
    ]


class _Encoding:
    """The rules of cards 5.2 as terms over one call."""

    def __init__(
        self, cls: PermissionClass, verb: str, owner: OwnerTerms, resource: ResourceTerms, context: z3.Context
    ) -> None:
        self._cls, self._verb, self._owner, self._resource, self._context = cls, verb, owner, resource, context
        self._covers: dict[Target, Term] = {}

    def admits(self, surface: Surface) -> Term:
        """That `surface` admits the call: some card lends it, no ceiling withholds it."""
        lent = [z3.And(self._any(p.positive), z3.Not(self._any(p.negative))) for p in surface.lower]
        passed = [
            z3.And(self._any(p.positive) if p.positive else self._constant(True), z3.Not(self._any(p.negative)))
            for p in surface.upper
        ]
        return z3.And(z3.Or(self._constant(False), *lent), *passed)

    def _constant(self, value: bool) -> Term:
        return z3.BoolVal(value, self._context)

    def _any(self, refs: Sequence[GrantRef]) -> Term:
        return z3.Or(self._constant(False), *(self._covered(r.grant.target) for r in refs))

    def _covered(self, target: Target) -> Term:
        if target.cls != self._cls or target.verb not in (ANY_VERB, self._verb):
            return self._constant(False)
        found = self._covers.get(target)
        if found is None:
            found = z3.And(
                self._owner.covered_by(target.owner, self._context), self._resource.covered_by(target.resource)
            )
            self._covers[target] = found
        return found
