"""Bounds: length, depth, count, time, and how many at once."""

import threading
import time

import httpx
import pytest
from service_serving import PLACE, TARGET, imported_shop, served

LIMITS = {
    "require_tokens": False,
    "max_body_bytes": 2048,
    "max_import_bytes": 4096,
    "max_json_depth": 8,
    "max_requests": 2,
    "request_timeout_s": 2,
}


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    with served(tmp_path_factory.mktemp("narrow"), **LIMITS) as running:
        imported_shop(running)
        yield running


def _code(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


def test_a_long_request_is_refused_announced_or_not(narrow):
    body = {"snapshot": PLACE, "agent": "Cart", "target": "x" * 3000}
    assert _code(narrow.ask("/v1/decisions", body)) == (413, "STORE052")
    parts = (b"x" * 1000 for _ in range(5))
    assert _code(narrow.client.post("/v1/decisions", content=parts)) == (413, "STORE052")
    parts = (b" " * 1000 for _ in range(9))
    assert _code(narrow.client.post("/v1/imports/platform", content=parts)) == (413, "STORE052")


def test_deep_nesting_is_refused(narrow):
    body = {"snapshot": PLACE, "agent": "Cart", "target": TARGET, "scope": {"a": [[[[[[[[1]]]]]]]]}}
    assert _code(narrow.ask("/v1/decisions", body)) == (422, "STORE055")
    brackets = b'{"target": "' + b"[" * 100 + b'"}'
    answer = narrow.client.post("/v1/decisions", content=brackets)
    assert "nested" not in answer.json()["detail"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"target": 1}', b"\xff", b'{"a":1,"a":2}'])
def test_what_is_no_question_is_told_with_its_place(narrow, content):
    answer = narrow.client.post("/v1/decisions", content=content, headers={"Content-Type": "application/json"})
    assert _code(answer) == (422, "STORE055")
    assert answer.json()["findings"]


def test_values_of_a_wrong_request_are_not_repeated(narrow):
    answer = narrow.ask("/v1/decisions", {"snapshot": PLACE, "agent": {"password": "hunter2"}, "target": TARGET})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text
    assert answer.json()["findings"][0]["place"]["path"] == "$.agent"


def _slow_body(seconds):
    yield b"{"
    time.sleep(seconds)
    yield b"}"


def test_a_slow_request_is_given_up(narrow):
    began = time.monotonic()
    answer = narrow.client.post("/v1/decisions", content=_slow_body(2.6), timeout=10)
    assert _code(answer) == (503, "STORE054")
    assert time.monotonic() - began < 6


def test_too_many_requests_at_a_time_are_told_to_come_later(narrow):
    def wait():
        with httpx.Client(base_url=narrow.base, timeout=10) as client:
            client.post("/v1/decisions", content=_slow_body(1.0))

    waiting = [threading.Thread(target=wait) for _ in range(2)]
    for thread in waiting:
        thread.start()
    time.sleep(0.4)
    answer = narrow.client.get("/v1/snapshots")
    for thread in waiting:
        thread.join()
    assert _code(answer) == (429, "STORE053")
    assert answer.headers["retry-after"] == "1"
    assert narrow.client.get("/v1/snapshots").status_code == 200


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/nothing", 404), ("/v1/decisions", 405), ("/v1/snapshots/0", 422), ("/v1/rules/X", 404)]
)
def test_places_that_are_not_there_are_problems_too(narrow, path, status):
    answer = narrow.client.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_browser_gets_a_page_for_an_address_that_is_not_there(narrow):
    """A page outside of the interface for programs, a problem document inside of it."""
    html = {"accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
    answer = narrow.client.get("/nothing/<b>", headers=html)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "content-security-policy" in answer.headers
    assert "there is no such page" in answer.text
    assert "<b>" not in answer.text
    assert narrow.client.get("/v1/nothing", headers=html).headers["content-type"] == "application/problem+json"
    assert narrow.client.get("/nothing").headers["content-type"] == "application/problem+json"
