"""Every label of a lint in the specifications has a code with a page, or a row under *not built* with a reason."""

import csv
import re
from pathlib import Path

import pytest

from policyd.analysis.labels import LABELS
from policyd.analysis.rules import page_of

ROOT = Path(__file__).parents[2]
with (ROOT / "tests" / "cases" / "analysis" / "labels.tsv").open(encoding="utf-8") as stream:
    ROWS = list(csv.DictReader(stream, delimiter="\t"))
PAGE = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
NOT_BUILT = dict(re.findall(r"^\| (.+?) \| .+? \| (.+?) \|$", PAGE.partition("## Not built")[2], re.MULTILINE))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["label"])
def test_it_is_told(row):
    if row["told by"] == "not built":
        assert len(NOT_BUILT[row["label"]]) > 30, "the reason"
    else:
        assert row["label"] not in NOT_BUILT
        for code in row["told by"].split():
            assert page_of(code), code


def test_the_rows_of_not_built_are_labels():
    assert set(NOT_BUILT) - {"label"} <= {row["label"] for row in ROWS if row["told by"] == "not built"}


def test_labels_of_tools_have_the_codes_of_the_product():
    """The table above was written from the specification, the other one is what findings carry."""
    told = {row["label"]: row["told by"] for row in ROWS if row["source"].startswith("middleware")}
    assert {row.label: row.code for row in LABELS if row.label in told} == {
        label: code for label, code in told.items() if code != "not built"
    }


def test_the_labels_are_all_there():
    """How many the specifications name: 34 findings of retry, 32 lints of host, 59 of tools and chains."""
    by_source = [row["source"].partition(" ")[0] for row in ROWS]
    assert sum(row["source"] == "retry 8.4" for row in ROWS) == 34
    assert sum(row["source"] == "host 3.6" for row in ROWS) == 32
    assert sum(row["source"] == "middleware A" for row in ROWS) == 59
    assert {"cards", "host", "retry", "middleware", "sdk-facts", "manifest-format"} == set(by_source)
