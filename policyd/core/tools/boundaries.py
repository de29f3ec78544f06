"""What a layer makes of an error from below when it forwards it, and what the layer above then sees.

Source: middleware 1.8, 2.3, 7.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Underlying(Enum):
    """How a call to what stands below can end without success, as a handler sees it."""

    INVALID_TOOL_NAME = "invalid-tool-name"
    INVALID_COMMAND_PATH = "invalid-command-path"
    INVALID_INPUT = "invalid-input"
    CONSTRAINT_VIOLATION = "constraint-violation"
    INVALID_RESULT = "invalid-result"
    CUSTOM_ERROR = "custom-error"
    DENIED = "denied"
    CANCELLED = "cancelled"
    RESOURCE_EXHAUSTED = "resource-exhausted"
    PROTOCOL_ERROR = "protocol-error"
    INTERNAL_ERROR = "internal-error"


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What the wire carries when a handler forwards an error as its own.

    Attributes:
        wire: the case of the layer's own result.
        words: what is lost or kept.
    """

    wire: Underlying
    words: str


_SAME = "the same case reaches the outer layer"
FORWARDING: dict[Underlying, Forwarded] = {
    Underlying.INVALID_TOOL_NAME: Forwarded(Underlying.INVALID_TOOL_NAME, _SAME),
    Underlying.INVALID_COMMAND_PATH: Forwarded(Underlying.INVALID_COMMAND_PATH, _SAME),
    Underlying.INVALID_INPUT: Forwarded(Underlying.INVALID_INPUT, _SAME),
    Underlying.CONSTRAINT_VIOLATION: Forwarded(Underlying.CONSTRAINT_VIOLATION, _SAME),
    Underlying.INVALID_RESULT: Forwarded(Underlying.INVALID_RESULT, _SAME),
    Underlying.CUSTOM_ERROR: Forwarded(
        Underlying.CUSTOM_ERROR, "the same name and payload, checked against the layer's effective definition"
    ),
    Underlying.DENIED: Forwarded(Underlying.CONSTRAINT_VIOLATION, "the denial is erased, only its message is left"),
    Underlying.CANCELLED: Forwarded(Underlying.CONSTRAINT_VIOLATION, "the cancellation is erased"),
    Underlying.RESOURCE_EXHAUSTED: Forwarded(Underlying.CONSTRAINT_VIOLATION, "the exhaustion is erased"),
    Underlying.PROTOCOL_ERROR: Forwarded(Underlying.INVALID_RESULT, "with a prefix that says protocol"),
    Underlying.INTERNAL_ERROR: Forwarded(Underlying.INVALID_RESULT, "with a prefix that says internal"),
}
"""What becomes of each error that is forwarded."""

ERASED = frozenset({Underlying.DENIED, Underlying.CANCELLED, Underlying.RESOURCE_EXHAUSTED})
"""What a caller above any forwarding layer cannot tell apart: all of it arrives as a constraint violation."""


@dataclass(frozen=True, slots=True)
class Answering:
    """How one layer answers when what it called has failed.

    Attributes:
        maps_to: the custom error that it raises instead; empty where it forwards what it saw.
        declares: names of its own errors; None where they are not asked about.
    """

    maps_to: str = ""
    declares: frozenset[str] | None = None


def answered(error: Underlying, name: str, layers: Iterable[Answering]) -> tuple[Underlying, str]:
    """What a caller sees of an error below layers, innermost first: its case, and the name of a custom error.

    Args:
        error: as the innermost layer sees it.
        name: of a custom error, else empty.
        layers: in the order in which they answer.

    >>> answered(Underlying.RESOURCE_EXHAUSTED, "", [Answering("busy", frozenset({"busy"})), Answering()])[1]
    'busy'
    """
    for layer in layers:
        if layer.maps_to:
            error, name = Underlying.CUSTOM_ERROR, layer.maps_to
        else:
            error = FORWARDING[error].wire
        if error is Underlying.CUSTOM_ERROR and layer.declares is not None and name not in layer.declares:
            error = Underlying.INVALID_RESULT
        if error is not Underlying.CUSTOM_ERROR:
            name = ""
    return error, name


def through_layers(error: Underlying, layers: int) -> Underlying:
    """What a caller sees of an error below so many layers that all forward it.

    >>> through_layers(Underlying.CANCELLED, 2).value, through_layers(Underlying.DENIED, 0).value
    ('constraint-violation', 'denied')
    """
    for _ in range(layers):
        error = FORWARDING[error].wire
    return error
