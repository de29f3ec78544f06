"""Manifests as deployments: load, choose environment and presets, describe.

Source: manifest-format 1, 3, 4; interface, Flags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from policyd.core.admission.names import is_agent_id
from policyd.core.application import AgentType, Deployment, default_initial_card
from policyd.core.edition import NEXT, Rules
from policyd.findings import Finding, InputError, NoSuchName, Severity, Span, nearest
from policyd.manifest import LoadedManifest, describe, load_manifest, resolve_environment
from policyd.manifest.application import KnownGrants
from policyd.manifest.rereading import under
from policyd.syntax.mistakes import shown


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of a manifest a question is about.

    Attributes:
        environment: its name; None for the default one, else the first.
        presets: custom presets that replace those of the environment; None for the environment's own.
        account: the owner's e-mail where the manifest does not say it, empty if not given.
        component: the component of the agent type, empty if not given.
    """

    environment: str | None = None
    presets: tuple[str, ...] | None = None
    account: str = ""
    component: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    """A deployment with what is wrong with it and what was left out.

    Attributes:
        deployment: of the selected environment.
        loaded: the manifest.
        findings: of loading and resolving, sorted.
        not_analysed: sentences on what the manifest does not say.
    """

    deployment: Deployment
    loaded: LoadedManifest
    findings: tuple[Finding, ...]
    not_analysed: tuple[str, ...] = field(default=())

    def line(self, source: str, number: int) -> str | None:
        """A line of one of the manifest's documents as it may be shown, values masked."""
        return shown_lines(self.loaded)(source, number)


class ManifestRefusedError(InputError):
    """The platform's loader refuses the manifest, or a part of it is not what the question needs.

    Attributes:
        lines: the lines of its documents as they may be shown, values masked.
    """

    def __init__(self, loaded: LoadedManifest, *findings: Finding) -> None:
        self.lines = shown_lines(loaded)
        super().__init__(*findings)


def shown_lines(loaded: LoadedManifest) -> Callable[[str, int], str | None]:
    """The lines of a manifest's documents as they may be shown, values masked."""

    def line(source: str, number: int) -> str | None:
        document = loaded.document(source)
        return document.shown_line(number) if document else None

    return line


def load(
    path: Path,
    rules: Rules = NEXT,
    include_root: Path | None = None,
    opened: Mapping[Path, str] = MappingProxyType({}),
) -> LoadedManifest:
    """The manifest at `path`.

    Args:
        path: the root manifest.
        rules: the edition.
        include_root: how far up included documents may lie.
        opened: the texts that an editor holds, by resolved path.

    Raises:
        InputError: if it cannot be read at all, or the platform's loader refuses it.
    """
    loaded = load_manifest(path, rules=rules, include_root=include_root, opened=opened)
    return accepted(loaded)


def accepted(loaded: LoadedManifest) -> LoadedManifest:
    """The same manifest, if the platform's loader takes it.

    Raises:
        InputError: with all errors, if it does not.
    """
    errors = [f for f in loaded.findings if f.severity is Severity.ERROR]
    if errors:
        raise ManifestRefusedError(loaded, *errors)
    return loaded


def described(
    loaded: LoadedManifest,
    selection: Selection,
    rules: Rules = NEXT,
    implements: Mapping[str, str] | None = None,
    only: str | None = None,
    known: KnownGrants | None = None,
) -> Described:
    """The deployment that `selection` names; with `only`, the cards of other agent types are not read.

    With `known`, grants of the same documents that were read before are not read again.

    Raises:
        InputError: if the manifest has no such environment, preset or component.
    """
    resolved = resolve_environment(
        loaded.application, selection.environment, selection.presets, rules=rules, implements=implements
    )
    errors = [f for f in resolved.findings if f.severity is Severity.ERROR]
    if errors:
        raise ManifestRefusedError(loaded, *errors)
    return Described(
        describe(loaded.application, resolved, rules, only, known),
        loaded,
        tuple(sorted({*loaded.findings, *resolved.findings}, key=lambda f: f.order)),
        tuple(sorted({*loaded.not_analysed, *resolved.not_analysed})),
    )


class Editions:
    """One manifest under several editions: what is alike in all of them is read once."""

    def __init__(self, loaded: LoadedManifest) -> None:
        self._loaded = loaded
        self._known: KnownGrants = {}

    def described(self, selection: Selection, rules: Rules, only: str | None = None) -> Described:
        """The deployment that `selection` names under `rules`, as `described` of a fresh reading gives it.

        Raises:
            InputError: if the manifest is refused under these rules, or has no such environment, preset or component.
        """
        return described(accepted(under(self._loaded, rules)), selection, rules, only=only, known=self._known)


def agent_name(text: str) -> tuple[str, str | None]:
    """The type and, if given, the full id that a user names an agent by.

    >>> agent_name('Cart("u1")'), agent_name("Cart")
    (('Cart', 'Cart("u1")'), ('Cart', None))

    Raises:
        InputError: for a text with a bracket that has not the form of an id.
    """
    head, bracket, _ = text.partition("(")
    if not bracket:
        return text, None
    if not head or not is_agent_id(text, head):
        raise InputError.of("MANIF093", f"{shown(text)} is no agent id", None, 'write `Type` or `Type("…")`')
    return head, text


def similar_agent(name: str, deployment: Deployment) -> str | None:
    """A known agent type of nearly this name."""
    return nearest(name, deployment.agent_names)


def no_such_agent(name: str, deployment: Deployment) -> NoSuchName:
    """The error for an agent type that is probably misspelled."""
    near = similar_agent(name, deployment)
    return NoSuchName(
        Finding(
            "MANIF090",
            Severity.ERROR,
            f"the manifest names no agent type {shown(name)}",
            None,
            f"did you mean `{near}`?" if near else "agent types: " + ", ".join(deployment.agent_names[:20]),
        )
    )


def unlisted_agent(name: str, deployment: Deployment) -> AgentType:
    """A type that the manifest does not name: if it exists, it has the default card (cards 8.2)."""
    card = default_initial_card()
    component = deployment.components[0].name if len(deployment.components) == 1 else ""
    return AgentType(name, deployment.environment_span or Span(""), False, component, bool(component), card)
