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
