"""What is stored: no value, the same digest on every load, and either the old state or the new one."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from io import StringIO

import httpx
import pytest
from service_serving import MANIFEST, PLACE, TARGET, WALLET, imported_shop, listening, served

from policyd.core.edition import NEXT
from policyd.manifest import load_text
from policyd.service import logs
from policyd.service.app import create_app
from policyd.settings import Settings
from policyd.store import migrate
from policyd.store.digest import digests
from policyd.store.ordering import ordered
from policyd.store.session import Database
from policyd.store.snapshots import snapshots
from policyd.usecases.deployments import Selection
from policyd.usecases.import_deployment import manifest_facts
from policyd.usecases.snapshots import StoredSnapshots
from policyd.usecases.stored_decisions import Decisions, StoredQuestion

SECRET = "hunter2-Zq9"
WITH_VALUES = f"""\
manifestVersion: 2.0.0
app: vault
environments:
  prod:
    server:
      url: https://one.example
      auth: {{staticToken: "{SECRET}-token"}}
    account: acme@example.com
    tools:
      fmt:
        parameters: {{key: "{SECRET}-parameter"}}
components:
  v:c:
    dir: c
    templates: rust
    env: {{PASSWORD: "{SECRET}-env"}}
    config: {{deep: {{er: ["{SECRET}-config"]}}}}
agents:
  Cart:
    env: {{OTHER: "{SECRET}-agent"}}
    plugins: [{{name: p, version: "1", parameters: {{k: "{SECRET}-plugin"}}}}]
secretDefaults:
  prod: {{stripe: {{key: "{SECRET}-secret"}}}}
tools:
  fmt: {{component: v:c}}
