"""Nothing secret is ever stored: not in a column, not in a file of the database, not in a dump, not as a hash."""

import base64
import hashlib
import io
import json
from pathlib import Path

import pytest
from contract.samples import HOME, NOW, bounds, card_id

from policyd.core.cards import Bound, Card
from policyd.findings import InputError
from policyd.store.document import MARKER, deployment_json
from policyd.store.dump import dump
from policyd.store.facts import CardFact, Component, Deployment, Level, NamedValue, ValueKind
from policyd.store.merging import empty_deployment, with_platform
from policyd.store.platform import read_platform
from policyd.store.snapshots import change, load, put
from policyd.syntax.cards import card_json

SECRET = "hunter2-hunter2-hunter2"


def traces(secret):
    """The secret, and what is easily made from it."""
    raw = secret.encode()
    return (
        secret,
        base64.b64encode(raw).decode(),
        raw.hex(),
        *(hashlib.new(name, raw).hexdigest() for name in ("md5", "sha1", "sha256", "sha512", "blake2b")),
    )


def everything(database):
    """All that the database keeps: a dump, and the bytes of its files where it has any."""
    output = io.StringIO()
    dump(database, output)
    found = output.getvalue()
    if database.is_sqlite:
        path = Path(database.url.database)
        for file in path.parent.glob(f"{path.name}*"):
            found += file.read_bytes().decode("latin-1")
    return found


def document():
    """Platform JSON with values in members that policyd does not know, at several depths."""
    card = card_json(Card(card_id(1), bounds(["kv(acme@x.io/shop/prod) @ * : read : s.k"])), tagged=True)
    share = {
        "id": card_id(60),
        "revision": 0,
        "ownerAccountId": card_id(61),
        "targetAccountId": card_id(62),
        "name": "team",
        "note": SECRET,
        "data": {**{bound.value: card[bound.value] for bound in Bound}, "token": SECRET},
    }
    wallet = {"holder": "acme@x.io", "cards": [{**card, "password": SECRET}], "env": {"TOKEN": SECRET}}
    policy = {"name": "r", "priority": 1, "predicate": True, "policy": "never", "headers": [SECRET]}
    return json.dumps([{**card, "secret": SECRET}, share, wallet, policy])


def test_unknown_members_are_never_stored(database):
    """Values of members that policyd does not know are dropped at the rim; their names are reported."""
    imported = read_platform(io.BytesIO(document().encode()), "in.json")
    change(database, HOME, lambda latest: with_platform(latest, imported, empty_deployment(*HOME)), at=NOW, by="test")
    kept = everything(database)
    assert [trace for trace in traces(SECRET) if trace in kept] == []
    names = {fact.finding.message.split("`")[1] for fact in imported.findings}
    assert names == {"secret", "note", "token", "password", "env", "headers"}


def test_a_secret_of_the_platform_is_refused_unseen(database):
    """A secret's own document is refused, and the refusal does not repeat it."""
    text = json.dumps({"path": ["stripe", "key"], "secretType": {}, "secretValue": {"kind": "text", "value": SECRET}})
    with pytest.raises(InputError, match="STORE025") as refusal:
        read_platform(io.BytesIO(text.encode()), "in.json")
    assert SECRET not in repr(refusal.value.findings)
    assert SECRET not in everything(database)


def test_names_of_values_are_kept_with_a_marker(database):
    """What is kept of a value is its name; in its place stands the marker, and no field could hold it."""
    value = NamedValue(ValueKind.SECRET, Level.ENVIRONMENT, "", ("stripe", "key"))
    facts = Deployment(
        *HOME, components=(Component("shop:cart"),), cards=(CardFact(Card(card_id(1))),), values=(value,)
    )
    number = put(database, facts, at=NOW, by="test").snapshot.number
    exported = deployment_json(load(database, number))
    assert [entry["value"] for entry in exported["values"]] == [MARKER]
    assert not {"value", "hash", "length"} & set(NamedValue.__slots__)
