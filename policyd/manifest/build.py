"""A tree to the values of the model. Tolerant: what has the wrong shape is left out, `check` has told it.

Source: manifest-format 2 to 10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from policyd.findings import Finding, Severity, Span
from policyd.manifest import codes
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar, shown
from policyd.manifest.model import (
    Card,
    Deployment,
    Environment,
    EnvVariable,
    InitialFile,
    KeyScope,
    Layer,
    Layered,
    LayerKind,
    McpImport,
    MergeMode,
    MiddlewareInstallation,
    Plugin,
    ResourceDefault,
    RetryDefault,
    SecretDefault,
    Server,
    ToolBinding,
    ValueKey,
)
from policyd.manifest.scalars import boolean_of, integer_of
from policyd.manifest.shape import U32
from policyd.manifest.templates import LITERAL, TemplateText, template_of

_NAME = re.compile(r"[^,\s]+")
_PRESET_KIND = {
    LayerKind.TEMPLATE: LayerKind.TEMPLATE_PRESET,
    LayerKind.COMPONENT: LayerKind.COMPONENT_PRESET,
    LayerKind.AGENT: LayerKind.AGENT_PRESET,
    LayerKind.TOOL: LayerKind.TOOL_PRESET,
}


@dataclass(slots=True)
class Parts:
    """What one document contributes.

    Attributes:
        findings: about values that the shape alone does not show.
        the lists: as in `Application`.
    """

    app: LocatedScalar | None = None
    environments: list[Environment] = field(default_factory=list)
    templates: list[Layered] = field(default_factory=list)
    components: list[Layered] = field(default_factory=list)
    agents: list[Layered] = field(default_factory=list)
    tools: list[Layered] = field(default_factory=list)
    middleware: list[Layered] = field(default_factory=list)
    retry_defaults: list[RetryDefault] = field(default_factory=list)
    secret_defaults: list[SecretDefault] = field(default_factory=list)
    resource_defaults: list[ResourceDefault] = field(default_factory=list)
    deployments: list[Deployment] = field(default_factory=list)
    mcp_imports: list[McpImport] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def build(root: LocatedMap) -> Parts:
    """The values that `root` describes."""
    parts = Parts()
    parts.app = text_of(root, "app")
    for key, value in names_of(root, "environments"):
        parts.environments.append(_environment(key, value, parts.findings))
    for key, value in names_of(root, "componentTemplates"):
        parts.templates.append(_layered(LayerKind.TEMPLATE, key, value, parts.findings))
    for key, value in names_of(root, "components"):
        parts.components.append(_layered(LayerKind.COMPONENT, key, value, parts.findings))
    for key, value in names_of(root, "agents"):
        parts.agents.append(_layered(LayerKind.AGENT, key, value, parts.findings))
    for key, value in names_of(root, "tools"):
        if key.text != "middleware":
            parts.tools.append(_layered(LayerKind.TOOL, key, value, parts.findings))
        elif isinstance(value, LocatedMap):
            for name, declared in value.last_of_each():
                parts.middleware.append(_layered(LayerKind.TOOL, name, declared, parts.findings))
    _defaults(root, parts)
    _deployments(root, parts)
    return parts


# Readers of single values.


def names_of(node: Located | None, key: str) -> Iterator[tuple[LocatedScalar, Located]]:
    """The entries of the map by name under `key`; nothing where there is none."""
    value = node.get(key) if isinstance(node, LocatedMap) else None
    return value.last_of_each() if isinstance(value, LocatedMap) else iter(())


def text_of(node: Located | None, key: str) -> LocatedScalar | None:
    """The text under `key`, None where it is absent or no scalar."""
    value = node.get(key) if isinstance(node, LocatedMap) else None
    return value if isinstance(value, LocatedScalar) and not value.is_absent else None


def _plain_text(node: Located | None, key: str) -> str | None:
    found = text_of(node, key)
    return found.text if found is not None else None


def _truth(node: Located | None, key: str) -> bool | None:
    found = text_of(node, key)
    return boolean_of(found.text) if found is not None and found.is_plain else None


def texts_of(node: Located | None) -> tuple[LocatedScalar, ...]:
    """The scalars of a list, in order."""
    if not isinstance(node, LocatedList):
        return ()
    return tuple(item for item in node.items if isinstance(item, LocatedScalar))


def name_list(node: Located | None) -> tuple[LocatedScalar, ...]:
    """A list of names, or one text split at commas and white space; each name with its place.

    Source: manifest-format 0.
    """
    if isinstance(node, LocatedList):
        return texts_of(node)
    if not isinstance(node, LocatedScalar) or node.is_absent:
        return ()
    names = []
    first = node.text_start
    for part in _NAME.finditer(node.text):
        start, end = (node.start, node.end) if first is None else (first + part.start(), first + part.end())
        names.append(LocatedScalar(part.group(), node.style, None, node.source, start, end, node.steps))
    return tuple(names)


def _mode(node: Located | None, key: str, default: MergeMode) -> MergeMode:
    text = _plain_text(node, key)
    try:
        return MergeMode(text) if text is not None else default
    except ValueError:
        return default


def _child(node: Located | None, key: str) -> Located | None:
    """The value under `key`; None where it is absent."""
    value = node.get(key) if isinstance(node, LocatedMap) else None
    return None if isinstance(value, LocatedScalar) and value.is_absent else value


def _template(scalar: LocatedScalar, findings: list[Finding]) -> TemplateText:
    found = template_of(scalar.text) if "{" in scalar.text else LITERAL
    if found.problem:
        findings.append(
            Finding(
                codes.BROKEN_TEMPLATE,
                Severity.WARNING,
                f"the value is unknown: {found.problem}",
                scalar.span,
            )
        )
    return found


# Layers.


def _layered(kind: LayerKind, key: LocatedScalar, node: Located, findings: list[Finding]) -> Layered:
    presets = tuple(
        _layer(_PRESET_KIND[kind], key.text, name, value, findings) for name, value in names_of(node, "presets")
    )
    return Layered(
        key.text,
        key.span,
        _layer(kind, key.text, None, node, findings, key),
        presets,
        name_list(_child(node, "templates")),
        _plain_text(node, "guestLanguage") if kind is LayerKind.TEMPLATE else None,
        _plain_text(node, "component") if kind is LayerKind.TOOL else None,
        kind is LayerKind.TOOL and _child(node, "release") is not None,
    )


def _layer(
    kind: LayerKind,
    owner: str,
    preset: LocatedScalar | None,
    node: Located,
    findings: list[Finding],
    owner_key: LocatedScalar | None = None,
) -> Layer:
    key = preset if preset is not None else owner_key
    span = key.span if key is not None else node.span
    env = _child(node, "env")
    config = _child(node, "config")
    files = _child(node, "files")
    plugins = _child(node, "plugins")
    tools = _child(node, "tools")
    return Layer(
        kind,
        owner,
        preset.text if preset is not None else "",
        _truth(node, "default") is True,
        span,
        _card(node) if kind not in (LayerKind.TOOL, LayerKind.TOOL_PRESET) else None,
        _env(env, kind, findings) if isinstance(env, LocatedMap) else None,
        _mode(node, "envMergeMode", MergeMode.UPSERT),
        _value_key("config", config, config.span, findings) if config is not None else None,
        tuple(_files(files)) if isinstance(files, LocatedList) else None,
        _mode(node, "filesMergeMode", MergeMode.APPEND),
        tuple(_plugins(plugins, findings)) if isinstance(plugins, LocatedList) else None,
        _mode(node, "pluginsMergeMode", MergeMode.APPEND),
        _bindings(tools, findings) if isinstance(tools, LocatedMap) else None,
        _mode(node, "toolsMergeMode", MergeMode.UPSERT),
    )


def _card(node: Located) -> Card | None:
    if not isinstance(node, LocatedMap):
        return None
    card, key = node.get("initialCard"), node.key("initialCard")
    if key is None or not isinstance(card, LocatedMap):
        return None
    lower, upper = _child(card, "lowerBound"), _child(card, "upperBound")
    return Card(
        card.span,
        key.span,
        texts_of(_child(lower, "positive")),
        texts_of(_child(lower, "negative")),
        texts_of(_child(upper, "positive")),
        texts_of(_child(upper, "negative")),
        lower is not None,
        upper is not None,
    )


def _env(node: LocatedMap, kind: LayerKind, findings: list[Finding]) -> tuple[EnvVariable, ...]:
    variables = []
    for key, value in node.last_of_each():
        template = _template(value, findings) if isinstance(value, LocatedScalar) else LITERAL
        variables.append(EnvVariable(key.text, not template.is_template, template.variables, key.span))
        if kind in (LayerKind.COMPONENT, LayerKind.COMPONENT_PRESET) and key.text != key.text.upper():
            findings.append(
                Finding(
                    codes.UPPER_CASE_NAME,
                    Severity.ERROR,
                    f"the variable `{shown(key.text)}` of a component must be upper case",
                    key.span,
                    f"write `{shown(key.text.upper())}`",
                )
            )
        if key.text.startswith("GOLEM_"):
            findings.append(
                Finding(
                    codes.RESERVED_PREFIX,
                    Severity.WARNING,
                    f"the variable `{shown(key.text)}` begins with `GOLEM_`, which the platform uses itself",
                    key.span,
                )
            )
    return tuple(variables)


def _value_key(name: str, node: Located, span: Span, findings: list[Finding]) -> ValueKey:
    if isinstance(node, LocatedMap):
        children = tuple(_value_key(key.text, value, key.span, findings) for key, value in node.last_of_each())
        return ValueKey(name, children, True, True, (), span)
    names: dict[str, None] = {}
    known = not _unknown_in(node, names, findings)
    return ValueKey(name, (), False, known, tuple(names), span)


def _unknown_in(node: Located, names: dict[str, None], findings: list[Finding]) -> bool:
    """Whether a template stands anywhere in `node`; the names it needs are added to `names`."""
    if isinstance(node, LocatedScalar):
        template = _template(node, findings)
        names.update(dict.fromkeys(template.variables))
        return template.is_template
    children = node.items if isinstance(node, LocatedList) else tuple(value for _, value in node.entries)
    found = [_unknown_in(child, names, findings) for child in children]
    return any(found)


def _files(node: LocatedList) -> Iterator[InitialFile]:
    for item in node.items:
        target = item.get("targetPath") if isinstance(item, LocatedMap) else None
        if isinstance(target, LocatedScalar):
            permissions = _plain_text(item, "permissions") or "read-only"
            source = _plain_text(item, "sourcePath") or ""
            yield InitialFile(source, target, permissions, permissions == "read-write", item.span)


def _plugins(node: LocatedList, findings: list[Finding]) -> Iterator[Plugin]:
    for item in node.items:
        if isinstance(item, LocatedMap):
            parameters = []
            for key, value in names_of(item, "parameters"):
                template = _template(value, findings) if isinstance(value, LocatedScalar) else LITERAL
                parameters.append(EnvVariable(key.text, not template.is_template, template.variables, key.span))
            yield Plugin(
                _plain_text(item, "name") or "",
                _plain_text(item, "version") or "",
                _plain_text(item, "account"),
                tuple(parameters),
                item.span,
            )


# Tools.


def _scope(node: Located | None, key: str) -> KeyScope | None:
    value = _child(node, key)
    if isinstance(value, LocatedScalar) and value.text == "*":
        return KeyScope(True, (), value.span)
    return KeyScope(False, texts_of(value), value.span) if isinstance(value, LocatedList) else None


def _revealable(node: Located | None, findings: list[Finding]) -> KeyScope | None:
    """The revealable keys; those that the same place does not make readable are dropped, which is told."""
    readable, revealable = _scope(node, "secretKeysReadable"), _scope(node, "secretKeysRevealable")
    if revealable is not None and readable is not None and not readable.is_all:
        listed = {path.text for path in readable.paths}
        findings += (
            Finding(
                codes.NOT_READABLE,
                Severity.WARNING,
                f"the key `{shown(path.text)}` may be revealed and not read, so it is dropped",
                path.span,
                "name it under `secretKeysReadable`, too, or leave it out",
            )
            for path in revealable.paths
            if path.text not in listed
        )
    return revealable


def _map(node: Located | None, key: str) -> LocatedMap | None:
    value = _child(node, key)
    return value if isinstance(value, LocatedMap) else None


def _installations(node: Located | None, findings: list[Finding]) -> tuple[MiddlewareInstallation, ...] | None:
    if not isinstance(node, LocatedList):
        return None
    found = []
    for item in node.items:
        if isinstance(item, LocatedScalar):
            name, at, version = item.text.partition("@")
            found.append(MiddlewareInstallation(name, version if at else None, None, None, None, None, None, item.span))
        elif isinstance(item, LocatedMap):
            found.append(
                MiddlewareInstallation(
                    _plain_text(item, "name") or "",
                    _plain_text(item, "version"),
                    _plain_text(item, "account"),
                    _map(item, "parameters"),
                    _plain_text(item, "filesystemAccess"),
                    _scope(item, "secretKeysReadable"),
                    _revealable(item, findings),
                    item.span,
                )
            )
    return tuple(found)


def _bindings(node: LocatedMap, findings: list[Finding]) -> tuple[ToolBinding, ...]:
    return tuple(
        ToolBinding(
            key.text,
            _plain_text(value, "version"),
            _plain_text(value, "account"),
            _map(value, "parameters"),
            _mode(value, "parametersMergeMode", MergeMode.UPSERT),
            _scope(value, "secretKeysReadable"),
            _revealable(value, findings),
            _scope(value, "configKeysReadable"),
            _plain_text(value, "filesystemAccess"),
            _installations(_child(value, "middleware"), findings),
            _mode(value, "middlewareMergeMode", MergeMode.PREPEND),
            key.span,
        )
        for key, value in node.last_of_each()
        if key.text != "middleware"
    )


# Environments, defaults, deployments.


def _server(node: Located | None, findings: list[Finding]) -> Server | None:
    if isinstance(node, LocatedScalar):
        return Server(node.text, "", (), False, node.span) if node.text in ("local", "cloud") else None
    if not isinstance(node, LocatedMap):
        return None
    token = text_of(_child(node, "auth"), "staticToken")
    names: dict[str, None] = {}
    for scalar in (text_of(node, "url"), text_of(node, "workerUrl"), token):
        if scalar is not None:
            names.update(dict.fromkeys(_template(scalar, findings).variables))
    found = template_of(token.text) if token is not None else LITERAL
    return Server("custom", _plain_text(node, "url") or "", tuple(names), found.is_template, node.span, found.variables)


def _environment(key: LocatedScalar, node: Located, findings: list[Finding]) -> Environment:
    account = text_of(node, "account")
    deployment = _child(node, "deployment")
    tools = _child(node, "tools")
    default_tools = _child(node, "defaultTools")
    listed: tuple[str, ...] | None = None
    if isinstance(default_tools, LocatedList):
        listed = tuple(item.text for item in texts_of(default_tools))
    elif isinstance(default_tools, LocatedScalar) and default_tools.text == "*":
        listed = ("*",)
    return Environment(
        key.text,
        key.span,
        _truth(node, "default") is True,
        account,
        _template(account, findings).variables if account is not None else (),
        _server(_child(node, "server"), findings),
        name_list(_child(node, "componentPresets")),
        _truth(deployment, "compatibilityCheck"),
        _truth(deployment, "versionCheck"),
        _truth(deployment, "securityOverrides"),
        _plain_text(deployment, "toolCompatibilityMode"),
        listed,
        _installations(_child(tools, "middleware"), findings),
        _bindings(tools, findings) if isinstance(tools, LocatedMap) else (),
    )


def _defaults(root: LocatedMap, parts: Parts) -> None:
    for environment, block in names_of(root, "retryPolicyDefaults"):
        for name, body in block.last_of_each() if isinstance(block, LocatedMap) else ():
            text = text_of(body, "priority")
            priority = integer_of(text.text) if text is not None and text.is_plain else None
            parts.retry_defaults.append(
                RetryDefault(
                    environment.text,
                    name.text,
                    name.span,
                    priority if priority is not None and 0 <= priority <= U32 else None,
                    body.get("predicate") if isinstance(body, LocatedMap) else None,
                    body.get("policy") if isinstance(body, LocatedMap) else None,
                )
            )
    for environment, block in names_of(root, "secretDefaults"):
        if isinstance(block, LocatedMap):
            tree = _value_key(environment.text, block, environment.span, parts.findings)
            for child in tree.children:
                parts.secret_defaults.extend(
                    SecretDefault(environment.text, path, leaf.is_known, leaf.variables, leaf.span)
                    for path, leaf in child.leaves()
                )
    for environment, block in names_of(root, "resourceDefaults"):
        for name, body in block.last_of_each() if isinstance(block, LocatedMap) else ():
            limit = _plain_text(_child(body, "limit"), "type") or ""
            parts.resource_defaults.append(ResourceDefault(environment.text, name.text, limit, name.span))


def _deployments(root: LocatedMap, parts: Parts) -> None:
    for kind in ("httpApi", "mcp"):
        for environment, block in names_of(root.get(kind), "deployments"):
            for item in block.items if isinstance(block, LocatedList) else ():
                agents = tuple(key for key, _ in names_of(item, "agents"))
                tools = tuple(key for key, _ in names_of(item, "tools"))
                domain = _plain_text(item, "domain") or _plain_text(item, "subdomain") or ""
                parts.deployments.append(Deployment(kind, environment.text, domain, agents, tools, item.span))
    for environment, block in names_of(root.get("mcp"), "imports"):
        for item in block.items if isinstance(block, LocatedList) else ():
            parts.mcp_imports.append(McpImport(environment.text, _plain_text(item, "prefix") or "", item.span))