"""


def test_no_value_is_stored_logged_counted_or_told(tmp_path):
    """Values of env, config, secrets, parameters and tokens leave no trace in the database, the answers or the logs."""
    url = f"sqlite:///{tmp_path}/policyd.db"
    migrate.upgrade(Database.at(url))
    lines = StringIO()
    app = create_app(Settings(database_url=url, require_tokens=False), logs.json_lines(lines))
    seen = []
    with listening(app) as base, httpx.Client(base_url=base, timeout=60) as client:
        body = {"documents": [{"name": "golem.yaml", "text": WITH_VALUES}], "environment": "prod"}
        imported = client.post("/v1/imports/manifest", json=body)
        assert imported.status_code == 201, imported.text
        client.post("/v1/audits", json={"documents": body["documents"]})
        paths = ("/v1/snapshots/1/export", "/v1/snapshots/1/findings", "/snapshots/1", "/", "/metrics", "/v1/audit-log")
        seen = [imported.text, *(client.get(path).text for path in paths)]
    assert "v:c" in seen[1]
    assert "PASSWORD" in seen[1]
    for text in (*seen, lines.getvalue()):
        assert SECRET not in text
    assert '"route": "/v1/imports/manifest"' in lines.getvalue()
    for file in tmp_path.iterdir():
        assert SECRET.encode() not in file.read_bytes(), file


def test_manifests_that_differ_in_values_only_are_one_snapshot(shop):
    other = WITH_VALUES.replace(SECRET, "something-else")
    assert shop.add_manifest("", "prod", WITH_VALUES).digest == shop.add_manifest("", "prod", other).digest


def test_logs_name_routes_and_never_what_was_asked(tmp_path):
    """The target, the agent and the snapshot of a question are values of its sender."""
    lines = StringIO()
    url = f"sqlite:///{tmp_path}/policyd.db"
    migrate.upgrade(Database.at(url))
    app = create_app(Settings(database_url=url, require_tokens=False), logs.json_lines(lines))
    with listening(app) as base, httpx.Client(base_url=base, timeout=60) as client:
        client.post("/v1/decisions", json={"snapshot": PLACE, "agent": "CartXYZ", "target": TARGET})
        client.get("/check", params={"snapshot": PLACE, "agent": "CartXYZ", "target": TARGET})
        client.get("/v1/rules/CartXYZ")
        metrics = client.get("/metrics").text
    for text in (lines.getvalue(), metrics):
        assert "CartXYZ" not in text
        assert "stripe" not in text
        assert "/v1/rules/{code}" in text
    assert 'policyd_requests_total{method="POST",route="/v1/decisions",status="404"} 1.0' in metrics


def _compiled(database):
    """The digests of the facts and of each compiled wallet, from nothing but the database."""
    decisions = Decisions()
    reach = StoredSnapshots(database)
    found = []
    for info in snapshots(database):
        facts = decisions.facts(reach, info)
        found.append(digests(ordered(facts.deployment))[0])
        for agent in facts.deployment.agent_types:
            decisions.answer(facts, info, StoredQuestion(TARGET, f'{agent.name}("u1")'), NEXT)
    found += sorted(value.digest for value in decisions.kept.values() if hasattr(value, "digest"))
    return tuple(found)


def test_ten_fresh_loads_give_one_digest(shop):
    """Facts and compiled wallets do not depend on the order of anything."""
    loads = set()
    for _ in range(10):
        database = Database.at(shop.url)
        loads.add(_compiled(database))
        database.close()
    assert len(loads) == 1
    assert len(loads.pop()) > len(snapshots(shop.database))


def test_processes_with_other_hash_seeds_give_the_same_digest():
    """Sets and dictionaries leave no trace in the digest."""
    program = (
        "import sys\nfrom policyd.core.edition import NEXT\nfrom policyd.manifest import load_text\n"
        "from policyd.store.digest import digests\nfrom policyd.store.ordering import ordered\n"
        "from policyd.usecases.deployments import Selection\n"
        "from policyd.usecases.import_deployment import manifest_facts\n"
        "facts, _ = manifest_facts(load_text(sys.stdin.read()), Selection('prod'), NEXT)\n"
        "print(digests(ordered(facts))[0])\n"
    )
    here = manifest_facts(load_text(MANIFEST), Selection("prod"), NEXT)[0]
    expected = digests(ordered(here))[0]
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            input=MANIFEST,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert run.stdout.strip() == expected


def test_an_export_brings_every_fact_back(shop, tmp_path):
    """Importing what was exported, into another database, gives the same digest and the same export."""
    exports = [shop.client.get(f"/v1/snapshots/{number}/export") for number in (1, 2, 3)]
    with served(tmp_path, require_tokens=False) as other:
        for answer in exports:
            imported = other.client.post("/v1/imports/platform", content=answer.content)
            assert imported.status_code == 201
            assert imported.json()["digest"] == answer.headers["policyd-digest"]
            again = other.client.get(f"/v1/snapshots/{imported.json()['number']}/export")
            assert again.content == answer.content


def test_imports_are_idempotent(shop):
    """The same bytes are the same snapshot, and no new revision of it."""
    for _ in range(2):
        answer = shop.client.post("/v1/imports/platform", content=WALLET, params={"name": "wallet.json"})
        assert (answer.status_code, answer.json()["isNew"], answer.json()["isRevision"]) == (200, False, False)


def test_a_refused_import_changes_nothing(shop):
    before = shop.client.get("/v1/snapshots").json()
    bad = WALLET.replace(b": reveal : stripe.key", b": revael : stripe.key")
    answer = shop.client.post("/v1/imports/platform", content=bad)
    assert (answer.status_code, answer.json()["code"]) == (422, "GRANT005")
    assert answer.json()["findings"][0]["place"]["path"] == "$.cards[1].lowerPositive[0]"
    assert answer.json()["findings"][0]["place"]["line"] == 25
    assert shop.client.get("/v1/snapshots").json() == before


def test_a_place_can_be_followed_through_changes(shop):
    """The latest snapshot of an environment changes with an import; the older one stays as it was."""
    kept = shop.decide(snapshot="@2", agent="Cart", target="kv(?env) : delete : orders.1")
    cut = '        negative:\n          - "kv(?env) @ ?agent : delete : orders.*"\n'
    assert cut in MANIFEST
    changed = MANIFEST.replace(cut, "")
    number = shop.add_manifest("acme@example.com", "local", changed).number
    assert shop.decide(snapshot="@2", agent="Cart", target="kv(?env) : delete : orders.1") == kept
    now = shop.decide(snapshot="@acme@example.com/shop/local", agent="Cart", target="kv(?env) : delete : orders.1")
    assert (now["snapshot"], kept["admitted"], now["admitted"]) == (f"@{number}", "no", "yes")
    etags = [shop.client.get(f"/v1/snapshots/{n}").headers["etag"] for n in (2, number)]
    assert etags[0] != etags[1]
    assert "past" in etags[0]
    again = shop.client.get("/v1/snapshots/2", headers={"If-None-Match": etags[0]})
    assert (again.status_code, again.content) == (304, b"")


def test_pages_of_a_list_skip_nothing_while_others_write(shop):
    """Walking through a list with a cursor sees every snapshot once, also those imported meanwhile."""
    seen, cursor = [], ""
    count = 0
    while cursor is not None:
        answer = shop.client.get("/v1/snapshots", params={"cursor": cursor, "limit": 1}).json()
        seen += [row["number"] for row in answer["snapshots"]]
        cursor = answer["next"]
        if count < 2:
            count += 1
            shop.add_manifest(f"page{count}@example.com", "local")
    assert seen == sorted({info.number for info in snapshots(shop.database)})
    wrong = shop.client.get("/v1/snapshots", params={"cursor": "nonsense"})
    assert wrong.status_code == 422
    foreign = shop.client.get("/v1/snapshots/3/cards", params={"limit": 1}).json()["next"]
    assert shop.client.get("/v1/snapshots", params={"cursor": foreign}).status_code == 422


def test_imports_and_checks_at_the_same_time(tmp_path):
    """Many readers and writers: nothing fails, nothing is lost, every answer is of one whole snapshot."""
    with served(tmp_path, require_tokens=False) as running:
        imported_shop(running)
        failures = []
        answers = set()

        def write(number):
            text = MANIFEST.replace("api.stripe.com", f"api{number}.stripe.com")
            with httpx.Client(base_url=running.base, timeout=60) as client:
                body = {"documents": [{"name": "golem.yaml", "text": text}], "environment": "prod"}
                answer = client.post("/v1/imports/manifest", json=body)
                if answer.status_code != 201:
                    failures.append(answer.text)

        def read():
            with httpx.Client(base_url=running.base, timeout=60) as client:
                for _ in range(15):
                    body = {"snapshot": PLACE, "agent": "Cart", "target": TARGET}
                    answer = client.post("/v1/decisions", json=body)
                    if answer.status_code != 200:
                        failures.append(answer.text)
                    else:
                        answers.add((answer.json()["admitted"], len(answer.json()["reasons"])))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
        threads += [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert answers == {("yes", 4)}
        assert len(snapshots(running.database)) == 3 + 6


def _killed(command, environment, is_time):
    """Start a process and kill it as soon as it is time, while it runs."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not is_time() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return process.returncode


