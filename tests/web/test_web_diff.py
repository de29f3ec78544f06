"""The page of a difference says what the command line says, and its link keeps its answer."""

import re

from web_outline import Outline

from policyd.cli.main import run


def test_the_diff_page_says_what_the_command_line_says(web, monkeypatch, capsys):
    """Every witness, cause and note."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", web.url)
    run(["diff", "@1", "@3"])
    told = capsys.readouterr().out
    text = re.sub(r"\s+", " ", Outline(web.client.get("/diff", params={"old": "@1", "new": "@3"}).text).text)
    calls = re.findall(r"(?:e\.g\.|;) ([a-z.]+\([^;]*?) \(", told)
    assert calls
    for call in calls:
        assert call in text
    assert "Cards of" not in text or 'Receipt("u1")' in text
    assert "Everything else is the same, proved over all 38 classes" in text


def test_a_difference_of_nothing(web):
    text = Outline(web.client.get("/diff", params={"old": "@3", "new": "@3"}).text).text
    assert "Nothing changes." in text


def test_the_permanent_link_names_numbers(web):
    """A later import does not change what it shows."""
    first = web.client.get("/diff", params={"old": "@1", "new": "@acme@example.com/shop/prod"})
    permalink = re.search(r'<a href="([^"]+)">Permanent link', first.text).group(1).replace("&amp;", "&")
    assert "old=%401" in permalink
    assert "new=%403" in permalink
    assert (
        first.text[first.text.index('class="answer"') :]
        == (again := web.client.get(permalink).text)[again.index('class="answer"') :]
    )


def test_snapshots_lead_to_their_differences(web):
    """From the list of environments, and from a snapshot that is not the latest."""
    assert 'href="/diff?new=%403"' in web.client.get("/").text
    page = web.client.get("/snapshots/1").text
    link = re.search(r'href="(/diff[^"]+)">Compare with the latest', page).group(1).replace("&amp;", "&")
    assert web.client.get(link).status_code == 200


def test_both_cards_stand_side_by_side(web):
    """What is only on one side is marked."""
    page = web.client.get("/diff", params={"old": "@1", "new": "@3"}).text
    assert '<th scope="col">Old</th><th scope="col">New</th>' in page
    assert "<strong>new</strong>" in page
