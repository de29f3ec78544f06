"""The files of `policyd init` pass at once, through the real command line; nothing is overwritten or left half done."""

import contextlib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from policyd.cli.main import run

ROOT = Path(__file__).parents[2]
CASES = YAML(typ="safe").load(ROOT / "tests" / "cases" / "init" / "manifests.yaml")
SHOP = (ROOT / "examples" / "shop" / "golem.yaml").read_text(encoding="utf-8")
FILES = ["policies/shop.test.yaml", ".policyd/baseline.json", ".github/workflows/policyd.yml"]
CASES.append({"title": "the example", "manifest": SHOP, "flags": ["--env", "prod"], "tests": 3})


def files_of(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_what_is_written_passes(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("golem.yaml").write_text(case["manifest"], encoding="utf-8")
    flags = case.get("flags", [])
    assert run(["init", *flags]) == 0, capsys.readouterr().err
    written = [name for name in FILES if case["tests"] or not name.startswith("policies")]
    assert files_of(tmp_path) == sorted(["golem.yaml", *written])
    workflow = YAML(typ="safe").load(Path(FILES[2]))
    steps = workflow["jobs"]["policyd"]["steps"]
    given = next(step for step in steps if step["uses"] == "./.policyd-action")["with"]
    inputs = YAML(typ="safe").load(ROOT / "action.yml")["inputs"]
    assert set(given) <= set(inputs)
    assert given["manifest"] == "golem.yaml"
    assert given.get("env") == (flags[flags.index("--env") + 1] if "--env" in flags else None)
    capsys.readouterr()
    if case["tests"]:
        tests = YAML(typ="safe").load(Path(FILES[0]))["tests"]
        assert len(tests) == case["tests"]
        assert all("deny" in test and "never" in test for test in tests)
        assert [step["run"] for step in steps if "run" in step] == ["policyd test policies/*.test.yaml"]
        assert run(["test", FILES[0]]) == 0, capsys.readouterr().out
    of_audit = flags if "--env" in flags else []
    assert run(["audit", "golem.yaml", *of_audit, "--baseline", FILES[1], "--fail-on", "info"]) == 0


def test_nothing_is_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("golem.yaml").write_text(SHOP, encoding="utf-8")
    Path(".policyd").mkdir()
    Path(FILES[1]).symlink_to("nowhere")
    assert run(["init", "--env", "prod"]) == 2
    told = capsys.readouterr()
    assert "nothing is written" in told.err
    assert FILES[1] in told.err
    assert files_of(tmp_path) == ["golem.yaml"]
    assert run(["init", "--env", "prod", "--dry-run"]) == 2
    assert "(exists, is not overwritten)" in capsys.readouterr().out


def test_what_fails_half_way_leaves_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("golem.yaml").write_text(SHOP, encoding="utf-8")
    Path(".github").write_text("in the way", encoding="utf-8")
    assert run(["init", "--env", "prod"]) == 2
    assert "nothing was" in capsys.readouterr().err
    assert files_of(tmp_path) == [".github", "golem.yaml"]
    assert not (tmp_path / "policies").exists()


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("golem.yaml").write_text(SHOP, encoding="utf-8")
    opened = Path.open

    def interrupted(path, *args, **kwargs):
        if path.name == "policyd.yml":
            raise KeyboardInterrupt
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        run(["init", "--env", "prod"])
    assert [path.name for path in tmp_path.iterdir()] == ["golem.yaml"]


def test_a_dry_run_shows_and_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("golem.yaml").write_text(SHOP, encoding="utf-8")
    assert run(["init", "--env", "prod", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert all(f"--- {name}\n" in told for name in FILES)
    assert files_of(tmp_path) == ["golem.yaml"]


def test_a_manifest_elsewhere_gets_its_files_beside_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "golem.yaml").write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    assert run(["init", "../there/golem.yaml", "--env", "prod"]) == 0
    assert files_of(tmp_path / "there") == sorted(["golem.yaml", *FILES])
    assert files_of(tmp_path / "here") == []
    assert run(["test", "../there/policies/shop.test.yaml"]) == 0


def test_errors_are_not_accepted_by_the_baseline(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bad = SHOP.replace('"network() @ ?agent : connect : mail.example.com"', '"nonsense @ ?agent : x : y"')
    Path("golem.yaml").write_text(bad, encoding="utf-8")
    code = run(["init", "--env", "prod"])
    told = capsys.readouterr()
    assert code == 0, told.err
    assert " 0 errors" not in told.out
    assert "no test of Receipt" in told.out
    assert run(["audit", "golem.yaml", "--env", "prod", "--baseline", FILES[1]]) == 1
    assert run(["test", FILES[0]]) == 0


def test_a_missing_manifest_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 2
    assert "golem.yaml" in capsys.readouterr().err
