"""An application as its manifests describe it, every element with its place.

Values of env, config, secrets and tokens are not kept, only their names and whether they are known.

Source: manifest-format 2 to 10.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from policyd.findings import Span
from policyd.manifest.located import Located, LocatedMap, LocatedScalar
from policyd.manifest.templates import template_of


class MergeMode(Enum):
    """How a layer's list or map meets what the layers below left."""

    UPSERT = "upsert"
    APPEND = "append"
    PREPEND = "prepend"
    REPLACE = "replace"
    REMOVE = "remove"


class LayerKind(Enum):
    """Where a layer is written."""

    TEMPLATE = "component template"
    TEMPLATE_PRESET = "component template preset"
    COMPONENT = "component"
    COMPONENT_PRESET = "component preset"
    AGENT = "agent type"
    AGENT_PRESET = "agent preset"
    TOOL = "tool"
    TOOL_PRESET = "tool preset"

    @property
    def is_agent(self) -> bool:
        """Whether an initial card written here has an effect on agents."""
        return self in (LayerKind.AGENT, LayerKind.AGENT_PRESET)


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """An `initialCard` as written; its grants are texts, not parsed.

    Attributes:
        span: where it stands.
        key_span: where its key `initialCard` stands.
        lower_positive, lower_negative, upper_positive, upper_negative: the grants in order, empty where omitted.
        has_lower, has_upper: whether the bound is written at all.

    Source: cards 8.1.
    """

    span: Span
    key_span: Span
    lower_positive: tuple[LocatedScalar, ...] = ()
    lower_negative: tuple[LocatedScalar, ...] = ()
    upper_positive: tuple[LocatedScalar, ...] = ()
    upper_negative: tuple[LocatedScalar, ...] = ()
    has_lower: bool = False
    has_upper: bool = False

    @property
    def grants(self) -> tuple[LocatedScalar, ...]:
        """All grants, list after list."""
        return (*self.lower_positive, *self.lower_negative, *self.upper_positive, *self.upper_negative)


@dataclass(frozen=True, slots=True, eq=False)
class InitialFile:
    """One entry of `files`.

    Attributes:
        source_path: where it comes from, empty when missing.
        target_path: the path in the agent's file system, as written.
        permissions: the text `read-only` (also when omitted) or `read-write`; another text is a finding of the loader.
        is_read_write: whether `write` and `delete` are granted too.
        span: where the entry stands.
    """

    source_path: str
    target_path: LocatedScalar
    permissions: str
    is_read_write: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class EnvVariable:
    """A variable under `env`, without its value.

    Attributes:
        name: as written.
        is_known: whether the manifest gives the value; false where it is a template.
        variables: what the template needs.
        span: where the name stands.
    """

    name: str
    is_known: bool
    variables: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ValueKey:
    """A key of `config` or `secretDefaults`, without its value.

    Attributes:
        name: one segment.
        children: the keys below; empty for a value and for an empty object.
        is_object: whether it is an object, which merges deeply; anything else is replaced.
        is_known: whether the manifest gives the value; false where it is, or contains, a template.
        variables: what the templates of a value need.
        span: where the name stands.
    """

    name: str
    children: tuple[ValueKey, ...]
    is_object: bool
    is_known: bool
    variables: tuple[str, ...]
    span: Span

    def leaves(self, above: tuple[str, ...] = ()) -> tuple[tuple[tuple[str, ...], ValueKey], ...]:
        """The paths of all values below, and of empty objects, in order."""
        path = (*above, self.name)
        if not self.children:
            return ((path, self),)
        return tuple(leaf for child in self.children for leaf in child.leaves(path))


