"""Laws of the three modes on tools, with the preconditions of the specification."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from laws.test_schema_relations import TYPES, varied
from tools.building import ENGINES

from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.types import RefType, VariantType, walk
from policyd.core.tools.compat import compatibility
from policyd.core.tools.modes import Mode
from policyd.core.tools.tool import Body, Command, DeclaredError, ErrorKind, Formatter, Positional, ResultContract, Tool
from policyd.core.tools.tool_read import read_tool
from policyd.core.tools.tool_write import tool_json
from policyd.core.tools.validate import tool_faults

INPUTS = TYPES.filter(lambda schema: not any(isinstance(part, VariantType) for part in walk(schema)))
ERRORS = st.lists(st.sampled_from(["busy", "io", "bad"]), unique=True, max_size=2)


@st.composite
def tools(draw) -> Tool:
    """A valid tool of one command; its result is a named type."""
    fixed = tuple(Positional(name, draw(INPUTS), required=True) for name in draw(st.sampled_from(["", "x", "xy"])))
    errors = tuple(DeclaredError(name, ErrorKind.RUNTIME, 1) for name in draw(ERRORS))
    result = ResultContract(RefType("R"), (Formatter("text"),), "text")
    body = Body(fixed, result=result, errors=errors)
    return Tool("1", (Command("t", body=body),), Graph(definitions=Definitions((Definition("R", draw(TYPES)),))))


def body_of(tool: Tool) -> Body:
    body = tool.commands[0].body
    assert body is not None
    return body


def with_body(tool: Tool, body: Body) -> Tool:
    return replace(tool, commands=(replace(tool.commands[0], body=body),))


@st.composite
def pairs(draw) -> tuple[Tool, Tool]:
    """A tool and another one that is near it."""
    one = draw(tools())
    if draw(st.integers(0, 3)) == 0:
        return one, draw(tools())
    result = draw(varied(one.schema.definitions.items[0].body))
    return one, replace(one, schema=Graph(definitions=Definitions((Definition("R", result),))))


def accepts(expected: Tool, inner: Tool, mode: Mode) -> bool:
    return compatibility(expected, inner, mode, ENGINES).is_accepted


@given(tools())
def test_generated_tools_are_valid_and_stand_for_themselves(tool):
    """The same tool is accepted in every mode; there are no futures and no references below secrets here."""
    assert not tool_faults(tool, ENGINES)
    assert all(accepts(tool, tool, mode) for mode in Mode)


@given(pairs())
def test_modes_are_ordered(pair):
    """What strict accepts structural accepts, and what structural accepts nominal accepts."""
    strict, structural, nominal = (accepts(*pair, mode) for mode in Mode)
    assert strict <= structural <= nominal


@given(tools(), st.sampled_from(["Q", "S.T", "a/b"]))
def test_names_of_types_and_documentation_do_not_matter(tool, id):
    """Renaming a definition and changing the version leaves a tool strictly equal."""
    body = tool.schema.definitions.items[0].body
    result = ResultContract(RefType(id), (Formatter("text"),), "text")
    renamed = replace(
        with_body(tool, replace(body_of(tool), result=result)),
        version="2",
        schema=Graph(definitions=Definitions((Definition(id, body),))),
    )
    assert all(accepts(tool, renamed, mode) for mode in Mode)


@given(pairs())
def test_errors_of_one_side(pair):
    """An error that only the inner command declares refuses, one that only the expected one has changes nothing."""
    expected, inner = pair
    extra = DeclaredError("extra", ErrorKind.RUNTIME, 1)
    for mode in (Mode.STRUCTURAL_SUBTYPE, Mode.NOMINAL):
        louder = with_body(inner, replace(body_of(inner), errors=(*body_of(inner).errors, extra)))
        readier = with_body(expected, replace(body_of(expected), errors=(*body_of(expected).errors, extra)))
        assert not accepts(expected, louder, mode)
        assert accepts(readier, inner, mode) is accepts(expected, inner, mode)
        assert accepts(readier, louder, mode) is accepts(expected, inner, mode)


@given(tools())
def test_tools_survive_their_json(tool):
    """Reading what was written gives the tool back."""
    assert read_tool(tool_json(tool)) == tool
