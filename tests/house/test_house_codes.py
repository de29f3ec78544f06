"""Codes of findings: a known family, one meaning each, a page each."""

import ast
import re
from collections import defaultdict
from pathlib import Path

from policyd.analysis import RULES, page_of
from policyd.findings.codes import FAMILIES, is_code

PACKAGE = Path(__file__).parents[2] / "policyd"
FORM = re.compile(r"[A-Z]{3,8}[0-9]{3}")
NO_CODES = {"SHA256"}

SHARED = {
    "SOLVE900": "a defect of our own, told by whoever catches it",
    "GRANT002": "a class that does not exist, in a grant or asked about by its name",
    "GRANT007": "the same refusal, where a stored grant holds a slot",
    "CARD007": "the rule, and the example in the description of the interface",
    "CARD060": "a wallet file, and a question that does not fit it",
    "MANIF001": "a file that cannot be read, of a manifest or named beside it",
    "MANIF091": "an argument that cannot be used, of the command line or of a request",
    "RETRY106": "a text that is no JSON payload of a policy",
    "RETRY008": "a clamp whose bounds contradict each other, refused where it is built and found where it is written",
    "STORE040": "a token that is missing or not accepted",
    "STORE050": "another revision of the facts than the one demanded",
}
"""Codes that more than one package tells, and the one meaning that they have there."""


def used():
    """Every code that the source tells, with its packages; table keys, comparisons and examples tell nothing."""
    places = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asked = {id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
        asked |= {id(n) for node in ast.walk(tree) if isinstance(node, ast.Compare) for n in ast.walk(node)}
        examples = [n for n in ast.walk(tree) if isinstance(n, ast.keyword) and n.arg == "examples"]
        asked |= {id(inner) for keyword in examples for inner in ast.walk(keyword)}
        for node in ast.walk(tree):
            match node:
                case ast.Constant(str(text)) if id(node) not in asked and FORM.fullmatch(text) and text not in NO_CODES:
                    places[text].add(path.relative_to(PACKAGE).parts[0])
    return dict(places)


USED = used()


def test_every_code_is_of_a_known_family():
    assert [code for code in USED if not is_code(code)] == []
    assert all(family.isupper() and about for family, about in FAMILIES.items())


def test_a_code_has_one_meaning():
    """Two packages that tell the same code mean two things, unless it is written down that they do not."""
    several = {code: packages for code, packages in USED.items() if len(packages) > 1}
    assert {code: packages for code, packages in several.items() if code not in SHARED} == {}


def test_what_is_said_to_be_shared_is_told():
    assert set(SHARED) <= set(USED)


def test_rules_keep_their_codes_to_themselves():
    own = {rule.code for rule in RULES} - set(SHARED)
    assert {code: packages for code, packages in USED.items() if code in own and packages != {"analysis"}} == {}


def test_every_page_is_of_a_code_that_is_told():
    pages = {path.stem for path in (PACKAGE / "analysis" / "rules" / "pages").glob("*.md")}
    assert sorted(pages - set(USED)) == []
    assert all((page_of(code) or "").startswith(f"# {code}: ") for code in pages)


def test_codes_of_grants_and_cards_have_a_page():
    assert [code for code in sorted(USED) if code.startswith(("GRANT", "CARD")) and page_of(code) is None] == []
