"""A model of the relations between schemas, over the JSON of the platform alone: slow, and written from the rules.

The relations are the greatest ones: everything reachable is taken to hold, and what breaks a rule is struck out until
nothing changes any more. Source: middleware 3.2 to 3.4, 8.2.
"""

import re
import struct
from fractions import Fraction

NUMBERS = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f32", "f64")
RESTRICTED = {
    "text": (("minLength", "maxLength"), ("languages",), ("regex",)),
    "binary": (("minBytes", "maxBytes"), ("mimeTypes",), ()),
    "url": ((), ("allowedSchemes", "allowedHosts"), ()),
}


class Side:
    """One graph: what its references mean. Without definitions no reference means anything."""

    def __init__(self, graph, has_definitions=True):
        self.bodies = {}
        for item in graph.get("defs", ()) if has_definitions else ():
            self.bodies.setdefault(item["id"], item["body"])

    def meaning(self, schema):
        """The type behind references, or the reference at which they end."""
        seen = set()
        while schema["kind"] == "ref" and schema["value"]["id"] in self.bodies and schema["value"]["id"] not in seen:
            seen.add(schema["value"]["id"])
            schema = self.bodies[schema["value"]["id"]]
        return schema


def relation(name, source, target):
    """Whether `project`, `assign` or `equivalent` holds between the roots of two graphs, as JSON."""
    sides = {"s": Side(source), "t": Side(target), "s-": Side(source, False), "t-": Side(target, False)}
    start = (name, "s", source["root"], "t", target["root"])
    rules, pending = {}, [start]
    while pending:
        question = pending.pop()
        if key(question) not in rules:
            rules[key(question)] = rule = demands(*question, sides)
            pending.extend(questions_in(rule))
    holds = dict.fromkeys(rules, True)
    changed = True
    while changed:
        changed = False
        for asked, rule in rules.items():
            if holds[asked] and not true(rule, holds):
                holds[asked], changed = False, True
    return holds[key(start)]


def key(question):
    name, own, a, other, b = question
    return (name, own, id(a), other, id(b))


def questions_in(rule):
    match rule:
        case bool():
            return
        case ("all" | "any", *parts):
            for part in parts:
                yield from questions_in(part)
        case _:
            yield rule


def true(rule, holds):
    match rule:
        case bool():
            return rule
        case ("all", *parts):
            return all(true(part, holds) for part in parts)
        case ("any", *parts):
            return any(true(part, holds) for part in parts)
        case _:
            return holds[key(rule)]


