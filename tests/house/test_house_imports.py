"""The import contracts of pyproject.toml hold: layers, the pure core, no cycles."""

import tomllib
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]


def test_the_contracts_hold(capsys):
    code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == 0, capsys.readouterr().out


def test_the_contracts_cover_every_package():
    """A new package has to be given its place: the layers are exhaustive, for the whole and for the core."""
    layers = [contract for contract in CONTRACTS if contract["type"] == "layers"]
    assert {tuple(contract["containers"]) for contract in layers} >= {("policyd",), ("policyd.core",)}
    assert all(contract["exhaustive"] for contract in layers)


@pytest.mark.parametrize("name", ["os", "io", "time", "random", "logging", "pathlib", "lark", "z3", "sqlalchemy"])
def test_the_core_may_not_import(name):
    (pure,) = [contract for contract in CONTRACTS if contract["name"] == "The core is pure"]
    assert name in pure["forbidden_modules"]
    assert set(pure["source_modules"]) >= {"policyd.core", "policyd.findings"}
