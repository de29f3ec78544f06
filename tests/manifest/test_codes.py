"""The list of codes."""

from __future__ import annotations

from pathlib import Path

from policyd.findings.codes import is_code
from policyd.manifest import CODES, codes

PACKAGE = Path(codes.__file__).parent
TESTS = Path(__file__).parents[1]


def test_every_code_is_listed_once() -> None:
    """Each constant has its own code and a line that explains it."""
    named = {name: value for name, value in vars(codes).items() if isinstance(value, str) and value.startswith("MANIF")}
    assert len(set(named.values())) == len(named)
    assert set(named.values()) == set(CODES)
    assert all(is_code(code) for code in CODES)
    assert all(line and "\n" not in line for line in CODES.values())


def test_every_code_is_used() -> None:
    """No code is listed that nothing tells."""
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py") if path.name != "codes.py")
    names = [name for name, value in vars(codes).items() if isinstance(value, str) and value in CODES]
    assert [name for name in names if f"codes.{name}" not in text] == []


def test_every_code_has_a_case() -> None:
    """Each condition is shown by a case or a test."""
    files = [*(TESTS / "cases" / "manifest").glob("*.yaml"), *(TESTS / "manifest").glob("test_*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert [code for code in CODES if code not in text] == []


def test_every_code_is_documented() -> None:
    """The page of the loader lists every code with its line."""
    page = (TESTS.parent / "docs" / "manifest.md").read_text(encoding="utf-8")
    assert [code for code, line in CODES.items() if f"| `{code}` | {line} |" not in page] == []
