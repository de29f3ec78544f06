"""Parameters that can be stored and read, but that no policy should have.

Source: retry 1.2, 1.10.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.retry.errors import Label, Path
from policyd.core.retry.kinds import Layout, Sort, kind_of
from policyd.core.retry.policy import Clamp, Exponential, Jitter, Policy


@dataclass(frozen=True, slots=True)
class Defect:
    """One parameter that is wrong.

    Attributes:
        label: which condition.
        path: where in the canonical form.
        message: one line.
    """

    label: Label
    path: Path
    message: str


def defects_of(policy: Policy, path: Path = ()) -> Iterator[Defect]:
    """The parameters of a policy that the platform stores and that misbehave when it is stepped.

    Source: retry 1.2.
    """
    stack: list[tuple[Policy, Path]] = [(policy, path)]
    while stack:
        node, place = stack.pop()
        kind = kind_of(node)
        here: Path = (*place, kind.canonical)
        yield from _of_node(node, here)
        below = [
            (part, (*here, i if kind.layout is Layout.PAIR else field.canonical))
            for i, (field, part) in enumerate(zip(kind.fields, kind.parts(node), strict=True))
            if field.sort is Sort.POLICY
        ]
        stack.extend(reversed(below))


def _of_node(node: Policy, path: Path) -> Iterator[Defect]:
    match node:
        case Clamp(low, high, _) if low > high:
            yield Defect(Label.CLAMP_RANGE, path, "the smallest delay is above the largest, which aborts the host")
        case Exponential(_, factor) | Jitter(factor, _) if not math.isfinite(factor):
            yield Defect(Label.FACTOR_NOT_FINITE, (*path, "factor"), f"the factor `{factor}` is not finite")
        case Exponential(_, factor) if factor <= 0:
            message = f"the factor `{factor}` is not above 0, so that delays fall to 0"
            yield Defect(Label.EXPONENTIAL_FACTOR, (*path, "factor"), message)
        case Jitter(factor, _) if factor < 0:
            yield Defect(Label.JITTER_FACTOR, (*path, "factor"), f"the factor `{factor}` is below 0: no jitter")
        case _:
            pass
