"""Questions about predicates and selections over all bags of a site; each has a context and a time limit of its own.

Source: retry 8.2, 8.3; style 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import z3

from policyd.core.edition import Rules
from policyd.core.retry.catalogue import PropertyType
from policyd.core.retry.cells import NOUN_NAMES
from policyd.core.retry.evaluate import evaluate_strict
from policyd.core.retry.nouns import is_possible, noun_fragment
from policyd.core.retry.policy import (
    AddDelay,
    AndThen,
    Clamp,
    CountBox,
    FilteredOn,
    Intersect,
    Jitter,
    NamedPolicy,
    Policy,
    TimeBox,
    Union,
)
from policyd.core.retry.predicate import Constant, Predicate, PropText, TextTest, leaves, properties_of
from policyd.core.retry.representatives import constants_of
from policyd.core.retry.resolve import Resolver, RuleSet, mentions_status
from policyd.core.retry.sites import Noun, Site
from policyd.core.retry.space import predicates_of
from policyd.core.retry.value import Boolean, Integer, PropertyValue, Text
from policyd.solver.answer import DEFAULT_TIMEOUT_MS
from policyd.solver.retry_terms import BagTerms, Sees
from policyd.solver.retry_texts import text_of

MAX_TRIES = 8
"""Models that are replayed before a question is left undecided."""

MAX_CONSTANTS = 1_500
"""Tests and constants of the predicates of one question; larger ones are left undecided unasked."""

MAX_CHARACTERS = 20_000
"""Characters of those constants."""

MAX_GLOB_CHARACTERS = 500
"""Characters of one glob: the solver spends no time limit on taking in an expression."""

Bag = Mapping[str, PropertyValue]


@dataclass(frozen=True, slots=True)
class Exists:
    """A bag of the site, confirmed by the evaluator."""

    bag: Bag


@dataclass(frozen=True, slots=True)
class Impossible:
    """A proof that no bag of the site does it.

    Attributes:
        left_out: what the domain of the proof leaves out.
    """

    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Neither a bag nor a proof.

    Attributes:
        reason: why.
    """

    reason: str


Finding = Exists | Impossible | Unsettled


