"""Regular expressions as terms of z3: literals, classes, groups, alternatives, repetition, anchors at the ends.

Source: middleware 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3

MAX_REPEAT = 200
"""Greater counts of a repetition are not translated."""
MAX_GROUPS = 50
"""Groups inside each other."""
_HIGHEST = chr(0x2FFFF)
_CLASSES = {"d": (("0", "9"),), "w": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")), "s": (("\t", "\r"), (" ", " "))}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


class UntranslatableError(Exception):
    """A construct beyond the common subset."""


def search_term(pattern: str, context: z3.Context, *, exact: bool = True) -> z3.ReRef:
    """The texts in which the pattern is found.

    Args:
        pattern: one that the platform compiles.
        context: of the question.
        exact: whether classes that know all of Unicode are refused; else their ASCII part stands for them.

    Raises:
        UntranslatableError: for what has no translation.
    """
    reader = _Reader(pattern, context, exact)
    found = reader.alternatives(0, outermost=True)
    if reader.at != len(pattern):
        raise UntranslatableError(pattern)
    return found


@dataclass(slots=True)
class _Reader:
    pattern: str
    context: z3.Context
    exact: bool
    at: int = 0

    @property
    def next(self) -> str:
        """The next character, empty at the end."""
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        """The next character, which must be there."""
        if not self.next:
            raise UntranslatableError(self.pattern)
        self.at += 1
        return self.pattern[self.at - 1]

    def anything(self) -> z3.ReRef:
        """Any text."""
        return z3.Full(z3.ReSort(z3.StringSort(self.context)))

    def literal(self, text: str) -> z3.ReRef:
        """Exactly this text."""
        return z3.Re(z3.StringVal(text, ctx=self.context), ctx=self.context)

    def span(self, first: str, last: str) -> z3.ReRef:
        """One character of a range."""
        low, high = (z3.StringVal(c, ctx=self.context) for c in (first, last))
        return z3.Range(low, high, ctx=self.context)

    def either(self, parts: list[z3.ReRef]) -> z3.ReRef:
        """One of several."""
        return parts[0] if len(parts) == 1 else z3.Union(*parts)

    def row(self, parts: list[z3.ReRef]) -> z3.ReRef:
        """One behind the other."""
        return self.literal("") if not parts else parts[0] if len(parts) == 1 else z3.Concat(*parts)

    def alternatives(self, depth: int, *, outermost: bool = False) -> z3.ReRef:
        """Alternatives; the outermost ones may be anchored, each for itself."""
        if depth > MAX_GROUPS:
            raise UntranslatableError(self.pattern)
        found = [self.sequence(depth, outermost=outermost)]
        while self.next == "|":
            self.at += 1
            found.append(self.sequence(depth, outermost=outermost))
        return self.either(found)

    def sequence(self, depth: int, *, outermost: bool) -> z3.ReRef:
        """Pieces one behind the other."""
        parts: list[z3.ReRef] = []
        starts = ends = False
        if outermost and self.next == "^":
            self.at += 1
            starts = True
        while self.next and self.next not in "|)":
            if outermost and self.next == "$":
                self.at += 1
                ends = True
                if self.next and self.next != "|":
                    raise UntranslatableError(self.pattern)
                break
            parts.append(self.repeated(self.atom(depth)))
        if outermost:
            parts = [*([] if starts else [self.anything()]), *parts, *([] if ends else [self.anything()])]
        return self.row(parts)

    def atom(self, depth: int) -> z3.ReRef:
        """A character, a class or a group."""
        char = self.take()
        match char:
            case "(":
                if self.next == "?":
                    self.at += 1
                    if self.take() != ":":
                        raise UntranslatableError(self.pattern)
                found = self.alternatives(depth + 1)
                if self.take() != ")":
                    raise UntranslatableError(self.pattern)
                return found
            case "[":
                return self.bracket()
            case ".":
                return self.either([self.span("\0", "\t"), self.span("\x0b", _HIGHEST)])
            case "\\":
                return self.escape()
            case "^" | "$" | "*" | "+" | "?" | "{" | ")" | "|":
                raise UntranslatableError(self.pattern)
            case _:
                return self.literal(char)

    def escape(self) -> z3.ReRef:
        """An escaped character outside of a class; classes that know all of Unicode are not translated."""
        char = self.take()
        if char in _ESCAPED:
            return self.literal(_ESCAPED[char])
        if char in _CLASSES and not self.exact:
            return self.either([self.span(first, last) for first, last in _CLASSES[char]])
        if char.isalnum():
            raise UntranslatableError(self.pattern)
        return self.literal(char)

    def bracket(self) -> z3.ReRef:
        """A class in brackets: characters and ranges."""
        negated = self.next == "^"
        if negated:
            self.at += 1
        ranges: list[tuple[str, str]] = []
        while self.next != "]" or not ranges:
            first = self.member()
            last = first
            if self.next == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self.member()
            ranges.append((first, last))
        self.at += 1
        if negated:
            ranges = _complement(ranges)
        return self.either([self.span(first, last) for first, last in ranges])

    def member(self) -> str:
        """One character of a class."""
        char = self.take()
        if char in "[&~]" or (char == "-" and self.next == "-"):
            raise UntranslatableError(self.pattern)
        if char != "\\":
            return char
        char = self.take()
        if char in _ESCAPED:
            return _ESCAPED[char]
        if char.isalnum():
            raise UntranslatableError(self.pattern)
        return char

    def repeated(self, atom: z3.ReRef) -> z3.ReRef:
        """The repetition behind an atom; laziness changes nothing about whether something is found."""
        while self.next and self.next in "*+?{":
            match self.take():
                case "*":
                    atom = z3.Star(atom)
                case "+":
                    atom = z3.Plus(atom)
                case "?":
                    atom = z3.Option(atom)
                case _:
                    atom = self.counted(atom)
            if self.next == "?":
                self.at += 1
        return atom

    def counted(self, atom: z3.ReRef) -> z3.ReRef:
        """A repetition with counts."""
        end = self.pattern.find("}", self.at)
        low, comma, high = self.pattern[self.at : max(end, self.at)].partition(",")
        if end < 0 or not low.isdigit() or (high and not high.isdigit()) or len(low + high) > 8:
            raise UntranslatableError(self.pattern)
        self.at = end + 1
        if max(int(low), int(high or 0)) > MAX_REPEAT:
            raise UntranslatableError(self.pattern)
        if not comma:
            return z3.Loop(atom, int(low), int(low)) if int(low) else self.literal("")
        if not high:
            return z3.Concat(z3.Loop(atom, int(low), int(low)), z3.Star(atom)) if int(low) else z3.Star(atom)
        return z3.Loop(atom, int(low), int(high)) if int(high) else self.literal("")


def _complement(ranges: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What stands between the ranges."""
    found: list[tuple[str, str]] = []
    start = 0
    for first, last in sorted(ranges):
        if ord(first) > start:
            found.append((chr(start), chr(ord(first) - 1)))
        start = max(start, ord(last) + 1)
    if start <= ord(_HIGHEST):
        found.append((chr(start), _HIGHEST))
    if not found:
        raise UntranslatableError("a class without characters")
    return found
