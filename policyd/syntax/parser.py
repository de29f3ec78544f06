"""The LALR parsers made from the grammar files, built when first used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from policyd.resources import grammar_text


@dataclass(frozen=True, slots=True)
class Piece:
    """One terminal of a parsed text.

    Attributes:
        rule: the rule (or alias) that it stands in directly.
        terminal: its name in the grammar.
        text: as written.
        start: its offset in the text.
    """

    rule: str
    terminal: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset behind the last character."""
        return self.start + len(self.text)


_NAMES = {
    "AT": "`@`",
    "BOUND": "`start=` or `end=`",
    "COLON": "`:`",
    "COMMAND_PART": "a command word",
    "DIGITS": "digits",
    "DOMAIN_LABEL": "a domain label",
    "DOT": "`.`",
    "LABEL": "a host label",
    "LITERAL_KEY": "a key segment",
    "LITERAL_PATH": "a path segment",
    "LONG": "a flag `--name`",
    "LONG_VALUE": "a flag `--name=value`",
    "MINUS": "`-`",
    "NAME": "a name",
    "NUMBER": "a number",
    "PART": "a name part",
    "PORT": "a port number",
    "POSITIONAL": "an argument",
    "PROVIDER": "a provider",
    "REST": "a non-empty rest",
    "REV": "`rev=`",
    "ROUTE_PATH": "a path that begins with `/`",
    "SHORT": "a flag `-x`",
    "SLASH": "`/`",
    "STAR": "`*`",
    "STAR_KEY": "`*`",
    "STAR_LABEL": "`*`",
    "STAR_PATH": "`*`",
    "GLOBSTAR_KEY": "`**`",
    "GLOBSTAR_PATH": "`**`",
    "STORE": "a store name",
    "_SPACE": "a space",
    "__ANON_0": "`rev=`",
}
_UNSAID = frozenset({"$END", "MARKED", "TRAILING_DOT"})


@dataclass(frozen=True, slots=True)
class Mismatch(Exception):  # noqa: N818 - told onwards by the caller, with the part it stands in
    """The text does not have the structure of its grammar.

    Attributes:
        offset: where it stops fitting, in characters.
        expected: what could have stood there, in words, sorted; may be empty.
    """

    offset: int
    expected: tuple[str, ...]


@cache
def _parser(grammar: str) -> Lark:
    return Lark(grammar_text(grammar), parser="lalr", maybe_placeholders=False)


def parse_pieces(grammar: str, text: str) -> list[Piece]:
    """The terminals of `text` under `grammar/<grammar>.lark`, in order.

    Raises:
        Mismatch: if the text has another structure.
    """
    try:
        tree = _parser(grammar).parse(text)
    except UnexpectedInput as refusal:
        raise Mismatch(_offset(refusal, text), _expected(refusal)) from None
    pieces: list[Piece] = []
    _collect(tree, pieces)
    return pieces


def _collect(tree: Tree[Token], pieces: list[Piece]) -> None:
    # The grammars are not recursive: a tree is two or three levels deep, however long the text.
    for child in tree.children:
        if isinstance(child, Token):
            pieces.append(Piece(str(tree.data), child.type, str(child), child.start_pos or 0))
        else:
            _collect(child, pieces)


def _offset(refusal: UnexpectedInput, text: str) -> int:
    if isinstance(refusal, UnexpectedEOF):
        return len(text)
    if isinstance(refusal, UnexpectedToken) and refusal.token.type == "$END":
        return len(text)
    return min(max(refusal.pos_in_stream or 0, 0), len(text))


def _expected(refusal: UnexpectedInput) -> tuple[str, ...]:
    match refusal:
        case UnexpectedCharacters():
            names = refusal.allowed or set()
        case UnexpectedToken():
            names = refusal.accepts or refusal.expected or set()
        case _:
            names = set()
    return tuple(sorted({_NAMES.get(name, name.lower()) for name in names if name not in _UNSAID}))