@pytest.mark.parametrize("moment", ["reading", "writing"])
def test_a_killed_import_leaves_the_old_state(tmp_path, moment):
    """`kill -9` in the middle of an import: what was stored is readable and whole, and the import can be repeated."""
    url = f"sqlite:///{tmp_path}/policyd.db"
    database = Database.at(url)
    migrate.upgrade(database)
    grants = "".join(f'          - "kv(?env) @ ?agent : read : b{n}.**"\n' for n in range(20_000))
    many = MANIFEST.replace('          - "kv(?env) @ ?agent : * : orders.*"\n', grants, 1)
    small, large = tmp_path / "small.yaml", tmp_path / "large.yaml"
    small.write_text(MANIFEST, encoding="utf-8")
    large.write_text(many, encoding="utf-8")
    environment = {**os.environ, "POLICYD_DATABASE_URL": url}
    command = [sys.executable, "-m", "policyd", "import", "--env", "prod"]
    subprocess.run([*command, str(small)], env=environment, check=True, capture_output=True)
    before = snapshots(database)
    log = tmp_path / "policyd.db-wal"
    began = time.monotonic()

    def is_time():
        if moment == "reading":
            return time.monotonic() - began > 0.6
        return log.exists() and log.stat().st_size > 500_000

    assert _killed([*command, str(large)], environment, is_time) == -signal.SIGKILL
    assert snapshots(database) == before
    with sqlite3.connect(f"{tmp_path}/policyd.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert StoredSnapshots(database).load(before[0]).grant_count == before[0].grant_count
    subprocess.run([*command, str(small)], env=environment, check=True, capture_output=True)
    assert snapshots(database) == before
    database.close()
