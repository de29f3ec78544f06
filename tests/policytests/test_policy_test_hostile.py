"""Whatever stands in a file of policy tests, the answer is one, or a mistake with a place in the file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from policyd.core.schema.reading import UnreadableError
from policyd.findings import InputError, Span
from policyd.policytests import TestFile, test_file_of_json
from policyd.usecases.policy_tests import Settings, runs_of
from policyd.usecases.policy_tests_subjects import Subject

ROOT = Path(__file__).parents[2]
CASES = YAML(typ="safe").load((ROOT / "tests/cases/policytests/expectations.yaml").read_text(encoding="utf-8"))
FILES = [case["file"] for case in CASES]
ODD: tuple[Any, ...] = (
    None, True, -1, 2**70, 1.5, "", "*", "@", "@1", "../x", "a(b", "yes", "\u202e", "x" * 3000, [], {}, [[]], {"": {}},
    ["a", 1], {"wallet": {}}, {"admitted": True},
)  # fmt: skip


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all parts of a value."""
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from nodes(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from nodes(part, (*path, index))


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A good file with one part replaced, or a key misspelled."""
    value = deepcopy(draw(st.sampled_from(FILES)))
    path = draw(st.sampled_from(list(nodes(value))))
    if not path:
        return draw(st.sampled_from(ODD))
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    if isinstance(holder, dict) and draw(st.booleans()) and draw(st.booleans()):
        holder[f"{path[-1]}x"] = holder.pop(path[-1])
    else:
        holder[path[-1]] = draw(st.sampled_from(ODD))
    return value


def nothing_stored(place: str, *_: object) -> Subject:
    """A store without deployments."""
    raise InputError.of("STORE010", f"no snapshot {place!r}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for tests beside the examples."""
    around = tmp_path_factory.mktemp("hostile")
    for name in ("shop", "retry", "chain", "wallet"):
        shutil.copytree(ROOT / "examples" / name, around / name)
    (around / "policies").mkdir()
    return around / "policies"


@settings(max_examples=40)
@given(value=damaged())
def test_a_damaged_file_is_answered_or_refused(folder: Path, value: Any) -> None:
    """Nothing but a refusal that names a place comes out of a damaged file."""
    path = folder / "a.test.yaml"
    path.write_text(json.dumps(value), encoding="utf-8")
    places: list[Span | None] = []
    try:
        for run in runs_of(path, Settings(None, {}, None, None, 0.1, nothing_stored)):
            places += [outcome.span for outcome in run.all()]
    except InputError as refusal:
        places += [finding.span for finding in refusal.findings]
    assert places
    assert all(place is not None and place.source for place in places)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["tests", "name", "agent", "calls"]), inner)
    ),
    max_leaves=8,
)


@given(JSON)
def test_any_value_is_a_file_or_is_refused(value: object) -> None:
    """The reader gives a file with expectations, or says which part it does not understand."""
    try:
        told: TestFile | str = test_file_of_json(value)
    except UnreadableError as refusal:
        told = refusal.reason
    assert told if isinstance(told, str) else all(test.expectations for test in told.tests)
