"""Dumps: a whole database on the other engine, with the same digests, numbers and history."""

import io

import pytest
from contract.samples import NOW, deployment, full
from sqlalchemy import text

from policyd.findings import InputError
from policyd.store import audits, migrate
from policyd.store.codes import StoreError
from policyd.store.dump import dump, restore
from policyd.store.facts import Component
from policyd.store.ordering import ordered
from policyd.store.snapshots import load, put, snapshots
from policyd.store.tokens import TokenScope, create_token, verify_token


def filled(database):
    """A database with three revisions of two snapshots, a token and a decision; gives the token's text."""
    first = put(database, full(), at=NOW, by="test")
    put(database, deployment(components=(Component("shop:cart"), Component("ü:ä"))), at=NOW, by="test")
    put(database, full(), at=NOW, by="test")
    asked = ("Cart", "", "kv(a/b/c) : read : x.y", "", "next")
    entry = audits.LoggedDecision(first.snapshot.number, NOW.text, "ci", *asked, "no", "no", "yes", "[]")
    audits.log_decisions(database, [entry])
    return create_token(database, "ci", TokenScope.WRITE, at=NOW, by="test").secret


def dumped(database):
    output = io.StringIO()
    dump(database, output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("source", "target"), [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("sqlite", "sqlite")]
)
def test_a_database_moves_to_the_other_engine(make_database, source, target):
    """Everything is there afterwards, under the same numbers and digests, and new rows count on."""
    old, new = make_database(source), make_database(target)
    secret = filled(old)
    written = dumped(old)
    rows = restore(new, io.StringIO(written), at=NOW, by="test")
    assert rows == written.count("\n") - 2
    assert snapshots(new) == snapshots(old)
    for info in snapshots(old):
        assert load(new, info.number) == load(old, info.number)
    assert load(new, 1) == ordered(full())
    assert verify_token(new, secret, at=NOW) is not None
    assert audits.logged_decisions(new, 1) == audits.logged_decisions(old, 1)
    assert [e.action for _, e in audits.audit_log(new)] == [*(e.action for _, e in audits.audit_log(old)), "restore"]
    more = put(new, deployment(components=(Component("shop:cart"), Component("n:n"))), at=NOW, by="test")
    assert more.snapshot.number == 3
    assert more.snapshot.revision == 4


def test_a_dump_is_the_same_on_both_engines(make_database):
    """The same writes give the same dump, whichever engine they were made on, but for the token."""
    texts = []
    for engine in ("sqlite", "postgresql"):
        database = make_database(engine)
        put(database, full(), at=NOW, by="test")
        texts.append(dumped(database))
    assert texts[0] == texts[1]


def test_only_an_empty_database_is_filled(database):
    """Restoring over something is refused, and what is there stays."""
    filled(database)
    with pytest.raises(StoreError, match="STORE030"):
        restore(database, io.StringIO(dumped(database)), at=NOW, by="test")
    assert len(snapshots(database)) == 2


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda t: "", "STORE031"),
        (lambda t: t.replace("policyd-dump/1", "policyd-dump/2"), "STORE031"),
        (lambda t: t.replace(f'"{migrate.newest()}"', '"0000"', 1), "STORE031"),
        (lambda t: t[: len(t) // 2], "STORE031"),
        (lambda t: t.rpartition("\n{")[0] + "\n", "STORE031"),
        (lambda t: t.replace('"accounts"', '"nonsense"', 1), "STORE031"),
        (lambda t: t.replace("read : orders.**", "read : others.**"), "STORE032"),
    ],
)
def test_a_spoiled_dump_is_refused_as_a_whole(make_database, engine, spoil, code):
    """A file that is cut, changed or of another form leaves the database empty."""
    database = make_database(engine)
    source = make_database("sqlite")
    put(source, deployment(), at=NOW, by="test")
    with pytest.raises(InputError, match=code):
        restore(database, io.StringIO(spoil(dumped(source))), at=NOW, by="test")
    assert snapshots(database) == ()
    with database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM accounts")).scalar_one() == 0