def satisfiable(site: Site, rules: Rules, predicate: Predicate, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> Finding:
    """Whether a predicate is true of some bag of the site.

    Unsatisfiable when it is not: a bag of the domain of which a strict evaluation gives true.
    """
    return ask(
        site, rules, (predicate,), timeout_ms,
        lambda terms: terms.strict(predicate).true,
        lambda bag: evaluate_strict(predicate, bag) is True,
    )  # fmt: skip


def counterexample(
    site: Site, rules: Rules, narrow: Predicate, wide: Sequence[Predicate], timeout_ms: int = DEFAULT_TIMEOUT_MS
) -> Finding:
    """A bag of which `narrow` is true and none of `wide` is: what breaks an implication or a coverage.

    Unsatisfiable when `narrow` implies that one of `wide` is true.
    """

    def encode(terms: BagTerms) -> z3.BoolRef:
        return z3.And(terms.strict(narrow).true, *(z3.Not(terms.strict(p).true) for p in wide))

    def confirm(bag: Bag) -> bool:
        return evaluate_strict(narrow, bag) is True and all(evaluate_strict(p, bag) is not True for p in wide)

    return ask(site, rules, (narrow, *wide), timeout_ms, encode, confirm)


def overlap(
    site: Site, rules: Rules, one: Predicate, other: Predicate, timeout_ms: int = DEFAULT_TIMEOUT_MS
) -> Finding:
    """A bag of which both predicates are true.

    Unsatisfiable when they exclude each other.
    """
    return ask(
        site, rules, (one, other), timeout_ms,
        lambda terms: z3.And(terms.strict(one).true, terms.strict(other).true),
        lambda bag: evaluate_strict(one, bag) is True and evaluate_strict(other, bag) is True,
    )  # fmt: skip


def failure(site: Site, rules: Rules, predicate: Predicate, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> Finding:
    """A bag of which a strict evaluation of the predicate fails.

    Unsatisfiable when the predicate never reads what is missing and always compares what it reads.
    """

    def encode(terms: BagTerms) -> z3.BoolRef:
        sees = terms.strict(predicate)
        return z3.Or(sees.missing, sees.error)

    return ask(
        site, rules, (predicate,), timeout_ms, encode,
        lambda bag: not isinstance(evaluate_strict(predicate, bag), bool),
    )  # fmt: skip


def wins(
    site: Site,
    rules: Rules,
    policies: Sequence[NamedPolicy],
    rule: NamedPolicy,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> Finding:
    """A bag for which `rule` is selected from `policies` (in the order of selection).

    Unsatisfiable when the rule never decides: where it would match, an earlier rule matches or ends the selection.
    """
    status = site.resolver.filters_status
    resolver = site.resolver.resolver(rules)
    before = [p for p in policies[: policies.index(rule)] if not status or mentions_status(p)]
    if status and not mentions_status(rule):
        return Impossible()
    read = tuple(predicates_of((*before, rule)))

    def encode(terms: BagTerms) -> z3.BoolRef:
        parts = []
        for earlier in before:
            match_, fails = judged(terms, earlier, resolver)
            parts += [z3.Not(match_), z3.Not(fails)]
        return z3.And(judged(terms, rule, resolver)[0], *parts)

    ready = RuleSet.of(policies)
    return ask(
        site, rules, read, timeout_ms, encode, lambda bag: ready.pick(bag, resolver, status_filter=status) is rule
    )


def judged(terms: BagTerms, rule: NamedPolicy, resolver: Resolver) -> tuple[z3.BoolRef, z3.BoolRef]:
    """Whether a rule would be selected, and whether it would end the selection, were it alone.

    Source: retry 3.3.
    """
    match resolver:
        case Resolver.STRICT:
            sees = terms.strict(rule.selector)
            return sees.true, z3.Or(sees.missing, sees.error)
        case Resolver.SKIP_MISSING:
            sees = terms.strict(rule.selector)
            return sees.true, sees.error
        case Resolver.APPLICABLE:
            sees = terms.lenient(rule.selector)
            body = _body(terms, rule.policy)
            return z3.And(sees.true, body.true), z3.Or(sees.error, z3.And(sees.true, body.error))


def _body(terms: BagTerms, policy: Policy) -> Sees:
    """Whether the body of a policy applies; nothing is missing there."""
    never = z3.BoolVal(False, terms.context)
    match policy:
        case FilteredOn(predicate, inner):
            sees, below = terms.lenient(predicate), _body(terms, inner)
            return Sees(
                z3.And(sees.true, below.true),
                z3.Or(sees.false, sees.missing, z3.And(sees.true, below.false)),
                never,
                z3.Or(sees.error, z3.And(sees.true, below.error)),
            )
        case CountBox() | TimeBox() | Clamp() | AddDelay() | Jitter():
            return _body(terms, policy.inner)
        case AndThen(left, right) | Union(left, right):
            a, b = _body(terms, left), _body(terms, right)
            return Sees(
                z3.Or(a.true, z3.And(a.false, b.true)),
                z3.And(a.false, b.false),
                never,
                z3.Or(a.error, z3.And(a.false, b.error)),
            )
        case Intersect(left, right):
            a, b = _body(terms, left), _body(terms, right)
            return Sees(
                z3.And(a.true, b.true),
                z3.Or(a.false, z3.And(a.true, b.false)),
                never,
                z3.Or(a.error, z3.And(a.true, b.error)),
            )
        case _:
            return Sees(z3.BoolVal(True, terms.context), never, never, never)


def ask(
    site: Site,
    rules: Rules,
    predicates: Sequence[Predicate],
    timeout_ms: int,
    encode: Callable[[BagTerms], z3.BoolRef],
    confirm: Callable[[Bag], bool],
) -> Finding:
    """A bag of the site that `encode` describes and `confirm` confirms; unsatisfiable when there is none.

    Args:
        site: where.
        rules: the edition.
        predicates: all that the question reads.
        timeout_ms: for the solver.
        encode: the question.
        confirm: replays a bag.
    """
    if _is_too_large(predicates):
        return Unsettled("the predicates are larger than what is put to the solver")
    names = frozenset().union(*(properties_of(p) for p in predicates))
    context = z3.Context()
    terms = BagTerms.of(site, rules, names, context)
    condition = encode(terms)
    solver = z3.Solver(ctx=context)
    solver.set("timeout", timeout_ms)
    solver.add(*terms.domain, condition)
    for tries in range(MAX_TRIES):
        verdict = solver.check()
        if verdict == z3.unsat:
            if tries:
                return Unsettled("the bags that were found do not occur, and there may be others")
            return Impossible(tuple(sorted(terms.notes)))
        if verdict != z3.sat:
            return Unsettled(str(solver.reason_unknown()))
        model = solver.model()
        for bag in _bags(terms, model):
            if confirm(bag):
                return Exists(bag)
        solver.add(_another(terms, model))
    return Unsettled("no model was confirmed by the evaluator")


def _is_too_large(predicates: Iterable[Predicate]) -> bool:
    constants = characters = 0
    for predicate in predicates:
        for leaf in leaves(predicate):
            if isinstance(leaf, Constant):
                continue
            values = constants_of(leaf)
            constants += 1 + len(values)
            if isinstance(leaf, PropText):
                characters += len(leaf.operand)
                if leaf.test is TextTest.MATCHES and len(leaf.operand) > MAX_GLOB_CHARACTERS:
                    return True
            characters += sum(len(value.value) for value in values if isinstance(value, Text))
            if constants > MAX_CONSTANTS or characters > MAX_CHARACTERS:
                return True
    return False


def _another(terms: BagTerms, model: z3.ModelRef) -> z3.BoolRef:
    """A condition that excludes the values of a model."""
    differs = [z3.BoolVal(False, terms.context)]
    for known in terms.properties.values():
        found = model.eval(known.value, model_completion=True)
        differs.append(known.value != found)
        differs.append(known.present != model.eval(known.present, model_completion=True))
    return z3.Or(*differs)


def _bags(terms: BagTerms, model: z3.ModelRef) -> Iterable[Bag]:
    """The bags that a model may stand for: with the parts of the noun as the host makes them."""
    values: dict[str, PropertyValue] = {}
    for name, known in terms.properties.items():
        if z3.is_true(model.eval(known.present, model_completion=True)):
            values[name] = _value(known.type, model.eval(known.value, model_completion=True))
    plain = {n: v for n, v in values.items() if n not in NOUN_NAMES}
    if not values.keys() & NOUN_NAMES:
        yield plain
        return
    for noun in _nouns(terms.site, values):
        fragment = noun_fragment(terms.site, noun)
        if is_possible(terms.site, fragment):
            yield {**plain, **fragment}


def _nouns(site: Site, values: Bag) -> Iterable[str]:
    noun = values.get("noun-uri")
    if isinstance(noun, Text):
        yield noun.value
    made = _composed(site, values)
    if not made:
        return
    yield made
    if isinstance(noun, Text):
        # What a test wants of the whole noun can stand where no part is read from: in a query or in arguments.
        yield f"{made}?{noun.value}"
        if site.noun is Noun.RPC and made.endswith("(1)"):
            yield f"{made[:-2]}{noun.value})"


def _composed(site: Site, values: Bag) -> str:
    """The noun with the parts of a model, empty where it has none."""

    def text(name: str, otherwise: str) -> str:
        value = values.get(name)
        return value.value if isinstance(value, Text) else otherwise

    port = values.get("uri-port")
    after = f":{port.value}" if isinstance(port, Integer) else ""
    match site.noun:
        case Noun.HTTP:
            return f"{text('uri-scheme', 'https')}://{text('uri-host', 'x.test')}{after}{text('uri-path', '/')}"
        case Noun.DNS:
            return f"dns://{text('uri-host', 'x.test')}{after}{text('uri-path', '')}"
        case Noun.DATABASE:
            return f"{text('uri-scheme', 'postgres')}://{text('uri-host', 'x.test')}{after}{text('uri-path', '/db')}"
        case Noun.RPC:
            component = text("target-component-id", text("uri-host", "11111111-1111-4111-8111-111111111111"))
            name = text("target-agent-type", "")
            return f"worker://{component}{f'/{name}(1)' if name else text('uri-path', '/x')}"
        case Noun.TRAP:
            return f"wasm://{text('uri-host', 'run')}"
        case Noun.SAGA:
            path = text("uri-path", "worker:1/x")
            return f"urn:{path}" if "/" in path else f"urn:{path}/x"
        case _:
            return ""


def _value(kind: PropertyType, term: z3.ExprRef) -> PropertyValue:
    match kind:
        case PropertyType.TEXT:
            return Text(text_of(term))
        case PropertyType.INTEGER:
            return Integer(term.as_long())
        case PropertyType.BOOLEAN:
            return Boolean(z3.is_true(term))
