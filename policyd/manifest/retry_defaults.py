"""`retryPolicyDefaults` to rules, each with its place.

Source: retry 1.6.
"""

from __future__ import annotations

from dataclasses import replace

from policyd.core.retry import RetryFormError, read_manifest_rule
from policyd.core.retry.placed import PlacedPolicy
from policyd.findings import Finding, Span
from policyd.manifest.located import Located, LocatedList, LocatedMap
from policyd.manifest.model import Application, RetryDefault
from policyd.manifest.scalars import MisfitError, json_of


def retry_policies_of(
    application: Application, environment: str
) -> tuple[tuple[PlacedPolicy, ...], tuple[Finding, ...]]:
    """The rules that a deployment to `environment` would create, and what is wrong with those that cannot be read."""
    policies: list[PlacedPolicy] = []
    findings: list[Finding] = []
    for default in application.retry_defaults:
        if default.environment != environment:
            continue
        try:
            policies.append(PlacedPolicy.of_manifest(read_manifest_rule(default.name, _body(default)), default.span))
        except RetryFormError as refusal:
            findings += (_placed(finding, default, refusal) for finding in refusal.findings)
        except MisfitError:
            continue  # the loader has told it
    return tuple(policies), tuple(findings)


def retry_environments(application: Application) -> tuple[str, ...]:
    """The environments that have defaults, in the order of the manifest."""
    return tuple(dict.fromkeys(default.environment for default in application.retry_defaults))


def _body(default: RetryDefault) -> dict[str, object]:
    body: dict[str, object] = {}
    if default.priority is not None:
        body["priority"] = default.priority
    if default.predicate is not None:
        body["predicate"] = json_of(default.predicate)
    if default.policy is not None:
        body["policy"] = json_of(default.policy)
    return body


def _placed(finding: Finding, default: RetryDefault, refusal: RetryFormError) -> Finding:
    """The finding with its place in the manifest, as near as the document shows it."""
    inner = finding.span.path.removeprefix("$") if finding.span is not None else ""
    span = _span_at(default, refusal.path)
    return replace(finding, span=span.within(f"{default.span.path}{inner}"))


def _span_at(default: RetryDefault, path: tuple[str | int, ...]) -> Span:
    parts: dict[str | int, Located | None] = {"predicate": default.predicate, "policy": default.policy}
    node: Located | None = None
    for depth, step in enumerate(path):
        below = parts.get(step) if depth == 0 else _child(node, step)
        if below is None:
            break
        node = below
    return default.span if node is None else node.span


def _child(node: Located | None, step: str | int) -> Located | None:
    if isinstance(node, LocatedMap) and isinstance(step, str):
        return node.get(step)
    if isinstance(node, LocatedList) and isinstance(step, int) and step < len(node.items):
        return node.items[step]
    return None
