"""Kept corpora and everything that ever broke, through their targets; and a short random share of every target."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

HERE = Path(__file__).parent


def inputs(name: str) -> list[Path]:
    """What is replayed for a target."""
    return [path for folder in ("corpus", "found") for path in sorted((HERE / folder / name).glob("*"))]


@pytest.mark.parametrize("name", TARGETS)
def test_kept_inputs_break_nothing(name: str) -> None:
    kept = inputs(name)
    assert kept, "every target has a corpus"
    for path in kept:
        TARGETS[name](path.read_bytes())


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "http"])
def test_random_bytes_and_cut_inputs_break_nothing(name: str) -> None:
    kept = [path.read_bytes() for path in inputs(name)]
    start = st.sampled_from(kept)
    cut = st.tuples(start, st.integers(0, 4_096), st.integers(0, 4_096), st.binary(max_size=6)).map(
        lambda parts: parts[0][: parts[1]] + parts[3] + parts[0][parts[2] :]
    )

    @settings(max_examples=25, deadline=None, derandomize=True, database=None)
    @given(st.one_of(st.binary(max_size=200), cut))
    def broken(data: bytes) -> None:
        TARGETS[name](data[:4_096])

    broken()
