"""What a line of a manifest may show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.manifest import load_text, mask_line

SECRET = "hunter2"


def shown(text: str) -> list[str]:
    (document,) = load_text(text).documents
    return [mask_line(document, number) for number in range(1, len(document.source.line_starts) + 1)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("env:\n  A: hunter2\nb: c\n", ["env:", "  A: ***", "b: c", ""]),
        ("env: {A: hunter2, B: 'hunter2'} \n", ["env: {A: ***, B: ***} ", ""]),
        ("env:\n  A: |\n    hunter2\n    x\n  B: y\n", ["env:", "  A: ***", "    ***", "    ***", "  B: ***", ""]),
        ("env:\n  A: x # was hunter2\n  # hunter2\nb: c # d\n", ["env:", "  A: *** ***", "  ***", "b: c # d", ""]),
        ("secretDefaults:\n  prod:\n    db: [hunter2]\n", ["secretDefaults:", "  prod:", "    db: [***]", ""]),
        ("auth: {staticToken: hunter2}\n", ["auth: {staticToken: ***}", ""]),
        ("a: &x hunter2\nenv: {A: *x}\n", ["a: ***", "env: {A: *x}", ""]),
        ("tools: {s: {parameters: {k: hunter2}}}\n", ["tools: {s: {parameters: {k: ***}}}", ""]),
        ("mcp: {imports: {prod: [{headers: {X: hunter2}}]}}\n", ["mcp: {imports: {prod: [{headers: {X: ***}}]}}", ""]),
        ("a: {Proxy-Authorization: hunter2}\n", ["a: {Proxy-Authorization: ***}", ""]),
        ("positive:\n- 'env(?agent) @ ?agent : read : A'\n", ["positive:", "- 'env(?agent) @ ?agent : read : A'", ""]),
    ],
)
def test_values_are_masked(text: str, expected: list[str]) -> None:
    """Values under sensitive keys are hidden with the comments beside them, everything else is shown."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("url: 'https://u:hunter2@h/x'\n", ["url: 'https://***@h/x'", ""]),
        ("url: https://h/x?key=hunter2\n", ["url: https://h/x?***", ""]),
        ("url: https://h/x#hunter2\n", ["url: https://h/x#***", ""]),
        ("url: {a: https://h?hunter2, b: c}\n", ["url: {a: https://h?***, b: c}", ""]),
        ("workerUrl: me:hunter2@h:80\n", ["workerUrl: ***@h:80", ""]),
        ("url: https://u:hunter2 @x hunter2@h\n", ["url: https://***@h", ""]),
        ("any: jdbc:postgresql://u:hunter2@h/d\n", ["any: jdbc:postgresql://***@h/d", ""]),
        ("run: curl https://u:hunter2@h/a -x\n", ["run: curl https://***@h/a -x", ""]),
        ("a: b # https://u:hunter2@h x\n", ["a: b # https://***@h x", ""]),
        ("https://u:hunter2@h: b\n", ["https://***@h: b", ""]),
        ('a: "https:\\/\\/u:hunter2@h"\n', ["a: ***", ""]),
        ('a: "https://u:hunt\\\n  er2@h"\n', ["a: ***", "  ***", ""]),
        ("a: |\n  x https://u:hunter2@h y\n", ["a: ***", "  ***", ""]),
        ("url: https://h/x\nb: me@h?\n", ["url: https://h/x", "b: me@h?", ""]),
        ('- "kv(?env) @ ?agent : read : a"\n', ['- "kv(?env) @ ?agent : read : a"', ""]),
    ],
)
def test_secrets_of_urls_are_masked(text: str, expected: list[str]) -> None:
    """User information, query and fragment of any URL are hidden; host and path are shown."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "env:\n  A: hunter2\n bad: [\n",
        "server:\n  url: https://u:hunter2@h\nb: [\n",
        "server: {url: 'https://h?hunter2'}\nb: [\n",
        "a: see https://h/?hunter2\nb: [\n",
        "# https://u:hunter2@h\nb: [\n",
        "a: 'https://u:\n  hunter2@h'\nb: [\n",
        "url: >\n  u:hunter2@h\nb: [\n",
        "headers:\n  X: hunter2\nb: [\n",
        "a:\n- headers:\n    X: hunter2\n  b: [\n",
        "imports: [{headers: {Authorization: hunter2}}\n",
        "a: [\nenv: {A: hunter2}\n",
        "env: {\nA: hunter2,\nB: hunter2\n",
        "env:\n  A: |\n   hunter2\n hunter2: [\n",
        "env:\n- {A: hunter2}\n- [hunter2\n",
        "'env':\n\tA: hunter2\nhunter2: [",
        '"\\x65nv":\n  A: hunter2\nb: [',
        "? env\n: A: hunter2\n  B: [hunter2",
        "b: [\nsecretDefaults: # x\n\n  # hunter2\n  prod: hunter2\n",
        "app: x\nstatic_token: hunter2\nb: [\n",
        'env: "\nhunter2\nhunter2: b\n',
        "x: {env: {A: hunter2\n",
        "env:\n  A: hunter2\n\x07",
        "a: *x\nenv:\n  A: hunter2\n",
        "env: {A: {{ hunter2 }}}\n",
        "a: b\n---\nenv: {A: hunter2}\n",
    ],
)
def test_malformed_documents_are_masked(text: str) -> None:
    """A document that is no YAML hides what stands behind and below sensitive keys, and in doubt the rest."""
    assert load_text(text).refused
    assert SECRET not in "\n".join(shown(text))


def test_malformed_documents_still_show_what_is_harmless() -> None:
    """Lines outside sensitive keys stay readable, so that the error can be seen."""
    assert shown("app: shop\nagents:\n  Cart: [\n")[:3] == ["app: shop", "agents:", "  Cart: ["]


@given(
    st.lists(
        st.sampled_from(
            [
                "env:",
                " A: hunter2",
                "  - hunter2",
                "{",
                "}",
                "[",
                "'",
                '"',
                "|",
                "config: {a: hunter2}",
                "b:",
                "\t",
                "#",
            ]
        ),
        max_size=8,
    )
)
def test_secrets_stay_hidden_below_their_key(lines: list[str]) -> None:
    """Whatever stands between, a value below `env:` at the end is never shown."""
    text = "\n".join([*lines, "env:", "  A: hunter3", ""])
    assert "hunter3" not in "\n".join(shown(text))


def test_findings_carry_no_values() -> None:
    """Messages name keys and types, never values under sensitive keys."""
    loaded = load_text(
        """\
manifestVersion: 1.6.0
environments:
  a: {server: {url: x, auth: {staticToken: 4242}}}
secretDefaults: {a: {b: !4242 x, c: !!int "x4242", d: 424242424242424242424242, e: !x4242 4242}}
components: {"a:b": {env: {A: !4242 x, B: [4242]}}}
"""
    )
    assert loaded.refused
    assert not [f for f in loaded.findings if "4242" in f.message + f.help]
    assert "4242" not in "".join(mask_line(loaded.documents[0], n) for n in range(1, 6))
    assert "4242" not in repr(loaded.application)
