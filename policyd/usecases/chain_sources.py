"""What a question about chains is put to: interchange documents, manifests, definitions beside them.

Source: middleware 6.2; interface, Files and queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from policyd.core.application import Deployment
from policyd.core.edition import NEXT, Rules
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.reading import at, elements, fail, list_of, member, members, optional, text
from policyd.core.tools.boundaries import Underlying
from policyd.core.tools.modes import Mode
from policyd.core.tools.profile import KEYS, Profile
from policyd.findings import Finding, InputError, Severity, Span
from policyd.manifest import LoadedManifest, load_manifest, load_text, load_texts
from policyd.store import facts
from policyd.syntax.mistakes import shown
from policyd.syntax.tool_constraints import only
from policyd.syntax.tools import Catalogue, Load, Reader
from policyd.usecases.stored_chains import StoredChains, stored_chains
from policyd.usecases.tool_documents import ENGINES, PlainDocument, document_of, loader, read_text, sealed

MANIFEST_KEYS = ("tools", "environments", "components", "agents", "app")
"""Keys of an interchange document that mean what they mean in a manifest."""
OWN_KEYS = ("policyd", "profile", "definitions", "chain", "callers", "cards", "expect")
VERSION = 1
LAYER_KEYS = (
    "name",
    "version",
    "account",
    "parameters",
    "filesystemAccess",
    "secretKeysReadable",
    "secretKeysRevealable",
)
"""What an entry of a list may have."""
APPROACHES = ("none", "normal-rpc", "method-only", "full-static", "discovered", "dynamic")


@dataclass(frozen=True, slots=True)
class WrittenLayer:
    """One layer of a chain that is written out.

    Attributes:
        name: of the middleware.
        parameters: of the installation.
        version: asserted, None where not.
        span: where it stands.
        account: asserted, None where not.
    """

    name: str
    parameters: JsonValue
    version: str | None
    span: Span | None
    account: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenChain:
    """A chain that is written out, outermost first.

    Attributes:
        tool: under which name it is bound.
        leaf: the definition at the end.
        layers: above it.
        mode: None for the profile's.
    """

    tool: str
    leaf: str
    layers: tuple[WrittenLayer, ...]
    mode: Mode | None


@dataclass(frozen=True, slots=True)
class WrittenCaller:
    """A caller and what it knows.

    Attributes:
        name: for the answer.
        agent: from which it calls; empty for any.
        tool: which it calls.
        approach: one of `APPROACHES`.
        definition: what it was built from; empty where it has none.
        commands: the commands used; None for all of its definition.
        span: where it stands.
        relies_on: failures that it must tell apart (`denied`, `cancelled`, `resource-exhausted`).
    """

    name: str
    agent: str
    tool: str
    approach: str
    definition: str
    commands: tuple[tuple[str, ...], ...] | None
    span: Span | None
    relies_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the answer should be.

    Attributes:
        environment, agent, tool: which chain; empty for any.
        verdict: of the deployment, in the words that are printed, spaces or hyphens.
        span: where it stands.
    """

    environment: str
    agent: str
    tool: str
    verdict: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class ChainSources:
    """Everything that is known before a chain is decided.

    Attributes:
        catalogue: definitions of tools, middleware and types.
        profile: the rules in force.
        rules: the edition.
        manifest: bindings and lists; None where no document has any.
        is_interchange: whether the manifest keys stand in an interchange document, which need not be complete.
        implements: agent type to component, where a document says it.
        chain: a chain that is written out.
        callers, expectations: as written.
        cards: agent type to texts of grants.
        documents: for showing lines.
        stored: the chains of a snapshot, where one is asked about.
    """

    catalogue: Catalogue
    profile: Profile
    rules: Rules = NEXT
    manifest: LoadedManifest | None = None
    is_interchange: bool = False
    implements: Mapping[str, str] = field(default_factory=dict)
    chain: WrittenChain | None = None
    callers: tuple[WrittenCaller, ...] = ()
    cards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    expectations: tuple[Expectation, ...] = ()
    documents: tuple[PlainDocument, ...] = ()
    stored: StoredChains | None = None

    def line(self, source: str, number: int) -> str | None:
        """A line of one of the documents as it may be shown, parameters masked."""
        if self.manifest is not None:
            document = self.manifest.document(source)
            if document is not None:
                return document.shown_line(number)
        return next((found for d in self.documents if (found := d.line(source, number)) is not None), None)

    def card_span(self, agent: str, index: int) -> Span | None:
        """Where a grant of the cards beside the chain stands."""
        for document in self.documents:
            cards = document.value.get("cards") if isinstance(document.value, Mapping) else None
            if isinstance(cards, Mapping) and agent in cards:
                return document.span(("cards", agent, index))
        return None


