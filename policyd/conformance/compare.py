"""Comparing an answer with a recorded one, by the rules of the vectors' own description.

Numbers compare by value and kind, objects without regard to key order, arrays in order; texts for
people are left out. Members that the recorded answer does not have are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FOR_PEOPLE = frozenset({"message", "detail"})
_DETAIL_PARTS = ("class", "owner", "verb", "resource")
_COMPARED_DETAIL = frozenset({"UnknownClass", "SlotVariableInConcreteGrant"})


def json_kind(value: object) -> str:
    """The JSON kind of a value: Python's own equality takes `True` for `1`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "array" if isinstance(value, Sequence) else "object"


def same_value(recorded: object, given: object) -> bool:
    """Whether two JSON values are equal: kinds first, numbers by value (exactly, never by way of a float)."""
    kind = json_kind(recorded)
    if kind != json_kind(given):
        return False
    if isinstance(recorded, Mapping) and isinstance(given, Mapping):
        return recorded.keys() == given.keys() and all(same_value(v, given[k]) for k, v in recorded.items())
    if kind == "array":
        assert isinstance(recorded, Sequence)
        assert isinstance(given, Sequence)
        return len(recorded) == len(given) and all(same_value(a, b) for a, b in zip(recorded, given, strict=True))
    return recorded == given


def differences(recorded: object, given: object, path: str = "") -> list[str]:
    """Where `given` does not agree with `recorded`, as places; empty when it agrees."""
    if not isinstance(recorded, Mapping):
        return [] if same_value(recorded, given) else [path or "answer"]
    if not isinstance(given, Mapping):
        return [path or "answer"]
    found: list[str] = []
    for name, value in recorded.items():
        if name in FOR_PEOPLE:
            continue
        here = f"{path}.{name}" if path else str(name)
        if name == "error" and isinstance(value, Mapping):
            found += _error_differences(value, given.get(name), here)
        elif name not in given:
            found.append(here)
        elif name == "json":
            found += [] if same_value(value, given[name]) else [here]
        else:
            found += differences(value, given[name], here)
    return found


def _error_differences(recorded: Mapping[str, object], given: object, path: str) -> list[str]:
    """An error: its kind where one is recorded, and the parts of its detail that are compared."""
    if not isinstance(given, Mapping):
        return [path] if "kind" in recorded else []
    found = []
    kind = recorded.get("kind")
    if "kind" in recorded and not same_value(kind, given.get("kind")):
        found.append(f"{path}.kind")
    detail, ours = recorded.get("detail"), given.get("detail")
    if isinstance(detail, Mapping):
        found += [
            f"{path}.detail.{part}"
            for part in _DETAIL_PARTS
            if part in detail and not (isinstance(ours, Mapping) and same_value(detail[part], ours.get(part)))
        ]
    elif kind in _COMPARED_DETAIL and not same_value(detail, ours):
        found.append(f"{path}.detail")
    return found
