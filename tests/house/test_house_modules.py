"""What every module of the package keeps: a docstring, sorted public names, no traces of where it was made."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "policyd").rglob("*.py"))
FOLDERS = ("policyd", "tests", "docs", "examples", "bench", "grammar", "migrations")
TEXTS = sorted(
    path
    for top in FOLDERS
    for path in (ROOT / top).rglob("*")
    if path.suffix in {".py", ".md", ".yaml", ".json", ".jsonl", ".lark", ".html", ".sh", ".toml", ".txt"}
) + sorted(ROOT.glob("*.md"))

FOREIGN = {
    "a folder outside the repository": "../" + "shared",
    "a folder of one machine": r"(?<![\w.~-])/(?:" + "work|root|home/[a-z]+" + r")/[a-z]",
    "a host of a package registry": r"\b(?:"
    + "pypi"
    + r"|registry\."
    + "npmjs"
    + r"|static\."
    + "crates"
    + r")\.(?:org|com|io)\b",
    "work that is left open": r"\b(?:TO" + "DO|FIX" + "ME|X" + r"XX)\b|NotImplemented" + "Error",
}


@pytest.fixture(scope="module")
def trees():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def test_every_module_has_a_docstring_of_one_sentence_at_least(trees):
    bare = [
        path
        for path, tree in trees.items()
        if tree.body and not re.search(r"[.:?]$", (ast.get_docstring(tree) or "").split("\n")[0])
    ]
    assert bare == []


def test_public_names_are_sorted(trees):
    for path, tree in trees.items():
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name("__all__")], value=ast.List(elts)):
                    listed = [element.value for element in elts]
                    assert listed == sorted(set(listed), key=_rank), path


def _rank(name):
    """Constants, then classes, then functions, each by name."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("name", sorted(p.parent.relative_to(ROOT).as_posix() for p in MODULES if p.stem == "__init__"))
def test_public_names_exist(name):
    """Also those that a package loads on demand."""
    module = import_module(name.replace("/", "."))
    assert [public for public in getattr(module, "__all__", ()) if not hasattr(module, public)] == []


@pytest.mark.parametrize("what", FOREIGN)
def test_no_text_holds(what):
    pattern = re.compile(FOREIGN[what])
    found = []
    for path in TEXTS:
        if "fixtures" in path.parts or path == Path(__file__):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in pattern.finditer(text)]
    assert found == []


def test_no_module_is_named_for_nothing():
    """A module is named by the noun it holds."""
    assert [p for p in MODULES if p.stem.rstrip("s") in {"util", "helper", "common", "manager", "misc"}] == []
