"""What a row of layers comes to: env, config, files, plugins and tool bindings.

Source: manifest-format 4 (merge rules).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from policyd.manifest.model import EnvVariable, InitialFile, Layer, MergeMode, Plugin, ToolBinding, ValueKey

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Merged:
    """The outcome of a cascade.

    Attributes:
        env: by name, in order of first mention.
        config: the tree of keys, None where no layer sets any.
        files: in order.
        plugins: in order.
        tools: tool to the bindings that count, weakest first.
    """

    env: tuple[EnvVariable, ...] = ()
    config: ValueKey | None = None
    files: tuple[InitialFile, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    tools: tuple[tuple[str, tuple[ToolBinding, ...]], ...] = ()

    @property
    def config_paths(self) -> tuple[tuple[tuple[str, ...], ValueKey], ...]:
        """The paths of all config values, in order."""
        if self.config is None:
            return ()
        return tuple(leaf for child in self.config.children for leaf in child.leaves())

    def over(self, stronger: Merged) -> Merged:
        """This with the outcome of another cascade on top, everything added."""
        return Merged(
            _upsert(self.env, stronger.env),
            _deep(self.config, stronger.config),
            (*self.files, *stronger.files),
            (*self.plugins, *stronger.plugins),
            _more_tools(self.tools, stronger.tools),
        )


def fold(layers: Iterable[Layer], base: Merged | None = None) -> Merged:
    """What `layers`, weakest first, come to on top of `base`."""
    merged = base if base is not None else Merged()
    for layer in layers:
        merged = _apply(merged, layer)
    return merged


def _apply(below: Merged, layer: Layer) -> Merged:
    if all(part is None for part in (layer.env, layer.config, layer.files, layer.plugins, layer.tools)):
        return below
    return Merged(
        _env(below.env, layer),
        _deep(below.config, layer.config),
        below.files if layer.files is None else _list(below.files, layer.files, layer.files_mode),
        below.plugins if layer.plugins is None else _list(below.plugins, layer.plugins, layer.plugins_mode),
        _tools(below.tools, layer),
    )


def _list(below: tuple[_Item, ...], above: tuple[_Item, ...], mode: MergeMode) -> tuple[_Item, ...]:
    if mode is MergeMode.REPLACE:
        return above
    return (*above, *below) if mode is MergeMode.PREPEND else (*below, *above)


def _env(below: tuple[EnvVariable, ...], layer: Layer) -> tuple[EnvVariable, ...]:
    if layer.env is None:
        return below
    if layer.env_mode is MergeMode.REPLACE:
        return layer.env
    if layer.env_mode is MergeMode.REMOVE:
        gone = {variable.name for variable in layer.env}
        return tuple(variable for variable in below if variable.name not in gone)
    return _upsert(below, layer.env)


def _upsert(below: tuple[EnvVariable, ...], above: tuple[EnvVariable, ...]) -> tuple[EnvVariable, ...]:
    merged = {variable.name: variable for variable in below}
    merged.update((variable.name, variable) for variable in above)
    return tuple(merged.values())


def _deep(below: ValueKey | None, above: ValueKey | None) -> ValueKey | None:
    """Objects merge key by key; everything else is replaced."""
    if above is None or below is None:
        return above if below is None else below
    if not (below.is_object and above.is_object):
        return above
    children = {child.name: child for child in below.children}
    for child in above.children:
        merged = _deep(children.get(child.name), child)
        if merged is not None:
            children[child.name] = merged
    return ValueKey(above.name, tuple(children.values()), True, True, (), above.span)


_Tools = tuple[tuple[str, tuple[ToolBinding, ...]], ...]


def _tools(below: _Tools, layer: Layer) -> _Tools:
    if layer.tools is None:
        return below
    if layer.tools_mode is MergeMode.REMOVE:
        gone = {binding.name for binding in layer.tools}
        return tuple((name, bindings) for name, bindings in below if name not in gone)
    above = tuple((binding.name, (binding,)) for binding in layer.tools)
    return above if layer.tools_mode is MergeMode.REPLACE else _more_tools(below, above)


def _more_tools(below: _Tools, above: _Tools) -> _Tools:
    merged = dict(below)
    for name, bindings in above:
        merged[name] = (*merged.get(name, ()), *bindings)
    return tuple(merged.items())
