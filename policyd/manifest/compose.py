"""YAML events to a located tree, with the bounds of the platform's reader.

The grammar is libyaml's, as on the platform; its events carry no values, so nothing is constructed.

Source: manifest-format 0.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from policyd.findings import Finding, Related, Severity
from policyd.manifest import codes
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar, Steps, path_of
from policyd.manifest.source import Source

MAX_DEPTH = 128
"""Lists and maps within each other, aliases followed; the platform's bound."""

ALIASES_PER_EVENT = 100
"""Aliases may be followed so many times as often as the document has events; the platform's bound."""

MAX_EXPANSION = 1_000_000
"""Elements that aliases may add to a document; tighter than the platform, which has no bound of its own here."""


_ALIAS_HELP = "quote a text that begins with `*`"


class UnreadableError(Exception):
    """The document cannot be composed; carries why."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding.message)


@dataclass(slots=True)
class _Weight:
    """What following aliases into an element costs."""

    elements: int = 1
    follows: int = 0
    height: int = 0

    def add(self, child: _Weight) -> None:
        self.elements += child.elements
        self.follows += child.follows
        self.height = max(self.height, child.height)


@dataclass(slots=True)
class _Open:
    """A list or map whose end has not come yet."""

    is_map: bool
    event: Any
    steps: Steps
    in_key: bool
    items: list[Located] = field(default_factory=list)
    entries: list[tuple[LocatedScalar, Located]] = field(default_factory=list)
    key: LocatedScalar | None = None
    wants_key: bool = True
    weight: _Weight = field(default_factory=_Weight)


def compose(source: Source) -> tuple[Located | None, tuple[Finding, ...]]:
    """The tree of the one document in `source`, and what is wrong with it.

    None for an empty document without findings, and for one that cannot be read.
    """
    findings: list[Finding] = []
    try:
        return _Composer(source, findings).run(), tuple(findings)
    except UnreadableError as error:
        return None, (*findings, error.finding)


def _parser(text: str) -> tuple[Any, type[Exception]]:
    """An event parser on libyaml, the newest one at hand, and the class of its errors.

    The older libyaml behind the second choice refuses a colon within a plain text in `[ ]` and `{ }`.
    """
    for name in ("yaml._yaml", "_ruamel_yaml", "ruamel.yaml.clib._ruamel_yaml"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        return module.CParser(text), module.YAMLError
    raise ImportError("neither PyYAML nor ruamel.yaml.clib comes with libyaml here")


class _Composer:
    def __init__(self, source: Source, findings: list[Finding]) -> None:
        self._source = source
        self._findings = findings
        self._anchors: dict[str, tuple[Located, _Weight] | None] = {}
        self._open: list[_Open] = []
        self._events = 0
        self._own = 0
        self._key_children = 0

    def run(self) -> Located | None:
        """Compose the first document, then look for a second one."""
        root: Located | None = None
        weight = _Weight()
        documents = 0
        for event in self._read():
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents == 2:
                    self._tell(
                        codes.SECOND_DOCUMENT,
                        "a second document begins here; only one may stand in a file",
                        event,
                        "put it into a file of its own and name that under `includes`",
                    )
                    break
                continue
            if kind in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
                continue
            self._events += 1
            done = self._take(event, kind)
            if done is not None:
                root, weight = done
        if weight.follows > ALIASES_PER_EVENT * self._events:
            self._refuse_size(root, f"aliases are followed more than {ALIASES_PER_EVENT} times per event")
        if weight.elements > self._own + MAX_EXPANSION:
            self._refuse_size(root, f"aliases expand to more than {MAX_EXPANSION} elements")
        return root

    def _refuse_size(self, root: Located | None, message: str) -> None:
        span = root.span if root is not None else self._source.span(0, 0, "$")
        raise UnreadableError(Finding(codes.ALIAS_LIMIT, Severity.ERROR, message, span, "repeat the text instead"))

    def _read(self) -> Iterator[Any]:
        parser, yaml_error = _parser(self._source.text)
        while True:
            try:
                event = parser.get_event()
            except yaml_error as error:
                raise UnreadableError(self._syntax(error)) from None
            if event is None:
                return
            yield event

    def _take(self, event: Any, kind: str) -> tuple[Located, _Weight] | None:
        """One event of a document; the root element when it is complete."""
        match kind:
            case "ScalarEvent":
                tag = event.tag if event.tag != "!" else None
                scalar = LocatedScalar(
                    event.value,
                    event.style or "",
                    tag,
                    self._source,
                    event.start_mark.index,
                    self._scalar_end(event),
                    self._steps(event.value),
                )
                weight = _Weight()
                self._own += 1
                if event.anchor:
                    self._anchors[event.anchor] = (scalar, weight)
                return self._give(scalar, weight)
            case "AliasEvent":
                return self._alias(event)
            case "MappingStartEvent" | "SequenceStartEvent":
                self._begin(event, is_map=kind == "MappingStartEvent")
                return None
            case _:
                return self._end(event)

    def _scalar_end(self, event: Any) -> int:
        end: int = event.end_mark.index
        if event.style in ("|", ">"):
            text = self._source.text
            while end > event.start_mark.index and text[end - 1] in " \t\r\n":
                end -= 1
        return end

    def _steps(self, text: str) -> Steps:
        """The place of the next element; a key stands at the place of its value."""
        if not self._open:
            return None
        top = self._open[-1]
        if not top.is_map:
            return (top.steps, len(top.items))
        if top.wants_key:
            return (top.steps, text)
        return (top.steps, top.key.text if top.key else "?")

    def _alias(self, event: Any) -> tuple[Located, _Weight] | None:
        name = event.anchor
        if name not in self._anchors:
            raise UnreadableError(
                self._finding(codes.UNKNOWN_ALIAS, "an alias has no anchor of its name before it", event, _ALIAS_HELP)
            )
        target = self._anchors[name]
        if target is None:
            raise UnreadableError(self._finding(codes.ALIAS_IN_ITSELF, "an alias stands inside its own anchor", event))
        node, weight = target
        if len(self._open) + weight.height > MAX_DEPTH:
            raise UnreadableError(self._too_deep(event))
        self._own += 1
        return self._give(node, _Weight(weight.elements, weight.follows + 1, weight.height))

    def _begin(self, event: Any, *, is_map: bool) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise UnreadableError(self._too_deep(event))
        top = self._open[-1] if self._open else None
        in_key = top is not None and (top.in_key or (top.is_map and top.wants_key))
        if event.anchor:
            self._anchors[event.anchor] = None
        self._own += 1
        self._open.append(_Open(is_map, event, self._steps("?"), in_key))

    def _end(self, event: Any) -> tuple[Located, _Weight] | None:
        top = self._open.pop()
        start = top.event.start_mark.index
        tag = top.event.tag if top.event.tag != "!" else None
        node: Located
        if top.is_map:
            last = max(top.entries[-1][1].end, top.entries[-1][0].end) if top.entries else start
            end = event.end_mark.index if top.event.flow_style else max(last, start)
            node = LocatedMap(tuple(top.entries), tag, self._source, start, end, top.steps)
        else:
            end = event.end_mark.index if top.event.flow_style else max(top.items[-1].end if top.items else 0, start)
            node = LocatedList(tuple(top.items), tag, self._source, start, end, top.steps)
        top.weight.height += 1
        if top.event.anchor:
            self._anchors[top.event.anchor] = (node, top.weight)
        return self._give(node, top.weight)

    def _give(self, node: Located, weight: _Weight) -> tuple[Located, _Weight] | None:
        """Hand a complete element to what it stands in."""
        if not self._open:
            return node, weight
        top = self._open[-1]
        top.weight.add(weight)
        if not top.is_map:
            top.items.append(node)
        elif top.wants_key:
            top.wants_key = False
            if isinstance(node, LocatedScalar):
                top.key = node
            else:
                top.key = None
                noun = "map" if isinstance(node, LocatedMap) else "list"
                self._findings.append(
                    Finding(
                        codes.COLLECTION_KEY,
                        Severity.ERROR,
                        f"a {noun} cannot be a key",
                        self._source.span(node.start, node.end, path_of(top.steps)),
                        "quote a text that begins with `{` or `[`",
                    )
                )
        else:
            top.wants_key = True
            if top.key is not None:
                top.entries.append((top.key, node))
        return None

    def _finding(self, code: str, message: str, event: Any, help_text: str = "") -> Finding:
        span = self._source.span(event.start_mark.index, event.end_mark.index, path_of(self._steps("?")))
        return Finding(code, Severity.ERROR, message, span, help_text)

    def _tell(self, code: str, message: str, event: Any, help_text: str) -> None:
        self._findings.append(self._finding(code, message, event, help_text))

    def _too_deep(self, event: Any) -> Finding:
        return self._finding(codes.TOO_DEEP, f"nested deeper than {MAX_DEPTH} levels", event)

    def _syntax(self, error: Exception) -> Finding:
        """A diagnostic from the parser's own words; its place is cut to the text."""
        problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML")
        context = str(getattr(error, "context", None) or "")
        mark = getattr(error, "problem_mark", None)
        index = mark.index if mark is not None else 0
        at = min(max(int(index), 0), len(self._source.text))
        related: tuple[Related, ...] = ()
        begun = getattr(error, "context_mark", None)
        if begun is not None and context and begun.index != index:
            begin = min(max(int(begun.index), 0), len(self._source.text))
            related = (Related(context, self._source.span(begin, begin)),)
        message = f"not YAML: {problem}" + (f", {context}" if context else "")
        if "nesting depth" in problem:
            message = f"nested deeper than {MAX_DEPTH} levels"
            return Finding(codes.TOO_DEEP, Severity.ERROR, message, self._source.span(at, at), "", related)
        help_text = ""
        line = self._source.line(self._source.span(at, at).line)
        if "\t" in line[: len(line) - len(line.lstrip())]:
            help_text = "indent with spaces: a tab is not allowed there"
        elif "mapping values" in problem or ("did not find expected" in problem and " : " in line):
            help_text = "quote a text that contains `: `, such as a grant"
        elif "start any token" in problem:
            help_text = "quote a text that begins with `@`, `%`, `` ` `` or a tab"
        return Finding(codes.SYNTAX, Severity.ERROR, message, self._source.span(at, at), help_text, related)
