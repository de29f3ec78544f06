"""The documents that an editor holds, and which manifest each belongs to.

Source: manifest-format 2 (includes).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from policyd.lsp.positions import Ruler

ROOT_NAME = "golem.yaml"
"""How the manifest of an application is called by the platform."""

MAX_HELD = 1_000
"""Documents that are kept at once; an editor with more is told nothing about further ones."""

MAX_FOLDERS_UP = 16
"""How far up a root manifest is looked for."""

TEST_ENDINGS = (".test.yaml", ".test.yml")


def path_of_uri(uri: str) -> Path | None:
    """The resolved path of a `file:` address on this machine; None for other addresses."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    try:
        return Path(url2pathname(unquote(parts.path))).resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def is_tests(path: Path) -> bool:
    """Whether this is a file of policy tests, by its name."""
    return path.name.endswith(TEST_ENDINGS)


@dataclass(slots=True)
class Held:
    """The documents that are open, as the editor shows them.

    Attributes:
        texts: resolved path to text.
        uris: the address by which the editor knows each.
        ruler: how the editor counts columns.
    """

    texts: dict[Path, str] = field(default_factory=dict)
    uris: dict[Path, str] = field(default_factory=dict)
    ruler: Ruler = field(default_factory=Ruler)

    def keep(self, uri: str, text: str) -> Path | None:
        """Note the text of a document; None where it lies on no disk or too many are held."""
        path = path_of_uri(uri)
        if path is None or (path not in self.texts and len(self.texts) >= MAX_HELD):
            return None
        self.texts[path] = text
        self.uris[path] = uri
        return path

    def drop(self, uri: str) -> Path | None:
        """Forget a document; from now on the file counts."""
        path = path_of_uri(uri)
        if path is not None:
            self.texts.pop(path, None)
            self.uris.pop(path, None)
        return path

    def uri_of(self, path: Path) -> str:
        """The address of a document, as the editor writes it where it holds it."""
        return self.uris.get(path) or path.as_uri()

    def roots_above(self, path: Path) -> Iterator[Path]:
        """The manifests in the folders around a document, nearest first."""
        for folder in list(path.parents)[:MAX_FOLDERS_UP]:
            candidate = folder / ROOT_NAME
            if candidate in self.texts or candidate.is_file():
                yield candidate
