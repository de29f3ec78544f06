"""Cards in JSON: what is read, what is refused and where, and that nothing else ever comes of it."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.cards import Card, ManagedBy, ScopeCard
from policyd.core.edition import NEXT, SNAPSHOT
from policyd.findings.codes import is_code
from policyd.syntax.cards import CardForm, CardSyntaxError, card_json, read_card

ID = "7d0f0f0f-0000-4000-8000-00000000000b"
LISTS = {"lowerPositive": [], "lowerNegative": [], "upperPositive": [], "upperNegative": []}
CARD = {"cardId": ID, "parentIds": [], **LISTS, "createdAt": "2026-12-24T00:00:00Z", "systemCard": False}
SCOPE = {"scopeCardId": ID, "rootCardIds": [ID], **LISTS}
STORED = {**CARD, "type": "Concrete"}
WHOLE = {CardForm.CARD: CARD, CardForm.POLYMORPHIC: CARD, CardForm.SCOPE: SCOPE, CardForm.STORED: STORED}


def path_of(value, form=CardForm.CARD, rules=NEXT):
    with pytest.raises(CardSyntaxError) as told:
        read_card(value, form, rules)
    (finding,) = told.value.findings
    assert is_code(finding.code)
    assert finding.message.isprintable()
    return finding.span.path


@pytest.mark.parametrize("form", list(CardForm))
def test_a_whole_card_is_read(form):
    card = read_card(WHOLE[form], form)
    assert isinstance(card, ScopeCard if form is CardForm.SCOPE else Card)
    again = card_json(card, tagged=form is CardForm.STORED)
    assert read_card(again, form) == card
    assert json.loads(json.dumps(again)) == again


@pytest.mark.parametrize("form", list(CardForm))
def test_every_member_is_required(form):
    for name in WHOLE[form]:
        value = {key: item for key, item in WHOLE[form].items() if key != name}
        assert path_of(value, form) == "$"


WRONG = [None, 7, 7.5, True, "x", [], {}, [[]], [None], {"a": 1}, 10**400, -1, float("nan"), "\ud800", ["\x00"]]


@pytest.mark.parametrize("form", list(CardForm))
@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: repr(w)[:12])
def test_a_member_of_the_wrong_kind_is_refused_at_its_place(form, wrong):
    for name, right in WHOLE[form].items():
        if wrong == right and type(wrong) is type(right):
            continue
        if name in (*LISTS, "parentIds", "rootCardIds") and wrong == []:
            continue
        if name == "systemCard" and wrong is True:
            continue
        assert path_of({**WHOLE[form], name: wrong}, form).startswith(f"$.{name}")


@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: repr(w)[:12])
@pytest.mark.parametrize("form", list(CardForm))
def test_a_value_of_the_wrong_kind_is_refused(form, wrong):
    assert path_of(wrong, form) == "$"


def test_the_place_of_a_grant():
    value = {**CARD, "upperNegative": ["kv(a/b/c) @ * : read : s.k", "kv(a/b/c) @ * : raed : s.k"]}
    with pytest.raises(CardSyntaxError) as told:
        read_card(value, CardForm.CARD)
    (finding,) = told.value.findings
    assert (finding.code, finding.span.path) == ("GRANT005", "$.upperNegative[1]")
    assert "did you mean `read`?" in finding.help


def test_the_alias_becomes_eight():
    value = {**CARD, "lowerPositive": ["agent(a/b/c/d/*) @ * : debug : *"]}
    card = read_card(value, CardForm.CARD)
    assert len(card.bounds.lower_positive) == 8
    assert "debug" not in json.dumps(card_json(card))


@pytest.mark.parametrize("form", [CardForm.CARD, CardForm.SCOPE])
def test_slots_stand_in_templates_only(form):
    slotted = {"lowerPositive": ["kv(?env) @ * : read : s.k"]}
    assert path_of({**WHOLE[form], **slotted}, form) == "$.lowerPositive[0]"
    assert read_card({**CARD, **slotted}, CardForm.POLYMORPHIC).is_polymorphic


def test_ids_are_read_in_all_their_forms():
    for text in (ID.upper(), ID.replace("-", ""), f"{{{ID}}}", f"urn:uuid:{ID}"):
        assert read_card({**CARD, "cardId": text}, CardForm.CARD).id == ID
    for text in (f"{{{ID.replace('-', '')}}}", f"URN:UUID:{ID}", f" {ID}", ID[:-1], ID + "0", ID.replace("7", "g")):
        assert path_of({**CARD, "cardId": text}) == "$.cardId"


MANAGED = {
    "AccountRoot": {"accountId": ID},
    "EnvironmentDefault": {"environmentId": ID},
    "PermissionShare": {"permissionShareId": ID},
    "AgentInitial": {"componentId": ID, "componentRevision": 0, "agentType": ""},
    "RuntimeDerived": {
        "environmentId": ID,
        "agentId": {"componentId": ID, "agentId": 'Mapper("n1")'},
        "invocationKey": "k",
        "oplogIndex": 2**64 - 1,
    },
}


@pytest.mark.parametrize("kind", MANAGED)
def test_who_keeps_a_card(kind):
    managed = {"type": kind, **MANAGED[kind], "more": [1]}
    card = read_card({**CARD, "managedBy": managed}, CardForm.CARD, SNAPSHOT)
    assert card.managed_by.kind == kind
    assert card_json(card)["managedBy"] == {"type": kind, **MANAGED[kind]}
    for name in MANAGED[kind]:
        short = {key: item for key, item in managed.items() if key != name}
        assert path_of({**CARD, "managedBy": short}) == "$.managedBy"
        for wrong in (None, [], {}, 7.0, -1, True, 2**64):
            assert path_of({**CARD, "managedBy": {**managed, name: wrong}}).startswith(f"$.managedBy.{name}")


def test_a_component_card_is_known_under_next_only():
    managed = {"type": "ComponentInitial", "componentId": ID, "componentRevision": 3}
    card = read_card({**CARD, "managedBy": managed}, CardForm.CARD, NEXT)
    assert card.managed_by == ManagedBy("ComponentInitial", (("componentId", ID), ("componentRevision", 3)))
    assert path_of({**CARD, "managedBy": managed}, CardForm.CARD, SNAPSHOT) == "$.managedBy.type"


def test_what_is_ignored():
    noise = {"card_id": 7, "type": 8, "more": {"deep": [[[]]]}}
    assert read_card({**CARD, **noise}, CardForm.CARD) == read_card(CARD, CardForm.CARD)
    assert read_card({**CARD, "managedBy": 9}, CardForm.POLYMORPHIC).managed_by is None
    assert read_card({**CARD, "managedBy": None, "expiresAt": None}, CardForm.CARD).expires_at is None


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("2026-12-24T00:00:00.5Z", "2026-12-24T00:00:00.500Z"),
        ("2026-12-24t01:00:00+01:00", "2026-12-24T00:00:00Z"),
        ("2026-12-24 00:00:00z", "2026-12-24T00:00:00Z"),
        ("2026-12-24T00:00:00.1234567899Z", "2026-12-24T00:00:00.123456789Z"),
        ("2026-12-24T00:00:00.1234-0000", "2026-12-24T00:00:00.123400Z"),
        ("2024-02-29T23:59:60Z", "2024-02-29T23:59:60Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ],
)
def test_moments(text, canonical):
    assert card_json(read_card({**CARD, "createdAt": text}, CardForm.CARD))["createdAt"] == canonical


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-24T00:00:00",
        "2026-12-24T00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-12-24T24:00:00Z",
        "2026-12-24T00:60:00Z",
        "2026-12-24T00:00:61Z",
        "2026-12-24T00:00:00.Z",
        "2026-12-24T00:00:00+24:00",
        "2026-12-24T00:00:00Z ",
        "２０２６-12-24T00:00:00Z",
        "",
    ],
)
def test_no_moments(text):
    assert path_of({**CARD, "createdAt": text}) == "$.createdAt"
    assert path_of({**CARD, "expiresAt": text}) == "$.expiresAt"


def test_deep_nesting_is_refused_not_followed():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for name in ("parentIds", "lowerPositive", "managedBy", "cardId"):
        assert path_of({**CARD, name: deep}).startswith(f"$.{name}")
    while deep:
        deep = deep.pop()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(list(CardForm)), st.data())
def test_any_json_is_read_or_refused(form, data):
    value = copy.deepcopy(WHOLE[form])
    if form is CardForm.CARD:
        value["managedBy"] = {"type": data.draw(st.sampled_from(list(MANAGED))), **MANAGED["RuntimeDerived"]}
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.sampled_from([value, *(v for v in value.values() if isinstance(v, dict))]))
        if at:
            at[data.draw(st.sampled_from(sorted(at)))] = data.draw(JSON)
    try:
        card = read_card(value, form)
    except CardSyntaxError as error:
        path = error.findings[0].span.path
        assert path.startswith("$"), path
        return
    assert read_card(card_json(card, tagged=form is CardForm.STORED), form) == card


@given(JSON)
def test_any_other_json_is_refused(value):
    for form in CardForm:
        assert path_of(value, form).startswith("$")
