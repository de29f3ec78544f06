"""Audit a manifest: everything that is wrong with it and its cards, in every environment asked about.

Source: style 4, 8; manifest-format 11; cards 8.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from policyd.analysis import Subject, audit
from policyd.analysis.audit import in_environments
from policyd.analysis.deploy import judge
from policyd.analysis.proofs import standings_of
from policyd.core.cards import Bound, Card
from policyd.core.edition import NEXT, Rules
from policyd.core.grants.names import ascii_lower
from policyd.core.retry.placed import MAX_RULES, NO_FACTS, RetryFacts
from policyd.findings import Finding, Related, Report, Severity, Span, visible
from policyd.manifest import Application, LoadedManifest, describe, resolve_environment
from policyd.manifest.application import parse_located
from policyd.syntax.mistakes import shown

MAX_CARDS = 20_000
"""After so many initial cards, one per environment and agent type, no further environment is looked at."""

MAX_GRANTS = 150_000
"""After so many grants in them neither; what is left out is told."""

_NO_DEPLOYER = "whether the deployer's own cards cover"
_UNREAD = "the manifest is not read"
_NO_ACCOUNT = "the account: the environment names none"


@dataclass(frozen=True, slots=True)
class DeployAnswer:
    """Whether the registry takes the initial card of one agent type.

    Attributes:
        environment: where.
        agent_type: whose card.
        is_accepted: None where it depends on a name that is not known, or the card cannot be read.
        text: what the platform says where it refuses, empty where it does not.
    """

    environment: str
    agent_type: str
    is_accepted: bool | None
    text: str = ""


def audit_manifest(
    loaded: LoadedManifest,
    *,
    environments: Sequence[str] | None = None,
    presets: Sequence[str] | None = None,
    rules: Rules = NEXT,
    deployer: Sequence[Card] | None = None,
    account: str = "",
    components: Mapping[str, str] | None = None,
    retry: RetryFacts = NO_FACTS,
) -> Report:
    """All findings on a manifest, and what was left out.

    Args:
        loaded: the manifest, refused or not: what could be read of it is looked at.
        environments: names; None for every environment.
        presets: custom presets in place of each environment's own; None for those.
        rules: the edition.
        deployer: the cards of whoever deploys; None for an assumed account root card.
        account: the owner's e-mail where an environment names none; empty for not known.
        components: agent type to component, as far as the caller knows.
        retry: what is known of retry policies beside the manifest.
    """
    return _report(
        _survey(
            loaded,
            environments=environments,
            presets=presets,
            rules=rules,
            deployer=deployer,
            account=account,
            components=components,
            retry=retry,
        )
    )


def deploy_answers(
    loaded: LoadedManifest,
    *,
    environments: Sequence[str] | None = None,
    presets: Sequence[str] | None = None,
    rules: Rules = NEXT,
    deployer: Sequence[Card] | None = None,
    account: str = "",
    components: Mapping[str, str] | None = None,
) -> tuple[DeployAnswer, ...]:
    """Will this deploy be accepted: one answer per environment and agent type; arguments as in `audit_manifest`.

    Only the check of initial cards is answered; a deploy needs further rights of the deployer.
    """
    survey = _survey(
        loaded,
        environments=environments,
        presets=presets,
        rules=rules,
        deployer=deployer,
        account=account,
        components=components,
    )
    return _deploys(survey)


def audit_with_deploys(
    loaded: LoadedManifest,
    *,
    environments: Sequence[str] | None = None,
    presets: Sequence[str] | None = None,
    rules: Rules = NEXT,
    deployer: Sequence[Card] | None = None,
    account: str = "",
    components: Mapping[str, str] | None = None,
) -> tuple[Report, tuple[DeployAnswer, ...]]:
    """`audit_manifest` and `deploy_answers` over one reading of the environments."""
    survey = _survey(
        loaded,
        environments=environments,
        presets=presets,
        rules=rules,
        deployer=deployer,
        account=account,
        components=components,
    )
    return _report(survey), _deploys(survey)


@dataclass(frozen=True, slots=True)
class _Survey:
    """The environments asked about, as far as they are looked at.

    Attributes:
        loaded: the manifest.
        rules: the edition.
        subjects: the deployments.
        findings: of resolving them.
        left_out: sentences on what was left out.
        count: how many environments are asked about.
    """

    loaded: LoadedManifest
    rules: Rules
    subjects: tuple[Subject, ...]
    findings: tuple[Finding, ...]
    left_out: frozenset[str]
    count: int


def _survey(
    loaded: LoadedManifest,
    *,
    environments: Sequence[str] | None,
    presets: Sequence[str] | None,
    rules: Rules,
    deployer: Sequence[Card] | None,
    account: str,
    components: Mapping[str, str] | None,
    retry: RetryFacts = NO_FACTS,
) -> _Survey:
    asked = _names(loaded, environments)
    subjects: list[Subject] = []
    resolving: dict[Finding, list[str]] = {}
    left_out = set(loaded.not_analysed)
    limiting, empty = _upper_bounds(loaded.application)
    cards = None if deployer is None else tuple(deployer)
    cards_seen = grants_seen = policies_seen = 0
    for number, name in enumerate(asked):
        if cards_seen > MAX_CARDS or grants_seen > MAX_GRANTS:
            left_out.add(_too_many(asked, number))
            break
        resolved = resolve_environment(loaded.application, name, presets, rules=rules, implements=components or {})
        for finding in resolved.findings:
            resolving.setdefault(finding, []).append(name or "")
        left_out.update(
            sentence
            for sentence in resolved.not_analysed
            if not sentence.startswith(_NO_DEPLOYER) and not (account and sentence.startswith(_NO_ACCOUNT))
        )
        if resolved.environment is not None:
            deployment = describe(loaded.application, resolved, rules)
            policies_seen += len(deployment.retry_policies)
            if policies_seen > MAX_RULES:
                left_out.add(
                    f"the retry policies of {shown(name or '')}: an audit ends after {MAX_RULES} of them, ask about one"
                    " environment with `--env`"
                )
                deployment = replace(deployment, retry_policies=())
            cards_seen += len(deployment.agents)
            grants_seen += sum(len(a.initial_card.of(bound)) for a in deployment.agents for bound in Bound)
            subjects.append(Subject(deployment, ascii_lower(account), rules, cards, limiting, empty, retry))
    found = (in_environments(finding, where, len(asked)) for finding, where in resolving.items())
    return _Survey(loaded, rules, tuple(subjects), tuple(found), frozenset(left_out), len(asked))


def _too_many(asked: Sequence[str | None], first: int) -> str:
    """What is said of the environments from number `first` on, which are not looked at."""
    more = len(asked) - first
    which = shown(asked[first] or "") + (" and those after it" if more > 1 else "")
    return (
        f"{more} of {len(asked)} environments, {which}: an audit ends after {MAX_CARDS} initial cards or {MAX_GRANTS}"
        " grants in them, ask about one environment with `--env`"
    )


def _report(survey: _Survey) -> Report:
    application = survey.loaded.application
    in_force = {card.span for subject in survey.subjects for card in subject.cards if card.is_explicit}
    return Report.of(
        (
            *survey.loaded.findings,
            *survey.findings,
            *audit(survey.subjects, of=survey.count if survey.subjects else None),
            *_bad_elsewhere(application, in_force, survey.rules),
        ),
        (*survey.left_out, *_unjudged(survey.subjects), *_unproved(survey.subjects)),
    )


def _deploys(survey: _Survey) -> tuple[DeployAnswer, ...]:
    answers = tuple(answer for subject in survey.subjects for answer in _answers(subject))
    errors = [finding for finding in survey.loaded.findings if finding.severity is Severity.ERROR]
    if not errors:
        return answers
    # nothing of a manifest that is not read gets to the registry
    first = errors[0]
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    text = f"{_UNREAD}: {first.code} at {first.where}{more}"
    return tuple(replace(answer, is_accepted=False, text=text) for answer in answers)


def deploy_lines(answers: Sequence[DeployAnswer], *, is_assumed: bool) -> list[str]:
    """Will this deploy be accepted, one line per environment and outcome, refusals with the platform's words."""
    out: list[str] = []
    by = "an assumed account root card" if is_assumed else "the deployer's cards"
    for environment in dict.fromkeys(a.environment for a in answers):
        here = [a for a in answers if a.environment == environment]
        if here[0].text.startswith(_UNREAD):
            out.append(f"deploy to {environment}: refused: {here[0].text}")
            continue
        for outcome, words in ((True, "accepted"), (None, "unknown")):
            names = [a.agent_type for a in here if a.is_accepted is outcome]
            if names:
                why = "" if outcome else ", it depends on the account or the component"
                out.append(f"deploy to {environment}: {words} for {', '.join(names)} (judged by {by}{why})")
        out += [
            f"deploy to {environment}: refused for {a.agent_type} (judged by {by}): {a.text}"
            for a in here
            if a.is_accepted is False
        ]
    if out and not is_assumed:
        out.append("only the check of initial cards is judged: a deploy needs further rights of the deployer")
    return [visible(line) for line in out]


