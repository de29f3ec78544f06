"""The files for other people's CI: their scripts are run by a shell, with the variables that the runner would set."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
SHOP = "examples/shop/golem.yaml"


def read(name):
    return YAML(typ="safe", pure=True).load(ROOT / name)


def run(script, tmp_path, **variables):
    """A script in a shell that finds this policyd; everything else of the surroundings is plain."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    for name in ("examples",):
        (tmp_path / name).symlink_to(ROOT / name)
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={"PATH": path, "HOME": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def step(name):
    return next(s for s in read("action.yml")["runs"]["steps"] if s["name"] == name)


def test_the_action_audits(tmp_path):
    given = {"POLICYD_MANIFEST": SHOP, "POLICYD_ENV": "prod", "POLICYD_FAIL_ON": "error", "POLICYD_BASELINE": ""}
    audit = step("Audit")
    assert set(audit["env"]) == set(given)
    done = run(audit["run"], tmp_path, **given)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(line.startswith("::") for line in done.stdout.splitlines())


def test_an_input_of_the_action_is_never_a_command(tmp_path):
    hostile = '"; touch broken; $(touch broken) `touch broken` #'
    audit = step("Audit")
    given = dict.fromkeys(audit["env"], hostile)
    assert run(audit["run"], tmp_path, **given).returncode == 2
    assert not (tmp_path / "broken").exists()
    for each in read("action.yml")["runs"]["steps"]:
        assert "${{" not in each["run"], "an expression in a script is a command of whoever writes the input"


def test_the_action_compares(tmp_path):
    (tmp_path / "old.yaml").write_text(
        (ROOT / SHOP)
        .read_text()
        .replace("secret(?env) @ ?agent : reveal : stripe.key", "secret(?env) @ ?agent : hold : stripe.key")
    )
    done = run(step("Compare")["run"], tmp_path, POLICYD_OLD="old.yaml", POLICYD_MANIFEST=SHOP, POLICYD_ENV="prod")
    assert done.returncode == 1
    assert "secret" in done.stdout


def test_the_template_writes_a_report(tmp_path):
    job = read("docs/ci/policyd.gitlab-ci.yml")["policyd"]
    done = run("\n".join(job["script"]), tmp_path, **{**job["variables"], "POLICYD_MANIFEST": SHOP})
    assert done.returncode == 0, done.stderr
    report = job["artifacts"]["reports"]["codequality"]
    assert {row["check_name"] for row in json.loads((tmp_path / report).read_text())}


@pytest.mark.parametrize("hook", read(".pre-commit-hooks.yaml"), ids=lambda hook: hook["id"])
def test_the_hooks_run(hook, tmp_path):
    """An entry followed by the file names, as the tool calls it; it finds the manifests and nothing else."""
    import re

    assert re.search(hook["files"], "services/golem.yaml")
    assert not re.search(hook["files"], "golem.yaml.bak")
    done = run(f'{hook["entry"]} "$FILE"', tmp_path, FILE=SHOP)
    assert done.returncode == 0, done.stdout + done.stderr
