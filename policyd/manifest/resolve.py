"""One environment of an application: which layers count, which card is in force, which files, names and bindings.

Source: manifest-format 3 to 5, 8, 11; cards 8.2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from policyd.core.edition import NEXT, Rules
from policyd.findings import Finding, Severity, Span, nearest
from policyd.manifest import codes
from policyd.manifest.builtin import has_unknown_presets
from policyd.manifest.located import shown
from policyd.manifest.merge import Merged, fold
from policyd.manifest.model import (
    Application,
    Card,
    Environment,
    Layer,
    Layered,
    MiddlewareInstallation,
    ToolBinding,
)
from policyd.manifest.templates import filled

MAX_LAYERS = 10_000
"""So many layers are followed for one element; templates that double themselves end here."""

MAX_FOLLOWED = 200_000
"""So many templates and elements are visited for one environment."""

MAX_PRESETS_NAMED = 20
"""So many presets are named to somebody who named another."""

DEFAULT_TOOL = "bash"
"""The built-in tool that `defaultTools` stands for.

Source: manifest-format 8.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Account:
    """The owner of an environment.

    Attributes:
        name: lower case; None where it is not known.
        variable: the variable that would tell it, empty where the manifest gives no account at all.
        span: where it is written, None where it is not.
        is_filled: whether a value handed over explicitly took the place of a variable.
    """

    name: str | None
    variable: str
    span: Span | None
    is_filled: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class EffectiveCard:
    """The card in force for an agent type.

    Attributes:
        card: its four lists of grant texts.
        layer: the layer that sets it.
        replaced: layers whose cards it replaces as a whole, weakest first.
    """

    card: Card
    layer: Layer
    replaced: tuple[Layer, ...]


