"""Decisions over HTTP are those of the command line: same facets, same reasons, same places."""

import json

import pytest
from service_serving import PLACE, TARGET, WALLET

from policyd.cli.main import run

QUESTIONS = [
    ("Cart", TARGET),
    ("Cart", "secret(?env) : mint : stripe.key"),
    ("Cart", "kv(?env) : delete : orders.42"),
    ('Cart("u1")', "agent(?agent) : view : "),
    ("Cart", 'agent(?component/Cart("u2")) : invoke : send'),
    ("Receipt", "filesystem(?agent) : read : /templates/a"),
    ('Receipt("u1")', "secret(?env) : reveal : mail.password"),
    ('Receipt("u1")', "kv(?env) : read : a.b"),
    ("Report", "secret(?env) : reveal : any.thing"),
    ("Unheard", TARGET),
]


def _told(monkeypatch, capsys, shop, agent, target):
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    run(["check", PLACE, target, "--agent", agent, "--format", "json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("agent", "target"), QUESTIONS)
def test_http_and_command_line_agree(shop, monkeypatch, capsys, agent, target):
    answer = shop.decide(target, agent=agent)
    assert answer["digest"]
    assert answer["revision"] == 2
    assert answer == _told(monkeypatch, capsys, shop, agent, target)


def test_a_batch_gives_the_same_answers_in_order(shop):
    body = {"snapshot": PLACE, "questions": [{"agent": agent, "target": target} for agent, target in QUESTIONS]}
    answers = shop.ask("/v1/decisions/batch", body).json()["answers"]
    singles = [shop.decide(target, agent=agent) for agent, target in QUESTIONS]
    for single in singles:
        del single["digest"], single["revision"]
    assert [answer["decision"] for answer in answers] == singles


def test_a_question_of_a_batch_that_cannot_be_asked_spoils_no_other(shop):
    questions = [{"agent": "Cart", "target": "nonsense"}, {"agent": "Cart", "target": TARGET}]
    answers = shop.ask("/v1/decisions/batch", {"snapshot": PLACE, "questions": questions}).json()["answers"]
    assert answers[0]["problem"]["code"] == "GRANT001"
    assert answers[0]["decision"] is None
    assert answers[1]["decision"]["admitted"] == "yes"


@pytest.mark.parametrize("count", [0, 1001])
def test_a_batch_has_one_to_a_thousand_questions(shop, count):
    questions = [{"agent": "Cart", "target": TARGET}] * count
    answer = shop.ask("/v1/decisions/batch", {"snapshot": PLACE, "questions": questions})
    assert answer.status_code == 422
    assert answer.json()["code"] == "STORE055"


def test_edition_and_switches_are_echoed(shop):
    answer = shop.decide(edition="snapshot", switches={"elapsed": "real"})
    assert (answer["edition"], answer["switches"]) == ("snapshot", {"elapsed": "real"})
    refused = shop.ask("/v1/decisions", {"snapshot": PLACE, "agent": "Cart", "target": TARGET, "edition": "newest"})
    assert refused.status_code == 422
    assert "next" in refused.json()["help"]


def test_an_answer_names_its_snapshot_and_a_question_can_demand_one(shop):
    answer = shop.ask("/v1/decisions", {"snapshot": PLACE, "agent": "Cart", "target": TARGET})
    body = answer.json()
    assert (body["snapshot"], answer.headers["policyd-snapshot"]) == ("@3", "@3")
    assert body["digest"] == answer.headers["policyd-digest"]
    assert shop.decide(digest=body["digest"])["admitted"] == "yes"
    other = shop.ask("/v1/decisions", {"snapshot": "@1", "agent": "Cart", "target": TARGET, "digest": body["digest"]})
    assert (other.status_code, other.json()["code"]) == (412, "STORE050")


def test_a_card_of_a_newer_class_is_not_read_under_the_older_edition(shop):
    """Nothing is guessed: what the edition cannot read makes the answer unknown, not yes."""
    text = """\
manifestVersion: 1.6.0
app: newer
environments: {prod: {server: local, account: acme@example.com}}
components: {"n:c": {dir: c, templates: rust}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive: ["environment.tool-grant(?env) @ ?agent : view : *", "env(?agent) @ ?agent : read : *"]
"""
    number = shop.add_manifest("", "prod", text).number
    target = "env(?agent) : read : HOME"
    assert shop.decide(target, snapshot=f"@{number}")["admitted"] == "yes"
    assert shop.decide(target, snapshot=f"@{number}", edition="snapshot")["admitted"] == "unknown"


def test_a_wallet_of_a_newer_edition_is_not_asked_about_under_the_older_one(shop):
    """A card with a grant of a newer class cannot exist there: refused, left out of lists, and said so."""
    newer = b"environment.tool-grant(*/*/*) @ * : view : *"
    wallet = WALLET.replace(b"network() @ acme@example.com : connect : mail.example.com", newer)
    wallet = wallet.replace(b"-4000-8000-00000000000", b"-4000-8000-0000000000a").replace(b"shop/prod", b"shop/newer")
    place = f"@{shop.add_wallet(wallet).number}"
    body = {"snapshot": place, "agent": 'Receipt("u1")', "target": TARGET}
    assert shop.ask("/v1/decisions", body).json()["admitted"] == "yes"
    refused = shop.ask("/v1/decisions", {**body, "edition": "snapshot"})
    assert (refused.status_code, refused.json()["code"]) == (422, "CARD050")
    listed = shop.ask("/v1/who-can", {"snapshot": place, "target": TARGET}).json()
    older = shop.ask("/v1/who-can", {"snapshot": place, "target": TARGET, "edition": "snapshot"}).json()
    assert 'Receipt("u1")' in [row["agentId"] for row in listed["holders"]]
    assert 'Receipt("u1")' not in [row["agentId"] for row in older["holders"]]
    assert older["complete"] is False
    question = {"snapshot": place, "holder": 'Receipt("u1")', "edition": "snapshot"}
    assert shop.ask("/v1/what-can", question).json()["code"] == "CARD050"


def test_decisions_are_logged_when_asked_for(shop):
    shop.decide(log=True)
    rows = shop.client.get("/v1/snapshots/3/decisions").json()["decisions"]
    assert [(row["holder"], row["question"], row["admitted"], row["askedBy"]) for row in rows] == [
        ("Cart", TARGET, "yes", "local")
    ]


def test_the_evaluation_endpoint_says_true_for_yes_only(shop):
    def evaluated(agent, action, key):
        body = {
            "subject": {"type": "agent", "id": agent},
            "action": {"name": action},
            "resource": {"type": "secret", "id": key},
            "context": {"snapshot": PLACE},
        }
        return shop.ask("/access/v1/evaluation", body).json()

    assert evaluated("Cart", "reveal", "stripe.key")["decision"] is True
    refused = evaluated("Cart", "reveal", "other.key")
    assert refused["decision"] is False
    assert "not granted" in refused["context"]["reason"]
    unknown = evaluated("Unheard", "reveal", "stripe.key")
    assert (unknown["decision"], unknown["context"]["admitted"]) == (False, "unknown")


def test_evaluations_answer_each_part_on_its_own(shop):
    body = {
        "subject": {"type": "agent", "id": "Cart"},
        "context": {"snapshot": PLACE},
        "evaluations": [
            {"action": {"name": "reveal"}, "resource": {"type": "secret", "id": "stripe.key"}},
            {"action": {"name": "reveal"}, "resource": {"type": "no-class", "id": "stripe.key"}},
            {"action": {"name": "reveal"}},
        ],
    }
    outcomes = shop.ask("/access/v1/evaluations", body).json()["evaluations"]
    assert [outcome["decision"] for outcome in outcomes] == [True, False, False]
    assert outcomes[1]["context"]["error"]["code"] == "GRANT002"


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("owner", "?env) : read : orders.1 : ("),
        ("owner", "acme@example.com/shop/prod) : read : orders.1 : ("),
        ("verb", "read : orders.x"),
        ("verb", "read) : read"),
        ("type", "kv(?env) : read"),
        ("type", "kv(acme@example.com/shop/prod) : read : x : ("),
    ],
)
def test_a_part_of_an_evaluation_is_never_read_as_several(shop, part, value):
    """What a client passes on from its users must not change which question is asked."""
    parts = {"type": "kv", "owner": "?env", "verb": "delete", part: value}
    body = {
        "subject": {"type": "agent", "id": "Cart"},
        "action": {"name": parts["verb"]},
        "resource": {"type": parts["type"], "id": "orders.1", "properties": {"owner": parts["owner"]}},
        "context": {"snapshot": PLACE},
    }
    answer = shop.ask("/access/v1/evaluation", body)
    assert answer.status_code == 422, answer.text


