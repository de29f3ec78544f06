"""All calls: which targets the operations of the platform can ask for at all.

Per class and verb: which owners, and which forms of resources. Every verb of every class is part of it, also
those for which no operation is known yet (nothing is gained by leaving them out, and a later release may
check them); what is left out are *forms* that no operation can produce.

Source: questions 2; cards B; host-operations 2, 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache

from policyd.core.callsets.owners import OwnerAxis, OwnerForm
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Level, Owner, OwnerKind, PermissionClass, Recipient, ResourceKind, classes_of


class Form(Enum):
    """What a resource of a call can look like."""

    VALUE = "one thing"
    CANONICAL = "one thing, spelled as secrets are stored"
    ANY = "everything, asked for as a whole"
    WHOLE = "a whole store"
    EMPTY = "nothing"


@dataclass(frozen=True, slots=True)
class Shape:
    """Owners and resources that occur together in calls of a verb.

    Attributes:
        owner: which owners.
        resources: which forms of resources.
    """

    owner: OwnerForm
    resources: tuple[Form, ...]


_VALUE = (Form.VALUE,)
_ANY = (Form.ANY,)
_BOTH = (Form.VALUE, Form.ANY)

_FORMS: dict[str, tuple[Form, ...]] = {
    "env": _BOTH,
    "oplog": _BOTH,
    "config": _BOTH,
    "secret:reveal": (Form.CANONICAL,),
    "environment.agent-secret": (Form.CANONICAL,),
    "agent:invoke": (Form.VALUE, Form.EMPTY, Form.ANY),
    "agent:view": (Form.EMPTY, Form.VALUE, Form.ANY),
    "agent:delete": (Form.EMPTY,),
    "agent:interrupt": (Form.EMPTY,),
    "agent:resume": (Form.EMPTY,),
    "agent:update-revision": (Form.EMPTY,),
    "agent:fork": (Form.EMPTY,),
    "kv:list": (Form.WHOLE,),
    "blob": (Form.VALUE, Form.WHOLE),
    "blob:list": (Form.WHOLE,),
    "rdbms": (Form.VALUE, Form.WHOLE),
    "card": _ANY,
    "card:install": _VALUE,
    "plan": _BOTH,
    "account.token:create": _ANY,
    "environment": _ANY,
    "component": _ANY,
    "component:view": _BOTH,
    "environment.plugin-grant:view": _BOTH,
    "account.permission-share:create": _ANY,
}
"""Class, or class and verb, to the forms asked for; `VALUE` alone where nothing stands here."""

_OWN_CLASSES = frozenset({"filesystem", "env", "config"})
"""Classes about which a guest can only ask for itself (`{S}` of host-operations 2)."""


@dataclass(frozen=True, slots=True)
class Universe:
    """The calls over which a question is quantified.

    Attributes:
        rules: decide which classes exist.
        home: leading owner segments that read naturally in examples: those of the holder.
        own: the owner of the one agent whose calls are meant; then files, variables and configuration of
            others are left out, because a guest cannot ask for them. None quantifies over all owners.
    """

    rules: Rules = NEXT
    home: tuple[str, ...] = ()
    own: Owner | None = None

    @classmethod
    def of(cls, holder: Recipient, rules: Rules = NEXT, agent_id: str | None = None) -> Universe:
        """All calls, with examples that look like those of `holder`.

        Args:
            holder: an agent, a user or the external tool owner of a component.
            rules: the edition.
            agent_id: the id of the agent; with it the calls are those of this one instance, the one for which
                templates were filled (`instances_of` tells which instances have to be looked at).
        """
        if holder.level is not Level.AGENT or len(holder.known) < Level.AGENT:
            return cls(rules, holder.known)
        if holder.is_external_tool_owner and agent_id is None:
            return cls(rules, holder.known[:4])
        leaf = agent_id if agent_id is not None else f'{holder.known[4]}("a")'
        known = (*holder.known[:4], leaf)
        return cls(rules, known, Owner(OwnerKind.AGENT, known) if agent_id is not None else None)

    @property
    def classes(self) -> tuple[PermissionClass, ...]:
        """The classes that exist, in the platform's order."""
        return classes_of(self.rules)

    def shapes(self, cls: PermissionClass, verb: str) -> tuple[Shape, ...]:
        """The shapes of the calls of one concrete verb; they never overlap."""
        return _shapes(cls.name, verb)

    def owners(self, cls: PermissionClass, form: OwnerForm) -> OwnerAxis:
        """The owner axis of a class."""
        only = self.own if cls.name in _OWN_CLASSES else None
        home = self.home if cls.resource is not ResourceKind.TOOL else self.home[:3]
        return OwnerAxis(cls.owner, form, home, only)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What a proof over this universe does not speak about, one sentence each."""
        if self.own is None:
            return ()
        return (
            f"files, variables and configuration of agents other than `{self.own.text}`,"
            " which code of tools in other components might reach",
        )


@cache
def _shapes(name: str, verb: str) -> tuple[Shape, ...]:
    forms = _FORMS.get(f"{name}:{verb}") or _FORMS.get(name) or _VALUE
    shapes = [Shape(OwnerForm.EXACT, forms)]
    if (name, verb) == ("agent", "view"):
        shapes += [Shape(form, (Form.EMPTY,)) for form in (OwnerForm.ALL_OF_TYPE, OwnerForm.ALL_AGENTS)]
    return tuple(shapes)
