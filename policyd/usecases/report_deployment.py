"""One report on a deployment for an auditor: findings, cards, reach, retries, sagas and chains as one structure.

Everything is the answer of a verb; every form is made from the plain structure of `report_json`.

Source: interface, `report`; questions 1 to 3; style 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from policyd.core.application import Deployment
from policyd.core.cards import Bound, Timestamp
from policyd.core.edition import Rules
from policyd.core.tools.profile import Profile
from policyd.findings import Finding, PolicydError, Report, Severity
from policyd.manifest import LoadedManifest
from policyd.report import finding_json, fingerprint
from policyd.store.snapshots import SnapshotInfo
from policyd.syntax.tools import Catalogue
from policyd.usecases.audit_manifest import DeployAnswer, audit_with_deploys, deploy_json
from policyd.usecases.chain_check import check_chains
from policyd.usecases.chain_sources import ChainSources, stored_sources
from policyd.usecases.deployments import Described, Selection, described
from policyd.usecases.holders import holders_in
from policyd.usecases.reach_world import World, entrances_of, world_of
from policyd.usecases.report_parts import (
    asked_once,
    card_row,
    chain_rows,
    reach_queries,
    reach_rows,
    retry_rows,
    saga_row,
    wallet_row,
)
from policyd.usecases.retry_limits import limits_table
from policyd.usecases.retry_saga import SagaQuestion, ask_saga
from policyd.usecases.retry_sources import RetryEnvironment, environment_of
from policyd.usecases.retry_stored import stored_cards, stored_environment
from policyd.usecases.saga_self_view import AgentCards, cards_of_manifest
from policyd.usecases.show_card import shown_card
from policyd.usecases.snapshots import stored_report
from policyd.usecases.stored_decisions import Decisions
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.stored_parties import stored_parties
from policyd.usecases.suppressions import Suppression, comment_suppressions, suppressed, suppressed_report
from policyd.usecases.wallet_holders import WalletHolder

MAX_SAGAS = 500
"""So many agent types are asked about their sagas."""

NO_ENTRANCES = "which agents HTTP APIs, webhooks and MCP name: a snapshot does not hold it"


@dataclass(frozen=True, slots=True)
class Material:
    """What a report is made from.

    Attributes:
        described: the deployment.
        selection: account and component where it leaves them open.
        rules: the edition.
        source: how the deployment is called.
        report: the findings that are not accepted.
        accepted: the findings that are, each with the entry that accepts it.
        deploys: whether the registry takes the cards; empty for a snapshot.
        world: for reach.
        retry: the retry policies in force.
        retry_mistake: why they cannot be read, empty if they can.
        cards: of the agents, for sagas.
        chains: for middleware.
        left_out: what is not known.
        snapshot: the stored revision; None for a manifest.
        wallets: the imported ones, which decide in place of the initial cards of their holders.
    """

    described: Described
    selection: Selection
    rules: Rules
    source: str
    report: Report
    accepted: tuple[tuple[Finding, Suppression], ...]
    deploys: tuple[DeployAnswer, ...]
    world: World
    retry: RetryEnvironment | None
    retry_mistake: str
    cards: AgentCards
    chains: ChainSources
    left_out: tuple[str, ...] = ()
    snapshot: SnapshotInfo | None = None
    wallets: tuple[WalletHolder, ...] = ()


def material_of_manifest(
    loaded: LoadedManifest,
    selection: Selection,
    rules: Rules,
    source: str,
    entries: tuple[Suppression, ...],
    at: Timestamp,
) -> Material:
    """What a report on one environment of a manifest is made from.

    Args:
        loaded: the manifest, accepted by the loader.
        selection: which environment.
        rules: the edition.
        source: how the manifest is called.
        entries: of a baseline.
        at: the moment for which suppressions count.

    Raises:
        InputError: if the manifest has no such environment, preset or component.
    """
    found = described(loaded, selection, rules)
    environment = found.deployment.environment
    names = loaded.application.agents
    raw, deploys = audit_with_deploys(
        loaded,
        environments=[environment],
        presets=selection.presets,
        rules=rules,
        account=selection.account,
        components={agent.name: selection.component for agent in names} if selection.component else None,
    )
    report = suppressed_report(raw, loaded, entries, at, is_whole=False)
    comments, _ = comment_suppressions(loaded)
    parties = holders_in(found, selection, "", source)
    retry, mistake = None, ""
    try:
        retry = environment_of(loaded, environment)
    except PolicydError as refusal:
        mistake = refusal.findings[0].message
    return Material(
        found,
        selection,
        rules,
        source,
        report,
        _accepted(raw.findings, (*comments, *entries), at),
        deploys,
        world_of(parties, entrances_of(found), rules),
        retry,
        mistake,
        asked_once(cards_of_manifest(found, selection, rules)),
        ChainSources(Catalogue(), Profile.of(rules), rules, loaded),
        tuple(report.not_analysed),
    )


def material_of_snapshot(
    facts: StoredFacts, info: SnapshotInfo, rules: Rules, entries: tuple[Suppression, ...], at: Timestamp
) -> Material:
    """What a report on a stored deployment is made from.

    Raises:
        InputError: if another edition is asked about than the one it was imported under.
    """
    raw = stored_report(facts.deployment, info, rules)
    kept, told = suppressed(raw.findings, entries, at)
    report = Report.of((*kept, *told), raw.not_analysed)
    found = facts.under(rules)
    parties = stored_parties(facts, rules, f"@{info.number}", "", "", at)
    profile = Profile.of(rules)
    return Material(
        found,
        Selection(None, None, facts.deployment.account),
        rules,
        f"@{info.number} of {info.label}",
        report,
        _accepted(raw.findings, entries, at),
        (),
        world_of(parties, (), rules),
        stored_environment(facts.deployment, info),
        "",
        asked_once(stored_cards(facts, info, rules, Decisions())),
        stored_sources(facts.deployment, found.deployment, (), rules, profile),
        (*report.not_analysed, NO_ENTRANCES),
        info,
        tuple(party for _, party in sorted(parties.by_name.items()) if isinstance(party, WalletHolder)),
    )


def _accepted(
    findings: Sequence[Finding], entries: Sequence[Suppression], at: Timestamp
) -> tuple[tuple[Finding, Suppression], ...]:
    """The findings that an entry accepts at the moment, as `suppressed` decides."""
    found = []
    for finding in findings:
        entry = next((entry for entry in entries if entry.is_about(finding)), None)
        if entry is not None and not (entry.until is not None and entry.until < at):
            found.append((finding, entry))
    return tuple(found)


def report_json(material: Material, at: Timestamp, version: str, budget_s: float) -> dict[str, object]:
    """The whole report as plain values: the same input gives the same report.

    Args:
        material: what it is made from.
        at: the moment that it speaks of.
        version: of policyd.
        budget_s: effort in seconds for each query of reach.
    """
    deployment = material.described.deployment
    left = list(material.left_out)
    agents = _agents(material, left)
    asked, unasked = reach_queries([secret.name for secret in deployment.secrets], material.rules)
    reach = list(reach_rows(material.world, asked, budget_s))
    left += unasked
    retry = _retry(material, left)
    chains = _chains(material, left)
    return {
        "kind": "policyd deployment report",
        "version": 1,
        "header": _header(material, deployment, at, version),
        "summary": _summary(material, agents, reach, retry, chains),
        "deploys": [deploy_json(answer) for answer in material.deploys],
        "findings": [_finding(finding) for finding in material.report.findings],
        "suppressed": [
            {
                **_finding(finding),
                "reason": entry.reason,
                "until": entry.until.text if entry.until is not None else None,
                "by": entry.span.where if entry.span is not None else None,
            }
            for finding, entry in material.accepted
        ],
        "agents": agents,
        "reach": reach,
        "retry": retry,
        "chains": chains,
        "notAnalysed": list(dict.fromkeys(left)),
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {**finding_json(finding), "fingerprint": fingerprint(finding)}


def _header(material: Material, deployment: Deployment, at: Timestamp, version: str) -> dict[str, object]:
    info = material.snapshot
    return {
        "application": deployment.application,
        "environment": deployment.environment,
        "account": deployment.account or material.selection.account or None,
        "presets": list(deployment.presets),
        "source": material.source,
        "snapshot": f"@{info.number}" if info else None,
        "digest": info.digest if info else None,
        "revision": info.revision if info else None,
        "importedAt": info.imported_at if info else None,
        "edition": material.rules.edition.value,
        "switches": dict(material.rules.overrides),
        "at": at.text,
        "policyd": version,
    }


def _agents(material: Material, left: list[str]) -> list[dict[str, object]]:
    """Every agent type with its card and the facets of its sagas."""
    rows: list[dict[str, object]] = []
    types = material.described.deployment.agents
    for number, agent in enumerate(types):
        card = card_row(shown_card(material.described, material.selection, agent.name, material.rules))
        card["notes"] = [note for note in _texts(card["notes"]) if note not in material.described.not_analysed]
        card["hasCeiling"] = bool(agent.initial_card.of(Bound.UPPER_POSITIVE))
        card["saga"] = _saga(material, agent.name, left) if number < MAX_SAGAS else None
        rows.append(card)
    if len(types) > MAX_SAGAS:
        left.append(f"the sagas of {len(types) - MAX_SAGAS} agent types: ask `policyd saga` about one")
    return rows + [wallet_row(wallet) for wallet in material.wallets]


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)  # the notes of a card
    return value


def _saga(material: Material, agent: str, left: list[str]) -> dict[str, object] | None:
    if material.retry is None:
        return None
    question = SagaQuestion(agent)
    try:
        answer = ask_saga(
            question, material.retry, material.described, material.selection, material.rules, material.cards
        )
    except PolicydError as refusal:
        left.append(f"the sagas of `{agent}`: {refusal.findings[0].message}")
        return None
    return saga_row(answer)


def _retry(material: Material, left: list[str]) -> dict[str, object] | None:
    if material.retry is None:
        left.append(f"retry policies: {material.retry_mistake}")
        return None
    left += material.retry.notes
    return retry_rows(limits_table(material.retry.effective, material.rules))


def _chains(material: Material, left: list[str]) -> list[dict[str, object]]:
    environment = material.described.deployment.environment
    names = None if material.snapshot is not None else [environment]
    try:
        found = check_chains(material.chains, names, "", material.selection.account)
    except PolicydError as refusal:
        left.append(f"chains of middleware: {refusal.findings[0].message}")
        return []
    left += found.not_analysed
    return chain_rows(found)


def _summary(
    material: Material,
    agents: Sequence[Mapping[str, object]],
    reach: Sequence[Mapping[str, object]],
    retry: Mapping[str, object] | None,
    chains: Sequence[Mapping[str, object]],
) -> dict[str, object]:
    report = material.report
    deploys = Counter({True: "accepted", False: "refused", None: "unknown"}[d.is_accepted] for d in material.deploys)
    return {
        "findings": {severity.value: report.count(severity) for severity in Severity},
        "suppressed": len(material.accepted),
        "agents": len(agents),
        "grants": sum(len(_texts(agent["grants"])) for agent in agents),
        "withoutCeiling": sum(not agent["hasCeiling"] for agent in agents),
        "deploys": {word: deploys.get(word, 0) for word in ("accepted", "refused", "unknown")},
        "reach": _counted([row["answer"] for row in reach], ("path", "none", "undecided")),
        "retry": _counted([row["bounded"] for row in _rows(retry)], ("yes", "no", "unknown")),
        "chains": _counted(
            [row["verdict"] for row in chains], ("accept", "accept-with-warnings", "reject", "undecided")
        ),
    }


def _rows(retry: Mapping[str, object] | None) -> list[Mapping[str, object]]:
    words = retry["words"] if retry is not None else []
    assert isinstance(words, list)  # as `retry_rows` makes it
    return words


def _counted(words: Sequence[object], known: Sequence[str]) -> dict[str, int]:
    counts = Counter(map(str, words))
    return {word: counts.get(word, 0) for word in known}


def is_undecided(plain: Mapping[str, object]) -> bool:
    """Whether an answer about reach in the report ended before it was decided."""
    rows = plain["reach"]
    assert isinstance(rows, list)  # as `report_json` makes it
    return any(row["answer"] == "undecided" for row in rows)
