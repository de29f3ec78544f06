"""Laws of diff, prove, what-if and synth on small generated manifests: what is told is what `check` decides."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import pytest

from policyd.core.callsets import Difference
from policyd.core.edition import NEXT
from policyd.findings import InternalDefect
from policyd.manifest import load_text
from policyd.usecases.changes import Changes, changes_between, changes_json
from policyd.usecases.check_call import ManifestQuestion, check_manifest
from policyd.usecases.cross_check import CrossCheck
from policyd.usecases.deployments import Described, Selection, described
from policyd.usecases.holders import Holders, holders_in, surface_for, variants
from policyd.usecases.proofs import prove_query, prove_relation
from policyd.usecases.what_if import LISTS, Edit, what_if

SEEDS = range(24)
SELECTION = Selection("prod")
POOL = (
    "kv(?env) @ ?agent : * : orders.*",
    "kv(?env) @ ?agent : read : orders.42",
    "kv(?env) @ ?agent : write : *.**",
    "secret(?env) @ ?agent : reveal : stripe.**",
    "secret(?env) @ ?agent : * : stripe.key",
    "network() @ ?agent : connect : *.example.com:443",
    "network() @ ?agent : connect : *",
    "filesystem(?agent) @ ?agent : read : /data/**",
    "filesystem(?agent) @ ?agent : * : /data/*",
    'env(?component/Cart("u1")) @ ?agent : read : HOME',
    "env(?agent) @ ?agent : read : *",
    "rdbms(?env) @ ?agent : query : shop.public.*",
    "agent(?component/Cart(*)) @ ?agent : invoke : *",
)
WANTED = (
    "kv(?env) : read : orders.42",
    "kv(?env) : write : orders.7",
    "secret(?env) : reveal : stripe.key",
    "network() : connect : a.example.com:443",
    "filesystem(?agent) : read : /data/a.txt",
    "env(?agent) : read : HOME",
)


@dataclass(frozen=True)
class Made:
    """A generated deployment."""

    described: Described
    holders: Holders

    def admitted(self, call: str, agent: str) -> str:
        """What `check` says."""
        answer = check_manifest(self.described, SELECTION, ManifestQuestion(agent, call), NEXT)
        return answer.verdict.admitted.value


def manifest(lists: dict[str, list[str]]) -> str:
    """A manifest with one agent type whose card has these lists."""
    bounds = {"lowerBound": ("lower+", "lower-"), "upperBound": ("upper+", "upper-")}
    lines = [
        "manifestVersion: 1.6.0",
        "app: shop",
        'environments: {prod: {server: local, account: "ann@x.io"}}',
        'components: {"shop:cart": {dir: cart, templates: rust}}',
        "agents:",
        "  Cart:",
        "    initialCard:",
    ]
    for name, (positive, negative) in bounds.items():
        lines.append(f"      {name}:")
        for sign, key in (("positive", positive), ("negative", negative)):
            lines.append(f"        {sign}:{'' if lists[key] else ' []'}")
            lines += [f"          - '{text}'" for text in lists[key]]
    return "\n".join(lines) + "\n"


def some(rng: random.Random) -> dict[str, list[str]]:
    """Lists of grants."""
    return {
        "lower+": rng.sample(POOL, rng.randint(1, 5)),
        "lower-": rng.sample(POOL, rng.randint(0, 1)),
        "upper+": rng.sample(POOL, rng.choice((0, 0, 4, 8))),
        "upper-": rng.sample(POOL, rng.choice((0, 0, 1))),
    }


def made(lists: dict[str, list[str]]) -> Made:
    found = described(load_text(manifest(lists), "golem.yaml"), SELECTION, NEXT)
    return Made(found, holders_in(found, SELECTION))


def instance_of(name: str) -> str:
    """The instance that a holder of an answer stands for."""
    _, _, instance = name.partition(" as ")
    return instance or 'Cart("a")'


def demand_true(changes: Changes, old: Made, new: Made) -> int:
    """Every witness is decided as told; how many there are."""
    count = 0
    for holder in changes.holders:
        agent = instance_of(holder.name)
        for side, wanted in ((holder.started, ("no", "yes")), (holder.stopped, ("yes", "no"))):
            for witness in side.witnesses:
                call = witness.call
                assert (old.admitted(call, agent), new.admitted(call, agent)) == wanted, (holder.name, call)
                count += 1
        assert not (holder.started.undecided)
        assert not (holder.stopped.undecided)
    return count


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_changes_between_equals(seed: int) -> None:
    """The difference of a deployment with itself, and with itself in another order, is proved empty."""
    rng = random.Random(seed)
    lists = some(rng)
    mixed = {key: rng.sample(texts, len(texts)) for key, texts in lists.items()}
    for other in (lists, mixed):
        changes = changes_between(made(lists).holders, made(other).holders, NEXT)
        assert all(holder.is_none for holder in changes.holders)
        assert not (changes.has_new_access)
        assert not (changes.has_lost_access)
        assert not (changes.is_undecided)


def test_witnesses_are_decided_as_told() -> None:
    """What starts is admitted by the new version and not by the old one, in the words of `check`."""
    count = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        old, new = made(some(rng)), made(some(rng))
        changes = changes_between(old.holders, new.holders, NEXT)
        back = changes_between(new.holders, old.holders, NEXT)
        assert [h.started.count for h in changes.holders] == [h.stopped.count for h in back.holders]
        count += demand_true(changes, old, new)
    assert count > 100


@pytest.mark.parametrize("seed", range(2))
def test_the_solver_comes_to_the_same(seed: int) -> None:
    """Cross-checked answers are the plain ones, with a note; their witnesses are cut after the check."""
    rng = random.Random(seed)
    old, new = made(some(rng)).holders, made(some(rng)).holders
    plain, checked = changes_between(old, new, NEXT, 1), changes_between(old, new, NEXT, 1, is_cross_checked=True)
    assert changes_json(replace(checked, notes=plain.notes)) == changes_json(plain)
    assert [note for note in checked.notes if note.startswith("cross-checked")]
    proof = prove_relation(old, new, "implies", NEXT, is_cross_checked=True)
    assert proof.word == ("fails" if any(h.stopped.count for h in plain.holders) else "holds")


def test_a_contradicted_answer_is_a_defect() -> None:
    """A difference that forgets its witnesses is never shown as cross-checked."""
    old, new = (
        made({key: [] for key in ("lower+", "lower-", "upper+", "upper-")}),
        made({"lower+": [POOL[0]], "lower-": [], "upper+": [], "upper-": []}),
    )
    before, after = old.holders.by_name["Cart"], new.holders.by_name["Cart"]
    instance, universe = variants([before, after], NEXT)[0]
    wrong = Difference((), 0, (), len(universe.classes))
    with pytest.raises(InternalDefect):
        CrossCheck().difference(wrong, surface_for(after, instance), surface_for(before, instance), universe)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_if_is_the_difference_to_the_edited_manifest(seed: int) -> None:
    """Adding a grant, or taking one away at its place, and comparing with the manifest so written agree."""
    rng = random.Random(seed)
    lists = some(rng)
    before = made(lists)
    key, word = rng.choice([("lower+", "lower-positive"), ("lower-", "lower-negative"), ("upper-", "upper-negative")])
    text = rng.choice(POOL)
    after = made({**lists, key: [*lists[key], text]})
    added = what_if(before.holders, Edit(((LISTS[word], text),)), NEXT)
    demand_true(added, before, after)
    plain = changes_between(before.holders, after.holders, NEXT)
    assert [(h.name, h.started.count, h.stopped.count) for h in added.holders] == [
        (h.name, h.started.count, h.stopped.count) for h in plain.holders
    ]
    line = next(n for n, row in enumerate(manifest(lists).split("\n"), 1) if row.endswith(f"- '{lists['lower+'][0]}'"))
    without = made({**lists, "lower+": lists["lower+"][1:]})
    demand_true(what_if(before.holders, Edit(remove=(f"golem.yaml:{line}",)), NEXT), before, without)


@pytest.mark.parametrize("seed", range(8))
def test_proofs_agree_with_check(seed: int) -> None:
    """A query for one call is proved exactly where `check` says yes or no to it; a witness is decided as told."""
    lists = some(random.Random(seed))
    found = made(lists)
    for call in WANTED:
        verdict = found.admitted(call, 'Cart("a")')
        never = prove_query(found.holders, call, NEXT, is_never=True).results[0]
        always = prove_query(found.holders, call, NEXT, is_never=False).results[0]
        assert (never.word, always.word) == (("fails", "holds") if verdict == "yes" else ("holds", "fails")), call
    wide = prove_query(found.holders, "kv(any) : any : any", NEXT, is_never=True)
    for result in wide.results:
        if result.witness:
            assert found.admitted(result.witness, instance_of(result.name)) == "yes"


@pytest.mark.parametrize("seed", range(12))
def test_an_edit_that_changes_nothing_is_told_with_a_reason_and_only_then(seed: int) -> None:
    """One grant more or less: there is a reason exactly where the difference is proved empty."""
    rng = random.Random(seed)
    lists = some(rng)
    holders = made(lists).holders
    told = 0
    for word, bound in LISTS.items():
        text = rng.choice(POOL)
        changes = what_if(holders, Edit(add=((bound, text),)), NEXT)
        is_told = any(f"`{text}` changes nothing for Cart" in note for note in changes.notes)
        assert is_told is all(holder.is_none for holder in changes.holders), (word, text, changes)
        told += is_told
    for _, _, placed in holders.by_name["Cart"].card.each():
        assert placed.span is not None
        changes = what_if(holders, Edit(remove=(placed.span.where,)), NEXT)
        is_told = any("nothing changes for Cart" in note for note in changes.notes)
        assert is_told is all(holder.is_none for holder in changes.holders), (placed.text, changes)


INSTANCES = ('Cart("a")', 'Cart("u1")', "Cart(7)", "Cart(7)[7d0f0f0f-0000-4000-8000-00000000000b]", 'Cart("new")')
CALLS_ON = ("oplog({}) : read : *", "agent({}) : view : ", "env({}) : read : KEY", "filesystem({}) : read : /data/a")
OWNERS = ("?component/{}", "?env/shop:cart/{}", "?app/prod/shop:cart/{}", "?account/shop/prod/shop:cart/{}",
          "ann@x.io/shop/prod/shop:cart/{}")  # fmt: skip
OWN = (
    "oplog(?agent) @ ?agent : read : *",
    "agent(?agent) @ ?agent : * : *",
    "env(?agent) @ ?agent : read : *",
    "filesystem(?agent) @ ?agent : read : /data/**",
    "agent(?component/Cart(*)) @ ?agent : view : ",
    "agent(?component/Cart(7)) @ ?agent : fork : ",
)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("seed", range(3))
def test_a_query_about_an_instance_holds_for_that_instance_too(seed: int, owner: str) -> None:
    """However its owner is written: what holds for all is what `check` says of it, and so is every witness."""
    rng = random.Random(seed)
    lists = {"lower+": rng.sample(OWN, rng.randint(1, 4)), "lower-": rng.sample(OWN, rng.choice((0, 0, 1)))}
    deployment = made({**lists, "upper+": [], "upper-": []})
    for named, call in rng.sample([(named, call) for named in INSTANCES for call in CALLS_ON], 7):
        target = call.format(owner.format(named))
        for is_never in (True, False):
            proof = prove_query(deployment.holders, target, NEXT, is_never=is_never)
            if all(row.word == "holds" for row in proof.results):
                assert (deployment.admitted(target, named) == "no") is is_never
            for row in proof.results:
                if row.witness:
                    assert (deployment.admitted(row.witness, row.agent) == "yes") is is_never
