"""What validating a value found: violations with their places, and what could not be decided.

Source: middleware 8.1, 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ViolationKind(Enum):
    """The ways in which a value does not fit its type, by the names of the platform."""

    SHAPE_MISMATCH = "ShapeMismatch"
    DANGLING_REF = "DanglingRef"
    NUMERIC_OUT_OF_RANGE = "NumericOutOfRange"
    RECORD_ARITY_MISMATCH = "RecordArityMismatch"
    TUPLE_ARITY_MISMATCH = "TupleArityMismatch"
    FLAGS_ARITY_MISMATCH = "FlagsArityMismatch"
    FIXED_LIST_LENGTH_MISMATCH = "FixedListLengthMismatch"
    VARIANT_CASE_OUT_OF_RANGE = "VariantCaseOutOfRange"
    VARIANT_PAYLOAD_PRESENCE_MISMATCH = "VariantPayloadPresenceMismatch"
    ENUM_CASE_OUT_OF_RANGE = "EnumCaseOutOfRange"
    RESULT_PAYLOAD_PRESENCE_MISMATCH = "ResultPayloadPresenceMismatch"
    TEXT_TOO_SHORT = "TextTooShort"
    TEXT_TOO_LONG = "TextTooLong"
    TEXT_LANGUAGE_NOT_ALLOWED = "TextLanguageNotAllowed"
    TEXT_REGEX_MISMATCH = "TextRegexMismatch"
    BINARY_TOO_SMALL = "BinaryTooSmall"
    BINARY_TOO_LARGE = "BinaryTooLarge"
    BINARY_MIME_NOT_ALLOWED = "BinaryMimeNotAllowed"
    PATH_EMPTY = "PathEmpty"
    PATH_EXTENSION_NOT_ALLOWED = "PathExtensionNotAllowed"
    URL_EMPTY = "UrlEmpty"
    URL_INVALID = "UrlInvalid"
    URL_SCHEME_NOT_ALLOWED = "UrlSchemeNotAllowed"
    URL_HOST_MISSING = "UrlHostMissing"
    URL_HOST_NOT_ALLOWED = "UrlHostNotAllowed"
    QUANTITY_UNIT_NOT_ALLOWED = "QuantityUnitNotAllowed"
    QUANTITY_OUT_OF_RANGE = "QuantityOutOfRange"
    UNION_UNKNOWN_TAG = "UnionUnknownTag"
    UNION_DISCRIMINATOR_MISMATCH = "UnionDiscriminatorMismatch"
    SECRET_CATEGORY_MISMATCH = "SecretCategoryMismatch"
    QUOTA_TOKEN_RESOURCE_MISMATCH = "QuotaTokenResourceMismatch"
    PERMISSION_CARD_POLYMORPHIC_MISMATCH = "PermissionCardPolymorphicMismatch"
    NEEDS_PATTERNS = "NeedsPatterns"
    """Not a violation: a regular expression would have to be matched and there is no engine that can."""
    NEEDS_URLS = "NeedsUrls"
    """Not a violation: a URL would have to be parsed and there is no engine that can."""


_UNDECIDED = (ViolationKind.NEEDS_PATTERNS, ViolationKind.NEEDS_URLS)


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule broken, and where.

    Attributes:
        kind: which rule.
        path: segments from the root: `field:<name>`, `index:<n>`, `payload`, `some`, `ok`, `err`, `body`, `key:<n>`,
            `value:<n>`.
    """

    kind: ViolationKind
    path: tuple[str, ...] = ()


class Validity(Enum):
    """Whether a value fits a type."""

    VALID = "valid"
    INVALID = "invalid"
    UNDECIDED = "undecided"


def validity_of(violations: tuple[Violation, ...]) -> Validity:
    """Invalid with any rule broken, undecided when only an engine was missing, valid without violations."""
    if not violations:
        return Validity.VALID
    return Validity.UNDECIDED if all(v.kind in _UNDECIDED for v in violations) else Validity.INVALID