def demands(name, own, a, other, b, sides):
    """What has to hold for a pair of types: a truth value, a question, or `all` or `any` of such."""
    a, b = sides[own].meaning(a), sides[other].meaning(b)

    def ask(x, y, relation=name):
        return (relation, own, x, other, y)

    def slot(x, y, relation=name):
        if x is None or y is None:
            return x is y
        return ask(x, y, relation)

    if a["kind"] != b["kind"]:
        return False
    kind, v, w = a["kind"], a["value"], b["value"]
    if kind == "ref":
        return v["id"] == w["id"]
    if kind in ("bool", "char", "string", "datetime", "duration"):
        return True
    if kind in NUMBERS or kind in (*RESTRICTED, "path", "quantity"):
        return plain(v) == plain(w) if name == "equivalent" else leaf(kind, plain(v), plain(w))
    if kind in ("quota-token", "permission-card"):
        return plain(v) == plain(w)
    match kind:
        case "record":
            mine = {f["name"]: f["body"] for f in reversed(v["fields"])}
            if name == "project":
                return all_of(ask(mine[f["name"]], f["body"]) if f["name"] in mine else False for f in w["fields"])
            if [f["name"] for f in v["fields"]] != [f["name"] for f in w["fields"]]:
                return False
            return all_of(ask(f["body"], g["body"]) for f, g in zip(v["fields"], w["fields"], strict=True))
        case "variant":
            theirs = {c["name"]: c.get("payload") for c in reversed(w["cases"])}
            if name == "project":
                return all_of(
                    slot(c.get("payload"), theirs[c["name"]]) if c["name"] in theirs else False for c in v["cases"]
                )
            if [c["name"] for c in v["cases"]] != [c["name"] for c in w["cases"]]:
                return False
            pairs = [(c.get("payload"), d.get("payload")) for c, d in zip(v["cases"], w["cases"], strict=True)]
            rules = [slot(x, y) for x, y in pairs]
            if name == "assign":
                rules += [(name, other, y, own, x) for x, y in pairs if x is not None and y is not None]
            return all_of(rules)
        case "enum" | "flags":
            names, others = (x["cases" if kind == "enum" else "flags"] for x in (v, w))
            return set(names) <= set(others) if name == "project" else names == others
        case "tuple":
            if len(v["elements"]) != len(w["elements"]):
                return False
            return all_of(ask(x, y) for x, y in zip(v["elements"], w["elements"], strict=True))
        case "list":
            return ask(v["element"], w["element"])
        case "fixed-list":
            return v["length"] == w["length"] and ask(v["element"], w["element"])
        case "option":
            return ask(v["inner"], w["inner"])
        case "map":
            keys = "equivalent" if name == "project" else name
            return all_of([ask(v["key"], w["key"], keys), ask(v["value"], w["value"])])
        case "result":
            spec, others = v["spec"], w["spec"]
            return all_of(slot(spec.get(part), others.get(part)) for part in ("ok", "err"))
        case "union":
            branches, others = v["spec"]["branches"], w["spec"]["branches"]
            theirs = {branch["tag"]: branch for branch in reversed(others)}
            if any(branch["tag"] not in theirs for branch in branches):
                return False
            if name != "project":
                same = [branch["discriminator"] == theirs[branch["tag"]]["discriminator"] for branch in branches]
                if len(branches) != len(others) or not all(same):
                    return False
            return all_of(ask(branch["body"], theirs[branch["tag"]]["body"]) for branch in branches)
        case "stream":
            x, y = v.get("inner"), w.get("inner")
            if name == "equivalent" or x is None or y is None:
                return slot(x, y)
            return ("any", ask(x, y, "equivalent"), ask(x, y))
        case "future":
            return name != "project" and slot(v.get("inner"), w.get("inner"))
        case "secret":
            spec, others = v["spec"], w["spec"]
            if spec.get("category") != others.get("category"):
                return False
            x, y = (part.get("inner") or {"kind": "string", "value": {}} for part in (spec, others))
            if name == "project":
                return ("assign", own[0] + "-", x, other[0] + "-", y)
            return ask(x, y)
    raise AssertionError(kind)


def all_of(parts):
    return ("all", *parts)


