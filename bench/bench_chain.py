"""Tools of 200 commands and 2,000 types against each other, chains of 20 layers, payloads, and the worst types.

Bars: a tool against another under 1 s; twice the layers, twice the time; types as deep and as wide as a plan may
be, and types that double at every step, are decided within a second, too. Wall time and CPU time are told, because
other programs on the machine only show in the first.

python bench/bench_chain.py [--commands 200] [--types 2000] [--layers 20]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.project import project
from policyd.core.schema.types import (
    STRING,
    U32,
    Case,
    Field,
    ListType,
    OptionType,
    RecordType,
    RefType,
    SchemaType,
    VariantType,
)
from policyd.core.schema.witness import witness
from policyd.core.tools.chain import Layer, compile_chain
from policyd.core.tools.compat import compatibility
from policyd.core.tools.middleware import Middleware, Monomorphic
from policyd.core.tools.modes import Mode
from policyd.core.tools.profile import Profile
from policyd.core.tools.tool import (
    Body,
    Command,
    DeclaredError,
    ErrorKind,
    Formatter,
    Option,
    Positional,
    ResultContract,
    Scalar,
    Tool,
)
from policyd.core.tools.tool_witness import tool_witness
from policyd.usecases.tool_documents import ENGINES, TEXTS


def tool(commands: int, types: int, *, in_one_cycle: bool) -> Tool:
    """A tool whose types refer to each other, ten by ten or all in one circle."""
    items = []
    for n in range(types):
        fields = [Field(f"f{i}", STRING) for i in range(4)]
        if in_one_cycle or n % 10 != 9:
            fields.append(Field("next", OptionType(RefType(f"T{(n + 1) % types}"))))
        items.append(Definition(f"T{n}", RecordType(tuple(fields))))
    nodes = [Command("root", subcommands=tuple(range(1, commands + 1)))]
    for n in range(commands):
        first = RefType(f"T{n * 10 % types}")
        body = Body(
            (Positional("a", first, True),),
            options=tuple(Option(f"o{i}", Scalar(U32), False) for i in range(5)),
            result=ResultContract(ListType(first), (Formatter("text"),), "text"),
            errors=(DeclaredError("bad", ErrorKind.USAGE, 2, RefType(f"T{(n * 10 + 5) % types}")),),
        )
        nodes.append(Command(f"c{n}", body=body))
    return Tool("1.0.0", tuple(nodes), Graph(definitions=Definitions(tuple(items))))


def timed(what: str, ask: Callable[[], object]) -> None:
    start, spent = time.perf_counter(), time.process_time()
    ask()
    wall, cpu = time.perf_counter() - start, time.process_time() - spent
    print(f"{what:60} {wall:7.3f} s, {cpu:7.3f} s of CPU")


def deep(levels: int, leaf: SchemaType) -> Graph:
    """Lists within lists."""
    found = leaf
    for _ in range(levels):
        found = ListType(found)
    return Graph(found)


def wide(cases: int) -> Graph:
    """A variant of many cases, each with a payload."""
    return Graph(VariantType(tuple(Case(f"c{n}", STRING) for n in range(cases))))


def doubling(levels: int, leaf: SchemaType) -> Graph:
    """Named records that hold the next one twice: few definitions, and two to the power of `levels` places."""
    items = [Definition("T0", RecordType((Field("a", leaf),)))]
    for n in range(1, levels):
        below = RefType(f"T{n - 1}")
        items.append(Definition(f"T{n}", RecordType((Field("a", below), Field("b", below)))))
    return Graph(RefType(f"T{levels - 1}"), Definitions(tuple(items)))


def worst() -> None:
    """The limits of a plan: 127 levels, 4,096 steps; and what has no end when it is written out."""
    pairs = {
        "lists 120 levels deep that part at the end": (deep(120, U32), deep(120, STRING)),
        "lists 130 levels deep, more than a plan may be": (deep(130, U32), deep(130, U32)),
        "variants of 4,000 cases, one missing": (wide(4000), wide(3999)),
        "types that double 60 times, and part at the end": (doubling(60, U32), doubling(60, STRING)),
    }
    for what, (source, target) in pairs.items():
        timed(f"{what}: project", lambda s=source, t=target: project(s, t))
        timed(f"{what}: the payload", lambda s=source, t=target: witness(s, t, TEXTS))
        timed(f"{what}: equivalent", lambda s=source, t=target: are_equivalent(s, t))


def widened(given: Tool) -> Tool:
    """The same tool, the first result with one more case than a layer above would expect."""
    first = given.commands[1]
    assert first.body is not None
    body = replace(first.body, result=ResultContract(STRING, (Formatter("text"),), "text"))
    return replace(given, commands=(given.commands[0], replace(first, body=body), *given.commands[2:]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--commands", type=int, default=200)
    parser.add_argument("--types", type=int, default=2000)
    parser.add_argument("--layers", type=int, default=20)
    asked = parser.parse_args()
    for in_one_cycle in (False, True):
        one = tool(asked.commands, asked.types, in_one_cycle=in_one_cycle)
        other = replace(one, version="2.0.0")
        shape = "all types in one circle" if in_one_cycle else "types in circles of ten"
        for mode in Mode:
            timed(f"{shape}, {mode.value}", lambda mode=mode, a=one, b=other: compatibility(a, b, mode, ENGINES))
    small = tool(20, 200, in_one_cycle=False)
    parts = [replace(small, version=f"1.{n}.0") for n in range(asked.layers)]
    made = [Middleware(f"m{n}", "1.0.0", (), Monomorphic(t, t), Graph(RecordType(()))) for n, t in enumerate(parts)]
    for count in (asked.layers // 2, asked.layers):
        layers = tuple(Layer(one.name, one) for one in made[:count])
        timed(
            f"a chain of {count} layers over 20 commands and 200 types",
            lambda layers=layers: compile_chain(layers, small, Mode.STRUCTURAL_SUBTYPE, TEXTS, Profile()),
        )
    same = (Layer("m0", made[0]),) * 1000
    timed(
        "the same layer 1,000 times",
        lambda: compile_chain(same, small, Mode.STRUCTURAL_SUBTYPE, TEXTS, Profile()),
    )
    large = tool(asked.commands, asked.types, in_one_cycle=False)
    changed = widened(large)
    reason = compatibility(large, changed, Mode.STRUCTURAL_SUBTYPE, ENGINES).errors[0]
    worst()
    timed("the payload of one refusal", lambda: tool_witness(large, changed, reason, TEXTS))


if __name__ == "__main__":
    main()