def deploy_json(answer: DeployAnswer) -> dict[str, object]:
    """One answer as JSON; `accepted` is `yes`, `no` or `unknown`."""
    word = {True: "yes", False: "no", None: "unknown"}[answer.is_accepted]
    return {
        "environment": answer.environment,
        "agent": answer.agent_type,
        "accepted": word,
        "text": answer.text,
    }


def _answers(subject: Subject) -> Iterator[DeployAnswer]:
    environment = subject.deployment.environment
    for card in subject.cards:
        name = card.agent.name
        bad = card.agent.initial_card.bad
        if bad:
            yield DeployAnswer(environment, name, False, bad[0].finding.message)
            continue
        outcome = judge(subject, card)
        yield DeployAnswer(environment, name, outcome.is_accepted, outcome.text)


def _names(loaded: LoadedManifest, environments: Sequence[str] | None) -> list[str | None]:
    if environments is not None:
        return list(dict.fromkeys(environments))
    return [e.name for e in loaded.application.environments] or [None]


def _upper_bounds(application: Application) -> tuple[frozenset[Span], frozenset[Span]]:
    """The places of the agents' cards with an upper grant, and of those whose upper bound is written but empty."""
    cards = [layer.card for agent in application.agents for layer in agent.layers if layer.card is not None]
    limiting = frozenset(c.key_span for c in cards if c.upper_positive or c.upper_negative)
    return limiting, frozenset(c.key_span for c in cards if c.has_upper) - limiting


