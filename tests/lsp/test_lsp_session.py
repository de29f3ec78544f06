"""The language server over a real connection."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp

from tests.lsp.conftest import editing, play

GOOD = """\
manifestVersion: 1.6.0
app: shop
environments:
  prod:
    account: acme@example.com
    server: cloud
components:
  shop:cart:
    dir: cart
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - "kv(?env) @ ?agent : read : orders.*"
          - "kv(?env) @ ?agent : read : orders.list"
        negative:
          - "secret(?env) @ ?agent : reveal : stripe.key"
"""


def at(text: str, needle: str, shift: int = 0) -> lsp.Position:
    offset = text.index(needle) + shift
    line = text.count("\n", 0, offset)
    return lsp.Position(line, offset - (text.rfind("\n", 0, offset) + 1))


def document(uri: str) -> lsp.TextDocumentIdentifier:
    return lsp.TextDocumentIdentifier(uri)


def test_a_session(tmp_path: Path) -> None:
    manifest = tmp_path / "golem.yaml"
    manifest.write_text(GOOD, encoding="utf-8")

    async def session() -> None:
        async with editing() as editor:
            uri = editor.open(manifest)
            # rules and proofs, too: one grant is covered by another
            await editor.until(lambda: "CARD013" in editor.codes(uri))
            covered = next(d for d in editor.told[uri] if d.code == "CARD013")
            assert GOOD.split("\n")[covered.range.start.line].strip().endswith('orders.list"')
            assert covered.source == "policyd"
            assert lsp.DiagnosticTag.Unnecessary in (covered.tags or [])

            # a grant that is none, while it is typed
            start = at(GOOD, "read : orders.list")
            editor.change(uri, "raed", lsp.Range(start, lsp.Position(start.line, start.character + 4)))
            await editor.until(lambda: any(c.startswith("GRANT") for c in editor.codes(uri)))
            wrong = next(d for d in editor.told[uri] if str(d.code).startswith("GRANT"))
            assert (wrong.range.start.line, wrong.range.start.character) == (start.line, start.character)
            assert wrong.severity is lsp.DiagnosticSeverity.Error

            # and back
            editor.change(uri, "read", lsp.Range(start, lsp.Position(start.line, start.character + 4)))
            await editor.until(lambda: "CARD013" in editor.codes(uri))

            meant = await editor.client.text_document_hover_async(lsp.HoverParams(document(uri), at(GOOD, "orders.*")))
            assert meant is not None
            assert isinstance(meant.contents, lsp.MarkupContent)
            assert "every key of store `orders`" in meant.contents.value
            assert "acme@example.com/shop/prod" in meant.contents.value
            assert "no longer admitted without it" in meant.contents.value

            found = await editor.client.text_document_definition_async(
                lsp.DefinitionParams(document(uri), at(GOOD, "orders.list"))
            )
            lines = {location.range.start.line for location in found or []}
            assert at(GOOD, "orders.*").line in lines

            offered = await editor.client.text_document_code_action_async(
                lsp.CodeActionParams(document(uri), covered.range, lsp.CodeActionContext([covered]))
            )
            titles = [action.title for action in offered or []]
            assert titles == ["policyd: take this grant away (proved: no decision changes)"]
            action = (offered or [])[0]
            assert isinstance(action, lsp.CodeAction)
            assert action.edit is not None
            changed = applied(GOOD, (action.edit.changes or {})[uri])
            assert "orders.list" not in changed
            assert "orders.*" in changed

            editor.change(uri, changed)
            await editor.until(lambda: editor.told[uri] != [] and "CARD013" not in editor.codes(uri))
            editor.close(uri)
            await editor.until(lambda: editor.told[uri] == [])

    play(session())


def applied(text: str, edits: object) -> str:
    lines = text.split("\n")
    assert isinstance(edits, list | tuple)
    (edit,) = edits
    start, end = edit.range.start, edit.range.end
    head = "\n".join([*lines[: start.line], lines[start.line][: start.character]])
    tail = "\n".join([lines[end.line][end.character :], *lines[end.line + 1 :]])
    return head + edit.new_text + tail


def test_completion_formatting_and_columns_beyond_the_basic_plane(tmp_path: Path) -> None:
    manifest = tmp_path / "golem.yaml"
    manifest.write_text(GOOD, encoding="utf-8")
    text = GOOD.replace('- "secret', '- "kv(?env) @ ?agent : delete : 😀x.**" # 😀\n          - "sec')

    async def session() -> None:
        async with editing([lsp.PositionEncodingKind.Utf16]) as editor:
            uri = editor.open(manifest, text)
            asked = lsp.CompletionParams(document(uri), at(text, '"sec', 4))
            listed = await editor.client.text_document_completion_async(asked)
            assert isinstance(listed, lsp.CompletionList)
            secret = next(item for item in listed.items if item.label == "secret")
            assert secret.insert_text == "secret(?env) @ ?agent : "
            first, second = (line for line in GOOD.split("\n") if "orders" in line)
            disordered = GOOD.replace(f"{first}\n{second}", f"{second}\n{first}")
            assert disordered != GOOD
            editor.change(uri, disordered)
            edits = await editor.client.text_document_formatting_async(
                lsp.DocumentFormattingParams(document(uri), lsp.FormattingOptions(2, True))
            )
            assert edits
            assert applied(disordered, edits) == GOOD

    play(session())


def test_an_included_document_is_judged_with_its_application(tmp_path: Path) -> None:
    (tmp_path / "golem.yaml").write_text(GOOD + "includes: [parts/*.yaml]\n", encoding="utf-8")
    parts = tmp_path / "parts"
    parts.mkdir()
    part = parts / "more.yaml"
    part.write_text("manifestVersion: 1.6.0\nagents:\n  Cart:\n    initialCard: {}\n", encoding="utf-8")

    async def session() -> None:
        async with editing() as editor:
            uri = editor.open(part)
            # the same agent stands in both documents
            await editor.until(lambda: bool(editor.codes(uri)))
            assert (tmp_path / "golem.yaml").as_uri() in editor.told

    play(session())


def test_what_is_no_manifest_ends_no_session(tmp_path: Path) -> None:
    odd = tmp_path / "golem.yaml"
    texts = [
        "",
        "\x00",
        "a: [",
        "- 1",
        "agents: {A: {initialCard: {lowerBound: {positive: [1, {}, null, '']}}}}",
        "?" * 9000,
    ]

    async def session() -> None:
        async with editing() as editor:
            uri = editor.open(odd, "x")
            for text in texts:
                editor.change(uri, text)
                for line, column in ((0, 0), (5, 7), (2**31 - 1, 2**31 - 1)):
                    place = lsp.Position(line, column)
                    await editor.client.text_document_hover_async(lsp.HoverParams(document(uri), place))
                    await editor.client.text_document_completion_async(lsp.CompletionParams(document(uri), place))
                    await editor.client.text_document_definition_async(lsp.DefinitionParams(document(uri), place))
                await editor.client.text_document_formatting_async(
                    lsp.DocumentFormattingParams(document(uri), lsp.FormattingOptions(2, True))
                )
            editor.change(uri, GOOD)
            await editor.until(lambda: "CARD013" in editor.codes(uri))

    play(session())


TESTS = """\
manifest: ../golem.yaml
env: prod
tests:
  - name: the cart works on its store
    agent: Cart
    allow:
      - "kv(?env) : read : orders.1"
      - "kv(?env) : write : orders.1"
    deny:
      - "secret(?env) : reveal : stripe.key"
