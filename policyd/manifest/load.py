"""From files or texts to an application and everything that is wrong with it.

Content never raises: what could be read is returned together with all findings.

Source: manifest-format 1 to 3.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from policyd.core.edition import NEXT, Rules
from policyd.findings import Finding, InputError, Related, Severity, Span, nearest
from policyd.manifest import codes
from policyd.manifest.build import Parts, build, texts_of
from policyd.manifest.builtin import built_in_templates
from policyd.manifest.check import Check
from policyd.manifest.compose import compose
from policyd.manifest.generations import older_format, version_of, version_problem
from policyd.manifest.includes import Includes, path_order
from policyd.manifest.located import Located, LocatedMap, LocatedScalar, shown
from policyd.manifest.masking import SensitiveRanges
from policyd.manifest.model import Application, Layered
from policyd.manifest.shape import ROOT
from policyd.manifest.source import MAX_DOCUMENT_BYTES, Source, decode
from policyd.manifest.template_graph import template_findings

_HIDDEN_OUTSIDE = ("secretDefaults",)
"""The keys of the document itself whose values are hidden; a misspelt one hides its values, too."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One loaded document.

    Attributes:
        name: the source name of its spans.
        source: its text.
        root: its tree, None where it is empty or could not be read.
        is_read: whether it could be read, and contributes what it has.
        version: its `manifestVersion` as written, empty where missing.
        is_older: whether it is of an older format and contributes nothing.
        sensitive: what must not be shown of it.
    """

    name: str
    source: Source
    root: LocatedMap | None
    is_read: bool
    version: str
    is_older: bool
    sensitive: SensitiveRanges

    def shown_line(self, number: int) -> str:
        """Line `number` (1-based) as it may be shown: values of env, config, secrets and tokens are masked."""
        return self.sensitive.mask_line(self.source, number)


@dataclass(frozen=True, slots=True, eq=False)
class LoadedManifest:
    """The outcome of loading.

    Attributes:
        application: what could be read, also of a refused manifest.
        documents: in loading order.
        findings: all findings, sorted.
        not_analysed: sentences on what was left out.
        rules: the edition that was followed.
    """

    application: Application
    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]
    not_analysed: tuple[str, ...]
    rules: Rules

    @property
    def refused(self) -> bool:
        """Whether the platform's loader refuses this manifest."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def version(self) -> str:
        """The manifest version that was seen, empty where it is missing or mixed."""
        return self.application.version

    def document(self, name: str) -> Document | None:
        """The document whose spans have `name` as their source."""
        return next((d for d in self.documents if d.name == name), None)


def mask_line(document: Document, line_number: int) -> str:
    """A source line as it may be shown; empty outside the document."""
    return document.shown_line(line_number)


def load_manifest(
    path: Path,
    *,
    rules: Rules = NEXT,
    include_root: Path | None = None,
    opened: Mapping[Path, str] = MappingProxyType({}),
) -> LoadedManifest:
    """The application whose root manifest is `path`, included documents too.

    Includes stay below the folder of `path`, or below `include_root` where that is given.

    Args:
        path: the root manifest.
        rules: the edition.
        include_root: how far up included documents may lie.
        opened: resolved paths of documents that an editor holds, with the text that counts instead of the file's.

    Raises:
        InputError: `MANIF001` where `path` is missing, no file, or may not be read.
    """

    def text_of(place: Path, known_as: str) -> str | bytes:
        held = opened.get(place.resolve()) if opened else None
        return read_bytes(place, known_as) if held is None else held

    name = str(path)
    root, findings = _document(name, text_of(path, name), rules)
    documents: list[tuple[tuple[bytes, ...], Document]] = []
    resolved = path.resolve()
    documents.append((path_order(resolved), root))
    patterns = texts_of(root.root.get("includes")) if root.root is not None else ()
    if patterns and not root.is_older:
        search = Includes(resolved.parent, include_root.resolve() if include_root is not None else None)
        for found in sorted(search.find(patterns), key=path_order):
            if found == resolved:
                continue
            shown = os.path.join(os.path.dirname(name), os.path.relpath(found, resolved.parent))
            shown = os.path.normpath(shown)
            try:
                included, more = _document(shown, text_of(found, shown), rules)
            except InputError as error:
                findings += [_unreadable_include(f.message, patterns[0].span) for f in error.findings]
                continue
            documents.append((path_order(found), included))
            findings += more
        findings += search.findings
    documents.sort(key=lambda pair: pair[0])
    return _assemble([document for _, document in documents], root, findings, [], rules)


def load_text(text: str | bytes, name: str = "golem.yaml", *, rules: Rules = NEXT) -> LoadedManifest:
    """The application of one document; its `includes` are not followed."""
    return load_texts(((name, text),), rules=rules)


