"""Character classes of the platform's regular expressions in the words of RE2.

Source: middleware 8.2.
"""

from __future__ import annotations


class NotAPatternError(Exception):
    """The platform would refuse the pattern."""


class UnsupportedPatternError(Exception):
    """RE2 cannot express the pattern; `is_valid` tells whether the platform surely compiles it."""

    def __init__(self, reason: str, *, is_valid: bool = False) -> None:
        super().__init__(reason)
        self.is_valid = is_valid


_OTHER_ALPHABETIC = "\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}"
_WHITE_SPACE = "\\x09-\\x0D\\x20\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}"

PERL_CLASSES: dict[str, str] = {
    "d": "\\p{Nd}",
    "s": _WHITE_SPACE,
    "w": f"\\p{{L}}\\p{{Nl}}\\p{{M}}\\p{{Nd}}\\p{{Pc}}\\x{{200C}}\\x{{200D}}{_OTHER_ALPHABETIC}",
}
"""The Unicode meaning of `\\d`, `\\s` and `\\w` as contents of a class."""

POSIX_CLASSES = frozenset(
    {
        *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph"),
        *("lower", "print", "punct", "space", "upper", "word", "xdigit"),
    }
)
"""The names between `[:` and `:]`; all of them are ASCII."""

_CATEGORIES: dict[str, str] = {
    "letter": "L", "casedletter": "LC", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt",
    "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc",
    "enclosingmark": "Me", "number": "N", "decimalnumber": "Nd", "letternumber": "Nl", "othernumber": "No",
    "punctuation": "P", "connectorpunctuation": "Pc", "dashpunctuation": "Pd", "openpunctuation": "Ps",
    "closepunctuation": "Pe", "initialpunctuation": "Pi", "finalpunctuation": "Pf", "otherpunctuation": "Po",
    "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc", "modifiersymbol": "Sk", "othersymbol": "So",
    "separator": "Z", "spaceseparator": "Zs", "lineseparator": "Zl", "paragraphseparator": "Zp", "other": "C",
    "control": "Cc", "format": "Cf", "privateuse": "Co", "digit": "Nd", "combiningmark": "M", "cntrl": "Cc",
    "punct": "P",
}  # fmt: skip
_SHORT = {short.lower(): short for short in _CATEGORIES.values()} | {"cn": "Cn", "cs": "Cs"}
_UNKNOWN_TO_RE2 = frozenset({"LC", "C", "Cn", "Cs"})
_SCRIPTS = frozenset(
    {
        *("Arabic", "Armenian", "Bengali", "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Greek", "Gujarati"),
        *("Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Kannada", "Katakana", "Khmer", "Lao", "Latin"),
        *("Malayalam", "Mongolian", "Myanmar", "Sinhala", "Tamil", "Telugu", "Thai", "Tibetan", "Common", "Inherited"),
    }
)


def code_point(value: int) -> str:
    """One character for RE2, literal where that is safe.

    >>> code_point(ord("a"))
    'a'
    """
    char = chr(value)
    return char if char.isascii() and char.isalnum() else f"\\x{{{value:X}}}"


def property_class(name: str, *, negated: bool) -> str:
    """A Unicode property as content of a class.

    Raises:
        NotAPatternError: for one letter that is no category.
        UnsupportedPatternError: for names that are not known here.
    """
    for operator in ("!=", "=", ":"):
        key, found, value = name.partition(operator)
        if found:
            negated = negated != (operator == "!=")
            if _loose(key) not in ("gc", "generalcategory", "sc", "script"):
                raise UnsupportedPatternError(f"property {name}")
            name = value
            break
    loose = _loose(name)
    sign = "P" if negated else "p"
    category = _SHORT.get(loose) or _CATEGORIES.get(loose)
    if category in _UNKNOWN_TO_RE2:
        raise UnsupportedPatternError(f"property {name}", is_valid=True)
    if category is not None:
        return f"\\{sign}{{{category}}}"
    if loose.title() in _SCRIPTS:
        return f"\\{sign}{{{loose.title()}}}"
    if len(name) == 1:
        raise NotAPatternError(f"property {name}")
    raise UnsupportedPatternError(f"property {name}")


def _loose(name: str) -> str:
    """A name without case, spaces, hyphens and underscores, as property names are compared."""
    return "".join(c for c in name.lower() if c not in " -_")
