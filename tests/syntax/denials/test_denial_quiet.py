"""Ordinary logs hold no denial."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from policyd.syntax.denials import recognise

TEMPLATES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "denials" / "quiet" / "logs.yaml").read_text(encoding="utf-8")
)


def excerpt_of(template: str, seed: int) -> str:
    """The template with numbers, names and places filled in."""
    chooser = random.Random(seed)
    hosts = ("example.org", "internal.test", "db-3.lan")
    paths = ("/var/www/html/index.html", "/etc/shadow", "/home/ann/.ssh/id", "/srv/data/orders.db")
    return template.format(
        n=chooser.randrange(10, 90_000),
        m=chooser.randrange(1, 900),
        ip=".".join(str(chooser.randrange(1, 250)) for _ in range(4)),
        path=chooser.choice(paths),
        user=chooser.choice(("ann", "root", "deploy", "ci-bot")),
        id="0c1f7d0f-0000-4000-8000-00000000000b",
        time=f"{chooser.randrange(24):02d}:{chooser.randrange(60):02d}:{chooser.randrange(60):02d}",
        host=chooser.choice(hosts),
    )


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda t: t["name"].replace(" ", "-"))
def test_an_excerpt_without_a_denial_gives_none(template: dict[str, str]) -> None:
    """Alone, where the user says that it is an error, an unrelated text is still no denial."""
    for seed in range(3):
        text = excerpt_of(template["text"], seed)
        assert recognise(text).denials == (), text


def test_logs_of_many_programs_give_none() -> None:
    """The same excerpts, mixed to logs of forty lines, beside lines about the platform."""
    for seed in range(60):
        chooser = random.Random(seed)
        text = "\n".join(excerpt_of(chooser.choice(TEMPLATES)["text"], seed * 100 + i) for i in range(40))
        reading = recognise(text)
        assert reading.denials == (), [(d.shape, text[d.start : d.end]) for d in reading.denials]
        assert reading.unrecognised


def test_there_are_more_than_two_hundred_excerpts() -> None:
    """As many as the acceptance asks for."""
    assert len(TEMPLATES) * 3 >= 200
