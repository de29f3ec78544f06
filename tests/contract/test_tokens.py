"""Tokens: shown once, kept as a hash, refused for every other text and after their time."""

import pytest
from contract.samples import NOW
from sqlalchemy import text

from policyd.core.cards import Timestamp
from policyd.findings import InputError
from policyd.store import audits
from policyd.store.snapshots import Scope
from policyd.store.tables import Base
from policyd.store.tokens import TokenScope, create_token, has_tokens, list_tokens, revoke_token, verify_token

LATER = Timestamp.parse("2026-06-01T00:00:00Z")


def make(database, name="ci", scope=TokenScope.READ, **others):
    return create_token(database, name, scope, at=NOW, by="test", **others)


def test_a_token_is_good_for_what_it_was_made_for(database):
    """The text that was shown is accepted, and tells scope and reach."""
    assert not has_tokens(database)
    made = make(database, account="ACME@x.io", application="shop")
    found = verify_token(database, made.secret, at=NOW)
    assert found == made.token
    assert found.reach == Scope("acme@x.io", "shop")
    assert has_tokens(database)
    assert [t.name for t in list_tokens(database)] == ["ci"]


def test_scopes_include_those_before(database):
    """Admin includes write, write includes read, and never the reverse."""
    order = list(TokenScope)
    for have in order:
        for want in order:
            assert have.includes(want) == (order.index(want) <= order.index(have))


def test_nothing_of_the_secret_is_kept(database):
    """No column of any table holds the secret half, nor a part of it."""
    secret = make(database).secret.split("_", 2)[2]
    with database.reading() as connection:
        for table in Base.metadata.sorted_tables:
            rows = str(connection.execute(table.select()).all())
            assert secret not in rows
            assert secret[:12] not in rows


def test_every_other_text_is_refused(database):
    """Wrong secrets, wrong ids, other lengths and other alphabets are refused alike."""
    good = make(database).secret
    other = make(database, "other").secret
    head, secret = good[:15], good.split("_", 2)[2]
    wrong = [
        "",
        "pd_",
        good[:-1],
        good + "A",
        good.upper(),
        f"{head}_{other.split('_', 2)[2]}",
        f"pd_{'0' * 12}_{secret}",
        f" {good}",
        f"{good}\n",
        good.replace("pd_", "pd-"),
        "x" * 10_000,
        "pd_é" + good[4:],
    ]
    assert [text for text in wrong if verify_token(database, text, at=NOW) is not None] == []
    assert verify_token(database, good, at=NOW) is not None


def test_a_token_ends(database):
    """At the moment of expiry a token is dead; a revoked one is dead at once, its name free again."""
    dated = make(database, expires_at=LATER)
    assert verify_token(database, dated.secret, at=Timestamp(LATER.seconds - 1)) is not None
    assert verify_token(database, dated.secret, at=LATER) is None
    revoked = revoke_token(database, "ci", at=NOW, by="test")
    assert revoked.revoked_at == NOW.text
    assert verify_token(database, dated.secret, at=NOW) is None
    again = make(database)
    assert verify_token(database, again.secret, at=NOW) is not None
    assert revoke_token(database, again.token.public_id, at=NOW, by="test").name == "ci"
    with pytest.raises(InputError, match="STORE041"):
        revoke_token(database, "ci", at=NOW, by="test")
    assert len(list_tokens(database)) == 2
    assert not has_tokens(database)


def test_names_are_taken_once(database):
    """Two live tokens never share a name."""
    make(database)
    with pytest.raises(InputError, match="STORE042"):
        make(database)


@pytest.mark.parametrize("others", [{"application": "shop"}, {"account": "a@x.io", "scope": TokenScope.ADMIN}])
def test_scopes_that_contradict_themselves(database, others):
    """An application needs its account, and an admin token is for everything."""
    with pytest.raises(InputError, match="STORE012"):
        make(database, **others)


@pytest.mark.parametrize(
    "change", ["scope = 'all'", "secret_hash = 'x'", "application = 'shop'", "scope = 'admin', account = 'a'"]
)
def test_the_database_itself_refuses_nonsense(database, change):
    """The constraints stand in the database, not only in code."""
    from policyd.store.codes import StoreError

    make(database)
    with pytest.raises(StoreError), database.writing() as connection:
        connection.execute(text(f"UPDATE api_tokens SET {change}"))


def test_writes_are_in_the_audit_log(database):
    """Who made and revoked a token is logged by its public id, without its secret; pages go on where they ended."""
    made = make(database, account="acme@x.io")
    revoke_token(database, "ci", at=LATER, by="pd:other")
    log = audits.audit_log(database)
    assert [(e.actor, e.action, e.subject, e.account) for _, e in log] == [
        ("test", "token.create", made.token.public_id, "acme@x.io"),
        ("pd:other", "token.revoke", made.token.public_id, "acme@x.io"),
    ]
    assert made.secret.split("_", 2)[2] not in str(log)
    assert audits.audit_log(database, after=log[0][0], limit=1) == log[1:]
    assert audits.audit_log(database, account="other@x.io") == ()


def test_decisions_are_logged_when_asked_for(database):
    """Logged decisions come back in order, by snapshot, in pages."""
    from contract.samples import deployment

    from policyd.store.snapshots import put

    number = put(database, deployment(), at=NOW, by="test").snapshot.number
    entries = [
        audits.LoggedDecision(
            number, NOW.text, "ci", "Cart", "", f"kv(a/b/c) : read : x.{i}", "", "next", "yes", "no", "unknown", "[]"
        )
        for i in range(3)
    ]
    audits.log_decisions(database, entries)
    audits.log_decisions(database, [])
    found = audits.logged_decisions(database, number)
    assert [entry for _, entry in found] == entries
    assert audits.logged_decisions(database, number, after=found[1][0]) == found[2:]
    assert audits.logged_decisions(database, number + 1) == ()
