"""Reading back what `policyd.store.document` writes: the document of a deployment as facts.

Every member is checked; the first one that is wrong is refused with its path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from policyd.core.application import GrantOrigin
from policyd.core.cards import Bound, Bounds, CardId, Timestamp
from policyd.core.edition import Edition, Rules
from policyd.core.grants import Grant
from policyd.core.grants.names import U64_MAX, parse_uuid
from policyd.findings import Confidence, Finding, InputError, Related, Severity, Span
from policyd.store.codes import StoreCode
from policyd.store.document import KIND, MARKER, VERSION
from policyd.store.facts import (
    AgentType,
    CardFact,
    ChainFact,
    ChainLayer,
    Component,
    Deployment,
    FindingFact,
    InitialCard,
    Installed,
    Installer,
    Level,
    NamedValue,
    Origin,
    PermissionShare,
    Places,
    RetryPolicyFact,
    ToolFact,
    ValueKind,
    WalletFact,
)
from policyd.store.holders import read_holder
from policyd.syntax import Form, parse_grants
from policyd.syntax.cards import CardForm, read_card

_Fact = TypeVar("_Fact")


class _Reader:
    """Reads members of the document, and says where one is wrong."""

    def __init__(self, source: str, rules: Rules) -> None:
        self.source, self.rules = source, rules

    def refuse(self, path: str, message: str) -> InputError:
        return StoreCode.BAD_MEMBER.error(
            message, Span(self.source, path=path), "import what `policyd export` wrote, unchanged"
        )

    def mapping(self, value: object, path: str) -> Mapping[str, object]:
        if not isinstance(value, Mapping):
            raise self.refuse(path, "expected an object here")
        return cast("Mapping[str, object]", value)

    def items(self, value: object, path: str) -> Sequence[object]:
        if not isinstance(value, list):
            raise self.refuse(path, "expected a list here")
        return cast("list[object]", value)

    def get(self, value: Mapping[str, object], name: str, kind: type[_Fact], path: str) -> _Fact:
        found = value.get(name)
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            raise self.refuse(f"{path}.{name}", f"expected {_WORDS[kind]} here")
        return found

    def number(self, value: Mapping[str, object], name: str, path: str) -> int:
        found = self.get(value, name, int, path)
        if not 0 <= found <= U64_MAX:
            raise self.refuse(f"{path}.{name}", "expected a whole number of at most 64 bits that is not negative")
        return found

    def optional_number(self, value: Mapping[str, object], name: str, path: str) -> int | None:
        return None if value.get(name) is None else self.number(value, name, path)

    def uuid(self, text: object, path: str) -> str:
        found = parse_uuid(text) if isinstance(text, str) else None
        if found is None:
            raise self.refuse(path, "expected a UUID here")
        return found

    def word(self, value: Mapping[str, object], name: str, kind: Callable[[str], _Fact], path: str) -> _Fact:
        text = self.get(value, name, str, path)
        try:
            return kind(text)
        except ValueError:
            raise self.refuse(f"{path}.{name}", f"unknown word `{text[:40]}`") from None

    def moment(self, value: object, path: str) -> Timestamp | None:
        if value is None:
            return None
        try:
            return Timestamp.parse(value if isinstance(value, str) else "")
        except ValueError:
            raise self.refuse(path, "expected a timestamp here") from None

    def span(self, value: object, path: str) -> Span | None:
        if value is None:
            return None
        match value:
            case [str(source), int(line), int(column), int(start), int(end), str(where)]:
                return Span(source, line, column, start, end, where)
            case _:
                raise self.refuse(path, "expected a place here")

    def places(self, value: object, bounds: Bounds, path: str) -> Places:
        lists = self.items(value, path)
        if not lists:
            return ()
        if len(lists) != len(Bound):
            raise self.refuse(path, "expected one list of places for each list of grants")
        read = []
        for bound, listed in zip(Bound, lists, strict=True):
            spans = self.items(listed, path)
            if len(spans) != len(bounds.of(bound)):
                raise self.refuse(path, "expected one place for each grant")
            read.append(tuple(self.span(item, path) for item in spans))
        return tuple(read)

    def origins(self, value: object, bounds: Bounds, path: str) -> tuple[GrantOrigin, ...]:
        words = self.items(value, path)
        known = {origin.name.lower(): origin for origin in GrantOrigin}
        if words and (len(words) != len(bounds.lower_positive) or not all(word in known for word in words)):
            raise self.refuse(path, "expected one origin for each lower positive grant")
        return tuple(known[str(word)] for word in words)

    def bounds(self, value: Mapping[str, object], form: Form, path: str) -> Bounds:
        return Bounds(*(self._grants(value, bound, form, path) for bound in Bound))

    def _grants(self, value: Mapping[str, object], bound: Bound, form: Form, path: str) -> tuple[Grant, ...]:
        read: list[Grant] = []
        for index, text in enumerate(self.items(value.get(bound.value), f"{path}.{bound.value}")):
            place = f"{path}.{bound.value}[{index}]"
            if not isinstance(text, str):
                raise self.refuse(place, "expected the text of a grant here")
            try:
                read.extend(parse_grants(text, form, self.rules))
            except InputError as why:
                raise self.refuse(place, why.findings[0].message) from None
        return tuple(read)


_WORDS: dict[type, str] = {str: "text", int: "a whole number", bool: "true or false"}


def read_rules(value: object, source: str = "document") -> Rules:
    """Edition and switches, as `rules_json` writes them.

    Raises:
        InputError: STORE026 if it is no such object.
    """
    match value:
        case {"edition": str(edition), "switches": dict(switches)}:
            try:
                return Rules.of(Edition(edition), cast("dict[str, str]", switches))
            except (ValueError, KeyError):
                pass
    raise StoreCode.BAD_MEMBER.error("unknown edition or switch", Span(source, path="$.rules"))


def is_deployment(value: object) -> bool:
    """Whether a JSON value claims to be a document of this form."""
    return isinstance(value, Mapping) and value.get("kind") == KIND


def read_deployment(value: object, source: str = "document") -> Deployment:
    """The deployment that a document describes.

    Raises:
        InputError: STORE026 with the first member that is wrong and its place, or what reading a card raises.
    """
    head = _Reader(source, Rules()).mapping(value, "$")
    reader = _Reader(source, read_rules(head.get("rules"), source))
    if head.get("version") != VERSION:
        raise reader.refuse("$.version", "this version of the document is not known")

    def each(name: str, read: Callable[[_Reader, Mapping[str, object], str], _Fact]) -> tuple[_Fact, ...]:
        found = reader.items(head.get(name), f"$.{name}")
        return tuple(
            read(reader, reader.mapping(item, f"$.{name}[{i}]"), f"$.{name}[{i}]") for i, item in enumerate(found)
        )

    return Deployment(
        reader.get(head, "account", str, "$"),
        reader.get(head, "application", str, "$"),
        reader.get(head, "environment", str, "$"),
        reader.rules,
        reader.get(head, "manifestVersion", str, "$"),
        each("components", _component),
        each("agentTypes", _agent_type),
        each("cards", _card),
        each("revoked", _revoked),
        each("wallets", _wallet),
        each("permissionShares", _share),
        each("retryPolicies", _policy),
        each("tools", _tool),
        each("middlewares", _tool),
        each("chains", _chain),
        each("values", _value),
        each("findings", _finding),
    )


def _component(r: _Reader, v: Mapping[str, object], path: str) -> Component:
    return Component(
        r.get(v, "name", str, path),
        r.get(v, "platformId", str, path),
        r.optional_number(v, "revision", path),
        r.span(v.get("place"), path),
    )


def _agent_type(r: _Reader, v: Mapping[str, object], path: str) -> AgentType:
    card = None
    if v.get("initialCard") is not None:
        place = f"{path}.initialCard"
        lists = r.mapping(v["initialCard"], place)
        bounds = r.bounds(lists, Form.MANIFEST, place)
        card = InitialCard(
            bounds,
            r.places(lists.get("places"), bounds, f"{place}.places"),
            r.get(lists, "isDefault", bool, place),
            r.span(lists.get("place"), place),
            r.get(lists, "layer", str, place),
            r.origins(lists.get("origins"), bounds, f"{place}.origins"),
        )
    return AgentType(
        r.get(v, "name", str, path),
        r.get(v, "component", str, path),
        card,
        r.span(v.get("place"), path),
        r.get(v, "isDeclared", bool, path),
        r.get(v, "componentIsAssumed", bool, path),
    )


def _card(r: _Reader, v: Mapping[str, object], path: str) -> CardFact:
    written = r.mapping(v.get("card"), f"{path}.card")
    form = CardForm.SCOPE if "scopeCardId" in written else CardForm.STORED
    card = read_card(written, form, r.rules, f"{path}.card")
    return CardFact(
        card, r.places(v.get("places"), card.bounds, f"{path}.places"), r.span(v.get("place"), f"{path}.place")
    )


def _revoked(r: _Reader, v: Mapping[str, object], path: str) -> CardId:
    return CardId(r.uuid(v.get("cardId"), f"{path}.cardId"))


def _wallet(r: _Reader, v: Mapping[str, object], path: str) -> WalletFact:
    holder = read_holder(r.get(v, "holder", str, path), r.rules)
    if holder is None:
        raise r.refuse(f"{path}.holder", "expected a holder here")
    cards = []
    for i, item in enumerate(r.items(v.get("cards"), f"{path}.cards")):
        place = f"{path}.cards[{i}]"
        held = r.mapping(item, place)
        cards.append(
            Installed(
                CardId(r.uuid(held.get("cardId"), f"{place}.cardId")),
                r.word(held, "by", Installer, place),
                r.moment(held.get("at"), f"{place}.at"),
            )
        )
    return WalletFact(
        holder,
        r.get(v, "agentId", str, path),
        r.get(v, "recordedAccount", str, path),
        tuple(cards),
        r.span(v.get("place"), path),
    )


def _share(r: _Reader, v: Mapping[str, object], path: str) -> PermissionShare:
    bounds = r.bounds(r.mapping(v.get("data"), f"{path}.data"), Form.CONCRETE, f"{path}.data")
    return PermissionShare(
        r.uuid(v.get("id"), f"{path}.id"),
        r.number(v, "revision", path),
        r.uuid(v.get("ownerAccountId"), f"{path}.ownerAccountId"),
        r.uuid(v.get("targetAccountId"), f"{path}.targetAccountId"),
        r.get(v, "name", str, path),
        bounds,
        r.get(v, "currentCardId", str, path),
        r.places(v.get("places"), bounds, f"{path}.places"),
        r.span(v.get("place"), path),
    )


def _policy(r: _Reader, v: Mapping[str, object], path: str) -> RetryPolicyFact:
    return RetryPolicyFact(
        r.get(v, "name", str, path),
        r.number(v, "priority", path),
        r.get(v, "predicate", str, path),
        r.get(v, "policy", str, path),
        r.word(v, "origin", Origin, path),
        r.get(v, "platformId", str, path),
        r.optional_number(v, "revision", path),
        r.span(v.get("place"), path),
    )


def _tool(r: _Reader, v: Mapping[str, object], path: str) -> ToolFact:
    return ToolFact(
        r.get(v, "name", str, path),
        r.word(v, "origin", Origin, path),
        r.get(v, "component", str, path),
        r.get(v, "version", str, path),
        r.get(v, "account", str, path),
        r.get(v, "definition", str, path),
        r.span(v.get("place"), path),
    )


def _chain(r: _Reader, v: Mapping[str, object], path: str) -> ChainFact:
    layers = []
    for i, item in enumerate(r.items(v.get("layers"), f"{path}.layers")):
        place = f"{path}.layers[{i}]"
        layer = r.mapping(item, place)
        layers.append(
            ChainLayer(
                r.get(layer, "middleware", str, place),
                r.get(layer, "version", str, place),
                r.get(layer, "account", str, place),
                r.get(layer, "filesystemAccess", str, place),
                layer.get("parameters") is not None,
                r.span(layer.get("place"), place),
            )
        )
    return ChainFact(
        r.word(v, "level", Level, path),
        r.get(v, "subject", str, path),
        r.get(v, "tool", str, path),
        r.get(v, "mode", str, path),
        tuple(layers),
        r.span(v.get("place"), path),
    )


def _value(r: _Reader, v: Mapping[str, object], path: str) -> NamedValue:
    steps = r.items(v.get("path"), f"{path}.path")
    if not all(isinstance(step, str) for step in steps):
        raise r.refuse(f"{path}.path", "expected a list of texts here")
    if v.get("value") != MARKER:
        raise r.refuse(f"{path}.value", "a value stands where only its marker may stand")
    return NamedValue(
        r.word(v, "kind", ValueKind, path),
        r.word(v, "level", Level, path),
        r.get(v, "subject", str, path),
        tuple(cast("Sequence[str]", steps)),
        r.get(v, "isKnown", bool, path),
        r.span(v.get("place"), path),
    )


def _finding(r: _Reader, v: Mapping[str, object], path: str) -> FindingFact:
    return FindingFact(
        Finding(
            r.get(v, "code", str, path),
            r.word(v, "severity", Severity, path),
            r.get(v, "message", str, path),
            r.span(v.get("place"), path),
            r.get(v, "help", str, path),
            read_related(v.get("related"), r.source, f"{path}.related"),
            r.word(v, "confidence", Confidence, path),
            r.get(v, "witness", str, path),
        ),
        r.word(v, "origin", Origin, path),
    )


def read_related(value: object, source: str = "document", path: str = "$.related") -> tuple[Related, ...]:
    """The other places of a finding, as `related_json` writes them."""
    reader = _Reader(source, Rules())
    read = []
    for item in reader.items(value, path):
        entry = reader.mapping(item, path)
        span = reader.span(entry.get("place"), path)
        if span is not None:
            read.append(Related(reader.get(entry, "message", str, path), span))
    return tuple(read)
