"""Declared errors of two commands side by side.

Source: middleware 3.8, 3.12.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from policyd.core.schema.graph import Definitions
from policyd.core.tools.incompatibility import Incompatibility, IncompatibilityKind
from policyd.core.tools.modes import Mode, Passage, passage
from policyd.core.tools.tool import DeclaredError


class ErrorRule(Enum):
    """Which side's errors decide; the newer rule refuses what only the inner command declares."""

    INNER_SUBSET = "inner-subset"
    INHERIT_LEGACY = "inherit-legacy"


@dataclass(frozen=True, slots=True)
class ErrorLink:
    """What becomes of one error of the inner command.

    Attributes:
        name: of the error.
        expected: whether the expected command declares it too.
        has_payload: whether the inner command gives it a payload.
        payload: how the payload comes back; None when there is none or nobody expects it.
    """

    name: str
    expected: bool
    has_payload: bool
    payload: Passage | None


def _by_name(errors: tuple[DeclaredError, ...]) -> dict[str, DeclaredError]:
    """The first error of each name."""
    found: dict[str, DeclaredError] = {}
    for error in errors:
        found.setdefault(error.name, error)
    return found


def link_errors(
    expected: tuple[DeclaredError, ...],
    inner: tuple[DeclaredError, ...],
    mode: Mode,
    expected_types: Definitions,
    inner_types: Definitions,
    rule: ErrorRule,
) -> tuple[tuple[ErrorLink, ...], tuple[Incompatibility, ...]]:
    """The link of every inner error, and every reason to refuse."""
    above = _by_name(expected)
    refused = list(_vocabulary(expected, inner, mode, rule))
    links: list[ErrorLink] = []
    for error in inner:
        other = above.get(error.name)
        way: Passage | None = None
        if other is not None:
            problem, way = _link(error, other, mode, inner_types, expected_types)
            if problem is not None:
                refused.append(problem)
        links.append(ErrorLink(error.name, other is not None, error.payload is not None, way))
    return tuple(links), tuple(refused)


def _vocabulary(
    expected: tuple[DeclaredError, ...], inner: tuple[DeclaredError, ...], mode: Mode, rule: ErrorRule
) -> Iterator[Incompatibility]:
    """Errors that one side does not know."""
    above, below = _by_name(expected), _by_name(inner)
    if rule is ErrorRule.INNER_SUBSET or mode is Mode.STRICT_EQUALITY:
        for error in inner:
            if error.name not in above:
                yield Incompatibility(
                    IncompatibilityKind.INNER_ONLY_ERROR, (), f".error.{error.name}", subject=error.name
                )
    else:
        for error in expected:
            if error.name not in below:
                yield Incompatibility(
                    IncompatibilityKind.EXPECTED_ONLY_ERROR, (), f".error.{error.name}", subject=error.name
                )


def _link(
    inner: DeclaredError, expected: DeclaredError, mode: Mode, inner_types: Definitions, expected_types: Definitions
) -> tuple[Incompatibility | None, Passage | None]:
    place = f".error.{inner.name}"
    if mode is not Mode.NOMINAL and (inner.kind, inner.exit_code) != (expected.kind, expected.exit_code):
        return Incompatibility(IncompatibilityKind.ERROR_KIND_DIFFERS, (), place, subject=inner.name), None
    if inner.payload is None or expected.payload is None:
        if inner.payload is expected.payload:
            return None, None
        kind = IncompatibilityKind.ERROR_PAYLOAD_PRESENCE_DIFFERS
        return Incompatibility(kind, (), place, subject=inner.name), None
    way = passage(inner.payload, inner_types, expected.payload, expected_types, mode)
    if isinstance(way, Passage):
        return None, way
    kind = IncompatibilityKind.ERROR_PAYLOAD_NOT_SUBSTITUTABLE
    return way.located(kind, (), place, inner.name), None
