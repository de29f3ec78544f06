"""Chains over HTTP and on their page: the same answers as the command line gives."""

import json

from service_serving import PLACE, TARGET

from policyd.cli.main import run


def test_the_same_chains_as_the_command_line(shop, capsys, monkeypatch):
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    for flags, body in (
        (["--to", TARGET], {"to": TARGET}),
        (["--to", TARGET, "--from", "Receipt"], {"to": TARGET, "from": "Receipt"}),
        (["--to", TARGET, "--assume", "no-data"], {"to": TARGET, "assume": ["no-data"]}),
        (
            ["--to", "secret(?env) : reveal : any", "--never-together", "network() : connect : any"],
            {"to": "secret(?env) : reveal : any", "neverTogether": "network() : connect : any"},
        ),
        (["--blast-radius", "Cart"], {"blastRadius": "Cart"}),
    ):
        answered = shop.ask("/v1/reach", {"snapshot": PLACE, **body})
        assert answered.status_code == 200
        told = answered.json()
        run(["reach", PLACE, *flags, "--format", "json"])
        expected = json.loads(capsys.readouterr().out)
        assert {name: told[name] for name in expected} == expected, flags
        assert told["snapshot"].startswith("@")


def test_what_cannot_be_asked(shop):
    for body in ({}, {"to": TARGET, "blastRadius": "Cart"}, {"to": "nonsense"}, {"to": TARGET, "from": "Nobody"}):
        answer = shop.ask("/v1/reach", {"snapshot": PLACE, **body})
        assert answer.status_code == 422, body
        assert answer.headers["content-type"] == "application/problem+json"
    assert shop.ask("/v1/reach", {"snapshot": PLACE, "to": TARGET, "assume": ["no-such"]}).status_code == 422


def test_the_page_shows_chains_and_a_picture(shop):
    html = shop.client.get("/reach", params={"snapshot": PLACE, "to": TARGET}).text
    assert "<svg" in html
    assert "<style>" not in html, "styles come from the sheet only"
    assert "hands over what it knows" in html
    assert "Assumed" in html
    blast = shop.client.get("/reach", params={"snapshot": PLACE, "start": "Cart"}).text
    assert "comes by what" in blast
    assert shop.client.get("/reach", params={"snapshot": PLACE, "to": "x"}).status_code == 422


MANIFEST = """\
manifestVersion: 1.6.0
app: shop
environments: {prod: {server: cloud, account: o@example.com}}
components: {"shop:front": {dir: f, templates: rust}}
agents: {Front: {}, Pay: {}}
"""
GUEST = {
    "holder": "guest@example.com",
    "cards": [
        {
            "cardId": "7d0f0f0f-0000-4000-8000-000000000001",
            "parentIds": [],
            "lowerPositive": ["agent(o@example.com/shop/prod/shop:front/Front(*)) @ guest@example.com : invoke : *"],
            "lowerNegative": [],
            "upperPositive": [],
            "upperNegative": [],
            "createdAt": "2026-01-01T00:00:00Z",
            "systemCard": False,
        }
    ],
}


def test_an_external_caller_through_another_agent(tmp_path, monkeypatch, capsys):
    """Denied directly, reachable through an agent whose own card decides that hop; the condition is named."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path}/p.db")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golem.yaml").write_text(MANIFEST)
    (tmp_path / "guest.json").write_text(json.dumps(GUEST))
    where = ("--account", "o@example.com", "--application", "shop", "--env", "prod")
    assert run(["db", "upgrade"]) == 0
    assert run(["import", "golem.yaml", "--env", "prod"]) == 0
    assert run(["import", "guest.json", *where]) == 0
    target = 'agent(o@example.com/shop/prod/shop:front/Pay("1")) : invoke : refund'
    assert run(["check", "@2", "--holder", "guest@example.com", target]) == 1
    capsys.readouterr()
    assert run(["reach", "@2", "--to", target, "--from", "guest@example.com"]) == 1
    out = capsys.readouterr().out
    assert "1. guest@example.com invokes Front" in out
    assert "by the name of the type" in out
    assert "then Front: agent(?env/shop:front/Pay" in out or "then Front: agent(?component/Pay" in out
    assert run(["reach", "@2", "--to", target, "--from", "guest@example.com", "--assume", "trusted=Front"]) == 0
