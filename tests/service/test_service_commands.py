"""The commands around the database: import, export, snapshots, show, who-can, what-can, db, token, serve."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from io import StringIO

import httpx
import pytest
from service_serving import CHILD, PARENT, PLACE, ROOT, TARGET, WALLET

from policyd.cli.main import run
from policyd.store import migrate

SHOP = str(ROOT / "examples" / "shop" / "golem.yaml")


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """Runs a command over a new, migrated database; gives its exit code, stdout and stderr."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path}/policyd.db")
    monkeypatch.chdir(tmp_path)

    def asked(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    asked("db", "upgrade")
    return asked


def test_a_deployment_goes_in_and_comes_out(told, tmp_path):
    """Import, list, export; the export is known already, and in another database it has the same digest."""
    code, out, _ = told("import", SHOP, "--env", "prod", "--format", "json")
    first = json.loads(out)["imports"][0]
    assert (code, first["snapshot"], first["isNew"]) == (0, "@1", True)
    assert told("export", "@1", "--output", tmp_path / "export.json")[0] == 0
    _, out, _ = told("import", tmp_path / "export.json")
    assert out.rstrip().endswith("unchanged")
    (tmp_path / "wallet.json").write_bytes(WALLET)
    _, out, _ = told("import", tmp_path / "wallet.json")
    assert out.startswith("@2  acme@example.com/shop/prod  revision 2 latest")
    _, out, _ = told("snapshots", "--format", "json")
    assert [row["isLatest"] for row in json.loads(out)["snapshots"]] == [False, True]
    _, out, _ = told("snapshots", "--latest")
    assert out.startswith("@2 ")


def test_show_and_check_read_the_store_as_they_read_the_file(told):
    """The same words, apart from the source lines that only a file can show."""
    told("import", SHOP, "--env", "prod")
    for arguments in (("show", "--agent", "Cart"), ("show",)):
        name, *rest = arguments
        stored = json.loads(told(name, PLACE, *rest, "--format", "json")[1])
        read = json.loads(told(name, SHOP, "--env", "prod", *rest, "--format", "json")[1])
        assert (stored.pop("snapshot"), stored.pop("revision"), read.pop("snapshot")) == ("@1", 1, None)
        assert len(stored.pop("digest")) == 64
        for answer in (stored, read):
            answer.pop("notes", None)
            for grant in answer.get("grants", ()):
                grant["written"] = grant["written"].rstrip()
        assert stored == read
    for target in (TARGET, "kv(?env) : delete : orders.1", "secret(?env) : mint : x"):
        stored = told("check", "@1", target, "--agent", "Cart", "--format", "json")
        read = told("check", SHOP, target, "--env", "prod", "--agent", "Cart", "--format", "json")
        assert stored[0] == read[0]
        plain = json.loads(stored[1])
        assert (len(plain.pop("digest")), plain.pop("revision")) == (64, 1)
        assert {**plain, "snapshot": None} == json.loads(read[1])


ASKING = (
    ("show", "@2"),
    ("show", "@2", "--agent", "Receipt"),
    ("check", "@2", TARGET, "--agent", "Cart"),
    ("explain", "@2", TARGET, "--agent", "Cart"),
    ("who-can", "@2", TARGET),
    ("what-can", "@2", "secret", "--agent", "Cart"),
    ("prove", "@2", "--never", "secret(any) : reveal : any"),
    ("reach", "@2", "--to", TARGET),
    ("what-if", "@2", "--revoke", PARENT),
    ("saga", "@2", "--agent", "Cart"),
    ("chain", "check", "@2"),
    ("retry", "lint", "@2"),
    ("audit", "@2"),
    ("diff", "@1", "@2"),
    ("prove", "@1", "@2", "--implies"),
)


def test_answers_name_the_snapshots_they_were_read_from(told, tmp_path):
    """Every question about a stored deployment, in words and in JSON: number, revision and digest."""
    (tmp_path / "wallet.json").write_bytes(WALLET)
    told("import", SHOP, "--env", "prod")
    told("import", tmp_path / "wallet.json")
    known = {row["snapshot"]: row for row in json.loads(told("snapshots", "--format", "json")[1])["snapshots"]}
    assert [row["revision"] for row in known.values()] == [1, 2]
    for arguments in ASKING:
        used = [known[word] for word in arguments if word in known]
        _, words, _ = told(*arguments)
        _, plain, err = told(*arguments, "--format", "json")
        answer = json.loads(plain)
        named = answer["snapshots"] if len(used) > 1 else [answer]
        for row, name in zip(used, named, strict=True):
            line = f"snapshot {row['snapshot']} of acme@example.com/shop/prod, revision {row['revision']}, digest "
            assert f"{line}{row['digest'][:12]}" in words.splitlines(), arguments
            assert {key: name[key] for key in ("snapshot", "digest", "revision")} == {
                key: row[key] for key in ("snapshot", "digest", "revision")
            }, (arguments, err)
    assert "digest" not in json.loads(told("check", SHOP, TARGET, "--agent", "Cart", "--format", "json")[1])


def test_show_gives_the_wallet_that_decides(told, tmp_path):
    """An agent with a wallet of its own is shown that wallet's cards; its type says who has one."""
    (tmp_path / "wallet.json").write_bytes(WALLET)
    told("import", SHOP, "--env", "prod")
    told("import", tmp_path / "wallet.json")
    code, out, _ = told("show", PLACE, "--agent", 'Receipt("u1")', "--format", "json")
    own = json.loads(out)
    assert (code, own["holder"]) == (0, "acme@example.com/shop/prod/shop:cart/Receipt")
    assert own["cards"] == [PARENT, CHILD]
    held = {(card["cardId"], grant) for card in json.loads(WALLET)["cards"] for grant in card["lowerPositive"]}
    assert {(g["card"], g["written"]) for g in own["grants"] if g["bound"] == "lowerPositive"} == held
    text = told("show", PLACE, "--agent", 'Receipt("u1")')[1]
    assert text.startswith('wallet of Receipt("u1") in prod: 2 cards')
    assert "snapshot @2 of acme@example.com/shop/prod, revision 2, digest " in text
    for agent, wallets in (("Receipt", ['Receipt("u1")']), ('Receipt("u2")', [])):
        shown = json.loads(told("show", PLACE, "--agent", agent, "--format", "json")[1])
        assert (shown["holder"], shown["ownWallets"]) == (None, wallets)
    assert '  Receipt("u1")' in told("show", PLACE, "--agent", "Receipt")[1].splitlines()
    assert 'own wallets: Receipt("u1")' in told("show", PLACE)[1]
    before = json.loads(told("show", "@1", "--agent", 'Receipt("u1")', "--format", "json")[1])
    assert (before["holder"], before["snapshot"]) == (None, "@1")


SMALL = """manifestVersion: 1.6.0
app: shop
environments:
  prod:
    account: acme@example.com
    server: cloud
components:
  shop:cart:
    dir: cart
    templates: rust
agents:
  Cart:
    initialCard:
      lowerBound:
        positive: ["secret(?env) @ ?agent : reveal : stripe.key"]
"""


@pytest.mark.parametrize("bad", ["unreadable", "unstorable"])
def test_several_files_are_imported_together_or_not_at_all(told, tmp_path, bad):
    """Whichever file is refused, and when, nothing is kept; the file is named, and its own reasons follow."""
    (tmp_path / "one.yaml").write_text(SMALL)
    (tmp_path / "wallet.json").write_bytes(WALLET)
    if bad == "unreadable":
        (tmp_path / "two.yaml").write_text(SMALL.replace("initialCard", "initialCord"))
    else:  # the same card with other contents: only the store sees that
        (tmp_path / "two.json").write_bytes(WALLET.replace(b"mail.password", b"mail.other"))
    for *before, name in (
        (("one.yaml", "wallet.json", "two.yaml"), ("two.yaml",))
        if bad == "unreadable"
        else (("one.yaml", "wallet.json", "two.json"), ("two.json", "wallet.json"))
    ):
        code, out, err = told("import", *before, name)
        assert (code, out) == (2, ""), err
        assert err.startswith(f"nothing was imported: `{name}` is refused\n")
        assert ("MANIF030" if bad == "unreadable" else "STORE024") in err
        assert json.loads(told("snapshots", "--format", "json")[1])["snapshots"] == []
    code, out, _ = told("import", "one.yaml", "wallet.json")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (0, ["@1", "@2"])


def test_flags_that_contradict_what_is_imported(told, tmp_path):
    """Another application is refused, for the flag is for manifests without one; another account is said."""
    (tmp_path / "one.yaml").write_text(SMALL)
    (tmp_path / "wallet.json").write_bytes(WALLET)
    code, _, err = told("import", "one.yaml", "--application", "other")
    assert (code, "MANIF092" in err) == (2, True)
    assert "the manifest is of application `shop`, not of `other`" in err
    code, out, err = told("import", "one.yaml", "--account", "eve@example.com")
    assert (code, out.split()[1]) == (0, "eve@example.com/shop/prod")
    note = "the manifest says account `acme@example.com`; it is stored as one of `eve@example.com`, as given"
    assert f"note: {note}\n" in err
    same = ("--application", "shop", "--account", "ACME@example.com", "--format", "json")
    code, out, _ = told("import", "one.yaml", *same)
    assert (code, json.loads(out)["imports"][0]["notes"]) == (0, [])
    elsewhere = ("--application", "shop", "--account", "eve@example.com", "--env", "prod")
    code, _, err = told("import", "wallet.json", *elsewhere)
    assert (code, "STORE015" in err) == (2, True)


def test_who_can_and_what_can(told, tmp_path):
    """Complete lists exit with 0; a type whose component is not known makes the list incomplete."""
    told("import", SHOP, "--env", "prod")
    code, out, _ = told("who-can", PLACE, TARGET, "--format", "json")
    answer = json.loads(out)
    assert (code, answer["complete"]) == (0, True)
    assert [row["holder"].rpartition("/")[2] for row in answer["holders"]] == ["Cart", "Report"]
    two = (
        (ROOT / "examples" / "shop" / "golem.yaml")
        .read_text()
        .replace("agents:\n", "  shop:other:\n    dir: other\n    templates: rust\n\nagents:\n", 1)
    )
    (tmp_path / "two.yaml").write_text(two)
    told("import", tmp_path / "two.yaml", "--env", "local", "--account", "acme@example.com")
    local = "@acme@example.com/shop/local"
    for target in (TARGET, "network() : connect : api.stripe.com", "component(?env/shop:cart) : view : "):
        code, out, _ = told("who-can", local, target, "--format", "json")
        listed = {row["holder"] for row in json.loads(out)["holders"] if row["extent"] == "all"}
        codes = {name: told("check", local, target, "--agent", name)[0] for name in ("Cart", "Receipt", "Report")}
        assert listed == {name for name, admitted in codes.items() if admitted == 0}
        assert code == (3 if 3 in codes.values() else 0)
    assert "agents of type `Report`: the component that implements them is not known" in json.loads(out)["notAnalysed"]
    _, out, _ = told("who-can", local, "network() : connect : api.stripe.com", "--format", "json")
    some = [row for row in json.loads(out)["holders"] if row["extent"] == "some"]
    assert [(row["holder"], row["witness"]) for row in some] == [("Cart", "network() : connect : api.stripe.com:443")]
    code, out, _ = told("what-can", PLACE, "secret", "--agent", "Cart", "--format", "json")
    assert code == 0
    lent = [row["grant"].partition(" : ")[2] for row in json.loads(out)["classes"][0]["lent"]]
    assert lent == ["hold : stripe.key", "reveal : stripe.key"]
    assert told("who-can", PLACE, "agent(?agent) : view : ")[0] == 2
    assert told("what-can", PLACE, "no-class", "--agent", "Cart")[0] == 2


def test_a_query_lists_whoever_may_do_a_part(told):
    """`any` and `under` find everybody with a call; a pattern tells all of it from some of it."""
    told("import", SHOP, "--env", "prod")
    for query in ("secret(any) : any : any", "secret(?env) : reveal : under(stripe)"):
        code, out, _ = told("who-can", PLACE, query, "--format", "json")
        answer = json.loads(out)
        assert (code, {row["extent"] for row in answer["holders"]}) == (0, {"some"})
        assert [row["holder"].rpartition("/")[2] for row in answer["holders"]] == ["Cart", "Report"]
        for row in answer["holders"]:
            assert told("check", PLACE, row["witness"], "--holder", row["holder"])[0] == 0
            assert row["grants"][0]["card"].startswith("initial:")
    code, out, _ = told("who-can", PLACE, "secret(?env) : reveal : *")
    assert code == 0
    assert out.index("Report") < out.index("some of it:") < out.index("Cart")
    code, _, err = told("who-can", PLACE, "env(?agent) : any : any")
    assert code == 2
    assert "depends on the holder" in err


def test_a_stored_deployment_is_audited_as_it_was_imported(told):
    """`audit @PLACE` gives the findings of the manifest, with its exit code; import only counts them."""
    _, _, err = told("import", SHOP, "--env", "prod")
    assert "`policyd audit @1` lists them" in err
    assert "-->" not in err
    code, out, _ = told("audit", PLACE, "--format", "json")
    plain, direct, _ = told("audit", SHOP, "--env", "prod", "--format", "json")
    stored, read = json.loads(out), json.loads(direct)
    assert code == plain
    assert [(f["code"], f["message"]) for f in stored["findings"]] == [
        (f["code"], f["message"]) for f in read["findings"]
    ]
    assert stored["snapshot"] == "@1"
    assert told("audit", PLACE)[0] == code
    assert "snapshot @1" in told("audit", PLACE)[1]
    assert told("audit", PLACE, "--fail-on", "info")[0] == (1 if stored["findings"] else 0)
    for flags in (("--env", "prod"), ("--edition", "snapshot")):
        code, _, err = told("audit", PLACE, *flags)
        assert (code, "MANIF091" in err) == (2, True)


def test_reading_makes_no_database(tmp_path, monkeypatch, capsys):
    """A question to a file that does not exist says how to make one, and leaves nothing behind."""
    file = tmp_path / "new.db"
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{file}")
    for command in (("snapshots",), ("show", "@1"), ("who-can", "@1", TARGET), ("export", "@1"), ("token", "list")):
        assert run(list(command)) == 2
        assert "policyd db upgrade" in capsys.readouterr().err
        assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("check", "@99", TARGET, "--agent", "Cart"), "STORE010", "no snapshot"),
        (("check", "@nonsense", TARGET, "--agent", "Cart"), "STORE011", "names no snapshot"),
        (("check", PLACE, TARGET, "--holder", "nobody@example.com"), "CARD0", "no wallet"),
        (("import", "nothing.yaml"), "MANIF001", "does not exist"),
        (("import", "nothing.json"), "MANIF091", "cannot be read"),
        (("import", SHOP, "--env", "local"), "MANIF092", "the account"),
        (("import", "wallet.json", "--account", "a@b"), "MANIF091", "go together"),
        (("export", "@99"), "STORE010", "no snapshot"),
        (("db", "restore", "nothing.jsonl"), "MANIF091", "cannot be read"),
        (("token", "revoke", "nobody"), "STORE041", "no live token"),
        (("token", "create", "--name", "x", "--admin", "--account", "a@b"), "STORE012", "reaches everything"),
        (("what-can", PLACE), "MANIF091", "which holder"),
    ],
)
def test_what_cannot_be_done_is_told_with_its_code(told, arguments, code, words):
    told("import", SHOP, "--env", "prod")
    exit_code, out, err = told(*arguments)
    assert exit_code == 2, err
    assert out == ""
    assert code in err
    assert words in err


