"""Where the elements of a document begin and end in its text, and edits of one entry or one list.

Source: manifest-format 0.1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from policyd.findings import Span
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar
from policyd.manifest.patch_text import (
    STEP,
    CannotPatchError,
    Content,
    TextEdit,
    block_text,
    flow_text,
    key_text,
    quoted,
)

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_ALIAS = re.compile(r"\s*\*[^\s,\[\]{}]+")


def is_flow(node: LocatedMap | LocatedList) -> bool:
    """Whether a collection is written with brackets."""
    text = node.source.text
    found = _PROPERTIES.match(text, node.start)
    return text[found.end() if found else node.start : node.end][:1] in ("{", "[")


def is_alias(key: LocatedScalar, value: Located) -> bool:
    """Whether the value of a key is written as an alias, so that it stands elsewhere."""
    return _ALIAS.match(value.source.text, _behind(key)) is not None and value.start < key.start


def _behind(key: LocatedScalar) -> int:
    """The offset behind the colon of a key."""
    return key.source.text.index(":", key.end) + 1


def last_offset(node: Located) -> int:
    """The offset behind the last character that belongs to an element, comments and line ends left out.

    Raises:
        CannotPatchError: where an item of a list is an alias.
    """
    text = node.source.text
    if isinstance(node, LocatedScalar):
        return node.start + len(text[node.start : node.end].rstrip())
    if is_flow(node):
        return node.end
    if isinstance(node, LocatedMap):
        return max((_end_of_entry(key, value) for key, value in node.entries), default=node.start)
    if any(not node.start <= item.start <= node.end for item in node.items):
        raise CannotPatchError("an item of a list is an alias")
    return max((last_offset(item) for item in node.items), default=node.start)


def _end_of_entry(key: LocatedScalar, value: Located) -> int:
    if is_alias(key, value):
        found = _ALIAS.match(key.source.text, _behind(key))
        assert found is not None  # that is how an alias is told
        return found.end()
    return max(_behind(key), last_offset(value))


def column_of(node: Located) -> int:
    """How many characters stand before an element on its line."""
    return node.start - (node.source.text.rfind("\n", 0, node.start) + 1)


def newline_of(text: str) -> str:
    """The line end that a document uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _line_end(text: str, offset: int) -> int:
    """The offset of the end of the line, before its line end."""
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    return end - 1 if text[end - 1 : end] == "\r" else end


def new_entry(parent: LocatedMap, key: str, content: Content) -> TextEdit:
    """A new last entry of a map that has entries already."""
    text = parent.source.text
    end = last_offset(parent)
    if is_flow(parent):
        close = parent.end - 1
        if not parent.entries:
            return TextEdit(close, close, f"{key_text(key)}: {flow_text(content)}")
        behind = max(_end_of_entry(k, v) for k, v in parent.entries)
        return TextEdit(behind, behind, f", {key_text(key)}: {flow_text(content)}")
    indent = column_of(parent.entries[0][0])
    newline = newline_of(text)
    at = _line_end(text, end)
    body = f"{newline}{' ' * indent}{key_text(key)}:{block_text(content, indent + STEP, newline)}"
    return TextEdit(at, at, body)


def filled(parent: LocatedMap, key: LocatedScalar, value: Located, content: Content) -> TextEdit:
    """An entry that holds nothing, or an alias, with something in its place."""
    text = parent.source.text
    start = _behind(key)
    if is_alias(key, value):
        found = _ALIAS.match(text, start)
        assert found is not None  # that is how an alias is told
        end = found.end()
    else:
        end = max(start, last_offset(value))
    if is_flow(parent):
        return TextEdit(start, end, f" {flow_text(content)}")
    return TextEdit(start, end, block_text(content, column_of(key) + STEP, newline_of(text)))


def appended(items: LocatedList, texts: Sequence[str]) -> list[TextEdit]:
    """New items behind the last one of a list that has some; written like their neighbour."""
    text = items.source.text
    last = items.items[-1]
    style = last.style if isinstance(last, LocatedScalar) and last.style in ("'", '"') else '"'
    end = last_offset(last)
    if is_flow(items):
        head = text[text.rfind("\n", 0, last.start) + 1 : last.start]
        between = f",{newline_of(text)}{head}" if not head.strip() and head != text[: last.start] else ", "
        return [TextEdit(end, end, "".join(between + quoted(t, style) for t in texts))]
    at = _line_end(text, end)
    lead = newline_of(text) + _dash(items, last)
    return [TextEdit(at, at, "".join(lead + quoted(t, style) for t in texts))]


def _dash(items: LocatedList, item: Located) -> str:
    """What stands before an item on its line: indentation, a dash, a space."""
    text = items.source.text
    head = text[text.rfind("\n", 0, item.start) + 1 : item.start]
    if not re.fullmatch(r"[ ]*-[ ]+", head):
        raise CannotPatchError("the items of the list do not stand on lines of their own")
    return head


def replaced(items: LocatedList, span: Span, texts: Sequence[str]) -> list[TextEdit]:
    """One item with others in its place, at least one.

    Raises:
        CannotPatchError: if no item stands at that place.
    """
    text = items.source.text
    item = items.items[_number_of(items, span)]
    style = item.style if isinstance(item, LocatedScalar) and item.style in ("'", '"') else '"'
    end = last_offset(item)
    first = TextEdit(item.start, end, quoted(texts[0], style))
    if len(texts) == 1:
        return [first]
    if is_flow(items):
        return [TextEdit(item.start, end, ", ".join(quoted(t, style) for t in texts))]
    at = _line_end(text, end)
    lead = newline_of(text) + _dash(items, item)
    return [first, TextEdit(at, at, "".join(lead + quoted(t, style) for t in texts[1:]))]


def removed(items: LocatedList, spans: Sequence[Span]) -> list[TextEdit]:
    """Some items gone, but not all of them; the edits leave room for new lines behind the last item.

    Raises:
        CannotPatchError: if no item stands at one of the places.
    """
    gone = {_number_of(items, span) for span in spans}
    if not is_flow(items):
        return [_line_gone(items, number) for number in sorted(gone)]
    kept = max(number for number in range(len(items.items)) if number not in gone)
    inner = [TextEdit(items.items[n].start, items.items[n + 1].start, "") for n in sorted(gone) if n < kept]
    if kept == len(items.items) - 1:
        return inner
    return [*inner, TextEdit(last_offset(items.items[kept]), last_offset(items.items[-1]), "")]


def _line_gone(items: LocatedList, number: int) -> TextEdit:
    """The line of an item gone with the line end before it, so that a line may still come in its place."""
    text = items.source.text
    item = items.items[number]
    _dash(items, item)
    start = text.rfind("\n", 0, item.start)
    return TextEdit(start - 1 if text[start - 1 : start] == "\r" else start, _line_end(text, last_offset(item)), "")


def _number_of(items: LocatedList, span: Span) -> int:
    number = next((n for n, item in enumerate(items.items) if item.start <= span.start <= item.end), None)
    if number is None or span.source != items.source.name:
        raise CannotPatchError("the grant does not stand in a list of its own")
    return number


def emptied(key: LocatedScalar, items: LocatedList) -> TextEdit:
    """A list without items, behind its key: an item may stand no further in than the key does."""
    return TextEdit(_behind(key), last_offset(items), " []")
