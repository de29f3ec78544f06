"""Every chain of a manifest or an interchange document, decided: deployment, callers, authority, each for itself.

Source: middleware 4; interface, Verbs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from policyd.analysis.effect import UNKNOWN_COMPONENT
from policyd.analysis.labels import label_row
from policyd.core.application import Deployment
from policyd.core.edition import Edition, Rules
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.steps import OutOfStepsError, within
from policyd.core.tools.boundaries import ERASED, Underlying
from policyd.core.tools.caller_edge import caller_remarks
from policyd.core.tools.chain import MAX_LAYERS, Chain, Layer, Verdict, compile_chain
from policyd.core.tools.installation import parameter_faults
from policyd.core.tools.middleware import Middleware, Monomorphic, Universal
from policyd.core.tools.modes import Mode
from policyd.core.tools.registry import graph_features, registry_remarks
from policyd.core.tools.remarks import Remark
from policyd.core.tools.tool import Tool
from policyd.findings import Finding, InputError, Severity, Span
from policyd.manifest import ResolvedEnvironment, describe, json_of, resolve_environment
from policyd.manifest.codes import OTHER_EDITION
from policyd.manifest.model import Environment, MiddlewareInstallation
from policyd.manifest.scalars import MisfitError
from policyd.store.facts import ChainLayer
from policyd.syntax import GrantSyntaxError
from policyd.syntax.mistakes import shown
from policyd.usecases.chain_authority import ToolGrants, manifest_grants, written_grants
from policyd.usecases.chain_permissions import PermissionRow, permission_findings, permission_rows
from policyd.usecases.chain_sources import ChainSources, Expectation, WrittenCaller
from policyd.usecases.chain_words import edge_findings, finding, remark_finding
from policyd.usecases.stored_chains import StoredChains, per_tool
from policyd.usecases.tool_documents import ENGINES, TEXTS

MAX_COMPARED = 2_000_000
"""Commands, inputs and errors of what layers expect, over all chains of one question."""
MAX_STEPS = 50_000_000
"""Steps of work on their types, over all chains of one question."""
MAX_STEPS_SERVED = 2_000_000
"""Over HTTP, where others wait meanwhile."""
TOO_MUCH = "the chains compare more than one question may"


def tool_size(tool: Tool) -> int:
    """How much there is to compare: commands, inputs and errors."""
    size = 0
    for command in tool.commands:
        size += 1 + len(command.globals.options) + len(command.globals.flags)
        body = command.body
        if body is not None:
            size += len(body.fixed) + len(body.options) + len(body.flags) + len(body.errors)
    return size


@dataclass(frozen=True, slots=True)
class Installed:
    """One entry of a middleware list.

    Attributes:
        name: as installed, name or alias.
        version, account: assertions.
        parameters: as JSON; `{}` where none are written.
        span: where it stands.
        is_readable: whether the parameters could be read as JSON.
    """

    name: str
    version: str | None
    account: str | None
    parameters: JsonValue = field(compare=False)
    span: Span | None
    is_readable: bool = True


@dataclass(frozen=True, slots=True)
class CallerAnswer:
    """What happens to one caller."""

    name: str
    verdict: Verdict
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Authority:
    """Whose cards decide the calls along a chain.

    Attributes:
        agent: the type.
        grants: those of its cards that are about tools.
        implementer: the component of the tool.
        rules: the edition.
    """

    agent: str
    grants: ToolGrants
    implementer: str
    rules: Rules


@dataclass(frozen=True, slots=True)
class ChainRow:
    """One chain with everything that is said about it.

    Attributes:
        environment: where; empty for a chain that is written out.
        agents: the agent types that share it; empty where no agent is named.
        tool: under which name it is bound.
        chain: compiled.
        verdict: of the deployment.
        findings: about this chain.
        callers: in order.
        permissions: calls along the chain, per agent type where they differ.
        not_analysed: what was not given.
        authorities: of agent types whose cards are known.
    """

    environment: str
    agents: tuple[str, ...]
    tool: str
    chain: Chain
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    callers: tuple[CallerAnswer, ...] = ()
    permissions: tuple[PermissionRow, ...] = ()
    not_analysed: tuple[str, ...] = ()
    authorities: tuple[Authority, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainReport:
    """All chains.

    Attributes:
        rows: in order of environment and tool.
        findings: about everything, rows included, sorted.
        unmet: expectations that do not hold, as findings.
        not_analysed: what was left out.
    """

    rows: tuple[ChainRow, ...]
    findings: tuple[Finding, ...]
    unmet: tuple[Finding, ...]
    not_analysed: tuple[str, ...]


@dataclass(slots=True)
class _Decision:
    """What is shared by all chains of one question."""

    sources: ChainSources
    general: list[Finding]
    is_refused: bool
    unknown: list[str]
    open_ends: list[str] = field(default_factory=list)
    budget: int = MAX_COMPARED
    met: dict[tuple[int, int, tuple[tuple[str, ...], ...] | None], tuple[Tool, Tool, tuple[Remark, ...]]] = field(
        default_factory=dict
    )

    # Definitions.

    def resolve(self, installed: Installed, declared: Iterable[str]) -> tuple[Layer, list[Finding]]:
        """The layer that an entry stands for, and what is wrong with the entry."""
        definitions = self.sources.catalogue.middleware
        found = definitions.get(installed.name)
        if found is None:
            found = next((m for m in definitions.values() if installed.name in m.aliases), None)
        names = set(declared)
        problems: list[Finding] = []
        known = found is not None and (not names or self.sources.is_interchange or _key(found, definitions) in names)
        if found is None and installed.name not in names and not _may_be_alias(names, definitions):
            near = ", ".join(sorted(names or definitions)[:10])
            words = f"no middleware is called `{shown(installed.name).strip('`')}`"
            help = f"declared: {near}" if near else "declare it under `tools.middleware`"
            problems.append(finding("UNKNOWN_MIDDLEWARE", words, installed.span, help=help))
        elif found is not None and not known:
            words = f"middleware `{installed.name}` is defined, and not declared under `tools.middleware`"
            problems.append(finding("UNKNOWN_MIDDLEWARE", words, installed.span))
        if found is not None and installed.version is not None and installed.version != found.version:
            words = f"`{installed.name}@{installed.version}` is asserted, and version {found.version} is declared"
            problems.append(finding("VERSION_MISMATCH", words, installed.span))
        if found is not None and installed.account is not None:
            asserted = installed.account.lower()
            if found.account is None:
                words = f"the account `{asserted}` asserted for `{installed.name}`: no document says who owns it"
                self.open_ends.append(words)
            elif found.account.lower() != asserted:
                words = f"account `{asserted}` is asserted for `{installed.name}`, which `{found.account}` owns"
                problems.append(finding("ACCOUNT_MISMATCH", words, installed.span))
        return Layer(installed.name, found), problems

    def parameters(self, installed: Installed, position: str) -> list[Finding]:
        """What is wrong with the parameters of an entry, whether any chain uses it or not."""
        layer, _ = self.resolve(installed, ())
        if layer.middleware is None:
            return []
        if not installed.is_readable:
            words = f"the parameters of `{installed.name}` ({position}) cannot be read as JSON"
            return [finding("INVALID_PARAMETERS", words, installed.span)]
        schema = layer.middleware.parameter_schema
        form = self.sources.profile.json_form
        out: list[Finding] = []
        for bad in parameter_faults(schema, installed.parameters, form, ENGINES):
            label = "ENGINE_MISSING" if bad.is_open else "INVALID_PARAMETERS"
            words = f"the parameters of `{installed.name}` ({position}) do not fit at `{bad.path}`: {bad.words}"
            out.append(finding(label, words, installed.span))
        profile = self.sources.profile
        needs = graph_features(schema)
        for feature, is_there in (("regex", profile.regex), ("url", profile.url)):
            if feature in needs and not is_there:
                words = (
                    f"the parameters of `{installed.name}` need the feature `{feature}`: they are accepted at "
                    "deployment, and the guest fails to decode them"
                )
                out.append(finding("FEATURE_REQUIRED", words, installed.span))
        return out

    def registry(self) -> None:
        """Everything that is defined must be valid, used or not."""
        catalogue = self.sources.catalogue
        for told in registry_remarks(catalogue.tools, catalogue.middleware, self.sources.profile, ENGINES):
            row = finding(told.label, f"{told.what} `{told.name}`: {told.words}", None)
            if told.is_open:
                self.unknown.append(f"{told.what} `{told.name}`: a pattern or URL could not be judged")
            if told.label == "NO_CANONICAL_INPUT":
                # an error of every comparison, but no reason to refuse what is registered
                row = replace(row, severity=Severity.WARNING)
            self.general.append(row)
        errors = (f for f in self.general if f.severity is Severity.ERROR)
        self.is_refused = self.is_refused or any(True for _ in errors)

    # Chains.

    def row(
        self,
        environment: str,
        agents: tuple[str, ...],
        tool: str,
        entries: Sequence[Installed],
        declared: Iterable[str],
        mode: Mode,
        leaf: Tool | None,
        scoped: list[Finding],
    ) -> ChainRow:
        """One chain, compiled, with its findings."""
        if len(entries) > MAX_LAYERS:
            raise InputError.of("CHAIN006", f"a chain of more than {MAX_LAYERS} layers is not compiled")
        names = tuple(declared)
        layers: list[Layer] = []
        found: list[Finding] = list(scoped)
        for entry in entries:
            layer, problems = self.resolve(entry, names)
            layers.append(layer)
            found.extend(problems)
        self.spend(layers)
        chain = compile_chain(tuple(layers), leaf, mode, TEXTS, self.sources.profile, tool)
        for edge in chain.edges:
            found.extend(edge_findings(chain, edge, entries[edge.layer - 1].span, self.sources.profile))
        if chain.effective is not None and chain.effective.name != tool:
            words = f"`{tool}` is bound, and callers see a tool called `{chain.effective.name}`"
            found.append(finding("NAME_DRIFT", words, entries[0].span if entries else None))
        unknown = chain.unknown
        misplaced = any(f.code in _REJECTING for f in found)
        verdict = chain.verdict
        if self.is_refused or misplaced:
            verdict = Verdict.REJECT
        elif verdict is not Verdict.REJECT and self.unknown:
            verdict = Verdict.UNDECIDED
        return ChainRow(environment, agents, tool, chain, verdict, tuple(found), not_analysed=unknown)

    def spend(self, layers: Sequence[Layer]) -> None:
        """Count what a chain compares.

        Raises:
            InputError: CHAIN006, if it is more than this question may.
        """
        scopes = [layer.middleware.scope for layer in layers if layer.middleware is not None]
        parts = [scope for scope in scopes if isinstance(scope, Monomorphic)]
        pairs = {(id(above), id(below)): above for above, below in zip_longest(parts, parts[1:])}
        for scope in pairs.values():
            self.take(tool_size(scope.expected or scope.presented))

    def take(self, compared: int) -> None:
        """Count what is compared.

        Raises:
            InputError: CHAIN006, if it is more than this question may.
        """
        self.budget -= compared
        if self.budget < 0:
            words = "the chains compare more commands, inputs and errors than one question may"
            raise InputError.of("CHAIN006", words, None, "ask about one tool at a time")

    def callers(self, row: ChainRow) -> tuple[CallerAnswer, ...]:
        """What happens to the callers of a chain."""
        return tuple(
            self.caller(caller, row.chain)
            for caller in self.sources.callers
            if caller.tool == row.tool and (not caller.agent or not row.agents or caller.agent in row.agents)
        )

    def caller(self, caller: WrittenCaller, chain: Chain) -> CallerAnswer:
        """What happens to one caller at the outermost layer."""
        erased = tuple(
            finding("ERROR_ERASED", f"caller `{caller.name}`: {ERASED_WORDS.format(word)}", caller.span)
            for word in caller.relies_on
            if chain.layers and Underlying(word) in ERASED
        )
        if caller.approach in ("none", "discovered"):
            return CallerAnswer(caller.name, Verdict.ACCEPT, erased)
        if not caller.definition:
            self.open_ends.append(f"caller `{caller.name}`: no document says which definition it was built from")
            return CallerAnswer(caller.name, Verdict.UNDECIDED, erased)
        definition = self.sources.catalogue.tools.get(caller.definition)
        if definition is None:
            words = f"caller `{caller.name}`: no tool `{caller.definition}` is defined"
            raise InputError.of("CHAIN004", words, caller.span)
        if chain.effective is None:
            return CallerAnswer(caller.name, Verdict.UNDECIDED, ())
        told = self.remarks_of(definition, chain.effective, caller.commands)
        found = tuple(remark_finding(remark, f"caller `{caller.name}`", caller.span) for remark in told)
        refused = any(f.severity is Severity.ERROR for f in found)
        return CallerAnswer(caller.name, Verdict.REJECT if refused else Verdict.ACCEPT, (*erased, *found))

    def remarks_of(
        self, definition: Tool, effective: Tool, commands: tuple[tuple[str, ...], ...] | None
    ) -> tuple[Remark, ...]:
        """What a caller of a definition meets; many callers of one are compared once."""
        asked = (id(definition), id(effective), commands)
        if asked not in self.met:
            self.take(tool_size(definition) if commands is None else len(commands))
            wraps = self.sources.profile.optional_wrapping
            told = caller_remarks(definition, effective, ENGINES, commands, wraps_optional=wraps)
            # the definitions are kept, so that no id is used again
            self.met[asked] = (definition, effective, told)
        return self.met[asked][2]


ERASED_WORDS = "relies on seeing `{}`, which a layer that forwards turns into a constraint violation"
_REJECTING = frozenset(
    label_row(label).code
    for label in (
        "UNKNOWN_MIDDLEWARE",
        "VERSION_MISMATCH",
        "ACCOUNT_MISMATCH",
        "MERGE_MODE_NOT_ALLOWED",
        "WRONG_SCOPE",
        "INVALID_PARAMETERS",
    )
)
_BAD_PARAMETERS = label_row("INVALID_PARAMETERS").code


def _key(middleware: Middleware, definitions: Mapping[str, Middleware]) -> str:
    return next((name for name, item in definitions.items() if item is middleware), middleware.name)


def _may_be_alias(names: set[str], definitions: Mapping[str, Middleware]) -> bool:
    """Whether a name can be the alias of a middleware that is declared and of which no definition was given."""
    return bool(names - set(definitions))


def check_chains(
    sources: ChainSources,
    environments: Sequence[str] | None = None,
    tool: str = "",
    account: str = "",
    budget: int = MAX_COMPARED,
    steps: int = MAX_STEPS,
) -> ChainReport:
    """Decide every chain.

    Args:
        sources: definitions, lists, callers and cards.
        environments: names; None for all of them.
        tool: only chains of this one; empty for all.
        account: the owner's e-mail where an environment names none.
        budget: how much may be compared.
        steps: how much work their types may take.

    Raises:
        InputError: for a name that is not defined, or if there is too much to compare.
    """
    try:
        with within(steps):
            return _checked(sources, environments, tool, account, budget)
    except OutOfStepsError:
        raise InputError.of("CHAIN006", TOO_MUCH, None, "ask about one tool at a time") from None


def _checked(
    sources: ChainSources, environments: Sequence[str] | None, tool: str, account: str, budget: int
) -> ChainReport:
    decision = _Decision(sources, [], False, [], budget=budget)
    decision.registry()
    rows: list[ChainRow] = []
    left_out: list[str] = []
    if sources.chain is not None:
        rows.append(_written(decision))
    if sources.manifest is not None:
        rows.extend(_of_manifest(decision, environments, account, left_out))
    if sources.stored is not None:
        rows.extend(_of_store(decision, sources.stored, environments, left_out))
    rows = [row for row in rows if not tool or row.tool == tool]
    if tool and not rows:
        known = ", ".join(sorted({*sources.catalogue.tools})) or "none"
        raise InputError.of("CHAIN004", f"no chain of a tool {shown(tool)} was found", None, f"defined tools: {known}")
    final = [replace(row, callers=decision.callers(row)) for row in rows]
    told = [*decision.general, *(f for row in final for f in row.findings)]
    told += [f for row in final for caller in row.callers for f in caller.findings]
    told += _unbound(sources.callers, rows) if not tool else []
    unmet = tuple(_unmet(sources.expectations, final))
    ordered = tuple(sorted(dict.fromkeys(told), key=lambda f: (f.severity.rank, *f.order)))
    return ChainReport(
        tuple(final), ordered, unmet, tuple(dict.fromkeys((*left_out, *decision.unknown, *decision.open_ends)))
    )


def _unbound(callers: Sequence[WrittenCaller], rows: Sequence[ChainRow]) -> list[Finding]:
    """Callers of tools that are bound to no agent, or not to theirs."""
    found: list[Finding] = []
    for caller in callers:
        bound = [row for row in rows if row.tool == caller.tool]
        if not any(not caller.agent or not row.agents or caller.agent in row.agents for row in bound):
            who = f" to `{caller.agent}`" if caller.agent else ""
            words = f"caller `{caller.name}`: tool `{caller.tool}` is not bound{who}, so that the call is `Denied`"
            found.append(finding("BINDING_MISSING", words, caller.span))
    return found


def _written(decision: _Decision) -> ChainRow:
    """A chain that is written out."""
    sources = decision.sources
    chain = sources.chain
    assert chain is not None  # asked for only then
    entries = [Installed(item.name, item.version, item.account, item.parameters, item.span) for item in chain.layers]
    for index, entry in enumerate(entries):
        found = decision.parameters(entry, f"entry {index + 1}")
        decision.general.extend(found)
    decision.is_refused = decision.is_refused or any(f.code == _BAD_PARAMETERS for f in decision.general)
    if entries and not sources.rules.is_next("tool_middleware"):
        words = f"`middleware` does not exist in edition `{sources.rules.edition.value}`"
        decision.general.append(Finding(OTHER_EDITION, Severity.ERROR, words, entries[0].span))
        decision.is_refused = True
    leaf = sources.catalogue.tools.get(chain.leaf)
    mode = chain.mode or sources.profile.compatibility_mode
    row = decision.row("", (), chain.tool, entries, (), mode, leaf, [])
    declared = sources.manifest.application.tools if sources.manifest is not None else ()
    implementer = next((item.component or "" for item in declared if item.name == chain.tool), "")
    return _with_permissions(decision, row, None, dict.fromkeys(sources.cards, implementer))


def _of_manifest(
    decision: _Decision, environments: Sequence[str] | None, account: str, left_out: list[str]
) -> Iterator[ChainRow]:
    """The chains of a manifest, environment by environment."""
    sources = decision.sources
    manifest = sources.manifest
    assert manifest is not None  # asked for only then
    if not sources.rules.is_next("tool_middleware"):
        left_out.append("middleware: in this edition there is none, and a manifest that lists any is refused")
    for told in manifest.findings:
        if told.severity is Severity.ERROR:
            decision.general.append(_relabelled(told))
            decision.is_refused = True
    names: list[str | None] = (
        list(environments) if environments else [e.name for e in manifest.application.environments]
    )
    for name in names:
        resolved = resolve_environment(manifest.application, name, rules=sources.rules, implements=sources.implements)
        errors = [f for f in resolved.findings if f.severity is Severity.ERROR]
        if resolved.environment is None:
            raise InputError(*errors)
        deployment = describe(manifest.application, resolved, sources.rules)
        yield from _of_environment(decision, resolved, resolved.environment, deployment, account)
    left_out.extend(manifest.not_analysed)


def _relabelled(told: Finding) -> Finding:
    """A finding of the loader under the label that the specification has for it."""
    path = told.span.path if told.span is not None else ""
    if path.endswith(".middlewareMergeMode"):
        words = "`middlewareMergeMode` stands in bindings of components and agents only"
        return finding("MERGE_MODE_NOT_ALLOWED", words, told.span)
    if path.startswith("$.tools") and "release" in told.message and "component" in told.message:
        return finding("DECLARATION_MISMATCH", "a declaration names a component or a release, not both", told.span)
    return told


def _of_environment(
    decision: _Decision, resolved: ResolvedEnvironment, environment: Environment, deployment: Deployment, account: str
) -> Iterator[ChainRow]:
    sources = decision.sources
    application = sources.manifest.application if sources.manifest is not None else None
    assert application is not None
    declared = [item.name for item in application.middleware]
    wide = [_entry(item) for item in environment.tool_middleware or ()]
    scoped = _scoped(decision, wide, declared, is_wide=True)
    mode = sources.profile.compatibility_mode
    if environment.tool_compatibility_mode is not None:
        mode = next((m for m in Mode if m.value == environment.tool_compatibility_mode), mode)
    chains: dict[tuple[str, tuple[Installed, ...]], list[str]] = {}
    bound: set[str] = set()
    for agent in resolved.agents:
        for binding in agent.tools:
            own = per_tool(binding.environment, binding.owners)
            chains.setdefault((binding.name, tuple(_entry(item) for item in own)), []).append(agent.name)
            bound.add(binding.name)
    for one in environment.tools:
        if one.name not in bound:
            own = per_tool(one, ())
            chains.setdefault((one.name, tuple(_entry(item) for item in own)), [])
    written = {item.name for item in application.tools} | {item.name for item in environment.tools}
    written |= {b.name for agent in resolved.agents for b in agent.tools if b.owners}
    selected = {entry.span for _, listed in chains for entry in (*wide, *listed)}
    _all_entries(decision, environment, wide, declared, selected)
    for (tool, listed), agents in sorted(chains.items(), key=lambda item: (item[0][0], item[1])):
        problems = [*scoped, *_scoped(decision, listed, declared, is_wide=False)]
        leaf = sources.catalogue.tools.get(tool)
        entries = [*wide, *listed]
        row = decision.row(environment.name, tuple(agents), tool, entries, declared, mode, leaf, problems)
        implementer = next((item.component or "" for item in application.tools if item.name == tool), "")
        if not implementer and len(application.components) == 1:
            implementer = application.components[0].name
        home = (deployment, account, implementer)
        is_unasked = tool not in written
        yield _with_permissions(decision, row, home, dict.fromkeys(agents, implementer), is_unasked=is_unasked)


def _of_store(
    decision: _Decision, stored: StoredChains, environments: Sequence[str] | None, left_out: list[str]
) -> Iterator[ChainRow]:
    """The chains of a snapshot; of parameters it knows only whether there are any."""
    if environments and stored.environment not in environments:
        words = f"the snapshot is of environment {shown(stored.environment)}, not of {shown(environments[0])}"
        raise InputError.of("CHAIN004", words)
    lists = [stored.wide, *(binding.layers for binding in stored.bindings)]
    with_parameters = sorted({layer.middleware for listed in lists for layer in listed if layer.has_parameters})
    left_out += [f"the parameters of `{name}`: a snapshot does not keep them" for name in with_parameters]
    left_out += stored.unread
    for listed in lists:
        for index, layer in enumerate(listed):
            if not layer.has_parameters:
                decision.general.extend(decision.parameters(_stored_entry(layer), f"entry {index + 1} of its list"))
    decision.is_refused = decision.is_refused or any(f.code == _BAD_PARAMETERS for f in decision.general)
    wide = [_stored_entry(layer) for layer in stored.wide]
    scoped = _scoped(decision, wide, stored.declared, is_wide=True)
    mode = stored.mode or decision.sources.profile.compatibility_mode
    for binding in stored.bindings:
        own = [_stored_entry(layer) for layer in binding.layers]
        problems = [*scoped, *_scoped(decision, own, stored.declared, is_wide=False)]
        leaf = decision.sources.catalogue.tools.get(binding.tool)
        row = decision.row(
            stored.environment, binding.agents, binding.tool, [*wide, *own], stored.declared, mode, leaf, problems
        )
        implementer = stored.components.get(binding.tool, "")
        if not implementer and len(stored.deployment.components) == 1:
            implementer = stored.deployment.components[0].name
        home = (stored.deployment, stored.account, implementer)
        yield _with_permissions(decision, row, home, dict.fromkeys(binding.agents, implementer))


def _stored_entry(layer: ChainLayer) -> Installed:
    return Installed(layer.middleware, layer.version or None, layer.account or None, {}, layer.place)


def _entry(item: MiddlewareInstallation) -> Installed:
    parameters: JsonValue = {}
    is_readable = True
    if item.parameters is not None:
        try:
            parameters = json_of(item.parameters)
        except MisfitError:
            is_readable = False
    return Installed(item.name, item.version, item.account, parameters, item.span, is_readable)


def _scoped(
    decision: _Decision, entries: Sequence[Installed], declared: Sequence[str], *, is_wide: bool
) -> list[Finding]:
    """Entries of a kind that may not stand in their list."""
    found: list[Finding] = []
    for entry in entries:
        layer, _ = decision.resolve(entry, declared)
        if layer.middleware is None:
            continue
        is_universal = isinstance(layer.middleware.scope, Universal)
        if is_wide and not is_universal:
            words = f"`{entry.name}` is for one tool, and the environment-wide list takes universal middleware only"
            found.append(finding("WRONG_SCOPE", words, entry.span, help="install it in the binding of its tool"))
        elif not is_wide and is_universal and not decision.sources.profile.universal_on_bindings:
            words = f"`{entry.name}` is universal, and older registries refuse that in the list of one tool"
            found.append(finding("WRONG_SCOPE", words, entry.span))
    return found


def _all_entries(
    decision: _Decision,
    environment: Environment,
    wide: Sequence[Installed],
    declared: Sequence[str],
    selected: Set[Span | None],
) -> None:
    """Check every entry of the environment: its parameters, and where no chain selects it, what it names as well."""
    lists: list[Sequence[MiddlewareInstallation]] = [b.middleware or () for b in environment.tools]
    manifest = decision.sources.manifest
    for element in (*manifest.application.components, *manifest.application.agents) if manifest is not None else ():
        for layer in element.layers:
            lists.extend(binding.middleware or () for binding in layer.tools or ())
    seen: set[Span] = set()
    for entries in (wide, *([_entry(item) for item in listed] for listed in lists)):
        for index, entry in enumerate(entries):
            if entry.span is not None and entry.span in seen:
                continue
            if entry.span is not None:
                seen.add(entry.span)
            decision.general.extend(decision.parameters(entry, f"entry {index + 1} of its list"))
            if entry.span not in selected:
                decision.general.extend(decision.resolve(entry, declared)[1])
    if any(f.code in _REJECTING for f in decision.general):
        decision.is_refused = True


def _with_permissions(
    decision: _Decision,
    row: ChainRow,
    manifest: tuple[Deployment, str, str] | None,
    implementers: Mapping[str, str],
    *,
    is_unasked: bool = False,
) -> ChainRow:
    """The row with the calls along the chain, agent by agent."""
    sources = decision.sources
    rows: list[PermissionRow] = []
    found: list[Finding] = []
    authorities: list[Authority] = []
    for agent, implementer in implementers.items():
        grants = _grants_of(decision, agent, manifest, row.environment)
        if grants is None:
            continue
        component = implementer or UNKNOWN_COMPONENT
        authorities.append(Authority(agent, grants, component, sources.rules))
        by_definition = sources.rules.is_next("tool_argument_kinds")
        own = permission_rows(
            row.chain, row.tool, agent, grants, component, sources.profile, by_definition=by_definition
        )
        rows.extend(own)
        is_snapshot = sources.rules.edition is Edition.SNAPSHOT
        found.extend(
            permission_findings(row.chain, row.tool, agent, grants, own, is_snapshot=is_snapshot, is_unasked=is_unasked)
        )
    return replace(
        row,
        permissions=tuple(rows),
        findings=(*row.findings, *dict.fromkeys(found)),
        authorities=tuple(authorities),
    )


def _grants_of(
    decision: _Decision, agent: str, manifest: tuple[Deployment, str, str] | None, environment: str
) -> ToolGrants | None:
    """The cards of an agent type: those written beside the chain, else its initial card; None where not known."""
    sources = decision.sources
    if agent in sources.cards:
        unread = list(_unread_grants(sources, agent))
        if unread:
            decision.general.extend(unread)
            decision.open_ends.append(f"the cards of `{agent}`: not all of their grants can be read")
            return None
        component = sources.implements.get(agent, "")
        application = manifest[0].application if manifest is not None else ""
        return written_grants(sources.cards[agent], agent, component, application, environment, sources.rules)
    if manifest is None or sources.is_interchange:
        return None
    deployment, account, _ = manifest
    found = deployment.agent(agent)
    return None if found is None else manifest_grants(deployment, found, account)


def _unread_grants(sources: ChainSources, agent: str) -> Iterator[Finding]:
    """Grants of the cards beside a chain that cannot be read, each at its place."""
    for index, written in enumerate(sources.cards[agent]):
        try:
            written_grants((written,), agent, "", "", "", sources.rules)
        except GrantSyntaxError as refusal:
            yield from (replace(f, span=sources.card_span(agent, index)) for f in refusal.findings)


def _unmet(expectations: Sequence[Expectation], rows: Sequence[ChainRow]) -> Iterator[Finding]:
    for wanted in expectations:
        met = [
            row
            for row in rows
            if wanted.environment in ("", row.environment)
            and wanted.tool in ("", row.tool)
            and (not wanted.agent or wanted.agent in row.agents)
        ]
        about = " ".join(part for part in (wanted.environment, wanted.agent, wanted.tool) if part) or "any chain"
        if not met:
            yield Finding("CHAIN040", Severity.ERROR, f"no chain was found for {about}", wanted.span)
        for row in met:
            if row.verdict.value != wanted.verdict:
                words = f"{about}: {wanted.verdict} was expected, and the answer is {row.verdict.value}"
                yield Finding("CHAIN040", Severity.ERROR, words, wanted.span)
