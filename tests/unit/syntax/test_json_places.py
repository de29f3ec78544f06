"""Places of JSON values."""

import json

from hypothesis import given
from hypothesis import strategies as st

from policyd.findings import Finding, Severity, Span
from policyd.syntax.json_places import places, relocated, span_at

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def paths(value: object, path: str = "$") -> dict[str, object]:
    found = {path: value}
    if isinstance(value, list):
        for i, item in enumerate(value):
            found.update(paths(item, f"{path}[{i}]"))
    if isinstance(value, dict):
        for key, item in value.items():
            plain = key.isascii() and key.replace("-", "_").isidentifier() and key[0] != "-"
            found.update(paths(item, f"{path}.{key}" if plain else f'{path}["{key}"]'))
    return found


@given(value=VALUES, indent=st.sampled_from([None, 1]))
def test_every_value_stands_where_it_says(value: object, indent: int | None) -> None:
    """The text at the place of every value reads as that value."""
    text = json.dumps(value, indent=indent)
    where = places(text)
    for path, item in paths(value).items():
        start, end = where[path]
        assert json.loads(text[start:end]) == item


@given(text=st.text(max_size=40))
def test_any_text_is_survived(text: str) -> None:
    """Broken JSON gives some places and no error."""
    assert isinstance(places(text), dict)


def test_a_finding_gets_line_and_column() -> None:
    """A finding about a path is moved to the characters of its value, or to what is around it."""
    text = '{\n  "cards": [\n    {"cardId": "x"}\n  ]\n}'
    finding = Finding("CARD020", Severity.ERROR, "m", Span("card", path="$.cards[0].cardId"))
    (moved,) = relocated((finding,), "w.json", text)
    assert moved.span is not None
    assert moved.span.where == "w.json:3:17"
    assert span_at("w.json", text, places(text), "$.cards[0].parentIds").where == "w.json:3:5"
    assert span_at("w.json", "", {}, "$.x").where == "w.json"
