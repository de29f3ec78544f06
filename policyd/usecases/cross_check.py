"""The second opinion on answers about all calls: a solver comes to the same result by another way, or it is a defect.

Source: questions 2; interface, `--cross-check`.
"""

from __future__ import annotations

from collections.abc import Callable

from policyd.core.callsets import Answer, Difference, Everything, Fails, Holds, Undecided, Universe
from policyd.core.cards import Bound, CardId, GrantRef, Surface
from policyd.core.cards.surface import Part
from policyd.core.grants import ANY_VERB, AgentContext, Grant, Level, Owner, PermissionClass, Recipient, Target
from policyd.core.grants.resources.exact import AnyResource
from policyd.findings import InternalDefect
from policyd.solver.answer import USED_UP, Allowance
from policyd.syntax.queries import ParsedQuery, is_grantable

MAX_CROSS_CHECKED = 100_000
"""So many witnesses are compared; more kinds of calls than this cannot be cross-checked."""

TIMEOUT_MS = 2_000
"""For one class and verb."""

ASKED = CardId("ffffffff-ffff-ffff-ffff-ffffffffffff")
"""Stands for the card of a query, which nobody holds."""

MAX_SECONDS = 60.0
"""For all questions of one answer together."""

_Question = Callable[[PermissionClass, str, int], Answer]


class CrossCheck:
    """Collects what the second opinion said; raises at the first contradiction."""

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        """Nothing is checked yet, and the time for all of it begins to run."""
        self._allowance = Allowance(seconds)
        self._unknown: dict[str, None] = {}
        self._questions = 0
        self._skipped: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was checked, and what the solver could not tell."""
        what = "the question" if self._questions == 1 else f"all {self._questions} questions"
        found = [f"cross-checked: a solver agrees on {what}, asked over the names that occur and fresh ones"]
        if self._unknown:
            shown = "; ".join(list(self._unknown)[:3])
            found = [f"cross-checked in part: a solver contradicts nothing, and could not tell: {shown}"]
        return (*(found if self._questions else ()), *self._skipped)

    def difference(self, answer: Difference, admitting: Surface, refusing: Surface, universe: Universe) -> None:
        """Compare a difference with all its witnesses.

        Raises:
            InternalDefect: if the solver contradicts it.
        """
        from policyd.solver.questions import cross_check

        if answer.more:
            self._skipped["not cross-checked: there are too many kinds of calls"] = None
            return
        wrong, unknown = cross_check(answer, admitting, refusing, universe, TIMEOUT_MS, self._allowance)
        self._questions += 1
        # Where the search ended early, that nothing was found says nothing.
        wrong = tuple(w for w in wrong if not (answer.undecided and w.structure == "no difference"))
        if wrong:
            first = wrong[0]
            raise InternalDefect.of(
                f"the cross-check of a difference fails for `{first.cls}` : `{first.verb}`:"
                f" {first.structure} against {first.solver}"
            )
        self._unknown.update(dict.fromkeys(u.reason for u in unknown))

    def contained(self, answer: Answer, narrow: Surface, wide: Surface, universe: Universe) -> None:
        """Compare the answer to whether everything that `narrow` admits is admitted by `wide`.

        Raises:
            InternalDefect: if the solver contradicts it.
        """
        from policyd.solver.questions import contained

        self._compare(answer, universe.classes, lambda c, v, t: contained(narrow, wide, c, v, universe, t))

    def apart(self, answer: Answer, left: Surface, right: Surface, universe: Universe) -> None:
        """Compare the answer to whether no call is admitted by both.

        Raises:
            InternalDefect: if the solver contradicts it.
        """
        from policyd.solver.questions import apart

        self._compare(answer, universe.classes, lambda c, v, t: apart(left, right, c, v, universe, t))

    def query(
        self,
        answer: Answer,
        surface: Surface,
        asked: ParsedQuery,
        context: AgentContext | None,
        universe: Universe,
        *,
        is_never: bool,
    ) -> None:
        """Compare the answer to whether the calls of a query are never, or always, admitted.

        Raises:
            InternalDefect: if the solver contradicts it.
        """
        from policyd.solver.questions import apart, contained

        if not is_grantable(asked):
            self._skipped["not cross-checked: the solver has no form for `under(…)` of this class"] = None
            return
        calls = _lending(asked, context, surface.holder)

        def ask(cls: PermissionClass, verb: str, timeout_ms: int) -> Answer:
            if is_never:
                return apart(surface, calls, cls, verb, universe, timeout_ms)
            return contained(calls, surface, cls, verb, universe, timeout_ms)

        self._compare(answer, (asked.cls,), ask, asked.verb)

    def _compare(
        self, answer: Answer, classes: tuple[PermissionClass, ...], ask: _Question, only: str = ANY_VERB
    ) -> None:
        from policyd.solver.questions import LONGER_PATHS

        self._questions += 1
        is_complete = True
        for cls in classes:
            for verb in cls.verbs if only == ANY_VERB else (only,):
                timeout = self._allowance.timeout_ms(TIMEOUT_MS)
                match ask(cls, verb, timeout) if timeout else USED_UP:
                    case Fails(call):
                        if isinstance(answer, Holds):
                            raise InternalDefect.of(
                                f"the cross-check of a proof finds a call against it: `{call.text}`"
                            )
                        return
                    case Undecided(reason):
                        self._unknown[reason] = None
                        is_complete = False
                    case Holds(_, left_out):
                        is_complete = is_complete and LONGER_PATHS not in left_out
        if isinstance(answer, Fails) and is_complete:
            raise InternalDefect.of(f"the cross-check finds no call where the proof has `{answer.witness.text}`")


def _lending(asked: ParsedQuery, context: AgentContext | None, holder: Recipient) -> Surface:
    """A surface that admits exactly the calls of a query."""
    resource = AnyResource() if asked.resource is None or isinstance(asked.resource, Everything) else asked.resource
    owner = asked.owner if context is None else asked.owner_for(context)
    target = Target(asked.cls, owner or Owner(asked.cls.owner), asked.verb, resource)
    ref = GrantRef(ASKED, Bound.LOWER_POSITIVE, 0, Grant(target, Recipient(Level.ANY)))
    return Surface(holder, (Part(ASKED, (ref,), ()),), (), (ASKED,))
