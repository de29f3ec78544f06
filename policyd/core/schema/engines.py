"""Ports for what the core cannot do itself: linear-time regular expressions and URL parsing.

An engine that is not at hand is None: what needs it is then neither valid nor invalid but has the outcome
*validation needs a feature that is not there*.

Source: middleware 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class PatternEngine(Protocol):
    """Regular expressions in linear time, in the dialect of the platform (no look-around, Unicode aware)."""

    def is_valid(self, pattern: str) -> bool | None:
        """Whether the platform would compile the pattern; None when the engine cannot tell."""

    def finds(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern matches somewhere in the text; False for a pattern that is not valid, None as above."""


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """The parts of a URL that restrictions look at.

    Attributes:
        scheme: lower case.
        host: as serialized (lower case, IDNA applied), None where the URL has none.
    """

    scheme: str
    host: str | None


class UrlVerdict(Enum):
    """Why a text gave no URL."""

    INVALID = "no absolute URL"
    UNKNOWN = "not decided by this engine"


class UrlEngine(Protocol):
    """URL parsing as the WHATWG describes it."""

    def parse(self, text: str) -> ParsedUrl | UrlVerdict:
        """The parts of the URL, or why there are none."""


@dataclass(frozen=True, slots=True)
class Engines:
    """The engines at hand; hosts and full builds have both."""

    patterns: PatternEngine | None = None
    urls: UrlEngine | None = None


NO_ENGINES = Engines()
