"""Rows to core values and back; the only place where the two meet.

A grant is read from its canonical text; the other columns exist to find it.

Source: cards 1.10, 5.4, 6.9.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

from policyd.core.application import GrantOrigin
from policyd.core.cards import Bound, Bounds, Card, CardId, ManagedBy, ScopeCard, Timestamp
from policyd.core.edition import Edition, Rules
from policyd.core.grants import ANYONE, Grant, Level, Recipient, Target
from policyd.core.grants.recipient import EXTERNAL_TOOL_OWNER
from policyd.core.grants.slots import SLOTS_BY_TEXT
from policyd.findings import Confidence, Finding, InternalDefect, Severity, Span
from policyd.store.digest import canonical_json
from policyd.store.document import related_json
from policyd.store.document_reading import read_related
from policyd.store.facts import (
    CardFact,
    ChainLayer,
    FindingFact,
    Installed,
    Installer,
    NamedValue,
    Origin,
    Places,
    RetryPolicyFact,
    ToolFact,
    WalletFact,
)
from policyd.store.search_keys import Home, hashed, owner_key, resource_key, resource_prefix
from policyd.syntax import Form, parse_grant

Row = dict[str, Any]
"""The columns of a row to be written."""

OWNERS = ("owner_1", "owner_2", "owner_3", "owner_4", "owner_5")
RECIPIENTS = ("recipient_1", "recipient_2", "recipient_3", "recipient_4", "recipient_5")

NOWHERE: Row = {
    "place_source": None,
    "place_line": 0,
    "place_column": 0,
    "place_start": 0,
    "place_end": 0,
    "place_path": "",
}


def place_row(span: Span | None) -> Row:
    """The columns of a place."""
    if span is None:
        return NOWHERE
    return {
        "place_source": _plain(span.source),
        "place_line": span.line,
        "place_column": span.column,
        "place_start": span.start,
        "place_end": span.end,
        "place_path": _plain(span.path),
    }


def _plain(text: str) -> str:
    """A file name or path as every database holds it: odd bytes and zero characters made visible."""
    return (
        text
        if text.isascii() and "\0" not in text
        else text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    )


def read_place(row: Mapping[Any, Any]) -> Span | None:
    """The place that the columns of a row name."""
    source = row["place_source"]
    if source is None:
        return None
    return Span(source, row["place_line"], row["place_column"], row["place_start"], row["place_end"], row["place_path"])


def moment_row(name: str, moment: Timestamp | None) -> Row:
    """A moment as two columns, whole seconds and the rest."""
    if moment is None:
        return {f"{name}_seconds": None, f"{name}_nanos": None}
    return {f"{name}_seconds": moment.seconds, f"{name}_nanos": moment.nanos}


def read_moment(name: str, row: Mapping[Any, Any]) -> Timestamp | None:
    """The moment of two columns, None where they are empty."""
    seconds = row[f"{name}_seconds"]
    return None if seconds is None else Timestamp(seconds, row[f"{name}_nanos"])


def rules_row(rules: Rules) -> Row:
    """Edition and switches."""
    return {"edition": rules.edition.value, "switches": canonical_json(dict(rules.overrides))}


def read_rules(row: Mapping[Any, Any]) -> Rules:
    """The rules under which a snapshot was read."""
    return Rules.of(Edition(row["edition"]), json.loads(row["switches"]))


def card_row(snapshot: int, fact: CardFact, *, is_revoked: bool) -> Row:
    """A card with an id of its own."""
    card = fact.card
    common = {
        "snapshot_id": snapshot,
        "card_uuid": card.id,
        "is_revoked": is_revoked,
        "has_places": bool(fact.places),
        **place_row(fact.place),
    }
    if isinstance(card, ScopeCard):
        return {**common, "kind": "scope", **_BLANK}
    managed = card.managed_by
    return {
        **common,
        "kind": "polymorphic" if card.is_polymorphic else "concrete",
        **moment_row("created", card.created_at),
        **moment_row("expires", card.expires_at),
        "is_system": card.is_system,
        "managed_kind": managed.kind if managed else None,
        "managed_members": canonical_json(_listed(managed.members)) if managed else None,
    }


_BLANK: Row = {
    "created_seconds": 0,
    "created_nanos": 0,
    "expires_seconds": None,
    "expires_nanos": None,
    "is_system": False,
    "managed_kind": None,
    "managed_members": None,
}


def bounds_row(snapshot: int, kind: str, places: Places, place: Span | None) -> Row:
    """The card row on which grants without a card id hang: `initial` or `share`."""
    return {
        "snapshot_id": snapshot,
        "kind": kind,
        "card_uuid": None,
        "is_revoked": False,
        "has_places": bool(places),
        **_BLANK,
        **place_row(place),
    }


def _listed(members: tuple[tuple[str, object], ...]) -> list[list[object]]:
    return [
        [
            name,
            [list(pair) for pair in cast("tuple[tuple[str, str], ...]", value)] if isinstance(value, tuple) else value,
        ]
        for name, value in members
    ]


def _managed(kind: str | None, members: str | None) -> ManagedBy | None:
    if kind is None or members is None:
        return None
    read = [
        (name, tuple(tuple(pair) for pair in value) if isinstance(value, list) else value)
        for name, value in json.loads(members)
    ]
    return ManagedBy(kind, tuple(read))


def read_card(
    row: Mapping[Any, Any], bounds: Bounds, places: Places, parents: Sequence[str], place: Span | None
) -> CardFact:
    """The card of a row of kind `concrete`, `polymorphic` or `scope`, with its grants and parents."""
    card_id = CardId(row["card_uuid"])
    ids = tuple(CardId(parent) for parent in parents)
    if row["kind"] == "scope":
        return CardFact(ScopeCard(card_id, bounds, ids), places, place)
    created = read_moment("created", row)
    assert created is not None  # the column is never empty
    card = Card(
        card_id,
        bounds,
        row["kind"] == "polymorphic",
        ids,
        created,
        read_moment("expires", row),
        row["is_system"],
        _managed(row["managed_kind"], row["managed_members"]),
    )
    return CardFact(card, places, place)


WRITTEN = GrantOrigin.WRITTEN.name.lower()


def origin_word(origins: Sequence[GrantOrigin], bound: Bound, position: int) -> str:
    """How a grant got into its list; only lower positive ones have another origin than being written."""
    return origins[position].name.lower() if origins and bound is Bound.LOWER_POSITIVE else WRITTEN


def read_origin(word: str) -> GrantOrigin:
    """The origin of a column."""
    return GrantOrigin[word.upper()]


def grant_row(
    snapshot: int, card: int, bound: Bound, position: int, grant: Grant, home: Home, origin: str = WRITTEN
) -> Row:
    """A grant at its position, without its place."""
    target, recipient = grant.target, grant.recipient
    owner = target.owner
    row: Row = {
        "snapshot_id": snapshot,
        "card_id": card,
        "part": "lower" if bound.is_lower else "upper",
        "is_positive": bound.is_positive,
        "position": position,
        "text": grant.text,
        "permission_class": target.cls.name,
        "verb": target.verb,
        "owner_slot": owner.slot.value if owner.slot else None,
        "is_type_wildcard": owner.is_type_wildcard,
        "recipient_level": int(recipient.level),
        "recipient_slot": recipient.slot.value if recipient.slot else None,
        "resource_kind": target.cls.resource.value,
        "resource_prefix": resource_prefix(target.resource),
        "origin": origin,
        "owner_key": hashed(owner_key(owner, recipient, home)),
        "resource_key": hashed(resource_key(target.resource)),
    }
    for names, known in ((OWNERS, owner.known), (RECIPIENTS, recipient.known)):
        for index, name in enumerate(names):
            row[name] = known[index] if index < len(known) else None
    return row


def bound_of(part: str, is_positive: bool) -> Bound:
    """The list that two columns name."""
    if part == "lower":
        return Bound.LOWER_POSITIVE if is_positive else Bound.LOWER_NEGATIVE
    return Bound.UPPER_POSITIVE if is_positive else Bound.UPPER_NEGATIVE


_LEVELS = {level.value: level for level in Level}


def read_recipient(text: str, rules: Rules) -> Recipient:
    """The recipient of a canonical text, which has been parsed before it was stored: the inverse of its `text`."""
    if text == ANYONE.text:
        return ANYONE
    segments = text.split("/")
    slot = SLOTS_BY_TEXT.get(segments[0])
    rest = segments if slot is None else segments[1:]
    known = tuple(rest[: len(rest) - _stars(rest)])
    depth = len(rest) + (slot.depth if slot else 0)
    full = len(known) + (slot.depth if slot else 0) == Level.AGENT
    external = full and bool(known) and known[-1] == EXTERNAL_TOOL_OWNER and rules.is_next("external_tool_owner")
    return Recipient(_LEVELS[depth], known, slot, external)


def _stars(segments: Sequence[str]) -> int:
    count = 0
    while count < len(segments) and segments[-1 - count] == "*":
        count += 1
    return count


class GrantReader:
    """Reads stored grants; a target or a recipient that repeats is read once.

    Raises:
        InternalDefect: if a stored text cannot be read, which only a change behind policyd's back can cause.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._targets: dict[tuple[str, str, bool], Target] = {}

    def grant(self, text: str, *, with_slots: bool) -> Grant:
        """The grant of a canonical text.

        Args:
            text: as stored.
            with_slots: whether the card may carry slots: polymorphic and initial cards.
        """
        # canonical texts have no margins, so the parts can be cut where the parser would cut them (P1)
        head, _, rest = text.partition(") @ ")
        recipient, _, tail = rest.partition(" : ")
        try:
            target = self._targets.get((head, tail, with_slots))
            if target is None:
                form = Form.MANIFEST if with_slots else Form.CONCRETE
                target = parse_grant(f"{head}) @ * : {tail}", form, self._rules).target
                self._targets[head, tail, with_slots] = target
            return Grant(target, read_recipient(recipient, self._rules))
        except Exception as why:
            raise InternalDefect.of(f"a stored grant cannot be read: {type(why).__name__}") from why


