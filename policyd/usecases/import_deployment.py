"""Documents to stored facts: a manifest in one environment, or the platform's own JSON.

Source: manifest-format 3, 5, 11; cards 8; interface, import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from policyd.core.application import AgentType, GrantOrigin, InitialCard
from policyd.core.cards import Bound, Timestamp
from policyd.core.edition import Rules
from policyd.core.grants.names import ascii_lower
from policyd.core.retry import read_manifest_rule, write_canonical
from policyd.findings import Finding, InputError, PolicydError, Span
from policyd.manifest import LoadedManifest, ResolvedEnvironment, json_of, resolve_environment
from policyd.manifest.model import RetryDefault, ToolBinding
from policyd.store import facts
from policyd.store.digest import canonical_json
from policyd.store.facts import FindingFact, Level, NamedValue, Origin, RetryPolicyFact, ToolFact, ValueKind
from policyd.store.merging import empty_deployment, with_manifest, with_platform
from policyd.store.platform import Imported, read_platform
from policyd.store.session import Database
from policyd.store.snapshots import Change, Stored, transaction
from policyd.syntax.mistakes import shown
from policyd.usecases.audit_manifest import audit_manifest
from policyd.usecases.deployments import Described, Selection, accepted, described
from policyd.usecases.retry_withheld import without_values
from policyd.usecases.stored_chains import chain_facts

Progress = Callable[[int], None]
"""Told of what was done since the last call: bytes read, or grants written."""


def _silent(_: int) -> None:
    """The progress nobody looks at."""


def _anywhere(account: str, application: str) -> None:
    """The permission of whoever may write to every application."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, and when: for the history and the audit log.

    Attributes:
        by: the public id of a token, or `local`.
        at: now.
        permit: raises for an account and application that the writer may not write to.
    """

    by: str
    at: Timestamp
    permit: Callable[[str, str], None] = _anywhere


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import did.

    Attributes:
        stored: the snapshot that is now the latest.
        findings: what was found in the documents, or not understood and left out.
        not_analysed: sentences on what the documents do not say.
        is_audited: whether the findings are those of an audit, and not what was left out.
        notes: what was decided otherwise than the documents say.
    """

    stored: Stored
    findings: tuple[Finding, ...]
    not_analysed: tuple[str, ...] = ()
    is_audited: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that was read as a whole and is not stored yet.

    Attributes:
        name: of the document.
        change: what it makes of its environment.
        findings, not_analysed, is_audited, notes: as in `Outcome`.
    """

    name: str
    change: Change
    findings: tuple[Finding, ...]
    not_analysed: tuple[str, ...] = ()
    is_audited: bool = False
    notes: tuple[str, ...] = ()


class ImportRefusedError(InputError):
    """One of the documents cannot be stored, and so nothing was imported.

    Attributes:
        name: of the document.
        reason: why.
    """

    def __init__(self, name: str, reason: PolicydError) -> None:
        self.name, self.reason = name, reason
        super().__init__(*reason.findings)


def import_manifest(
    database: Database,
    loaded: LoadedManifest,
    selection: Selection,
    rules: Rules,
    writer: Writer,
    *,
    application: str = "",
    progress: Progress = _silent,
) -> Outcome:
    """Make a manifest's environment the latest snapshot; what the platform said about it before is kept.

    Args:
        database: migrated.
        loaded: the manifest.
        selection: environment, presets, account and component.
        rules: the edition under which it is read.
        writer: who and when.
        application: the name of the application where the manifest gives none.
        progress: told of written grants.

    Raises:
        InputError: if the platform's loader refuses the manifest, what names the snapshot is missing, or what is
            given contradicts the manifest.
    """
    return _one(database, prepared_manifest(loaded, selection, rules, application), writer, progress)


def import_platform(
    database: Database,
    stream: BinaryIO,
    name: str,
    environment: tuple[str, str, str] | None,
    rules: Rules,
    writer: Writer,
    *,
    read: Progress = _silent,
    progress: Progress = _silent,
) -> Outcome:
    """Add what the platform's own JSON says, or bring back an export of ours.

    Args:
        database: migrated.
        stream: bytes of UTF-8 JSON, one document or several.
        name: of the source, for places.
        environment: account, application and environment; an export names its own, wallets of agents do, too.
        rules: the edition under which it is read; an export names its own.
        writer: who and when.
        read: told of the bytes read.
        progress: told of written grants.

    Raises:
        InputError: for what cannot be read, with its place, or where the environment is not known.
    """
    return _one(database, prepared_platform(stream, name, environment, rules, read=read), writer, progress)


def _one(database: Database, prepared: Prepared, writer: Writer, progress: Progress) -> Outcome:
    try:
        (outcome,) = store_all(database, (prepared,), writer, progress=progress)
    except ImportRefusedError as refusal:
        raise refusal.reason from None
    return outcome


def prepared_manifest(loaded: LoadedManifest, selection: Selection, rules: Rules, application: str = "") -> Prepared:
    """A manifest, read and checked, ready to be stored; nothing is written.

    Args:
        loaded: the manifest.
        selection: environment, presets, account and component.
        rules: the edition under which it is read.
        application: the name of the application where the manifest gives none.

    Raises:
        InputError: as `import_manifest`.
    """
    fresh, not_analysed = manifest_facts(accepted(loaded), selection, rules, application)
    sources = tuple(document.name for document in loaded.documents)
    change = Change(
        (fresh.account, fresh.application, fresh.environment), lambda latest: with_manifest(latest, fresh), sources
    )
    name = sources[0] if sources else fresh.label
    found = tuple(f.finding for f in fresh.findings)
    written = described(loaded, replace(selection, account=""), rules).deployment.account
    notes: tuple[str, ...] = ()
    if written and written != fresh.account:
        notes = (
            f"the manifest says account {shown(written)}; it is stored as one of {shown(fresh.account)}, as given",
        )
    return Prepared(name, change, found, not_analysed, is_audited=True, notes=notes)


def prepared_platform(
    stream: BinaryIO,
    name: str,
    environment: tuple[str, str, str] | None,
    rules: Rules,
    *,
    read: Progress = _silent,
) -> Prepared:
    """The platform's own JSON or an export of ours, read and checked, ready to be stored; nothing is written.

    Args:
        stream: bytes of UTF-8 JSON, one document or several.
        name: of the source, for places.
        environment: account, application and environment; an export names its own, wallets of agents do, too.
        rules: the edition under which it is read; an export names its own.
        read: told of the bytes read.

    Raises:
        InputError: as `import_platform`.
    """
    imported = read_platform(stream, name, rules=rules, read=read)
    if imported.deployment is not None:
        return _prepared_export(imported.deployment, environment, name)
    where = environment or _environment_of(imported)
    if where is None:
        raise InputError.of(
            "MANIF092",
            f"the documents of {shown(name)} do not say which environment they are about",
            None,
            "give `--account`, `--application` and `--env`",
        )
    place = (ascii_lower(where[0]), where[1], where[2])
    empty = replace(empty_deployment(*place), rules=rules)
    change = Change(place, lambda latest: with_platform(latest, imported, empty), (name,))
    return Prepared(name, change, tuple(f.finding for f in imported.findings))


def _prepared_export(deployment: facts.Deployment, environment: tuple[str, str, str] | None, name: str) -> Prepared:
    own = (deployment.account, deployment.application, deployment.environment)
    if environment is not None and (ascii_lower(environment[0]), *environment[1:]) != own:
        raise InputError.of(
            "MANIF092", f"the export is of `{deployment.label}`", None, "leave out the flags that name another one"
        )
    change = Change(own, lambda _: deployment, (name,), reads_latest=False)
    return Prepared(name, change, tuple(f.finding for f in deployment.findings))


def store_all(
    database: Database, documents: Sequence[Prepared], writer: Writer, *, progress: Progress = _silent
) -> tuple[Outcome, ...]:
    """Store some documents one after the other in one transaction: all of them, or none.

    Args:
        database: migrated.
        documents: in the order in which they are stored; later ones see what earlier ones say.
        writer: who and when.
        progress: told of written grants.

    Raises:
        ImportRefusedError: naming the first document that cannot be stored; nothing is changed then.
        StoreError: if the database cannot be used; nothing is changed then.
    """
    outcomes = []
    with transaction(database) as storing:
        for document in documents:
            try:
                writer.permit(document.change.environment[0], document.change.environment[1])
                stored = storing.change(document.change, at=writer.at, by=writer.by, progress=progress)
            except PolicydError as reason:
                raise ImportRefusedError(document.name, reason) from None
            outcomes.append(
                Outcome(stored, document.findings, document.not_analysed, document.is_audited, document.notes)
            )
    return tuple(outcomes)


def _environment_of(imported: Imported) -> tuple[str, str, str] | None:
    """The environment that all agent wallets name, None where there is none or more than one."""
    named = {w.holder.known[:3] for w in imported.wallets if len(w.holder.known) == 5}
    if len(named) != 1:
        return None
    account, application, environment = named.pop()
    return account, application, environment


def manifest_facts(
    loaded: LoadedManifest, selection: Selection, rules: Rules, application: str = ""
) -> tuple[facts.Deployment, tuple[str, ...]]:
    """The facts of a manifest in one environment, and what it does not say; no value is among them.

    Raises:
        InputError: if account, application or environment is not known, or the application is given
            otherwise than the manifest says.
    """
    implements = {a.name: selection.component for a in loaded.application.agents} if selection.component else None
    deployment = described(loaded, selection, rules, implements)
    core = deployment.deployment
    account = ascii_lower(selection.account) or core.account
    name = core.application or application
    if application and core.application and application != core.application:
        raise InputError.of(
            "MANIF092",
            f"the manifest is of application {shown(core.application)}, not of {shown(application)}",
            None,
            "leave out the application, or import the manifest of the other one",
        )
    for value, what, help in (
        (account, "account", "give `--account`: the e-mail of the owner of the environment"),
        (name, "application", "write `app:` into the manifest, or give `--application`"),
        (core.environment, "environment", "define one under `environments`"),
    ):
        if not value:
            raise InputError.of("MANIF092", f"the manifest does not say the {what}", None, help)
    resolved = resolve_environment(
        loaded.application, core.environment, selection.presets, rules=rules, implements=implements
    )
    found, policies = _retry_policies(loaded, core.environment)
    report = audit_manifest(
        loaded,
        environments=[core.environment],
        presets=selection.presets,
        rules=rules,
        account=account,
        components=implements,
    )
    told = {core.environment, *(default.name for default in loaded.application.retry_defaults)}
    findings = {without_values(finding, told) for finding in (*report.findings, *found)}
    return (
        facts.Deployment(
            account,
            name,
            core.environment,
            rules,
            loaded.version,
            components=tuple(facts.Component(c.name, place=c.span) for c in core.components),
            agent_types=tuple(_agent_type(agent) for agent in core.agents),
            retry_policies=policies,
            tools=_tools(loaded),
            middlewares=_middlewares(loaded),
            chains=tuple(chain_facts(resolved)),
            values=tuple(_values(deployment, resolved, loaded)),
            findings=tuple(FindingFact(f, Origin.MANIFEST) for f in sorted(findings, key=lambda f: f.order)),
        ),
        tuple(sorted({*deployment.not_analysed, *report.not_analysed})),
    )


def _agent_type(agent: AgentType) -> facts.AgentType:
    return facts.AgentType(
        agent.name,
        agent.component,
        _initial_card(agent.initial_card),
        agent.span,
        agent.is_declared,
        agent.component_is_assumed,
    )


def _initial_card(card: InitialCard) -> facts.InitialCard | None:
    """The card with its slots open; None where a text of it is no grant, for then the platform has no such card."""
    if card.bad:
        return None
    lists = tuple(tuple(placed.span for placed in card.of(bound)) for bound in Bound)
    places = lists if any(span is not None for listed in lists for span in listed) else ()
    origins = tuple(placed.origin for placed in card.lower_positive)
    if all(origin is GrantOrigin.WRITTEN for origin in origins):
        origins = ()
    return facts.InitialCard(card.as_written, places, card.is_default, card.span, card.layer, origins)


def _retry_policies(
    loaded: LoadedManifest, environment: str
) -> tuple[tuple[Finding, ...], tuple[RetryPolicyFact, ...]]:
    """The policies of the environment that can be read, and what is wrong with the others."""
    found: list[Finding] = []
    policies: list[RetryPolicyFact] = []
    for default in loaded.application.retry_defaults:
        if default.environment != environment:
            continue
        try:
            policies.append(_retry_policy(default))
        except PolicydError as refusal:
            found += [replace(f, span=_within(default.span, f.span)) for f in refusal.findings]
    return tuple(found), tuple(policies)


def _retry_policy(default: RetryDefault) -> RetryPolicyFact:
    document: dict[str, object] = {}
    if default.priority is not None:
        document["priority"] = default.priority
    if default.predicate is not None:
        document["predicate"] = json_of(default.predicate)
    if default.policy is not None:
        document["policy"] = json_of(default.policy)
    rule = read_manifest_rule(default.name, document)
    return RetryPolicyFact(
        default.name,
        rule.priority,
        canonical_json(write_canonical(rule.selector)),
        canonical_json(write_canonical(rule.policy)),
        Origin.MANIFEST,
        place=default.span,
    )


def _within(place: Span, inner: Span | None) -> Span:
    path = inner.path if inner is not None else "$"
    return place.within(place.path + path.removeprefix("$"))


def _tools(loaded: LoadedManifest) -> tuple[ToolFact, ...]:
    return tuple(
        ToolFact(tool.name, Origin.MANIFEST, tool.component or "", place=tool.span) for tool in loaded.application.tools
    )


def _middlewares(loaded: LoadedManifest) -> tuple[ToolFact, ...]:
    return tuple(
        ToolFact(middleware.name, Origin.MANIFEST, middleware.component or "", place=middleware.span)
        for middleware in loaded.application.middleware
    )


def _values(described: Described, resolved: ResolvedEnvironment, loaded: LoadedManifest) -> Iterator[NamedValue]:
    """The names of all values that the manifest gives to this environment; each name once."""
    seen: set[tuple[object, ...]] = set()
    for value in _all_values(described, resolved, loaded):
        key = (value.kind, value.level, value.subject, value.path)
        if value.path and all(value.path) and key not in seen:
            seen.add(key)
            yield value


def _all_values(described: Described, resolved: ResolvedEnvironment, loaded: LoadedManifest) -> Iterator[NamedValue]:
    name = described.deployment.environment
    owners = [(Level.COMPONENT, c.name, c.merged) for c in resolved.components]
    owners += [(Level.AGENT, a.name, a.merged) for a in resolved.agents]
    for level, subject, merged in owners:
        for variable in merged.env:
            yield NamedValue(ValueKind.ENV, level, subject, (variable.name,), variable.is_known, variable.span)
        for path, leaf in merged.config_paths:
            yield NamedValue(ValueKind.CONFIG, level, subject, path, leaf.is_known, leaf.span)
        for _, bindings in merged.tools:
            yield from _parameters(level, subject, bindings)
    environment = resolved.environment
    if environment is not None:
        yield from _parameters(Level.ENVIRONMENT, "", environment.tools)
    for secret in loaded.application.secret_defaults:
        if secret.environment == name:
            yield NamedValue(ValueKind.SECRET, Level.ENVIRONMENT, "", secret.path, secret.is_known, secret.span)
    for resource in loaded.application.resource_defaults:
        if resource.environment == name:
            yield NamedValue(ValueKind.RESOURCE, Level.ENVIRONMENT, "", (resource.name,), True, resource.span)


def _parameters(level: Level, subject: str, bindings: Sequence[ToolBinding]) -> Iterator[NamedValue]:
    for binding in bindings:
        if binding.parameters is None:
            continue
        for key, _ in binding.parameters.last_of_each():
            yield NamedValue(ValueKind.PARAMETER, level, subject, (binding.name, key.text), True, key.span)


__all__ = [
    "ImportRefusedError",
    "Outcome",
    "Prepared",
    "Progress",
    "Writer",
    "import_manifest",
    "import_platform",
    "manifest_facts",
    "prepared_manifest",
    "prepared_platform",
    "store_all",
]
