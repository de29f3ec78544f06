"""Questions about all calls over HTTP end in time: hostile cards are undecided, and others are answered meanwhile."""

import json
import random
import threading
import time

import pytest
from service_serving import PLACE, TARGET, served

HOLDER = "acme@example.com/shop/prod/shop:cart/Receipt"
LABELS = 48
AGENT = 'Receipt("u1")'
SECONDS = 0.2


def card(number, **lists):
    names = ("lowerPositive", "lowerNegative", "upperPositive", "upperNegative")
    return {
        "cardId": f"7d0f0f0f-0000-4000-8000-{number:012x}",
        "parentIds": [],
        "createdAt": "2026-01-01T00:00:00Z",
        "systemCard": False,
        **{name: lists.get(name, []) for name in names},
    }


def host(labels):
    return f"network() @ * : connect : {'.'.join(labels)}"


def hostile():
    """A wallet whose hosts are a satisfiability problem: two values for every label, three labels in each negative."""
    rng = random.Random(5)
    clauses = []
    for _ in range(round(4.3 * LABELS)):
        labels = ["*"] * LABELS
        for place in rng.sample(range(LABELS), 3):
            labels[place] = rng.choice("ab")
        clauses.append(host(labels))
    cards = [card(1, lowerPositive=["network() @ * : connect : *"], lowerNegative=clauses)]
    for place in range(LABELS):
        either = [host([value if n == place else "*" for n in range(LABELS)]) for value in "ab"]
        cards.append(card(2 + place, upperPositive=either))
    return json.dumps({"holder": HOLDER, "agentId": AGENT, "cards": cards}).encode()


@pytest.fixture(scope="module")
def strained(tmp_path_factory):
    """Snapshot 1 without and 2 with the hostile wallet; questions get a fifth of a second."""
    folder = tmp_path_factory.mktemp("strained")
    with served(folder, require_tokens=False, question_timeout_s=SECONDS) as running:
        running.add_manifest("", "prod")
        running.add_wallet(hostile())
        yield running


QUESTIONS = [
    ("/v1/proofs", {"snapshot": "@2", "agent": AGENT, "never": "network() : any : any", "budget": 10}),
    ("/v1/proofs", {"snapshot": "@2", "agent": AGENT, "relation": "implies", "other": "@1", "budget": 10}),
    ("/v1/differences", {"old": "@1", "new": "@2", "agent": AGENT, "budget": 10}),
    (
        "/v1/what-if",
        {"snapshot": "@2", "agent": AGENT, "revoke": ["7d0f0f0f-0000-4000-8000-000000000002"], "budget": 10},
    ),
]


@pytest.mark.parametrize(("path", "body"), QUESTIONS, ids=["never", "implies", "difference", "what-if"])
def test_a_hostile_question_is_undecided_in_time(strained, path, body):
    """What is asked for is capped by the settings; past it the answer says on what it is undecided."""
    began = time.monotonic()
    answer = strained.ask(path, body)
    assert answer.status_code == 200
    assert "the steps of the search are used up" in answer.text or "the effort of the question is spent" in answer.text
    assert time.monotonic() - began < 20  # tens of times the effort: the machine may be slow


def test_the_page_of_a_hostile_difference_ends_in_time(strained):
    """The page has no budget of its own: it gets what the settings allow."""
    answer = strained.client.get("/diff", params={"old": "@1", "new": "@2", "agent": AGENT})
    assert answer.status_code == 200
    assert "undecided" in answer.text


def test_decisions_are_made_while_hostile_questions_wait(strained):
    """More hostile questions than the service has worker threads do not keep it from deciding."""
    path, body = QUESTIONS[2]
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(strained.ask(path, body).status_code), daemon=True)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert strained.decide(TARGET, agent="Cart", snapshot=PLACE)["admitted"] in ("yes", "no", "unknown")
    for thread in threads:
        thread.join(60)
    assert set(found) <= {200, 429}
    assert 200 in found
