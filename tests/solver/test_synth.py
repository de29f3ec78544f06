"""The least grants: case by case, and as a law over small worlds."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from callsets.reading import CASES, COMPONENT, HOLDER, cards, filled
from reference.callsets_brute import HOLDER as OTHER
from reference.callsets_brute import WORLDS, Brute, random_bounds
from ruamel.yaml import YAML

from policyd.core.callsets import Effort, Undecided, Universe
from policyd.core.cards import Bounds, Card, CardId, surface_of
from policyd.core.grants import AgentContext, Target
from policyd.solver.synth import NEW_CARD, NoSolution, Synthesis, SynthesisQuestion, synthesise
from policyd.syntax import Form, GrantSyntaxError, parse_grant, parse_target

CONTEXT = AgentContext("ana@lab.io", "shop", "prod", "shop:cart", "Cart", 'Cart("u1")')
TIMEOUT_MS = 20_000
READ = YAML(typ="safe").load((CASES.parent / "solver" / "synth.yaml").read_text("utf-8"))


def is_writable(target: Target) -> bool:
    text = f"{target.cls.name}({target.owner.text}) @ * : {target.verb} : {target.resource.text}"
    try:
        return parse_grant(text, Form.POLYMORPHIC).target == target
    except GrantSyntaxError:
        return False


def asked(text: str) -> Target:
    """A target as cases write it; ids with slashes are put in by hand, because no text says them."""
    text = filled(text).replace("⟨A⟩", f'{COMPONENT}/Cart("u1")')
    if '("a/b")' in text:
        plain = parse_target(text.replace("a/b", "ab"))
        return replace(plain, owner=replace(plain.owner, known=(*plain.owner.known[:4], 'Peer("a/b")')))
    return parse_target(text)


def polymorphic(lists: dict[str, list[str]]) -> Bounds:
    names = ("l+", "l-", "u+", "u-")
    return Bounds(*(tuple(parse_grant(filled(t), Form.POLYMORPHIC) for t in lists.get(n, ())) for n in names))


@pytest.mark.parametrize("case", READ, ids=[c["title"] for c in READ])
def test_synthesis(case: dict[str, Any]) -> None:
    """The grants are those of the case, or the refusal is."""
    question = SynthesisQuestion(
        tuple(map(asked, case["want"])),
        tuple(map(asked, case.get("never", ()))),
        HOLDER,
        CONTEXT,
        tuple(cards(case.get("cards", []))),
        polymorphic(case.get("kept", {})),
        tuple(cards(case["deployer"])) if "deployer" in case else None,
        Universe.of(HOLDER, agent_id=CONTEXT.agent_id),
        case.get("at_most"),
        is_writable,
    )
    answer = synthesise(question, TIMEOUT_MS)
    if "refused" in case:
        assert isinstance(answer, NoSolution)
        assert answer.reason == case["refused"]
        return
    assert isinstance(answer, Synthesis)
    assert sorted(g.target.text for g in answer.added) == case["grants"]
    assert [g.target.text for g in answer.denied] == [filled(t) for t in case.get("denied", ())]
    assert bool(answer.extra) is case.get("extra", False)


@pytest.mark.parametrize("make", WORLDS, ids=[m().cls.name for m in WORLDS])
def test_synthesis_serves_what_was_asked(make: Any) -> None:
    """Whatever is found admits all wanted calls and none of the unwanted ones; what is not found has a reason."""
    world = make()
    brute, rng = Brute(world), random.Random(31)
    found = 0
    for number in range(6):
        wanted, unwanted = rng.sample(world.calls, 2), rng.sample(world.calls, min(2, len(world.calls) - 2))
        others = (Card(CardId("1"), random_bounds(world, rng)),) if number % 3 == 2 else ()
        question = SynthesisQuestion(tuple(wanted), tuple(unwanted), OTHER, None, others)
        answer = synthesise(question, TIMEOUT_MS)
        if isinstance(answer, NoSolution):
            assert answer.calls or others
            continue
        assert isinstance(answer, Synthesis)
        found += 1
        surface = surface_of([*others, Card(NEW_CARD, answer.bounds)], OTHER)
        bits = brute.admitted(surface)
        admitted = set(brute.calls(bits))
        assert set(wanted) <= admitted
        assert not admitted & set(unwanted)
    assert found > 0


def test_a_spent_effort_is_undecided() -> None:
    """Where the proofs that belong to an answer do not end, there is no answer, and no defect either."""
    wanted = (parse_target("network() : connect : a.example.net:443"),)
    unwanted = (parse_target("network() : connect : *.other.com:443"),)
    kept = Bounds((parse_grant("network() @ * : connect : *.*.com:443", Form.POLYMORPHIC),))
    for left in (0, 1, 2, 3, 5, 8, 13, 21):
        question = SynthesisQuestion(wanted, unwanted, HOLDER, CONTEXT, kept=kept, steps=Effort(1_000, left))
        answer = synthesise(question, TIMEOUT_MS)
        assert isinstance(answer, Undecided | NoSolution | Synthesis)
        assert left or isinstance(answer, Undecided)


NEVER_ASKED = (
    ("filesystem(⟨A⟩) : read : /etc/{}", ("../x", "../y", "./x", "x", "y", "x/..", "y/..")),
    ("filesystem(⟨A⟩) : write : /{}", ("..", ".", "a", "a/../b", "a/../c")),
    ("secret(⟨E⟩) : reveal : {}", ("A", "B", "a", "b", "k.A", "k.a", "k.B")),
    ("kv(⟨E⟩) : list : {}", ("s.k", "s.l", "s.**", "t.k")),
    ("env(ana@lab.io/shop/prod/shop:cart/{}) : read : K", ("Cart", "Cart(1)", "Cart(2)", "Other", "Cart( 1 )")),
    ("card(ana@lab.io) : derive : {}", ("*", "ana@lab.io/shop/prod/shop:cart/Cart", "ana@lab.io/shop/*/*/*")),
    ("agent(⟨A⟩) : view : {}", ("run", "stop", "*", "")),
)
"""Forms of targets, many of which no operation asks for, so that no call tells their grants apart."""


@pytest.mark.parametrize("form", NEVER_ASKED, ids=[form for form, _ in NEVER_ASKED])
@pytest.mark.parametrize("seed", range(6))
def test_targets_that_nobody_asks_for_are_kept_apart_as_written(form: tuple[str, tuple[str, ...]], seed: int) -> None:
    """All wanted targets are admitted and no unwanted one, whether an operation asks for them or not."""
    rng = random.Random(seed)
    calls = [asked(form[0].replace("⟨E⟩", "ana@lab.io/shop/prod").format(word)) for word in form[1]]
    rng.shuffle(calls)
    cut = rng.randint(1, len(calls) - 1)
    wanted, unwanted = tuple(calls[:cut]), tuple(calls[cut:])
    answer = synthesise(SynthesisQuestion(wanted, unwanted, HOLDER, CONTEXT, is_writable=is_writable), TIMEOUT_MS)
    if isinstance(answer, NoSolution):
        assert any(u.covers(w) or w.covers(u) or not is_writable(w) for w in wanted for u in unwanted)
        return
    assert isinstance(answer, Synthesis)
    surface = surface_of([Card(NEW_CARD, answer.bounds, is_polymorphic=True).for_agent(CONTEXT)], HOLDER)
    assert all(map(surface.allows, wanted))
    assert not any(map(surface.allows, unwanted))


@pytest.mark.parametrize("seed", range(12))
def test_unwanted_patterns_that_overlap_get_no_negative_too_many(seed: int) -> None:
    """Of patterns that lie in each other, or meet only inside the grants kept, the needed ones are denied."""
    rng = random.Random(seed)
    verbs, resources = ("*", "read", "write"), ("orders.1", "orders.2", "orders.**", "*.**", "stock.1")
    texts = [f"kv(ana@lab.io/shop/prod) : {v} : {r}" for v in verbs for r in resources]
    unwanted = tuple(map(asked, rng.sample(texts, 4)))
    kept = [f"kv(?env) @ * : {rng.choice(verbs)} : {rng.choice(('orders.**', '*.**', 'orders.1'))}" for _ in range(2)]
    question = SynthesisQuestion(
        (asked("env(⟨A⟩) : read : HOME"),), unwanted, HOLDER, CONTEXT, kept=polymorphic({"l+": kept})
    )
    answer = synthesise(question, TIMEOUT_MS)
    assert isinstance(answer, Synthesis)
    surface = surface_of([Card(NEW_CARD, answer.bounds, is_polymorphic=True).for_agent(CONTEXT)], HOLDER)
    assert not any(map(surface.allows, unwanted))
