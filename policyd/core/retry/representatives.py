"""Values that stand for all values of a property, as far as a set of tests can tell them apart.

Source: retry 8.1, 8.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from policyd.core.retry.glob import glob_matches
from policyd.core.retry.predicate import Comparison, Predicate, PropCompare, PropExists, PropIn, PropText, TextTest
from policyd.core.retry.predicate import Constant as _Constant
from policyd.core.retry.predicate import leaves as leaves_of
from policyd.core.retry.value import I64_MAX, Boolean, Integer, PropertyValue, Text

Leaf = PropCompare | PropExists | PropIn | PropText

MAX_TEXTS = 600
"""Texts that are tried for one property."""

MAX_GLOB_TEXTS = 48
"""Matching texts that are made from one glob."""

MAX_ENUMERATED = 66_000
"""Integer domains up to this size are tried value by value where a test reads them as text."""

MAX_OVERLAP = 256
"""Two texts are laid over each other by at most so many characters."""

MAX_TEXT_SIZE = 4_000_000
"""Characters of all the texts that are made for one property; past them no more are made."""

_ORDERINGS = (Comparison.LT, Comparison.LTE, Comparison.GT, Comparison.GTE)


def tests_of(predicates: Iterable[Predicate]) -> dict[str, tuple[Leaf, ...]]:
    """The leaves of some predicates by the property that they read, each once."""
    found: dict[str, dict[Leaf, None]] = {}
    for predicate in predicates:
        for leaf in leaves_of(predicate):
            if not isinstance(leaf, _Constant):
                found.setdefault(leaf.property, {})[leaf] = None
    return {name: tuple(leaves) for name, leaves in found.items()}


def constants_of(leaf: Leaf) -> tuple[PropertyValue, ...]:
    """The constants that a leaf compares with; a text test has none."""
    match leaf:
        case PropCompare(_, _, value):
            return (value,)
        case PropIn(_, values):
            return values
        case PropExists() | PropText():
            return ()


def fresh_text(leaves: Iterable[Leaf], base: str = "qzx") -> str:
    """A text that occurs in none of the tests.

    >>> fresh_text(())
    'qzx'
    """
    used = [leaf.operand for leaf in leaves if isinstance(leaf, PropText)]
    used += [v.value for leaf in leaves for v in constants_of(leaf) if isinstance(v, Text)]
    fresh = base
    while any(fresh in text for text in used):
        fresh += base[-1]
    return fresh


@dataclass(frozen=True, slots=True)
class Samples:
    """Values of one property.

    Attributes:
        values: in a fixed order, each once.
        exact: whether every way in which the tests can come out together is among them.
    """

    values: tuple[PropertyValue, ...]
    exact: bool


def integer_samples(leaves: Sequence[Leaf], low: int, high: int, most: int = MAX_ENUMERATED) -> Samples:
    """Integers of a domain from `low` to `high`; where a test reads their text all, if they are fewer than `most`."""
    reads_text = any(
        isinstance(leaf, PropText) or any(isinstance(v, Text) for v in constants_of(leaf)) for leaf in leaves
    )
    if reads_text and high - low < most:
        return Samples(tuple(map(Integer, range(low, high + 1))), exact=True)
    found = {low, high, low + 1}
    for leaf in leaves:
        texts = [leaf.operand] if isinstance(leaf, PropText) else []
        for value in constants_of(leaf):
            match value:
                case Integer(number):
                    found |= {number - 1, number, number + 1}
                case Text(text):
                    texts.append(text)
                case Boolean():
                    pass
        for text in texts:
            digits = "".join(c for c in text if c in "0123456789")[:15]
            if digits:
                number = int(digits)
                for grown in (number, number * 10, number * 10 + 5, number * 100 + 9, number * 1000):
                    found |= {grown - 1, grown, grown + 1}
    found |= {max((n for n in found if n < high), default=low) + 1_000}
    if reads_text:
        found |= set(range(low, low + 1_200))
    inside = sorted(n for n in found if low <= n <= min(high, I64_MAX))
    return Samples(tuple(map(Integer, inside)), exact=not reads_text)


def text_samples(leaves: Sequence[Leaf], base: str = "qzx", fillers: Sequence[str] = ()) -> Samples:
    """Texts of an open domain.

    Args:
        leaves: the tests on the property.
        base: from which a text that no test names is made.
        fillers: what a star of a glob may stand for besides nothing and a fresh text.
    """
    fresh = fresh_text(leaves, base)
    found: dict[str, None] = {fresh: None}
    prefixes, substrings, globs = _text_tests(leaves)
    ordered = False
    for leaf in leaves:
        is_ordering = isinstance(leaf, PropCompare) and leaf.comparison in _ORDERINGS
        for value in constants_of(leaf):
            match value:
                case Text(text):
                    found[text] = None
                    if is_ordering:
                        ordered = True
                        found |= dict.fromkeys((text + "\0", text + "0", text + fresh, text[:-1]))
                case Integer(number):
                    found |= dict.fromkeys(str(n) for n in (number - 1, number, number + 1))
                    found |= dict.fromkeys((f"+{number}", f"0{number}"))
                case Boolean():
                    pass
    for prefix in prefixes:
        found |= dict.fromkeys((prefix, prefix + fresh))
    for part in substrings:
        found |= dict.fromkeys((part, fresh + part + fresh, part + fresh, fresh + part))
    if len(prefixes) + len(substrings) + len(globs) > 1:
        size = 0
        for text in _combined(prefixes, substrings, fresh):
            found[text] = None
            size += len(text)
            if len(found) > MAX_TEXTS or size > MAX_TEXT_SIZE:
                break
        fillers = (*fillers, *substrings[:4], *prefixes[:4])
    each = max(6, MAX_TEXTS // 2 // max(1, len(globs)))
    for glob in globs:
        found |= dict.fromkeys(glob_texts(glob, fresh, fillers)[:each])
    found[""] = None
    several = len(substrings) > 1 or (substrings and prefixes)
    exact = not globs and not ordered and not several and len(found) <= MAX_TEXTS
    return Samples(tuple(map(Text, list(found)[:MAX_TEXTS])), exact=exact)


def _text_tests(leaves: Iterable[Leaf]) -> tuple[list[str], list[str], list[str]]:
    """The prefixes, the substrings and the globs."""
    found: dict[TextTest, list[str]] = {test: [] for test in TextTest}
    for leaf in leaves:
        if isinstance(leaf, PropText):
            found[leaf.test].append(leaf.operand)
    return found[TextTest.STARTS_WITH], found[TextTest.CONTAINS], found[TextTest.MATCHES]


def _combined(prefixes: Sequence[str], substrings: Sequence[str], fresh: str) -> Iterator[str]:
    """Texts that pass two tests at once."""
    for head in (*prefixes, *substrings):
        for part in substrings:
            yield head + part
            yield head + fresh + part
            yield fresh + head + part
            for shared in range(1, min(len(head), len(part), MAX_OVERLAP)):
                if head.endswith(part[:shared]):
                    yield head + part[shared:]


def glob_texts(pattern: str, fresh: str, fillers: Sequence[str] = ()) -> tuple[str, ...]:
    """Texts that probably match a glob, made by walking it; the matcher has the last word.

    >>> glob_texts("a[bc]*", "q")
    ('ab', 'abq', 'ac', 'acq')

    Source: retry 8.2.
    """
    negated = len(pattern) - len(pattern.lstrip("!"))
    body = pattern[negated:]
    texts = [text for text, _ in _walked(body, 0, fresh, (*fillers,), depth=0)][:MAX_GLOB_TEXTS]
    return tuple(dict.fromkeys(texts))


def _walked(pattern: str, at: int, fresh: str, fillers: tuple[str, ...], depth: int) -> list[tuple[str, int]]:
    """The texts of the pattern from `at` to its end, or to the end of an alternative, with where that is."""
    parts: list[list[str]] = []
    while at < len(pattern):
        char = pattern[at]
        if depth and char in ",}":
            break
        if char == "*":
            end = at
            while end < len(pattern) and pattern[end] == "*":
                end += 1
            deep = end - at > 1
            options = ["", fresh, *(f for f in fillers if deep or "/" not in f)]
            parts.append([*options, f"{fresh}/{fresh}"] if deep else options)
            at = end
        elif char == "?":
            parts.append([fresh[0]])
            at += 1
        elif char == "[":
            options, at = _class(pattern, at, fresh)
            parts.append(options)
        elif char == "{" and depth < 10:
            options = []
            at += 1
            while True:
                walked = _walked(pattern, at, fresh, fillers, depth + 1)
                options += [text for text, _ in walked]
                at = walked[0][1] if walked else len(pattern)
                if at >= len(pattern) or pattern[at] == "}":
                    at += 1
                    break
                at += 1
            parts.append(options[:8] or [""])
        elif char == "\\" and at + 1 < len(pattern):
            parts.append([{"b": "\b", "n": "\n", "r": "\r", "t": "\t"}.get(pattern[at + 1], pattern[at + 1])])
            at += 2
        else:
            parts.append([char])
            at += 1
    out: list[tuple[str, int]] = []
    for chosen in product(*parts):
        out.append(("".join(chosen), at))
        if len(out) >= MAX_GLOB_TEXTS:
            break
    return out


def _class(pattern: str, at: int, fresh: str) -> tuple[list[str], int]:
    """A member of each class (of a negated one a character outside), and where the class ends."""
    end = pattern.find("]", at + 2)
    if end < 0:
        return ["["], at + 1
    body = pattern[at + 1 : end]
    if body[:1] in ("!", "^"):
        outside = next((c for c in f"{fresh}abcdefghijAZ0123456789-.~" if glob_matches(f"[{body}]", c)), "~")
        return [outside], end + 1
    members = [body[i] for i in range(len(body)) if body[i] != "-"][:6]
    return members or [body[:1]], end + 1
