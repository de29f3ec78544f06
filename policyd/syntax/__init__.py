"""Text to core values: grants, targets, owners, recipients and resources."""

from policyd.syntax.grants import (
    Form,
    parse_fields,
    parse_grant,
    parse_grants,
    parse_target,
    parse_target_fields,
    reads_alike,
)
from policyd.syntax.mistakes import GrantErrorKind, GrantSyntaxError
from policyd.syntax.owners import parse_owner
from policyd.syntax.recipients import parse_recipient
from policyd.syntax.resources import parse_resource

__all__ = [
    "Form",
    "GrantErrorKind",
    "GrantSyntaxError",
    "parse_fields",
    "parse_grant",
    "parse_grants",
    "parse_owner",
    "parse_recipient",
    "parse_resource",
    "parse_target",
    "parse_target_fields",
    "reads_alike",
]