def may_have_slots(kind: str) -> bool:
    """Whether the grants of a card of this kind may carry slots."""
    return kind in ("polymorphic", "initial")


def wallet_row(snapshot: int, wallet: WalletFact) -> Row:
    """A wallet, without its cards."""
    is_agent = wallet.holder.level is Level.AGENT
    return {
        "snapshot_id": snapshot,
        "holder": wallet.holder.text,
        "holder_level": int(wallet.holder.level),
        "component": wallet.holder.known[3] if is_agent else None,
        "agent_type": wallet.holder.known[4] if is_agent else None,
        "agent_id": wallet.agent_id,
        "holder_key": holder_key(wallet.holder, wallet.agent_id),
        "recorded_account": wallet.recorded_account,
        **place_row(wallet.place),
    }


def holder_key(holder: Recipient, agent_id: str) -> str:
    """What is unique about a wallet within a snapshot."""
    return sha256(f"{holder.text}\0{agent_id}".encode()).hexdigest()


def installed_row(held: Installed) -> Row:
    """How a card came into a wallet."""
    return {"installed_by": held.by.value, **moment_row("installed", held.at)}


def read_installed(row: Mapping[Any, Any]) -> Installed:
    """A card of a wallet."""
    return Installed(CardId(row["card_uuid"]), Installer(row["installed_by"]), read_moment("installed", row))


