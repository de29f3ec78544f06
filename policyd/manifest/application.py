"""A resolved environment to the core's view of it: grants parsed, files added, every grant with its place.

Source: manifest-format 11; cards 8.2, 8.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from policyd.core.application import (
    AgentType,
    BadGrant,
    BoundTool,
    Deployment,
    GrantOrigin,
    InitialCard,
    InstalledMiddleware,
    MisplacedCard,
    NamedPlace,
    PlacedGrant,
    ProvidedFile,
    default_initial_card,
)
from policyd.core.cards import Bound
from policyd.core.edition import NEXT, Rules
from policyd.core.tools.middleware_lists import ListMode, folded
from policyd.findings import Finding, Severity, Span
from policyd.manifest.located import LocatedScalar
from policyd.manifest.merge import Merged
from policyd.manifest.model import Application, Card, InitialFile, MergeMode
from policyd.manifest.resolve import ResolvedAgent, ResolvedBinding, ResolvedEnvironment
from policyd.syntax import Form, GrantSyntaxError, parse_grants, reads_alike

if TYPE_CHECKING:
    from policyd.core.retry.placed import PlacedPolicy

BAD_FILE_PATH = "CARD004"
"""A path under `files` that no file system grant can name; its deploy is refused."""


def describe(
    application: Application,
    resolved: ResolvedEnvironment,
    rules: Rules = NEXT,
    only: str | None = None,
    known: KnownGrants | None = None,
) -> Deployment:
    """The deployment that `resolved` describes; unparsable grants are kept as such, never dropped.

    Args:
        application: as loaded.
        resolved: one environment of it.
        rules: which grants can be read.
        only: the one agent type that is asked about; the cards of others are then not read. None for all.
        known: grants of the same documents that were read before under whatever rules, and is added to.
    """
    environment = resolved.environment
    name = environment.name if environment else ""
    secrets = (s for s in application.secret_defaults if s.environment == name)
    accounts = {
        e.account.text.lower() for e in application.environments if e.account is not None and not e.account_is_template
    }
    return Deployment(
        application.name.text if application.name else "",
        name,
        environment.span if environment else None,
        resolved.presets,
        resolved.account.name or "",
        resolved.account.variable,
        tuple(_agent(agent, rules, known) for agent in resolved.agents if only is None or agent.name == only),
        tuple(agent.name for agent in resolved.agents),
        tuple(NamedPlace(c.name, c.span) for c in resolved.components),
        tuple(MisplacedCard(i.layer.label, i.card.key_span, len(i.card.grants)) for i in resolved.ineffective),
        tuple(NamedPlace(".".join(s.path), s.span, s.is_known) for s in secrets),
        tuple(sorted(accounts)),
        *_retry(application, name, is_wanted=only is None),
        middleware=tuple(NamedPlace(m.name, m.span) for m in application.middleware),
        tool_middleware=tuple(InstalledMiddleware(m.name, m.span) for m in resolved.tool_middleware),
        compatibility_mode=(environment.tool_compatibility_mode or "") if environment else "",
    )


def _retry(
    application: Application, environment: str, *, is_wanted: bool
) -> tuple[tuple[PlacedPolicy, ...], tuple[Finding, ...]]:
    """The retry policies of an environment; a question about one agent's card does not load the retry core."""
    if not is_wanted:
        return (), ()
    from policyd.manifest.retry_defaults import retry_policies_of

    return retry_policies_of(application, environment)


def _agent(agent: ResolvedAgent, rules: Rules, known: KnownGrants | None) -> AgentType:
    merged = agent.merged
    return AgentType(
        agent.name,
        agent.span,
        agent.is_declared,
        agent.component or "",
        agent.component_is_assumed,
        initial_card(agent, rules, known),
        tuple(sorted((NamedPlace(v.name, v.span, v.is_known) for v in merged.env), key=lambda p: p.name)),
        tuple(NamedPlace(".".join(path), leaf.span, leaf.is_known) for path, leaf in merged.config_paths),
        _files(merged),
        tuple(_tool(binding) for binding in agent.tools),
    )


def _files(merged: Merged) -> tuple[ProvidedFile, ...]:
    return tuple(ProvidedFile(f.target_path.text, f.is_read_write, f.span) for f in merged.files)


def _tool(binding: ResolvedBinding) -> BoundTool:
    scopes = [*((binding.environment,) if binding.environment else ()), *binding.owners]
    access = [s.filesystem_access for s in scopes if s.filesystem_access]
    settled = "denied" if "denied" in access else access[-1] if access else ""
    kept, dropped = _middleware(binding)
    return BoundTool(binding.name, binding.is_default, binding.is_declared, settled, kept, dropped)


