"""Fleets: the same results wherever the work is done, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from policyd.fleet import Cluster, Here, LaneError, run_all
from policyd.fleet.lanes import Lane
from tests.fleet.fleet_work import deadly, doubled

MANIFEST = """\
manifestVersion: 1.6.0
app: app{number}
environments:
  prod: {{server: cloud, account: acme@example.com}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - "kv(?env) @ ?agent : read : orders.*"
          - "kv(?env) @ ?agent : read : orders.{key}"
"""


def fleet(folder: Path, count: int) -> Path:
    for number in range(count):
        place = folder / f"app{number:03}"
        place.mkdir(parents=True)
        text = MANIFEST.format(number=number, key="list" if number % 2 else "*")
        (place / "golem.yaml").write_text(text, encoding="utf-8")
    return folder


def policyd(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "policyd", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "POLICYD_DATABASE_URL": f"sqlite:///{folder}/results.db", **environment},
    )


def items(count: int, **members: Any) -> list[dict[str, Any]]:
    return [{"item": f"i{number}", "number": number, **members} for number in range(count)]


@pytest.mark.parametrize("lane", [Here(), Cluster(1), Cluster(2)], ids=["here", "one", "two"])
def test_every_item_has_one_result(lane: Lane) -> None:
    found = dict(run_all(items(40), doubled, lane))
    assert found == {number: {"item": f"i{number}", "twice": 2 * number} for number in range(40)}
    assert list(run_all([], doubled, lane)) == []


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    work = items(30, kills="never", mark=str(tmp_path / "dead"))
    work[7]["kills"] = "once"
    found = dict(run_all(work, deadly, Cluster(2)))
    assert (tmp_path / "dead").exists()
    assert found == {number: {"item": f"i{number}", "twice": 2 * number} for number in range(30)}


def test_an_item_that_kills_every_worker_takes_no_other_with_it(tmp_path: Path) -> None:
    work = items(12, kills="never", mark=str(tmp_path / "dead"))
    work[3]["kills"] = "always"
    found = dict(run_all(work, deadly, Cluster(1)))
    assert found.pop(3) is None
    assert found == {number: {"item": f"i{number}", "twice": 2 * number} for number in range(12) if number != 3}


def test_a_scheduler_elsewhere_does_the_work() -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        found = dict(run_all(items(5), doubled, Cluster(scheduler=cluster.scheduler_address)))
    assert len(found) == 5


def test_an_address_that_is_none_is_told() -> None:
    with pytest.raises(LaneError, match="does not answer"):
        list(run_all(items(1), doubled, Cluster(scheduler="nonsense://x")))


def test_a_scheduler_that_is_not_there_is_told_by_the_command(tmp_path: Path) -> None:
    fleet(tmp_path / "apps", 1)
    done = policyd("fleet", "audit", "apps", "--scheduler", "tcp://127.0.0.1:9", folder=tmp_path)
    assert done.returncode == 2
    assert "STORE071" in done.stderr


def test_the_same_bytes_for_any_number_of_workers(tmp_path: Path) -> None:
    fleet(tmp_path / "apps", 12)
    (tmp_path / "apps" / "app003" / "golem.yaml").write_text("a: [", encoding="utf-8")
    (tmp_path / "apps" / "app004" / "golem.yaml").write_bytes(b"\xff\xfe")
    told = [
        policyd("fleet", "audit", "apps", "--workers", str(n), "--format", "json", "--no-keep", folder=tmp_path)
        for n in (1, 2)
    ]
    assert [done.returncode for done in told] == [2, 2]
    assert told[0].stdout == told[1].stdout
    assert told[0].stderr == told[1].stderr == ""
    found = json.loads(told[0].stdout)
    assert (found["count"], found["failed"]) == (12, 2)
    broken = {r["item"]: r["error"]["code"] for r in found["applications"] if "error" in r}
    assert broken == {"apps/app003/golem.yaml": "MANIF010", "apps/app004/golem.yaml": "MANIF003"}
    assert not (tmp_path / "results.db").exists()


def test_what_is_unchanged_is_not_audited_again_and_a_change_is_seen(tmp_path: Path) -> None:
    fleet(tmp_path / "apps", 6)
    assert policyd("db", "upgrade", folder=tmp_path).returncode == 0
    first = policyd("fleet", "audit", "apps", "--workers", "1", "--format", "json", folder=tmp_path)
    again = policyd("fleet", "audit", "apps", "--workers", "1", folder=tmp_path)
    assert "6 unchanged since an earlier run" in again.stdout
    assert (
        policyd("fleet", "audit", "apps", "--workers", "1", "--format", "json", folder=tmp_path).stdout == first.stdout
    )
    changed = tmp_path / "apps" / "app001" / "golem.yaml"
    changed.write_text(changed.read_text(encoding="utf-8").replace(": read", ": raed"), encoding="utf-8")
    third = policyd("fleet", "audit", "apps", "--workers", "1", folder=tmp_path)
    assert third.returncode == 1
    assert "5 unchanged" in third.stdout
    assert "1 with errors" in third.stdout
    snapshot = policyd("fleet", "audit", "apps", "--workers", "1", "--edition", "snapshot", folder=tmp_path)
    assert "unchanged" not in snapshot.stdout
    fresh = policyd("fleet", "audit", "apps", "--workers", "1", "--fresh", folder=tmp_path)
    assert "unchanged" not in fresh.stdout


def test_a_run_that_is_killed_goes_on_where_it_ended(tmp_path: Path) -> None:
    fleet(tmp_path / "apps", 300)
    assert policyd("db", "upgrade", folder=tmp_path).returncode == 0
    database = tmp_path / "results.db"
    environment = {**os.environ, "POLICYD_DATABASE_URL": f"sqlite:///{database}"}
    command = [sys.executable, "-m", "policyd", "fleet", "audit", "apps", "--workers", "1"]
    run = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while kept(database) < 50 and time.monotonic() < deadline and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    saved = kept(database)
    assert saved >= 50
    rest = policyd("fleet", "audit", "apps", "--workers", "1", folder=tmp_path)
    assert f"{saved} unchanged since an earlier run" in rest.stdout
    assert kept(database) == 300


def kept(database: Path) -> int:
    import sqlite3

    connection = sqlite3.connect(database)
    try:
        return int(connection.execute("select count(*) from fleet_results").fetchone()[0])
    finally:
        connection.close()


def test_stored_environments(tmp_path: Path) -> None:
    fleet(tmp_path / "apps", 2)
    assert policyd("db", "upgrade", folder=tmp_path).returncode == 0
    for number in range(2):
        done = policyd("import", f"apps/app{number:03}/golem.yaml", "--env", "prod", folder=tmp_path)
        assert done.returncode == 0, done.stderr
    told = policyd("fleet", "audit", "--stored", "--workers", "1", "--format", "json", folder=tmp_path)
    assert told.returncode == 0, told.stderr
    names = [result["item"] for result in json.loads(told.stdout)["applications"]]
    assert names == ["@acme@example.com/app0/prod", "@acme@example.com/app1/prod"]
    assert [result["deploysRefused"] for result in json.loads(told.stdout)["applications"]] == [None, None]
    assert "2 unchanged" in policyd("fleet", "audit", "--stored", "--workers", "2", folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere"], 2, "there is no manifest at `nowhere`"),
        ([], 2, "which applications?"),
        (["apps", "--stored"], 2, "which applications?"),
        (["apps", "--fail-on", "info", "--workers", "1"], 1, ""),
        (["apps", "--fail-on", "nonsense"], 2, "unknown level"),
        (["apps/**", "--workers", "1"], 0, ""),
        (["apps", "--strict", "--workers", "1"], 3, ""),
    ],
)
def test_exit_codes(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    fleet(tmp_path / "apps", 2)
    done = policyd("fleet", "audit", *arguments, folder=tmp_path)
    assert done.returncode == code, done.stderr + done.stdout
    assert words in done.stderr


def test_refused_counts_each_agent_type_once_and_all_of_a_manifest_that_is_not_read(tmp_path: Path) -> None:
    text = MANIFEST.format(number=0, key="*").replace("environments:\n", "environments:\n  test: {server: cloud}\n")
    (tmp_path / "golem.yaml").write_text(text + "    nonsense: 1\n", encoding="utf-8")
    told = policyd("fleet", "audit", "golem.yaml", "--workers", "1", "--no-keep", folder=tmp_path)
    assert told.returncode == 1, told.stderr
    assert told.stdout.split("\n")[1].split()[3:5] == ["1", "1"]
    assert "1 application, 1 agent: 1 with errors" in told.stdout
    assert "1 whose deploy would be refused" in told.stdout


def test_a_port_that_is_taken_is_nobodys_concern(tmp_path: Path) -> None:
    fleet(tmp_path / "apps", 2)
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", 8787))
            taken.listen()
        except OSError:
            pass  # somebody else has it, which is the same
        told = policyd("fleet", "audit", "apps", "--workers", "2", "--no-keep", folder=tmp_path)
    assert told.returncode == 0
    assert told.stderr == ""
