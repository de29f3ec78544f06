"""Retry policies and sagas over HTTP: what the command line answers, from documents, JSON and snapshots."""

import json

import pytest

from policyd.cli.main import run
from policyd.service.description import EXAMPLES

RULE = EXAMPLES["/v1/retry/limits"]["policies"][0]
MANIFEST = """\
manifestVersion: 1.6.0
app: shop
environments: {prod: {server: cloud, account: acme@example.com}}
components: {"shop:cart": {dir: cart, templates: rust}}
agents:
  Cart: {initialCard: {lowerBound: {positive: ['agent(?agent) @ ?agent : view :']}}}
retryPolicyDefaults:
  prod:
    http-transient:
      priority: 10
      predicate: {propIn: {property: status-code, values: [502, 503, 504]}}
      policy: {countBox: {maxRetries: 3, inner: {periodic: 1s}}}
    sagas:
      priority: 20
      predicate: {propEq: {property: uri-scheme, value: urn}}
      policy: {countBox: {maxRetries: 4, inner: {jitter: {factor: 0.5, inner: {periodic: 2s}}}}}
"""
SENT = {"documents": [{"name": "golem.yaml", "text": MANIFEST}], "environment": "prod"}
ADDED = {"edition", "switches", "snapshot", "notes"}
COMMANDS = (
    ("resolve", ("--site", "rpc"), {"site": "rpc"}),
    ("resolve", ("--site", "http-status-p3", "--prop", "status-code=503"),
     {"site": "http-status-p3", "properties": ["status-code=503"]}),
    ("limits", (), {}),
    ("lint", (), {}),
)  # fmt: skip


def told(capsys, *words):
    """The JSON that the command line prints, and its exit code."""
    code = run([*map(str, words), "--format", "json"])
    return json.loads(capsys.readouterr().out), code


def without(body):
    return {name: value for name, value in body.items() if name not in ADDED}


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golem.yaml").write_text(MANIFEST, encoding="utf-8")


@pytest.mark.parametrize(("verb", "flags", "question"), COMMANDS)
def test_documents_are_answered_as_on_the_command_line(shop, capsys, written, verb, flags, question):
    """Every member; edition and switches are echoed."""
    printed, _ = told(capsys, "retry", verb, "golem.yaml", "--env", "prod", *flags)
    assert shop.ask(f"/v1/retry/{verb}", {**SENT, **question, "switches": {"elapsde": "zero"}}).status_code == 422
    body = shop.ask(f"/v1/retry/{verb}", {**SENT, **question}).json()
    assert without(body) == without(printed)
    assert (body["edition"], body["switches"], body["snapshot"]) == ("next", {}, None)


def test_sagas_courses_and_compiled_schedules(shop, capsys, written, tmp_path):
    printed, code = told(capsys, "saga", "golem.yaml", "--env", "prod", "--agent", "Cart")
    body = shop.ask("/v1/retry/saga", {**SENT, "agent": "Cart"}).json()
    assert (without(body), code) == (without(printed), 0)
    assert (body["admitted"], body["bounded"], body["retriesLeft"]) == ("yes", "yes", {"min": 1, "max": 4})
    onward = shop.ask(
        "/v1/retry/saga", {**SENT, "agent": "Cart", "attempt": 5, "continuation": body["continuation"]}
    ).json()
    assert onward["admitted"] == "no"
    printed, _ = told(capsys, "retry", "simulate", "golem.yaml", "--env", "prod", "--runs", "10", "--seed", "3")
    body = shop.ask("/v1/retry/simulate", {**SENT, "runs": 10, "seed": 3, "svg": True}).json()
    assert [without(course) for course in body["courses"]] == [without(course) for course in printed]
    assert body["svg"].startswith("<svg ")
    (tmp_path / "policy.json").write_text(json.dumps(RULE["policy"]), encoding="utf-8")
    printed, _ = told(capsys, "retry", "compile", "policy.json", "--sdk", "ts")
    body = shop.ask("/v1/retry/compile", {"policy": RULE["policy"], "sdk": "ts"}).json()
    assert without(body) == without(printed)
    printed, _ = told(capsys, "retry", "sites")
    assert shop.client.get("/v1/retry/sites").json()["sites"] == printed


