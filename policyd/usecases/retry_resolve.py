"""Which rule decides for an operation at a site, and why each other one does not.

Source: retry 3, 8.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from policyd.core.edition import Edition, Rules
from policyd.core.retry import (
    Considered,
    Effective,
    NamedPolicy,
    Noun,
    Outcome,
    PropertyValue,
    RuleSet,
    Selection,
    Site,
    Tier,
)
from policyd.core.retry.cells import Known
from policyd.core.retry.context import IDEMPOTENT_METHODS
from policyd.core.retry.events import Event, asks_no_policy, event_answers
from policyd.core.retry.resolve import mentions_status
from policyd.core.retry.space import Space, names_read
from policyd.core.retry.study import Study
from policyd.core.retry.value import Boolean, CoercionFailed, EvaluationError, PropertyNotFound, Text
from policyd.findings import visible_lines
from policyd.usecases.retry_bags import SiteBag, bag_at

MAX_ALTERNATIVES = 20
"""So many outcomes are told where they depend on what is not given."""

TIMEOUT_MS = 250
"""For one question to the solver."""

MAX_QUESTIONS = 4
"""Outcomes that the solver is asked for where values could only be sampled."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One outcome that is possible with what was given.

    Attributes:
        rule: the name of the rule that decides, None where none does.
        error: whether the selection fails instead, at `rule`.
        bag: properties with which it comes out so.
    """

    rule: str | None
    error: bool
    bag: Mapping[str, PropertyValue]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The answer.

    Attributes:
        at: what the site shows.
        selection: with the bag as far as it is given; one of the possible ones where `alternatives` has several.
        effective: the rules with where they come from.
        alternatives: the outcomes that are possible; exactly one where the answer is certain.
        rules: the edition.
        notes: what else must be said.
        is_sampled: whether values of what is not given were sampled, so that outcomes may be missing.
    """

    at: SiteBag
    selection: Selection
    effective: tuple[Effective, ...]
    alternatives: tuple[Alternative, ...]
    rules: Rules
    notes: tuple[str, ...]
    is_sampled: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether what was not given makes no difference."""
        return len(self.alternatives) == 1 and not self.is_sampled

    @property
    def winner(self) -> NamedPolicy | None:
        """The rule that decides, None where none does."""
        return self.selection.rule


def resolve_at(
    effective: Sequence[Effective],
    site: Site,
    given: Mapping[str, PropertyValue],
    rules: Rules,
    event: str | None = None,
    done: int | None = None,
) -> Resolved:
    """Select for one operation.

    Args:
        effective: the rules in the order of selection.
        site: the place.
        given: what is known of the operation.
        rules: the edition.
        event: what else happened, a word of `Event`; None for nothing.
        done: retries that the sequence has had already; None for not asked.
    """
    at = bag_at(site, given, rules)
    policies = tuple(e.rule for e in effective)
    resolver, status = site.resolver.resolver(rules), site.resolver.filters_status
    ready = RuleSet.of(policies)
    selection = ready.select(at.bag, resolver, status_filter=status)
    sampled, notes = False, list(at.notes)
    looked_at = _looked_at(policies, at, rules)
    read = frozenset().union(*(names_read(rule) for rule in looked_at))
    if not site.is_asked(rules) or (event is not None and asks_no_policy(Event(event), rules)):
        selection = Selection(resolver, ())
        alternatives: tuple[Alternative, ...] = (Alternative(None, False, at.bag),)
    elif at.open & read:
        space = Space.of(site, rules, looked_at, Known(at.bag))
        alternatives = _alternatives(space, looked_at, at)
        if not space.is_exact(read):
            alternatives, sampled, solved = _settled(alternatives, policies, at, rules, read)
            notes += solved
        selection = ready.select({**at.bag, **alternatives[0].bag}, resolver, status_filter=status)
    else:
        alternatives = (_alternative(selection, at.bag),)
    notes += _notes(site, selection, at, rules)
    if event is not None:
        idempotent = at.bag.get("is-idempotent", given.get("is-idempotent")) != Boolean(False)
        if selection.rule is not None:
            notes += _amount(selection.rule, site, policies, rules, done or 0)
        notes += event_answers(Event(event), rules, assumes_idempotence=idempotent)
    elif done is not None and selection.rule is not None:
        notes += _amount(selection.rule, site, policies, rules, done)
    if sampled:
        notes.append("what was not given could only be sampled: another outcome is not excluded")
    return Resolved(at, selection, tuple(effective), alternatives, rules, tuple(notes), sampled)


def _amount(rule: NamedPolicy, site: Site, policies: tuple[NamedPolicy, ...], rules: Rules, done: int) -> Iterator[str]:
    """How many executions there can be in all, and how many retries are left after some."""
    study = Study(policies, rules)
    limits = study.limits(site, rule, study.judged(site, rule).win)
    most = limits.retries.at_most
    if most is None:
        yield f"`{rule.name}` sets no greatest number of executions"
        return
    word = "" if limits.retries.exact else "at most "
    yield f"`{rule.name}` admits {word}{most + 1} executions in all (1 + {most} retries)"
    if done:
        yield f"after {done} retries {'at most ' if word or done > most else ''}{max(0, most - done)} are left"


def _looked_at(policies: Sequence[NamedPolicy], at: SiteBag, rules: Rules) -> tuple[NamedPolicy, ...]:
    """The rules that the site looks at until one decides whatever is not given."""
    resolver, status = at.site.resolver.resolver(rules), at.site.resolver.filters_status
    found: list[NamedPolicy] = []
    for rule in policies:
        if status and not mentions_status(rule):
            continue
        found.append(rule)
        if not names_read(rule) & at.open and RuleSet.of((rule,)).pick(at.bag, resolver) is not None:
            break
    return tuple(found)


def _alternative(selection: Selection, bag: Mapping[str, PropertyValue]) -> Alternative:
    failed = next((c.rule.name for c in selection.considered if c.outcome is Outcome.ERROR), None)
    rule = selection.rule
    return Alternative(rule.name if rule else failed, failed is not None, bag)


def _alternatives(space: Space, policies: Sequence[NamedPolicy], at: SiteBag) -> tuple[Alternative, ...]:
    picked = space.pick(policies)
    found: list[Alternative] = []
    for judged in picked.judged:
        for contexts, error in ((judged.win, False), (judged.ends, True)):
            bag = space.bag(contexts)
            if bag is not None:
                found.append(Alternative(judged.rule.name, error, {**at.bag, **bag}))
    none = space.bag(picked.none)
    if none is not None:
        found.append(Alternative(None, False, {**at.bag, **none}))
    return tuple(found)


def _settled(
    alternatives: tuple[Alternative, ...],
    policies: Sequence[NamedPolicy],
    at: SiteBag,
    rules: Rules,
    read: frozenset[str],
) -> tuple[tuple[Alternative, ...], bool, list[str]]:
    """Outcomes with those that the solver adds, whether others are not excluded, and what a proof leaves out."""
    site = at.site
    possible = site.always_present(rules) | site.sometimes_present()
    if site.noun is Noun.GUEST and (read - possible or at.bag.keys() - possible):
        return alternatives, True, []  # what guests pass beside the catalogue is no question for the solver
    # The solver is loaded only where it is needed.
    from policyd.solver.retry_outcomes import unseen_outcome
    from policyd.solver.retry_questions import Exists, Impossible

    found = list(alternatives)
    absent = possible - at.open - at.bag.keys()
    for _ in range(MAX_QUESTIONS):
        seen = frozenset(_end(alternative) for alternative in found)
        match unseen_outcome(site, rules, policies, at.bag, absent, seen, TIMEOUT_MS):
            case Exists(bag):
                found.append(_alternative(_selected(policies, bag, site, rules), bag))
            case Impossible(left_out):
                return tuple(found), False, [f"proved without {what}" for what in left_out]
            case _:
                break
    return tuple(found), True, []


def _selected(policies: Sequence[NamedPolicy], bag: Mapping[str, PropertyValue], site: Site, rules: Rules) -> Selection:
    resolver, status = site.resolver.resolver(rules), site.resolver.filters_status
    return RuleSet.of(policies).select(bag, resolver, status_filter=status)


def _end(alternative: Alternative) -> tuple[str, str]:
    """An outcome as the solver names it."""
    if alternative.rule is None:
        return ("none", "")
    return ("error" if alternative.error else "rule"), alternative.rule


def _notes(site: Site, selection: Selection, at: SiteBag, rules: Rules) -> list[str]:
    notes: list[str] = []
    if not site.is_asked(rules):
        notes.append(f"edition {rules.label} asks no policy at this site")
    if selection.rule is not None and site.resolver.filters_status:
        verb = at.bag.get("verb")
        sure = isinstance(verb, Text) and verb.value in IDEMPOTENT_METHODS
        if not sure and at.bag.get("is-idempotent") != Boolean(True):
            notes.append(
                "the request is sent again only if its method is idempotent or the agent assumes idempotence;"
                " else the response is exposed to the guest at once"
            )
    if rules.edition is Edition.NEXT and not rules.overrides:
        notes.append("edition next, site table as in snapshot")
    return notes


def error_words(error: EvaluationError | None) -> str:
    """What went wrong in an evaluation."""
    match error:
        case PropertyNotFound(name):
            return f"`{name}` is missing"
        case CoercionFailed(name, value, target):
            return f"`{name}` = `{value_words(value)}` cannot be compared as {target.value.lower()}"
        case _:
            return "the stored state does not fit"


def value_words(value: PropertyValue) -> str:
    """A value as users write it."""
    return str(value.value).lower() if isinstance(value, Boolean) else str(value.value)


def considered_words(considered: Considered, site: Site) -> str:
    """Why a rule decides, or does not."""
    error = f": {error_words(considered.error)}" if considered.error is not None else ""
    match considered.outcome:
        case Outcome.SELECTED:
            return "decides"
        case Outcome.ERROR:
            return f"ends the selection{error}"
        case Outcome.MISSING:
            return f"skipped, {considered.outcome.value}{error}"
        case Outcome.FILTERED:
            return "not considered: a response status is only put to rules that mention `status-code`"
        case _:
            return str(considered.outcome.value)


def bag_words(bag: Mapping[str, PropertyValue]) -> str:
    """A bag in one line."""
    return ", ".join(f"{name} = {value_words(value)}" for name, value in sorted(bag.items())) or "nothing"


_TIERS = {Tier.BUILT_IN: "built in", Tier.AGENT_CONFIGURATION: "agent configuration", Tier.OVERLAY: "overlay"}


def resolved_text(resolved: Resolved) -> str:
    """The answer in words."""
    at, site = resolved.at, resolved.at.site
    out = [_headline(resolved), ""]
    if not resolved.selection.considered:
        out.append("  no rule is considered")
    if not resolved.is_decided:
        out.append("it depends on what was not given:")
        for alternative in resolved.alternatives[:MAX_ALTERNATIVES]:
            extra = {n: v for n, v in alternative.bag.items() if n not in at.bag}
            out.append(f"  {_outcome_words(alternative, site)} with {bag_words(extra)}")
        if len(resolved.alternatives) > MAX_ALTERNATIVES:
            out.append(f"  … and {len(resolved.alternatives) - MAX_ALTERNATIVES} more")
        out += ["", "with the first of these:"]
    for considered in resolved.selection.considered:
        rule = considered.rule
        tier = next((_TIERS.get(e.tier, "") for e in resolved.effective if e.rule is rule), "")
        origin = f", {tier}" if tier else ""
        out.append(f"  {rule.name} (priority {rule.priority}{origin}): {considered_words(considered, site)}")
    out.append(f"site: {site.slug} ({site.title}); resolver: {resolved.selection.resolver.value}")
    out.append(f"seen: {bag_words(at.bag)}")
    out += [f"note: {note}" for note in resolved.notes]
    out.append(f"edition: {resolved.rules.label}")
    return visible_lines(out)


def _headline(resolved: Resolved) -> str:
    if not resolved.is_decided:
        return "undecided"
    if not resolved.selection.considered:
        return "no policy is asked"
    return _outcome_words(resolved.alternatives[0], resolved.at.site)


def _outcome_words(alternative: Alternative, site: Site) -> str:
    if alternative.error:
        return f"the selection fails at `{alternative.rule}`: {site.otherwise}"
    if alternative.rule is None:
        return f"no rule decides: {site.otherwise}"
    return f"`{alternative.rule}` decides"


def resolved_json(resolved: Resolved) -> dict[str, object]:
    """The answer on the wire."""
    return {
        "site": resolved.at.site.slug,
        "decided": resolved.is_decided,
        "rule": resolved.alternatives[0].rule if resolved.is_decided and not resolved.alternatives[0].error else None,
        "error": error_words(resolved.selection.error) if resolved.selection.error is not None else None,
        "alternatives": [
            {"rule": a.rule, "error": a.error, "properties": properties_json(a.bag)}
            for a in resolved.alternatives[:MAX_ALTERNATIVES]
        ],
        "considered": [
            {
                "rule": c.rule.name,
                "priority": c.rule.priority,
                "outcome": c.outcome.name.lower().replace("_", "-"),
                "why": considered_words(c, resolved.at.site),
            }
            for c in resolved.selection.considered
        ],
        "properties": properties_json(resolved.at.bag),
        "notes": list(resolved.notes),
        "edition": resolved.rules.edition.value,
        "switches": dict(resolved.rules.overrides),
    }


def properties_json(bag: Mapping[str, PropertyValue]) -> dict[str, object]:
    """A bag as JSON."""
    return {name: value.value for name, value in sorted(bag.items())}