def test_a_resource_may_hold_colons(shop):
    body = {
        "subject": {"type": "agent", "id": "Cart"},
        "action": {"name": "read"},
        "resource": {"type": "kv", "id": "orders.a : b"},
        "context": {"snapshot": PLACE},
    }
    assert shop.ask("/access/v1/evaluation", body).json()["context"]["target"].endswith("orders.a : b")


@pytest.mark.parametrize(
    ("semantic", "decisions"),
    [
        (None, [True, False, True, False]),
        ("execute_all", [True, False, True, False]),
        ("deny_on_first_deny", [True, False]),
        ("permit_on_first_permit", [True]),
    ],
)
def test_evaluations_end_as_they_are_asked_to(shop, semantic, decisions):
    """The outcomes are those up to the deciding one; what cannot be asked is a `no`."""
    body = {
        "subject": {"type": "agent", "id": "Cart"},
        "action": {"name": "reveal"},
        "context": {"snapshot": PLACE},
        "evaluations": [{"resource": {"type": "secret", "id": name}} for name in ("stripe.key", "x", "stripe.key")],
    }
    body["evaluations"].append({"resource": {"type": "no-class", "id": "x"}})
    if semantic is not None:
        body["options"] = {"evaluations_semantic": semantic, "more": 1}
    found = shop.ask("/access/v1/evaluations", body).json()["evaluations"]
    assert [outcome["decision"] for outcome in found] == decisions
    backwards = {**body, "evaluations": body["evaluations"][::-1]}
    found = shop.ask("/access/v1/evaluations", backwards).json()["evaluations"]
    expected = {"deny_on_first_deny": [False], "permit_on_first_permit": [False, True]}
    assert [outcome["decision"] for outcome in found] == expected.get(semantic, decisions[::-1])