def test_a_database_that_is_not_migrated_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path}/empty.db")
    assert run(["snapshots"]) == 2
    assert "policyd db upgrade" in capsys.readouterr().err


def test_a_wrong_setting_is_named(monkeypatch, capsys):
    monkeypatch.setenv("POLICYD_POOL_SIZE", "many")
    assert run(["snapshots"]) == 2
    assert "POLICYD_POOL_SIZE" in capsys.readouterr().err


def test_the_database_moves_by_dump_and_restore(told, tmp_path, monkeypatch):
    """Upgrade, dump, restore into another one: the same snapshots; downgrade takes the tables away."""
    told("import", SHOP, "--env", "prod")
    before = told("snapshots", "--format", "json")[1]
    assert told("db", "dump", "--output", tmp_path / "dump.jsonl")[0] == 0
    assert told("db", "check")[0] == 0
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path}/other.db")
    assert told("db", "upgrade")[0] == 0
    assert told("db", "restore", tmp_path / "dump.jsonl")[0] == 0
    assert told("snapshots", "--format", "json")[1] == before
    assert told("db", "restore", tmp_path / "dump.jsonl")[0] == 2
    monkeypatch.setattr("sys.stdin", StringIO())
    code, _, err = told("db", "downgrade", "--to", "base")
    assert (code, "--yes" in err, told("snapshots", "--format", "json")[1] == before) == (2, True, True)
    assert told("db", "downgrade", "--to", "base", "--yes")[0] == 0
    assert told("db", "downgrade", "--to", "base")[0] == 0  # nothing is left that could be lost
    assert told("db", "check")[0] == 2


