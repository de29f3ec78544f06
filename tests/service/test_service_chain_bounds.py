"""Types that take minutes when they are worked through: every question about them ends with an answer, over HTTP."""

import json

import pytest

SECONDS = 20
"""No question may take so long, on a machine that does much else; unbounded, each would take minutes."""
RECORD_OF_BOTH = "record{{a: &{0}, b: &{0}}}"


def notation(root, types):
    return {"type": root, "types": types}


def doubling(levels, leaf):
    """Two to the power of `levels` places."""
    types = {f"t{n}": RECORD_OF_BOTH.format(f"t{n - 1}") for n in range(1, levels)}
    return notation(f"&t{levels - 1}", {"t0": leaf, **types})


def circle(length, leaf="list<&{}>"):
    """A type that comes back to itself after `length` names: two circles meet after the product of their lengths."""
    return notation("&c0", {f"c{n}": leaf.format(f"c{(n + 1) % length}") for n in range(length)})


def deep(levels, leaf):
    """Lists within lists, by names."""
    return notation("&d0", {**{f"d{n}": f"list<&d{n + 1}>" for n in range(levels)}, f"d{levels}": leaf})


def maps(count, names, leaf):
    """Many fields that all hold one large type behind a stream, which no plan counts."""
    types = {f"b{n}": RECORD_OF_BOTH.format(f"b{n + 1}") for n in range(names)}
    fields = ", ".join(f"f{n}: stream<&b0>" for n in range(count))
    return notation(f"record{{{fields}}}", {**types, f"b{names}": leaf})


def enum(count, *, backwards=False):
    cases = [f"case-{n}" for n in range(count)]
    return {"root": {"kind": "enum", "value": {"cases": cases[::-1] if backwards else cases}}}


def union(count):
    """Rules that no two of can be told apart."""
    rule = {"rule": "contains", "value": {"substring": "a"}}
    branches = [{"tag": f"t{n}", "body": {"kind": "string", "value": {}}, "discriminator": rule} for n in range(count)]
    return {"root": {"kind": "union", "value": {"spec": {"branches": branches}}}}


PAIRS = {
    "doubling": (doubling(200, "u8"), doubling(200, "string")),
    "circles": (circle(1499), circle(1511)),
    "circles of options": (circle(997, "list<record{{a: &{0}, b: list<&{0}>}}>"), circle(1009)),
    "deep": (deep(8000, "u8"), deep(8000, "string")),
    "streams": (maps(1500, 1500, "u8"), maps(1500, 1500, "string")),
    "wide": (enum(40_000), enum(40_000, backwards=True)),
}
VERDICTS = {
    ("doubling", "project"): "no",
    ("doubling", "assign"): "no",
    ("doubling", "equivalent"): "no",
    ("circles", "project"): "no",
    ("circles", "assign"): "undecided",
    ("circles", "equivalent"): "yes",
    ("deep", "project"): "no",
    ("deep", "assign"): "no",
    ("deep", "equivalent"): "no",
    ("streams", "assign"): "no",
    ("streams", "equivalent"): "no",
    ("wide", "project"): "yes",
    ("wide", "assign"): "no",
    ("wide", "equivalent"): "no",
}


def ended(answer, status=200):
    assert answer.status_code == status, answer.text[:300]
    assert answer.elapsed.total_seconds() < SECONDS
    return answer.json()


@pytest.mark.parametrize("relation", ["project", "assign", "equivalent"])
@pytest.mark.parametrize("name", PAIRS)
def test_schemas_are_compared_within_their_steps(shop, name, relation):
    """What is known is answered, what is not is undecided and says so."""
    source, target = PAIRS[name]
    body = ended(shop.ask("/v1/schemas/compare", {"source": source, "target": target, "relation": relation}))
    assert body["verdict"] == VERDICTS.get((name, relation), body["verdict"])
    if body["verdict"] == "undecided":
        assert body["reason"] == "there is more to compare than one question may"
        assert not body.get("witness")


def tool(graph, **types):
    body = {"positionals": [{"name": "it", "type": graph["type"]}], "result": {"type": graph["type"]}}
    return {"definitions": {"types": graph["types"], "tools": {"t": {"version": "1", "commands": {"go": body}}}}}


@pytest.mark.parametrize("name", ["doubling", "circles", "deep", "streams"])
def test_tools_are_compared_within_their_steps(shop, name):
    """Each mode and the callers by themselves; none of them is accepted by exhaustion."""
    old, new = (tool(graph) for graph in PAIRS[name])
    body = ended(shop.ask("/v1/tools/diff", {"old": old, "new": new}))
    verdicts = {mode["mode"]: mode["verdict"] for mode in body["modes"]}
    assert verdicts["structural-subtype"] in ("reject", "undecided")
    assert verdicts["strict-equality"] in ("reject", "undecided")
    assert body["callers"]["verdict"] in ({"accept", "undecided"} if name == "circles" else {"reject", "undecided"})


@pytest.mark.parametrize("name", ["doubling", "circles", "deep", "streams"])
@pytest.mark.parametrize("path", ["/v1/chains/check", "/v1/chains/explain"])
def test_chains_are_compiled_within_their_steps(shop, name, path):
    """An answer, or the refusal to compare so much."""
    old, new = (tool(graph)["definitions"] for graph in PAIRS[name])
    types = {f"old-{id}": text.replace("&", "&old-") for id, text in old["types"].items()} | new["types"]
    first = json.loads(json.dumps(old["tools"]["t"]).replace("&", "&old-"))
    layers = {"m": {"presents": "first", "expects": "first", "version": "1"}}
    definitions = {"types": types, "tools": {"first": first, "t": new["tools"]["t"]}, "middleware": layers}
    text = json.dumps({"policyd": 1, "definitions": definitions, "chain": {"tool": "t", "leaf": "t", "layers": ["m"]}})
    body = {"documents": [{"name": "chain.yaml", "text": text}]}
    if path.endswith("explain"):
        body |= {"call": "t go", "input": {}}
    answer = shop.ask(path, body)
    assert answer.elapsed.total_seconds() < SECONDS
    assert answer.status_code == 200 or answer.json()["code"] == "CHAIN006", answer.text[:300]


def test_a_union_of_thousands_of_rules_is_refused(shop):
    """Each pair of rules would have to be told apart, and each pair that is not is a fault."""
    for path, body in (
        ("/v1/schemas/compare", {"source": union(5000), "target": "u8"}),
        ("/v1/values/json-schema", {"type": union(5000)}),
        ("/v1/values/check", {"type": union(5000), "value": '"a"'}),
    ):
        assert ended(shop.ask(path, body), 422)["code"] == "CHAIN006"


def test_values_are_checked_within_their_steps(shop):
    """Many values of a wide type; as many of a narrow one are decided."""
    wide = {"root": {"kind": "list", "value": {"element": enum(2000)["root"]}}}
    text = json.dumps(["case-1999"] * 3000)
    assert ended(shop.ask("/v1/values/check", {"type": wide, "value": text}))["verdict"] == "undecided"
    assert ended(shop.ask("/v1/values/check", {"type": "list<string>", "value": text}))["verdict"] == "valid"