def test_evaluations_without_a_list_are_one_evaluation(shop):
    """Absent and empty lists give what the other endpoint gives; then every member must be there."""
    body = {
        "subject": {"type": "agent", "id": "Cart"},
        "action": {"name": "reveal"},
        "resource": {"type": "secret", "id": "stripe.key"},
        "context": {"snapshot": PLACE},
    }
    one = shop.ask("/access/v1/evaluation", body).json()
    assert one["decision"] is True
    for listed in ({}, {"evaluations": []}):
        assert shop.ask("/access/v1/evaluations", {**body, **listed}).json() == one
    del body["resource"]
    refused = shop.ask("/access/v1/evaluations", body)
    assert (refused.status_code, refused.json()["code"]) == (422, "MANIF091")
    refused = shop.ask("/access/v1/evaluations", {**body, "options": {"evaluations_semantic": "some"}})
    assert (refused.status_code, refused.json()["code"]) == (422, "STORE055")


@pytest.mark.parametrize(
    ("given", "answered"),
    [("r-17/a", "r-17/a"), ('a b"<c>;d', "abcd"), ("x" * 500, "x" * 128), ('""', None), (None, None)],
)
def test_the_id_of_a_request_is_sent_back(shop, given, answered):
    """A client finds its request again by the id that it gave; nothing but plain characters goes back."""
    headers = {} if given is None else {"X-Request-ID": given}
    found = shop.client.get("/healthz", headers=headers).headers["x-request-id"]
    assert found == answered if answered is not None else len(found) == 16
