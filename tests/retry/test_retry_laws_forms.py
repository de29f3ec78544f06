"""Forms round trip, and no document makes reading fail otherwise than by refusing it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from retry_strategies import POLICIES, PREDICATES

from policyd.core.retry import (
    Policy,
    Predicate,
    RetryFormError,
    duration_text,
    floored_ms,
    parse_duration,
    policy_from_api,
    policy_from_nodes,
    predicate_from_api,
    predicate_from_nodes,
    read_manifest_rule,
    read_policy,
    read_predicate,
    read_rule,
    tree_fingerprint,
    write_api,
    write_canonical,
    write_nodes,
)
from policyd.core.retry.duration import DMAX_NS
from policyd.core.retry.json_text import decode_json
from policyd.core.retry.state import initial_state, state_from_json, state_to_json
from policyd.core.retry.tree import MAX_DEPTH
from policyd.syntax.retry_yaml import load_yaml

READERS: tuple[Callable[[object], object], ...] = (
    read_policy, read_predicate, read_rule, policy_from_api, predicate_from_api, policy_from_nodes,
    predicate_from_nodes, state_from_json, lambda document: read_manifest_rule("r", document),
)  # fmt: skip
KEYS = st.sampled_from(
    ("countBox", "maxRetries", "max_retries", "inner", "periodic", "propEq", "property", "value", "and", "not", "type",
     "Periodic", "delayMs", "secs", "nanos", "text", "propExists", "nodes", "count-box", "filteredOn", "Counter")
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(("immediate", "true", "1s", "\ud800")),
    st.just(10**400),
)  # fmt: skip
DOCUMENTS = st.recursive(
    SCALARS, lambda b: st.one_of(st.lists(b, max_size=3), st.dictionaries(KEYS, b, max_size=3)), max_leaves=12
)


@given(POLICIES)
def test_policies_round_trip(policy: Policy) -> None:
    """The canonical form keeps everything; node lists and states keep what fits them."""
    assert read_policy(write_canonical(policy)) == policy
    assert tree_fingerprint(read_policy(write_canonical(policy))) == tree_fingerprint(policy)
    api = write_api(policy)
    assert write_api(policy_from_api(api)) == api
    nodes = write_nodes(policy)
    assert write_nodes(policy_from_nodes(nodes)) == nodes
    state = initial_state(policy)
    assert state_from_json(state_to_json(state)) == state


@given(PREDICATES)
def test_predicates_round_trip(predicate: Predicate) -> None:
    """All three forms of a predicate keep everything."""
    assert read_predicate(write_canonical(predicate)) == predicate
    assert predicate_from_api(write_api(predicate)) == predicate
    assert predicate_from_nodes(write_nodes(predicate)) == predicate


@given(DOCUMENTS)
def test_documents_are_read_or_refused(document: object) -> None:
    """No document makes a reader fail otherwise than with our error."""
    for read in READERS:
        with suppress(RetryFormError):
            read(document)


@given(st.text("0123456789.nuµmshdwy M\n", max_size=12))
def test_duration_texts_are_read_or_refused(text: str) -> None:
    """A duration text has a value within the model, or is refused."""
    with suppress(RetryFormError):
        assert 0 <= parse_duration(text) <= DMAX_NS


@given(st.integers(0, DMAX_NS))
def test_durations_round_trip_as_text(ns: int) -> None:
    """What we print for a duration is read back as the same."""
    assert parse_duration(duration_text(ns)) == ns
    assert floored_ms(ns) == ns // 10**6 % 2**64


@given(st.text(max_size=30))
def test_texts_are_yaml_or_refused(text: str) -> None:
    """No text makes the YAML reader fail otherwise than with our error."""
    with suppress(RetryFormError):
        load_yaml(text)


def _nested(depth: int, wrap: Callable[[Any], Any], core: object) -> object:
    for _ in range(depth):
        core = wrap(core)
    return core


@pytest.mark.parametrize("depth", (MAX_DEPTH, MAX_DEPTH + 1, 50_000))
@pytest.mark.parametrize(
    "read, wrap, core",
    (
        (read_policy, lambda x: {"countBox": [1, x]}, "immediate"),
        (read_policy, lambda x: {"union": ["never", x]}, "immediate"),
        (read_predicate, lambda x: {"not": x}, True),
        (policy_from_api, lambda x: {"type": "CountBox", "maxRetries": 1, "inner": x}, {"type": "Never"}),
    ),
    ids=("count boxes", "unions", "negations", "API form"),
)
def test_depth_is_bounded(depth: int, read: Callable[[object], Any], wrap: Callable[[Any], Any], core: object) -> None:
    """A tree of the greatest depth is read and written; a deeper one is refused, however deep."""
    document = _nested(depth, wrap, core)
    if depth <= MAX_DEPTH:
        tree = read(document)
        assert read_policy(write_canonical(tree)) == tree if read is not read_predicate else True
        return
    with pytest.raises(RetryFormError):
        read(document)


def test_compiled_limits_of_a_node_list() -> None:
    """Worked examples 213 to 216: depth and expanded nodes of a list are bounded."""
    chain = [{"count-box": {"max-retries": 1, "inner": i + 1}} for i in range(256)]
    policy_from_nodes([*chain, "immediate"])
    longer = [{"count-box": {"max-retries": 1, "inner": i + 1}} for i in range(257)]
    with pytest.raises(RetryFormError, match="RETRY122"):
        policy_from_nodes([*longer, "immediate"])
    doubled = [{"and-then": [i + 1, i + 1]} for i in range(11)]
    policy_from_nodes([*doubled, "immediate"])
    with pytest.raises(RetryFormError, match="RETRY122"):
        policy_from_nodes([*doubled, {"and-then": [12, 12]}, "immediate"])


@pytest.mark.parametrize("text", ("[" * 100_000, "NaN", '"\\ud800', "1" * 10_000 + "x", ""))
def test_json_text_is_refused(text: str) -> None:
    """What is no JSON that we read is refused with our error."""
    with pytest.raises(RetryFormError):
        decode_json(text)


def test_json_numbers_are_those_of_the_platform() -> None:
    """`-0` and integers beyond 64 bits are floats, and the last of two equal keys counts."""
    assert repr(decode_json("-0")) == "-0.0"
    assert decode_json('{"a": 1, "a": 18446744073709551616}') == {"a": 2.0**64}
    with pytest.raises(RetryFormError):
        read_policy({"countBox": {"maxRetries": decode_json("-0"), "inner": "immediate"}})
