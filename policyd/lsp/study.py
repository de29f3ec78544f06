"""One manifest as it stands in the editor: read once for each change, and what is asked about it.

Source: interface, `audit`; manifest-format 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from policyd.core.application import AgentType, PlacedGrant
from policyd.core.cards import Bound, Timestamp
from policyd.core.edition import Rules
from policyd.findings import Finding, InputError
from policyd.manifest import LoadedManifest, load_manifest
from policyd.manifest.load import Document
from policyd.usecases.audit_manifest import audit_manifest
from policyd.usecases.deployments import Described, Selection, described
from policyd.usecases.suppressions import suppressed_report


@dataclass(frozen=True, slots=True)
class PlacedIn:
    """A grant of a card in one environment.

    Attributes:
        found: the environment's deployment.
        agent: the agent type.
        bound: in which list.
        placed: the grant.
    """

    found: Described
    agent: AgentType
    bound: Bound
    placed: PlacedGrant


@dataclass(frozen=True)
class Study:
    """A manifest with its included documents.

    Attributes:
        root: path of the root manifest.
        loaded: what could be read.
        rules: the edition.
    """

    root: Path
    loaded: LoadedManifest
    rules: Rules

    @classmethod
    def of(cls, root: Path, opened: Mapping[Path, str], rules: Rules) -> Study:
        """Read a manifest, with the texts of the editor in place of the files'.

        Raises:
            InputError: where the root manifest cannot be read at all.
        """
        return cls(root, load_manifest(root, rules=rules, opened=opened), rules)

    @cached_property
    def paths(self) -> Mapping[str, Path]:
        """The resolved path of every document, by the name that spans have."""
        return {document.name: Path(document.name).resolve() for document in self.loaded.documents}

    def document(self, path: Path) -> Document | None:
        """The document at a path, None if it does not belong to this manifest."""
        return next((d for d in self.loaded.documents if self.paths[d.name] == path), None)

    @cached_property
    def environments(self) -> Mapping[str, Described]:
        """The deployments of all environments that can be resolved; one without a name where there are none."""
        found: dict[str, Described] = {}
        names: list[str | None] = [environment.name for environment in self.loaded.application.environments]
        for name in names or [None]:
            try:
                found[name or ""] = described(self.loaded, Selection(name), self.rules)
            except InputError:
                continue
        return found

    @cached_property
    def agent_names(self) -> tuple[str, ...]:
        """The agent types of all environments."""
        return tuple(sorted({name for found in self.environments.values() for name in found.deployment.agent_names}))

    def quick(self) -> tuple[Finding, ...]:
        """What is wrong with the text, its keys and its grants: everything that needs no look at other grants."""
        found = dict.fromkeys(self.loaded.findings)
        for deployment in self.environments.values():
            found |= dict.fromkeys(deployment.findings)
            for agent in deployment.deployment.agents:
                found |= dict.fromkeys(bad.finding for bad in agent.initial_card.bad)
        return tuple(sorted(found, key=lambda finding: finding.order))

    def full(self, now: Timestamp) -> tuple[Finding, ...]:
        """All findings, with those that comments accept left out; what `policyd audit` tells."""
        report = audit_manifest(self.loaded, rules=self.rules)
        return suppressed_report(report, self.loaded, (), now, is_whole=True).findings

    def grants_at(self, document: Document, offset: int) -> Iterator[PlacedIn]:
        """The grants whose text stands at a place, in every environment and card that they end up in."""
        for found in self.environments.values():
            for agent in found.deployment.agents:
                for bound, _, placed in agent.initial_card.each():
                    span = placed.span
                    if span is not None and span.source == document.name and span.start <= offset <= span.end:
                        yield PlacedIn(found, agent, bound, placed)
