"""A denial that is told in its common words and nothing else: B-01.

Other shapes are looked for first. A log is full of such words about other programs, so that they count only where a
short paste is nothing but the error.

Source: host 1.2, 2.13, 5.1.
"""

from __future__ import annotations

import re

from policyd.syntax.denials.hits import Hit, Scene

MAX_BARE = 300
"""Characters of a paste that may be nothing but such words."""

MAX_LINES = 4

_WORDS = re.compile(
    r"\b(?:permission[ _-]?denied|access[ _-]?denied|(?:operation )?not[ _-]?permitted|not[ _-]?allowed"
    r"|request[ _-]?denied|forbidden|denied|EPERM|EACCES)\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"(?![^\n]{0,100}[\s\"'](?:/|[A-Z]:))(?!/)[^\n]{0,100}[:(=|][\s\"'`(]{0,4}|\W{0,12}")
_BEHIND = re.compile(r"\W{0,12}(?:at \S{1,120}(?: \S{1,120})?)?\W{0,12}")


def bare_hit(scene: Scene) -> Hit | None:
    """The place of the words in a text that is nothing else, or None."""
    text = scene.text
    if not scene.is_small or len(text) > MAX_BARE or text.strip().count("\n") >= MAX_LINES:
        return None
    places = list(_WORDS.finditer(text))
    if len(places) != 1:
        return None
    found = places[0]
    start, end = scene.line_start(found.start()), scene.line_end(found.end())
    is_whole = _BEFORE.fullmatch(text, start, found.start()) and _BEHIND.fullmatch(text, found.end(), end)
    if not is_whole or not scene.speaks_of_platform(found.start()):
        return None
    return Hit("B-01", found.start(), found.end(), facts={"words": " ".join(found[0].lower().split())})