def plain(value):
    """A type's own part without metadata and without what an absent member stands for."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k != "metadata" and v is not None and v != {}}
    return [plain(part) for part in value] if isinstance(value, list) else value


def leaf(kind, v, w):
    """Whether restrictions of one kind lie within others (project and assign)."""
    if kind == "path":
        v, w = v["spec"], w["spec"]
        return (
            v["direction"] == w["direction"]
            and w["kind"] in ("any", v["kind"])
            and all(subset(v.get(part), w.get(part)) for part in ("allowedMimeTypes", "allowedExtensions"))
        )
    if kind == "quantity":
        v, w = v["spec"], w["spec"]
        return (
            v["baseUnit"] == w["baseUnit"]
            and set(v.get("allowedSuffixes", ())) <= set(w.get("allowedSuffixes", ()))
            and nested(*(amount(x.get(part)) for part in ("min", "max") for x in (v, w)))
        )
    v, w = v.get("restrictions", {}), w.get("restrictions", {})
    if kind in NUMBERS:
        return v.get("unit") == w.get("unit") and nested(
            *(bound(x.get(part)) for part in ("min", "max") for x in (v, w))
        )
    sizes, lists, texts = RESTRICTED[kind]
    return (
        (not sizes or nested(*(x.get(part) for part in sizes for x in (v, w))))
        and all(subset(v.get(part), w.get(part)) for part in lists)
        and all(w.get(part) in (None, v.get(part)) for part in texts)
    )


def nested(low, other_low, high, other_high):
    """Whether bounds lie within others; a bound that only the target has is never kept."""
    return (other_low is None or (low is not None and low >= other_low)) and (
        other_high is None or (high is not None and high <= other_high)
    )


def subset(mine, theirs):
    return theirs is None or (mine is not None and set(mine) <= set(theirs))


def bound(json):
    if json is None:
        return None
    if json["kind"] == "float-bits":
        return Fraction(*struct.unpack(">d", json["value"].to_bytes(8, "big"))[0].as_integer_ratio())
    return Fraction(json["value"])


def amount(json):
    return None if json is None else Fraction(json["mantissa"]) / Fraction(10) ** json["scale"]


# Values.


def valid(value, schema, side):
    """Whether a value, as JSON, is one of a type."""
    schema = side.meaning(schema)
    kind, spec, inside = schema["kind"], schema["value"], value["value"]
    if value["kind"] != kind or kind == "future":
        return False
    match kind:
        case "record":
            parts = inside["fields"]
            return len(parts) == len(spec["fields"]) and all(
                valid(part, field["body"], side) for part, field in zip(parts, spec["fields"], strict=True)
            )
        case "tuple":
            parts = inside["elements"]
            return len(parts) == len(spec["elements"]) and all(
                valid(part, element, side) for part, element in zip(parts, spec["elements"], strict=True)
            )
        case "list":
            return all(valid(part, spec["element"], side) for part in inside["elements"])
        case "fixed-list":
            parts = inside["elements"]
            return len(parts) == spec["length"] and all(valid(part, spec["element"], side) for part in parts)
        case "map":
            return all(valid(k, spec["key"], side) and valid(v, spec["value"], side) for k, v in inside["entries"])
        case "option":
            return inside["inner"] is None or valid(inside["inner"], spec["inner"], side)
        case "result":
            slot = spec["spec"].get(inside["tag"])
            if slot is None or inside["value"] is None:
                return slot is None and inside["value"] is None
            return valid(inside["value"], slot, side)
        case "variant":
            if inside["case"] >= len(spec["cases"]):
                return False
            payload, given = spec["cases"][inside["case"]].get("payload"), inside.get("payload")
            return given is None if payload is None else given is not None and valid(given, payload, side)
        case "enum":
            return inside["case"] < len(spec["cases"])
        case "flags":
            return len(inside["bits"]) == len(spec["flags"])
        case "union":
            branch = next((b for b in spec["spec"]["branches"] if b["tag"] == inside["tag"]), None)
            return (
                branch is not None
                and valid(inside["body"], branch["body"], side)
                and keeps(inside["body"], branch, side)
            )
        case "text":
            limits = spec.get("restrictions", {})
            languages, regex = limits.get("languages"), limits.get("regex")
            return (
                within(len(inside["text"]), limits.get("minLength"), limits.get("maxLength"))
                and (languages is None or inside.get("language") is None or inside["language"] in languages)
                and (regex is None or re.search(regex.replace("$", r"\Z"), inside["text"]) is not None)
            )
        case "binary":
            limits = spec.get("restrictions", {})
            types = limits.get("mimeTypes")
            return within(len(inside["bytes"]), limits.get("minBytes"), limits.get("maxBytes")) and (
                types is None or inside.get("mimeType") is None or inside["mimeType"] in types
            )
        case "path":
            extension = inside["path"].rpartition("/")[2].rpartition(".")
            allowed = spec["spec"].get("allowedExtensions")
            has_none = not extension[1] or not extension[2]
            return inside["path"] != "" and (allowed is None or has_none or extension[2] in allowed)
        case "url":
            found = re.fullmatch(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#:]*))?.*", inside["url"])
            limits = spec.get("restrictions", {})
            schemes, hosts = limits.get("allowedSchemes"), limits.get("allowedHosts")
            lower = [None if part is None else part.lower() for part in found.groups()] if found else []
            return bool(lower) and all(
                allowed is None or part in [x.lower() for x in allowed]
                for part, allowed in zip(lower, (schemes, hosts), strict=True)
            )
        case "quantity":
            limits, size = spec["spec"], amount(inside)
            units = limits.get("allowedSuffixes") or [limits["baseUnit"]]
            return inside["unit"] in units and within(size, amount(limits.get("min")), amount(limits.get("max")))
        case "secret":
            category = spec["spec"].get("category")
            return category is None or inside.get("category") == category
        case "quota-token":
            name = spec["spec"].get("resourceName")
            return name is None or inside["resourceName"] == name
        case "permission-card":
            return inside["polymorphic"] == spec["spec"]["polymorphic"]
        case _ if kind in NUMBERS:
            limits = spec.get("restrictions", {})
            return within(Fraction(inside), bound(limits.get("min")), bound(limits.get("max")))
        case _:
            return True


def within(size, low, high):
    return (low is None or size >= low) and (high is None or size <= high)


def keeps(body, branch, side):
    """Whether the body of a union satisfies the rule of its branch."""
    rule, given = branch["discriminator"]["rule"], branch["discriminator"]["value"]
    texts = {"string": lambda v: v, "text": lambda v: v["text"], "url": lambda v: v["url"], "path": lambda v: v["path"]}
    text = texts[body["kind"]](body["value"]) if body["kind"] in texts else None
    match rule:
        case "prefix":
            return text is not None and text.startswith(given["prefix"])
        case "suffix":
            return text is not None and text.endswith(given["suffix"])
        case "contains":
            return text is not None and given["substring"] in text
        case "field-equals":
            fields = [f["name"] for f in side.meaning(branch["body"])["value"]["fields"]]
            if given["fieldName"] not in fields:
                return False
            part = body["value"]["fields"][fields.index(given["fieldName"])]
            return given.get("literal") is None or part["value"] == given["literal"]
    raise AssertionError(rule)


def converted(value, source, target, own, other):
    """The value as one of another type, by names and nothing else; None where it has no form there."""
    source, target = own.meaning(source), other.meaning(target)
    if source["kind"] != target["kind"] or value["kind"] != source["kind"]:
        return None
    kind, v, w, inside = source["kind"], source["value"], target["value"], value["value"]

    def turn(part, x, y):
        return converted(part, x, y, own, other)

    def told(found):
        return None if found is None else {"kind": kind, "value": found}

    def many(parts):
        parts = list(parts)
        return None if any(part is None for part in parts) else parts

    match kind:
        case "record":
            mine = {f["name"]: (f["body"], part) for f, part in zip(v["fields"], inside["fields"], strict=True)}
            if any(f["name"] not in mine for f in w["fields"]):
                return None
            parts = many(turn(mine[f["name"]][1], mine[f["name"]][0], f["body"]) for f in w["fields"])
            return None if parts is None else told({"fields": parts})
        case "tuple" | "list" | "fixed-list":
            if kind == "tuple":
                if len(v["elements"]) != len(w["elements"]):
                    return None
                pairs = list(zip(v["elements"], w["elements"], strict=True))
            else:
                pairs = [(v["element"], w["element"])] * len(inside["elements"])
            parts = many(turn(part, x, y) for part, (x, y) in zip(inside["elements"], pairs, strict=True))
            return None if parts is None else told({"elements": parts})
        case "map":
            keys = many(turn(k, v["key"], w["key"]) for k, _ in inside["entries"])
            parts = many(turn(x, v["value"], w["value"]) for _, x in inside["entries"])
            if keys is None or parts is None:
                return None
            return told({"entries": [list(pair) for pair in zip(keys, parts, strict=True)]})
        case "option":
            if inside["inner"] is None:
                return value
            part = turn(inside["inner"], v["inner"], w["inner"])
            return None if part is None else told({"inner": part})
        case "result":
            x, y = v["spec"].get(inside["tag"]), w["spec"].get(inside["tag"])
            if x is None or y is None:
                return value if x is y else None
            part = turn(inside["value"], x, y)
            return None if part is None else told({**inside, "value": part})
        case "variant":
            case = v["cases"][inside["case"]]
            place = next((i for i, c in enumerate(w["cases"]) if c["name"] == case["name"]), None)
            if place is None:
                return None
            x, y = case.get("payload"), w["cases"][place].get("payload")
            if x is None or y is None:
                return told({"case": place}) if x is y else None
            part = turn(inside["payload"], x, y)
            return None if part is None else told({"case": place, "payload": part})
        case "enum":
            name = v["cases"][inside["case"]]
            return told({"case": w["cases"].index(name)}) if name in w["cases"] else None
        case "flags":
            given = {name for name, bit in zip(v["flags"], inside["bits"], strict=True) if bit}
            if not given <= set(w["flags"]):
                return None
            return told({"bits": [name in given for name in w["flags"]]})
        case "union":
            x, y = (
                next((b["body"] for b in side["spec"]["branches"] if b["tag"] == inside["tag"]), None)
                for side in (v, w)
            )
            part = None if y is None else turn(inside["body"], x, y)
            return None if part is None else told({"tag": inside["tag"], "body": part})
        case _:
            return value
