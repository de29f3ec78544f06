"""The compiled wallet and the plain evaluator are one function."""

from __future__ import annotations

import os
from random import Random

import pytest
from admission_universe import random_target, random_wallet, some_classes

from policyd.core.admission import CompiledWallet, decide, surface_at
from policyd.core.cards import Timestamp

FULL = 100_000
SEED = 20_260_821


def compare(seed: int, count: int) -> tuple[int, int]:
    """Compare decisions on `count` random pairs; returns how many were admitted and how many denied."""
    rng = Random(seed)
    admitted = denied = 0
    while admitted + denied < count:
        classes = some_classes(rng)
        wallet = random_wallet(rng, classes)
        compiled = CompiledWallet(wallet)
        for _ in range(8):
            target = random_target(rng, classes)
            at = Timestamp(rng.randint(0, 6)) if rng.random() < 0.7 else None
            plain = decide(surface_at(wallet, at), target)
            assert compiled.decide(target, at) == plain, (wallet, target.text, at)
            assert compiled.admits(target, at) is plain.is_admitted
            admitted += plain.is_admitted
            denied += not plain.is_admitted
    return admitted, denied


def test_index_gives_the_decisions_of_the_plain_evaluator() -> None:
    """Decision, deciding grants, first withholding ceilings and their count are equal on random pairs."""
    admitted, denied = compare(SEED, FULL // 20)
    assert admitted > 200
    assert denied > 1000


@pytest.mark.acceptance
@pytest.mark.parametrize("part", range(4))
def test_index_on_the_full_count(part: int) -> None:
    """The same on 100,000 pairs with recorded seeds."""
    admitted, denied = compare(int(os.environ.get("POLICYD_SEED", SEED + 1 + part)), FULL // 4)
    assert admitted > 1000
    assert denied > 1000


def test_digest_names_the_contents() -> None:
    """The digest is the same on every load, and another one for another order of grants or another card."""
    rng = Random(7)
    classes = some_classes(rng)
    wallets = [random_wallet(rng, classes) for _ in range(20)]
    first = [CompiledWallet(w).digest for w in wallets]
    assert first == [CompiledWallet(w).digest for w in wallets]
    distinct = {
        (w.holder, tuple((h.card.id, h.card.bounds, h.card.expires_at) for h in w.cards), w.revoked) for w in wallets
    }
    assert len(set(first)) >= len(distinct) - 3
