"""Reads the data files of the card tests."""

from pathlib import Path

from ruamel.yaml import YAML

CASES = Path(__file__).parents[2] / "cases"

NAMES = {
    "⟨E⟩": "ana@lab.io/atlas/qa",
    "⟨C⟩": "ana@lab.io/atlas/qa/geo:core",
    "⟨H⟩": "ana@lab.io/atlas/qa/geo:core/Mapper",
    "⟨I⟩": 'ana@lab.io/atlas/qa/geo:core/Mapper("n1")',
}


def load_cases(name):
    """The content of a YAML file under tests/cases, with the abbreviations of the specification written out."""
    return _written_out(YAML(typ="safe").load((CASES / name).read_text(encoding="utf-8")))


def _written_out(value):
    match value:
        case str():
            for short, long in NAMES.items():
                value = value.replace(short, long)
            return value
        case list():
            return [_written_out(item) for item in value]
        case dict():
            return {key: _written_out(item) for key, item in value.items()}
        case _:
            return value
