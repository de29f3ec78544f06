"""The platform's regular expression dialect, read strictly and rewritten for RE2.

No look-around, no back-references; classes are Unicode aware; groups are never captured, because only the existence
of a match matters.

Source: middleware 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from policyd.syntax.pattern_classes import (
    PERL_CLASSES,
    POSIX_CLASSES,
    NotAPatternError,
    UnsupportedPatternError,
    code_point,
    property_class,
)

__all__ = ["NotAPatternError", "Rewritten", "UnsupportedPatternError", "rewrite"]

MAX_NESTING = 250
"""Groups and classes inside each other; the platform refuses more."""
MAX_REPEAT = 1000
"""RE2 repeats no more often; greater counts get no answer."""

_META = frozenset("\\.+*?()|[]{}^$#&-~")
_EDGE, _NO_EDGE = "(?:\\b)", "(?:\\B)"
_CONTROL = {"a": 0x07, "f": 0x0C, "t": 0x09, "n": 0x0A, "r": 0x0D, "v": 0x0B}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_BLANKS = frozenset("\t\n\x0b\x0c\r \x85\u200e\u200f\u2028\u2029")
_FLAGS = frozenset("imsUuxR")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A pattern for RE2.

    Attributes:
        text: means the same as the original.
        without_edges: the same without word boundaries, whose rewriting holds for ASCII texts only; None without any.
    """

    text: str
    without_edges: str | None


def rewrite(pattern: str) -> Rewritten:
    """The pattern rewritten for RE2.

    Raises:
        NotAPatternError: when the platform would refuse the pattern.
        UnsupportedPatternError: when it would not, or may not, and RE2 cannot express it.

    >>> rewrite("^[a-z]+$").text
    '^(?:[a-z])+$'
    """
    reader = _Reader(pattern)
    reader.read()
    if reader.unsupported is not None:
        raise UnsupportedPatternError(reader.unsupported, is_valid=True)
    text = "".join(reader.out)
    if not reader.has_edges:
        return Rewritten(text, None)
    return Rewritten(text, text.replace(_EDGE, "(?:)").replace(_NO_EDGE, "(?:)"))


@dataclass(frozen=True, slots=True)
class _Group:
    """An open group: where it begins in the output, and which mode to restore behind it."""

    start: int
    verbose: bool


