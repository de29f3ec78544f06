"""Where rules come from: the `retryPolicyDefaults` of a manifest, or a document of the REST interface.

Source: retry 1.6, 1.8; interface.
"""

from __future__ import annotations

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
from policyd.core.retry.errors import path_text
from policyd.core.retry.placed import MAX_RULES, PlacedPolicy
from policyd.findings import Finding, InputError, NoSuchName, Severity, Span, nearest
from policyd.manifest import LoadedManifest, load_manifest
from policyd.manifest.retry_defaults import retry_environments, retry_policies_of
from policyd.store.snapshots import SnapshotInfo
from policyd.syntax.mistakes import shown
from policyd.usecases.retry_documents import json_document, placed_in_json, read_document, text_of_file


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
        snapshot: the stored deployment they were read from, None for documents.
    """

    name: str
    policies: tuple[PlacedPolicy, ...]
    loaded: LoadedManifest | None = None
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    snapshot: SnapshotInfo | None = None

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
    defaults = [default for default in loaded.application.retry_defaults if default.environment == name]
    demand_few(len(defaults), defaults[MAX_RULES].span if len(defaults) > MAX_RULES else None)
    policies, found = retry_policies_of(loaded.application, name)
    readable = {policy.rule.name for policy in policies}
    written = {default.name for default in defaults}
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


def rules_of_text(text: str, source: str) -> tuple[PlacedPolicy, ...]:
    """The rules of a JSON text as the REST interface lists them: one, a list, or an object with `values`.

    Raises:
        InputError: where it cannot be read.
    """
    document = json_document(text, source)
    head: tuple[str | int, ...] = ()
    if isinstance(document, dict) and isinstance(document.get("values"), list):
        document, head = document["values"], ("values",)
    rows = document if isinstance(document, list) else [document]
    with placed_in_json(text, source):
        demand_few(len(rows), Span(source, path=path_text((*head, MAX_RULES))))
        if isinstance(document, list):
            rules = [read_rule(row, (*head, place)) for place, row in enumerate(rows)]
        else:
            rules = [read_rule(document)]
    return tuple(PlacedPolicy(rule, rule) for rule in rules)


def demand_few(count: int, first: Span | None) -> None:
    """Refuse more rules than the questions compare.

    Args:
        count: how many there are.
        first: where the first one too many stands.
    """
    if count > MAX_RULES:
        message = f"there are {count} retry policies, and at most {MAX_RULES} of one environment are compared"
        raise InputError.of("RETRY106", message, first, "ask about fewer of them")


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
    text = text_of_file(path)
    document = json_document(text, str(path))
    with placed_in_json(text, str(path)):
        return _overlay(document)


def _overlay(document: object) -> Overlay:
    removed = document.get("removed", []) if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(removed, list):
        place = "$" if removed is None else "$.removed"
        raise InputError.of("RETRY106", "this is no overlay", Span("retry", path=place), "write `set` and `removed`")
    rows = document.get("set", [])
    rows = rows if isinstance(rows, list) else [rows]
    demand_few(len(rows), Span("retry", path=f"$.set[{MAX_RULES}]"))
    for number, name in enumerate(removed):
        if not isinstance(name, str):
            span = Span("retry", path=f"$.removed[{number}]")
            raise InputError.of("RETRY106", "a name that is removed is a text", span)
    return Overlay(tuple(read_rule(row, ("set", i)) for i, row in enumerate(rows)), frozenset(removed))


def load_policy(path: Path) -> Policy:
    """One policy tree of a YAML or JSON document: canonical form, a rule, or a list of nodes.

    A rule gives its tree only: a schedule knows neither name nor priority nor selector.

    Raises:
        InputError: where it cannot be read.
    """
    read: Policy = read_document(text_of_file(path), str(path), policy_of, is_json=path.suffix == ".json")
    return read


def policy_of(document: object) -> Policy:
    """The tree that a document holds: canonical form, a rule, or a list of nodes.

    Raises:
        InputError: where it cannot be read.
    """
    if isinstance(document, list):
        return policy_from_nodes(document, compiled=True)
    if isinstance(document, dict) and "policy" in document:
        return read_policy(document["policy"], ("policy",))
    return read_policy(document)
