"""What can be wrong with a schema: a kind, and what it is about.

Source: middleware 1.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FaultKind(Enum):
    """The ways in which a schema is not well-formed, by the names of the platform."""

    DUPLICATE_TYPE_ID = "DuplicateTypeId"
    DANGLING_REF = "DanglingRef"
    RECURSIVE_ALIAS = "RecursiveAlias"
    EMPTY_VARIANT = "EmptyVariant"
    EMPTY_ENUM = "EmptyEnum"
    EMPTY_FLAGS = "EmptyFlags"
    EMPTY_UNION = "EmptyUnion"
    DUPLICATE_FIELD_NAME = "DuplicateFieldName"
    DUPLICATE_VARIANT_CASE = "DuplicateVariantCase"
    DUPLICATE_ENUM_CASE = "DuplicateEnumCase"
    DUPLICATE_FLAG_NAME = "DuplicateFlagName"
    DUPLICATE_UNION_TAG = "DuplicateUnionTag"
    MAP_KEY_NOT_PRIMITIVE = "MapKeyNotPrimitive"
    FIXED_LIST_ZERO_LENGTH = "FixedListZeroLength"
    NULLABLE_NESTING = "NullableNesting"
    INVALID_NUMERIC_RESTRICTION = "InvalidNumericRestriction"
    TEXT_LENGTH_RANGE_INVERTED = "TextLengthRangeInverted"
    INVALID_TEXT_REGEX = "InvalidTextRegex"
    BINARY_BYTE_RANGE_INVERTED = "BinaryByteRangeInverted"
    QUANTITY_MIN_UNIT_MISMATCH = "QuantityMinUnitMismatch"
    QUANTITY_MAX_UNIT_MISMATCH = "QuantityMaxUnitMismatch"
    QUANTITY_MIN_GREATER_THAN_MAX = "QuantityMinGreaterThanMax"
    QUANTITY_COMPARISON_OVERFLOW = "QuantityComparisonOverflow"
    INVALID_REGEX = "InvalidRegex"
    UNION_STRING_RULE_ON_NON_STRING_BODY = "UnionStringRuleOnNonStringBody"
    UNION_FIELD_RULE_ON_NON_RECORD_BODY = "UnionFieldRuleOnNonRecordBody"
    UNION_FIELD_RULE_MISSING_FIELD = "UnionFieldRuleMissingField"
    UNION_FIELD_EQUALS_LITERAL_ON_NON_STRING_FIELD = "UnionFieldEqualsLiteralOnNonStringField"
    UNION_UNSATISFIABLE_FIELD_ABSENT = "UnionUnsatisfiableFieldAbsent"
    UNION_AMBIGUOUS_DISCRIMINATORS = "UnionAmbiguousDiscriminators"
    NEEDS_PATTERNS = "NeedsPatterns"
    """Not a fault: a regular expression could not be judged without an engine."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a schema; members that do not apply are None."""

    kind: FaultKind
    id: str | None = None
    name: str | None = None
    tag: str | None = None
    tags: tuple[str, str] | None = None
    field: str | None = None
    reason: str | None = None

    @property
    def is_undecided(self) -> bool:
        """Whether it only says that an engine is missing."""
        return self.kind is FaultKind.NEEDS_PATTERNS
