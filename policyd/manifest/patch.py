"""Changes of an initial card as edits of the YAML text that keep comments and layout, shown as a unified diff.

Source: cards 8.1, 8.2; manifest-format 5.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from policyd.core.application import GrantOrigin, InitialCard
from policyd.core.cards import Bound
from policyd.findings import Span
from policyd.manifest.build import texts_of
from policyd.manifest.load import Document, LoadedManifest
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar
from policyd.manifest.patch_nodes import appended, emptied, filled, is_alias, new_entry, removed, replaced
from policyd.manifest.patch_text import CannotPatchError, Content, TextEdit, applied

CONTEXT = 3
"""Lines of context in a diff; fewer where one of them must not be shown."""

_PARTS = {
    Bound.LOWER_POSITIVE: ("lowerBound", "positive"),
    Bound.LOWER_NEGATIVE: ("lowerBound", "negative"),
    Bound.UPPER_POSITIVE: ("upperBound", "positive"),
    Bound.UPPER_NEGATIVE: ("upperBound", "negative"),
}


@dataclass(frozen=True, slots=True)
class ListChange:
    """What becomes of one list of a card.

    Attributes:
        bound: which of the four.
        add: grant texts that come to its end.
        replace: places of texts as written, with what stands there afterwards: 1..n texts, or none to take it away.
    """

    bound: Bound
    add: tuple[str, ...] = ()
    replace: tuple[tuple[Span, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Patch:
    """A changed document.

    Attributes:
        document: its name.
        text: the whole new text.
        diff: the change as a unified diff that `patch -p1` and `git apply` take; no masked line stands in it.
        line: the line of the old text at which it begins.
        replaces_default: the card is written out because there was none, which replaces the default card.
    """

    document: str
    text: str = field(repr=False)
    diff: str
    line: int
    replaces_default: bool


def patch_card(loaded: LoadedManifest, agent: str, card: InitialCard, changes: Sequence[ListChange]) -> Patch:
    """The change of the card that is in force for an agent type.

    Where no card is written, one is: with all grants of the default card, so that only the change makes a difference.

    Args:
        loaded: the manifest.
        agent: the agent type.
        card: its effective card.
        changes: at most one for each list.

    Raises:
        CannotPatchError: where the text cannot be changed without changing more.
    """
    document, path = _path_of(loaded, agent, card)
    if document.root is None:
        raise CannotPatchError("the document is empty")
    wanted = {change.bound: change for change in changes}
    content = _content(document.root, path, card, wanted)
    found = [_edits(document.root, path, change, content) for change in changes]
    # at one place the lines of a list come before an entry behind it, and inner entries before outer ones
    edits = [edit for _, each in sorted(found, key=lambda pair: -pair[0]) for edit in each]
    new = applied(document.source.text, edits)
    first = document.source.span(min(edit.start for edit in edits), 0).line
    return Patch(document.name, new, _unified(document, new), first, card.is_default)


def _path_of(loaded: LoadedManifest, agent: str, card: InitialCard) -> tuple[Document, tuple[str, ...]]:
    """The document and the keys that lead to the card."""
    readable = [d for d in loaded.documents if d.root is not None and not d.is_older]
    for document in readable:
        agents = document.root.get("agents") if document.root is not None else None
        owner = agents.get(agent) if isinstance(agents, LocatedMap) else None
        if card.span is None:
            if isinstance(agents, LocatedMap) and agents.key(agent) is not None:
                return document, ("agents", agent, "initialCard")
            continue
        if card.span.source != document.name or not isinstance(owner, LocatedMap):
            continue
        if _is_key(owner, "initialCard", card.span):
            return document, ("agents", agent, "initialCard")
        presets = owner.get("presets")
        for key, preset in presets.entries if isinstance(presets, LocatedMap) else ():
            if isinstance(preset, LocatedMap) and _is_key(preset, "initialCard", card.span):
                return document, ("agents", agent, "presets", key.text, "initialCard")
    if card.span is not None or not readable:
        raise CannotPatchError("the card stands where it cannot be changed by itself")
    with_agents = [d for d in readable if d.root is not None and d.root.get("agents") is not None]
    return (with_agents or readable)[0], ("agents", agent, "initialCard")


def _is_key(parent: LocatedMap, name: str, span: Span) -> bool:
    key = parent.key(name)
    return key is not None and key.span == span


def _content(
    root: LocatedMap, path: Sequence[str], card: InitialCard, wanted: dict[Bound, ListChange]
) -> dict[str, dict[str, list[str]]]:
    """The whole card after the change, for the places where a part of it has to be written out."""
    node: Located | None = root
    for key in path:
        node = node.get(key) if isinstance(node, LocatedMap) else None
    found: dict[str, dict[str, list[str]]] = {}
    for bound, (part, sign) in _PARTS.items():
        if card.is_default:
            texts = [p.text for p in card.of(bound) if p.origin is GrantOrigin.DEFAULT]
        else:
            inner = node.get(part) if isinstance(node, LocatedMap) else None
            scalars = texts_of(inner.get(sign)) if isinstance(inner, LocatedMap) else ()
            change = wanted.get(bound)
            texts = [text for scalar in scalars for text in _after(scalar, change)]
        texts += wanted[bound].add if bound in wanted else ()
        if texts:
            found.setdefault(part, {})[sign] = texts
    return found


def _after(scalar: LocatedScalar, change: ListChange | None) -> Iterable[str]:
    for span, texts in change.replace if change else ():
        if scalar.start <= span.start <= scalar.end:
            return texts
    return (scalar.text,)


def _edits(
    root: LocatedMap, path: Sequence[str], change: ListChange, card: dict[str, dict[str, list[str]]]
) -> tuple[int, list[TextEdit]]:
    """The edits of one list and how deep they are: the first part that is missing or shared is written out."""
    part, sign = _PARTS[change.bound]
    keys = (*path, part, sign)
    parent = root
    for depth, key in enumerate(keys):
        value, name = parent.get(key), parent.key(key)
        if value is None or name is None:
            return depth, [new_entry(parent, key, _below(path, depth, card, part, sign))]
        if is_alias(name, value):
            if depth < len(path) - 1:
                raise CannotPatchError("the agent type is written as an alias, which stands for others as well")
            return depth, [filled(parent, name, value, _below(path, depth, card, part, sign))]
        if _is_nothing(value):
            return depth, [filled(parent, name, value, _below(path, depth, card, part, sign))]
        if isinstance(value, LocatedMap) and depth < len(keys) - 1:
            parent = value
            continue
        if not isinstance(value, LocatedList) or depth < len(keys) - 1:
            raise CannotPatchError(f"`{key}` has another shape than a card")
        return len(keys), _list_edits(name, value, change)
    raise CannotPatchError("the card has no lists")


def _below(path: Sequence[str], depth: int, card: dict[str, dict[str, list[str]]], part: str, sign: str) -> Content:
    """What stands below the key at a depth: keys that lead down to the card, the card, or a part of it."""
    if depth > len(path):
        return card[part][sign]
    if depth == len(path):
        return card[part]
    content: Content = card
    for key in reversed(path[depth + 1 :]):
        content = {key: content}
    return content


def _is_nothing(value: Located) -> bool:
    if isinstance(value, LocatedScalar):
        return value.is_absent
    return not (value.entries if isinstance(value, LocatedMap) else value.items)


def _list_edits(key: LocatedScalar, items: LocatedList, change: ListChange) -> list[TextEdit]:
    gone = [span for span, texts in change.replace if not texts]
    if len(gone) == len(items.items):
        if not change.add:
            return [emptied(key, items)]
        return [*(removed(items, gone[:-1]) if gone[:-1] else ()), *replaced(items, gone[-1], change.add)]
    edits = [edit for span, texts in change.replace if texts for edit in replaced(items, span, texts)]
    edits += removed(items, gone) if gone else ()
    return [*edits, *(appended(items, change.add) if change.add else ())]


def _unified(document: Document, new: str) -> str:
    """The difference, with as much context as may be shown."""
    old_lines, new_lines = _lines(document.source.text), _lines(new)
    path = PurePath(document.name)
    name = path.name if path.is_absolute() or ".." in path.parts else document.name
    for context in range(CONTEXT, -1, -1):
        lines = list(difflib.unified_diff(old_lines, new_lines, f"a/{name}", f"b/{name}", n=context))
        if context == 0 or not _shows_masked(document, lines):
            break
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """The lines with their ends; only line feeds end them."""
    found = text.split("\n")
    return [f"{line}\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])


def _shows_masked(document: Document, lines: Sequence[str]) -> bool:
    number = 0
    for line in lines[2:]:
        if line.startswith("@@"):
            number = int(line.split()[1].split(",")[0][1:])
            continue
        if line.startswith("+"):
            continue
        if document.shown_line(number) != document.source.line(number):
            return True
        number += 1
    return False


__all__ = ["CannotPatchError", "ListChange", "Patch", "patch_card"]
