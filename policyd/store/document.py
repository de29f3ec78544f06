"""Facts as one JSON document, and back: what `export` writes and `import` reads again.

Every stored fact is in it; where a value was dropped stands the marker `"<dropped>"`. Places and
findings are written beside the facts, and left out where the digest is taken.

Source: cards C; interface, wallet file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from policyd.core.application import GrantOrigin
from policyd.core.cards import Bound, Bounds, CardId, Timestamp
from policyd.core.edition import Edition, Rules
from policyd.core.grants import Grant
from policyd.core.grants.names import U64_MAX, parse_uuid
from policyd.findings import Confidence, Finding, InputError, Related, Severity, Span
from policyd.store.codes import StoreCode
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
from policyd.syntax.cards import CardForm, card_json, read_card

KIND = "policyd-deployment"
VERSION = 1
MARKER = "<dropped>"
"""Stands where a value was dropped, so that a reader sees that there was one."""

Json = dict[str, Any]
_Fact = TypeVar("_Fact")


def span_json(span: Span | None) -> list[object] | None:
    """A place as a short list, None where there is none."""
    return None if span is None else [span.source, span.line, span.column, span.start, span.end, span.path]


def places_json(places: Places) -> list[list[list[object] | None]]:
    """The places of a card, empty where nothing is known."""
    return [[span_json(span) for span in listed] for listed in places]


def bounds_json(bounds: Bounds) -> Json:
    """The four lists as canonical texts."""
    return {bound.value: [grant.text for grant in bounds.of(bound)] for bound in Bound}


def rules_json(rules: Rules) -> Json:
    """Edition and switches."""
    return {"edition": rules.edition.value, "switches": dict(rules.overrides)}


def header_json(deployment: Deployment) -> Json:
    """Which environment it is, and how its documents were read."""
    return {
        "account": deployment.account,
        "application": deployment.application,
        "environment": deployment.environment,
        "rules": rules_json(deployment.rules),
        "manifestVersion": deployment.manifest_version,
    }


def facts_json(deployment: Deployment, *, places: bool) -> Iterator[tuple[str, Json]]:
    """Every fact with the name of its list, in the order of `deployment`.

    Args:
        deployment: ordered facts.
        places: whether to add `place` and `places`; the digest is taken without them.
    """

    def placed(value: Json, place: Span | None, grants: Places | None = None) -> Json:
        if places:
            value["place"] = span_json(place)
            if grants is not None:
                value["places"] = places_json(grants)
        return value

    for c in deployment.components:
        yield "components", placed({"name": c.name, "platformId": c.platform_id, "revision": c.revision}, c.place)
    for a in deployment.agent_types:
        initial = None
        if a.card is not None:
            lists = {**bounds_json(a.card.bounds), "isDefault": a.card.is_default}
            initial = placed(lists, a.card.place, a.card.places)
            if places:
                origins = [origin.name.lower() for origin in a.card.origins]
                initial |= {"layer": a.card.layer, "origins": origins}
        agent: Json = {"name": a.name, "component": a.component, "initialCard": initial}
        if places:
            agent |= {"isDeclared": a.is_declared, "componentIsAssumed": a.component_is_assumed}
        yield "agentTypes", placed(agent, a.place)
    for fact in deployment.cards:
        yield "cards", placed({"card": card_json(fact.card, tagged=True)}, fact.place, fact.places)
    for card_id in deployment.revoked:
        yield "revoked", {"cardId": card_id}
    for wallet in deployment.wallets:
        yield (
            "wallets",
            placed(
                {
                    "holder": wallet.holder.text,
                    "agentId": wallet.agent_id,
                    "recordedAccount": wallet.recorded_account,
                    "cards": [
                        {"cardId": held.card, "by": held.by.value, "at": held.at.text if held.at else None}
                        for held in wallet.cards
                    ],
                },
                wallet.place,
            ),
        )
    for share in deployment.shares:
        yield (
            "permissionShares",
            placed(
                {
                    "id": share.id,
                    "revision": share.revision,
                    "ownerAccountId": share.owner_account_id,
                    "targetAccountId": share.target_account_id,
                    "name": share.name,
                    "currentCardId": share.current_card_id,
                    "data": bounds_json(share.bounds),
                },
                share.place,
                share.places,
            ),
        )
    for policy in deployment.retry_policies:
        yield (
            "retryPolicies",
            placed(
                {
                    "name": policy.name,
                    "priority": policy.priority,
                    "predicate": policy.predicate,
                    "policy": policy.policy,
                    "origin": policy.origin.value,
                    "platformId": policy.platform_id,
                    "revision": policy.revision,
                },
                policy.place,
            ),
        )
    for name, tools in (("tools", deployment.tools), ("middlewares", deployment.middlewares)):
        for tool in tools:
            yield name, placed(_tool_json(tool), tool.place)
    for chain in deployment.chains:
        layers = [placed(_layer_json(layer), layer.place) for layer in chain.layers]
        yield (
            "chains",
            placed(
                {
                    "level": chain.level.value,
                    "subject": chain.subject,
                    "tool": chain.tool,
                    "mode": chain.mode,
                    "layers": layers,
                },
                chain.place,
            ),
        )
    for value in deployment.values:
        yield (
            "values",
            placed(
                {
                    "kind": value.kind.value,
                    "level": value.level.value,
                    "subject": value.subject,
                    "path": list(value.path),
                    "isKnown": value.is_known,
                    "value": MARKER,
                },
                value.place,
            ),
        )


def _tool_json(tool: ToolFact) -> Json:
    return {
        "name": tool.name,
        "origin": tool.origin.value,
        "component": tool.component,
        "version": tool.version,
        "account": tool.account,
        "definition": tool.definition,
    }


def _layer_json(layer: ChainLayer) -> Json:
    return {
        "middleware": layer.middleware,
        "version": layer.version,
        "account": layer.account,
        "filesystemAccess": layer.filesystem_access,
        "parameters": MARKER if layer.has_parameters else None,
    }


def finding_json(fact: FindingFact) -> Json:
    """A finding, complete."""
    finding = fact.finding
    return {
        "origin": fact.origin.value,
        "code": finding.code,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "help": finding.help,
        "witness": finding.witness,
        "place": span_json(finding.span),
        "related": related_json(finding.related),
    }


def related_json(related: tuple[Related, ...]) -> list[Json]:
    """The other places of a finding."""
    return [{"message": r.message, "place": span_json(r.span)} for r in related]


SECTIONS = (
    "components",
    "agentTypes",
    "cards",
    "revoked",
    "wallets",
    "permissionShares",
    "retryPolicies",
    "tools",
    "middlewares",
    "chains",
    "values",
)


def deployment_json(deployment: Deployment) -> Json:
    """The whole document: header, facts with their places, findings."""
    lists: dict[str, list[Json]] = {name: [] for name in SECTIONS}
    for name, fact in facts_json(deployment, places=True):
        lists[name].append(fact)
    head: Json = {"kind": KIND, "version": VERSION, **header_json(deployment)}
    return {**head, **lists, "findings": [finding_json(f) for f in deployment.findings]}


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


__all__ = [
    "KIND",
    "MARKER",
    "bounds_json",
    "deployment_json",
    "facts_json",
    "finding_json",
    "header_json",
    "is_deployment",
    "places_json",
    "read_deployment",
    "read_related",
    "read_rules",
    "related_json",
    "rules_json",
    "span_json",
]
