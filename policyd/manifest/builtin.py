"""The component templates that the command line tool brings along: empty layers, as far as policyd asks.

None of them carries permissions, env, config, files or tools; their presets can be named by environments.

Source: manifest-format 1 (6).
"""

from __future__ import annotations

from policyd.core.edition import Edition, Rules
from policyd.findings import Span
from policyd.manifest.model import Layer, Layered, LayerKind

_SOURCE = "built-in"

_SNAPSHOT: dict[str, tuple[str, ...] | None] = {
    "rust": ("debug", "release"),
    "ts": ("optimized", "quick"),
    "scala": ("optimized", "quick"),
    "moonbit": ("debug", "release"),
}
_LANGUAGES = ("rust", "ts", "scala", "moonbit", "effect", "go")
_NEWER: dict[str, tuple[str, ...] | None] = {
    "effect": None,
    "go": None,
    **{f"{language}-tool-middleware": None for language in _LANGUAGES},
    **{f"{language}-agent-tool-middleware": None for language in _LANGUAGES},
}
"""Their presets were not seen: None."""


def built_in_templates() -> dict[str, Layered]:
    """The built-in templates of all editions by name, presets marked as the tool marks them."""
    return {name: _template(name, presets or ()) for name, presets in {**_SNAPSHOT, **_NEWER}.items()}


def is_in_edition(name: str, rules: Rules) -> bool:
    """Whether the command line tool of the edition brings the built-in template `name` along."""
    return rules.edition is Edition.NEXT or name not in _NEWER


def has_unknown_presets(name: str) -> bool:
    """Whether the presets of the built-in template `name` were not seen."""
    return name in _NEWER


def _template(name: str, presets: tuple[str, ...]) -> Layered:
    span = Span(_SOURCE)
    base = Layer(LayerKind.TEMPLATE, name, "", False, span)
    layers = tuple(
        Layer(LayerKind.TEMPLATE_PRESET, name, preset, position == 0, span) for position, preset in enumerate(presets)
    )
    return Layered(name, span, base, layers, is_built_in=True)