def load_sources(
    path: Path,
    definitions: Sequence[Path],
    rules: Rules,
    profile: Profile,
    include_root: Path | None = None,
    implements: Mapping[str, str] | None = None,
) -> ChainSources:
    """A manifest or an interchange document, with further documents of definitions.

    Raises:
        InputError: where one of them cannot be read.
    """
    content = read_text(path)
    parts = definitions_in(definitions, rules, profile)
    if is_interchange(content):
        parts.insert(0, interchange_sources(document_of(str(path), content), rules, profile))
        return _joined(parts, rules, profile)
    loaded = load_manifest(path, rules=rules, include_root=include_root)
    if all(document.root is None for document in loaded.documents):
        raise InputError(*(f for f in loaded.findings if f.severity is Severity.ERROR))
    joined = _joined(parts, rules, profile)
    return replace(
        joined, manifest=loaded, is_interchange=False, implements={**joined.implements, **(implements or {})}
    )


def definitions_in(paths: Sequence[Path], rules: Rules, profile: Profile) -> list[ChainSources]:
    """Interchange documents with definitions.

    Raises:
        InputError: where one of them cannot be read.
    """
    return [interchange_sources(document_of(str(path), read_text(path)), rules, profile) for path in paths]


def stored_sources(
    stored: facts.Deployment,
    deployment: Deployment,
    definitions: Sequence[ChainSources],
    rules: Rules,
    profile: Profile,
) -> ChainSources:
    """A snapshot, with further documents of definitions, which go before the stored ones.

    Args:
        stored: the facts.
        deployment: what they describe under `rules`.
        definitions: read from documents.
        rules: the edition asked about.
        profile: the rules in force.

    Raises:
        InputError: where two documents define the same name.
    """
    chains, catalogue = stored_chains(stored, deployment)
    joined = _joined(definitions, rules, profile)
    tools = {**catalogue.tools, **joined.catalogue.tools}
    middleware = {**catalogue.middleware, **joined.catalogue.middleware}
    merged = Catalogue(joined.catalogue.types, tools, middleware)
    return replace(joined, catalogue=merged, manifest=None, is_interchange=False, stored=chains)


def is_interchange(content: str) -> bool:
    """Whether a document says that it is one of the interchange format.

    >>> is_interchange("policyd: 1"), is_interchange("app: shop")
    (True, False)
    """
    return any(line.startswith(("policyd:", '"policyd":', '{"policyd"')) for line in content.splitlines()[:200]) or (
        '"policyd"' in content[:200]
    )


def _joined(parts: Sequence[ChainSources], rules: Rules, profile: Profile) -> ChainSources:
    """Several documents as one: names must not repeat."""
    found = ChainSources(Catalogue(), profile, rules)
    for part in parts:
        tools = _merge("tool", found.catalogue.tools, part.catalogue.tools)
        middleware = _merge("middleware", found.catalogue.middleware, part.catalogue.middleware)
        if found.chain is not None and part.chain is not None:
            raise InputError.of("CHAIN005", "two documents have a `chain`")
        found = ChainSources(
            Catalogue(part.catalogue.types, tools, middleware),
            part.profile if part.profile != profile else found.profile,
            rules,
            part.manifest or found.manifest,
            found.is_interchange or part.is_interchange,
            {**found.implements, **part.implements},
            part.chain or found.chain,
            (*found.callers, *part.callers),
            _merge("card", found.cards, part.cards),
            (*found.expectations, *part.expectations),
            (*found.documents, *part.documents),
        )
    return found


def _merge(what: str, first: Mapping[str, object], second: Mapping[str, object]) -> dict:  # type: ignore[type-arg]
    twice = sorted(set(first) & set(second))
    if twice:
        raise InputError.of("CHAIN005", f"{what} {shown(twice[0])} is defined in two documents")
    return {**first, **second}