def _middleware(
    binding: ResolvedBinding,
) -> tuple[tuple[InstalledMiddleware, ...], tuple[tuple[InstalledMiddleware, Span], ...]]:
    """The list of one tool, and what of the environment's an owner's list replaces.

    Source: middleware 2.4.
    """
    listed = binding.environment.middleware if binding.environment else None
    environment = tuple(InstalledMiddleware(m.name, m.span) for m in listed or ())
    lists: list[tuple[tuple[InstalledMiddleware, ...] | None, ListMode]] = []
    dropped: list[tuple[InstalledMiddleware, Span]] = []
    for owner in binding.owners:
        own = None if owner.middleware is None else tuple(InstalledMiddleware(m.name, m.span) for m in owner.middleware)
        mode = _LIST_MODES.get(owner.middleware_mode, ListMode.PREPEND)
        lists.append((own, mode))
        if own is not None and mode is ListMode.REPLACE:
            again = {m.name for m in own}
            dropped += [(m, owner.span) for m in environment if m.name not in again]
    return folded(environment, lists), tuple(dropped)


_LIST_MODES = {MergeMode.APPEND: ListMode.APPEND, MergeMode.REPLACE: ListMode.REPLACE}


KnownGrants: TypeAlias = dict[LocatedScalar, tuple[PlacedGrant, ...]]
"""The grants of entries that read alike in every edition."""


def initial_card(agent: ResolvedAgent, rules: Rules = NEXT, known: KnownGrants | None = None) -> InitialCard:
    """The effective initial card of an agent type: its own or the default one, and the grants for its files."""
    files, bad_files = _file_grants(agent.merged.files, rules)
    if agent.card is None:
        return default_initial_card(tuple(files), tuple(bad_files))
    card = agent.card.card
    lists: dict[Bound, tuple[PlacedGrant, ...]] = {}
    bad: list[BadGrant] = []
    for bound, texts in _lists(card):
        lists[bound] = tuple(_parsed(texts, bound, bad, rules, known))
    return InitialCard(
        agent.card.layer.label,
        card.key_span,
        (*lists[Bound.LOWER_POSITIVE], *files),
        lists[Bound.LOWER_NEGATIVE],
        lists[Bound.UPPER_POSITIVE],
        lists[Bound.UPPER_NEGATIVE],
        (*bad, *bad_files),
        tuple((layer.label, layer.card.key_span) for layer in agent.card.replaced if layer.card is not None),
    )


def _lists(card: Card) -> Iterable[tuple[Bound, tuple[LocatedScalar, ...]]]:
    return (
        (Bound.LOWER_POSITIVE, card.lower_positive),
        (Bound.LOWER_NEGATIVE, card.lower_negative),
        (Bound.UPPER_POSITIVE, card.upper_positive),
        (Bound.UPPER_NEGATIVE, card.upper_negative),
    )


def parse_located(scalar: LocatedScalar, rules: Rules = NEXT) -> tuple[PlacedGrant, ...] | Finding:
    """The grants that one entry of a list writes, or what is wrong with it at its place."""
    try:
        grants = parse_grants(scalar.text, Form.MANIFEST, rules)
    except GrantSyntaxError as refusal:
        return refusal.at(scalar.span_of(refusal.start, refusal.end))
    span = scalar.span_of(0, len(scalar.text))
    return tuple(PlacedGrant(grant, GrantOrigin.WRITTEN, scalar.text, span) for grant in grants)


def _parsed(
    texts: Iterable[LocatedScalar], bound: Bound, bad: list[BadGrant], rules: Rules, known: KnownGrants | None
) -> Iterable[PlacedGrant]:
    for scalar in texts:
        before = known.get(scalar) if known is not None else None
        if before is not None:
            yield from before
            continue
        outcome = parse_located(scalar, rules)
        if isinstance(outcome, Finding):
            bad.append(BadGrant(bound, scalar.text, outcome))
            continue
        if known is not None and reads_alike(scalar.text, [placed.grant for placed in outcome]):
            known[scalar] = outcome
        yield from outcome


_READ = ("read", "stat", "list")
_WRITE = ("write", "delete")


def _file_grants(files: Iterable[InitialFile], rules: Rules) -> tuple[list[PlacedGrant], list[BadGrant]]:
    """Y5: per verb first the path, then its descendants."""
    found: list[PlacedGrant] = []
    bad: list[BadGrant] = []
    for entry in files:
        path = entry.target_path.text
        below = "/**" if path == "/" else f"{path}/**"
        for verb in (*_READ, *(_WRITE if entry.is_read_write else ())):
            for resource in (path, below):
                text = f"filesystem(?agent) @ ?agent : {verb} : {resource}"
                try:
                    (grant,) = parse_grants(text, Form.MANIFEST, rules)
                except GrantSyntaxError as refusal:
                    finding = Finding(
                        BAD_FILE_PATH,
                        Severity.ERROR,
                        f"no grant can name the file path: {refusal.findings[0].message}",
                        entry.target_path.span,
                        "write an absolute path without stars and without a slash at the end",
                    )
                    bad.append(BadGrant(Bound.LOWER_POSITIVE, text, finding))
                    break
                found.append(PlacedGrant(grant, GrantOrigin.FILE, text, entry.span))
            else:
                continue
            break
    return found, bad
