"""Laws of the loader: it never raises, and its places lie in the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from test_cases import CASES

from policyd.core.edition import NEXT, SNAPSHOT, Rules
from policyd.manifest import CODES, LoadedManifest, load_text, mask_line, resolve_environment
from policyd.manifest.check import MAX_FINDINGS

PIECES = (
    *(
        "manifestVersion: 1.6.0\n",
        "app: x\n",
        "environments:\n",
        "  prod: ",
        "agents:\n",
        "  Cart:\n",
        "{",
        "}",
        "[",
        "]",
    ),
    *(
        ": ",
        "- ",
        "\n",
        "  ",
        "'",
        '"',
        "&a ",
        "*a",
        "!x ",
        "!!int ",
        "<<: ",
        "~",
        "\t",
        "|\n",
        ">-\n",
        "# ",
        "\0",
        "\x85",
    ),
    *(
        "initialCard: ",
        "presets: ",
        "templates: t\n",
        "env: ",
        "{{ X }}",
        "{{",
        "? ",
        "---\n",
        "...\n",
        "\u202e",
        "1e9",
    ),
)


def texts() -> list[str]:
    yaml = YAML(typ="safe", pure=True)
    cases = [case for file in sorted(CASES.glob("*.yaml")) for case in yaml.load(file)]
    return [case["text"] for case in cases if "text" in case]


TEXTS = texts()


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A valid or nearly valid manifest with pieces put in, cut out and repeated."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 20)))
        text = text[:start] + draw(st.sampled_from(("", *PIECES))) + text[end:]
    return text


def check(loaded: LoadedManifest) -> None:
    """Every finding has a known code, one line and a place; every line can be shown; every environment resolves."""
    for finding in loaded.findings:
        assert finding.code in CODES
        assert "\n" not in finding.message
        assert finding.span is not None
        assert finding.span.line >= 1
    for document in loaded.documents:
        for number in range(len(document.source.line_starts) + 2):
            assert "\n" not in mask_line(document, number)
    for environment in (None, "none", *(e.name for e in loaded.application.environments)):
        for presets in (None, ("x",)):
            resolved = resolve_environment(loaded.application, environment, presets, rules=loaded.rules)
            for agent in resolved.agents:
                for grant in agent.card.card.grants if agent.card else ():
                    span = grant.span_of(1, 3)
                    assert 0 <= span.start <= span.end <= len(grant.source.text)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=25).map("".join), broken()))
def test_nothing_raises(text: str | bytes) -> None:
    """Any bytes are loaded and told about, under both editions."""
    for rules in (NEXT, SNAPSHOT):
        check(load_text(text, rules=rules))


@settings(max_examples=60, deadline=None)
@given(broken())
def test_loading_is_a_function(text: str) -> None:
    """The same text gives the same findings in the same order."""
    assert load_text(text).findings == load_text(text).findings


@pytest.mark.parametrize("rules", [NEXT, SNAPSHOT])
def test_many_problems_are_counted(rules: Rules) -> None:
    """Beyond the limit problems are only counted, and that is told."""
    loaded = load_text("".join(f"k{n}: 1\n" for n in range(MAX_FINDINGS + 500)), rules=rules)
    (more,) = (f for f in loaded.findings if f.code == "MANIF046")
    assert more.message.startswith("500 more problems")


def test_many_unknown_templates_are_counted() -> None:
    """Unknown template names have the same limit."""
    names = " ".join(f"t{n}" for n in range(1200))
    text = f'manifestVersion: 1.6.0\napp: a\nenvironments: {{p: {{}}}}\nagents: {{A: {{templates: "{names}"}}}}\n'
    codes = [f.code for f in load_text(text).findings]
    assert codes.count("MANIF070") == 1000
    assert codes.count("MANIF046") == 1


def test_templates_that_double_themselves_end() -> None:
    """Edition snapshot applies a template once per path; the number of layers has a limit."""
    chain = "".join(f"  t{n}: {{templates: [t{n + 1}, t{n + 1}]}}\n" for n in range(30))
    text = (
        "manifestVersion: 1.6.0\napp: a\nenvironments: {p: {}}\ncomponentTemplates:\n"
        + chain
        + '  t30: {}\ncomponents: {"a:b": {templates: t0}}\n'
    )
    loaded = load_text(text, rules=SNAPSHOT)
    assert not loaded.refused
    resolved = resolve_environment(loaded.application, rules=SNAPSHOT)
    assert [f.code for f in resolved.findings] == ["MANIF079"]
