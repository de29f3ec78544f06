"""Audit a manifest: everything that is wrong with it and its cards, in every environment asked about.

Source: style 4, 8; manifest-format 11; cards 8.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.analysis import Subject, audit
from policyd.analysis.audit import in_environments
from policyd.analysis.deploy import judge
from policyd.core.cards import Card
from policyd.core.edition import NEXT, Rules
from policyd.findings import Finding, Report
from policyd.manifest import LoadedManifest, describe, resolve_environment

_NO_DEPLOYER = "whether the deployer's own cards cover"
_NO_ACCOUNT = "the account: the environment names none"


def audit_manifest(
    loaded: LoadedManifest,
    *,
    environments: Sequence[str] | None = None,
    presets: Sequence[str] | None = None,
    rules: Rules = NEXT,
    deployer: Sequence[Card] | None = None,
    account: str = "",
    components: Mapping[str, str] | None = None,
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
    """
    application = loaded.application
    names: list[str | None] = list(dict.fromkeys(environments)) if environments is not None else []
    if environments is None:
        names += [e.name for e in application.environments] or [None]
    subjects: list[Subject] = []
    resolving: dict[Finding, list[str]] = {}
    left_out = set(loaded.not_analysed)
    for name in names:
        resolved = resolve_environment(application, name, presets, rules=rules, implements=components or {})
        for finding in resolved.findings:
            resolving.setdefault(finding, []).append(name or "")
        left_out.update(
            sentence
            for sentence in resolved.not_analysed
            if not sentence.startswith(_NO_DEPLOYER) and not (account and sentence.startswith(_NO_ACCOUNT))
        )
        if resolved.environment is None and name is not None:
            continue
        deployment = describe(application, resolved, rules)
        subjects.append(Subject(deployment, account.lower(), rules, None if deployer is None else tuple(deployer)))
    found = {in_environments(finding, where, len(names)) for finding, where in resolving.items()}
    return Report.of(
        (*loaded.findings, *found, *audit(subjects)), (*left_out, *_unjudged(subjects, is_assumed=deployer is None))
    )


def _unjudged(subjects: Sequence[Subject], *, is_assumed: bool) -> list[str]:
    """What is not known about the deploy."""
    out: list[str] = []
    if is_assumed and any(subject.cards for subject in subjects):
        out.append("the deployer's cards: a plain account root card is assumed, because a manifest does not show them")
    out += [
        f"whether the deploy accepts the card of `{card.agent.name}` in `{subject.deployment.environment}`:"
        " it depends on the account or the component, which are not known"
        for subject in subjects
        for card in subject.cards
        if card.is_readable and not judge(subject, card).is_judged
    ]
    return out
