"""Statements on which the parser at hand and the platform's, one version newer, may differ.

Here the answer is that the statement cannot be analysed: neither its tables nor its refusal are certain.

Source: host 4.7; the parser's own list of changes between 0.61 and 0.62.
"""

from __future__ import annotations

import re

from policyd.core.operations.sql import Engine
from policyd.syntax.sql_tree import Name, Node, name_of

_POSTGRES = frozenset({Engine.POSTGRES})
_MYSQL = frozenset({Engine.MYSQL, Engine.IGNITE})
_ALL = frozenset(Engine)
_WORD = r"(?:\w+|\"[^\"]*\"|`[^`]*`)"
_NAME = rf"{_WORD}(?:\s*\.\s*{_WORD})*"
_ALIAS = rf"(?!(?:AS|DEFAULT|ON|SELECT|SET|TABLE|VALUES?|WITH)\b){_WORD}"
_READ_KINDS = re.compile(
    r"[\s;(]*(?:SELECT|FROM|VALUES|INSERT|REPLACE|UPDATE|DELETE|MERGE|TRUNCATE|CREATE|ALTER|DROP)\b", re.IGNORECASE
)

_NEWER_FORMS: tuple[tuple[frozenset[Engine], str], ...] = (
    (_MYSQL, r"\bUPDATE\b.*\bORDER\b"),
    (_MYSQL, r"\bTABLE\b.*(?:\b(?!(?:ADD|DROP|DUPLICATE|FOREIGN|PRIMARY|UNIQUE)\b)\w+|\))\s+KEY\b"),
    (_POSTGRES, r"\(\s*LIKE\b.*\b(?:INCLUDING|EXCLUDING)\s+DEFAULTS\s*\)"),
    (_POSTGRES, r"\bUSING\s+INDEX\b"),
    (_POSTGRES, r"\bINTERVAL\b"),
    (_POSTGRES, r"\bTRIM\s*\("),
    (_POSTGRES, r"(?:\bFROM|\bJOIN|,)\s*@"),
    (_POSTGRES, r"\bXML\s*'"),
    (_POSTGRES, r"\*\s*(?:AS\s+)?(?!FROM\b)[\w\"]+\s+FROM\b"),
    (_POSTGRES | {Engine.IGNITE}, rf"\bINSERT\s+(?:INTO\s+)?{_NAME}\s+{_ALIAS}\s*(?:\(|VALUES\b|SELECT\b)"),
    (_ALL, rf"\bINSERT\s+(?:INTO\s+)?{_NAME}\s*\([^()]*\."),
    (frozenset({Engine.IGNITE}), r"\b(?:CHANGES|EXCLUDE)\s*\("),
    (_ALL, r"\bOUTPUT\b"),
    (_ALL, r"\bGROUPING\s+SETS\b"),
    (_ALL, r"\.\s*\w+\s+COLLATE\b"),
    (_ALL, r"\bAS\s*\("),
    (_ALL, r"<[-~@#&|?^]"),
)
"""What only the newer parser reads: engines and a pattern."""
_COMPILED = tuple((engines, re.compile(form, re.IGNORECASE | re.DOTALL)) for engines, form in _NEWER_FORMS)
_SCANNED = 4_096
_COMMENT = re.compile(r"--[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")


def may_be_newer(engine: Engine, sql: str) -> bool:
    """Whether a text that cannot be read here may be one that the newer parser reads and the platform analyses."""
    text = _COMMENT.sub(" ", sql[:_SCANNED])
    if _READ_KINDS.match(text) is None:
        return False  # read or not, such a statement is refused
    return any(engine in engines and form.search(text) for engines, form in _COMPILED)


def is_older_insert(engine: Engine, content: Node) -> bool:
    """Whether an INSERT was read in a way that the newer parser no longer has: it takes `PARTITION` for an alias."""
    return engine is Engine.POSTGRES and content["partitioned"] is not None


def like_in_parentheses(engine: Engine, columns: Node) -> tuple[bool, Name]:
    """How the columns of CREATE TABLE are to be taken where the first is called LIKE.

    Returns:
        Whether the newer parser reads them as this one does, and the table of `(LIKE t)` if they are that.
    """
    if engine is not Engine.POSTGRES or not columns:
        return True, None
    first = columns[0]["name"]
    if first["quote_style"] is not None or first["value"].upper() != "LIKE":
        return True, None
    match columns:
        case [{"data_type": {"Custom": [parts, []]}, "options": []}]:
            return True, name_of(parts)
        case _:
            return False, None
