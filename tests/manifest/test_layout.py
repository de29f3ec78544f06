"""fmt: canonical text and order; the same grants, the same comments, and nothing else of the document moves."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import FEW, grants

from policyd.cli.main import run
from policyd.core.edition import NEXT
from policyd.manifest import load_text
from policyd.manifest.ignores import ignore_comments
from policyd.manifest.layout import canonical_layout
from policyd.syntax import Form, parse_grant

HEAD = "manifestVersion: 1.6.0\napp: shop\nagents:\n  Cart:\n    initialCard:\n      lowerBound:\n        positive:\n"


def layout(text):
    return canonical_layout(load_text(text).documents[0], NEXT)


def written(text):
    """The grants of the one list in order, and all comments in order."""
    agent = load_text(text).documents[0].root.get("agents").get("Cart")
    items = agent.get("initialCard").get("lowerBound").get("positive").items
    comments = Counter(line.partition("#")[2] for line in text.splitlines() if "#" in line)
    return [parse_grant(item.text, Form.MANIFEST).text for item in items], comments


@st.composite
def lists(draw):
    """A block list of grants with comments, empty lines, both kinds of quotes and odd spacing."""
    lines = []
    for number, grant in enumerate(draw(st.lists(grants(Form.MANIFEST, names=FEW), min_size=1, max_size=7))):
        text = grant.text.rstrip()
        if draw(st.booleans()):
            text = text.replace(" : ", "  :   ")
        before = draw(st.sampled_from(("", "", f"          # head {number}\n", "\n")))
        quote = draw(st.sampled_from("'\""))
        text = text.replace("'", "''") if quote == "'" else text.replace("\\", "\\\\").replace('"', '\\"')
        behind = draw(st.sampled_from(("", f"  # tail {number}")))
        lines.append(f"{before}          - {quote}{text}{quote}{behind}\n")
    return HEAD + "".join(lines) + "# end\n"


@settings(max_examples=80, deadline=None)
@given(lists())
def test_the_same_grants_and_comments_in_canonical_order(text):
    done = layout(text)
    before, after = written(text), written(done.text)
    assert sorted(before[0]) == sorted(after[0])
    assert before[1] == after[1]
    again = layout(done.text)
    assert (again.text, again.moved) == (done.text, ())
    for line in done.text.splitlines():
        assert "  : " not in line


def test_groups_stay_below_their_comments():
    text = HEAD + (
        "          # files\n"
        '          - "kv(?env) @ ?agent :  read : b.k"   # why b\n'
        "          - 'kv(?env) @ ?agent : read : a.k'\n"
        "          # network\n"
        '          - "network() @ ?agent : connect : z.example.com"\n'
        '          - "env(?agent) @ ?agent : read : A"\n'
        '          - "no grant"\n'
        '          - "env(?agent) @ ?agent : read : 0"\n'
    )
    done = layout(text)
    assert done.text == HEAD + (
        "          # files\n"
        "          - 'kv(?env) @ ?agent : read : a.k'\n"
        '          - "kv(?env) @ ?agent : read : b.k"   # why b\n'
        "          # network\n"
        '          - "env(?agent) @ ?agent : read : A"\n'
        '          - "network() @ ?agent : connect : z.example.com"\n'
        '          - "no grant"\n'
        '          - "env(?agent) @ ?agent : read : 0"\n'
    )
    assert len(done.unread) == 2


LOOSE = "kv(?env) @ ?agent :  read : b.k"
FORMS = {
    "flow": (
        f"agents: {{Cart: {{initialCard: {{lowerBound: {{positive: ['{LOOSE}',"
        ' "kv(?env) @ ?agent : read : a.k"]}}}}\n'
    ),
    "crlf": (
        "agents:\r\n  Cart:\r\n    initialCard:\r\n      upperBound:\r\n        negative:\r\n"
        f"        - '{LOOSE}'\r\n        - 'env(?agent) @ ?agent : read : A'\r\n"
    ),
    "anchors and folds": (
        "agents:\n  Cart:\n    presets:\n      x:\n        initialCard:\n          lowerBound:\n            positive:\n"
        f"            - &a '{LOOSE}'\n            - *a\n            - >-\n              {LOOSE}\n"
    ),
    "a value that looks like a card": (
        f"components:\n  a:b:\n    config: {{initialCard: {{lowerBound: {{positive: ['{LOOSE}']}}}}}}\n"
    ),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_other_forms_of_lists(text):
    """Flow lists are rewritten in place, line ends are kept, anchors, folded texts and values are left alone."""
    done = layout("manifestVersion: 1.6.0\n" + text)
    assert done.text.count("\r\n") == text.count("\r\n")
    assert layout(done.text).text == done.text
    if "config" in text or "&a" in text:
        assert done.text == "manifestVersion: 1.6.0\n" + text
    else:
        assert "kv(?env) @ ?agent : read : b.k" in done.text


def test_the_command_checks_and_writes(tmp_path, capsys):
    file = tmp_path / "golem.yaml"
    secret = "    env: {TOKEN: unseen}\n"
    before = HEAD.replace("    initialCard", f"{secret}    initialCard") + (
        '          - "kv(?env) @ ?agent : read : b.k"\n          - "kv(?env) @ ?agent : read : a.k"\n'
    )
    file.write_text(before)
    file.chmod(0o640)
    assert run(["fmt", "--check", str(file)]) == 1
    told = capsys.readouterr().out
    assert "+          - " in told
    assert "unseen" not in told
    assert file.read_text() == before
    assert run(["fmt", str(file)]) == 0
    assert file.stat().st_mode & 0o777 == 0o640
    assert secret in file.read_text()
    assert list(tmp_path.iterdir()) == [file]
    assert run(["fmt", "--check", str(file)]) == 0
    for bad in ("a: [", "\x00", "- x"):
        (tmp_path / "bad.yaml").write_text(bad)
        assert run(["fmt", str(tmp_path / "bad.yaml")]) == 2
        assert (tmp_path / "bad.yaml").read_text() == bad
    assert run(["fmt", str(tmp_path / "none.yaml")]) == 2


IGNORE = "# policyd: ignore CARD021 until=2030-01-01 reason=agreed\n"


def meant(text):
    """What each suppression of a document is about: the canonical text on the line that it means."""
    document = load_text(text).documents[0]
    items = document.root.get("agents").get("Cart").get("initialCard").get("lowerBound").get("positive").items
    lines = {
        document.source.span(item.start, item.end).line: parse_grant(item.text, Form.MANIFEST).text for item in items
    }
    return sorted(lines.get(found.line, "") for found in ignore_comments([document]))


@st.composite
def suppressed(draw):
    """A list in which comments above and behind grants suppress findings of theirs."""
    lines = []
    for line in draw(lists()).removeprefix(HEAD).splitlines(keepends=True):
        is_grant = line.strip().startswith("- ")
        above = draw(st.sampled_from(("", "", "          " + IGNORE, "          " + IGNORE + "\n          # more\n")))
        behind = draw(st.booleans()) and is_grant and "#" not in line
        lines.append((above if is_grant else "") + (f"{line.rstrip()}  {IGNORE}" if behind else line))
    return HEAD + "".join(lines)


@settings(max_examples=80, deadline=None)
@given(suppressed(), st.sampled_from(("\n", "\r\n")))
def test_suppressions_mean_the_same_grants_as_before(text, ending):
    text = text.replace("\n", ending)
    done = layout(text)
    assert meant(done.text) == meant(text)
    assert layout(done.text).text == done.text
    assert done.text.count("\r") == text.count("\r")


def test_a_suppression_above_the_first_grant_of_a_group():
    text = HEAD + (
        f"          {IGNORE}"
        '          - "secret(?env) @ ?agent : * : *"\n'
        '          - "kv(?env) @ ?agent : read : b.k"\n'
        '          - "agent(?agent) @ ?agent : view :"\n'
    )
    assert layout(text).text == HEAD + (
        f"          {IGNORE}"
        '          - "secret(?env) @ ?agent : * : *"\n'
        '          - "agent(?agent) @ ?agent : view :"\n'
        '          - "kv(?env) @ ?agent : read : b.k"\n'
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_bytes_around_the_grants_stay(tmp_path, mark, ending):
    """Byte order mark, line ends, anchors, blocks, escapes and everything else of the document."""
    body = HEAD + (
        '          - &one "env(?agent) @ ?agent :  read : A"  # kept\n'
        "          - *one\n"
        "          - >-\n            kv(?env) @ ?agent :\n            read : b.k\n"
        '          - "kv(?env) @ ?agent :  read : b.\\x6b"\n'
        "x: [1,   2] # kept\n"
    )
    file = tmp_path / "golem.yaml"
    file.write_bytes((mark + body.replace("\n", ending)).encode())
    assert run(["fmt", str(file)]) == 0
    expected = body.replace("b.\\x6b", "b.k").replace('"kv(?env) @ ?agent :  ', '"kv(?env) @ ?agent : ')
    assert file.read_bytes() == (mark + expected.replace("\n", ending)).encode()
    assert run(["fmt", "--check", str(file)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["golem.yaml"]
