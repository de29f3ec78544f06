"""Any change of the lists of a card is written into any layout of it, and nothing else of the document changes."""

from __future__ import annotations

from random import Random

import pytest
from unified_patch import patched

from policyd.core.application import InitialCard
from policyd.core.cards import Bound
from policyd.core.edition import NEXT
from policyd.manifest import load_text
from policyd.manifest.patch import ListChange, patch_card
from policyd.usecases.deployments import Selection, described

HERE = Selection("prod")
HEAD = """manifestVersion: 1.6.0
app: shop
environments: {prod: {server: cloud, account: dev@acme.io}}
components: {"shop:cart": {dir: cart}}
agents:
"""
SIGNS = {
    "lowerBound": ((Bound.LOWER_POSITIVE, "positive"), (Bound.LOWER_NEGATIVE, "negative")),
    "upperBound": ((Bound.UPPER_POSITIVE, "positive"), (Bound.UPPER_NEGATIVE, "negative")),
}
GRANTS = tuple(f"kv(?env) @ ?agent : read : b{n}.k" for n in range(9))


def layout(rng: Random, lists: dict[Bound, list[str]]) -> str:
    """A card with these lists, written in one of many ways."""
    rows = ["  Cart:", "    initialCard:"]
    for part, signs in SIGNS.items():
        some = [(sign, lists[bound]) for bound, sign in signs if lists[bound] or rng.random() < 0.2]
        if not some:
            continue
        if rng.random() < 0.25:
            inner = ", ".join(f"{sign}: [{', '.join(repr(g) for g in grants)}]" for sign, grants in some)
            rows.append(f"      {part}: {{{inner}}}")
            continue
        rows.append(f"      {part}:")
        for sign, grants in rng.sample(some, len(some)):
            if not grants or rng.random() < 0.3:
                rows.append(f"        {sign}: [{', '.join(repr(g) for g in grants)}]")
                continue
            pad = " " * rng.choice((8, 10))
            rows.append(f"        {sign}:")
            for grant in grants:
                rows.append(f"{pad}- '{grant}'{rng.choice(('', '', '  # why'))}")
                if rng.random() < 0.1:
                    rows.append(f"{pad}# between")
    if rows[-1] == "    initialCard:":
        rows[-1] = "    initialCard: {}"
    if rng.random() < 0.5:
        rows += ["  Pay:", "    # of another team", "    initialCard: {}"]
    text = HEAD + "\n".join(rows) + rng.choice(("\n", ""))
    return text.replace("\n", "\r\n") if rng.random() < 0.15 else text


def card_of(text: str) -> InitialCard:
    agent = described(load_text(text), HERE, NEXT).deployment.agent("Cart")
    assert agent is not None
    return agent.initial_card


def texts(card: InitialCard, bound: Bound) -> list[str]:
    return [placed.text for placed in card.of(bound)]


@pytest.mark.parametrize("seed", range(150))
def test_lines_come_go_and_change_together(seed: int) -> None:
    """Each list is what the change makes of it, in order; the rest of the text stays as it is."""
    rng = Random(seed)
    lists = {bound: rng.sample(GRANTS, rng.choice((0, 0, 1, 2, 3))) for bound in Bound}
    text = layout(rng, lists)
    card = card_of(text)
    if card.is_default:
        return
    changes, expected = [], {}
    for bound in Bound:
        replace, after = [], []
        for placed in card.of(bound):
            fate = rng.random()
            new = [] if fate < 0.35 else [placed.text] if fate < 0.8 else [f"kv(?env) @ ?agent : write : n{fate:.3f}.k"]
            if fate >= 0.95:
                new.append("kv(?env) @ ?agent : list : two.k")
            after += new
            if new != [placed.text]:
                assert placed.span is not None
                replace.append((placed.span, tuple(new)))
        add = tuple(f"kv(?env) @ ?agent : delete : a{n}.k" for n in range(rng.choice((0, 0, 1, 2))))
        expected[bound] = sorted([*after, *add])
        if add or replace:
            changes.append(ListChange(bound, add, tuple(replace)))
    if not changes:
        return
    loaded = described(load_text(text), HERE, NEXT).loaded
    patch = patch_card(loaded, "Cart", card, changes)
    new_card = card_of(patch.text)
    assert {bound: sorted(texts(new_card, bound)) for bound in Bound} == expected, patch.text
    assert patched(text, patch.diff) == patch.text
    assert patch.text.startswith(text[: text.index("  Cart:")])
    assert ("# of another team" in patch.text) is ("# of another team" in text)
