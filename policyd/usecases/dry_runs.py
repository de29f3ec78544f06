"""Dry runs of the card operations of an agent: derive, install, revoke.

Source: cards 6.2 to 6.7, A.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from policyd.core.admission import Wallet
from policyd.core.cards import (
    Accepted,
    Bound,
    Bounds,
    Caller,
    Card,
    CardId,
    Ledger,
    Refused,
    ScopeCard,
    Timestamp,
    Wanted,
    derive,
    derive_from_wallet,
    derive_scope,
    install,
    revoke,
)
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Grant
from policyd.core.grants.names import ascii_lower, parse_uuid
from policyd.findings import InputError, visible_lines
from policyd.syntax import Form, GrantErrorKind, GrantSyntaxError, parse_grants
from policyd.syntax.cards import card_json
from policyd.syntax.mistakes import shown

CHILD = CardId("00000000-0000-7000-8000-000000000000")
"""The id that stands for the card a dry run would make; the platform computes its own."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What an operation would do.

    Attributes:
        operation: its name.
        outcome: accepted with the changes, or refused with the platform's words.
        rules: the edition.
        notes: what else must be said.
    """

    operation: str
    outcome: Accepted | Refused
    rules: Rules
    notes: tuple[str, ...] = ()

    @property
    def is_accepted(self) -> bool:
        """Whether the operation goes through."""
        return isinstance(self.outcome, Accepted)


def caller_of(wallet: Wallet, at: Timestamp, scope: ScopeCard | None) -> Caller:
    """The agent of a wallet as the one who makes the call.

    Raises:
        InputError: if the wallet is that of an agent type without an id, whose slots cannot be filled.
    """
    context = wallet.context
    if context is not None and context.agent_id is None:
        raise InputError.of(
            "CARD060", "a card operation is made by one agent", None, "give `agentId` in the wallet file"
        )
    return Caller(context, tuple(held.card for held in wallet.cards), at, wallet.recorded_account, scope)


def ledger_of(wallet: Wallet, more: Sequence[Card]) -> Ledger:
    """What the store would know: the cards of the wallet and those given besides."""
    return Ledger.of([*more, *(held.card for held in wallet.cards)], wallet.revoked)


def wanted_bounds(value: object, rules: Rules) -> Wanted:
    """The bounds that a JSON value asks for; a text that is no grant is the refusal that the guest would see.

    Args:
        value: the four lists by the names of card JSON, or `lowerBound`/`upperBound` with `positive`/`negative`.
        rules: which classes exist.

    Raises:
        InputError: if the value has another shape.
    """
    lists: dict[Bound, tuple[Grant, ...]] = {}
    for bound, texts in _lists(value):
        grants: list[Grant] = []
        for text in texts:
            try:
                grants += parse_grants(text, Form.CONCRETE, rules)
            except GrantSyntaxError as refusal:
                return Refused(_VARIANTS[refusal.kind], refusal.findings[0].message)
        lists[bound] = tuple(grants)
    return Bounds(*(lists.get(bound, ()) for bound in Bound))


_VARIANTS = {
    GrantErrorKind.MALFORMED: "invalid-pattern",
    GrantErrorKind.UNKNOWN_CLASS: "unknown-resource-class",
    GrantErrorKind.UNKNOWN_VERB: "invalid-verb",
    GrantErrorKind.INVALID_OWNER: "invalid-owner",
    GrantErrorKind.INVALID_RECIPIENT: "invalid-recipient",
    GrantErrorKind.INVALID_RESOURCE: "invalid-pattern",
    GrantErrorKind.SLOT_IN_CONCRETE: "invalid-pattern",
}
_NESTED = {
    Bound.LOWER_POSITIVE: ("lowerBound", "positive"),
    Bound.LOWER_NEGATIVE: ("lowerBound", "negative"),
    Bound.UPPER_POSITIVE: ("upperBound", "positive"),
    Bound.UPPER_NEGATIVE: ("upperBound", "negative"),
}


def _lists(value: object) -> list[tuple[Bound, list[str]]]:
    if not isinstance(value, Mapping):
        raise InputError.of("CARD060", "expected an object with lists of grants", None, '{"lowerPositive": […]}')
    members = cast("Mapping[str, object]", value)
    known = {b.value for b in Bound} | {"lowerBound", "upperBound"}
    for name in members:
        if name not in known:
            raise InputError.of(
                "CARD060", f"unknown list {shown(str(name))}", None, f"one of {', '.join(sorted(known))}"
            )
    found = []
    for bound in Bound:
        part, sign = _NESTED[bound]
        nested = members.get(part)
        raw = members.get(bound.value, nested.get(sign) if isinstance(nested, Mapping) else None) or []
        if not isinstance(raw, Sequence) or isinstance(raw, str) or not all(isinstance(t, str) for t in raw):
            raise InputError.of("CARD060", f"`{bound.value}` is no list of grants")
        found.append((bound, list(raw)))
    return found


def agent_target(text: str) -> AgentContext | Refused | None:
    """The target of an install: `account/app/env/component/Type("id")`; an account or application is None."""
    parts = text.split("/", 4)
    if len(parts) < 5:
        return None
    agent_id = parts[4]
    head, bracket, _ = agent_id.partition("(")
    if not head or not bracket:
        return Refused("invalid-recipient", f"invalid install target agent ID: {agent_id}")
    return AgentContext(ascii_lower(parts[0]), parts[1], parts[2], parts[3], head, agent_id)


def card_named(name: str, ledger: Ledger) -> Card:
    """The card of that id.

    Raises:
        InputError: if it is not among the cards given.
    """
    uuid = parse_uuid(name)
    card = ledger.cards.get(CardId(uuid)) if uuid else None
    if card is None:
        raise InputError.of(
            "CARD060", f"no card {shown(name)} among those given", None, "name a card of the wallet or of `--cards`"
        )
    return card


def run_derive(
    caller: Caller, ledger: Ledger, parent: Card | None, wanted: Wanted, lifespan: str | None, rules: Rules
) -> DryRun:
    """Derive from one parent, or without one from the wallet."""
    if parent is None:
        return DryRun("derive-from-wallet", derive_from_wallet(caller, ledger, wanted, lifespan, CHILD, rules), rules)
    return DryRun("derive", derive(caller, ledger, parent, wanted, lifespan, CHILD, rules), rules)


def run_derive_scope(caller: Caller, ledger: Ledger, parents: Sequence[Card], wanted: Wanted, rules: Rules) -> DryRun:
    """Derive a scope card from several parents."""
    return DryRun("derive-scope", derive_scope(caller, ledger, list(parents), wanted, CHILD, rules), rules)


def run_install(
    caller: Caller, ledger: Ledger, card: Card, target: AgentContext | Refused | None, rules: Rules
) -> DryRun:
    """Install a card on an agent."""
    return DryRun("install-card", install(caller, ledger, card, target, CHILD, rules), rules)


def run_revoke(caller: Caller, ledger: Ledger, card: Card, rules: Rules) -> DryRun:
    """Revoke a card and everything derived from it."""
    return DryRun("revoke-card", revoke(caller, ledger, card), rules)


def dry_run_text(run: DryRun) -> str:
    """The outcome for a terminal: accepted or the refusal, witnesses, and what changes."""
    outcome = run.outcome
    if isinstance(outcome, Refused):
        out = [f"{run.operation}: refused, {outcome.variant}", f"  {outcome.text}"]
        if outcome.cause is not None:
            cause = outcome.cause
            out.append(f"  rule {cause.rule}: {_CAUSES[cause.rule]}")
            out += [f"  not covered by the child: {grant.text}" for grant in cause.missing]
            if cause.card is not None:
                out.append(f"  the ceiling is that of card {cause.card}")
        return visible_lines([*out, f"edition: {run.rules.label}"])
    out = [f"{run.operation}: accepted"]
    if outcome.witnesses:
        out.append("  parents used: " + ", ".join(outcome.witnesses))
    if outcome.expires_at is not None:
        out.append(f"  expires at {outcome.expires_at.text}")
    gone = sum(effect.change.value == "revoked" for effect in outcome.effects)
    if gone:
        out.append(f"  {gone} {'card' if gone == 1 else 'cards'} revoked in all")
    out += [f"  {_called(effect.card)}: {effect.change.words}" for effect in outcome.effects]
    if outcome.card is not None:
        out.append("  bounds of the new card:")
        out += [f"    {bound.words}: {grant.text}" for bound, _, grant in outcome.card.bounds.each()]
    out += [f"note: {note}" for note in run.notes]
    return visible_lines([*out, f"edition: {run.rules.label}"])


_CAUSES = {
    "A1": "no lower positive of a parent covers this grant as a whole",
    "A2": "the parent that covers it has lower negatives which the child does not restate",
    "A4": "upper negatives of a parent are not restated",
    "A5": "a parent has a ceiling, and the child has none for the same recipients",
    "A6": "a ceiling grant of the child is not inside the parent's ceiling",
}


def _called(card: CardId) -> str:
    return "the new card" if card == CHILD else f"card {card}"


def dry_run_json(run: DryRun) -> dict[str, object]:
    """The outcome as JSON."""
    outcome = run.outcome
    head: dict[str, object] = {"operation": run.operation, "edition": run.rules.label}
    if isinstance(outcome, Refused):
        cause = outcome.cause
        return {
            **head,
            "accepted": False,
            "refusal": {
                "kind": outcome.variant,
                "text": outcome.text,
                "rule": cause.rule if cause else None,
                "grant": cause.grant.text if cause and cause.grant else None,
                "missing": [g.text for g in cause.missing] if cause else [],
                "card": cause.card if cause else None,
            },
        }
    return {
        **head,
        "accepted": True,
        "witnesses": list(outcome.witnesses),
        "expiresAt": outcome.expires_at.text if outcome.expires_at else None,
        "effects": [{"change": e.change.value, "card": None if e.card == CHILD else e.card} for e in outcome.effects],
        "card": _without_id(card_json(outcome.card)) if outcome.card is not None else None,
        "notes": list(run.notes),
    }


def _without_id(card: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in card.items() if name not in ("cardId", "scopeCardId")}