@dataclass(frozen=True, slots=True, eq=False)
class Plugin:
    """An installed plugin; values of its parameters are not kept."""

    name: str
    version: str
    account: str | None
    parameters: tuple[EnvVariable, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class KeyScope:
    """The keys a tool may see: all (`"*"`), or those listed; none where the list is empty."""

    is_all: bool
    paths: tuple[LocatedScalar, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class MiddlewareInstallation:
    """One entry of a middleware list.

    Attributes:
        name: the name alone; `name@version` is split.
        version, account: assertions, None where not given.
        parameters: as written, None where not given; may hold secrets, so never print it.
        filesystem_access: `unset`, `allowed`, `denied` or None.
        secret_keys_readable, secret_keys_revealable: None where not given.
        span: where the entry stands.

    Source: middleware 2.4.
    """

    name: str
    version: str | None
    account: str | None
    parameters: LocatedMap | None = field(repr=False)
    filesystem_access: str | None
    secret_keys_readable: KeyScope | None
    secret_keys_revealable: KeyScope | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ToolBinding:
    """A binding of a tool at an environment, a component or an agent type.

    Attributes:
        name: the tool.
        middleware: the per-tool list, None where omitted (which is not the empty list).
        parameters: as written, None where not given; may hold secrets, so never print it.
        span: where the name stands.

    Source: manifest-format 8, middleware 2.4.
    """

    name: str
    version: str | None
    account: str | None
    parameters: LocatedMap | None = field(repr=False)
    parameters_mode: MergeMode
    secret_keys_readable: KeyScope | None
    secret_keys_revealable: KeyScope | None
    config_keys_readable: KeyScope | None
    filesystem_access: str | None
    middleware: tuple[MiddlewareInstallation, ...] | None
    middleware_mode: MergeMode
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """What one place of the cascade sets; None means not set there.

    Attributes:
        kind: where it is written.
        owner: the name of the template, component, agent type or tool.
        preset: the name of the preset, empty for the common part.
        is_default: whether the preset is marked `default: true`.
        span: where its name stands.
    """

    kind: LayerKind
    owner: str
    preset: str
    is_default: bool
    span: Span
    card: Card | None = None
    env: tuple[EnvVariable, ...] | None = None
    env_mode: MergeMode = MergeMode.UPSERT
    config: ValueKey | None = None
    files: tuple[InitialFile, ...] | None = None
    files_mode: MergeMode = MergeMode.APPEND
    plugins: tuple[Plugin, ...] | None = None
    plugins_mode: MergeMode = MergeMode.APPEND
    tools: tuple[ToolBinding, ...] | None = None
    tools_mode: MergeMode = MergeMode.UPSERT

    @property
    def label(self) -> str:
        """The place in words of the manifest.

        A preset is named behind its owner: `agents.Cart.presets.audit`.
        """
        root = {"template": "componentTemplates", "component": "components", "agent": "agents", "tool": "tools"}
        section = "component"
        if self.kind in (LayerKind.TEMPLATE, LayerKind.TEMPLATE_PRESET):
            section = "template"
        elif self.kind.is_agent:
            section = "agent"
        elif self.kind in (LayerKind.TOOL, LayerKind.TOOL_PRESET):
            section = "tool"
        base = f"{root[section]}.{self.owner}"
        return f"{base}.presets.{self.preset}" if self.preset else base


@dataclass(frozen=True, slots=True, eq=False)
class Layered:
    """A template, component, agent type, tool or middleware with its layers.

    Attributes:
        name: as written.
        span: where the name stands.
        base: the common part.
        presets: those for an environment (`app-env:…`) and the custom ones, in order of writing.
        templates: the names it builds on, in order.
        guest_language: of a component template, None where not given.
        component: of a tool or middleware declaration, None where not given.
        has_release: whether a tool or middleware declaration names a release.
        is_built_in: whether the command line tool brings it along, with nothing that matters here.
    """

    name: str
    span: Span
    base: Layer
    presets: tuple[Layer, ...] = ()
    templates: tuple[LocatedScalar, ...] = ()
    guest_language: str | None = None
    component: str | None = None
    has_release: bool = False
    is_built_in: bool = False

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The common part, then all presets."""
        return (self.base, *self.presets)


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """Where an environment lives.

    Attributes:
        kind: `local`, `cloud` or `custom`.
        url: of a custom server, empty else.
        variables: what templates in its fields need, each once.
        token_is_template: whether the static token is a template.
        span: where it stands.
        token_variables: what the token needs.
    """

    kind: str
    url: str
    variables: tuple[str, ...]
    token_is_template: bool
    span: Span
    token_variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """One environment.

    Attributes:
        account: the e-mail as written, None where not given (then it is the caller's).
        account_variables: what the account needs where it is a template; it is unknown then.
        presets: `componentPresets` in order.
        default_tools: None where not given, `("*",)` for all, else the names listed.
        compatibility_check, version_check, security_overrides: None where not given.
        tool_middleware: the environment-wide list, None where not given.
        tools: the bindings.
    """

    name: str
    span: Span
    is_default: bool
    account: LocatedScalar | None
    account_variables: tuple[str, ...]
    server: Server | None
    presets: tuple[LocatedScalar, ...]
    compatibility_check: bool | None
    version_check: bool | None
    security_overrides: bool | None
    tool_compatibility_mode: str | None
    default_tools: tuple[str, ...] | None
    tool_middleware: tuple[MiddlewareInstallation, ...] | None
    tools: tuple[ToolBinding, ...]

    @property
    def account_is_template(self) -> bool:
        """Whether the account is written but unknown."""
        return self.account is not None and template_of(self.account.text).is_template


@dataclass(frozen=True, slots=True, eq=False)
class RetryDefault:
    """What `retryPolicyDefaults` would create; predicate and policy as written.

    Attributes:
        priority: None where it is missing or no integer of 32 bits.
        predicate, policy: None where missing.
    """

    environment: str
    name: str
    span: Span
    priority: int | None
    predicate: Located | None
    policy: Located | None


@dataclass(frozen=True, slots=True, eq=False)
class SecretDefault:
    """A default of a secret: its path, never its value."""

    environment: str
    path: tuple[str, ...]
    is_known: bool
    variables: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ResourceDefault:
    """A default of a quota resource: its name and kind of limit."""

    environment: str
    name: str
    limit: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Deployment:
    """An HTTP or MCP deployment.

    Attributes:
        kind: `httpApi` or `mcp`.
        domain: domain or subdomain, empty where missing.
        agents: the agent types it names, in order.
        tools: the tools it names, in order.
        span: where it stands.
    """

    kind: str
    environment: str
    domain: str
    agents: tuple[LocatedScalar, ...]
    tools: tuple[LocatedScalar, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class McpImport:
    """Tools that an environment imports."""

    environment: str
    prefix: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Application:
    """What the loaded documents describe together.

    Attributes:
        name: the application, None where it is missing.
        version: the manifest version of the documents, empty where missing or mixed.
        environments: in loading order.
        templates: the written ones and the built-in ones that are named.
        tools, middleware: declarations.

    Names within one list are unique; the first document that defines one counts.
    """

    name: LocatedScalar | None = None
    version: str = ""
    environments: tuple[Environment, ...] = ()
    templates: tuple[Layered, ...] = ()
    components: tuple[Layered, ...] = ()
    agents: tuple[Layered, ...] = ()
    tools: tuple[Layered, ...] = ()
    middleware: tuple[Layered, ...] = ()
    retry_defaults: tuple[RetryDefault, ...] = ()
    secret_defaults: tuple[SecretDefault, ...] = ()
    resource_defaults: tuple[ResourceDefault, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    mcp_imports: tuple[McpImport, ...] = ()

    def environment(self, name: str | None = None) -> Environment | None:
        """The environment of that name; without one the default, else the first in loading order.

        Source: manifest-format 3.
        """
        if name is not None:
            return next((e for e in self.environments if e.name == name), None)
        marked = next((e for e in self.environments if e.is_default), None)
        return marked or next(iter(self.environments), None)

    def agent(self, name: str) -> Layered | None:
        """What stands under `agents` for that type."""
        return next((a for a in self.agents if a.name == name), None)

    def component(self, name: str) -> Layered | None:
        """What stands under `components` for that name."""
        return next((c for c in self.components if c.name == name), None)
