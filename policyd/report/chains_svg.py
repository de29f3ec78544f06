"""Chains as a picture: actors in columns, arrows along which they come by what others can.

The picture needs no scripts and no fonts of its own; every arrow has a title that readers of screens say, and the
same chains stand in the text form and in a table beside it.

Source: questions 2 (reach).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from policyd.findings import visible

_WIDE, _HIGH, _GAP_X, _GAP_Y, _EDGE = 190, 34, 120, 16, 20
MAX_NAME = 26
"""Longer names are cut in boxes; the title has all of them."""

_STYLE = (
    "text{font:12px sans-serif;fill:#222}.way{font-size:10px;fill:#444}.actor{fill:#eef3f8;stroke:#4878a8}"
    ".end{fill:#fbeeee;stroke:#b04040}.arrow{stroke:#666;fill:none;marker-end:url(#tip)}"
)


@dataclass(frozen=True, slots=True)
class Arrow:
    """One hop.

    Attributes:
        start, end: names of actors.
        way: a word for it.
        title: what happens, with the grant.
    """

    start: str
    end: str
    way: str
    title: str


def chains_svg(
    columns: Sequence[Sequence[str]], arrows: Sequence[Arrow], title: str, *, is_embedded: bool = False
) -> str:
    """The picture.

    Args:
        columns: names of actors; the last column is where chains end.
        arrows: between them.
        title: what the picture is about.
        is_embedded: whether a page with a sheet of its own holds it, which lets no other styles in.
    """
    places = {
        name: (_EDGE + x * (_WIDE + _GAP_X), 40 + y * (_HIGH + _GAP_Y))
        for x, column in enumerate(columns)
        for y, name in enumerate(column)
    }
    width = 2 * _EDGE + max(1, len(columns)) * (_WIDE + _GAP_X) - _GAP_X
    height = 60 + max((len(c) for c in columns), default=1) * (_HIGH + _GAP_Y)
    last = set(columns[-1]) if columns else set()
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chains" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}"'
        f' role="img" aria-label={quoteattr(visible(title))}>',
        f"<title>{escape(visible(title))}</title>",
        "" if is_embedded else f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#666"/></marker></defs>',
        f'<text x="{_EDGE}" y="22">{escape(_cut(title, width // 7))}</text>',
    ]
    out += [_arrow(a, places[a.start], places[a.end]) for a in arrows if a.start in places and a.end in places]
    for name, (x, y) in places.items():
        kind = "end" if name in last else "actor"
        out.append(
            f"<g><title>{escape(visible(name))}</title>"
            f'<rect class="{kind}" x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" rx="6"/>'
            f'<text x="{x + 10}" y="{y + 21}">{escape(_cut(name, MAX_NAME))}</text></g>'
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def _arrow(arrow: Arrow, start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + _WIDE, start[1] + _HIGH // 2
    x2, y2 = end[0], end[1] + _HIGH // 2
    middle = (x1 + x2) // 2
    label = f'<text class="way" x="{x1 + 8}" y="{y1 - 5 if y2 <= y1 else y1 + 13}">{escape(_cut(arrow.way, 16))}</text>'
    path = f'<path class="arrow" d="M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"/>'
    return f"<g><title>{escape(visible(arrow.title))}</title>{path}{label}</g>"


def _cut(text: str, room: int) -> str:
    text = visible(text)
    return text if len(text) <= room else f"{text[: room - 1]}…"
