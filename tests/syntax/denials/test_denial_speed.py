"""Time grows with the length of a paste, whatever it holds."""

from __future__ import annotations

import gc
import time

import pytest
from test_denial_quiet import TEMPLATES, excerpt_of

from policyd.syntax.denials import recognise

HOSTILE = (
    "Unauthorized: (((((",
    '"{{{{',
    "\\",
    "\0",
    "\ud800",
    "\x1b[",
    "Kv(ClassPermissionTarget { verb: Some(",
    'Kv(ClassPermissionTarget { x: ["',
    "permission denied ",
    "golem Environment not found ",
    "golem EACCES connect a.b.c.d.e.f ",
    "Remote agent a.b.c errored: {",
    "RetryPolicyError {",
    "\\u001b[",
)


def _log(size: int) -> str:
    lines: list[str] = []
    length = seed = 0
    while length < size:
        lines.append(excerpt_of(TEMPLATES[seed % len(TEMPLATES)]["text"], seed))
        length += len(lines[-1]) + 1
        seed += 1
    return "\n".join(lines)[:size]


def _seconds(text: str) -> float:
    best = float("inf")
    gc.collect()
    gc.disable()  # else what other tests have left is counted, too
    try:
        for _ in range(5):
            start = time.process_time()
            recognise(text)
            best = min(best, time.process_time() - start)
    finally:
        gc.enable()
    return best


@pytest.mark.acceptance
def test_a_megabyte_of_ordinary_logs_takes_no_time() -> None:
    """Under 200 ms on one core, and twice as much takes at most 2.2 times as long."""
    one, two = _seconds(_log(1_000_000)), _seconds(_log(2_000_000))
    assert one < 0.2
    assert two <= 2.2 * one


@pytest.mark.acceptance
@pytest.mark.parametrize("piece", HOSTILE, ids=lambda p: repr(p[:20]))
def test_a_hostile_megabyte_is_linear(piece: str) -> None:
    """Twice as much takes little more than twice as long, or reaches the number of places that are read."""
    one, two = (_seconds((piece * (size // len(piece) + 1))[:size]) for size in (500_000, 1_000_000))
    assert one < 3
    assert two <= 2.5 * one + 0.02


@pytest.mark.parametrize("piece", HOSTILE, ids=lambda p: repr(p[:20]))
def test_a_hostile_text_is_done_soon(piece: str) -> None:
    """A twentieth of a megabyte."""
    start = time.process_time()
    recognise((piece * (50_000 // len(piece) + 1))[:50_000])
    assert time.process_time() - start < 2
