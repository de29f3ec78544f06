"""Values that never leave a paste: whatever may be a secret becomes a mark.

Source: host 3.2 (metadata is not logged while a denial is diagnosed), 4.9 (a quota token stands in a target).
"""

from __future__ import annotations

import re

HIDDEN = "‹hidden›"
MAX_ECHO = 400
"""Characters of one recognised part that are told; longer ones are cut."""

_SECRET_WORD = (
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth|authorization"
    r"|bearer|credential|session|cookie|signature|client[_-]?secret)"
)
_VALUE = r"(?:\"[^\"\n]{0,512}\"?|'[^'\n]{0,512}'?|[^\s,;&)}\]\"']{1,512})"
_NAMED = r"(?i)(" + _SECRET_WORD + r"[\w.-]{0,40}[\"']?\s{0,4}"
_SURE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN[^-]{0,40}-----[^-]{0,8192}(?:-----END[^-]{0,40}-----)?"), HIDDEN),
    (re.compile(r"(?i)\b(bearer|basic|digest|negotiate)\s{1,4}[A-Za-z0-9._~+/=:-]{3,}"), r"\1 " + HIDDEN),
    (re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,20}://)[^/\s@\"'<>]{1,512}@"), r"\1" + HIDDEN + "@"),
    (re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s\"'<>?#]{1,512})[?#][^\s\"'<>]{1,512}"), r"\1?" + HIDDEN),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3}"), HIDDEN),
    (
        re.compile(
            r"\b(?:gh[pousr]_|github_pat_|sk[_-](?:live_|test_|ant-|proj-)?|xox[abprs]-|glpat-|AKIA|ASIA|AIza|npm_)"
            r"[A-Za-z0-9_-]{8,}"
        ),
        HIDDEN,
    ),
    (re.compile(_NAMED + r"(?:=>?)\s{0,4})" + _VALUE), r"\1" + HIDDEN),
    # names of components have a colon, too, but neither a space nor quotes around it
    (re.compile(_NAMED + r":\s{1,4})" + _VALUE), r"\1" + HIDDEN),
    (
        re.compile(r"(?i)([\"']" + _SECRET_WORD + r"[\w.-]{0,40}\\{0,8}[\"']\s{0,4}:\s{0,4}\\{0,8})" + _VALUE),
        r"\1" + HIDDEN,
    ),
    (re.compile(r"(?i)(--[\w-]{0,40}" + _SECRET_WORD + r"[\w-]{0,40}\s{1,4})" + _VALUE), r"\1" + HIDDEN),
)
"""Forms that only secrets have."""

_LIKELY: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^/\s\"'<>]{1,256})/[^\s\"'<>]{1,1024}"), r"\1/" + HIDDEN),
    (re.compile(_NAMED + r":\s{0,4})" + _VALUE), r"\1" + HIDDEN),
    (re.compile(r"(?i)(key[\"']?\s{0,4}(?:=>?|:)\s{0,4})" + _VALUE), r"\1" + HIDDEN),
    (re.compile(r"\b[0-9a-fA-F]{40,}\b"), HIDDEN),
)
"""Forms that names of components and keys have, too."""

_SQL_TEXT = re.compile(r"'(?:[^'\n]|''){0,512}'?|\"[^\"\n]{0,512}\"?|\$[A-Za-z0-9_]{0,16}\$")
_SQL_REST = re.compile(HIDDEN + r"[^\s,;()]{1,512}")
"""What stands at a literal without a space between: the literal had quotes of its own."""
_SQL_NUMBER = re.compile(r"(?<![\w:.])[0-9][0-9._]{3,}(?!\w)")


def redacted_name(text: str) -> str:
    """A name (of an agent, a tool, a target) without what only secrets look like; never cut.

    >>> redacted_name('Pay("9") --password="x" on auth:login')
    'Pay("9") --password=‹hidden› on auth:login'
    """
    for pattern, instead in _SURE:
        text = pattern.sub(instead, text)
    return text


def redacted(text: str) -> str:
    """Free text without tokens, passwords, keys, credentials in URLs and values of secret-looking names, cut to length.

    >>> redacted("token: abc123 at https://u:p@h/x")
    'token: ‹hidden› at https://‹hidden›@h/‹hidden›'
    """
    text = redacted_name(text[: 4 * MAX_ECHO])
    for pattern, instead in _LIKELY:
        text = pattern.sub(instead, text)
    return text if len(text) <= MAX_ECHO else text[: MAX_ECHO - 1] + "…"


def redacted_argument(name: str, text: str) -> str:
    """An argument of an operation as it may be repeated: of a statement no literals, of a URL no credentials.

    >>> redacted_argument("sql", "SELECT a FROM t WHERE b = 'x'"), redacted_argument("url", "me:pw@h/?a=b")
    ('SELECT a FROM t WHERE b = ‹hidden›', '‹hidden›')
    """
    text = redacted_name(text)
    if name == "sql":
        return _SQL_REST.sub(HIDDEN, _SQL_NUMBER.sub(HIDDEN, _SQL_TEXT.sub(HIDDEN, text)))
    # where it has no scheme, nothing tells its parts apart
    if name in _URLS and "://" not in text and any(sign in text for sign in "@?#"):
        return HIDDEN
    return text


_URLS = frozenset(("url", "uri", "address"))


def redacted_sql(text: str) -> str:
    """A reason that a parser of SQL gave, without the literals of the statement that it may quote.

    >>> redacted_sql("Expected: end, found: 'hunter2' at Line: 1, Column: 9")
    'Expected: end, found: ‹hidden› at Line: 1, Column: 9'
    """
    hidden = _SQL_NUMBER.sub(HIDDEN, _SQL_TEXT.sub(HIDDEN, text[: 4 * MAX_ECHO]))
    return redacted(_SQL_REST.sub(HIDDEN, hidden))