@dataclass(slots=True)
class _Reader:
    """One pass over a pattern; `can_repeat` says whether something to repeat stands just before."""

    pattern: str
    at: int = 0
    out: list[str] = field(default_factory=list)
    groups: list[_Group] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    verbose: bool = False
    can_repeat: bool = False
    atom_start: int = 0
    has_edges: bool = False
    unsupported: str | None = None

    def bad(self, reason: str) -> NoReturn:
        raise NotAPatternError(reason)

    @property
    def char(self) -> str:
        """The character here; empty at the end."""
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        """The character here, which must be there, and step over it."""
        found = self.char or self.bad("unfinished")
        self.at += 1
        return found

    def skips(self, text: str) -> bool:
        """Whether `text` stands here; if so, step over it."""
        if not self.pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def skip_blanks(self) -> None:
        """Step over blanks and comments, in verbose mode only."""
        while self.verbose and self.char:
            if self.char in _BLANKS:
                self.at += 1
            elif self.char == "#":
                end = self.pattern.find("\n", self.at)
                self.at = len(self.pattern) if end < 0 else end + 1
            else:
                return

    def emit(self, atom: str) -> None:
        """One thing that can be repeated."""
        self.atom_start = len(self.out)
        self.out.append(atom)
        self.can_repeat = True

    def read(self) -> None:
        """The whole pattern."""
        self.skip_blanks()
        while self.char:
            self.step()
            self.skip_blanks()
        if self.groups:
            self.bad("unclosed group")

    def step(self) -> None:
        """One atom, operator or group mark."""
        char = self.take()
        match char:
            case "(":
                self.open_group()
            case ")":
                self.close_group()
            case "|":
                self.out.append("|")
                self.can_repeat = False
            case "*" | "+" | "?":
                self.repeat(char)
            case "{":
                self.repeat(self.count())
            case "[":
                self.emit(self.klass(1))
            case "\\":
                self.escape()
            case "." | "^" | "$":
                self.emit(char)
            case _:
                self.emit(code_point(ord(char)))

    def repeat(self, operator: str) -> None:
        """Put the operator behind what stands before; repeated repetition gets a group of its own."""
        if not self.can_repeat:
            self.bad("nothing to repeat")
        if self.skips("?"):
            operator += "?"
        last = "".join(self.out[self.atom_start :])
        del self.out[self.atom_start :]
        self.out.append(f"(?:{last}){operator}")

    def count(self) -> str:
        """`{n}`, `{n,}` or `{n,m}`, the opening brace already read."""
        low = self.decimal()
        high: int | None = low
        self.skip_spaces()
        if self.skips(","):
            self.skip_spaces()
            high = None if self.char == "}" else self.decimal()
        self.skip_spaces()
        if not self.skips("}"):
            self.bad("unclosed repetition")
        if high is not None and high < low:
            self.bad("repetition upside down")
        if max(low, high or 0) > MAX_REPEAT:
            raise UnsupportedPatternError("too many repetitions")
        if high == low:
            return f"{{{low}}}"
        return f"{{{low},}}" if high is None else f"{{{low},{high}}}"

    def skip_spaces(self) -> None:
        while self.char and (self.char.isspace() or self.char in _BLANKS):
            self.at += 1

    def decimal(self) -> int:
        self.skip_spaces()
        start = self.at
        while "0" <= self.char <= "9":
            self.at += 1
        digits = self.pattern[start : self.at]
        self.skip_spaces()
        if not digits or len(digits) > 20 or int(digits) > 2**32 - 1:
            self.bad("no repetition count")
        return int(digits)

    def open_group(self) -> None:
        """`(`, and what may stand behind it."""
        if len(self.groups) >= MAX_NESTING:
            self.bad("nested too deeply")
        self.skip_blanks()
        for mark in ("?=", "?!", "?<=", "?<!"):
            if self.pattern.startswith(mark, self.at):
                self.bad("look-around")
        outer = self.verbose
        flags = ""
        if self.skips("?P<") or self.skips("?<"):
            self.name()
        elif self.skips("?"):
            flags, closes = self.flags()
            if closes:
                if not flags:
                    self.bad("empty flags")
                self.emit_flags(flags)
                return
        self.groups.append(_Group(len(self.out), outer))
        self.out.append(f"(?{self.known_flags(flags)}:")
        self.can_repeat = False

    def emit_flags(self, flags: str) -> None:
        known = self.known_flags(flags)
        if known:
            self.out.append(f"(?{known})")
        self.can_repeat = False

    def known_flags(self, flags: str) -> str:
        """The flags that RE2 knows; `x` is dealt with here, `u` and `R` change meanings it does not know."""
        on, _, off = flags.partition("-")
        if "u" in off or "R" in on:
            self.unsupported = "flag"
            if "u" in off:
                raise UnsupportedPatternError("patterns without Unicode")
        if "x" in on:
            self.verbose = True
        elif "x" in off:
            self.verbose = False
        on, off = ("".join(c for c in part if c in "imsU") for part in (on, off))
        return on + ("-" + off if off else "")

    def flags(self) -> tuple[str, bool]:
        """Flags up to `:` or `)`; whether it was `)`."""
        start = self.at
        while self.char not in (":", ")"):
            if self.take() not in _FLAGS | {"-"}:
                self.bad("unknown flag")
        found = self.pattern[start : self.at]
        closes = self.take() == ")"
        if len(set(found)) < len(found) or found.endswith("-"):
            self.bad("flags repeated or missing")
        return found, closes

    def name(self) -> None:
        """The name of a group up to `>`, unique in the pattern."""
        start = self.at
        while self.take() != ">":
            pass
        name = self.pattern[start : self.at - 1]
        first = name[:1]
        rest_ok = all(c == "_" or c in ".[]" or c.isalnum() for c in name[1:])
        if not name or not (first == "_" or first.isalpha()) or not rest_ok or name in self.names:
            self.bad("group name")
        self.names.add(name)

    def close_group(self) -> None:
        if not self.groups:
            self.bad("unopened group")
        group = self.groups.pop()
        self.verbose, self.atom_start = group.verbose, group.start
        self.out.append(")")
        self.can_repeat = True

    def escape(self) -> None:
        """A backslash outside of a class."""
        char = self.take()
        if char in "AzbB<>":
            self.assertion(char)
        elif char.lower() in PERL_CLASSES:
            self.emit(f"[{'^' if char.isupper() else ''}{PERL_CLASSES[char.lower()]}]")
        elif char in "pP":
            self.emit(f"[{self.property(negated=char == 'P')}]")
        else:
            self.emit(code_point(self.literal_escape(char)))

    def assertion(self, char: str) -> None:
        """Start, end and word boundaries; RE2 knows the latter for ASCII only."""
        if char in "<>":
            self.unsupported = "word edge"
        if char == "b" and self.char == "{":
            raise UnsupportedPatternError("word edge")
        self.has_edges = self.has_edges or char in "bB"
        self.emit(_NO_EDGE if char == "B" else _EDGE if char == "b" else f"\\{char}")

    def literal_escape(self, char: str) -> int:
        """The code point that an escape stands for."""
        if char in _CONTROL:
            return _CONTROL[char]
        if char in _HEX_DIGITS:
            return self.hexadecimal(_HEX_DIGITS[char])
        if char in _META or (char.isascii() and not char.isalnum() and char not in "<>"):
            return ord(char)
        return self.bad("unknown escape")

    def hexadecimal(self, digits: int) -> int:
        if self.skips("{"):
            end = self.pattern.find("}", self.at)
            found = self.pattern[self.at : end] if end >= 0 else ""
            self.at = end + 1
        else:
            found = self.pattern[self.at : self.at + digits]
            self.at += digits
            if len(found) < digits:
                self.bad("hexadecimal digits")
        if not found or len(found) > 8 or any(c not in "0123456789abcdefABCDEF" for c in found):
            self.bad("hexadecimal digits")
        value = int(found, 16)
        if value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
            self.bad("no character")
        return value

    def property(self, *, negated: bool) -> str:
        """A Unicode property, the letter `p` already read."""
        name = self.take()
        if name == "{":
            end = self.pattern.find("}", self.at)
            if end < 0:
                self.bad("unclosed property")
            name = self.pattern[self.at : end]
            self.at = end + 1
            if name.startswith("^"):
                name, negated = name[1:], not negated
        return property_class(name, negated=negated)

    def klass(self, depth: int) -> str:
        """A bracketed class, the bracket already read; the text is a class of RE2."""
        if depth > MAX_NESTING:
            self.bad("nested too deeply")
        negated = self.skips("^")
        items: list[str] = []
        self.skip_blanks()
        while self.char == "-":
            self.at += 1
            items.append("\\-")
            self.skip_blanks()
        if not items and self.skips("]"):
            items.append("\\]")
        self.skip_blanks()
        while not self.skips("]"):
            if not self.char:
                self.bad("unclosed class")
            for operator in ("&&", "--", "~~"):
                if self.skips(operator):
                    self.unsupported = "class operator"
            if self.char == "]":
                continue
            items.append(self.class_item(depth))
            self.skip_blanks()
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def class_item(self, depth: int) -> str:
        """A nested class, or one character, or a range."""
        if self.char == "[":
            posix = self.posix()
            if posix is not None:
                return posix
            self.at += 1
            inner = self.klass(depth + 1)
            if inner.startswith("[^"):
                self.unsupported = "negated nested class"
            return inner[1:-1]
        low = self.class_atom()
        if isinstance(low, str):
            return low
        self.skip_blanks()
        behind = self.pattern[self.at + 1 : self.at + 2]
        if self.char != "-" or behind in ("]", "-"):
            return code_point(low)
        self.at += 1
        self.skip_blanks()
        high = self.class_atom()
        if isinstance(high, str) or high < low:
            self.bad("class range")
        return f"{code_point(low)}-{code_point(high)}"

    def class_atom(self) -> int | str:
        """A character as code point, or a whole class as text."""
        char = self.take()
        if char != "\\":
            return ord(char)
        char = self.take()
        if char.lower() in PERL_CLASSES:
            if char.islower():
                return PERL_CLASSES[char]
            self.unsupported = "negated class in a class"
            return ""
        if char in "pP":
            return self.property(negated=char == "P")
        if char in "AzbB<>":
            self.bad("assertion in a class")
        return self.literal_escape(char)

    def posix(self) -> str | None:
        """`[:name:]` inside a class; None when it is not one."""
        if not self.pattern.startswith("[:", self.at):
            return None
        end = self.pattern.find(":]", self.at + 2)
        name = self.pattern[self.at + 2 : end] if end >= 0 else ""
        if name.removeprefix("^") not in POSIX_CLASSES:
            return None
        self.at = end + 2
        return f"[:{name}:]"
