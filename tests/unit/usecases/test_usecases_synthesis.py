"""The least grants for an agent type: inside its ceilings and those of the deployer, as text that can be pasted."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from ruamel.yaml import YAML

from policyd.core.cards import Bounds, Card, CardId, account_root_bounds
from policyd.core.edition import NEXT
from policyd.findings import InputError
from policyd.manifest import load_text
from policyd.syntax import Form, parse_grant
from policyd.usecases.check_call import ManifestQuestion, check_manifest
from policyd.usecases.deployments import Selection, described
from policyd.usecases.holders import holders_in
from policyd.usecases.synthesis import START_UP_READS, Synthesised, calls_in, synthesis

SELECTION = Selection("prod")
CART = 'Cart("a")'
POOL = (
    "kv(?env) @ ?agent : * : orders.*",
    "kv(?env) @ ?agent : read : orders.42",
    "kv(?env) @ ?agent : write : *.**",
    "secret(?env) @ ?agent : reveal : stripe.**",
    "network() @ ?agent : connect : *.example.com:443",
    "filesystem(?agent) @ ?agent : read : /data/**",
    "env(?agent) @ ?agent : read : *",
)
WANTED = (
    "kv(?env) : read : orders.42",
    "kv(?env) : write : orders.7",
    "secret(?env) : reveal : stripe.key",
    "network() : connect : a.example.com:443",
    "filesystem(?agent) : read : /data/a.txt",
    "env(?agent) : read : HOME",
)
Lists = dict[str, list[str]]


def manifest(lists: Lists, files: str = "") -> str:
    lines = [
        "manifestVersion: 1.6.0",
        "app: shop",
        'environments: {prod: {server: local, account: "ann@x.io"}}',
        'components: {"shop:cart": {dir: cart, templates: rust}}',
        "agents:",
        "  Cart:",
        *([f"    files: {files}"] if files else []),
        "    initialCard:",
    ]
    for bound, keys in (("lowerBound", ("lower+", "lower-")), ("upperBound", ("upper+", "upper-"))):
        lines.append(f"      {bound}:")
        for sign, key in zip(("positive", "negative"), keys, strict=True):
            lines.append(f"        {sign}:{'' if lists.get(key) else ' []'}")
            lines += [f"          - '{text}'" for text in lists.get(key, ())]
    return "\n".join(lines) + "\n"


def admitted(lists: Lists, call: str, files: str = "") -> bool:
    found = described(load_text(manifest(lists, files), "golem.yaml"), SELECTION, NEXT)
    return check_manifest(found, SELECTION, ManifestQuestion(CART, call), NEXT).verdict.admitted.value == "yes"


def asked(
    lists: Lists,
    allow: list[str],
    deny: list[str],
    *,
    keep: bool,
    deployer: tuple[Card, ...] | None = None,
    files: str = "",
) -> Synthesised:
    found = described(load_text(manifest(lists, files), "golem.yaml"), SELECTION, NEXT)
    holder = holders_in(found, SELECTION).by_name["Cart"]
    context = replace(holder.context, agent_id=CART)
    calls = [calls_in("\n".join(texts), "calls", context, NEXT) for texts in (allow, deny)]
    return synthesis(holder, CART, calls[0], calls[1], deployer, NEXT, 5_000, keep=keep)


def pasted(lists: Lists, text: str) -> Lists:
    """The card after the printed lower bound took the place of its own."""
    card = YAML(typ="safe").load(text)["initialCard"]
    lower, upper = card["lowerBound"], card.get("upperBound", {})
    return {
        "lower+": list(lower.get("positive", [])),
        "lower-": list(lower.get("negative", [])),
        "upper+": [*lists.get("upper+", []), *upper.get("positive", [])],
        "upper-": [*lists.get("upper-", []), *upper.get("negative", [])],
    }


def granted(call: str) -> str:
    head, verb, resource = call.split(" : ")
    return f"{head} @ ?agent : {verb} : {resource}"


def some(rng: random.Random) -> Lists:
    return {
        "lower+": rng.sample(POOL, rng.randint(1, 4)),
        "lower-": rng.sample(POOL, rng.randint(0, 1)),
        "upper+": rng.sample(POOL, rng.choice((0, 0, 4, 6))),
        "upper-": rng.sample(POOL, rng.choice((0, 0, 0, 1))),
    }


@pytest.mark.parametrize("keep", [False, True], ids=["anew", "kept"])
@pytest.mark.parametrize("seed", range(10))
def test_the_pasted_text_does_what_was_asked_and_no_grant_of_it_can_go(seed: int, keep: bool) -> None:
    """All wanted, none unwanted, start-up reads not lost; what is refused the exact grants do not reach either."""
    rng = random.Random(seed)
    lists, calls = some(rng), rng.sample(WANTED, 4)
    allow, deny = calls[:2], calls[2:]
    found = asked(lists, allow, deny, keep=keep)
    assert not found.undecided
    if found.refusal:
        exact = {
            **lists,
            "lower+": [*(lists["lower+"] if keep else []), *map(granted, allow)],
            "lower-": [*(lists["lower-"] if keep else []), *map(granted, deny)],
        }
        assert [admitted(exact, call) for call in calls] != [True, True, False, False]
        return
    new = pasted(lists, found.yaml)
    assert [admitted(new, call) for call in calls] == [True, True, False, False]
    reads = [f"env(?agent) : read : {name}" for name in START_UP_READS]
    kept = [call for call in reads if admitted(lists, call)]
    assert all(admitted(new, call) for call in kept)
    for text in found.added:
        fewer = {**new, "lower+": [t for t in new["lower+"] if t != text]}
        assert not all(admitted(fewer, call) for call in (*allow, *kept)), text
    for text in found.denied:
        fewer = {**new, "lower-": [t for t in new["lower-"] if t != text]}
        assert any(admitted(fewer, call) for call in deny), text


def test_a_call_outside_the_ceiling_names_what_the_ceiling_lists() -> None:
    """With and without the present lower bound the ceiling holds, and its grants are told with their places."""
    lists = {"lower+": [POOL[6]], "upper+": [POOL[6], "kv(?env) @ ?agent : read : stock.*"]}
    for keep in (False, True):
        found = asked(lists, ["kv(?env) : read : orders.42"], [], keep=keep)
        assert "`kv(?env) @ ?agent : read : stock.*` (golem.yaml:15:14)" in found.refusal
        assert "of its class the ceiling lists only" in found.refusal
        none = asked(lists, ["network() : connect : a.example.com:443"], [], keep=keep)
        assert "the ceiling lists nothing of its class" in none.refusal


def test_an_upper_negative_that_denies_is_named() -> None:
    """So is a negative of the lower bound that is kept."""
    lists = {"lower+": [POOL[6]], "upper-": ["kv(?env) @ ?agent : * : *.**"]}
    assert "denied by `kv(?env) @ ?agent : * : *.**` (golem.yaml" in asked(lists, [WANTED[0]], [], keep=False).refusal
    lists = {"lower+": [POOL[6]], "lower-": ["kv(?env) @ ?agent : * : *.**"]}
    assert "denied by `kv(?env) @ ?agent : * : *.**` (golem.yaml" in asked(lists, [WANTED[0]], [], keep=True).refusal
    assert not asked(lists, [WANTED[0]], [], keep=False).refusal


def test_start_up_reads_stay_unless_they_are_to_be_kept_out() -> None:
    """They are marked; one that is denied is told; a card without them gets none."""
    lists = {"lower+": ["env(?agent) @ ?agent : read : *"]}
    found = asked(lists, [WANTED[0]], [], keep=False)
    assert 'GOLEM_AGENT_ID"  # the SDK reads it at start-up' in found.yaml
    assert any("stay admitted" in note for note in found.notes)
    denied = asked(lists, [WANTED[0]], ["env(?agent) : read : GOLEM_AGENT_ID"], keep=False)
    assert "GOLEM_AGENT_ID" not in denied.yaml
    assert "GOLEM_COMPONENT_ID" in denied.yaml
    assert any("`GOLEM_AGENT_ID`, which the SDK reads at start-up, is not admitted" in note for note in denied.notes)
    assert "GOLEM" not in asked({"lower+": [POOL[0]]}, [WANTED[0]], [], keep=False).yaml


def test_the_present_lower_bound_is_printed_with_what_is_added() -> None:
    """Kept texts stand as written, additions are marked, and what `files` adds is not written out."""
    lists = {"lower+": ["env(?agent) @ ?agent : read : *"], "lower-": ["env(?agent) @ ?agent : read : SECRET"]}
    files = "[{sourcePath: a, targetPath: /a.txt}]"
    found = asked(lists, [WANTED[0]], [], keep=True, files=files)
    assert found.yaml.split("\n") == [
        "# the whole lower bound: keep the rest of the card",
        "initialCard:",
        "  lowerBound:",
        "    positive:",
        '      - "env(?agent) @ ?agent : read : *"',
        '      - "kv(?env) @ ?agent : read : orders.42"  # added',
        "    negative:",
        '      - "env(?agent) @ ?agent : read : SECRET"',
    ]
    anew = asked(lists, ["filesystem(?agent) : read : /a.txt", WANTED[0]], [], keep=False, files=files)
    assert anew.added == (
        "env(?agent) @ ?agent : read : GOLEM_AGENT_ID",
        "env(?agent) @ ?agent : read : GOLEM_COMPONENT_ID",
        "kv(?env) @ ?agent : read : orders.42",
    )


def bounds(positive: list[str], negative: list[str] = [], upper: list[str] = []) -> Bounds:  # noqa: B006 (never changed)
    return Bounds(*(tuple(parse_grant(t, Form.CONCRETE) for t in texts) for texts in (positive, negative, upper, [])))


def test_the_cards_of_the_deployer_hold() -> None:
    """What they do not give is refused; negatives to restate and a ceiling to have are part of the text."""
    root = account_root_bounds("ann@x.io")
    lists = {"lower+": ["env(?agent) @ ?agent : read : *"]}
    small = Card(CardId("d"), bounds(["kv(ann@x.io/shop/prod) @ * : read : *.**"]))
    found = asked(lists, ["network() : connect : a.example.com:443"], [], keep=False, deployer=(small,))
    assert found.refusal.startswith("the deployer's cards give nothing that lets this through")
    refused = asked(lists, [WANTED[0]], [], keep=True, deployer=(small,))
    assert refused.refusal.startswith("the deployer's cards do not allow what the card has already: `env(")
    negative = "kv(ann@x.io/shop/prod) @ * : delete : orders.*"
    limited = Card(
        CardId("d"),
        Bounds(
            root.lower_positive,
            bounds([negative]).lower_positive,
            bounds(
                ["kv(ann@x.io/shop/prod) @ * : * : *.**", "env(ann@x.io/shop/prod/*/*) @ * : read : *"]
            ).lower_positive,
        ),
    )
    made = asked(lists, [WANTED[0]], [], keep=False, deployer=(limited,))
    assert not made.refusal
    assert f'- "{negative}"  # demanded by the deployer\'s cards' in made.yaml
    assert "  upperBound:" in made.yaml
    new = pasted(lists, made.yaml)
    assert admitted(new, WANTED[0])
    own = {**lists, "upper+": ["kv(?env) @ ?agent : read : *.**"]}
    refused = asked(own, [WANTED[0]], [], keep=False, deployer=(limited,))
    assert "do not allow what the card has already (theirs: `kv(ann@x.io/shop/prod) @ * : * : *.**`)" in refused.refusal
    own = {**lists, "upper+": ["kv(?env) @ * : read : *.**"]}
    assert not asked(own, [WANTED[0]], [], keep=False, deployer=(limited,)).refusal
    assert (
        "a ceiling or an upper negative withholds it"
        in asked(own, [WANTED[1]], [], keep=False, deployer=(limited,)).refusal
    )


NEVER_ASKED = (
    "filesystem(?agent) : read : /etc/../x",
    "filesystem(?agent) : read : /etc/.",
    "kv(?env) : list : orders.42",
    "secret(?env) : reveal : Stripe",
    "agent(?component/Peer) : invoke : run",
    "environment(?env) : view : @rev=3",
)
ASKED = (
    *WANTED,
    "filesystem(?agent) : read : /etc/x",
    "filesystem(?agent) : read : /etc/y",
    "kv(?env) : list : orders.**",
    "agent(?component/Peer(*)) : view : ",
    "env(?component/Peer(1)) : read : HOME",
    "env(?component/Peer(1)) : read : KEY",
    "filesystem(?component/Peer(1)) : read : /a",
    "filesystem(?component/Peer(2)) : read : /b",
    "filesystem(?component/*) : read : /c/**",
)


@pytest.mark.parametrize("is_wanted", [True, False], ids=["wanted", "unwanted"])
@pytest.mark.parametrize("call", NEVER_ASKED)
def test_what_no_operation_asks_for_is_refused_with_its_place(call: str, is_wanted: bool) -> None:
    """No grant lets it through, and a negative for it keeps nothing out; all such lines are told."""
    lists = {"lower+": [POOL[0]]}
    lines = ["# first", WANTED[0], f"  {call}", "oplog(?component/Peer) : read : *", call]
    with pytest.raises(InputError) as refused:
        asked(lists, lines if is_wanted else [], [] if is_wanted else lines, keep=False)
    found = refused.value.findings
    assert [f.code for f in found] == ["GRANT010", "GRANT010"]
    assert [(f.span.line, f.span.column) for f in found if f.span] == [(3, 3), (4, 1)]
    assert call in found[0].message


@pytest.mark.parametrize("keep", [False, True], ids=["anew", "kept"])
@pytest.mark.parametrize("seed", range(12))
def test_a_question_is_refused_or_answered_as_it_is_written(seed: int, keep: bool) -> None:
    """With targets that nobody asks for, and files and variables of others, in both lists."""
    rng = random.Random(100 + seed)
    lists = some(rng)
    calls = rng.sample((*ASKED, *NEVER_ASKED), 5)
    allow, deny = calls[:3], calls[3:]
    if set(calls) & set(NEVER_ASKED):
        with pytest.raises(InputError) as refused:
            asked(lists, allow, deny, keep=keep)
        assert {f.code for f in refused.value.findings} == {"GRANT010"}
        return
    found = asked(lists, allow, deny, keep=keep)
    assert not found.undecided
    if not found.refusal:
        new = pasted(lists, found.yaml)
        assert [admitted(new, call) for call in calls] == [True, True, True, False, False]


def test_a_question_without_wanted_calls_and_one_that_is_answered_already_say_so() -> None:
    """Anew and kept; an empty lower bound is written out."""
    lists = {"lower+": [POOL[0]]}
    empty, have = asked(lists, [], [], keep=False), asked(lists, [WANTED[0]], [], keep=False)
    assert empty.yaml.endswith("  lowerBound:\n    positive: []")
    assert "no call is wanted: the new lower bound lets none through that it need not" in empty.notes
    assert have.added == ("kv(?env) @ ?agent : read : orders.42",)
    assert "the present card admits all wanted calls already" in have.notes
    empty, have = asked(lists, [], [], keep=True), asked(lists, [WANTED[0]], [WANTED[2]], keep=True)
    assert empty.added == have.added == ()
    assert "no call is wanted" in empty.notes
    assert "the present card admits all wanted calls and none of the unwanted ones already" in have.notes
    assert not any("already" in note for note in asked(lists, [WANTED[2]], [], keep=True).notes)
    assert not any("already" in note for note in asked(lists, [WANTED[0]], [WANTED[1]], keep=True).notes)
