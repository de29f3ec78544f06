"""policyd fmt: documents in canonical layout, written whole or not at all.

Source: interface, `fmt`.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from policyd.core.edition import Rules
from policyd.findings import InputError, Severity, visible
from policyd.manifest import load_text
from policyd.manifest.layout import canonical_layout
from policyd.manifest.load import read_bytes


@dataclass(frozen=True, slots=True)
class Formatted:
    """What the layout of one document would be.

    Attributes:
        name: of the file.
        text: the document in canonical layout.
        is_canonical: whether it is so already.
        changes: a unified diff without context, so that no value beside a grant is shown.
        unread: a sentence for each text that is no grant.
    """

    name: str
    text: str
    is_canonical: bool
    changes: str
    unread: tuple[str, ...]


def formatted(path: Path, rules: Rules) -> Formatted:
    """The canonical layout of one document; documents that it includes are not looked at.

    Raises:
        InputError: if it cannot be read, or is no document of a manifest.
    """
    data = read_bytes(path, str(path))
    try:
        before = data.decode("utf-8")
    except UnicodeDecodeError:
        before = ""
    loaded = load_text(data, str(path), rules=rules)
    document = loaded.documents[0]
    if document.root is None or not document.is_read:
        raise InputError(*(f for f in loaded.findings if f.severity is Severity.ERROR))
    layout = canonical_layout(document, rules)
    mark = before[: len(before) - len(document.source.text)]
    changes = unified_diff(
        document.source.text.splitlines(), layout.text.splitlines(), str(path), str(path), lineterm="", n=0
    )
    unread = tuple(
        f"{span.where}: this is no grant and was left as it is; `policyd audit` says why" for span in layout.unread
    )
    is_canonical = layout.text == document.source.text
    return Formatted(str(path), mark + layout.text, is_canonical, "\n".join(map(visible, changes)), unread)
