"""Queries: targets that name sets of calls.

Source: interface, Files and queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.callsets import Below, Everything, below, below_prefix
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import ANY_VERB, AgentContext, Owner, PermissionClass, ResourceKind, Slot, Target, class_named
from policyd.core.grants.resources import Resource
from policyd.syntax.grants import parse_target
from policyd.syntax.mistakes import GrantErrorKind, GrantSyntaxError, shown

ANY = "any"


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as read.

    Attributes:
        cls: the class.
        owner: None for any; may carry a slot.
        verb: `*` for any.
        resource: None for any; a pattern stands for all calls that it covers, `Below` for a value and all below it.
    """

    cls: PermissionClass
    owner: Owner | None
    verb: str
    resource: Resource | Below | Everything | None

    def owner_for(self, context: AgentContext) -> Owner | None:
        """The owner with its slot filled for a holder."""
        owner = self.owner
        if owner is None or owner.slot is None or (owner.slot is Slot.AGENT and context.agent_id is None):
            return owner
        return owner.filled(context)


def parse_query(text: str, rules: Rules = NEXT) -> ParsedQuery:
    """The query that `text` writes: a target whose owner, verb and resource may be `any`, or `under(x)`.

    Raises:
        GrantSyntaxError: if it is none; `GRANT009` where `under(…)` stands around what has nothing below it.
    """
    head, opened, rest = text.partition("(")
    owner_text, closed, tail = rest.partition(") : ")
    verb_text, colon, resource_text = tail.partition(" : ")
    if not colon and tail.endswith(" :"):
        verb_text, colon = tail[:-2], " :"
    is_any_owner = bool(opened and closed) and owner_text.strip() == ANY
    is_any_verb = verb_text.strip() == ANY
    word = resource_text.strip()
    under = word.startswith("under(") and word.endswith(")")
    if under:
        _demand_an_inside(text, head.strip(), word, len(text) - len(resource_text.lstrip()), rules)
    prefix = _prefix(head.strip(), word[6:-1], rules) if under else None
    if not (is_any_owner or is_any_verb or word == ANY or under):
        target = parse_target(text, rules, slots=True)
        return ParsedQuery(target.cls, target.owner, target.verb, target.resource)
    # What is `any` is replaced by something that surely parses, so that the rest is read by the rules of targets.
    cls = class_named(head.strip(), rules)
    owner = _stars(cls) if is_any_owner and cls else owner_text
    verb = ANY_VERB if is_any_verb else verb_text
    before = [(head + opened, head + opened), (owner, owner_text), (closed, closed), (verb, verb_text)]
    if word == ANY:
        return _any_resource([*before, (" : ", colon)], resource_text, is_any_owner, rules)
    left, _, right = resource_text.partition(word) if word else (resource_text, "", "")
    parts = (
        [(word, word)] if not under else [("", "under("), (word[6:-1], word[6:-1]), (prefix[1] if prefix else "", ")")]
    )
    target = _read([*before, (colon or " :", colon), ("", left), *parts, ("", right)], rules)
    resource: Resource | Below | Everything = target.resource
    if under:
        resource = below(target.resource) if prefix is None else prefix[0]
    return ParsedQuery(target.cls, None if is_any_owner else target.owner, target.verb, resource)


_Piece = tuple[str, str]
"""A part of what is parsed, and of the query as it was written in its place."""


def _read(pieces: Sequence[_Piece], rules: Rules) -> Target:
    """The target that the first texts make; a refusal points into the second ones, which were written.

    Raises:
        GrantSyntaxError: if it is none.
    """
    try:
        return parse_target("".join(read for read, _ in pieces), rules, slots=True)
    except GrantSyntaxError as refusal:
        written = "".join(text for _, text in pieces)
        (told,) = refusal.findings
        start, end = _written(pieces, refusal.start, is_end=False), _written(pieces, refusal.end, is_end=True)
        raise GrantSyntaxError(
            refusal.kind,
            refusal.detail,
            told.message,
            told.help,
            written,
            start,
            max(start, end),
            told.code,
        ) from None


def _written(pieces: Sequence[_Piece], place: int, *, is_end: bool) -> int:
    """Where a place of what was parsed is in what was written: in what was replaced, at its start or end."""
    done = 0
    for read, text in pieces:
        if place < len(read) or (is_end and place == len(read) and read):
            return done + (place if read == text else len(text) if is_end else 0)
        place -= len(read)
        done += len(text)
    return done


