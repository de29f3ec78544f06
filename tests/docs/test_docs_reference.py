"""The reference is what the code says; `make reference` writes it."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_up_to_date() -> None:
    made = runpy.run_path(str(DOCS / "make_reference.py"))["reference"]()
    assert made == (DOCS / "reference.md").read_text(encoding="utf-8"), "run `make reference`"
