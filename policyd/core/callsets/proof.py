"""Proofs over all calls: never, always, implied, disjoint.

Source: questions 2; interface, `prove`.
"""

from __future__ import annotations

from policyd.core.callsets.admitted import Admitted
from policyd.core.callsets.answer import Answer, Fails, Holds, Undecided
from policyd.core.callsets.below import Below, Everything
from policyd.core.callsets.budget import MAX_STEPS, Steps
from policyd.core.callsets.callset import CallSet, Complement, Intersection, calls_of, contains, minus
from policyd.core.callsets.search import calls_in
from policyd.core.callsets.universe import Universe
from policyd.core.grants import ANY_VERB, Owner, PermissionClass, Target
from policyd.core.grants.resources import Exact, Resource
from policyd.findings import InternalDefect


def query(
    universe: Universe,
    cls: PermissionClass | None = None,
    owner: Owner | None = None,
    verb: str = ANY_VERB,
    resource: Resource | None = None,
) -> CallSet:
    """The calls that a question names.

    Args:
        universe: which classes exist.
        cls: the class, None for any.
        owner: an owner or a pattern, concrete; None for any.
        verb: a verb, `*` for any.
        resource: a resource or a pattern with all calls that it covers, `below(x)` or `Everything()`; None for any.

    Raises:
        ValueError: where an owner or a resource is given without a class.
    """
    if cls is None and (owner is not None or resource is not None):
        raise ValueError("an owner or a resource needs a class")
    classes = universe.classes if cls is None else (cls,)
    return calls_of(
        Target(
            c, owner if owner is not None else Owner(c.owner), verb, resource if resource is not None else Everything()
        )
        for c in classes
    )


def is_empty(calls: CallSet, universe: Universe, *, steps: Steps = MAX_STEPS) -> Answer:
    """Whether no call belongs to the set.

    `Holds` when no class has one; `Fails` with a member, tried product by product before it is returned.

    Raises:
        InternalDefect: when that last test disagrees.
    """
    undecided: Undecided | None = None
    nameless: Target | None = None
    for found in calls_in(calls, universe, steps):
        if isinstance(found, Undecided):
            undecided = undecided or found
            continue
        if not contains(calls, found):
            raise InternalDefect.of(f"a witness does not belong to its set: `{found.text}`")
        if not _is_nameless(found):
            return Fails(found)
        nameless = nameless or found
    if nameless is not None:
        return Fails(nameless)
    return undecided or Holds(f"all calls of {len(universe.classes)} classes", universe.left_out)


def _is_nameless(call: Target) -> bool:
    """Whether it is the invocation of a method without a name, or with a number or UUID for one.

    Guests can ask for it, but no text of a target says it, so any other call makes a better example.
    """
    kind = call.resource.kind if isinstance(call.resource, Exact) else "method"
    return call.cls.name == "agent" and call.verb == "invoke" and kind != "method"


def never(admitted: Admitted, calls: CallSet, universe: Universe, *, steps: Steps = MAX_STEPS) -> Answer:
    """Whether none of `calls` is admitted; unsatisfiable when it holds: a call of the query that is admitted.

    Raises:
        InternalDefect: when the plain evaluator does not confirm the witness.
    """
    answer = is_empty(Intersection((calls, admitted.calls)), universe, steps=steps)
    if isinstance(answer, Fails) and not admitted.surface.allows(answer.witness):
        raise InternalDefect.of(f"a witness is not admitted on replay: `{answer.witness.text}`")
    return answer


def always(admitted: Admitted, calls: CallSet, universe: Universe, *, steps: Steps = MAX_STEPS) -> Answer:
    """Whether all of `calls` are admitted; unsatisfiable when it holds: a call of the query that is not.

    Raises:
        InternalDefect: when the plain evaluator does not confirm the witness.
    """
    answer = is_empty(minus(calls, admitted.calls), universe, steps=steps)
    if isinstance(answer, Fails) and admitted.surface.allows(answer.witness):
        raise InternalDefect.of(f"a witness against `always` is admitted on replay: `{answer.witness.text}`")
    return answer


def implies(narrow: Admitted, wide: Admitted, universe: Universe, *, steps: Steps = MAX_STEPS) -> Answer:
    """Whether everything that `narrow` admits is admitted by `wide`.

    Raises:
        InternalDefect: when the plain evaluator does not confirm the witness.
    """
    answer = is_empty(Intersection((narrow.calls, Complement(wide.calls))), universe, steps=steps)
    if isinstance(answer, Fails):
        _replayed(answer.witness, narrow, admits=True)
        _replayed(answer.witness, wide, admits=False)
    return answer


def equivalent(left: Admitted, right: Admitted, universe: Universe, *, steps: Steps = MAX_STEPS) -> Answer:
    """Whether both admit the same calls; fails with a call that only one of them admits.

    Raises:
        InternalDefect: when the plain evaluator does not confirm the witness.
    """
    there = implies(left, right, universe, steps=steps)
    back = implies(right, left, universe, steps=steps) if not isinstance(there, Fails) else there
    return back if isinstance(there, Holds) or isinstance(back, Fails) else there


def disjoint(left: Admitted, right: Admitted, universe: Universe, *, steps: Steps = MAX_STEPS) -> Answer:
    """Whether no call is admitted by both.

    Raises:
        InternalDefect: when the plain evaluator does not confirm the witness.
    """
    answer = is_empty(Intersection((left.calls, right.calls)), universe, steps=steps)
    if isinstance(answer, Fails):
        _replayed(answer.witness, left, admits=True)
        _replayed(answer.witness, right, admits=True)
    return answer


def _replayed(call: Target, admitted: Admitted, *, admits: bool) -> None:
    if admitted.surface.allows(call) is not admits:
        raise InternalDefect.of(f"a witness does not hold on replay: `{call.text}`")


def query_text(
    cls: PermissionClass | None, owner: Owner | None, verb: str, resource: Resource | None, quantity: str = "every"
) -> str:
    """A query in words, with what its resource reaches spelled out.

    >>> query_text(None, None, "*", None)
    'every call'
    """
    if cls is None:
        return f"{quantity} call" if verb == ANY_VERB else f"{quantity} call of a verb `{verb}`"
    what = f"{quantity} call of `{cls.name}`" if verb == ANY_VERB else f"{quantity} `{verb}` call of `{cls.name}`"
    if owner is not None and owner.known:
        what += f" on `{owner.text}`" if owner.is_exact else f" on what `{owner.text}` covers"
    match resource:
        case None | Everything():
            return what
        case Below():
            return f"{what} for `{resource.label}` and everything below it"
        case _:
            return f"{what} that a grant of `{resource.text}` covers" if resource.text else what