def load_texts(texts: Sequence[tuple[str, str | bytes]], *, rules: Rules = NEXT) -> LoadedManifest:
    """The application of named documents; the first is the root, and no files are read.

    The loading order is that of the names as paths.
    """
    findings: list[Finding] = []
    documents = []
    for name, text in texts:
        document, more = _document(name, text, rules)
        documents.append(document)
        findings += more
    left_out = []
    if len(documents) == 1 and documents[0].root is not None and texts_of(documents[0].root.get("includes")):
        left_out.append(f"the includes of `{documents[0].name}` were not followed")
    ordered = sorted(documents, key=lambda d: path_order(Path(os.path.normpath(d.name))))
    return _assemble(ordered, documents[0] if documents else None, findings, left_out, rules)


def read_bytes(path: Path, name: str) -> bytes:
    """At most one byte more than the loader accepts.

    Raises:
        InputError: MANIF001 where `path` is missing, no file, or may not be read.
    """
    try:
        if not path.is_file():
            reason = "is a folder" if path.is_dir() else "is no file" if path.exists() else "does not exist"
            raise InputError.of(codes.UNREADABLE, f"`{name}` {reason}", Span(name))
        with path.open("rb") as file:
            return file.read(MAX_DOCUMENT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "the path is not usable"
        raise InputError.of(codes.UNREADABLE, f"`{name}` cannot be read: {reason.lower()}", Span(name)) from None


def _unreadable_include(message: str, span: Span) -> Finding:
    return Finding(codes.INCLUDE_UNREADABLE, Severity.ERROR, message, span)


def _document(name: str, data: str | bytes, rules: Rules) -> tuple[Document, list[Finding]]:
    source, is_text, decoded = decode(name, data)
    findings = list(decoded)
    tree: Located | None = None
    composed = whole = False
    if is_text:
        tree, problems = compose(source)
        findings += problems
        composed = tree is not None or not problems
        whole = not problems  # else characters may stand outside the tree
    root = tree if isinstance(tree, LocatedMap) else None
    sensitive = SensitiveRanges.of(source, tree, composed=whole)
    older = older_format(source, root) if composed else None
    version = version_of(root)
    document = Document(
        name,
        source,
        root,
        composed and older is None,
        version.text if version else "",
        older is not None,
        sensitive,
    )
    if older is not None:
        return document, [*findings, older]
    if not composed:
        return document, findings
    problem = version_problem(source, root, rules)
    if problem is not None:
        findings.append(problem)
    if tree is not None and not (isinstance(tree, LocatedScalar) and tree.is_plain and not tree.text):
        told = Check(rules, document.version).run(ROOT, tree)
        findings += told
        outer = {key.start for key, _ in root.entries if nearest(key.text, _HIDDEN_OUTSIDE) is None} if root else set()
        unknown = {f.span.start for f in told if f.code == codes.UNKNOWN_KEY and f.span is not None} - outer
        if unknown:
            hidden = SensitiveRanges.of(source, tree, composed=whole, unknown=unknown)
            document = replace(document, sensitive=hidden)
    return document, findings


def _assemble(
    documents: list[Document], root: Document | None, findings: list[Finding], left_out: list[str], rules: Rules
) -> LoadedManifest:
    current = [d for d in documents if not d.is_older]
    parts = [(d, build(d.root)) for d in current if d.root is not None]
    for _, part in parts:
        findings += part.findings
    findings += _across_documents(current, root)
    versions = {d.version for d in current if d.version}
    if len(versions) > 1:
        findings += _mixed(current)
    application = _application(parts, versions.pop() if len(versions) == 1 else "", findings)
    unread = [d for d in documents if not d.is_read]
    left_out += [f"`{d.name}` could not be read" for d in unread]
    if not unread:
        findings += _required(application, root)
    findings += _environment_findings(application)
    findings += template_findings(application, rules)
    ordered = tuple(sorted(set(findings), key=lambda f: f.order))
    return LoadedManifest(application, tuple(documents), ordered, tuple(sorted(set(left_out))), rules)


def _application(parts: list[tuple[Document, Parts]], version: str, findings: list[Finding]) -> Application:
    def unique(section: str, items: Iterable[tuple[str, Span]]) -> None:
        _defined_twice(section, items, findings)

    def joined(select: str) -> list[Layered]:
        found: dict[str, Layered] = {}
        unique(select, ((item.name, item.span) for _, p in parts for item in getattr(p, select)))
        for _, part in parts:
            for item in getattr(part, select):
                found.setdefault(item.name, item)
        return list(found.values())

    unique("environments", ((e.name, e.span) for _, p in parts for e in p.environments))
    environments = {e.name: e for _, p in reversed(parts) for e in reversed(p.environments)}
    in_order = dict.fromkeys(e.name for _, p in parts for e in p.environments)
    templates = joined("templates")
    written = {t.name for t in templates}
    templates += [t for name, t in built_in_templates().items() if name not in written]
    apps = [p.app for _, p in parts if p.app is not None]
    unique("app", (("app", app.span) for app in apps))
    for section in ("secretDefaults", "retryPolicyDefaults", "resourceDefaults", "bridge", "customCommands"):
        unique(section, _keys(parts, section))
    for key in ("version", "localServer"):
        unique(key, _root_keys(parts, key))
    return Application(
        apps[0] if apps else None,
        version,
        tuple(environments[name] for name in in_order),
        tuple(templates),
        tuple(joined("components")),
        tuple(joined("agents")),
        tuple(joined("tools")),
        tuple(joined("middleware")),
        tuple(x for _, p in parts for x in p.retry_defaults),
        tuple(x for _, p in parts for x in p.secret_defaults),
        tuple(x for _, p in parts for x in p.resource_defaults),
        tuple(x for _, p in parts for x in p.deployments),
        tuple(x for _, p in parts for x in p.mcp_imports),
    )


def _root_keys(parts: list[tuple[Document, Parts]], key: str) -> Iterable[tuple[str, Span]]:
    for document, _ in parts:
        found = document.root.key(key) if document.root is not None else None
        if found is not None:
            yield key, found.span


def _keys(parts: list[tuple[Document, Parts]], section: str) -> Iterable[tuple[str, Span]]:
    for document, _ in parts:
        block = document.root.get(section) if document.root is not None else None
        if isinstance(block, LocatedMap):
            for key, _ in block.last_of_each():
                yield key.text, key.span


_NOUNS = {
    "templates": "the component template",
    "components": "the component",
    "agents": "the agent type",
    "tools": "the tool",
    "middleware": "the tool middleware",
    "environments": "the environment",
    "secretDefaults": "`secretDefaults` of",
    "retryPolicyDefaults": "`retryPolicyDefaults` of",
    "resourceDefaults": "`resourceDefaults` of",
    "bridge": "the bridge language",
    "customCommands": "the custom command",
}


def _defined_twice(section: str, items: Iterable[tuple[str, Span]], findings: list[Finding]) -> None:
    """Tell names of one section that stand in more than one document."""
    first: dict[str, Span] = {}
    for name, span in items:
        if name not in first:
            first[name] = span
        elif first[name].source != span.source:
            noun = f"{_NOUNS[section]} `{shown(name)}`" if section in _NOUNS else f"`{section}`"
            findings.append(
                Finding(
                    codes.DEFINED_TWICE,
                    Severity.ERROR,
                    f"{noun} is defined in two documents",
                    span,
                    "keep one of them: documents are not merged",
                    (Related("defined here first", first[name]),),
                )
            )


def _across_documents(documents: list[Document], root: Document | None) -> list[Finding]:
    found = []
    for document in documents:
        key = document.root.key("includes") if document.root is not None else None
        if key is not None and document is not root:
            found.append(
                Finding(
                    codes.INCLUDES_TWICE,
                    Severity.ERROR,
                    "`includes` may stand in the root manifest only",
                    key.span,
                    "move the entries to the root manifest",
                )
            )
    return found


def _mixed(documents: list[Document]) -> list[Finding]:
    first = next(d for d in documents if d.version)
    seen = version_of(first.root)
    found = []
    for document in documents:
        version = version_of(document.root)
        if version is not None and seen is not None and version.text != seen.text:
            found.append(
                Finding(
                    codes.VERSION_MIXED,
                    Severity.ERROR,
                    f"`{document.name}` has manifest version `{shown(version.text)}`, `{first.name}` has another",
                    version.span,
                    "all documents need the same version",
                    (Related(f"`{shown(seen.text)}` here", seen.span),),
                )
            )
    return found


def _required(application: Application, root: Document | None) -> list[Finding]:
    """`app` and one environment are required in the merged result."""
    if root is None:
        return []
    start = root.root.start if root.root is not None else 0
    span = root.source.span(start, start, "$")
    found = []
    if application.name is None:
        found.append(Finding(codes.NO_APP, Severity.ERROR, "no document gives `app`", span, "add `app: <name>`"))
    if not application.environments:
        help_text = "add `environments:` with one entry at least"
        found.append(
            Finding(codes.NO_ENVIRONMENT, Severity.ERROR, "no document defines an environment", span, help_text)
        )
    return found


def _environment_findings(application: Application) -> list[Finding]:
    found = []
    marked = [e for e in application.environments if e.is_default]
    found += [
        Finding(
            codes.TWO_DEFAULTS,
            Severity.ERROR,
            f"`{other.name}` is a second default environment",
            other.span,
            "keep `default: true` in one environment",
            (Related(f"`{marked[0].name}` is the first", marked[0].span),),
        )
        for other in marked[1:]
    ]
    if not application.environments:
        return found
    known = {e.name for e in application.environments}
    uses = [
        *(("retryPolicyDefaults", d.environment, d.span) for d in application.retry_defaults),
        *(("secretDefaults", d.environment, d.span) for d in application.secret_defaults),
        *(("resourceDefaults", d.environment, d.span) for d in application.resource_defaults),
        *((f"{d.kind}.deployments", d.environment, d.span) for d in application.deployments),
        *(("mcp.imports", i.environment, i.span) for i in application.mcp_imports),
    ]
    told = set()
    for section, environment, span in uses:
        if environment not in known and (section, environment) not in told:
            told.add((section, environment))
            found.append(
                Finding(
                    codes.UNKNOWN_DEFAULTS,
                    Severity.WARNING,
                    f"`{section}` names the environment `{shown(environment)}`, which is not defined",
                    span,
                    "it has no effect until that environment exists",
                )
            )
    return found
