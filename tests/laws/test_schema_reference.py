"""The relations between schemas and their witnesses agree with the model of `tests/reference`, on random graphs.

Source: middleware 3.2 to 3.4, 8.2.
"""

from __future__ import annotations

import copy
from collections import Counter
from random import Random

import pytest
from reference.schema_model import Side, converted, relation, valid
from schema.random_types import pair

from policyd.core.schema.assignable import is_assignable
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.project import Plan, project
from policyd.core.schema.type_read import read_graph
from policyd.core.schema.type_write import graph_json
from policyd.core.schema.value_json import value_json
from policyd.core.schema.wellformed import faults_of
from policyd.core.schema.witness import Shown, witness
from policyd.usecases.schema_compare import merged
from policyd.usecases.tool_documents import ENGINES, TEXTS

FIELDS = ("a", "b", "c")


def ref(id):
    return {"kind": "ref", "value": {"id": id}}


def part(rng, ids, depth):
    """A type in which references stand anywhere, also where no value can end."""
    if depth <= 0 or rng.random() < 0.2:
        if ids and rng.random() < 0.6:
            return ref(rng.choice(ids))
        restrictions = {"max": {"kind": "unsigned", "value": rng.randint(3, 5)}} if rng.random() < 0.4 else None
        return rng.choice(
            [
                {"kind": "u8", "value": {"restrictions": restrictions} if restrictions else {}},
                {"kind": "string", "value": {}},
                {"kind": "enum", "value": {"cases": rng.sample(FIELDS, rng.randint(1, 2))}},
            ]
        )
    below = [part(rng, ids, depth - 1) for _ in range(2)]
    names = rng.sample(FIELDS, 2)
    return rng.choice(
        [
            {
                "kind": "record",
                "value": {"fields": [{"name": n, "body": b} for n, b in zip(names, below, strict=True)]},
            },
            {
                "kind": "variant",
                "value": {"cases": [{"name": n, "payload": b} for n, b in zip(names, below, strict=True)]},
            },
            {"kind": "tuple", "value": {"elements": below}},
            {"kind": "list", "value": {"element": below[0]}},
            {"kind": "map", "value": {"key": {"kind": "string", "value": {}}, "value": below[0]}},
            {"kind": "result", "value": {"spec": {"ok": below[0], "err": below[1]}}},
            {"kind": "stream", "value": {"inner": below[0]}},
            {"kind": "future", "value": {"inner": below[0]}},
            {"kind": "secret", "value": {"spec": {"inner": below[0]}}},
        ]
    )


def graph(rng):
    """Definitions that lead to each other, and a root."""
    ids = ["T", "U", "V"][: rng.randint(1, 3)]
    defs = [{"id": id, "body": part(rng, ids, 2)} for id in ids]
    if rng.random() < 0.3:
        defs.append({"id": "Alias", "body": ref(rng.choice(ids))})
        ids.append("Alias")
    return {"defs": defs, "root": ref(rng.choice(ids)) if rng.random() < 0.7 else part(rng, ids, 2)}


def places(json):
    """Every type written in a graph, as its holder and the key there."""
    found = []

    def look(holder, key):
        here = holder[key]
        if isinstance(here, dict) and "kind" in here and "value" in here:
            found.append((holder, key))
        for name in list(here) if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ():
            look(here, name)

    look(json, "root")
    for item in json["defs"]:
        look(item, "body")
    return found


def turned(rng, given):
    """The same graph written otherwise, and sometimes changed a little: unfolded, reordered, renamed, narrowed."""
    json = copy.deepcopy(given)
    bodies = {item["id"]: copy.deepcopy(item["body"]) for item in json["defs"]}
    for holder, key in places(json):
        here = holder[key]
        if here["kind"] == "ref" and rng.random() < 0.4:
            holder[key] = copy.deepcopy(bodies[here["value"]["id"]])
        elif here["kind"] == "record" and rng.random() < 0.15:
            here["value"]["fields"].reverse()
        elif here["kind"] == "record" and rng.random() < 0.15:
            here["value"]["fields"].append({"name": "z", "body": {"kind": "u8", "value": {}}})
        elif here["kind"] == "variant" and rng.random() < 0.1:
            here["value"]["cases"].append({"name": "z"})
        elif here["kind"] == "enum" and rng.random() < 0.2:
            here["value"]["cases"] = sorted({*here["value"]["cases"], rng.choice(FIELDS)})
        elif here["kind"] == "u8" and rng.random() < 0.3:
            here["value"] = {}
    if rng.random() < 0.6:
        for holder, key in places(json):
            if holder[key]["kind"] == "ref":
                holder[key]["value"]["id"] += "2"
        for item in json["defs"]:
            item["id"] += "2"
    return json


def agrees(source, target):
    """Every relation in both directions as the model has it; the words of those that hold."""
    one, other = read_graph(source), read_graph(target)
    if faults_of(one, ENGINES) or faults_of(other, ENGINES):
        return ["not well-formed"]
    told = []
    for (a, x), (b, y) in (((source, one), (target, other)), ((target, other), (source, one))):
        both, mine, theirs = merged(x, y)
        for name, holds in (
            ("project", isinstance(project(x, y), Plan)),
            ("assign", is_assignable(mine, theirs, both)),
            ("equivalent", are_equivalent(x, y)),
        ):
            assert holds is relation(name, a, b), name
            told.append(f"{name}: {'holds' if holds else 'refused'}")
    return told


def counted(seeds):
    found = Counter()
    for seed in seeds:
        rng = Random(seed)
        source = graph(rng)
        found.update(agrees(source, turned(rng, source) if rng.random() < 0.9 else graph(rng)))
    for name in ("project", "assign", "equivalent"):
        assert found[f"{name}: holds"] > len(seeds) / 10
        assert found[f"{name}: refused"] > len(seeds) / 10
    return found


def test_recursive_graphs():
    """Graphs that lead to themselves anywhere, against the same written otherwise."""
    counted(range(400))


@pytest.mark.acceptance
def test_eight_thousand_recursive_graphs():
    """The full count."""
    print(counted(range(8_000)))


def compared(seeds):
    """All kinds of types, related as in the model; witnesses judged by the model alone."""
    shown = 0
    for seed in seeds:
        source, target = pair(Random(seed))
        if faults_of(source, ENGINES) or faults_of(target, ENGINES):
            continue
        one, other = ({"defs": [], **graph_json(found)} for found in (source, target))
        agrees(one, other)
        found = witness(source, target, TEXTS)
        if isinstance(found, Shown):
            shown += 1
            value = value_json(found.value, live_streams=True)
            own, theirs = Side(one), Side(other)
            assert valid(value, one["root"], own), value
            form = converted(value, one["root"], other["root"], own, theirs)
            assert form is None or not valid(form, other["root"], theirs), value
    return shown


def test_all_kinds_and_their_witnesses():
    """Random pairs of every kind of type."""
    assert compared(range(20_000, 20_600)) > 60


@pytest.mark.acceptance
def test_twelve_thousand_pairs_of_all_kinds():
    """The full count."""
    print(compared(range(20_000, 32_000)))
