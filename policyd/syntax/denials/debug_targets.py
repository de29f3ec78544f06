"""Debug forms of targets to targets.

The forms that are published are read exactly; of the others (paths, keys, tool calls, objects of the services) the
meaning of the parts is taken from their names, and what does not fit is no target: nothing is guessed into one.

Source: host 5.2; cards 2.1, 2.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from policyd.core.grants import (
    ALL_CLASSES,
    ANY_VERB,
    Owner,
    OwnerKind,
    PermissionClass,
    Target,
)
from policyd.core.grants.names import ascii_lower
from policyd.syntax.denials.debug_form import Form
from policyd.syntax.denials.debug_resources import LEAVES, LEVELS, READERS, NoTarget, name_of

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")

_CLASSES = {cls.name: cls for cls in ALL_CLASSES}

_FULL_OWNERS = frozenset(kind.value for kind in OwnerKind) - {"empty"}


@dataclass(frozen=True, slots=True)
class ReadTarget:
    """What a Debug form says about a target.

    Attributes:
        cls: the class, None for an unknown one.
        verb: the verb, empty where it is not told or not one of the class.
        target: all of it, None where a part is missing or unknown.
        missing: which part, empty with a target.
    """

    cls: PermissionClass | None
    verb: str
    target: Target | None
    missing: str

    @property
    def text(self) -> str:
        """The target in the short form, or what is known of it."""
        if self.target is not None:
            return self.target.text
        name = self.cls.name if self.cls else "?"
        return f"{name}(…) : {self.verb or '…'} : …"


def kebab(name: str) -> str:
    """A CamelCase identifier as the specifications write it.

    >>> kebab("UpdateRevision"), kebab("AccountOauth2Identity")
    ('update-revision', 'account-oauth2-identity')
    """
    return _CAPITAL.sub("-", name).lower()


def class_of(variant: str) -> PermissionClass | None:
    """The class that a variant names, or None.

    >>> class_of("EnvironmentRetryPolicy").name, class_of("Kv").name
    ('environment.retry-policy', 'kv')
    """
    name = kebab(variant)
    return _CLASSES.get(name) or _CLASSES.get(name.replace("-", ".", 1))


def read_target(form: Form) -> ReadTarget:
    """The target that `Variant(ClassPermissionTarget { … })` stands for, or what of it is readable."""
    cls = class_of(form.name)
    inner = form.items[0] if len(form.items) == 1 else form
    fields = inner.by_name
    verb = _verb(fields.get("verb"), cls)
    if cls is None:
        return ReadTarget(None, verb, None, "class")
    if not verb:
        return ReadTarget(cls, "", None, "verb")
    try:
        owner = _owner(fields.get("owner", Form()), cls.owner)
    except NoTarget:
        return ReadTarget(cls, verb, None, "owner")
    try:
        resource = READERS[cls.resource](fields["resource"].bare, fields["resource"])
    except (NoTarget, KeyError):
        return ReadTarget(cls, verb, None, "resource")
    return ReadTarget(cls, verb, Target(cls, owner, verb, resource), "")


def _verb(form: Form | None, cls: PermissionClass | None) -> str:
    if form is None:
        return ""
    if form.name == "None":
        return ANY_VERB
    name = kebab(form.items[0].name) if form.name == "Some" and len(form.items) == 1 else kebab(form.name)
    return name if cls is not None and name in cls.verbs else ""


def _owner(form: Form, kind: OwnerKind) -> Owner:
    if kind is OwnerKind.EMPTY:
        if form.fields or form.items:
            raise NoTarget("owner")
        return Owner(kind)
    form = form if form.fields else form.bare
    fields = form.by_name
    known: list[str] = []
    for level in LEVELS[: kind.depth]:
        if level not in fields:
            break
        known.append(name_of(fields[level]))
    leaves = [name for name in LEAVES if name in fields]
    is_type = False
    if leaves:
        if len(known) != len(LEVELS) or len(leaves) != 1 or kind.depth != len(LEVELS) + 1:
            raise NoTarget("owner")
        leaf = fields[leaves[0]]
        is_type = leaf.name == "AgentTypeWildcard"
        known.append(name_of(leaf))
    if len(fields) != len(known) or not form.name:
        raise NoTarget("owner")
    # The names of whole owners are those of the kinds; every other name is a wildcard and stops earlier.
    is_whole = form.name.lower() in _FULL_OWNERS
    if is_whole != (len(known) == kind.depth) or not (known or form.name.startswith("Any")):
        raise NoTarget("owner")
    if known:
        known[0] = ascii_lower(known[0])
    return Owner(kind, tuple(known), None, is_type)