def sent_sources(
    documents: Sequence[tuple[str, str]], definitions: Sequence[tuple[str, str]], rules: Rules, profile: Profile
) -> ChainSources:
    """Like `load_sources`, for documents that were sent, by name and text; no file is read.

    Raises:
        InputError: where one of them cannot be read.
    """
    parts = sent_definitions(definitions, rules, profile)
    if len(documents) == 1 and is_interchange(documents[0][1]):
        parts.insert(0, interchange_sources(document_of(*documents[0]), rules, profile, sealed))
        return _joined(parts, rules, profile)
    loaded = load_texts(documents, rules=rules)
    if all(document.root is None for document in loaded.documents):
        raise InputError(*(f for f in loaded.findings if f.severity is Severity.ERROR))
    return replace(_joined(parts, rules, profile), manifest=loaded, is_interchange=False)


def sent_definitions(documents: Sequence[tuple[str, str]], rules: Rules, profile: Profile) -> list[ChainSources]:
    """Interchange documents that were sent.

    Raises:
        InputError: where one of them cannot be read.
    """
    return [interchange_sources(document_of(*document), rules, profile, sealed) for document in documents]


def interchange_sources(
    document: PlainDocument, rules: Rules, profile: Profile, load: Load | None = None
) -> ChainSources:
    """What one interchange document stands for.

    Args:
        document: as read.
        rules: the edition.
        profile: the rules in force where the document sets no others.
        load: gives the files that it names; None for those beside it.

    Raises:
        InputError: CHAIN004 or the code of the mistake, with its place.
    """
    found = load or loader(document.folder)
    return document.surfaced("CHAIN004", lambda: _document(document, rules, profile, found))


def _document(document: PlainDocument, rules: Rules, profile: Profile, load: Load) -> ChainSources:
    found = members(document.value)
    if found.get("policyd") != VERSION:
        at("policyd", lambda: fail(f"`policyd: {VERSION}` is the version of the format that is read"))
    for key in found:
        if key not in (*OWN_KEYS, *MANIFEST_KEYS):
            at(str(key), lambda key=key: fail(f"there is no key `{str(key)[:60]}` in an interchange document"))  # type: ignore[misc]
    profile = optional(found, "profile", lambda json: _profile(json, profile)) or profile
    reader = Reader(ENGINES, load, profile.json_form)
    catalogue = optional(found, "definitions", reader.catalogue) or Catalogue()
    manifest = _manifest(document, rules) if any(key in found for key in MANIFEST_KEYS) else None
    return ChainSources(
        catalogue,
        profile,
        rules,
        manifest,
        True,
        optional(found, "agents", _implements) or {},
        optional(found, "chain", lambda json: _chain(json, document)),
        optional(found, "callers", lambda json: _callers(json, document)) or (),
        optional(found, "cards", _cards) or {},
        optional(found, "expect", lambda json: _expectations(json, document)) or (),
        (document,),
    )


def _manifest(document: PlainDocument, rules: Rules) -> LoadedManifest:
    """The manifest keys of the document; what only a whole manifest needs is not asked for."""
    loaded = load_text(document.text, document.name, rules=rules)
    kept = tuple(f for f in loaded.findings if _concerns_chains(f))
    return replace(loaded, findings=kept)


def _concerns_chains(finding: Finding) -> bool:
    """Whether a finding of the loader is about tools, middleware or their lists."""
    path = finding.span.path if finding.span is not None else ""
    return "tools" in path.replace("[", ".").split(".") or ".deployment" in path


def _profile(json: object, profile: Profile) -> Profile:
    found = profile
    for key, value in members(json).items():
        if key == "guestFeatures":
            for name, part in at(key, lambda value=value: members(value)).items():  # type: ignore[misc]
                found = at(key, lambda n=str(name), p=part, f=found: _set(f, n, p))  # type: ignore[misc]
            continue
        snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in str(key))
        found = at(str(key), lambda s=snake, v=value, f=found: _set(f, s, v))  # type: ignore[misc]
    return found


def _set(profile: Profile, key: str, value: object) -> Profile:
    word = str(value).lower() if isinstance(value, bool) else value
    if key not in KEYS:
        fail(f"there is no key `{key[:60]}` in a profile")
    try:
        return profile.set(key, word if isinstance(word, str) else "")
    except ValueError as words:
        return fail(f"one of {words} is wanted")


def _implements(json: object) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, part in members(json).items():
        component = part.get("component") if isinstance(part, Mapping) else None
        if isinstance(component, str):
            found[str(name)] = component
    return found


