"""Grant and target texts to core values, in the platform's order of checks.

Source: cards 1.2, 1.5, 1.6, 1.9, 1.11.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from policyd.core.edition import NEXT, Rules
from policyd.core.grants import ANY_VERB, Grant, PermissionClass, Recipient, Target, class_named
from policyd.core.grants.names import WHITE_SPACE, slot_reference, trim
from policyd.core.grants.owner import Owner
from policyd.core.grants.recipient import EXTERNAL_TOOL_OWNER
from policyd.core.grants.resources import Resource
from policyd.syntax.mistakes import (
    TOO_LONG,
    GrantErrorKind,
    GrantSyntaxError,
    class_hint,
    shown,
    slot_hint,
    verb_hint,
)
from policyd.syntax.owners import OwnerRefused, parse_owner
from policyd.syntax.recipients import RecipientRefused, parse_recipient
from policyd.syntax.resources import ResourceRefused, parse_resource

MAX_GRANT_CHARS = 65_536
"""Longer grant texts are refused unread; the platform states no bound, real ones stay under 300."""

ALIAS: tuple[tuple[str, str, str], ...] = (
    ("oplog", "read", "*"),
    ("agent", "view", ""),
    ("filesystem", "read", "/**"),
    ("env", "read", "*"),
    ("config", "read", "*"),
    ("agent", "fork", ""),
    ("agent", "interrupt", ""),
    ("agent", "resume", ""),
)
"""What `agent(…) @ … : debug : *` stands for in lists, in order (P8)."""


class Form(Enum):
    """Which slots a grant text may have (cards 1.5)."""

    CONCRETE = "concrete"
    POLYMORPHIC = "polymorphic"
    MANIFEST = "manifest"


@dataclass(frozen=True, slots=True)
class _Part:
    """One trimmed part of a grant and where it begins in the whole text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The five parts, or four with an absent recipient, and the whole text they stand in."""

    whole: str
    cls: _Part
    owner: _Part
    recipient: _Part | None
    verb: _Part
    resource: _Part

    def refuse(
        self,
        kind: GrantErrorKind,
        detail: dict[str, str] | str,
        message: str,
        help: str,
        part: _Part,
        start: int = 0,
        end: int | None = None,
    ) -> GrantSyntaxError:
        last = len(part.text) if end is None else min(end, len(part.text))
        return GrantSyntaxError(
            kind, detail, message, help, self.whole, part.start + min(start, len(part.text)), part.start + last
        )


def _trimmed(text: str, start: int, end: int) -> _Part:
    raw = text[start:end]
    return _Part(trim(raw), start + len(raw) - len(raw.lstrip(WHITE_SPACE)))


def _malformed(text: str, message: str, help: str, start: int) -> GrantSyntaxError:
    what = "target" if _TARGET_FORM in help else "card grant"
    return GrantSyntaxError(
        GrantErrorKind.MALFORMED, message, f"malformed {what}: {message}", help, text, start, len(text)
    )


def _bounded(text: str) -> None:
    if len(text) > MAX_GRANT_CHARS:
        raise GrantSyntaxError(
            GrantErrorKind.MALFORMED,
            "too long",
            f"a grant of {len(text)} characters is too long to be read",
            f"the limit is {MAX_GRANT_CHARS} characters",
            "",
            0,
            0,
            TOO_LONG,
        )


_GRANT_FORM = "write `class(owner) @ recipient : verb : resource`"
_TARGET_FORM = "write `class(owner) : verb : resource`"


def _split(text: str, *, target: bool) -> _Parts:
    """Cut a grant (rule P1) or a target (rule P13) into its parts."""
    _bounded(text)
    form = _TARGET_FORM if target else _GRANT_FORM
    opened = text.find("(")
    if opened < 0:
        raise _malformed(text, "missing class owner open", form, 0)
    close = ") : " if target else ") @ "
    closed = text.find(close, opened + 1)
    if target:
        as_grant = text.find(") @ ", opened + 1)
        if as_grant >= 0 and (closed < 0 or as_grant < closed):
            raise _malformed(
                text,
                "missing class owner close before verb separator",
                "this is a grant: a target names no recipient, leave out `@ recipient`",
                as_grant,
            )
    if closed < 0:
        before = "verb" if target else "recipient"
        raise _malformed(
            text,
            f"missing class owner close before {before} separator",
            f"{form}, with the spaces: `{close.strip()}` needs one on each side of its sign",
            opened,
        )
    recipient: _Part | None = None
    rest = closed + len(close)
    if not target:
        colon = text.find(" : ", rest)
        if colon < 0:
            raise _malformed(text, "missing verb separator", form, rest)
        recipient = _trimmed(text, rest, colon)
        rest = colon + 3
    colon = text.find(" : ", rest)
    if colon >= 0:
        verb, resource = _trimmed(text, rest, colon), _trimmed(text, colon + 3, len(text))
    elif text.endswith(" :") and len(text) - 2 >= rest:
        verb, resource = _trimmed(text, rest, len(text) - 2), _Part("", len(text))
    else:
        raise _malformed(
            text, "missing resource separator", f"{form}; an empty resource is written ` :` at the end", rest
        )
    return _Parts(text, _trimmed(text, 0, opened), _trimmed(text, opened + 1, closed), recipient, verb, resource)


def _guard(parts: _Parts) -> None:
    """P6: the concrete forms refuse slots in owner, recipient and resource, before all else."""
    for part in (parts.owner, parts.recipient, parts.resource):
        if part is None:
            continue
        found = slot_reference(part.text)
        if found is not None:
            start = part.text.find(found)
            raise parts.refuse(
                GrantErrorKind.SLOT_IN_CONCRETE,
                part.text,
                f"slot variable is only valid in polymorphic grant {shown(part.text)}",
                f"write out what `{found}` stands for: nothing fills slots here",
                part,
                start,
                start + len(found),
            )


def _class(parts: _Parts, rules: Rules) -> PermissionClass:
    cls = class_named(parts.cls.text, rules)
    if cls is None:
        raise parts.refuse(
            GrantErrorKind.UNKNOWN_CLASS,
            parts.cls.text,
            f"unknown permission class {shown(parts.cls.text)}",
            class_hint(parts.cls.text, rules),
            parts.cls,
        )
    return cls


def _owner(parts: _Parts, cls: PermissionClass, *, slots: bool) -> Owner:
    text = parts.owner.text
    try:
        return parse_owner(text, cls.owner, slots=slots)
    except OwnerRefused as refusal:
        raise parts.refuse(
            GrantErrorKind.INVALID_OWNER,
            {"class": cls.name, "owner": text},
            f"invalid owner path {shown(text)} for permission class `{cls.name}`: {refusal.why}",
            slot_hint(text) or refusal.help,
            parts.owner,
            refusal.start,
            refusal.end,
        ) from None


def _recipient_error(parts: _Parts, part: _Part, refusal: RecipientRefused) -> GrantSyntaxError:
    return parts.refuse(
        GrantErrorKind.INVALID_RECIPIENT,
        refusal.value,
        f"invalid recipient path {shown(part.text)}: {refusal.why}",
        slot_hint(part.text) or refusal.help,
        part,
        refusal.start,
        refusal.end,
    )


def _recipient(parts: _Parts, part: _Part, *, slots: bool, rules: Rules) -> Recipient:
    try:
        return parse_recipient(part.text, slots=slots, rules=rules)
    except RecipientRefused as refusal:
        raise _recipient_error(parts, part, refusal) from None


def _verb(parts: _Parts, cls: PermissionClass) -> str:
    verb = parts.verb.text
    if verb != ANY_VERB and verb not in cls.verbs:
        raise parts.refuse(
            GrantErrorKind.UNKNOWN_VERB,
            {"class": cls.name, "verb": verb},
            f"unknown verb {shown(verb)} for permission class `{cls.name}`",
            verb_hint(cls, verb),
            parts.verb,
        )
    return verb


def _resource(parts: _Parts, cls: PermissionClass, verb: str, rules: Rules) -> Resource:
    text = parts.resource.text
    try:
        return parse_resource(text, cls, verb, rules)
    except ResourceRefused as refusal:
        raise parts.refuse(
            GrantErrorKind.INVALID_RESOURCE,
            {"class": cls.name, "resource": text},
            f"invalid resource {shown(text)} for permission class `{cls.name}`: {refusal.why}",
            refusal.help,
            parts.resource,
            refusal.start,
            refusal.end,
        ) from None
    except RecipientRefused as refusal:
        raise _recipient_error(parts, parts.resource, refusal) from None


def _slot_in_resource(parts: _Parts, cls_name: str) -> None:
    """Step 7 of 1.6: the slot-aware forms refuse slots in the resource."""
    found = slot_reference(parts.resource.text)
    if found is None:
        return
    start = parts.resource.text.find(found)
    raise parts.refuse(
        GrantErrorKind.INVALID_RESOURCE,
        {"class": cls_name, "resource": parts.resource.text},
        f"invalid resource {shown(parts.resource.text)} for permission class `{cls_name}`: a slot stands in it",
        "write the value itself",
        parts.resource,
        start,
        start + len(found),
    )


def _build(parts: _Parts, form: Form, rules: Rules) -> Grant:
    """Steps 4 to 9 of 1.6."""
    slotted = form is not Form.CONCRETE
    cls = _class(parts, rules)
    owner = _owner(parts, cls, slots=slotted)
    assert parts.recipient is not None  # a grant always has one: `_split` and `parse_fields` see to it
    recipient = _recipient(parts, parts.recipient, slots=form is Form.MANIFEST, rules=rules)
    if slotted:
        _slot_in_resource(parts, cls.name)
    verb = _verb(parts, cls)
    return Grant(Target(cls, owner, verb, _resource(parts, cls, verb, rules)), recipient)


def parse_grant(text: str, form: Form = Form.CONCRETE, rules: Rules = NEXT) -> Grant:
    """The grant that `text` writes; the single forms know no alias.

    Raises:
        GrantSyntaxError: with the first thing that is wrong, in the platform's order.
    """
    parts = _split(text, target=False)
    if form is Form.CONCRETE:
        _guard(parts)
    return _build(parts, form, rules)


def parse_grants(text: str, form: Form = Form.CONCRETE, rules: Rules = NEXT) -> tuple[Grant, ...]:
    """The grants that an entry of a list writes: one, or eight for the old debug alias (P8).

    Raises:
        GrantSyntaxError: with the first thing that is wrong, in the platform's order.
    """
    parts = _split(text, target=False)
    if form is Form.CONCRETE:
        _guard(parts)
    if (parts.cls.text, parts.verb.text) != ("agent", "debug"):
        return (_build(parts, form, rules),)
    if parts.resource.text != "*":
        raise parts.refuse(
            GrantErrorKind.INVALID_RESOURCE,
            {"class": "agent", "resource": parts.resource.text},
            f"invalid resource {shown(parts.resource.text)} for permission class `agent`: the alias `debug` takes `*`",
            "write `debug : *`",
            parts.resource,
        )
    return tuple(
        _build(
            _Parts(
                text,
                _Part(cls, parts.cls.start),
                parts.owner,
                parts.recipient,
                _Part(verb, parts.verb.start),
                _Part(resource, parts.resource.start),
            ),
            form,
            rules,
        )
        for cls, verb, resource in ALIAS
    )


def reads_alike(text: str, grants: Sequence[Grant]) -> bool:
    """Whether `text`, which one edition reads as `grants`, is read so in all: no class or recipient is newer.

    >>> text = "kv(?env) @ ?agent : read : a.**"
    >>> reads_alike(text, parse_grants(text, Form.MANIFEST))
    True
    """
    return EXTERNAL_TOOL_OWNER not in text and not any(grant.target.cls.is_newer for grant in grants)


def parse_fields(cls: str, owner: str, recipient: str, verb: str, resource: str, rules: Rules = NEXT) -> Grant:
    """The grant of the structured form: five fields taken as given, without trimming or alias (P9).

    Raises:
        GrantSyntaxError: with the first thing that is wrong, in the platform's order.
    """
    texts = (cls, owner, recipient, verb, resource)
    whole = f"{cls}({owner}) @ {recipient} : {verb} : {resource}"
    _bounded(whole)
    starts = [0, len(cls) + 1]
    for before, gap in zip(texts[1:], (4, 3, 3), strict=False):
        starts.append(starts[-1] + len(before) + gap)
    cls_part, owner_part, recipient_part, verb_part, resource_part = (
        _Part(text, start) for text, start in zip(texts, starts, strict=True)
    )
    parts = _Parts(whole, cls_part, owner_part, recipient_part, verb_part, resource_part)
    _guard(parts)
    return _build(parts, Form.CONCRETE, rules)


def parse_target(text: str, rules: Rules = NEXT, *, slots: bool = False) -> Target:
    """The target that `text` writes (P13).

    Args:
        text: `class(owner) : verb : resource`.
        rules: which classes exist.
        slots: whether the owner may begin with a slot, to be filled from the holder before the question is asked.

    Raises:
        GrantSyntaxError: with the first thing that is wrong, in the platform's order.
    """
    return _target(_split(text, target=True), rules, slots=slots)


def parse_target_fields(
    cls: str, owner: str, verb: str, resource: str, rules: Rules = NEXT, *, slots: bool = False
) -> Target:
    """The target of four fields taken as given, for owners that the text form cannot write (P13, 7).

    Raises:
        GrantSyntaxError: with the first thing that is wrong, in the platform's order.
    """
    whole = f"{cls}({owner}) : {verb} : {resource}"
    _bounded(whole)
    owner_at = len(cls) + 1
    verb_at = owner_at + len(owner) + 4
    parts = _Parts(
        whole,
        _Part(cls, 0),
        _Part(owner, owner_at),
        None,
        _Part(verb, verb_at),
        _Part(resource, verb_at + len(verb) + 3),
    )
    return _target(parts, rules, slots=slots)


def _target(parts: _Parts, rules: Rules, *, slots: bool) -> Target:
    if not slots:
        _guard(parts)
    cls = _class(parts, rules)
    owner = _owner(parts, cls, slots=slots)
    if slots:
        _slot_in_resource(parts, cls.name)
    verb = _verb(parts, cls)
    return Target(cls, owner, verb, _resource(parts, cls, verb, rules))
