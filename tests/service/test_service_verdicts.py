"""Compiled wallets give exactly the verdicts of the plain evaluator: facets, reasons, places, interval, reach."""

import random
import threading
import time

import pytest

from policyd.core.admission import Call, HeldCard, Wallet, admit_type
from policyd.core.cards import Bounds, Card, CardId, Timestamp
from policyd.core.grants import AgentContext, account_holder, agent_holder
from policyd.syntax import Form, parse_grant, parse_target
from policyd.usecases.compiled_holder import CompiledType
from policyd.usecases.recent import Recent

CONTEXT = AgentContext("ana@lab.io", "atlas", "qa", "geo:core", "Mapper")
HERE = "ana@lab.io/atlas/qa"
PHANTOM = 'Mapper("n1")[7d0f0f0f-0000-4000-8000-00000000000b]'
TARGETS = (
    f"secret({HERE}) : reveal : stripe.key",
    f"secret({HERE}) : * : *",
    "secret(ana@lab.io/atlas/prod) : reveal : stripe.key",
    f"kv({HERE}) : read : orders.42",
    f"kv({HERE}) : delete : orders.*",
    "network() : connect : api.example.com:443",
    "network() : connect : *",
    f'agent({HERE}/geo:core/Mapper("n1")) : view : ',
    "agent(?agent) : view : ",
    f"agent({HERE}/geo:core/{PHANTOM}) : view : ",
    "filesystem(?agent) : read : /data/a",
    "card(ana@lab.io) : revoke : *",
)
GRANTS = (
    ("secret", (HERE, "ana@lab.io/*/*", "?env"), ("reveal", "hold", "*"), ("stripe.key", "stripe.*", "*")),
    ("kv", (HERE, "?env", "*/*/*"), ("read", "delete", "*"), ("orders.*", "orders.42", "*.**")),
    ("network", ("",), ("connect", "*"), ("api.example.com:443", "*.example.com", "*")),
    (
        "agent",
        ("?agent", f'{HERE}/geo:core/Mapper("n1")', f"{HERE}/geo:core/Mapper(*)", f"{HERE}/*/*"),
        ("view", "*"),
        ("", "*"),
    ),
    ("filesystem", ("?agent", f"{HERE}/*/*"), ("read", "*"), ("/data/**", "/data/*", "/**")),
    ("card", ("ana@lab.io",), ("revoke", "install", "*"), ("*",)),
)
RECIPIENTS = ("*", "ana@lab.io", "bob@lab.io", f"{HERE}/geo:core/Mapper", f"{HERE}/geo:core/Router")
MOMENTS = (None, Timestamp(0), Timestamp(100), Timestamp(150), Timestamp(200), Timestamp(300))


def _grant(dice, slots):
    name, owners, verbs, resources = dice.choice(GRANTS)
    owner = dice.choice([o for o in owners if slots or "?" not in o] or [HERE])
    verb, resource = dice.choice(verbs), dice.choice(resources)
    if name == "agent" and verb == "*":
        resource = "*"
    if name == "agent" and verb == "view":
        resource = ""
    text = f"{name}({owner}) @ {dice.choice(RECIPIENTS)} : {verb} : {resource}"
    return parse_grant(text, Form.POLYMORPHIC if slots else Form.CONCRETE)


def _card(dice, number):
    slots = dice.random() < 0.4
    lists = [tuple(_grant(dice, slots) for _ in range(dice.randrange(most))) for most in (7, 3, 4, 3)]
    if dice.random() < 0.5:
        lists[2] = ()
    expires = dice.choice((None, None, Timestamp(100), Timestamp(200)))
    card = Card(CardId(f"7d0f0f0f-0000-4000-8000-{number:012d}"), Bounds(*lists), slots, expires_at=expires)
    return HeldCard(card, dice.random() < 0.3, dice.random() < 0.5)


def _wallet(dice, holder_kind):
    cards = tuple(_card(dice, number) for number in range(dice.randrange(6)))
    revoked = frozenset(held.card.id for held in cards if dice.random() < 0.15)
    if holder_kind == "account":
        cards = tuple(held for held in cards if not held.card.is_polymorphic)
        return Wallet.of(account_holder("ana@lab.io"), cards, None, "", revoked)
    agent_id = {"type": None, "agent": 'Mapper("n1")', "phantom": PHANTOM}[holder_kind]
    context = AgentContext(*CONTEXT.segments, CONTEXT.agent_type, agent_id)
    return Wallet.of(agent_holder(context), cards, context, "", revoked)


@pytest.mark.parametrize("holder_kind", ["type", "agent", "phantom", "account"])
def test_compiled_verdicts_are_those_of_the_plain_evaluator(holder_kind):
    """Over random wallets of a small world, at every moment that matters."""
    dice = random.Random(f"policyd {holder_kind}")
    seen = set()
    for _ in range(60):
        wallet = _wallet(dice, holder_kind)
        compiled = CompiledType(wallet)
        for text in dice.sample(TARGETS, 5):
            asked = parse_target(text, slots=wallet.context is not None) if "?" not in text or wallet.context else None
            if asked is None:
                continue
            target = asked if wallet.context is None else asked.filled(wallet.context)
            for at in dice.sample(MOMENTS, 3):
                call = Call(target, at)
                plain, fast = admit_type(wallet, call), compiled.answer(call)
                assert fast == plain, (wallet, text, at)
                seen |= {reason.why for reason in plain.verdict.reasons}
    assert len(seen) >= (12 if holder_kind != "account" else 9)


def test_the_longest_unused_is_dropped_first():
    """What is kept stays within its room, and equal keys give the value that was made first."""
    kept = Recent(10)
    made = []

    def make(name):
        made.append(name)
        return name

    for name in ("a", "b", "a", "c", "b", "a"):
        assert kept.get(name, lambda name=name: make(name), lambda _: 4) == name
    assert made == ["a", "b", "c", "b", "a"]
    assert len(kept) == 2
    assert (kept.hits, kept.misses) == (1, 5)


def test_a_value_is_made_once_however_many_ask_for_it():
    """Threads that ask while it is made wait for it; what making it raises, all of them get, and it is tried again."""
    kept = Recent(10)
    made = []
    ready = threading.Event()

    def make():
        ready.wait(5)
        made.append(1)
        if len(made) == 1:
            raise ValueError("not yet")
        return "value"

    outcomes = []

    def ask():
        try:
            outcomes.append(kept.get("key", make, lambda _: 1))
        except ValueError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    while kept.misses < 8:
        time.sleep(0.005)
    ready.set()
    for thread in threads:
        thread.join()
    assert outcomes == ["not yet"] * 8
    assert kept.get("key", make, lambda _: 1) == "value"
    assert len(made) == 2
