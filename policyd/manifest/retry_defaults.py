"""`retryPolicyDefaults` to rules, each with its place.

Source: retry 1.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from policyd.core.retry import Label, NamedPolicy, RetryFormError, defects_of, read_manifest_rule
from policyd.core.retry.placed import PlacedPolicy
from policyd.findings import Finding, Severity, Span
from policyd.manifest.located import Located, LocatedList, LocatedMap, shown
from policyd.manifest.model import Application, RetryDefault
from policyd.manifest.scalars import MisfitError, json_of

_GRANTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def retry_policies_of(
    application: Application, environment: str
) -> tuple[tuple[PlacedPolicy, ...], tuple[Finding, ...]]:
    """The rules that a deployment to `environment` would create, and what is wrong with them.

    Findings about rules that can be read are about parameters that the platform stores all the same.
    """
    policies: list[PlacedPolicy] = []
    findings: list[Finding] = []
    for default in application.retry_defaults:
        if default.environment != environment:
            continue
        if default.priority is None or default.predicate is None or default.policy is None:
            continue  # the loader has told it
        try:
            written = read_manifest_rule(default.name, _body(default))
            policies.append(PlacedPolicy.of_manifest(written, default.span))
            findings += _defects(default, written)
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


def _defects(default: RetryDefault, written: NamedPolicy) -> Iterator[Finding]:
    """What no rule should have, although the platform takes it; a reversed clamp is told by its own rule.

    Source: retry 1.2, 1.10.
    """
    for defect in defects_of(written.policy):
        if defect.label is not Label.CLAMP_RANGE:
            span = _span_at(default, ("policy", *defect.path))
            yield Finding(defect.label.code, Severity.ERROR, f"retry policy `{default.name}`: {defect.message}", span)
    if not _GRANTABLE.fullmatch(default.name):
        message = f"retry policy `{shown(default.name)}` can be granted by `*` only: a card cannot spell its name"
        help = "use letters, digits, `_` and `-`, not beginning with a digit or `-`"
        yield Finding(Label.NAME_UNGRANTABLE.code, Severity.WARNING, message, default.span, help)


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
