"""A chain as a picture: from the callers to the tool, link by link, the two definitions side by side where they part.

Source: middleware 4.1, 4.4, 6.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from policyd.core.tools.canonical_input import CanonicalInput, canonical_input
from policyd.core.tools.chain import Chain, Edge, Verdict
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.tool import Body, Tool
from policyd.findings import Finding, Severity
from policyd.usecases.chain_check import ChainRow
from policyd.usecases.chain_report import row_name
from policyd.usecases.chain_words import link_name
from policyd.usecases.tool_documents import ENGINES
from policyd.usecases.tool_words import shown_type

MAX_SIDES = 20
"""Commands of one link of which both definitions are shown."""


class Light(Enum):
    """How a link stands, in the words of a page."""

    FITS = "fits"
    WARNS = "fits, with warnings"
    PARTS = "does not fit"
    OPEN = "not known"


@dataclass(frozen=True, slots=True)
class Sides:
    """One command as both sides of a link define it, a line for each part of it."""

    command: str
    above: tuple[str, ...]
    below: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """One step of the chain inward.

    Attributes:
        above, below: the two ends by name.
        light: how it stands.
        notes: what the layer does to what passes.
        findings: about this link.
        sides: the commands that do not fit, side by side.
        more: how many of these are left out.
    """

    above: str
    below: str
    light: Light
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    sides: tuple[Sides, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """One chain, outside-in.

    Attributes:
        title: where, which tool, for whom.
        row: with verdict, callers and permissions.
        links: the callers' first.
        findings: about the chain and no single link.
    """

    title: str
    row: ChainRow
    links: tuple[Link, ...]
    findings: tuple[Finding, ...]


def picture(row: ChainRow) -> Picture:
    """A decided chain, drawn."""
    links = [_callers(row)]
    taken: set[int] = set()
    for edge in row.chain.edges:
        head = link_name(row.chain, edge)
        own = [i for i, finding in enumerate(row.findings) if finding.message.startswith(f"{head}:")]
        taken.update(own)
        links.append(_link(row.chain, edge, tuple(row.findings[i] for i in own)))
    rest = tuple(finding for i, finding in enumerate(row.findings) if i not in taken)
    return Picture(row_name(row), row, tuple(links), rest)


def _callers(row: ChainRow) -> Link:
    """From the callers to the outermost definition."""
    edges = row.chain.edges
    below = f"layer 1 ({edges[0].name})" if edges else row.tool
    found = tuple(finding for caller in row.callers for finding in caller.findings)
    verdicts = {caller.verdict for caller in row.callers}
    light = _light(found, is_refused=Verdict.REJECT in verdicts, is_open=Verdict.UNDECIDED in verdicts)
    if not row.callers:
        light = Light.OPEN if row.chain.effective is None else Light.FITS
    notes = [f"caller {caller.name}: {caller.verdict.value}" for caller in row.callers]
    return Link("callers", below, light, tuple(notes) or ("no caller is named",), found)


def _light(findings: Sequence[Finding], *, is_refused: bool, is_open: bool) -> Light:
    if is_refused or any(finding.severity is Severity.ERROR for finding in findings):
        return Light.PARTS
    if is_open:
        return Light.OPEN
    return Light.WARNS if any(finding.severity is Severity.WARNING for finding in findings) else Light.FITS


def _link(chain: Chain, edge: Edge, findings: tuple[Finding, ...]) -> Link:
    above, _, below = link_name(chain, edge).partition(" → ")
    middleware = chain.layers[edge.layer - 1].middleware
    is_open = middleware is None or edge.inner is None
    sides = [_sides(edge, path) for path in _parted(edge)]
    sides = [both for both in sides if both.above or both.below]
    return Link(
        above,
        below,
        _light(findings, is_refused=edge.is_refused, is_open=is_open),
        tuple(_notes(edge, is_known=middleware is not None)),
        findings,
        tuple(sides[:MAX_SIDES]),
        max(0, len(sides) - MAX_SIDES),
    )


def _notes(edge: Edge, *, is_known: bool) -> list[str]:
    """What a layer does to what passes, a sentence each."""
    if not is_known:
        return ["its definition was not given"]
    if edge.inner is None:
        return ["what stands below it was not given"]
    if edge.expected is None:
        universal = edge.effective is edge.inner
        return ["universal: presents what stands below it" if universal else "a wildcard: compares nothing"]
    notes = [f"expects `{edge.expected.name}` {edge.expected.version}"]
    notes += [f"`{name}` of {_words(path)} is put in" for path, name in edge.injected]
    notes += [f"`{d.name}` of {_words(d.path)} is thrown away" for d in (edge.found.discarded if edge.found else ())]
    notes += [f"passes the error `{name}` on" for name, _ in edge.inherited]
    return notes


def _words(path: tuple[str, ...]) -> str:
    return " ".join(path) or "the root command"


def _parted(edge: Edge) -> list[tuple[str, ...]]:
    """The commands about which a link is refused, in order."""
    errors = () if edge.found is None else edge.found.errors
    return list(dict.fromkeys(reason.path for reason in errors))


def _sides(edge: Edge, path: tuple[str, ...]) -> Sides:
    assert edge.expected is not None  # something was compared
    assert edge.inner is not None
    return Sides(_words(path), command_lines(edge.expected, path), command_lines(edge.inner, path))


def command_lines(tool: Tool, path: tuple[str, ...]) -> tuple[str, ...]:
    """A command in the short notation, a line each for its inputs, result and errors; empty where there is none."""
    place = callable_paths(tool).get(path)
    if place is None:
        return ()
    body = tool.commands[place.index].body or Body()
    record = canonical_input(tool, path, ENGINES)
    inputs = record.fields if isinstance(record, CanonicalInput) else ()
    lines = [f"input {field.name}: {shown_type(field.type)}" for field in inputs]
    if body.result is not None:
        lines.append(f"result: {shown_type(body.result.type)}")
    for error in body.errors:
        payload = "" if error.payload is None else f": {shown_type(error.payload)}"
        lines.append(f"error {error.name} ({error.kind.value}, exit {error.exit_code}){payload}")
    return tuple(lines) or ("no inputs, no result, no errors",)


__all__ = ["MAX_SIDES", "Light", "Link", "Picture", "Sides", "command_lines", "picture"]
