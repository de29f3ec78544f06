"""Differences, proofs, what-if and the least grants over HTTP: what the command line answers, within bounds."""

import json

import pytest
from service_serving import CHILD, PARENT, PLACE, TARGET

from policyd.cli.main import run
from policyd.service.wire_all_calls import MAX_LINES

RECEIPT = 'Receipt("u1")'
CARD = {
    "cardId": "7d0f0f0f-0000-4000-8000-0000000000cc",
    "parentIds": [],
    "lowerPositive": ["kv(acme@example.com/shop/prod) @ * : read : extra.*"],
    "lowerNegative": [],
    "upperPositive": [],
    "upperNegative": [],
    "createdAt": "2026-01-01T00:00:00Z",
    "systemCard": False,
}


def told(monkeypatch, capsys, shop, *words):
    """The JSON that the command line prints, without the command lines that it adds to witnesses."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    run([*words, "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    sides = [holder[key] for holder in printed.get("holders", ()) for key in ("started", "stopped")]
    for witness in (*(w for side in sides for w in side["witnesses"]), *printed.get("results", ())):
        witness.pop("checks")
        assert witness.pop("canBeWritten")
    return printed


def test_a_difference_is_the_one_of_the_command_line(shop, monkeypatch, capsys):
    """Same holders, witnesses and notes; both snapshots are named by their digests."""
    answer = shop.ask("/v1/differences", {"old": "@1", "new": "@3"})
    assert answer.status_code == 200
    body = answer.json()
    snapshots = body.pop("snapshots")
    said = told(monkeypatch, capsys, shop, "diff", "@1", "@3")
    assert [s["digest"] for s in said.pop("snapshots")] == [s["digest"] for s in snapshots]
    assert body == said
    assert [s["snapshot"] for s in snapshots] == ["@1", "@3"]
    assert all(len(s["digest"]) == 64 for s in snapshots)
    names = [h["name"] for h in body["holders"] if h["started"]["count"] or h["stopped"]["count"]]
    assert names == [RECEIPT]


def test_witnesses_of_a_difference_are_decided_so(shop):
    """What started is admitted in the new snapshot only, what stopped in the old one only."""
    body = shop.ask("/v1/differences", {"old": "@1", "new": "@3"}).json()
    holder = next(h for h in body["holders"] if h["name"] == RECEIPT)
    for side, wanted in (("started", ("no", "yes")), ("stopped", ("yes", "no"))):
        assert holder[side]["witnesses"] or holder[side]["count"] == 0
        for witness in holder[side]["witnesses"]:
            found = tuple(
                shop.decide(witness["call"], agent=RECEIPT, snapshot=place)["admitted"] for place in ("@1", "@3")
            )
            assert found == wanted, witness


def test_a_difference_may_be_cross_checked_and_demanded(shop):
    same = shop.ask("/v1/differences", {"old": "@3", "new": "@3", "agent": RECEIPT, "crossCheck": True}).json()
    assert same["holders"][0]["started"] == {"count": 0, "witnesses": [], "more": 0, "undecided": []}
    assert any(note.startswith("cross-checked") for note in same["notes"])
    other = shop.ask("/v1/differences", {"old": "@1", "new": "@3", "newDigest": "0" * 64})
    assert other.status_code == 412
    assert shop.ask("/v1/differences", {"old": "@1", "new": "@99"}).status_code == 404


def test_the_edition_is_an_argument_and_is_told(shop):
    body = shop.ask("/v1/differences", {"old": "@1", "new": "@2", "edition": "snapshot", "agent": "Cart"}).json()
    assert (body["edition"], body["switches"]) == ("snapshot", {})
    proof = shop.ask("/v1/proofs", {"snapshot": PLACE, "never": TARGET, "switches": {"method_bounds": "ascii"}})
    assert proof.status_code in (200, 422)


@pytest.mark.parametrize("claim", ["never", "always"])
def test_a_proof_is_the_one_of_the_command_line(shop, monkeypatch, capsys, claim):
    """A query, with the same words for every holder."""
    body = shop.ask("/v1/proofs", {"snapshot": "@3", claim: TARGET}).json()
    printed = told(monkeypatch, capsys, shop, "prove", "@3", f"--{claim}", TARGET)
    assert {key: body[key] for key in printed} == printed
    assert body["snapshot"] == "@3"
    for row in body["results"]:
        if row["answer"] == "fails":
            expected = "yes" if claim == "never" else "no"
            assert shop.decide(row["witness"], agent=row["name"], snapshot="@3")["admitted"] == expected


def test_a_relation_between_snapshots(shop):
    holds = shop.ask("/v1/proofs", {"snapshot": "@3", "relation": "equivalent", "other": "@3", "agent": "Cart"}).json()
    assert holds["answer"] == "holds"
    fails = shop.ask("/v1/proofs", {"snapshot": "@3", "relation": "disjoint", "other": "@3", "agent": "Cart"}).json()
    assert fails["answer"] == "fails"


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"never": TARGET, "always": TARGET},
        {"relation": "implies"},
        {"never": TARGET, "other": "@1"},
        {"never": "no query"},
        {"never": TARGET, "budget": 1000},
        {"never": TARGET, "agent": "Nobody"},
    ],
)
def test_a_proof_that_cannot_be_asked(shop, members):
    answer = shop.ask("/v1/proofs", {"snapshot": PLACE, **members})
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("application/problem+json")


def test_what_if_a_grant_is_added(shop, monkeypatch, capsys):
    """The same as on the command line."""
    grant = "kv(?env) @ ?agent : read : extra.*"
    body = shop.ask("/v1/what-if", {"snapshot": "@1", "agent": "Cart", "add": [{"grant": grant}]}).json()
    printed = told(monkeypatch, capsys, shop, "what-if", "@1", "--agent", "Cart", "--add", grant)
    assert body["holders"] == printed["holders"]
    assert (body["snapshot"], body["edition"]) == ("@1", "next")


def test_what_if_a_card_is_revoked_or_installed(shop, monkeypatch, capsys):
    """Per holder, with everything derived from the card; nothing is stored."""
    body = shop.ask("/v1/what-if", {"snapshot": "@3", "revoke": [PARENT]}).json()
    printed = told(monkeypatch, capsys, shop, "what-if", "@3", "--revoke", PARENT)
    assert {key: body[key] for key in printed} == printed
    assert [h["name"] for h in body["holders"]] == [RECEIPT]
    assert "2 cards are revoked in all" in body["notes"]
    assert body["holders"][0]["stopped"]["count"] > 0
    placed = shop.ask("/v1/what-if", {"snapshot": "@3", "install": [CARD], "on": ["Cart", 'Report("r")']}).json()
    assert {h["name"] for h in placed["holders"]} == {"Cart", 'Report("r")'}
    assert shop.ask("/v1/what-if", {"snapshot": "@3", "revoke": [CHILD]}).status_code == 200


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"revoke": ["no id"]},
        {"revoke": [CARD["cardId"]]},
        {"install": [CARD]},
        {"install": [CARD], "on": ["Nobody"]},
        {"install": [{}], "on": ["Cart"]},
        {"add": [{"grant": "kv(?env) @ ?agent : read : a.*"}]},
        {"add": [{"grant": "nonsense"}], "agent": "Cart"},
        {"remove": ["golem.yaml:1"]},
        {"revoke": [PARENT], "remove": ["golem.yaml:14"]},
        {"revoke": [PARENT] * (MAX_LINES + 1)},
    ],
)
def test_an_edit_that_cannot_be_asked(shop, members):
    assert shop.ask("/v1/what-if", {"snapshot": "@3", **members}).status_code == 422


def test_the_least_grants(shop):
    """All wanted, none unwanted, as manifest text; an unreadable call is a problem."""
    asked = {"snapshot": PLACE, "agent": "Cart", "allow": ["kv(?env) : read : orders.42"], "deny": [TARGET]}
    body = shop.ask("/v1/synthesis", asked).json()
    reads = [f"env(?agent) @ ?agent : read : {name}" for name in ("GOLEM_AGENT_ID", "GOLEM_COMPONENT_ID")]
    assert body["positive"] == [*reads, "kv(?env) @ ?agent : read : orders.42"]
    assert "initialCard:" in body["manifest"]
    assert (body["refusal"], body["undecided"]) == (None, None)
    impossible = shop.ask("/v1/synthesis", {**asked, "deny": ["kv(?env) : read : orders.42"]}).json()
    assert impossible["refusal"]
    for members in ({"allow": ["nonsense"]}, {"allow": []}, {"allow": ["# nothing"]}, {"agent": "Nobody"}):
        assert shop.ask("/v1/synthesis", {**asked, **members}).status_code == 422


def test_what_a_token_may_not_see_does_not_exist(guarded):
    """Both snapshots have to be within the reach of the token."""
    mine = {"Authorization": f"Bearer {guarded.token('mine', 'read', 'acme@example.com')}"}
    body = {"old": "@1", "new": "@other@example.com/shop/prod"}
    assert guarded.ask("/v1/differences", body, headers=mine).status_code == 404
    assert guarded.ask("/v1/differences", {**body, "new": "@1"}, headers=mine).status_code == 200
    assert guarded.ask("/v1/differences", body).status_code == 401
    proof = {"snapshot": "@1", "relation": "implies", "other": body["new"]}
    assert guarded.ask("/v1/proofs", proof, headers=mine).status_code == 404