NO_INSIDE = "GRANT009"
"""The code of an `under(…)` that means nothing, or that says again what a pattern says."""

_INSIDE = {
    ResourceKind.FILES: "/",
    ResourceKind.INITIAL_FILES: "/",
    ResourceKind.KEY: ".",
    ResourceKind.STORE_KEY: ".",
    ResourceKind.TABLE: ".",
    ResourceKind.NETWORK: ".",
    ResourceKind.ROUTE: "/",
}
"""The kinds of resources that have others below them, and what separates their parts."""

_WILD = ("*", "**")


def _demand_an_inside(text: str, name: str, word: str, start: int, rules: Rules) -> None:
    """Refuse `under(…)` around what has nothing below it, and around patterns for all that is below something.

    Raises:
        GrantSyntaxError: with what to write instead.
    """
    cls = class_named(name, rules)
    if cls is None:
        return  # told as a class that does not exist
    inner = word[6:-1].strip()
    message = help = ""
    if not inner or inner.startswith("under("):
        message, help = "`under(…)` wants one resource", "write `any` for all of them, or name one, as `under(x)`"
    elif cls.resource not in _INSIDE:
        message = f"nothing is below a resource of class {shown(name)}, so {shown(word)} means nothing"
        help = f"write {shown(inner)} itself, or `any` for every resource"
    else:
        rest = _without_wild_end(cls.resource, inner)
        if not rest:
            message, help = f"{shown(word)} is every resource of the class", "write `any`"
        elif rest != inner:
            message = f"{shown(inner)} is a pattern for what is below {shown(rest)} already"
            help = f"write {shown(inner)} for what such a grant covers, or {shown(f'under({rest})')} for all depths"
    if message:
        detail = {"resource": word}
        end = start + len(word)
        raise GrantSyntaxError(GrantErrorKind.INVALID_RESOURCE, detail, message, help, text, start, end, NO_INSIDE)


def _without_wild_end(kind: ResourceKind, inner: str) -> str:
    """The resource without the wildcards at its deep end; for hosts that is the first label."""
    separator = _INSIDE[kind]
    if kind is ResourceKind.NETWORK:
        host, colon, port = inner.partition(":")
        labels = host.split(separator)
        while labels and labels[0] in _WILD:
            labels = labels[1:]
        return separator.join(labels) + colon + port if labels else ""
    parts = inner.split(separator)
    while parts and parts[-1] in _WILD:
        parts = parts[:-1]
    return separator.join(parts) if any(parts) else ""


def _stars(cls: PermissionClass) -> str:
    return "/".join("*" for _ in range(cls.owner.depth))


_PARTS = {ResourceKind.STORE_KEY: 2, ResourceKind.TABLE: 3}


def _prefix(name: str, text: str, rules: Rules) -> tuple[Below, str] | None:
    """What `under(bucket)`, `under(db)` or `under(db.schema)` means, and what makes its text that of a resource."""
    cls = class_named(name, rules)
    found = below_prefix(cls.resource, text) if cls else None
    if cls is None or found is None:
        return None
    return found, ".*" * (_PARTS[cls.resource] - len(found.words))


def is_grantable(query: ParsedQuery) -> bool:
    """Whether one grant could cover exactly the calls of the query; not so for what is only named by `under(x)`."""
    return not isinstance(query.resource, Below)


def _any_resource(before: Sequence[_Piece], resource: str, is_any_owner: bool, rules: Rules) -> ParsedQuery:
    """A query whose resource is `any`: class, owner and verb are read with a resource that fits the class."""
    refused: GrantSyntaxError | None = None
    for sample in ("*", "", "/**", "*.**", "*.*.*", "@rev=1", "x"):
        try:
            target = _read([*before, (sample, resource)], rules)
        except GrantSyntaxError as refusal:
            if refusal.kind.value != "InvalidResource":
                raise
            refused = refused or refusal
            continue
        return ParsedQuery(target.cls, None if is_any_owner else target.owner, target.verb, None)
    assert refused is not None  # one of the samples fits every class, else each of them was refused
    raise refused
