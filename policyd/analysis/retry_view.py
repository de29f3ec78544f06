"""The retry policies of one deployment as rules look at them.

Source: retry 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from policyd.analysis.subject import Subject
from policyd.core.edition import Rules
from policyd.core.retry import Elapsed, LimitClass, Limits, NamedPolicy, Noun, Site, default_rule
from policyd.core.retry.placed import MAX_RULES, PlacedPolicy
from policyd.core.retry.predicate import And, Constant, Or, Predicate, PropCompare, PropExists, PropIn
from policyd.core.retry.predicate import leaves as leaves_of
from policyd.core.retry.resolve import effective_rules
from policyd.core.retry.space import Contexts, Judged, Space, names_read
from policyd.core.retry.study import Study
from policyd.core.retry.value import Boolean, PropertyValue, Text
from policyd.findings import Confidence, Span

BUILT_IN = "default"


class RetryView:
    """The policies of a deployment, where they match and win, and where their retries end.

    Attributes:
        subject: the deployment.
        placed: the rules of the manifest, one of each name.
        rules: the same without their places.
        study: those rules with the built-in one, at every site.
    """

    def __init__(self, subject: Subject) -> None:
        """Take up the policies of the manifest."""
        self.subject = subject
        # More rules than are compared count as not analysed; the survey says so.
        given = subject.deployment.retry_policies
        self.placed: dict[str, PlacedPolicy] = {p.rule.name: p for p in given if len(given) <= MAX_RULES}
        self.rules: tuple[NamedPolicy, ...] = tuple(p.rule for p in self.placed.values())
        self.study = Study(tuple(e.rule for e in effective_rules(self.rules)), subject.rules)

    @property
    def edition(self) -> Rules:
        """The edition."""
        return self.subject.rules

    @property
    def sites(self) -> tuple[Site, ...]:
        """The sites of the host that ask for decisions."""
        return self.study.sites

    @cached_property
    def saga(self) -> Site | None:
        """The site of saga decisions, None where the edition has none."""
        return next((site for site in self.sites if site.noun is Noun.SAGA), None)

    def span(self, rule: NamedPolicy) -> Span | None:
        """Where the rule stands, None for the built-in one."""
        placed = self.placed.get(rule.name)
        return placed.span if placed is not None else None

    def is_written(self, rule: NamedPolicy) -> bool:
        """Whether the rule stands in the manifest."""
        return rule.name in self.placed

    def judged(self, site: Site, rule: NamedPolicy) -> Judged:
        """What becomes of a rule at a site."""
        return self.study.judged(site, rule)

    def matching(self, rule: NamedPolicy) -> Iterator[tuple[Site, Judged]]:
        """The sites at which the rule matches in some context."""
        for site in self.sites:
            judged = self.judged(site, rule)
            if judged.match:
                yield site, judged

    def accepts_anywhere(self, rule: NamedPolicy) -> bool:
        """Whether the rule itself accepts some context of some site, whether or not the site considers it."""
        return any(self.study.space(site).judged_alone(rule)[0] for site in self.sites)

    def winning(self, rule: NamedPolicy) -> list[Site]:
        """The sites at which the rule decides in some context."""
        return [site for site, judged in self.matching(rule) if judged.win]

    @cached_property
    def _limits(self) -> dict[str, list[tuple[Site, Limits]]]:
        return {
            rule.name: [(site, self.study.limits(site, rule)) for site in self.winning(rule)]
            for rule in self.study.policies
        }

    def limits(self, rule: NamedPolicy) -> list[tuple[Site, Limits]]:
        """Where the retries of a rule end, at every site where it decides."""
        return self._limits[rule.name]

    def is_saga_reachable(self, rule: NamedPolicy) -> bool:
        """Whether the rule can decide a saga."""
        return self.saga is not None and self.judged(self.saga, rule).win != 0

    @property
    def counts_time(self) -> bool:
        """Whether time boxes count."""
        return self.study.elapsed is Elapsed.REAL


def view_of(subject: Subject) -> RetryView:
    """The view, made once for all rules."""
    return subject.once("retry view", lambda: RetryView(subject))


def is_unbounded(limits: Limits) -> bool:
    """Whether nothing ends the retries."""
    return limits.limit_class in (LimitClass.UNBOUNDED, LimitClass.UNKNOWN)


def slugs(sites: Iterable[Site], limit: int = 4) -> str:
    """Some sites as words."""
    names = [site.slug for site in sites]
    shown = ", ".join(f"`{name}`" for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def confidence_of(spaces: Iterable[Space], names: Iterable[str]) -> Confidence:
    """How sure it is that no context is missing: certain where representatives are complete.

    Source: retry 8.2.
    """
    wanted = tuple(names)
    found = Confidence.CERTAIN
    for space in spaces:
        if space.is_capped:
            return Confidence.POSSIBLE
        if not space.is_exact(wanted):
            found = Confidence.LIKELY
    return found


def names_of(rules: Iterable[NamedPolicy]) -> frozenset[str]:
    """The properties that some rules read."""
    return frozenset().union(*(names_read(rule) for rule in rules))


def example(space: Space, contexts: Contexts) -> str:
    """The first of some contexts as an addition to a sentence; empty where nothing about it matters."""
    bag = space.bag(contexts)
    if not bag:
        return ""
    return ", for example with " + ", ".join(f"{n}={_shown(v)}" for n, v in sorted(bag.items()))


def _shown(value: PropertyValue) -> str:
    return str(value.value).lower() if isinstance(value, Boolean) else str(value.value)


def conjuncts(predicate: Predicate) -> Iterator[Predicate]:
    """The parts that must all be true, left to right."""
    stack = [predicate]
    while stack:
        node = stack.pop()
        if isinstance(node, And):
            stack += (node.right, node.left)
        else:
            yield node


def required_texts(predicate: Predicate, name: str) -> tuple[str, ...] | None:
    """The texts to which a selector narrows a property; None where it does not.

    >>> required_texts(PropIn("verb", (Text("PUT"), Text("POST"))), "verb")
    ('PUT', 'POST')
    """
    match predicate:
        case And(left, right):
            one, other = required_texts(left, name), required_texts(right, name)
            if one is None or other is None:
                return other if one is None else one
            return tuple(text for text in one if text in other)
        case Or(left, right):
            one, other = required_texts(left, name), required_texts(right, name)
            return None if one is None or other is None else tuple(dict.fromkeys((*one, *other)))
        case PropCompare(comparison, prop, Text(text)) if prop == name and comparison.value == "Eq":
            return (text,)
        case PropIn(prop, values) if prop == name and all(isinstance(v, Text) for v in values):
            return tuple(v.value for v in values if isinstance(v, Text))
        case _:
            return None


def reads(predicate: Predicate) -> frozenset[str]:
    """The properties that a predicate reads other than by asking whether they exist."""
    return frozenset(leaf.property for leaf in leaves_of(predicate) if not isinstance(leaf, Constant | PropExists))


def http_sites(view: RetryView) -> list[Site]:
    """The sites of HTTP requests."""
    return [site for site in view.sites if site.noun is Noun.HTTP]


def built_in() -> NamedPolicy:
    """The rule that the host has by itself."""
    return default_rule()


def names_sagas(rule: NamedPolicy) -> bool:
    """Whether a rule is written for sagas."""
    verbs = required_texts(rule.selector, "verb")
    if verbs is not None:
        return "saga" in verbs
    return bool(reads(rule.selector) & {"attempt", "error-kind"})
