"""Facts as one JSON document, and back: what `export` writes and `import` reads again.

Every stored fact is in it; where a value was dropped stands the marker `"<dropped>"`. Places and
findings are written beside the facts, and left out where the digest is taken.

Source: cards C; interface, wallet file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policyd.core.cards import Bound, Bounds
from policyd.core.edition import Rules
from policyd.findings import Related, Span
from policyd.store.facts import (
    ChainLayer,
    Deployment,
    FindingFact,
    Places,
    ToolFact,
)
from policyd.syntax.cards import card_json

KIND = "policyd-deployment"
VERSION = 1
MARKER = "<dropped>"
"""Stands where a value was dropped, so that a reader sees that there was one."""

Json = dict[str, Any]


def span_json(span: Span | None) -> list[object] | None:
    """A place as a short list, None where there is none."""
    return None if span is None else [span.source, span.line, span.column, span.start, span.end, span.path]


def places_json(places: Places) -> list[list[list[object] | None]]:
    """The places of a card, empty where nothing is known."""
    return [[span_json(span) for span in listed] for listed in places]


def bounds_json(bounds: Bounds) -> Json:
    """The four lists as canonical texts."""
    return {bound.value: [grant.text for grant in bounds.of(bound)] for bound in Bound}


def rules_json(rules: Rules) -> Json:
    """Edition and switches."""
    return {"edition": rules.edition.value, "switches": dict(rules.overrides)}


def header_json(deployment: Deployment) -> Json:
    """Which environment it is, and how its documents were read."""
    return {
        "account": deployment.account,
        "application": deployment.application,
        "environment": deployment.environment,
        "rules": rules_json(deployment.rules),
        "manifestVersion": deployment.manifest_version,
    }


def facts_json(deployment: Deployment, *, places: bool) -> Iterator[tuple[str, Json]]:
    """Every fact with the name of its list, in the order of `deployment`.

    Args:
        deployment: ordered facts.
        places: whether to add `place` and `places`; the digest is taken without them.
    """

    def placed(value: Json, place: Span | None, grants: Places | None = None) -> Json:
        if places:
            value["place"] = span_json(place)
            if grants is not None:
                value["places"] = places_json(grants)
        return value

    for c in deployment.components:
        yield "components", placed({"name": c.name, "platformId": c.platform_id, "revision": c.revision}, c.place)
    for a in deployment.agent_types:
        initial = None
        if a.card is not None:
            lists = {**bounds_json(a.card.bounds), "isDefault": a.card.is_default}
            initial = placed(lists, a.card.place, a.card.places)
            if places:
                origins = [origin.name.lower() for origin in a.card.origins]
                initial |= {"layer": a.card.layer, "origins": origins}
        agent: Json = {"name": a.name, "component": a.component, "initialCard": initial}
        if places:
            agent |= {"isDeclared": a.is_declared, "componentIsAssumed": a.component_is_assumed}
        yield "agentTypes", placed(agent, a.place)
    for fact in deployment.cards:
        yield "cards", placed({"card": card_json(fact.card, tagged=True)}, fact.place, fact.places)
    for card_id in deployment.revoked:
        yield "revoked", {"cardId": card_id}
    for wallet in deployment.wallets:
        yield (
            "wallets",
            placed(
                {
                    "holder": wallet.holder.text,
                    "agentId": wallet.agent_id,
                    "recordedAccount": wallet.recorded_account,
                    "cards": [
                        {"cardId": held.card, "by": held.by.value, "at": held.at.text if held.at else None}
                        for held in wallet.cards
                    ],
                },
                wallet.place,
            ),
        )
    for share in deployment.shares:
        yield (
            "permissionShares",
            placed(
                {
                    "id": share.id,
                    "revision": share.revision,
                    "ownerAccountId": share.owner_account_id,
                    "targetAccountId": share.target_account_id,
                    "name": share.name,
                    "currentCardId": share.current_card_id,
                    "data": bounds_json(share.bounds),
                },
                share.place,
                share.places,
            ),
        )
    for policy in deployment.retry_policies:
        yield (
            "retryPolicies",
            placed(
                {
                    "name": policy.name,
                    "priority": policy.priority,
                    "predicate": policy.predicate,
                    "policy": policy.policy,
                    "origin": policy.origin.value,
                    "platformId": policy.platform_id,
                    "revision": policy.revision,
                },
                policy.place,
            ),
        )
    for name, tools in (("tools", deployment.tools), ("middlewares", deployment.middlewares)):
        for tool in tools:
            yield name, placed(_tool_json(tool), tool.place)
    for chain in deployment.chains:
        layers = [placed(_layer_json(layer), layer.place) for layer in chain.layers]
        yield (
            "chains",
            placed(
                {
                    "level": chain.level.value,
                    "subject": chain.subject,
                    "tool": chain.tool,
                    "mode": chain.mode,
                    "layers": layers,
                },
                chain.place,
            ),
        )
    for value in deployment.values:
        yield (
            "values",
            placed(
                {
                    "kind": value.kind.value,
                    "level": value.level.value,
                    "subject": value.subject,
                    "path": list(value.path),
                    "isKnown": value.is_known,
                    "value": MARKER,
                },
                value.place,
            ),
        )


def _tool_json(tool: ToolFact) -> Json:
    return {
        "name": tool.name,
        "origin": tool.origin.value,
        "component": tool.component,
        "version": tool.version,
        "account": tool.account,
        "definition": tool.definition,
    }


def _layer_json(layer: ChainLayer) -> Json:
    return {
        "middleware": layer.middleware,
        "version": layer.version,
        "account": layer.account,
        "filesystemAccess": layer.filesystem_access,
        "parameters": MARKER if layer.has_parameters else None,
    }


def finding_json(fact: FindingFact) -> Json:
    """A finding, complete."""
    finding = fact.finding
    return {
        "origin": fact.origin.value,
        "code": finding.code,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "help": finding.help,
        "witness": finding.witness,
        "place": span_json(finding.span),
        "related": related_json(finding.related),
    }


def related_json(related: tuple[Related, ...]) -> list[Json]:
    """The other places of a finding."""
    return [{"message": r.message, "place": span_json(r.span)} for r in related]


SECTIONS = (
    "components",
    "agentTypes",
    "cards",
    "revoked",
    "wallets",
    "permissionShares",
    "retryPolicies",
    "tools",
    "middlewares",
    "chains",
    "values",
)


def deployment_json(deployment: Deployment) -> Json:
    """The whole document: header, facts with their places, findings."""
    lists: dict[str, list[Json]] = {name: [] for name in SECTIONS}
    for name, fact in facts_json(deployment, places=True):
        lists[name].append(fact)
    head: Json = {"kind": KIND, "version": VERSION, **header_json(deployment)}
    return {**head, **lists, "findings": [finding_json(f) for f in deployment.findings]}


__all__ = [
    "KIND",
    "MARKER",
    "bounds_json",
    "deployment_json",
    "facts_json",
    "finding_json",
    "header_json",
    "places_json",
    "related_json",
    "rules_json",
    "span_json",
]
