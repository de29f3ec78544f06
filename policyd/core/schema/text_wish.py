"""Asking for a text: lengths it keeps, patterns it matches, patterns it does not.

Source: middleware 8.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

from policyd.core.schema.engines import Engines
from policyd.core.schema.types import StringRule, TextRule

MAX_WISHED = 100_000
"""Longer texts are not made."""


@dataclass(frozen=True, slots=True)
class TextWish:
    """What a text shall be.

    Attributes:
        low: the least length, in Unicode scalar values.
        high: the greatest length, None for any.
        matches: patterns, each of which is found somewhere in it.
        avoids: patterns, none of which is found in it.
        rules: rules of a union that it satisfies.
    """

    low: int = 0
    high: int | None = None
    matches: tuple[str, ...] = ()
    avoids: tuple[str, ...] = ()
    rules: tuple[StringRule, ...] = ()


class NoText(Enum):
    """Why there is no text."""

    NONE = "there is no such text"
    UNKNOWN = "no such text was found"


FoundText: TypeAlias = str | NoText


class TextFinder(Protocol):
    """Finds texts for patterns; what it finds is checked by the pattern engine before anyone sees it."""

    def find(self, wish: TextWish) -> FoundText:
        """A shortest text, the proof that there is none, or neither."""


@dataclass(frozen=True, slots=True)
class NoFinder:
    """Knows no patterns: what simple texts do not answer stays open."""

    def find(self, wish: TextWish) -> FoundText:
        """Nothing."""
        return NoText.UNKNOWN


NO_FINDER = NoFinder()


@dataclass(frozen=True, slots=True)
class Texts:
    """The engines by which texts are checked, and the finder that is asked for harder ones."""

    engines: Engines
    finder: TextFinder = field(default=NO_FINDER)

    def find(self, wish: TextWish) -> FoundText:
        """A text that fulfils the wish, simple ones first."""
        if wish.high is not None and wish.low > wish.high:
            return NoText.NONE
        for candidate in _simple(wish):
            if self.fulfils(candidate, wish):
                return candidate
        if wish.low > MAX_WISHED:
            return NoText.UNKNOWN
        if not (wish.matches or wish.avoids or wish.rules):
            return NoText.NONE
        found = self.finder.find(wish)
        if isinstance(found, NoText):
            return found
        return found if self.fulfils(found, wish) else NoText.UNKNOWN

    def fulfils(self, text: str, wish: TextWish) -> bool:
        """Whether the engines say that a text is what is wished."""
        patterns = self.engines.patterns
        if len(text) < wish.low or (wish.high is not None and len(text) > wish.high):
            return False
        if (wish.matches or wish.avoids) and patterns is None:
            return False
        return (
            all(patterns is not None and patterns.finds(pattern, text) is True for pattern in wish.matches)
            and all(patterns is not None and patterns.finds(pattern, text) is False for pattern in wish.avoids)
            and all(self.satisfies(rule, text) for rule in wish.rules)
        )

    def satisfies(self, rule: StringRule, text: str) -> bool:
        """Whether a text satisfies a rule of a union."""
        match rule.rule:
            case TextRule.PREFIX:
                return text.startswith(rule.text)
            case TextRule.SUFFIX:
                return text.endswith(rule.text)
            case TextRule.CONTAINS:
                return rule.text in text
            case TextRule.REGEX:
                return self.engines.patterns is not None and self.engines.patterns.finds(rule.text, text) is True


def _simple(wish: TextWish) -> Iterator[str]:
    """Texts that are worth a try, the shortest first."""
    if wish.low <= MAX_WISHED:
        base = "".join(rule.text for rule in wish.rules if rule.rule is not TextRule.REGEX)
        for fill in ("a", "0", "A", " "):
            if not wish.rules:
                yield fill * wish.low
            else:
                yield base
                yield base + fill * max(0, wish.low - len(base))
                yield fill * max(0, wish.low - len(base)) + base
    for text in (*wish.matches, *(rule.text for rule in wish.rules)):
        bare = text.removeprefix("^").removesuffix("$")
        yield bare
        yield bare.replace("\\", "")
