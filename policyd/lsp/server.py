"""The session behind the language server protocol: what arrives, when it is answered, and what is sent unasked.

After a change the text, its keys and its grants are judged at once; rules and proofs wait until the typing stops, and
run beside the connection.

Source: interface, `lsp`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from policyd import __version__
from policyd.core.cards import Timestamp
from policyd.core.edition import Rules
from policyd.lsp.files import Held, path_of_uri
from policyd.lsp.positions import Ruler
from policyd.lsp.session import Session, Shown
from policyd.usecases.policy_tests import Stored

QUIET_S = 0.3
"""After so many seconds without a change rules and proofs are run."""


class PolicyServer(LanguageServer):
    """The server of one editor."""

    def __init__(self, rules: Rules, now: Callable[[], Timestamp], stored: Stored) -> None:
        super().__init__("policyd", __version__)
        self.session = Session(stored, Held(), rules)
        self.now = now
        self._waiting: dict[Path, asyncio.Task[None]] = {}
        self._told: dict[Path, set[Path]] = {}

    def changed(self, path: Path, *, is_closed: bool = False) -> None:
        """Judge a document at once, and plan the rest."""
        others = self.session.changed(path)
        self._tell(path, {path: []} if is_closed else self.session.quick(path))
        self._plan(path, is_closed=is_closed)
        for other in others:
            self._plan(other)

    def _plan(self, path: Path, *, is_closed: bool = False) -> None:
        waiting = self._waiting.pop(path, None)
        if waiting is not None:
            waiting.cancel()
        if not is_closed:
            self._waiting[path] = asyncio.get_running_loop().create_task(self._later(path))

    async def _later(self, path: Path) -> None:
        await asyncio.sleep(QUIET_S)
        text = self.session.held.texts.get(path)
        shown = await asyncio.to_thread(self.session.full, path, self.now())
        # a change that came meanwhile has its own turn
        if self.session.held.texts.get(path) is text:
            self._tell(path, shown)

    def _tell(self, path: Path, shown: Shown) -> None:
        gone = self._told.get(path, set()) - shown.keys()
        self._told[path] = set(shown)
        for place, found in (*shown.items(), *((place, []) for place in gone)):
            uri = self.session.held.uri_of(place)
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))


def server(rules: Rules, now: Callable[[], Timestamp], stored: Stored) -> PolicyServer:
    """A server that is not started yet.

    Args:
        rules: the edition by which documents are judged.
        now: the moment for which accepted findings count.
        stored: finds places in the store, for policy tests that name one.
    """
    made = PolicyServer(rules, now, stored)
    _documents(made)
    _questions(made)
    return made


def _documents(made: PolicyServer) -> None:
    session = made.session

    @made.feature(lsp.INITIALIZED)
    def initialized(_: lsp.InitializedParams) -> None:
        session.held.ruler = Ruler(made.workspace.position_encoding or lsp.PositionEncodingKind.Utf16)

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(asked: lsp.DidOpenTextDocumentParams) -> None:
        path = session.held.keep(asked.text_document.uri, asked.text_document.text)
        if path is not None:
            made.changed(path)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(asked: lsp.DidChangeTextDocumentParams) -> None:
        uri = asked.text_document.uri
        path = session.held.keep(uri, made.workspace.get_text_document(uri).source)
        if path is not None:
            made.changed(path)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(asked: lsp.DidCloseTextDocumentParams) -> None:
        path = session.held.drop(asked.text_document.uri)
        if path is not None:
            made.changed(path, is_closed=True)


def _questions(made: PolicyServer) -> None:
    session = made.session

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(asked: lsp.HoverParams) -> lsp.Hover | None:
        path = path_of_uri(asked.text_document.uri)
        text = session.hover(path, asked.position) if path is not None else ""
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text else None

    @made.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["(", "@", ":", "/", '"', "?", " "])
    )
    def completion(asked: lsp.CompletionParams) -> lsp.CompletionList:
        path = path_of_uri(asked.text_document.uri)
        items = session.completion(path, asked.position) if path is not None else []
        return lsp.CompletionList(is_incomplete=False, items=items)

    @made.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(asked: lsp.DefinitionParams) -> list[lsp.Location]:
        path = path_of_uri(asked.text_document.uri)
        return session.definition(path, asked.position) if path is not None else []

    @made.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def actions(asked: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        path = path_of_uri(asked.text_document.uri)
        return session.actions(path, list(asked.context.diagnostics), asked.range.start) if path is not None else []

    @made.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(asked: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        path = path_of_uri(asked.text_document.uri)
        return session.formatting(path) if path is not None else []