def retry_row(snapshot: int, policy_id: int, fact: RetryPolicyFact) -> Row:
    """A retry policy in its revision."""
    return {
        "snapshot_id": snapshot,
        "retry_policy_id": policy_id,
        "origin": fact.origin.value,
        "platform_id": fact.platform_id,
        "revision": fact.revision,
        "priority": fact.priority,
        "predicate": fact.predicate,
        "policy": fact.policy,
        **place_row(fact.place),
    }


def read_retry(row: Mapping[Any, Any]) -> RetryPolicyFact:
    """A retry policy of a row that also carries its name."""
    return RetryPolicyFact(
        row["name"],
        row["priority"],
        row["predicate"],
        row["policy"],
        Origin(row["origin"]),
        row["platform_id"],
        row["revision"],
        read_place(row),
    )


def tool_row(snapshot: int, fact: ToolFact) -> Row:
    """A tool or a middleware."""
    return {
        "snapshot_id": snapshot,
        "name": fact.name,
        "origin": fact.origin.value,
        "component": fact.component,
        "version": fact.version,
        "account": fact.account,
        "definition": fact.definition,
        **place_row(fact.place),
    }


def read_tool(row: Mapping[Any, Any]) -> ToolFact:
    """A tool or a middleware."""
    return ToolFact(
        row["name"],
        Origin(row["origin"]),
        row["component"],
        row["version"],
        row["account"],
        row["definition"],
        read_place(row),
    )


def layer_row(chain: int, position: int, layer: ChainLayer) -> Row:
    """A layer of a chain."""
    return {
        "chain_id": chain,
        "position": position,
        "middleware": layer.middleware,
        "version": layer.version,
        "account": layer.account,
        "filesystem_access": layer.filesystem_access,
        "has_parameters": layer.has_parameters,
        **place_row(layer.place),
    }


def read_layer(row: Mapping[Any, Any]) -> ChainLayer:
    """A layer of a chain."""
    return ChainLayer(
        row["middleware"],
        row["version"],
        row["account"],
        row["filesystem_access"],
        row["has_parameters"],
        read_place(row),
    )


def value_row(snapshot: int, value: NamedValue) -> Row:
    """The name of a value."""
    return {
        "snapshot_id": snapshot,
        "kind": value.kind.value,
        "level": value.level.value,
        "subject": value.subject,
        "path": canonical_json(list(value.path)),
        "is_known": value.is_known,
        **place_row(value.place),
    }


def finding_row(snapshot: int, position: int, fact: FindingFact) -> Row:
    """A finding, without snippets."""
    finding = fact.finding
    return {
        "snapshot_id": snapshot,
        "position": position,
        "origin": fact.origin.value,
        "code": finding.code,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "help": finding.help,
        "witness": finding.witness,
        "related": canonical_json(related_json(finding.related)),
        **place_row(finding.span),
    }


def read_finding(row: Mapping[Any, Any]) -> FindingFact:
    """A finding."""
    return FindingFact(
        Finding(
            row["code"],
            Severity(row["severity"]),
            row["message"],
            read_place(row),
            row["help"],
            read_related(json.loads(row["related"])),
            Confidence(row["confidence"]),
            row["witness"],
        ),
        Origin(row["origin"]),
    )
