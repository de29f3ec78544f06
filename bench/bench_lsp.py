"""The language server on a manifest of 2,000 lines: how long after a keystroke findings are there.

Over a real connection. `text and grants` is the first answer after a change (bar: 150 ms at p95); `rules and proofs`
the complete one, the wait for quiet included (bar: 2 s).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

LINES = 2_000
KEYSTROKES = 200
FULL = 15
SEED = 7


def manifest(rng: Random) -> str:
    """Agents of 25 grants each, a part of them denied or covered by others."""
    out = [
        "manifestVersion: 1.6.0",
        "app: shop",
        "environments:",
        "  prod:",
        "    account: acme@example.com",
        "agents:",
    ]
    number = 0
    while len(out) < LINES:
        number += 1
        out += [f"  Agent{number}:", "    initialCard:", "      lowerBound:", "        positive:"]
        for index in range(20):
            verb, key, path = rng.choice(("read", "write")), rng.choice("abcdef*"), rng.choice(("a.txt", "**"))
            kv = f"kv(?env) @ ?agent : {verb} : area{number}.{key}"
            files = f"filesystem(?agent) @ ?agent : read : /data/{number}/{index}/{path}"
            out.append(f'          - "{kv if index % 2 else files}"')
        out.append("        negative:")
        out += [f'          - "network() @ ?agent : connect : h{index}.example.com:443"' for index in range(5)]
        out += ["      upperBound:", "        positive:", '          - "filesystem(?env/*/*) @ ?agent : * : /**"']
    return "\n".join(out) + "\n"


async def measure() -> None:
    """One session: keystrokes in grants all over the document."""
    rng = Random(SEED)
    text = manifest(rng)
    client = LanguageClient("bench", "1")
    arrived: asyncio.Queue[tuple[float, list[lsp.Diagnostic]]] = asyncio.Queue()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: lsp.PublishDiagnosticsParams) -> None:
        arrived.put_nowait((perf_counter(), list(params.diagnostics)))

    await client.start_io(sys.executable, "-m", "policyd", "lsp")
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "golem.yaml"
        path.write_text(text, encoding="utf-8")
        uri = path.as_uri()
        begin = perf_counter()
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "yaml", 1, text)))
        first, _ = await arrived.get()
        complete, found = await arrived.get()
        print(f"opened: text and grants {1e3 * (first - begin):.0f} ms, complete {1e3 * (complete - begin):.0f} ms")
        print(f"{text.count(chr(10))} lines, {len(found)} findings")
        lines = text.split("\n")
        grants = [number for number, line in enumerate(lines) if '- "' in line]
        quick: list[float] = []
        full: list[float] = []
        for number in range(KEYSTROKES):
            line = rng.choice(grants)
            place = lsp.Position(line, rng.randrange(lines[line].index('"') + 1, len(lines[line])))
            for change, where in (
                ("x", lsp.Range(place, place)),
                ("", lsp.Range(place, lsp.Position(line, place.character + 1))),
            ):
                start = perf_counter()
                version = 2 + 2 * number + (change == "")
                client.text_document_did_change(
                    lsp.DidChangeTextDocumentParams(
                        lsp.VersionedTextDocumentIdentifier(version, uri),
                        [lsp.TextDocumentContentChangePartial(where, change)],
                    )
                )
                then, _ = await arrived.get()
                quick.append(then - start)
                if change == "" and number < FULL:
                    then, _ = await arrived.get()
                    full.append(then - start)
        for name, times in (("text and grants", quick), ("rules and proofs", full)):
            times.sort()
            p95 = times[int(len(times) * 0.95)]
            print(f"{name}: {len(times)} changes, median {1e3 * median(times):.0f} ms, p95 {1e3 * p95:.0f} ms")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


if __name__ == "__main__":
    asyncio.run(measure())