def _bad_elsewhere(application: Application, in_force: Set[Span], rules: Rules) -> Iterator[Finding]:
    """Texts that are no grants in cards of agents that no audited environment uses: they break the first that does."""
    for agent in application.agents:
        for layer in agent.layers:
            card = layer.card
            if card is None or card.key_span in in_force:
                continue
            related = Related("this card is not in force in what was audited", card.key_span)
            for text in card.grants:
                outcome = parse_located(text, rules)
                if isinstance(outcome, Finding):
                    yield replace(outcome, severity=Severity.WARNING, related=(*outcome.related, related))


def _unjudged(subjects: Sequence[Subject]) -> Iterator[str]:
    """What is not known about the deploy."""
    for subject in subjects:
        if subject.cards and subject.deployer is None:
            yield "the deployer's cards: a plain account root card is assumed, because a manifest does not show them"
        for card in subject.cards:
            if card.is_readable and not judge(subject, card).is_judged:
                yield (
                    f"whether the deploy accepts the card of `{card.agent.name}` in `{subject.deployment.environment}`:"
                    " it depends on the account or the component, which are not known"
                )


def _unproved(subjects: Sequence[Subject]) -> Iterator[str]:
    """The grants about whose effect nothing is proved, because the effort ended first."""
    for subject in subjects:
        for card in subject.explicit_cards:
            count = len(standings_of(subject, card).undecided)
            if count:
                grants = "a grant" if count == 1 else f"{count} grants"
                yield (
                    f"whether {grants} of the card of `{card.agent.name}` in `{subject.deployment.environment}` can go"
                    " without effect: undecided, the effort of the proof ended first"
                )
