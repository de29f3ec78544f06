"""Where rules come from: the `retryPolicyDefaults` of a manifest, or a document of the REST interface.

Source: retry 1.6, 1.8; interface.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from policyd.core.edition import NEXT, Rules
from policyd.core.retry import (
    Effective,
    NamedPolicy,
    Overlay,
    Policy,
    effective_rules,
    policy_from_nodes,
    read_policy,
    read_rule,
)
from policyd.core.retry.placed import PlacedPolicy
from policyd.findings import Finding, InputError, NoSuchName, Severity, nearest
from policyd.manifest import LoadedManifest, load_manifest
from policyd.manifest.retry_defaults import retry_environments, retry_policies_of
from policyd.syntax.mistakes import shown
from policyd.syntax.retry_yaml import load_yaml

MAX_BYTES = 16 * 1024 * 1024
"""A larger document is refused unread."""

MAX_RULES = 1_000
"""Rules of one document; the questions compare rules with each other."""


@dataclass(frozen=True, slots=True)
class RetryEnvironment:
    """The rules of one environment.

    Attributes:
        name: of the environment, empty where the document names none.
        policies: as they would be in force, in the order of the document.
        loaded: the manifest, None for other documents.
        notes: what else must be said.
        others: environments of the same manifest that have rules.
        findings: about rules that were read all the same.
    """

    name: str
    policies: tuple[PlacedPolicy, ...]
    loaded: LoadedManifest | None = None
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def line(self, source: str, number: int) -> str | None:
        """A line of the manifest as it may be shown, values masked."""
        document = self.loaded.document(source) if self.loaded else None
        return document.shown_line(number) if document else None

    @property
    def rules(self) -> tuple[NamedPolicy, ...]:
        """The rules alone."""
        return tuple(policy.rule for policy in self.policies)

    @property
    def effective(self) -> tuple[Effective, ...]:
        """The rules with the built-in one, in the order of selection."""
        return effective_rules(self.rules)

    def placed(self, name: str) -> PlacedPolicy | None:
        """The rule of that name in the document; the last one counts."""
        return next((p for p in reversed(self.policies) if p.rule.name == name), None)

    def named(self, name: str) -> Effective:
        """The rule in force of that name.

        Raises:
            InputError: where there is none.
        """
        effective = self.effective
        found = next((e for e in effective if e.rule.name == name), None)
        if found is None:
            names = [e.rule.name for e in effective]
            near = nearest(name, names)
            help = f"did you mean `{near}`?" if near else "rules: " + ", ".join(f"`{n}`" for n in names[:20])
            message = f"no retry policy is named {shown(name)}"
            raise NoSuchName(Finding("MANIF090", Severity.ERROR, message, None, help))
        return found


def load_environment(
    path: Path, environment: str | None, rules: Rules = NEXT, include_root: Path | None = None
) -> RetryEnvironment:
    """The rules of one environment of the manifest, or of the JSON document, at `path`.

    A manifest that has other mistakes is still asked about its rules; the mistakes are counted in the notes.

    Args:
        path: a manifest, or JSON as the REST interface lists policies.
        environment: its name; None for the only one with rules, else the manifest's default one.
        rules: the edition.
        include_root: folder from which `includes` may also read.

    Raises:
        InputError: where the document cannot be read, or a rule of the environment cannot.
    """
    if path.suffix == ".json":
        return RetryEnvironment(environment or "", rules_of_text(text_of_file(path), str(path)))
    return environment_of(load_manifest(path, rules=rules, include_root=include_root), environment)


def environment_of(loaded: LoadedManifest, environment: str | None) -> RetryEnvironment:
    """The rules of one environment of a loaded manifest.

    Raises:
        InputError: where it has no such environment, or a rule cannot be read.
    """
    errors = [f for f in loaded.findings if f.severity is Severity.ERROR]
    if any(document.root is None for document in loaded.documents) and errors:
        raise InputError(*errors)
    name, known = _chosen(loaded, environment)
    own = [f for f in errors if f.span is not None and f.span.path.startswith("$.retryPolicyDefaults")]
    if own:
        raise InputError(*own)
    policies, found = retry_policies_of(loaded.application, name)
    readable = {policy.rule.name for policy in policies}
    written = {d.name for d in loaded.application.retry_defaults if d.environment == name}
    if not written <= readable:
        raise InputError(*(f for f in found if f.severity is Severity.ERROR))
    notes: list[str] = []
    if errors:
        notes.append(f"the manifest has {len(errors)} other errors; see `policyd audit`")
    others = tuple(n for n in known if n != name)
    if not policies and others:
        names = ", ".join(f"`{n}`" for n in others)
        notes.append(f"`{name}` has no rules of its own, and nothing is inherited from {names}")
    return RetryEnvironment(name, policies, loaded, tuple(notes), others, found)


def _chosen(loaded: LoadedManifest, environment: str | None) -> tuple[str, tuple[str, ...]]:
    known = retry_environments(loaded.application)
    declared = [e.name for e in loaded.application.environments]
    if environment is not None:
        if environment not in known and environment not in declared:
            near = nearest(environment, (*known, *declared))
            help = f"did you mean `{near}`?" if near else ""
            raise InputError.of("MANIF090", f"the manifest has no environment {shown(environment)}", None, help)
        return environment, known
    default = next((e.name for e in loaded.application.environments if e.is_default), None)
    if default is not None:
        return default, known
    if len(known) == 1:
        return known[0], known
    if declared:
        return declared[0], known
    if known:
        raise InputError.of("MANIF090", "which environment is asked about?", None, "give `--env` with one of its names")
    return "", known


def text_of_file(path: Path) -> str:
    """The text of a file.

    Raises:
        InputError: where it cannot be read, is too large or is not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "it is no file name").lower()
        raise InputError.of("MANIF001", f"{shown(str(path))} cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise InputError.of("MANIF001", f"{shown(str(path))} is larger than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.of("MANIF001", f"{shown(str(path))} is not UTF-8 at byte {error.start}") from None


def _json(text: str, source: str) -> object:
    try:
        return json.loads(text)
    except (RecursionError, ValueError):
        raise InputError.of("RETRY106", f"{shown(source)} is not JSON that can be read") from None


def rules_of_text(text: str, source: str) -> tuple[PlacedPolicy, ...]:
    """The rules of a JSON text as the REST interface lists them: one, a list, or an object with `values`.

    Raises:
        InputError: where it cannot be read.
    """
    document = _json(text, source)
    if isinstance(document, dict) and isinstance(document.get("values"), list):
        document = document["values"]
    rows = document if isinstance(document, list) else [document]
    if len(rows) > MAX_RULES:
        raise InputError.of("RETRY106", f"{shown(source)} has more than {MAX_RULES} retry policies")
    rules = [read_rule(row, (place,)) for place, row in enumerate(rows)]
    return tuple(PlacedPolicy(rule, rule) for rule in rules)


def load_rules(path: Path) -> tuple[NamedPolicy, ...]:
    """The rules of a JSON document as the REST interface lists them.

    Raises:
        InputError: where it cannot be read.
    """
    return tuple(placed.rule for placed in rules_of_text(text_of_file(path), str(path)))


def load_overlay(path: Path) -> Overlay:
    """What an agent has set and removed: `{"set": [rule], "removed": [name]}`.

    Raises:
        InputError: where it cannot be read.
    """
    document = _json(text_of_file(path), str(path))
    if not isinstance(document, dict) or not isinstance(document.get("removed", []), list):
        raise InputError.of("RETRY106", f"{shown(str(path))} is no overlay", None, "write `set` and `removed`")
    rows = document.get("set", [])
    rules = tuple(read_rule(row, ("set", i)) for i, row in enumerate(rows if isinstance(rows, list) else [rows]))
    return Overlay(rules, frozenset(str(name) for name in document.get("removed", [])))


def load_policy(path: Path) -> Policy:
    """One policy tree of a YAML or JSON document: canonical form, a rule, or a list of nodes.

    A rule gives its tree only: a schedule knows neither name nor priority nor selector.

    Raises:
        InputError: where it cannot be read.
    """
    text = text_of_file(path)
    document = _json(text, str(path)) if path.suffix == ".json" else load_yaml(text)
    if isinstance(document, list):
        return policy_from_nodes(document, compiled=True)
    if isinstance(document, dict) and "policy" in document:
        return read_policy(document["policy"], ("policy",))
    return read_policy(document)
