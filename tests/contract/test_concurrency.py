"""Many readers, several writers, and processes that die: nothing is lost and nothing is half there."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

from contract.samples import HOME, NOW, bounds, card_id, deployment, full

from policyd.core.cards import Card
from policyd.store import migrate
from policyd.store.digest import digests
from policyd.store.facts import CardFact
from policyd.store.merging import empty_deployment, with_platform
from policyd.store.ordering import ordered
from policyd.store.platform import Imported
from policyd.store.session import Database
from policyd.store.snapshots import change, load, put, resolve, snapshots
from policyd.store.who_can import who_can
from policyd.syntax import parse_target

URL = "kv(acme@x.io/shop/prod) : read : orders.x"


def import_card(url, number):
    database = Database.at(url)
    fact = CardFact(Card(card_id(number), bounds([f"kv(acme@x.io/shop/prod) @ * : read : s.k{number}"])))
    change(
        database,
        HOME,
        lambda latest: with_platform(latest, Imported(cards=[fact]), empty_deployment(*HOME)),
        at=NOW,
        by=f"writer {number}",
    )
    database.close()


def together(*calls):
    failures = []

    def run(call):
        try:
            call()
        except Exception as why:
            failures.append(why)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def test_concurrent_imports_lose_nothing(database):
    """Eight writers add a card each to the same environment; all are in the latest, and the history is whole."""
    url = database.url.render_as_string(hide_password=False)
    together(*(lambda n=n: import_card(url, n) for n in range(8)))
    latest = load(database, resolve(database, "@acme@x.io/shop/prod").number)
    assert {fact.card.id for fact in latest.cards} == {card_id(n) for n in range(8)}
    assert [info.revision for info in snapshots(database)] == list(range(1, 9))


def test_the_same_import_at_once_is_one_snapshot(database):
    """Six writers with the same facts make one snapshot and one revision."""
    url = database.url.render_as_string(hide_password=False)

    def run():
        own = Database.at(url)
        put(own, full(), at=NOW, by="test")
        own.close()

    together(*[run] * 6)
    assert [(info.number, info.revision) for info in snapshots(database)] == [(snapshots(database)[0].number, 1)]


def test_readers_see_one_state_while_others_write(database):
    """Reading during imports gives a whole state each time: the digest of what was read is the stored one."""
    url = database.url.render_as_string(hide_password=False)
    put(database, deployment(), at=NOW, by="test")
    done = threading.Event()
    seen = []

    def read():
        own = Database.at(url)
        while not done.is_set() or not seen:
            info = resolve(own, "@acme@x.io/shop/prod")
            seen.append(digests(load(own, info.number))[0] == info.digest)
            who_can(own, info.number, parse_target(URL))
        own.close()

    def write():
        for number in range(10):
            import_card(url, number)
        done.set()

    together(read, read, write)
    assert seen
    assert all(seen)


KILLED = """
import os, signal, sys
from dataclasses import replace
from contract.samples import NOW, full
from policyd.store.session import Database
from policyd.store.snapshots import put
from policyd.store import snapshots, writing

if sys.argv[2] == "before-commit":
    revise = snapshots._revise
    snapshots._revise = lambda *args: (revise(*args), os.kill(os.getpid(), signal.SIGKILL))

def progress(_):
    if sys.argv[2] == "while-writing":
        os.kill(os.getpid(), signal.SIGKILL)

put(Database.at(sys.argv[1]), replace(full(), manifest_version="2.0.0"), at=NOW, by="test", progress=progress)
"""


def test_kill_in_the_middle_of_an_import(database):
    """Kill -9 while rows are written, and again just before the end: the old state is there and can be written to."""
    before = put(database, full(), at=NOW, by="test").snapshot
    url = database.url.render_as_string(hide_password=False)
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for moment in ("while-writing", "before-commit"):
        process = subprocess.run(
            [sys.executable, "-c", KILLED, url, moment],
            check=False,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": tests},
        )
        assert process.returncode == -signal.SIGKILL, process.stderr.decode()
        assert resolve(database, "@acme@x.io/shop/prod") == before
        assert load(database, before.number) == ordered(full())
    assert migrate.differences(database) == ()
    after = put(database, replace(full(), manifest_version="2.0.0"), at=NOW, by="test")
    assert (after.is_new, after.snapshot.revision) == (True, 2)
