"""What an application keeps of its manifest."""

from __future__ import annotations

from policyd.manifest import LayerKind, load_text

TEXT = """\
manifestVersion: 1.6.0
app: shop
environments:
  vps:
    server: {url: "https://{{ HOST }}", auth: {staticToken: "{{ TOKEN }}"}}
    deployment: {versionCheck: false, toolCompatibilityMode: nominal}
    tools:
      middleware: [audit, "limit@1.2", {name: guard, filesystemAccess: denied, parameters: {k: v}}]
      search: {parameters: {k: 5}, parametersMergeMode: replace, secretKeysReadable: "*", secretKeysRevealable: [a.b]}
  local: {server: local}
agents:
  Cart:
    tools: {search: {middleware: [], middlewareMergeMode: append}}
    presets: {audit: {default: true, initialCard: {upperBound: {positive: ["kv(?env) @ ?agent : read : a.b"]}}}}
tools:
  search: {component: "shop:tools"}
  other: {release: {releaseId: x}}
  middleware: {audit: {component: "shop:tools"}}
mcp: {imports: {vps: [{url: x, prefix: p}]}}
resourceDefaults: {vps: {cpu: {limit: {type: Capacity, value: 1}, enforcementAction: reject, unit: u, units: us}}}
"""


def test_environments() -> None:
    """An environment keeps its server, flags, default tools and middleware with their places."""
    application = load_text(TEXT).application
    vps, local = application.environments
    assert vps.server is not None
    assert (vps.server.kind, vps.server.variables, vps.server.token_is_template) == ("custom", ("HOST", "TOKEN"), True)
    assert (vps.version_check, vps.compatibility_check, vps.tool_compatibility_mode) == (False, None, "nominal")
    assert vps.tool_middleware is not None
    assert [(m.name, m.version, m.filesystem_access) for m in vps.tool_middleware] == [
        ("audit", None, None),
        ("limit", "1.2", None),
        ("guard", None, "denied"),
    ]
    (search,) = vps.tools
    assert search.parameters_mode.value == "replace"
    assert search.secret_keys_readable is not None
    assert search.secret_keys_readable.is_all
    assert search.secret_keys_revealable is not None
    assert [path.text for path in search.secret_keys_revealable.paths] == ["a.b"]
    assert search.middleware is None
    assert local.server is not None
    assert local.server.kind == "local"


def test_layers() -> None:
    """Agent types keep their layers, cards and bindings; a card remembers which bounds are written."""
    application = load_text(TEXT).application
    cart = application.agent("Cart")
    assert cart is not None
    assert cart.base.tools is not None
    (search,) = cart.base.tools
    assert (search.middleware, search.middleware_mode.value) == ((), "append")
    (audit,) = cart.presets
    assert (audit.kind, audit.label, audit.is_default) == (
        LayerKind.AGENT_PRESET,
        "agents.Cart.presets.audit",
        True,
    )
    assert audit.card is not None
    assert (audit.card.has_lower, audit.card.has_upper) == (False, True)
    (grant,) = audit.card.upper_positive
    assert grant.span.where == "golem.yaml:14:76"
    assert grant.path == "$.agents.Cart.presets.audit.initialCard.upperBound.positive[0]"
    assert grant.span_of(3, 7).column == 80


def test_declarations_and_defaults() -> None:
    """Declared tools and middleware, imports and resource defaults are listed."""
    loaded = load_text(TEXT)
    application = loaded.application
    assert not loaded.refused
    assert [(t.name, t.component, t.has_release) for t in application.tools] == [
        ("search", "shop:tools", False),
        ("other", None, True),
    ]
    assert [m.name for m in application.middleware] == ["audit"]
    assert [(i.environment, i.prefix) for i in application.mcp_imports] == [("vps", "p")]
    assert [(r.environment, r.name, r.limit) for r in application.resource_defaults] == [("vps", "cpu", "Capacity")]
    assert application.component("none") is None
    assert loaded.document("golem.yaml") is loaded.documents[0]
    assert loaded.document("other") is None
