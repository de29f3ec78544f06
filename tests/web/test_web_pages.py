"""Every page: readable without scripts, strict headers, nothing unescaped, usable by keyboard and screen reader."""

import re
from itertools import pairwise

import pytest
from service_serving import PARENT, PLACE, TARGET
from web_outline import Outline
from web_paths import CHECK, PAGES

from policyd.cli.main import run
from policyd.service.rendering import SECURITY_HEADERS, WEB

PICTURE = {"svg", "title", "defs", "marker", "path", "rect", "line", "circle", "text", "g"}
"""What our own pictures are made of: nothing that runs or loads anything."""


@pytest.fixture(params=PAGES)
def outline(web, request):
    answer = web.client.get(request.param)
    assert answer.status_code in (200, 404, 422)
    return Outline(answer.text)


def test_headers_forbid_scripts_frames_and_foreign_parts(web):
    for path in PAGES:
        answer = web.client.get(path)
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        for name, value in SECURITY_HEADERS.items():
            assert answer.headers[name] == value, path
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy


def test_nothing_of_a_page_can_run(outline):
    """No scripts, no handlers, no styles, no links but ours: hostile names are text."""
    assert not {"script", "svg", "img", "iframe", "object", "style", "base"} & set(outline.tags)
    assert set(outline.picture_tags) <= PICTURE
    for name, value in outline.attributes:
        assert not name.startswith("on"), name
        assert name != "style"
        if name in ("href", "action", "src"):
            assert value.startswith(("/", "#")), value
            assert not value.startswith("//"), value


def test_a_page_has_its_landmarks_and_headings(outline):
    """One `main`, labelled navigation, a title, a language, and headings without gaps."""
    assert outline.problems == []
    assert outline.lang == "en"
    assert outline.title.endswith("· policyd")
    assert [tag for tag, _ in outline.landmarks if tag == "main"] == ["main"]
    assert all(label for tag, label in outline.landmarks if tag == "nav")
    levels = [level for level, _ in outline.headings]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(text for _, text in outline.headings)


def test_a_page_names_everything_that_can_be_used(outline):
    """Inputs have labels, links and buttons words, header cells a scope; ids are unique and referred to rightly."""
    assert all(name and name in outline.labels for name in outline.inputs)
    assert all(outline.links)
    assert all(outline.buttons)
    assert all(scope in ("col", "row") for scope in outline.header_cells)
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.labelled_by) <= set(outline.ids)
    assert outline.links[0] == "Skip to the content"


@pytest.mark.parametrize(
    ("agent", "target"),
    [
        ("Cart", TARGET),
        ("Cart", "secret(?env) : mint : stripe.key"),
        ("Cart", "kv(?env) : delete : orders.1"),
        ("Cart", "kv(?env) : * : orders.*"),
        ('Receipt("u1")', "secret(?env) : reveal : mail.password"),
        ("Report", "network() : connect : *"),
        ("Unheard", TARGET),
    ],
)
def test_the_check_page_says_what_the_command_line_says(web, monkeypatch, capsys, agent, target):
    """Every sentence, code and place of `policyd check` stands on the page, in the same order."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", web.url)
    run(["check", PLACE, target, "--agent", agent])
    told = capsys.readouterr().out
    answer = web.client.get("/check", params={"snapshot": PLACE, "agent": agent, "target": target})
    text = Outline(answer.text).text
    plain = re.sub(r"\s+", " ", text.replace("`", ""))
    at = plain.index("Answer")
    for line in told.splitlines()[1:]:
        words = re.sub(r"^\s*(-->|note:)?\s*", "", line.replace("`", ""))
        for part in re.split(r" \[(?=[A-Z]+\d+\])|\]$|  +", words):
            if not part or part == "edition: next":
                continue
            found = plain.find(part.strip().removesuffix(":"), at)
            assert found >= 0, (line, part)
            if line.startswith(("  granted", "  withheld", "  not granted", "floor", "ceilings", "bounded")):
                at = found
    verdict = re.search(r'class="verdict">(.*?)</p>', answer.text, re.DOTALL)
    facets = re.findall(r'class="facet (\w+)"><span class="word">([a-z-]+)<', verdict.group(1))
    first = told.splitlines()[0]
    assert all(f"{name}: {value}" in first for value, name in facets)
    assert len(facets) == 3


def test_the_permanent_link_keeps_its_answer(web):
    """It names the snapshot by its number, so a later import does not change what it shows."""
    first = web.client.get(CHECK)
    permalink = re.search(r'<a href="([^"]+)">Permanent link', first.text).group(1).replace("&amp;", "&")
    assert "snapshot=%403" in permalink
    shown = web.client.get(permalink)
    answer = first.text[first.text.index('class="answer"') : first.text.index("</section>")]
    assert answer in shown.text


def test_the_front_page_counts_the_findings(web):
    text = Outline(web.client.get("/").text).text
    assert "acme@example.com/shop/prod" in text
    assert "acme@example.com/shop/local" in text
    row = re.search(r"acme@example.com/shop/prod</th>.*?</tr>", web.client.get("/").text, re.DOTALL).group(0)
    cells = re.findall(r"<td[^>]*>(?:<a[^>]*>)?([^<]*)", row)
    listed = web.client.get("/v1/snapshots/3/findings").json()["findings"]
    counts = [str(sum(f["severity"] == word for f in listed)) for word in ("error", "warning", "info")]
    assert cells[4:7] == counts
    assert listed


def test_a_card_page_says_what_would_be_lost(web):
    """Parents, children, holders, and the floors and ceilings that vanish."""
    page = Outline(web.client.get(f"/snapshots/3/cards/{PARENT}").text)
    text = re.sub(r"\s+", " ", page.text)
    titles = [title for _, title in page.headings]
    for title in ("Parents", "Children", "Holders", "If it were revoked", "Floors that vanish", "Ceilings that vanish"):
        assert title in titles
    assert "7d0f0f0f-0000-4000-8000-000000000001, not stored here" in text
    assert "2 cards go" in text
    assert 'acme@example.com/shop/prod/shop:cart/Receipt Receipt("u1")' in text


def _luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_have_enough_contrast_in_both_schemes():
    """Text on paper and on panels at least 4.5 to 1, lines of controls and focus at least 3 to 1 (WCAG 2.2 AA)."""
    css = (WEB / "static" / "policyd.css").read_text(encoding="utf-8")
    schemes = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", scheme))

        def contrast(one, other, colours=colours):
            light, dark = sorted((_luminance(colours[one]), _luminance(colours[other])), reverse=True)
            return (light + 0.05) / (dark + 0.05)

        for paper in ("paper", "panel"):
            for ink in ("ink", "quiet", "link", "yes", "no", "unknown"):
                assert contrast(ink, paper) >= 4.5, (ink, paper)
            for line in ("quiet", "focus"):
                assert contrast(line, paper) >= 3, (line, paper)
    assert set(re.findall(r"#[0-9a-fA-F]{3,8}\b", re.sub(r":root \{.*?\}", "", css, flags=re.DOTALL))) == set()


def test_static_files_are_only_ours(web):
    assert web.client.get("/static/policyd.css").headers["content-type"] == "text/css; charset=utf-8"
    for name in ("nothing.css", "..%2f..%2fsettings.py", ".", "%2e%2e"):
        assert web.client.get(f"/static/{name}").status_code == 404
