"""The document of a deployment: what is refused, and what merging makes of old and new facts."""

import copy
import io
import json
from dataclasses import replace

import pytest
from contract.samples import HOME, bounds, card_id, deployment, full, holder

from policyd.core.cards import Card
from policyd.findings import InputError
from policyd.store.digest import digests
from policyd.store.document import MARKER, deployment_json
from policyd.store.document_reading import read_deployment
from policyd.store.facts import CardFact, Component, Origin, RetryPolicyFact, WalletFact
from policyd.store.merging import empty_deployment, with_manifest, with_platform
from policyd.store.ordering import ordered
from policyd.store.platform import Imported, read_platform

EMPTY = empty_deployment(*HOME)


def changed(path, value):
    """The document of the full deployment with one member changed, or taken away for `...`."""
    document = copy.deepcopy(deployment_json(ordered(full())))
    at = document
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return document


def test_the_document_survives_json():
    """The document is plain JSON, and the same facts after writing and reading it."""
    facts = ordered(full())
    text = json.dumps(deployment_json(facts))
    assert read_deployment(json.loads(text)) == facts
    imported = read_platform(io.BytesIO(text.encode()), "export.json")
    assert imported.deployment == facts
    assert imported.count == 0


def test_values_are_markers():
    """Where a value was dropped the document says so, and a real value in its place is refused."""
    document = deployment_json(full())
    assert {value["value"] for value in document["values"]} == {MARKER}
    with pytest.raises(InputError, match="only its marker"):
        read_deployment(changed(("values", 0, "value"), "hunter2"))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("account",), ...),
        (("rules",), {"edition": "old", "switches": {}}),
        (("rules",), {"edition": "next", "switches": {"elapsed": "sometimes"}}),
        (("rules",), {"edition": "next", "switches": {"nonsense": "zero"}}),
        (("components",), {}),
        (("components", 0, "name"), 7),
        (("components", 1, "revision"), 2**64),
        (("components", 1, "revision"), True),
        (("agentTypes", 2, "initialCard", "lowerPositive", 0), "kv(?self) @ * : read : s.k"),
        (("agentTypes", 2, "initialCard", "lowerPositive"), ...),
        (("cards", 0, "card"), 1),
        (("cards", 1, "places"), [[]]),
        (("cards", 1, "places"), [[], [], [], []]),
        (("cards", 1, "place"), ["golem.yaml"]),
        (("revoked", 0, "cardId"), "x"),
        (("wallets", 0, "holder"), "acme@x.io/*/*"),
        (("wallets", 1, "cards", 0, "by"), "me"),
        (("wallets", 1, "cards", 0, "cardId"), None),
        (("wallets", 1, "cards", 1, "at"), "yesterday"),
        (("permissionShares", 0, "id"), "x"),
        (("permissionShares", 0, "revision"), -1),
        (("retryPolicies", 0, "origin"), "elsewhere"),
        (("chains", 0, "level"), "nowhere"),
        (("values", 0, "path"), "a"),
        (("findings", 0, "severity"), "bad"),
        (("findings", 0, "related"), 1),
    ],
)
def test_a_spoiled_document_is_refused_at_its_place(path, value):
    """Every wrong member is refused with a code, and with the path that leads to it or above it."""
    with pytest.raises(InputError) as refusal:
        read_deployment(changed(path, value))
    place = refusal.value.findings[0].span.path
    wanted = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    assert wanted.startswith(place) or place.startswith(wanted), (place, wanted)


def test_a_manifest_replaces_what_manifests_said():
    """A new manifest keeps cards, wallets, shares and what the platform said; the old manifest's facts go."""
    old = full()
    new = deployment(components=(Component("n:n"),), agent_types=())
    merged = with_manifest(old, new)
    assert merged.components == new.components
    assert merged.agent_types == merged.values == merged.chains == ()
    assert (merged.cards, merged.wallets, merged.shares) == (old.cards, old.wallets, old.shares)
    assert [p.origin for p in merged.retry_policies] == [Origin.PLATFORM]
    assert [f.origin for f in merged.findings] == [Origin.PLATFORM]
    assert with_manifest(None, new) == new


def test_importing_again_gives_the_same_facts():
    """The same documents in the same order give the same digest, however often."""
    fact = CardFact(Card(card_id(1), bounds(["kv(acme@x.io/shop/prod) @ * : read : s.k"])))
    imported = Imported(cards=[fact], revoked=[card_id(2)], wallets=[WalletFact(holder("acme@x.io"))])
    once = ordered(with_platform(deployment(), imported, EMPTY))
    twice = ordered(with_platform(with_manifest(once, deployment()), imported, EMPTY))
    assert digests(once)[0] == digests(twice)[0]
    assert with_platform(None, imported, EMPTY).cards == (fact,)


def test_a_card_never_changes():
    """A known card with other contents is refused with its place; with the same contents it is nothing new."""
    first = CardFact(Card(card_id(1), bounds(["kv(acme@x.io/shop/prod) @ * : read : s.k"])))
    other = CardFact(Card(card_id(1), bounds(["kv(acme@x.io/shop/prod) @ * : write : s.k"])))
    base = with_platform(None, Imported(cards=[first]), EMPTY)
    assert with_platform(base, Imported(cards=[first]), EMPTY) == base
    for cards in ([other], [other, first]):
        with pytest.raises(InputError, match="STORE024"):
            with_platform(base, Imported(cards=cards), EMPTY)


def test_newer_shares_and_policies_replace_older_ones():
    """A share gives way to a revision that is not older, a policy to the newest import of its name."""
    share = full().shares[0]
    older, newer = replace(share, revision=1, name="old"), replace(share, revision=2, name="new")
    base = with_platform(None, Imported(shares=[newer]), EMPTY)
    assert with_platform(base, Imported(shares=[older]), EMPTY).shares == (newer,)
    assert with_platform(base, Imported(shares=[replace(newer, revision=3)]), EMPTY).shares[0].revision == 3
    one, two = (RetryPolicyFact("r", n, "true", '"never"', Origin.PLATFORM) for n in (1, 2))
    base = with_platform(None, Imported(retry_policies=[one]), EMPTY)
    assert with_platform(base, Imported(retry_policies=[two]), EMPTY).retry_policies == (two,)


def test_digest_is_fixed():
    """The digest of known facts never changes, for it names snapshots across versions."""
    assert digests(ordered(deployment()))[0] == "f1f35510fe5845c5726caf447fc6561680784111333149b9618557c5a17c9c35"
