"""The rules of leaf values: numbers, text, binary data, paths, URLs, quantities.

Source: middleware 8.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from policyd.core.schema.decimals import compare
from policyd.core.schema.engines import Engines, UrlVerdict
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.outcomes import ViolationKind
from policyd.core.schema.restrictions import (
    BinaryRestriction,
    NumericRestriction,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.values import BinaryValue, QuantityValue, TextValue
from policyd.core.schema.wellformed import bound_fault


def number_violations(
    kind: NumberKind, restriction: NumericRestriction | None, number: int | float
) -> Iterator[ViolationKind]:
    """A number out of its bounds, once per bound; bounds that do not fit the kind are passed over."""
    if restriction is None:
        return
    low, high = restriction.low, restriction.high
    if any(bound is not None and bound_fault(kind, bound) is not None for bound in (low, high)):
        return
    if low is not None and number < low.number:
        yield ViolationKind.NUMERIC_OUT_OF_RANGE
    if high is not None and number > high.number:
        yield ViolationKind.NUMERIC_OUT_OF_RANGE


def text_violations(restriction: TextRestriction, value: TextValue, engines: Engines) -> Iterator[ViolationKind]:
    """Length in Unicode scalar values, language, regular expression (searched, not matched as a whole)."""
    length = len(value.text)
    if restriction.min_length is not None and length < restriction.min_length:
        yield ViolationKind.TEXT_TOO_SHORT
    if restriction.max_length is not None and length > restriction.max_length:
        yield ViolationKind.TEXT_TOO_LONG
    languages = restriction.languages
    if languages is not None and value.language is not None and value.language not in languages:
        yield ViolationKind.TEXT_LANGUAGE_NOT_ALLOWED
    if restriction.regex is not None:
        yield from _regex_violations(restriction.regex, value.text, engines)


def _regex_violations(regex: str, text: str, engines: Engines) -> Iterator[ViolationKind]:
    """A text without a match; a pattern that does not compile is passed over."""
    patterns = engines.patterns
    valid = None if patterns is None else patterns.is_valid(regex)
    if valid is False:
        return
    found = None if patterns is None or valid is None else patterns.finds(regex, text)
    if found is None:
        yield ViolationKind.NEEDS_PATTERNS
    elif not found:
        yield ViolationKind.TEXT_REGEX_MISMATCH


def binary_violations(restriction: BinaryRestriction, value: BinaryValue) -> Iterator[ViolationKind]:
    """Size and MIME type; data without MIME type passes every list."""
    size = len(value.data)
    if restriction.min_bytes is not None and size < restriction.min_bytes:
        yield ViolationKind.BINARY_TOO_SMALL
    if restriction.max_bytes is not None and size > restriction.max_bytes:
        yield ViolationKind.BINARY_TOO_LARGE
    allowed = restriction.mime_types
    if allowed is not None and value.mime_type is not None and value.mime_type not in allowed:
        yield ViolationKind.BINARY_MIME_NOT_ALLOWED


def extension_of(path: str) -> str:
    """What stands behind the last dot of the last segment; empty where there is none.

    >>> extension_of("a/.bashrc"), extension_of("a.d/b")
    ('bashrc', '')
    """
    segment = path.rsplit("/", 1)[-1]
    return segment.rpartition(".")[2] if "." in segment else ""


def path_violations(spec: PathSpec, path: str) -> Iterator[ViolationKind]:
    """An empty path, or an extension that is not listed; direction, kind and MIME types are not looked at."""
    if not path:
        yield ViolationKind.PATH_EMPTY
        return
    extension = extension_of(path)
    if spec.extensions is not None and extension and extension not in spec.extensions:
        yield ViolationKind.PATH_EXTENSION_NOT_ALLOWED


def url_violations(restriction: UrlRestriction, url: str, engines: Engines) -> Iterator[ViolationKind]:
    """A URL that does not parse, or whose scheme or host is not listed; ASCII case does not matter."""
    if not url:
        yield ViolationKind.URL_EMPTY
        return
    parsed = UrlVerdict.UNKNOWN if engines.urls is None else engines.urls.parse(url)
    if isinstance(parsed, UrlVerdict):
        yield ViolationKind.NEEDS_URLS if parsed is UrlVerdict.UNKNOWN else ViolationKind.URL_INVALID
        return
    if restriction.schemes is not None and not _is_listed(parsed.scheme, restriction.schemes):
        yield ViolationKind.URL_SCHEME_NOT_ALLOWED
    if restriction.hosts is not None:
        if parsed.host is None:
            yield ViolationKind.URL_HOST_MISSING
        elif not _is_listed(parsed.host, restriction.hosts):
            yield ViolationKind.URL_HOST_NOT_ALLOWED


def _ascii_lower(text: str) -> str:
    return "".join(c.lower() if "A" <= c <= "Z" else c for c in text)


def _is_listed(name: str, allowed: tuple[str, ...]) -> bool:
    return _ascii_lower(name) in map(_ascii_lower, allowed)


def quantity_violations(spec: QuantitySpec, value: QuantityValue) -> Iterator[ViolationKind]:
    """A unit that is not listed, or a decimal out of its bounds, once per bound; units are not converted."""
    if value.unit not in (spec.suffixes or (spec.base_unit,)):
        yield ViolationKind.QUANTITY_UNIT_NOT_ALLOWED
        return
    for limit, outward in ((spec.low, -1), (spec.high, 1)):
        if limit is not None and compare(value, limit) in (None, outward):
            yield ViolationKind.QUANTITY_OUT_OF_RANGE
