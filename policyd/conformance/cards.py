"""The operations of the card vectors, answered by the card core under edition `snapshot`.

Source: vectors, section Cards; questions 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policyd.core.cards import (
    Attenuates,
    Bounds,
    Card,
    CardId,
    MultipleRequired,
    NotPermitted,
    ScopeCard,
    SingleParent,
    Timestamp,
    TooBroad,
    applies_to,
    attenuate,
    default_grants,
    envelope,
    select_parent,
    surface_of,
)
from policyd.core.cards.identity import (
    account_wallet_bytes,
    agent_wallet_bytes,
    application_wallet_bytes,
    wallet_hash,
)
from policyd.core.cards.surface import Surface
from policyd.core.edition import SNAPSHOT
from policyd.core.grants import AgentContext, Grant, OwnerKind, Recipient, agent_holder, classes_of
from policyd.core.grants.names import ascii_lower, parse_uuid
from policyd.core.grants.resources import Resource
from policyd.core.grants.resources.tools import invocation_of_call
from policyd.syntax import Form, GrantSyntaxError, parse_grant, parse_grants, parse_owner, parse_recipient
from policyd.syntax.cards import CardForm, CardSyntaxError, card_json, read_card
from policyd.syntax.recipients import RecipientRefused

Answer = dict[str, Any]
Question = Mapping[str, Any]

_LISTS = ("lower_positive", "lower_negative", "upper_positive", "upper_negative")


def refusal(error: GrantSyntaxError) -> Answer:
    """A refused grant as the vectors write it."""
    return {
        "ok": False,
        "error": {"kind": error.kind.value, "detail": error.detail, "message": error.findings[0].message},
    }


def parse(question: Question) -> Answer:
    """Read a grant in one of the textual forms."""
    form = Form(question["flavor"])
    text = question["grant"]
    try:
        if question.get("expand_alias"):
            return {"ok": True, "rendered_all": [g.text for g in parse_grants(text, form, SNAPSHOT)]}
        grant = parse_grant(text, form, SNAPSHOT)
    except GrantSyntaxError as error:
        return refusal(error)
    answer: Answer = {"ok": True, "rendered": grant.text, "roundtrip": _reads_back(grant, form)}
    if question.get("fields"):
        target = grant.target
        answer["fields"] = {
            "class": target.cls.name,
            "owner": target.owner.text,
            "recipient": grant.recipient.text,
            "verb": target.verb,
            "resource": target.resource.text,
        }
    return answer


def _reads_back(grant: Grant, form: Form) -> bool:
    try:
        return parse_grant(grant.text, form, SNAPSHOT) == grant
    except GrantSyntaxError:
        return False


def parse_recipient_op(question: Question) -> Answer:
    """Read a recipient."""
    try:
        recipient = parse_recipient(question["recipient"], slots=question["polymorphic"], rules=SNAPSHOT)
    except RecipientRefused as error:
        return {"ok": False, "error": {"detail": error.value}}
    return {"ok": True, "rendered": recipient.text}


def subsumes(question: Question) -> Answer:
    """Compare two concrete grants, with and without their recipients."""
    a, b = (parse_grant(question[name], Form.CONCRETE, SNAPSHOT) for name in "ab")
    return {
        "a_subsumes_b": a.covers(b),
        "b_subsumes_a": b.covers(a),
        "a_target_subsumes_b": a.target.covers(b.target),
        "b_target_subsumes_a": b.target.covers(a.target),
    }


def subsumes_recipient(question: Question) -> Answer:
    """Compare two recipients."""
    a, b = (parse_recipient(question[name], rules=SNAPSHOT) for name in "ab")
    return {"a_subsumes_b": a.covers(b), "b_subsumes_a": b.covers(a)}


def subsumes_owner(question: Question) -> Answer:
    """Compare two owners of one kind."""
    a, b = (parse_owner(question[name], OwnerKind(question["kind"])) for name in "ab")
    return {"a_subsumes_b": a.covers(b), "b_subsumes_a": b.covers(a)}


def bounds_of(lists: Mapping[str, Sequence[str]], form: Form = Form.CONCRETE) -> Bounds:
    """The four lists of the short form of a card."""
    return Bounds(*(tuple(g for text in lists.get(n, ()) for g in parse_grants(text, form, SNAPSHOT)) for n in _LISTS))


def _card(short: Mapping[str, Any]) -> Card:
    polymorphic = bool(short.get("polymorphic"))
    form = Form.POLYMORPHIC if polymorphic else Form.CONCRETE
    return Card(CardId(short["id"]), bounds_of(short, form), polymorphic)


def _decided(surface: Surface, request: str) -> Answer:
    target = parse_grant(request, Form.CONCRETE, SNAPSHOT).target
    return {
        "allowed": surface.allows(target),
        "lower": [part.lends(target) for part in surface.lower],
        "upper": [part.admits(target) for part in surface.upper],
    }


def _holder(text: str) -> Recipient:
    return parse_recipient(text, rules=SNAPSHOT)


def allows(question: Question) -> Answer:
    """Decide a request over a wallet of concrete cards."""
    cards = [_card(short) for short in question["cards"]]
    return _decided(surface_of(cards, _holder(question["holder"])), question["request"])


def allows_grants(question: Question) -> Answer:
    """Decide a request over four lists, in the way of a scope card."""
    scope = ScopeCard(CardId(""), bounds_of(question))
    return _decided(surface_of([], _holder(question["holder"]), scope), question["request"])


def context_of(raw: Mapping[str, str]) -> AgentContext:
    """The agent context of a question; accounts are lowered."""
    return AgentContext(
        ascii_lower(raw["account"]),
        raw["application"],
        raw["environment"],
        raw["component"],
        raw["agent_type"],
        raw.get("agent_name"),
    )


def agent_allows(question: Question) -> Answer:
    """Decide a request of an agent over its wallet and an optional scope card."""
    context = context_of(question["context"])
    cards = [_card(short).for_agent(context) for short in question["cards"]]
    raw = question.get("scope")
    scope = None if raw is None else ScopeCard(CardId(raw["id"]), bounds_of(raw))
    holder = agent_holder(context)
    surface = surface_of(cards, holder, scope)
    return {
        **_decided(surface, question["request"]),
        "sources": list(surface.sources),
        "matches": [applies_to(card.bounds, holder) for card in cards],
    }


def attenuate_op(question: Question) -> Answer:
    """Check a child against parents, and select the parent that a wallet would use."""
    parents = [_card(short) for short in question["parents"]]
    child = bounds_of(question["child"])
    return {"validate": _validated(attenuate(parents, child)), "select": _selected(select_parent(parents, child))}


def _validated(outcome: Attenuates | TooBroad) -> Answer:
    return _too_broad(outcome) if isinstance(outcome, TooBroad) else {"ok": True, "witness": list(outcome.witnesses)}


def _too_broad(outcome: TooBroad) -> Answer:
    return {"ok": False, "error": outcome.kind, "grant": outcome.grant.text if outcome.grant else None}


def _selected(outcome: SingleParent | MultipleRequired | NotPermitted | TooBroad) -> Answer:
    match outcome:
        case SingleParent(card):
            return {"ok": True, "parent": "single", "card_id": card}
        case MultipleRequired():
            return {"ok": True, "parent": "multiple_required"}
        case NotPermitted():
            return {"ok": True, "parent": "not_permitted"}
        case TooBroad():
            return _too_broad(outcome)


def _polymorphic(texts: Sequence[str]) -> list[Grant]:
    return [g for text in texts for g in parse_grants(text, Form.POLYMORPHIC, SNAPSHOT)]


def monomorphize(question: Question) -> Answer:
    """Fill the owner slots of a polymorphic grant."""
    context = context_of(question["context"])
    try:
        grants = _polymorphic([question["grant"]])
    except GrantSyntaxError as error:
        return refusal(error)
    return {"ok": True, "rendered_all": [g.filled(context).text for g in grants]}


def monomorphize_recipient(question: Question) -> Answer:
    """Fill the recipient slot of a manifest grant."""
    context = context_of(question["context"])
    try:
        grants = parse_grants(question["grant"], Form.MANIFEST, SNAPSHOT)
    except GrantSyntaxError as error:
        return refusal(error)
    return {"ok": True, "rendered_all": [g.addressed(context).text for g in grants]}


def envelope_op(question: Question) -> Answer:
    """The deploy envelopes of polymorphic grants."""
    return {"rendered_all": [envelope(g).text for g in _polymorphic(question["grants"])]}


def envelope_subsumes(question: Question) -> Answer:
    """Compare an envelope with a concrete grant, as values."""
    wide = envelope(parse_grant(question["grant"], Form.POLYMORPHIC, SNAPSHOT))
    other = parse_grant(question["other"], Form.CONCRETE, SNAPSHOT)
    return {
        "envelope": wide.text,
        "envelope_subsumes_other": wide.covers(other),
        "other_subsumes_envelope": other.covers(wide),
    }


def default_grants_op(question: Question) -> Answer:
    """The default initial card of a recipient."""
    recipient = parse_recipient(question["recipient"], rules=SNAPSHOT)
    return {"rendered_all": [g.text for g in default_grants(recipient)]}


def instantiate(question: Question) -> Answer:
    """The concrete child that installing a template mints."""
    try:
        card = read_card(question["card"], CardForm.POLYMORPHIC, SNAPSHOT)
    except CardSyntaxError:
        return {"ok": False}
    assert isinstance(card, Card)  # the polymorphic form reads nothing else
    filled = card.for_agent(context_of(question["context"]))
    child = Card(
        CardId(question["child_id"]),
        filled.bounds,
        parents=(card.id,),
        created_at=Timestamp.parse(question["created_at"]),
        expires_at=card.expires_at,
        is_system=card.is_system,
    )
    return {"ok": True, "json": card_json(child)}


def wallet_id(question: Question) -> Answer:
    """The identity of a wallet."""
    holder = question["holder"]
    match holder:
        case {"type": "Account", "accountId": str(text)} if parse_uuid(text):
            identity = account_wallet_bytes(parse_uuid(text) or "")
        case {"type": "Application", "applicationId": str(text)} if parse_uuid(text):
            identity = application_wallet_bytes(parse_uuid(text) or "")
        case {"type": "Agent", "agentId": {"componentId": str(text), "agentId": str(agent)}} if parse_uuid(text):
            identity = agent_wallet_bytes(parse_uuid(text) or "", agent)
        case _:
            return {"ok": False}
    return {"ok": True, "bytes": identity.hex(), "hash": wallet_hash(identity)}


def card_json_op(question: Question) -> Answer:
    """Read a card and write it again."""
    form = CardForm(question["type"])
    try:
        card = read_card(question["card"], form, SNAPSHOT)
    except CardSyntaxError:
        return {"ok": False}
    return {"ok": True, "json": card_json(card, tagged=form is CardForm.STORED)}


def tool_invocation(question: Question) -> Answer:
    """Write a tool call as a resource."""
    try:
        call = invocation_of_call(question["command"], question["args"])
    except ValueError as error:
        return {"ok": False, "error": {"detail": str(error)}}
    answer: Answer = {"ok": True, "resource": call.text, "roundtrip": _tool_resource(call.text) == call}
    if "grant_resource" in question:
        granting = _tool_resource(question["grant_resource"])
        answer["granted"] = None if granting is None else granting.covers(call)
    return answer


def _tool_resource(text: str) -> Resource | None:
    """The resource of a whole tool grant, so that the slot guard of grants is asked too; None if unreadable."""
    try:
        return parse_grant(f"tool(*/*/*/*/*) @ * : invoke : {text}", Form.CONCRETE, SNAPSHOT).target.resource
    except GrantSyntaxError:
        return None


def class_metadata(question: Question) -> list[Answer]:
    """The classes and their verbs, in order."""
    return [{"class": c.name, "verbs": list(c.verbs)} for c in classes_of(SNAPSHOT)]


HANDLERS: dict[str, Callable[[Question], object]] = {
    "parse": parse,
    "parse_recipient": parse_recipient_op,
    "subsumes": subsumes,
    "subsumes_recipient": subsumes_recipient,
    "subsumes_owner": subsumes_owner,
    "allows": allows,
    "allows_grants": allows_grants,
    "agent_allows": agent_allows,
    "attenuate": attenuate_op,
    "monomorphize": monomorphize,
    "monomorphize_recipient": monomorphize_recipient,
    "envelope": envelope_op,
    "envelope_subsumes": envelope_subsumes,
    "default_grants": default_grants_op,
    "instantiate": instantiate,
    "wallet_id": wallet_id,
    "card_json": card_json_op,
    "tool_invocation": tool_invocation,
    "class_metadata": class_metadata,
}
