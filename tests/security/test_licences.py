"""Every package that policyd needs has a known licence that fits with Apache-2.0, and stands on the page."""

import importlib.util
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def licences():
    """The program that writes the page."""
    spec = importlib.util.spec_from_file_location("make_licences", ROOT / "docs" / "make_licences.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_always_installed_is_permissive(licences):
    found = {name: licences.licence_of(package) for name, package in licences.everything("").items()}
    assert len(found) > 20
    assert {n: text for n, text in found.items() if not licences.is_allowed(text, licences.PERMISSIVE)} == {}


@pytest.mark.parametrize("extra", ["postgres", "lsp", "fleet", "dev", "fuzz"])
def test_extras_have_known_licences_that_fit(licences, extra):
    """Installed unchanged beside policyd, packages may also be under a licence that covers their own files."""
    allowed = licences.PERMISSIVE | licences.BY_FILE
    found = {name: licences.licence_of(package) for name, package in licences.everything(extra).items()}
    assert {n: text for n, text in found.items() if not licences.is_allowed(text, allowed)} == {}


def test_every_direct_dependency_stands_on_the_page(licences):
    """What policyd itself names; what those need in turn may differ between environments."""
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    direct = {licences.spelt(Requirement(text).name) for text in requires("policyd")}
    assert {name for name in direct if f"| {name} |" not in page} == set()
    assert licences.UNKNOWN not in page


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("MIT", True),
        ("MIT AND PSF-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("(CC0-1.0 OR Apache-2.0)", True),
        ("GPL-3.0-only", False),
        ("MIT AND AGPL-3.0-only", False),
        ("unknown", False),
        ("", False),
        ("Proprietary", False),
    ],
)
def test_only_what_is_listed_fits(licences, text, fits):
    assert licences.is_allowed(text, licences.PERMISSIVE | licences.BY_FILE) is fits


def test_the_wheel_carries_nothing_of_others():
    """No script, no font, no vendored package stands among the files that are served."""
    kinds = {path.suffix for path in (ROOT / "policyd" / "web").rglob("*") if path.is_file()}
    assert kinds <= {".html", ".css", ".svg", ".md"}
    assert not list((ROOT / "policyd").rglob("*vendor*"))
