"""What can be wrong with a grant, and how it is told.

Source: cards 1.6, 1.8.
"""

from __future__ import annotations

from enum import Enum

from policyd.core.edition import Rules
from policyd.core.grants import PermissionClass, classes_of
from policyd.core.grants.slots import SLOTS_BY_TEXT
from policyd.findings import Finding, InputError, Severity, Span, nearest, visible
from policyd.findings.span import span_of_text

ARGUMENT = "argument"
"""The name of the source where a grant came from nowhere in particular."""


class GrantErrorKind(Enum):
    """The platform's seven kinds of refusal, in the order of its checks."""

    MALFORMED = "Malformed"
    SLOT_IN_CONCRETE = "SlotVariableInConcreteGrant"
    UNKNOWN_CLASS = "UnknownClass"
    INVALID_OWNER = "InvalidOwnerPath"
    INVALID_RECIPIENT = "InvalidRecipientPath"
    UNKNOWN_VERB = "UnknownVerb"
    INVALID_RESOURCE = "InvalidResource"


CODES = {
    GrantErrorKind.MALFORMED: "GRANT001",
    GrantErrorKind.UNKNOWN_CLASS: "GRANT002",
    GrantErrorKind.INVALID_OWNER: "GRANT003",
    GrantErrorKind.INVALID_RECIPIENT: "GRANT004",
    GrantErrorKind.UNKNOWN_VERB: "GRANT005",
    GrantErrorKind.INVALID_RESOURCE: "GRANT006",
    GrantErrorKind.SLOT_IN_CONCRETE: "GRANT007",
}
TOO_LONG = "GRANT008"

_GUEST = {
    GrantErrorKind.MALFORMED: ("invalid-pattern", ""),
    GrantErrorKind.UNKNOWN_CLASS: ("unknown-resource-class", ""),
    GrantErrorKind.INVALID_OWNER: ("invalid-owner", "owner"),
    GrantErrorKind.INVALID_RECIPIENT: ("invalid-recipient", ""),
    GrantErrorKind.UNKNOWN_VERB: ("invalid-verb", "verb"),
    GrantErrorKind.INVALID_RESOURCE: ("invalid-pattern", "resource"),
    GrantErrorKind.SLOT_IN_CONCRETE: ("invalid-pattern", ""),
}
"""The `permission-error` of a guest call and the member of the detail that it carries (cards 1.8)."""


class GrantSyntaxError(InputError):
    """A text that is not a grant (or target, owner, recipient, resource) of the form asked for.

    Attributes:
        kind: which of the seven refusals.
        text: what was read.
        detail: what the platform names in it: a mapping of parts, or one text.
        start: offset of the first character at fault within the text read.
        end: offset behind the last one.
    """

    def __init__(
        self,
        kind: GrantErrorKind,
        detail: dict[str, str] | str,
        message: str,
        help: str,
        text: str,
        start: int,
        end: int,
        code: str = "",
    ) -> None:
        self.kind = kind
        self.text = text
        self.detail = detail
        self.start = start
        self.end = end
        span = span_of_text(ARGUMENT, text, start, end)
        super().__init__(Finding(code or CODES[kind], Severity.ERROR, message, span, help))

    @property
    def guest_error(self) -> tuple[str, str]:
        """The variant and the text of the `permission-error` that a guest sees."""
        variant, member = _GUEST[self.kind]
        return variant, self.detail if isinstance(self.detail, str) else self.detail[member]

    def at(self, span: Span) -> Finding:
        """What to tell, with the place of the document where the text stands."""
        finding = self.findings[0]
        return Finding(finding.code, finding.severity, finding.message, span, finding.help)


def shown(text: str, limit: int = 120) -> str:
    r"""`text` in backticks, shortened in the middle, with control characters made visible.

    >>> shown("a\nb")
    '`a\\nb`'
    """
    if len(text) > limit:
        text = f"{text[: limit // 2]}…{text[-limit // 3 :]}"
    return f"`{visible(text)}`"


def class_hint(name: str, rules: Rules) -> str:
    """What to write instead of an unknown class."""
    if name in {c.name for c in classes_of(Rules())}:
        return f"class {shown(name)} exists under edition `next` only"
    near = nearest(name, (c.name for c in classes_of(rules)))
    return f"did you mean `{near}`?" if near else "the classes are listed by `policyd rule GRANT002`"


def verb_hint(cls: PermissionClass, verb: str) -> str:
    """What to write instead of an unknown verb."""
    if cls.name == "agent" and verb == "debug":
        return (
            "`debug` is an old alias that stands for eight grants and is read in lists of grants with resource `*` only"
        )
    near = nearest(verb, cls.verbs)
    verbs = ", ".join(f"`{v}`" for v in cls.verbs)
    return f"did you mean `{near}`?" if near else f"verbs of `{cls.name}`: {verbs}, or `*` for all"


def slot_hint(text: str) -> str:
    """What to write instead of an unknown or misplaced slot at the start of `text`, empty if that is not it."""
    slot = text.split("/", 1)[0]
    if not slot.startswith("?") or slot in SLOTS_BY_TEXT:
        return ""
    if slot == "?self":
        return "there is no `?self`, use `?agent`"
    near = nearest(slot, SLOTS_BY_TEXT) or next(
        (short for long, short in _LONG_SLOTS.items() if nearest(slot, (long,)) or slot == long), None
    )
    return f"did you mean `{near}`?" if near else "slots are `?account`, `?app`, `?env`, `?component`, `?agent`"


_LONG_SLOTS = {"?application": "?app", "?environment": "?env"}
