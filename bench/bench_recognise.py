"""Time to recognise denials in pastes of one and two megabytes: ordinary logs, and texts made to be slow.

Run with `python bench/bench_recognise.py`. Printed are the milliseconds for each text at both sizes and their ratio;
ordinary logs are to stay under 200 ms per megabyte, every ratio under 2.2 where the times are long enough to compare.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from policyd.syntax.denials import recognise

MEGABYTE = 1_000_000
_LINES = (
    '2026-11-30T12:00:{0:02d}.123Z  INFO golem_worker_executor::worker: invocation finished agent=Cart("{1}") ms={2}',
    '192.168.0.{0} - - [30/Nov/2026:12:00:00 +0000] "GET /api/v1/items/{1} HTTP/1.1" 200 {2} "-" "Mozilla/5.0"',
    '{{"level":"info","ts":"2026-11-30T12:{0:02d}:00Z","msg":"request completed","path":"/v1/things/{1}","ms":{2}}}',
    "Nov 30 12:00:{0:02d} host kernel: [{1}.{2}] usb 1-1: new high-speed USB device number 4 using xhci_hcd",
    "\tat org.example.service.ItemHandler.handle(ItemHandler.java:{1})",
    "time=12:00:{0:02d} level=warn msg=retrying attempt={0} error=connection reset by peer target=10.0.0.{0}:{1}",
)
TARGET = (
    "The permission target Kv(ClassPermissionTarget { verb: Some(Read), owner: Environment {"
    ' account: AccountEmail("a@b.c"),'
    ' application: ApplicationName("shop"), environment: EnvironmentName("prod") }, resource: StoreKey { store: "s",'
    ' key_pattern: "k" } }) is not allowed'
)


def ordinary(size: int) -> str:
    """A log of many programs."""
    chooser = random.Random(4)
    lines: list[str] = []
    length = 0
    while length < size:
        line = chooser.choice(_LINES).format(chooser.randrange(60), chooser.randrange(10_000), chooser.randrange(999))
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:size]


def repeated(piece: str) -> Callable[[int], str]:
    """A text that is one piece again and again."""
    return lambda size: (piece * (size // len(piece) + 1))[:size]


TEXTS: dict[str, Callable[[int], str]] = {
    "ordinary logs": ordinary,
    "unauthorized and brackets": lambda size: "Unauthorized: " + "(" * size,
    "quotes and braces": repeated('"{{{{'),
    "backslashes": repeated("\\"),
    "one quoted line": lambda size: '"' + "x" * size,
    "spaces": repeated(" "),
    "line feeds": repeated("\n"),
    "NULs": repeated("\0"),
    "surrogates": repeated("\ud800"),
    "escape characters": repeated("\x1b["),
    "colour codes": repeated("\x1b[31mx\x1b[0m"),
    "open colour codes": repeated("\x1b]8;;"),
    "escaped colour codes": repeated("\\u001b["),
    "heads of targets": repeated("Kv(ClassPermissionTarget { verb: Some("),
    "heads in texts": repeated('Kv(ClassPermissionTarget { x: ["'),
    "nested heads": repeated("A(ClassPermissionTarget { a: "),
    "open target": lambda size: 'The permission target Kv(ClassPermissionTarget { a: "' + "x" * size,
    "lists in targets": lambda size: "The permission target Kv(ClassPermissionTarget { a: " + "[" * size,
    "same target": repeated(TARGET + "\n"),
    "same target, one line": repeated(TARGET + " "),
    "escaped targets": repeated(TARGET.replace('"', '\\"') + "\\n"),
    "permission denied": repeated("permission denied "),
    "permission denied: lines": repeated("Permission denied: permission denied\n"),
    "unauthorized": repeated("Unauthorized: "),
    "codes": repeated('"code":"AUTH_FORBIDDEN",'),
    "statuses": repeated("golem 403 Forbidden\n"),
    "not found": repeated("Environment not found "),
    "not found, about agents": repeated("golem Environment not found "),
    "codes of connections": repeated("golem EACCES connect a.b.c.d.e.f "),
    "not found, long": repeated("Component " + "a" * 79 + " not found"),
    "remote agent": repeated("Remote agent "),
    "remote agent, dots": repeated("Remote agent a.b.c errored: {"),
    "service lines": repeated("A Service - Error: 403 "),
    "service line, long": lambda size: "A " * (size // 2) + "Service - Error: 403",
    "denied": repeated('denied"'),
    "names": repeated("GOLEM_AGENT_ID "),
    "driver": repeated("KeyValueError(get): "),
    "retry": repeated("RetryPolicyError {"),
    "entities": repeated("&quot;"),
    "secrets": repeated("token=abc not-permitted password: "),
    "oplog": repeated("card revoked #1 "),
    "tool": repeated("is not bound to agent type "),
    "tool, quotes": repeated("tool 'a' is not bound to agent type "),
    "codes of objects": repeated("_NOT_FOUND"),
    "addresses": repeated("EACCES connect a.b.c.d.e.f "),
    "wrapped": repeated("The permission\ntarget "),
}
"""Texts by name; each is made in a given size."""


def seconds(text: str) -> float:
    """The CPU time, the least of two measurements: a machine that is busy stretches the time that passes."""
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        recognise(text)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print a line per text."""
    for name, make in TEXTS.items():
        one, two = seconds(make(MEGABYTE)), seconds(make(2 * MEGABYTE))
        print(f"{name:28} {one * 1000:8.1f} ms {two * 1000:8.1f} ms  x{two / one:.2f}")


if __name__ == "__main__":
    main()