def _span(document: PlainDocument, *steps: str | int) -> Span:
    return document.span(steps)


def _chain(json: object, document: PlainDocument) -> WrittenChain:
    found = members(json)
    only(found, "tool", "layers", "leaf", "mode")
    leaf = member(found, "leaf", text)
    layers: list[WrittenLayer] = []
    for index, part in enumerate(member(found, "layers", lambda found: elements(found, lambda item: item))):
        span = _span(document, "chain", "layers", index)
        layers.append(at("layers", lambda i=index, p=part, s=span: at(i, lambda: _layer(p, s))))  # type: ignore[misc]
    return WrittenChain(optional(found, "tool", text) or leaf, leaf, tuple(layers), optional(found, "mode", mode_of))


def _layer(json: object, span: Span) -> WrittenLayer:
    if isinstance(json, str):
        name, _, version = json.partition("@")
        return WrittenLayer(name, {}, version or None, span)
    found = members(json)
    only(found, *LAYER_KEYS)
    parameters = found.get("parameters")
    access = optional(found, "filesystemAccess", text)
    if access not in (None, "unset", "allowed", "denied"):
        at("filesystemAccess", lambda: fail("one of `unset`, `allowed`, `denied` is wanted"))
    return WrittenLayer(
        member(found, "name", text),
        {} if parameters is None else parameters,  # type: ignore[arg-type]
        optional(found, "version", text),
        span,
        optional(found, "account", text),
    )


def mode_of(json: object) -> Mode:
    """A compatibility mode by its word."""
    for mode in Mode:
        if mode.value == json:
            return mode
    return fail("one of " + ", ".join(f"`{mode.value}`" for mode in Mode) + " is wanted")


def _callers(json: object, document: PlainDocument) -> tuple[WrittenCaller, ...]:
    return tuple(
        at(index, lambda i=index, p=part: _caller(p, _span(document, "callers", i)))  # type: ignore[misc]
        for index, part in enumerate(elements(json, lambda item: item))
    )


def _caller(json: object, span: Span) -> WrittenCaller:
    found = members(json)
    only(found, "name", "agent", "tool", "approach", "definition", "commands", "reliesOn")
    approach = optional(found, "approach", text) or "full-static"
    if approach not in APPROACHES:
        at("approach", lambda: fail("one of " + ", ".join(f"`{name}`" for name in APPROACHES) + " is wanted"))
    commands = optional(found, "commands", list_of(text))
    relies_on = optional(found, "reliesOn", list_of(text)) or ()
    known = [item.value for item in Underlying]
    if any(word not in known for word in relies_on):
        at("reliesOn", lambda: fail("known are " + ", ".join(known)))
    return WrittenCaller(
        optional(found, "name", text) or "caller",
        optional(found, "agent", text) or "",
        member(found, "tool", text),
        approach,
        optional(found, "definition", text) or "",
        None if commands is None else tuple(command_path(c) for c in commands),
        span,
        relies_on,
    )


def command_path(written: str) -> tuple[str, ...]:
    """A command as it is written, its names separated by dots or spaces.

    >>> command_path("stock.adjust"), command_path("")
    (('stock', 'adjust'), ())
    """
    return tuple(written.replace(".", " ").split())


def _cards(json: object) -> dict[str, tuple[str, ...]]:
    return {str(name): at(str(name), lambda part=part: elements(part, text)) for name, part in members(json).items()}  # type: ignore[misc]


def _expectations(json: object, document: PlainDocument) -> tuple[Expectation, ...]:
    return tuple(
        at(index, lambda i=index, p=part: _expectation(p, _span(document, "expect", i)))  # type: ignore[misc]
        for index, part in enumerate(elements(json, lambda item: item))
    )


def _expectation(json: object, span: Span) -> Expectation:
    found = members(json)
    only(found, "environment", "agent", "tool", "verdict")
    names = (optional(found, name, text) or "" for name in ("environment", "agent", "tool"))
    verdict = member(found, "verdict", text).replace("-", " ").replace("_", " ").lower()
    known = ("accept", "accept with warnings", "reject", "undecided")
    if verdict not in known:
        at("verdict", lambda: fail("one of " + ", ".join(f"`{word}`" for word in known) + " is wanted"))
    environment, agent, tool = names
    return Expectation(environment, agent, tool, verdict, span)
