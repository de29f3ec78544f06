"""Which grants, retry policies and layers of chains no policy test touches.

Files about the same manifest, and its environments, are looked at together.

Source: questions 1, 2; interface, `test`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from policyd.findings import InputError, Span
from policyd.usecases.policy_tests import Outcome, TestRun
from policyd.usecases.policy_tests_answers import Touch, layers_of
from policyd.usecases.policy_tests_subjects import HeldGrant, Subject

Ran = tuple[TestRun, Sequence[Outcome]]
"""A run with what became of its expectations."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a deployment that a test may touch.

    Attributes:
        kind: `grant`, `policy` or `layer`.
        owner: the agent type of a grant, the environment of a policy, the chain of a layer.
        text: the grant as written, the name of the policy, the position and name of the layer.
        span: its place, None where none is known.
        touches: what an expectation has to rest on, one of them.
    """

    kind: str
    owner: str
    text: str
    span: Span | None
    touches: frozenset[Touch]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is touched.

    Attributes:
        counts: kind, how many are touched, and how many there are.
        untouched: the others.
        not_known: what could not be looked at, in words.
    """

    counts: tuple[tuple[str, int, int], ...]
    untouched: tuple[Part, ...]
    not_known: tuple[str, ...]


KINDS = ("grant", "policy", "layer")


def coverage_of(ran: Iterable[Ran]) -> Coverage:
    """What the tests of some runs touch, over all agents and environments.

    A grant is touched by an answer that names it as a reason, and by a query about its class and agent. A retry
    policy is touched where it decides or is named. A layer is touched by an expectation about its chain.
    """
    counts = dict.fromkeys(KINDS, (0, 0))
    untouched: list[Part] = []
    not_known: list[str] = []
    for group in together(ran):
        touched = frozenset(t for _, outcomes in group for outcome in outcomes for t in outcome.touched)
        parts: dict[Hashable, bool] = {}
        first: dict[Hashable, Part] = {}
        for subject in _subjects(group):
            for part in parts_of(subject, not_known):
                key: Hashable = (part.kind, part.owner, part.text, part.span)
                first.setdefault(key, part)
                parts[key] = parts.get(key, False) or not part.touches.isdisjoint(touched)
        for found, is_touched in parts.items():
            part = first[found]
            done, total = counts[part.kind]
            counts[part.kind] = (done + is_touched, total + 1)
            if not is_touched:
                untouched.append(part)
    listed = tuple((kind, done, total) for kind, (done, total) in counts.items() if total)
    return Coverage(listed, tuple(untouched), tuple(dict.fromkeys(not_known)))


def together(ran: Iterable[Ran]) -> list[list[Ran]]:
    """The runs of each manifest, or of each stored deployment, under the same edition."""
    groups: dict[Hashable, list[Ran]] = {}
    for run, outcomes in ran:
        if run.subject is not None:
            groups.setdefault(run.subject.identity, []).append((run, outcomes))
    return list(groups.values())


def _subjects(group: Sequence[Ran]) -> list[Subject]:
    """The deployments of a group, each once; the one with the most definitions, which knows most of its chains."""
    found: dict[str, Subject] = {}
    for run, _ in group:
        subject = run.subject
        if subject is None:
            continue
        known = found.setdefault(subject.name, subject)
        if len(subject.definitions) > len(known.definitions):
            found[subject.name] = subject
    return list(found.values())


def parts_of(subject: Subject, not_known: list[str]) -> Iterator[Part]:
    """All parts of a deployment; what cannot be read is added to `not_known`."""
    for held in subject.grants():
        yield Part("grant", held.agent, held.text, held.span, _touches(held))
    try:
        for policy in subject.retries().policies:
            name = policy.rule.name
            yield Part("policy", subject.name, name, policy.span, frozenset({Touch("policy", subject.name, name)}))
    except InputError as error:
        not_known.append(f"the retry policies of {subject.name}: {error.findings[0].message}")
    if not subject.has_layers:
        return
    try:
        rows = subject.chains().rows
    except InputError as error:
        not_known.append(f"the chains of {subject.name}: {error.findings[0].message}")
        return
    for row in rows:
        for touch in sorted(layers_of(row), key=lambda t: t.index):
            yield Part("layer", touch.owner, f"layer {touch.index} ({touch.name})", None, frozenset({touch}))


def _touches(held: HeldGrant) -> frozenset[Touch]:
    named = Touch("grant", held.card, held.bound.value, held.index)
    return frozenset({named, Touch("class", held.agent, held.cls), Touch("class", "", held.cls)})
