"""Cards that the platform writes, lineage, and identities (cards 6.7 to 6.9)."""

from itertools import pairwise

import pytest

from policyd.core.cards import (
    Bounds,
    Card,
    CardId,
    ManagedBy,
    account_root_bounds,
    ancestors,
    default_grants,
    descendants,
    environment_default_bounds,
    registry_refusal,
)
from policyd.core.cards.identity import DERIVED_CARD, INSTALLED_CHILD, SCOPE_CARD, TRANSFER, derived_id
from policyd.core.grants import agent_holder
from policyd.core.grants.slots import AgentContext
from policyd.syntax import parse_grant

ROOT = [
    "network() @ * : * : *",
    "account.oauth2-identity(a@x) @ * : * : *",
    "account(a@x) @ * : * : ",
    "account.plugin(a@x) @ * : * : *",
    "account.permission-share(a@x) @ * : * : *",
    "account.token(a@x) @ * : * : *",
    "account.usage(a@x) @ * : * : ",
    "card(a@x) @ * : * : *",
    "application(a@x/*) @ * : * : ",
    "environment(a@x/*/*) @ * : * : *",
    "component(a@x/*/*/*) @ * : * : *",
    "environment.agent-secret(a@x/*/*) @ * : * : *",
    "environment.blob-bucket(a@x/*/*) @ * : * : *",
    "environment.domain-registration(a@x/*/*) @ * : * : *",
    "environment.http-api-deployment(a@x/*/*) @ * : * : *",
    "environment.kv-bucket(a@x/*/*) @ * : * : *",
    "environment.mcp-deployment(a@x/*/*) @ * : * : *",
    "environment.plugin-grant(a@x/*/*) @ * : * : *",
    "environment.resource-definition(a@x/*/*) @ * : * : *",
    "environment.retry-policy(a@x/*/*) @ * : * : *",
    "environment.security-scheme(a@x/*/*) @ * : * : *",
    "blob(a@x/*/*) @ * : * : *.**",
    "kv(a@x/*/*) @ * : * : *.**",
    "rdbms(a@x/*/*) @ * : * : *.*.*",
    "secret(a@x/*/*) @ * : * : *",
    "environment.initial-files(a@x/*/*/*) @ * : * : /**",
    "agent(a@x/*/*/*/*) @ * : * : *",
    "config(a@x/*/*/*/*) @ * : * : *",
    "env(a@x/*/*/*/*) @ * : * : *",
    "filesystem(a@x/*/*/*/*) @ * : * : /**",
    "oplog(a@x/*/*/*/*) @ * : * : *",
    "tool(a@x/*/*/*/*) @ * : * : *",
]


def test_the_account_root_card():
    bounds = account_root_bounds("a@x")
    assert [g.text for g in bounds.lower_positive] == ROOT
    assert bounds == Bounds(bounds.lower_positive)
    assert [parse_grant(g.text) for g in bounds.lower_positive] == list(bounds.lower_positive)


def test_the_environment_default_card():
    bounds = environment_default_bounds("a@x", "p", "e")
    assert [g.text for g in bounds.lower_positive] == [
        "environment(a@x/p/e) @ a@x : * : *",
        "component(a@x/p/e/*) @ a@x : * : *",
    ]
    assert bounds == Bounds(bounds.lower_positive)


def test_the_default_grants_are_fourteen():
    holder = agent_holder(AgentContext("a@x", "p", "e", "c", "T"))
    grants = default_grants(holder)
    assert len(grants) == 14
    assert {g.recipient for g in grants} == {holder}


A, B, C, D, E = (CardId(f"00000000-0000-0000-0000-00000000000{n}") for n in "12345")


@pytest.mark.parametrize(
    "card, parents, gone",
    [
        (A, {}, (A,)),
        (A, {C: (A, B)}, (A, C)),
        (B, {C: (A, B)}, (B, C)),
        (C, {C: (A, B)}, (C,)),
        (A, {B: (A,), C: (A,), D: (C,)}, (A, B, C, D)),
        (A, {D: (C,), C: (B,), B: (A,), E: ()}, (A, B, C, D)),
        (A, {B: (A, A)}, (A, B)),
        (A, {A: (B,), B: (A,)}, (A, B)),
    ],
)
def test_what_goes_with_a_card(card, parents, gone):
    """G350, G351 and other shapes; the answer is sorted."""
    assert descendants(card, parents) == gone
    assert all(card in ancestors(child, parents) for child in gone)


def test_long_lineages_do_not_recurse():
    chain = [CardId(f"{n:032x}") for n in range(5000)]
    parents = {child: (parent,) for parent, child in pairwise(chain)}
    assert len(descendants(chain[0], parents)) == len(ancestors(chain[-1], parents)) == 5000


@pytest.mark.parametrize(
    "kind, is_system, text",
    [
        ("PermissionShare", True, "Permission-share-managed cards must be revoked through the permission share"),
        ("EnvironmentDefault", False, "Environment-default cards cannot be revoked directly"),
        ("AccountRoot", True, "Cannot revoke a system card"),
        ("RuntimeDerived", True, "Cannot revoke a system card"),
        ("AgentInitial", False, None),
        ("RuntimeDerived", False, None),
    ],
)
def test_what_the_registry_never_revokes(kind, is_system, text):
    assert registry_refusal(Card(A, is_system=is_system, managed_by=ManagedBy(kind))) == text
    assert registry_refusal(Card(A)) is None


def test_computed_ids_are_version_7_and_carry_the_sequence():
    """W3: 48 bits of the sequence, then the hash; the purposes do not meet."""
    place = (str(B), str(C), 'Mapper("n1")', "key")
    ids = [derived_id(purpose, *place, 7) for purpose in (DERIVED_CARD, TRANSFER, INSTALLED_CHILD, SCOPE_CARD)]
    assert len(set(ids)) == 4
    for card_id in ids:
        assert card_id.startswith("00000000-0007-7")
        assert card_id[19] in "89ab"
    assert derived_id(DERIVED_CARD, *place, 2**60).startswith("ffffffff-ffff-7")
    assert derived_id(DERIVED_CARD, *place, 7) == ids[0] != derived_id(DERIVED_CARD, *place, 8)
    assert derived_id(DERIVED_CARD, str(B), str(C), 'Mapper("n1")k', "ey", 7) != ids[0]