def test_tokens_are_made_listed_and_revoked(told):
    code, secret, err = told("token", "create", "--name", "ci", "--write", "--account", "acme@example.com")
    assert code == 0
    assert "shown once" in err
    _, listed, _ = told("token", "list", "--format", "json")
    assert secret.strip() not in listed
    token = json.loads(listed)["tokens"][0]
    assert (token["name"], token["scope"], token["account"]) == ("ci", "write", "acme@example.com")
    assert "revoked" in told("token", "revoke", "ci")[1]
    assert json.loads(told("token", "list", "--format", "json")[1])["tokens"][0]["revokedAt"]


def _serving(arguments, environment):
    command = [sys.executable, "-m", "policyd", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    address = process.stdout.readline().rstrip().rpartition(" ")[2]
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{address}healthz").raise_for_status()
            return process, address
        except httpx.HTTPError:
            time.sleep(0.05)
    raise AssertionError(process.communicate(timeout=5))


def test_serve_prints_its_address_answers_and_stops_in_peace(tmp_path):
    """It migrates when told to, counts across workers, and finishes a request that it has when it is stopped."""
    environment = {**os.environ, "POLICYD_DATABASE_URL": f"sqlite:///{tmp_path}/policyd.db"}
    process, address = _serving(["--upgrade", "--workers", "2"], environment)
    try:
        ready = httpx.get(f"{address}readyz")
        assert ready.json() == {"status": "ok", "migration": migrate.newest()}
        for _ in range(5):
            assert httpx.get(f"{address}v1/snapshots").json() == {"snapshots": [], "next": None}
        metrics = httpx.get(f"{address}metrics").text
        assert 'policyd_requests_total{method="GET",route="/v1/snapshots",status="200"} 5.0' in metrics
        host, port = address.removeprefix("http://").rstrip("/").split(":")
        body = b'{"documents": [{"text": "manifestVersion: 1.6.0"}]}'
        head = f"POST /v1/audits HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:20])
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            connection.sendall(body[20:])
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert process.wait(20) in (0, -signal.SIGTERM)
    finally:
        if process.poll() is None:
            process.terminate()  # killed, it would leave its workers behind
            process.wait(30)
        lines = process.stderr.read().splitlines()
        process.stdout.close()
        process.stderr.close()
    logged = [json.loads(line) for line in lines if line.startswith("{")]
    assert {line["route"] for line in logged} >= {"/v1/snapshots", "/v1/audits"}
    assert "Traceback" not in "\n".join(lines)


def test_one_worker_told_to_stop_ends_well(tmp_path):
    """SIGTERM is how a service is stopped: after what it has, it ends with 0."""
    environment = {**os.environ, "POLICYD_DATABASE_URL": f"sqlite:///{tmp_path}/policyd.db"}
    process, address = _serving(["--upgrade"], environment)
    try:
        assert httpx.get(f"{address}readyz").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        if process.poll() is None:
            process.kill()
        assert "Traceback" not in process.stderr.read()
        process.stdout.close()
        process.stderr.close()


def test_an_address_beyond_loopback_asks_for_tokens(tmp_path):
    environment = {**os.environ, "POLICYD_DATABASE_URL": f"sqlite:///{tmp_path}/policyd.db"}
    process, address = _serving(["--upgrade", "--host", "0.0.0.0"], environment)
    try:
        assert httpx.get(f"{address}v1/snapshots".replace("0.0.0.0", "127.0.0.1")).status_code == 401
        assert httpx.get(f"{address}readyz".replace("0.0.0.0", "127.0.0.1")).status_code == 200
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
        process.stderr.close()