@dataclass(frozen=True, slots=True, eq=False)
class IneffectiveCard:
    """A card at a place where it does nothing for agents.

    Source: manifest-format 5.1 (1).
    """

    card: Card
    layer: Layer


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedBinding:
    """What binds one tool, scope by scope.

    Attributes:
        name: the tool.
        environment: the binding of the environment, None for none.
        owners: the bindings of the component and the agent type that count, weakest first.
        is_default: whether `defaultTools` binds it, written or not.
        is_declared: whether `tools` declares it; else it is ambient, imported or a mistake.
    """

    name: str
    environment: ToolBinding | None
    owners: tuple[ToolBinding, ...]
    is_default: bool
    is_declared: bool


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedAgent:
    """One agent type in one environment.

    Attributes:
        name: the type, byte for byte.
        span: where the manifest names it first.
        is_declared: whether it stands under `agents`.
        named_in: where else it is named (`httpApi`, `mcp`), sorted.
        component: the component that implements it, None where that is not known.
        component_is_assumed: whether that was concluded from there being one component only.
        card_layers: the layers asked for a card, weakest first.
        card: the card in force, None for the default card.
        merged: config, env, files and plugins after the complete cascade.
        is_complete: whether the component's part of the cascade is in `merged`.
        tools: the bindings, sorted by name.
    """

    name: str
    span: Span
    is_declared: bool
    named_in: tuple[str, ...]
    component: str | None
    component_is_assumed: bool
    card_layers: tuple[Layer, ...]
    card: EffectiveCard | None
    merged: Merged
    is_complete: bool
    tools: tuple[ResolvedBinding, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedComponent:
    """One component in one environment: its layers, weakest first, and what they come to."""

    name: str
    span: Span
    layers: tuple[Layer, ...]
    merged: Merged


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedEnvironment:
    """What an application comes to in one environment.

    Attributes:
        environment: the chosen one, None where the manifest has none of that name.
        is_chosen: how it was chosen: `named`, `default` or `first`.
        presets: the custom presets in force, in order.
        account: the owner.
        agents: sorted by name.
        components: sorted by name.
        ineffective: cards that do nothing for agents, in order of writing.
        tool_middleware: the environment-wide list.
        findings: sorted.
        not_analysed: sentences on what the manifest does not say, sorted.
    """

    environment: Environment | None
    is_chosen: str
    presets: tuple[str, ...]
    account: Account
    agents: tuple[ResolvedAgent, ...] = ()
    components: tuple[ResolvedComponent, ...] = ()
    ineffective: tuple[IneffectiveCard, ...] = ()
    tool_middleware: tuple[MiddlewareInstallation, ...] = ()
    findings: tuple[Finding, ...] = ()
    not_analysed: tuple[str, ...] = ()

    def agent(self, name: str) -> ResolvedAgent | None:
        """The agent type of that name."""
        return next((a for a in self.agents if a.name == name), None)


def resolve_environment(
    application: Application,
    environment: str | None = None,
    presets: Sequence[str] | None = None,
    *,
    rules: Rules = NEXT,
    implements: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> ResolvedEnvironment:
    """What `application` comes to in `environment`.

    Args:
        application: as loaded.
        environment: its name; None for the default one, else the first in loading order.
        presets: custom presets that replace those of the environment; None for the environment's own.
        rules: the edition.
        implements: agent type to component, as far as it is known from elsewhere.
        variables: values handed over explicitly for `{{ VAR }}`.

    Source: manifest-format 3, 4, 5, 11.
    """
    chosen = application.environment(environment)
    if chosen is None:
        return _without(application, environment)
    how = "named" if environment is not None else "default" if chosen.is_default else "first"
    names = tuple(presets) if presets is not None else tuple(dict.fromkeys(p.text for p in chosen.presets))
    return _Resolver(application, chosen, how, names, rules, implements or {}, variables or {}).run(
        explicit=presets is not None
    )


def _without(application: Application, name: str | None) -> ResolvedEnvironment:
    account = Account(None, "", None)
    if name is None:
        return ResolvedEnvironment(None, "first", (), account, not_analysed=("the manifest defines no environment",))
    known = [e.name for e in application.environments]
    near = nearest(name, known)
    help_text = f"did you mean `{near}`?" if near else "known: " + ", ".join(known[:20]) if known else ""
    finding = Finding(
        codes.UNKNOWN_ENVIRONMENT, Severity.ERROR, f"no environment is called `{shown(name)}`", None, help_text
    )
    return ResolvedEnvironment(None, "named", (), account, findings=(finding,))


@dataclass(slots=True)
class _Resolver:
    application: Application
    environment: Environment
    how: str
    presets: tuple[str, ...]
    rules: Rules
    implements: Mapping[str, str]
    variables: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    templates: dict[str, Layered] = field(default_factory=dict)
    components: dict[str, ResolvedComponent] = field(default_factory=dict)
    named_in: dict[str, set[str]] = field(default_factory=dict)
    followed: int = 0

    def run(self, *, explicit: bool) -> ResolvedEnvironment:
        application = self.application
        self.templates = {template.name: template for template in application.templates}
        self._check_presets(explicit=explicit)
        for component in application.components:
            layers = self._layers(component)
            self.components[component.name] = ResolvedComponent(component.name, component.span, layers, fold(layers))
        names = self._agent_names()
        declared = {agent.name: agent for agent in application.agents}
        agents = tuple(self._agent(name, names[name], declared.get(name)) for name in sorted(names))
        if not agents:
            self.left_out.add("no agent type is named in the manifest; a built component may have some")
        self._unset_secrets()
        self._token()
        self.left_out.add("whether the deployer's own cards cover the initial cards: a manifest does not show them")
        return ResolvedEnvironment(
            self.environment,
            self.how,
            self.presets,
            self._account(),
            agents,
            tuple(self.components[name] for name in sorted(self.components)),
            _ineffective(application),
            self.environment.tool_middleware or (),
            tuple(sorted(set(self.findings), key=lambda f: f.order)),
            tuple(sorted(self.left_out)),
        )

    def _account(self) -> Account:
        written = self.environment.account
        if written is None:
            self.left_out.add("the account: the environment names none, so it is the deployer's")
            return Account(None, "", None)
        if not self.environment.account_is_template:
            return Account(_ascii_lower(written.text), "", written.span)
        value = filled(written.text, self.variables)
        if value is not None:
            return Account(_ascii_lower(value), "", written.span, True)
        names = self.environment.account_variables
        missing = next((name for name in names if name not in self.variables), names[0] if names else written.text)
        self.left_out.add(f"the account: it depends on the variable `{missing}`")
        return Account(None, missing, written.span)

    def _unset_secrets(self) -> None:
        """An unset variable of a secret default fails the deploy; `next` asks only for secrets to be created.

        Source: manifest-format 4, questions 4 (`secret_default_variable`).
        """
        when = " for a secret that would be created" if self.rules.is_next("secret_default_variable") else ""
        for default in self.application.secret_defaults:
            if default.environment == self.environment.name:
                for name in default.variables:
                    if name not in self.variables:
                        self.left_out.add(f"the variable `{name}` of secret defaults: unset it is an error{when}")

    def _token(self) -> None:
        server = self.environment.server
        if server is None or not server.token_is_template:
            return
        if self.rules.is_next("template_in_server_auth"):
            names = ", ".join(f"`{name}`" for name in server.token_variables) or "something unknown"
            self.left_out.add(f"the server token: it depends on {names}")
        else:
            self.left_out.add(f"the server token: edition `{self.rules.label}` takes the template in it literally")

    # Presets and layers.

    def _check_presets(self, *, explicit: bool) -> None:
        """A name that no layer defines is an error; built-in templates with unseen presets leave it open."""
        app = self.application
        elements = (*app.templates, *app.components, *app.agents, *app.tools, *app.middleware)
        known = {layer.preset for element in elements for layer in element.presets}
        unseen = any(has_unknown_presets(t.text) for element in elements for t in element.templates)
        for name in self.presets:
            if name in known:
                continue
            if unseen:
                self.left_out.add(f"the preset `{name}`: a built-in template may define it")
                continue
            place = next((p.span for p in self.environment.presets if p.text == name), None)
            near = nearest(name, known)
            self.findings.append(
                Finding(
                    codes.UNKNOWN_PRESET,
                    Severity.ERROR,
                    f"no layer defines the preset `{shown(name)}`",
                    None if explicit else place,
                    f"did you mean `{near}`?" if near else _presets_words(known),
                )
            )

    def _own(self, element: Layered) -> tuple[Layer, ...]:
        """The common part, the preset of the environment, the custom presets or the layer's default.

        Source: manifest-format 4.
        """
        marker = f"app-env:{self.environment.name}"
        by_name = {layer.preset: layer for layer in element.presets}
        own = [element.base]
        if marker in by_name:
            own.append(by_name[marker])
        custom = [layer for layer in element.presets if not layer.preset.startswith("app-env:")]
        named = [by_name[name] for name in self.presets if name in by_name and not name.startswith("app-env:")]
        if named:
            own += named
        elif custom:
            marked = [layer for layer in custom if layer.is_default]
            own.append(marked[-1] if marked else custom[0])
        return tuple(own)

    def _layers(self, element: Layered) -> tuple[Layer, ...]:
        """All layers of a component or template, weakest first; a template reached twice counts twice.

        A circle, which loading reports, is cut where it closes.
        """
        out: list[Layer] = []
        pending: list[tuple[Layered, bool, frozenset[str]]] = [(element, False, frozenset())]
        while pending:
            current, opened, above = pending.pop()
            if opened:
                out += self._own(current)
                continue
            self.followed += 1
            if len(out) + len(pending) > MAX_LAYERS or self.followed > MAX_FOLLOWED:
                message = f"`{shown(element.name)}` is built on more layers than are followed"
                self.findings.append(Finding(codes.LAYER_LIMIT, Severity.ERROR, message, element.span))
                break
            pending.append((current, True, above))
            for name in reversed(current.templates):
                template = self.templates.get(name.text)
                if template is not None and name.text not in above:
                    pending.append((template, False, above | {name.text}))
        return tuple(out)

    # Agents.

    def _agent_names(self) -> dict[str, Span]:
        """Every agent type that the manifest names, or the caller knows of."""
        names: dict[str, Span] = {agent.name: agent.span for agent in self.application.agents}
        for deployment in self.application.deployments:
            if deployment.environment == self.environment.name:
                for key in deployment.agents:
                    names.setdefault(key.text, key.span)
                    self.named_in.setdefault(key.text, set()).add(deployment.kind)
        for name in self.implements:
            names.setdefault(name, self.environment.span)
        return names

    def _component_of(self, agent: str) -> tuple[str | None, bool]:
        known = self.implements.get(agent)
        if known is not None:
            if known not in self.components:
                near = nearest(known, self.components)
                self.findings.append(
                    Finding(
                        codes.UNKNOWN_COMPONENT,
                        Severity.ERROR,
                        f"no component is called `{shown(known)}`",
                        None,
                        f"did you mean `{near}`?" if near else "",
                    )
                )
            return known, False
        if len(self.components) == 1:
            only = next(iter(self.components))
            self.left_out.add(f"which component implements an agent type: `{only}` is assumed, being the only one")
            return only, True
        count = "no component is" if not self.components else "several components are"
        self.left_out.add(f"the component of `{agent}`: {count} defined, and a manifest does not say which one it is")
        return None, False

    def _agent(self, name: str, span: Span, declared: Layered | None) -> ResolvedAgent:
        component, assumed = self._component_of(name)
        base = self.components.get(component) if component is not None else None
        own = self._own(declared) if declared is not None else ()
        merged = base.merged if base is not None else Merged()
        for step in declared.templates if declared is not None else ():
            template = self.templates.get(step.text)
            if template is not None:
                merged = merged.over(fold(self._layers(template)))
        merged = fold(own, merged)
        return ResolvedAgent(
            name,
            span,
            declared is not None,
            tuple(sorted(self.named_in.get(name, ()))),
            component,
            assumed,
            own,
            _card_of(own),
            merged,
            base is not None,
            self._tools(merged),
        )

    def _tools(self, merged: Merged) -> tuple[ResolvedBinding, ...]:
        environment = {binding.name: binding for binding in self.environment.tools}
        owners = dict(merged.tools)
        default = self._default_tools()
        declared = {tool.name for tool in self.application.tools}
        return tuple(
            ResolvedBinding(name, environment.get(name), owners.get(name, ()), name in default, name in declared)
            for name in sorted({*environment, *owners, *default})
        )

    def _default_tools(self) -> tuple[str, ...]:
        """What is bound to every agent type without being written.

        Source: manifest-format 8.
        """
        if not self.rules.is_next("default_tools"):
            return ()
        listed = self.environment.default_tools
        return (DEFAULT_TOOL,) if listed is None or listed == ("*",) else listed


def _card_of(layers: Iterable[Layer]) -> EffectiveCard | None:
    """The card of the strongest layer that sets one, as a whole.

    Source: cards 8.2 (Y3).
    """
    setting = [(layer, layer.card) for layer in layers if layer.card is not None]
    if not setting:
        return None
    layer, card = setting[-1]
    return EffectiveCard(card, layer, tuple(replaced for replaced, _ in setting[:-1]))


def _ineffective(application: Application) -> tuple[IneffectiveCard, ...]:
    found = [
        IneffectiveCard(layer.card, layer)
        for element in (*application.templates, *application.components)
        for layer in element.layers
        if layer.card is not None
    ]
    return tuple(sorted(found, key=lambda c: (c.card.span.source, c.card.span.start)))


def _presets_words(known: Collection[str]) -> str:
    """The presets that there are, for somebody who named another."""
    if not known:
        return "no layer defines a preset"
    more = len(known) - MAX_PRESETS_NAMED
    named = ", ".join(f"`{shown(name)}`" for name in sorted(known)[:MAX_PRESETS_NAMED])
    return f"presets: {named}{f' and {more} more' if more > 0 else ''}"


def _ascii_lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)