def test_rules_of_the_platform_and_what_changes(shop):
    """The REST form, and a deployment onto it that skips the name."""
    one, other = {"policies": [RULE]}, {"policies": [{**RULE, "priority": 11, "policy": "never"}]}
    changed = shop.ask("/v1/retry/diff", {"old": one, "new": other}).json()
    assert changed["edited"] == ["http-transient"]
    assert {word for d in changed["differences"] for word in d["changes"]} >= {"SAME_RULE_EDITED"}
    skipped = shop.ask("/v1/retry/diff", {"old": one, "new": other, "deploy": True}).json()
    assert (skipped["differences"], skipped["skipped"]) == ([], ["http-transient"])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("limits", {}),
        ("limits", {"policies": [], "snapshot": "@1"}),
        ("limits", {"policies": [{}]}),
        ("limits", {"policies": [{**RULE, "policy": {"countBox": {"maxRetries": -1, "inner": "immediate"}}}]}),
        ("limits", {"policies": [{**RULE, "policy": {"periodic": "-1s"}}]}),
        ("limits", {"policies": [{**RULE, "policy": {"periodic": "99999999999999999999s"}}]}),
        ("limits", {"policies": [{**RULE, "priority": 1 << 70}]}),
        ("limits", {"documents": [{"name": "golem.yaml", "text": "a: &a [*a]"}]}),
        ("limits", {"documents": [{"name": "x.json", "text": "[" * 100_000}]}),
        ("resolve", {"policies": [RULE], "site": "nowhere"}),
        ("resolve", {"policies": [RULE], "site": "rpc", "properties": ["status-code=\u202e"]}),
        ("simulate", {"policies": [RULE], "names": ["other"]}),
        ("simulate", {"policies": [RULE], "execution": "NaN"}),
        ("saga", {"policies": [RULE], "agent": "Cart"}),
        ("compile", {"policy": "{a: &a [*a]}"}),
        ("compile", {"policy": "never", "sdk": "cobol"}),
        ("compile", {"policy": {"add": {"first": "never"}}}),
    ],
)
def test_what_cannot_be_asked_is_a_problem_with_a_code(shop, path, body):
    answer = shop.ask(f"/v1/retry/{path}", body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"]


def test_deep_trees_are_refused(shop):
    """A tree of 20,000 levels, as JSON text and as a document."""
    text = '{"countBox":{"maxRetries":1,"inner":' * 20_000 + '"never"' + "}}" * 20_000
    answer = shop.client.post("/v1/retry/compile", content='{"policy":' + text + "}")
    assert answer.status_code in (413, 422)
    sent = shop.ask("/v1/retry/compile", {"policy": text})
    assert sent.status_code in (413, 422)


def test_a_difference_names_both_snapshots(shop):
    """Revision and digest of each side; null for what was sent; what a deployment onto a snapshot changes."""
    changed = MANIFEST.replace("app: shop", "app: retries").replace("maxRetries: 3", "maxRetries: 7")
    places = [
        shop.add_manifest("retry@example.com", "prod", text)
        for text in (MANIFEST.replace("app: shop", "app: retries"), changed)
    ]
    one, other = ({"snapshot": f"@{place.number}"} for place in places)
    body = shop.ask("/v1/retry/diff", {"old": one, "new": other}).json()
    for side, place in zip(("old", "new"), places, strict=True):
        assert body[side] == {
            "snapshot": f"@{place.number}",
            "environment": "retry@example.com/retries/prod",
            "revision": place.revision,
            "digest": place.digest,
        }
    assert (body["edited"], body["undecided"]) == (["http-transient"], [])
    assert {word for d in body["differences"] for word in d["changes"]} >= {"SAME_RULE_EDITED", "LOOSER"}
    sent = {"documents": [{"name": "golem.yaml", "text": changed}], "environment": "prod"}
    deployed = shop.ask("/v1/retry/diff", {"old": one, "new": sent, "deploy": True}).json()
    assert (deployed["old"]["snapshot"], deployed["new"]) == (one["snapshot"], None)
    assert (deployed["differences"], deployed["skipped"]) == ([], ["http-transient", "sagas"])
    wrong = shop.ask("/v1/retry/diff", {"old": {**one, "digest": "0" * 64}, "new": other})
    assert wrong.status_code == 412


MANY = [{**RULE, "name": f"r{number}"} for number in range(61)]


@pytest.mark.parametrize("path", ["resolve", "simulate", "limits", "lint", "diff", "saga"])
@pytest.mark.parametrize("form", ["policies", "documents", "snapshot"])
def test_more_rules_than_a_question_may_have_are_refused(shop, path, form):
    """Wherever they come from; the place is told where a document has one."""
    kept = ("priority", "predicate", "policy")
    listed = {rule["name"]: {name: rule[name] for name in kept} for rule in MANY}
    text = json.dumps({**MANY_IN, "retryPolicyDefaults": {"prod": listed}})
    if form == "snapshot":
        place = {"snapshot": f"@{shop.add_manifest('many@example.com', 'prod', text).number}"}
    else:
        place = {"documents": [{"name": "golem.yaml", "text": text}]} if form == "documents" else {"policies": MANY}
    body = {"old": place, "new": place} if path == "diff" else {**place, "site": "saga", "agent": "Cart"}
    wanted = {"resolve": {"site"}, "saga": {"agent"}}.get(path, set())
    sent = body if path == "diff" else {k: v for k, v in body.items() if k in wanted or k in place}
    answer = shop.ask(f"/v1/retry/{path}", sent)
    assert answer.status_code == 422
    assert answer.json()["code"]


MANY_IN = {
    "manifestVersion": "1.6.0",
    "app": "many",
    "environments": {"prod": {"server": "cloud", "account": "many@example.com"}},
    "components": {"s:c": {"dir": "c"}},
    "agents": {"Cart": {}},
}