"""


def test_policy_tests_fail_at_their_line_and_are_mended_from_there(tmp_path: Path) -> None:
    manifest = tmp_path / "golem.yaml"
    manifest.write_text("not what the editor shows", encoding="utf-8")
    folder = tmp_path / "policies"
    folder.mkdir()
    tests = folder / "shop.test.yaml"
    tests.write_text("", encoding="utf-8")

    async def session() -> None:
        async with editing() as editor:
            root = editor.open(manifest, GOOD)
            uri = editor.open(tests, TESTS)
            await editor.until(lambda: editor.codes(uri) == ["TEST010"])
            (failed,) = editor.told[uri]
            assert TESTS.split("\n")[failed.range.start.line].strip() == '- "kv(?env) : write : orders.1"'
            assert "admitted is no, expected yes" in failed.message

            found = await editor.client.text_document_definition_async(
                lsp.DefinitionParams(document(uri), at(TESTS, "read : orders.1"))
            )
            assert [(place.uri, place.range.start.line) for place in found or []] == [(root, at(GOOD, "orders.*").line)]
            meant = await editor.client.text_document_hover_async(
                lsp.HoverParams(document(uri), at(TESTS, "read : orders.1"))
            )
            assert meant is not None
            assert isinstance(meant.contents, lsp.MarkupContent)
            assert "holds" in meant.contents.value

            offered = await editor.client.text_document_code_action_async(
                lsp.CodeActionParams(document(uri), failed.range, lsp.CodeActionContext([failed]))
            )
            action = next(a for a in offered or [] if "opens nothing else" in a.title)
            assert isinstance(action, lsp.CodeAction)
            assert action.edit is not None
            changed = applied(GOOD, (action.edit.changes or {})[root])
            editor.change(root, changed)
            await editor.until(lambda: editor.told[uri] == [])

            editor.change(uri, TESTS.replace("allow:", "alow:"))
            await editor.until(lambda: editor.codes(uri) == ["TEST001"])

    play(session())
