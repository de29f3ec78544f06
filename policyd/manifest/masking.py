"""Which characters of a document must not be shown, also of one that is no YAML.

Masked are values under env, config, secret defaults, parameters, headers and tokens, and under keys that the
structure does not know, with the comments beside them, and of every URL the user information, the query and the
fragment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from policyd.manifest.located import Located, LocatedList, LocatedScalar
from policyd.manifest.source import Source

MASK = "***"
"""What stands for a hidden text, whatever its length."""

SENSITIVE_KEYS = frozenset(
    (
        *("env", "config", "wasiConfig", "secretDefaults", "parameters"),
        *("auth", "staticToken", "bearer", "basic", "password", "token", "secret", "secrets", "apiKey"),
        *("headers", "header", "authorization", "proxyAuthorization", "cookie", "setCookie", "xApiKey"),
        *("credential", "credentials", "clientSecret", "privateKey", "accessKey", "accessToken", "refreshToken"),
    )
)
"""Keys whose values are hidden, wherever they stand."""

_FOLDED = frozenset(key.replace("_", "").replace("-", "").lower() for key in SENSITIVE_KEYS)
_KEY = re.compile(r"""\s*(?:-\s+|\?\s+)*(?:"[^"\\]*"|'[^']*'|[^\s#'"{}\[\],&*!|>%@`?:-][^\s#{}\[\],:]*)\s*:(?=\s|$)""")
_ANY_KEY = re.compile(r"""(?<![\w-])(?P<key>[A-Za-z_][\w-]*)["']?\s*:""")
_URL_ENDINGS = ("url", "uri", "dsn")
_TOKEN = re.compile(r"\S*")
_SCHEME = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.:-]{0,60}://")
_UNCLOSED = re.compile(r"""[{}\[\]"'&*!|>\\?]""")


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveRanges:
    """What to hide of one document.

    Attributes:
        is_guess: whether the document could not be composed; hidden is then in doubt everything.
        ranges: sorted and apart, start and end of what is hidden.
        lines: for a guess, numbers of hidden lines; true where the first key may be shown.
    """

    is_guess: bool
    ranges: tuple[tuple[int, int], ...] = ()
    lines: Mapping[int, bool] = field(default_factory=dict)

    @classmethod
    def of(
        cls, source: Source, root: Located | None, *, composed: bool, unknown: Collection[int] = ()
    ) -> SensitiveRanges:
        """What to hide of `source`, whose tree is `root` where it could be `composed`.

        Args:
            source: the document.
            root: its tree.
            composed: whether all of it stands in the tree.
            unknown: where keys begin that the structure does not know: they may be misspelt ones of secrets.
        """
        if not composed:
            return cls(True, (), _guessed_lines(source))
        return cls(False, _joined(_collect(source, root, unknown)) if root is not None else ())

    def mask_line(self, source: Source, number: int) -> str:
        """Line `number` (1-based) with hidden parts as `MASK`; empty outside the document."""
        if not 0 < number <= len(source.line_starts):
            return ""
        if self.is_guess:
            line = source.line(number)
            return _masked(line, keep_key=self.lines[number]) if number in self.lines else line
        start, end = source.line_bounds(number)
        parts: list[str] = []
        at = start
        position = max(bisect_right(self.ranges, (start, start)) - 1, 0)
        for first, last in self.ranges[position:]:
            if first >= end:
                break
            if last <= at:
                continue
            first = max(first, at)
            parts.append(source.text[at:first])
            hidden = source.text[first : min(last, end)]
            indent = hidden[: len(hidden) - len(hidden.lstrip())] if first == start else ""
            parts.append(indent + MASK if hidden.strip() else hidden)
            at = min(last, end)
        parts.append(source.text[at:end])
        return "".join(parts)


def is_sensitive_key(key: str) -> bool:
    """Whether values under `key` are hidden, in any spelling.

    >>> is_sensitive_key("secret_defaults"), is_sensitive_key("files")
    (True, False)
    """
    return key.replace("_", "").replace("-", "").lower() in _FOLDED


def is_url_key(key: str) -> bool:
    """Whether the value under `key` is a URL, also where it does not look like one.

    >>> is_url_key("workerUrl"), is_url_key("account")
    (True, False)
    """
    return key.lower().endswith(_URL_ENDINGS)


def url_secrets(text: str, *, is_url: bool) -> list[tuple[int, int]]:
    """The parts of URLs in `text` that may hold secrets: user information, query and fragment, without their marks.

    Args:
        text: any text.
        is_url: whether all of it is one URL, which then ends where the text ends.

    >>> url_secrets("see https://me:pw@host/x?key=1 too", is_url=False)
    [(12, 17), (25, 30)]
    """
    found: list[tuple[int, int]] = []
    if is_url or _SCHEME.match(text):
        return _secrets_between(text, max(text.find("://") + 3, 0) if "://" in text else 0, len(text))
    mark = text.find("://")
    while mark >= 0:
        token = _TOKEN.match(text, mark + 3)
        end = token.end() if token else len(text)
        found += _secrets_between(text, mark + 3, end)
        mark = text.find("://", end)
    return found


def _secrets_between(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found = []
    at = text.rfind("@", start, end)
    if at > start:
        found.append((start, at))
    marks = [mark for mark in (text.find("?", max(at, start), end), text.find("#", max(at, start), end)) if mark >= 0]
    if marks and min(marks) + 1 < end:
        found.append((min(marks) + 1, end))
    return found


def _in_scalar(source: Source, scalar: LocatedScalar, *, is_url: bool) -> list[tuple[int, int]]:
    """The secrets of URLs in a scalar; the whole scalar where it is written in another way than it reads."""
    wanted = url_secrets(scalar.text, is_url=is_url)
    if not wanted:
        return []
    raw = source.text[scalar.start : scalar.end]
    offset = raw.find(scalar.text)
    if offset < 0:
        return [(scalar.start, scalar.end)]
    return [(scalar.start + offset + first, scalar.start + offset + last) for first, last in wanted]


def _collect(source: Source, root: Located, unknown: Collection[int]) -> list[tuple[int, int]]:
    """The ranges of hidden values and of the comments next to them; every element is visited once, aliases too."""
    scalars: list[tuple[int, int, bool]] = []
    found: list[tuple[int, int]] = []
    pending: list[tuple[Located, bool, bool]] = [(root, False, False)]
    seen: set[tuple[int, bool, bool]] = set()
    while pending:
        node, hidden, is_url = pending.pop()
        if (id(node), hidden, is_url) in seen:
            continue
        seen.add((id(node), hidden, is_url))
        if isinstance(node, LocatedScalar):
            scalars.append((node.start, node.end, hidden))
            if hidden and node.end > node.start:
                found.append((node.start, node.end))
            elif not hidden:
                found += _in_scalar(source, node, is_url=is_url)
        elif isinstance(node, LocatedList):
            pending += [(item, hidden, is_url) for item in node.items]
        else:
            for key, value in node.entries:
                below = hidden or is_sensitive_key(key.text) or key.start in unknown
                scalars.append((key.start, key.end, below))
                found += _in_scalar(source, key, is_url=False)
                pending.append((value, below, is_url_key(key.text)))
    scalars.sort()
    at, before = 0, False
    for start, end, hidden in (*scalars, (len(source.text), len(source.text), False)):
        if start > at:
            if before or hidden:
                _comments(source.text, at, start, found)
            between = source.text[at:start]
            found += ((at + first, at + last) for first, last in url_secrets(between, is_url=False))
        before = hidden or (before and start < at)
        at = max(at, end)
    return found


def _comments(text: str, start: int, end: int, found: list[tuple[int, int]]) -> None:
    """Add the comments between two scalars."""
    mark = text.find("#", start, end)
    while mark >= 0:
        line_end = text.find("\n", mark)
        line_end = len(text) if line_end < 0 else line_end
        found.append((mark, line_end))
        mark = text.find("#", line_end, end)


def _joined(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    out: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return tuple(out)


def _guessed_lines(source: Source) -> dict[int, bool]:
    """Lines to hide in a document that is no YAML: below sensitive keys, and in doubt all that follow."""
    hidden: dict[int, bool] = {}
    region: int | None = None
    doubt = False
    for number in range(1, len(source.line_starts) + 1):
        line = source.line(number)
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if region is not None and not doubt:
            inside = not stripped or stripped.startswith("#") or indent > region
            if not inside and not (indent == region and stripped.startswith("-")):
                region = None
        if doubt or region is not None:
            hidden[number] = False
            doubt = doubt or _leaves_open(line)
        elif _names_secrets(line) or _is_odd(line):
            hidden[number] = True
            region = indent
            doubt = _leaves_open(line) or _is_odd(line)
    return hidden


def _names_secrets(line: str) -> bool:
    """Whether a key of hidden values stands in the line, or a URL with more than a host and a path."""
    keys = (match.group("key") for match in _ANY_KEY.finditer(line))
    if any(is_sensitive_key(key) or is_url_key(key) for key in keys):
        return True
    mark = line.find("://")
    return mark >= 0 and (bool(_URL_MORE.search(line, mark)) or _leaves_open(line))


_URL_MORE = re.compile("[@?#]")


def _is_odd(line: str) -> bool:
    """Whether keys may stand there that cannot be seen."""
    return "\\" in line or line.lstrip().startswith("?")


def _leaves_open(line: str) -> bool:
    """Whether something may begin there that indentation does not end."""
    return "\t" in line[: len(line) - len(line.lstrip())] or bool(_UNCLOSED.search(_without_closed(line)))


_CLOSED = re.compile(r"""\{\{[^{}"']*\}\}|"[^"\\]*"|'[^']*'|\[\s*\]|\{\s*\}""")


def _without_closed(line: str) -> str:
    """The line without what is opened and closed in it."""
    return _CLOSED.sub("", line)


def _masked(line: str, *, keep_key: bool) -> str:
    """The line with everything hidden, or everything behind its first key."""
    if not line.strip():
        return line
    match = _KEY.match(line) if keep_key else None
    if match is None:
        return line[: len(line) - len(line.lstrip())] + MASK
    return line[: match.end()] + (f" {MASK}" if line[match.end() :].strip() else "")
