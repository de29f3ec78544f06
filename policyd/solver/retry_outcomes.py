"""Whether a selection can come to something that is not known yet, where some of the operation is given.

Source: retry 3.3, 8.2, 8.7; style 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import z3

from policyd.core.edition import Rules
from policyd.core.retry.catalogue import PropertyType
from policyd.core.retry.policy import NamedPolicy
from policyd.core.retry.resolve import RuleSet, mentions_status
from policyd.core.retry.sites import Site
from policyd.core.retry.space import predicates_of
from policyd.core.retry.value import Boolean, Integer, PropertyValue, Text
from policyd.solver.answer import DEFAULT_TIMEOUT_MS
from policyd.solver.retry_differences import End, end_of, ends_of
from policyd.solver.retry_questions import Bag, Exists, Finding, Unsettled, ask
from policyd.solver.retry_terms import BagTerms, PropertyTerms
from policyd.solver.retry_texts import text_value


def unseen_outcome(
    site: Site,
    rules: Rules,
    policies: Sequence[NamedPolicy],
    given: Mapping[str, PropertyValue],
    absent: frozenset[str],
    seen: frozenset[End],
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> Finding:
    """A bag with what is given whose selection comes to none of the ends that are known.

    Unsatisfiable when every such bag comes to one of them; what contradicts itself is left undecided.

    Args:
        site: where.
        rules: the edition.
        policies: the rules in the order of selection.
        given: what is known of the operation.
        absent: properties that it is known not to have.
        seen: the ends that are known.
        timeout_ms: for the solver.
    """
    status, resolver = site.resolver.filters_status, site.resolver.resolver(rules)
    asked = tuple(rule for rule in policies if not status or mentions_status(rule))
    read = tuple(predicates_of(asked))
    ready = RuleSet.of(asked)

    def whole(bag: Bag) -> Bag | None:
        fits = all(bag.get(name, value) == value for name, value in given.items()) and not absent & bag.keys()
        return {**given, **bag} if fits else None

    def fits_given(terms: BagTerms) -> z3.BoolRef:
        return z3.And(
            z3.BoolVal(True, terms.context),
            *(_has(known, given[name], terms.context) for name, known in terms.properties.items() if name in given),
            *(z3.Not(known.present) for name, known in terms.properties.items() if name in absent),
        )

    def is_other(terms: BagTerms) -> z3.BoolRef:
        ends = tuple(ends_of(terms, asked, resolver))
        return z3.And(fits_given(terms), *(z3.Not(condition) for end, condition in ends if end in seen))

    def confirm(bag: Bag) -> bool:
        operation = whole(bag)
        return operation is not None and end_of(ready, operation, resolver) not in seen

    possible = ask(site, rules, read, timeout_ms, fits_given, lambda bag: whole(bag) is not None)
    if not isinstance(possible, Exists):
        return Unsettled("no operation with what is given is known")
    found = ask(site, rules, read, timeout_ms, is_other, confirm)
    return Exists({**given, **found.bag}) if isinstance(found, Exists) else found


def _has(known: PropertyTerms, value: PropertyValue, context: z3.Context) -> z3.BoolRef:
    """Whether a property is there with a value; a value of another type than the site's does not occur."""
    match known.type, value:
        case PropertyType.TEXT, Text(text):
            return z3.And(known.present, known.value == text_value(text, context))
        case PropertyType.INTEGER, Integer(number):
            return z3.And(known.present, known.value == number)
        case PropertyType.BOOLEAN, Boolean(truth):
            return z3.And(known.present, known.value == z3.BoolVal(truth, context))
        case _:
            return z3.BoolVal(False, context)
