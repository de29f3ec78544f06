"""The owner of a call: exact ones, and the requests for all agents of a component or of a type.

Source: cards 3.1, 4.1; host-operations 4.1; questions 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from policyd.core.callsets.axes import ALL, Choice, Group, Situation, fresh
from policyd.core.grants.owner import Owner, OwnerKind, is_instance_text

_PHANTOM = re.compile(r"\[[0-9a-fA-F-]{36}\]\Z", re.ASCII)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_TOOL_OWNER_ID = "~golem-external-tool-owner-"


class OwnerForm(Enum):
    """Which owners a kind of request names."""

    EXACT = "one thing"
    ALL_OF_TYPE = "all agents of a type"
    ALL_AGENTS = "all agents of a component"


def is_agent_id(leaf: str) -> bool:
    """Whether the host can ask with this id: `Type(…)` in canonical form, with a phantom suffix or without.

    >>> is_agent_id('Mapper("n1")'), is_agent_id("Mapper"), is_agent_id('Mapper( "n1" )')
    (True, False, False)
    """
    if leaf.startswith(_TOOL_OWNER_ID):
        return True
    body = _PHANTOM.sub("", leaf)
    name, opened, rest = body.partition("(")
    if not (name and opened and rest.endswith(")")) or rest == "*)":
        return False
    return not re.search(r"\s", _QUOTED.sub("", body))


_ACCOUNTS = ("someone@example.com", "other@example.com")
_APPLICATIONS = ("app", "shop", "other")
_ENVIRONMENTS = ("prod", "dev", "other")
_COMPONENTS = ("acme:app", "acme:other")
_TYPES = ("Agent", "Worker", "Other")
_TOOLS = ("tool", "fmt", "other")
_ARGUMENTS = ('("a")', '("b")', '("c")')


@dataclass(frozen=True, slots=True)
class OwnerAxis:
    """Owners of one kind in one form; components are owner patterns.

    Attributes:
        kind: how deep.
        form: which owners are asked for.
        home: leading segments that read naturally in an example, those of the holder as far as known.
        only: the one owner that can occur, None where any can.
    """

    kind: OwnerKind
    form: OwnerForm = OwnerForm.EXACT
    home: tuple[str, ...] = ()
    only: Owner | None = None

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """One owner for every deepest pattern that can contain it."""
        patterns = [(o, mask) for o, mask in groups if isinstance(o, Owner)]
        lookup = _Lookup(patterns)
        within = at.within
        if self.only is not None:
            candidates: Iterable[Owner] = (self.only,)
        elif isinstance(within, Owner) and within.is_exact and self.form is OwnerForm.EXACT:
            candidates = (within,)
        else:
            candidates = self._candidates([o for o, _ in patterns])
        seen = set()
        for owner in candidates:
            if owner in seen or (isinstance(within, Owner) and not within.covers(owner)):
                continue
            seen.add(owner)
            if self._can_be_asked(owner):
                yield owner, lookup.mask(owner)

    def _can_be_asked(self, owner: Owner) -> bool:
        if self.kind is not OwnerKind.AGENT or self.form is not OwnerForm.EXACT:
            return True
        # The agent that is asked about exists, in whatever spelling.
        return owner is self.only or owner.known == self.home or is_agent_id(owner.known[4])

    def _candidates(self, patterns: list[Owner]) -> Iterator[Owner]:
        full = self.kind.depth
        deep = full - 1 if self.form is OwnerForm.ALL_AGENTS else full
        words = _Words(self.kind, patterns, self.form)
        prefixes = {(): None, **{o.known: None for o in patterns if len(o.known) <= deep and not o.is_exact}}
        if self.home:
            yield self._owner(words.completed(self.home[:deep], deep))
        for o in patterns:
            if o.is_type_wildcard:
                if self.form is OwnerForm.EXACT:
                    yield self._owner((*o.known[:4], words.instance(o.known)))
                elif self.form is OwnerForm.ALL_OF_TYPE:
                    yield o
        wild = {o.known for o in patterns if o.is_type_wildcard}
        for prefix in prefixes:
            if prefix not in wild and len(prefix) < full:
                yield self._owner(words.completed(prefix, deep))
            elif prefix not in wild and len(prefix) == deep:
                yield self._owner(prefix)
        if self.form is OwnerForm.EXACT:
            yield from (o for o in patterns if o.is_exact)

    def _owner(self, known: tuple[str, ...]) -> Owner:
        if self.form is OwnerForm.ALL_OF_TYPE:
            # The home of an agent ends in its id; the request for its type names the type alone.
            return Owner(self.kind, (*known[:4], known[4].partition("(")[0]), None, True)
        return Owner(self.kind, known)


class _Words:
    """Names that no pattern mentions at their place."""

    __slots__ = ("_instances", "_names")

    def __init__(self, kind: OwnerKind, patterns: list[Owner], form: OwnerForm) -> None:
        taken: list[set[object]] = [{o.known[i] for o in patterns if len(o.known) > i} for i in range(kind.depth)]
        lists = [_ACCOUNTS, _APPLICATIONS, _ENVIRONMENTS, _COMPONENTS]
        self._instances: set[object] = set()
        if kind is OwnerKind.TOOL:
            lists.append(_TOOLS)
        self._names = [fresh(words, used) for words, used in zip(lists, taken, strict=False)]
        if kind is OwnerKind.AGENT:
            self._instances = taken[4]
            types: set[object] = {str(leaf).partition("(")[0] for leaf in taken[4]}
            leaf = fresh(_TYPES, types)
            self._names.append(leaf if form is OwnerForm.ALL_OF_TYPE else leaf + _ARGUMENTS[0])

    def completed(self, prefix: tuple[str, ...], deep: int) -> tuple[str, ...]:
        """`prefix` and behind it unmentioned names, down to `deep`."""
        return (*prefix, *self._names[len(prefix) : deep])

    def instance(self, known: tuple[str, ...]) -> str:
        """The id of an unmentioned instance of the type that ends `known`."""
        if not known:
            return ""
        words = [known[4] + arguments for arguments in _ARGUMENTS]
        return fresh(words, self._instances, lambda n: f'{known[4]}("a{n}")')


class _Lookup:
    """Finds the patterns that cover an owner without trying them one by one."""

    __slots__ = ("_plain", "_types")

    def __init__(self, patterns: list[tuple[Owner, int]]) -> None:
        self._plain: dict[tuple[str, ...], int] = {}
        self._types: dict[tuple[str, ...], list[tuple[str, int]]] = {}
        for owner, mask in patterns:
            if owner.is_type_wildcard:
                self._types.setdefault(owner.known[:4], []).append((owner.known[4], mask))
            else:
                self._plain[owner.known] = self._plain.get(owner.known, 0) | mask

    def mask(self, owner: Owner) -> int:
        """The products whose owner pattern covers `owner` (O5, O6)."""
        known, found = owner.known, 0
        depth = 4 if owner.is_type_wildcard else len(known)
        for count in range(depth + 1):
            found |= self._plain.get(known[:count], 0)
        if len(known) == 5:
            for name, mask in self._types.get(known[:4], ()):
                if known[4] == name if owner.is_type_wildcard else is_instance_text(known[4], name):
                    found |= mask
        return found


def owner_component(owner: Owner) -> object:
    """The component of an owner pattern on its axis."""
    return owner if owner.known else ALL


@dataclass(frozen=True, slots=True)
class HolderAxis:
    """Agent types on which a card can be installed; components are the known segments of recipients (RS-card)."""

    home: tuple[str, ...] = ()

    def choices(self, groups: Sequence[Group], at: Situation) -> Iterator[Choice]:
        """One agent type for every deepest recipient that can contain it."""
        prefixes = [(p, mask) for p, mask in groups if isinstance(p, tuple)]
        lists = (_ACCOUNTS, _APPLICATIONS, _ENVIRONMENTS, _COMPONENTS, _TYPES)
        names = [fresh(w, {p[i] for p, _ in prefixes if len(p) > i}) for i, w in enumerate(lists)]
        candidates = [self.home] if len(self.home) == 5 else []
        candidates += [(*p, *names[len(p) :]) for p in ((), *(p for p, _ in prefixes))]
        within = at.within
        for holder in dict.fromkeys(candidates):
            if within is ALL or (isinstance(within, tuple) and holder[: len(within)] == within):
                yield holder, sum(mask for p, mask in prefixes if holder[: len(p)] == p)
