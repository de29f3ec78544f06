"""Whether two sets of rules differ at a site in a way that is not known yet; over all bags, as questions about one set.

Source: retry 8.2, 8.6; style 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import z3

from policyd.core.edition import Rules
from policyd.core.retry.fingerprint import tree_fingerprint
from policyd.core.retry.policy import NamedPolicy
from policyd.core.retry.resolve import Outcome, Resolver, RuleSet, mentions_status
from policyd.core.retry.sites import Site
from policyd.core.retry.space import predicates_of
from policyd.solver.answer import DEFAULT_TIMEOUT_MS
from policyd.solver.retry_questions import Bag, Finding, Impossible, ask, judged
from policyd.solver.retry_terms import BagTerms

End = tuple[str, str]
"""What a selection comes to: `rule`, `error` or `none`, and the rule that decides or fails."""

NONE: End = ("none", "")


def unseen_difference(
    site: Site,
    rules: Rules,
    before: Sequence[NamedPolicy],
    after: Sequence[NamedPolicy],
    seen: frozenset[tuple[End, End]],
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> Finding:
    """A bag that fares otherwise after a change, in another way than those known.

    Unsatisfiable when every bag fares as before or in one of the ways that are known.

    Args:
        site: where.
        rules: the edition.
        before: the rules in the order of selection.
        after: other rules in their order.
        seen: the ways that are known.
        timeout_ms: for the solver.
    """
    is_filtered = site.resolver.filters_status
    resolver = site.resolver.resolver(rules)
    old, new = (tuple(r for r in some if not is_filtered or mentions_status(r)) for some in (before, after))
    if [_identity(rule) for rule in old] == [_identity(rule) for rule in new]:
        return Impossible()
    trees = [{rule.name: tree_fingerprint(rule.policy) for rule in some} for some in (old, new)]

    def is_known(one: End, other: End) -> bool:
        if one[0] != "rule" or other[0] != "rule":
            return one[0] == other[0] or (one, other) in seen
        is_same = one[1] == other[1] and trees[0][one[1]] == trees[1][other[1]]
        return is_same or (one, other) in seen

    def encode(terms: BagTerms) -> z3.BoolRef:
        false = z3.BoolVal(False, terms.context)
        ends = list(ends_of(terms, new, resolver))
        ways = []
        for one, condition in ends_of(terms, old, resolver):
            known = [there for other, there in ends if is_known(one, other)]
            ways.append(z3.And(condition, z3.Not(z3.Or(false, *known))))
        return z3.Or(false, *ways)

    sets = RuleSet.of(old), RuleSet.of(new)

    def confirm(bag: Bag) -> bool:
        one, other = (end_of(some, bag, resolver) for some in sets)
        return not is_known(one, other)

    return ask(site, rules, tuple(predicates_of((*old, *new))), timeout_ms, encode, confirm)


def _identity(rule: NamedPolicy) -> tuple[str, object, str]:
    return rule.name, rule.selector, tree_fingerprint(rule.policy)


def ends_of(terms: BagTerms, rules: Sequence[NamedPolicy], resolver: Resolver) -> Iterator[tuple[End, z3.BoolRef]]:
    """What the selection can come to, each with its condition."""
    reached: list[z3.BoolRef] = [z3.BoolVal(True, terms.context)]
    for rule in rules:
        match, fails = judged(terms, rule, resolver)
        yield ("rule", rule.name), z3.And(*reached, match)
        yield ("error", rule.name), z3.And(*reached, fails)
        # each step has a name of its own, so that the conditions of many rules stay small
        here = z3.FreshConst(z3.BoolSort(terms.context), "reached")
        terms.domain.append(here == z3.And(*reached, z3.Not(match), z3.Not(fails)))
        reached = [here]
    yield NONE, reached[0]


def end_of(rules: RuleSet, bag: Bag, resolver: Resolver) -> End:
    """What the selection comes to for one bag."""
    for considered in rules.select(bag, resolver).considered:
        if considered.outcome is Outcome.SELECTED:
            return "rule", considered.rule.name
        if considered.outcome is Outcome.ERROR:
            return "error", considered.rule.name
    return NONE
