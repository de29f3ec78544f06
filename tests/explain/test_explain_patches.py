"""Changes of the text of a manifest: layout and comments stay, the diff applies, and the card has the grant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from explain_worlds import HEAD
from ruamel.yaml import YAML
from unified_patch import patched

from policyd.core.application import InitialCard, default_initial_card
from policyd.core.cards import Bound
from policyd.manifest import LoadedManifest, describe, load_text, resolve_environment
from policyd.manifest.patch import CannotPatchError, ListChange, patch_card

CASES: list[dict[str, Any]] = YAML(typ="safe").load(
    (Path(__file__).parent.parent / "cases" / "explain" / "patches.yaml").read_text(encoding="utf-8")
)
GRANT = "kv(?env) @ ?agent : read : a.b"


def card_in(loaded: LoadedManifest) -> InitialCard:
    resolved = resolve_environment(loaded.application, "prod", None)
    agent = describe(loaded.application, resolved).agent("Cart")
    return agent.initial_card if agent is not None else default_initial_card()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_one_grant_more(case: dict[str, Any], newline: str) -> None:
    """The lines of the case stand there in order; the diff gives it; the old grants are there and the new one."""
    text = (HEAD + case["before"]).replace("\n", newline)
    loaded = load_text(text)
    card = card_in(loaded)
    patch = patch_card(loaded, "Cart", card, [ListChange(Bound.LOWER_POSITIVE, (GRANT,))])
    assert patched(text, patch.diff) == patch.text
    rows = patch.text.split(newline)
    places = [rows.index(line) for line in case["lines"]]
    assert places == sorted(places)
    again = load_text(patch.text)
    assert not again.refused
    grants = [placed.grant.text for placed in card_in(again).lower_positive]
    assert grants == [*(placed.grant.text for placed in card.lower_positive), GRANT]


def test_a_secret_beside_a_card_stands_in_no_diff() -> None:
    """Lines whose values are masked are left out of the context."""
    text = HEAD + "agents:\n  Cart:\n    env:\n      TOKEN: hunter2\n    initialCard: {}\n"
    loaded = load_text(text)
    patch = patch_card(loaded, "Cart", card_in(loaded), [ListChange(Bound.LOWER_POSITIVE, (GRANT,))])
    assert "hunter2" not in patch.diff
    assert patched(text, patch.diff) == patch.text


def test_an_agent_that_is_an_alias_is_not_changed() -> None:
    """A change would be one of the other agent as well."""
    text = HEAD + "agents:\n  Pay: &p\n    initialCard: {}\n  Cart: *p\n"
    loaded = load_text(text)
    with pytest.raises(CannotPatchError):
        patch_card(loaded, "Cart", card_in(loaded), [ListChange(Bound.LOWER_POSITIVE, (GRANT,))])


def test_the_last_of_a_list_goes() -> None:
    """A list whose only item goes is empty, wherever the item stood."""
    text = HEAD + (
        "agents:\n  Cart:\n    initialCard:\n      lowerBound:\n        negative:\n"
        "        - 'env(?agent) @ ?agent : read : HOME' # c\n"
    )
    loaded = load_text(text)
    span = card_in(loaded).lower_negative[0].span
    assert span is not None
    patch = patch_card(loaded, "Cart", card_in(loaded), [ListChange(Bound.LOWER_NEGATIVE, (), ((span, ()),))])
    assert "        negative: [] # c\n" in patch.text
    assert card_in(load_text(patch.text)).lower_negative == ()
