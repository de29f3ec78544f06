"""An editor that speaks to the real server over its standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

PATIENCE_S = 30.0
"""No answer after so long is a failure; answers take a fraction of a second."""


class Editor:
    """What an editor does: opens and changes documents, and notes what it is told about them."""

    def __init__(self) -> None:
        self.client = LanguageClient("editor", "1")
        self.told: dict[str, list[lsp.Diagnostic]] = {}
        self.count = 0
        self._news = asyncio.Event()
        self._versions: dict[str, int] = {}

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.told[params.uri] = list(params.diagnostics)
            self.count += 1
            self._news.set()

    async def start(self, encodings: list[lsp.PositionEncodingKind] | None = None) -> lsp.InitializeResult:
        """Start the server as editors do."""
        await self.client.start_io(sys.executable, "-m", "policyd", "lsp")
        general = lsp.GeneralClientCapabilities(position_encodings=encodings)
        result = await self.client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(general=general)))
        self.client.initialized(lsp.InitializedParams())
        return result

    async def stop(self) -> int | None:
        """End it in order, and give its exit code."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        process = self.client._server
        assert process is not None
        code = await asyncio.wait_for(process.wait(), PATIENCE_S)
        await self.client.stop()
        return code

    def open(self, path: Path, text: str | None = None) -> str:
        """Show a document; its address."""
        uri = path.as_uri()
        self._versions[uri] = 1
        kept = path.read_text(encoding="utf-8") if text is None else text
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "yaml", 1, kept)))
        return uri

    def change(self, uri: str, text: str, where: lsp.Range | None = None) -> None:
        """Replace a stretch of a document, or all of it."""
        self._versions[uri] += 1
        event = (
            lsp.TextDocumentContentChangeWholeDocument(text)
            if where is None
            else lsp.TextDocumentContentChangePartial(where, text)
        )
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(self._versions[uri], uri), [event])
        )

    def close(self, uri: str) -> None:
        """Put a document away."""
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until what was told is as expected."""

        async def wait() -> None:
            while not holds():
                self._news.clear()
                await self._news.wait()

        try:
            await asyncio.wait_for(wait(), PATIENCE_S)
        except TimeoutError:
            raise AssertionError(f"never told; last told: {self.told}") from None

    def codes(self, uri: str) -> list[str]:
        """The codes told about a document."""
        return [str(d.code) for d in self.told.get(uri, [])]


@contextlib.asynccontextmanager
async def editing(encodings: list[lsp.PositionEncodingKind] | None = None) -> AsyncIterator[Editor]:
    """An editor with a running server; the server has to end in order."""
    editor = Editor()
    await editor.start(encodings)
    yield editor
    assert await editor.stop() == 0


def play(session: Coroutine[Any, Any, None]) -> None:
    """Run a session in a thread of its own: a browser of other tests may keep a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, session).result()
