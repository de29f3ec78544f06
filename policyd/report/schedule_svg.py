"""Schedules as a picture: one bar for each wait, and when each attempt comes; several policies under one another.

The picture needs no scripts and no fonts of its own; every bar has a title that readers of screens say.

Source: questions 2 (schedule).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from policyd.findings import visible
from policyd.report.durations import duration_words, range_words

WIDTH = 760
_LEFT, _RIGHT = 70, 20
_HEAD, _BARS, _STRIP, _GAP = 40, 130, 46, 24
_PANEL = _HEAD + _BARS + _STRIP + _GAP
MAX_BARS = 60
"""More waits than this are not drawn; the caption says how many there are."""

_STYLE = (
    "text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:14px}.small{font-size:10px;fill:#555}"
    ".wait{fill:#4878a8}.jitter{fill:#4878a8;fill-opacity:.35;stroke:#4878a8;stroke-dasharray:2 2}"
    ".ceiling{stroke:#b04040;stroke-dasharray:6 3}.box{stroke:#7a4a9a;stroke-width:2}.axis{stroke:#888}"
    ".best{fill:#2f7d4f}.worst{fill:#b06a00}"
)


@dataclass(frozen=True, slots=True)
class Lane:
    """One policy.

    Attributes:
        name: of the rule.
        caption: its course in one sentence.
        waits: shortest and longest of each wait, in order.
        ceilings_ns: the largest delays that clamps let through.
        boxes_ns: the limits of time boxes that count.
        execution_ns: what each execution takes.
        goes_on: whether the waits go on after those given.
    """

    name: str
    caption: str
    waits: tuple[tuple[int, int], ...]
    ceilings_ns: tuple[int, ...] = ()
    boxes_ns: tuple[int, ...] = ()
    execution_ns: int = 0
    goes_on: bool = False


def schedule_svg(lanes: Sequence[Lane], *, is_embedded: bool = False) -> str:
    """The picture of some policies under one another.

    Args:
        lanes: one for each policy.
        is_embedded: whether a page with a sheet of its own holds it, which lets no other styles in.
    """
    height = _PANEL * max(1, len(lanes))
    names = visible(", ".join(lane.name for lane in lanes))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="schedule" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}"'
        f' role="img" aria-label={quoteattr(f"retry schedules: {names}")}>',
        "" if is_embedded else f"<style>{_STYLE}</style>",
    ]
    for place, lane in enumerate(lanes):
        out.append(f'<g transform="translate(0 {place * _PANEL})">')
        out += _panel(lane)
        out.append("</g>")
    out.append("</svg>")
    return "\n".join(out)


def _panel(lane: Lane) -> Iterator[str]:
    yield f'<text class="title" x="10" y="16">{escape(_cut(lane.name))}</text>'
    yield f'<text class="small" x="10" y="32">{escape(_cut(lane.caption))}</text>'
    yield from _bars(lane)
    yield from _strip(lane)


def _cut(text: str) -> str:
    text = visible(text)
    return text if len(text) <= 140 else text[:139] + "…"


def _bars(lane: Lane) -> Iterator[str]:
    waits = lane.waits[:MAX_BARS]
    base = _HEAD + _BARS
    # A ceiling far above every wait would only press the bars flat.
    highest = max((high for _, high in waits), default=0)
    ceilings = [c for c in lane.ceilings_ns if c <= 2 * highest]
    top = max([highest, *ceilings, 1])
    width = WIDTH - _LEFT - _RIGHT
    yield f'<line class="axis" x1="{_LEFT}" y1="{base}" x2="{WIDTH - _RIGHT}" y2="{base}"/>'
    yield f'<text class="small" x="{_LEFT - 6}" y="{_HEAD + 10}" text-anchor="end">{duration_words(top)}</text>'
    yield f'<text class="small" x="{_LEFT - 6}" y="{base}" text-anchor="end">0 s</text>'
    step = width / max(1, len(waits))
    for i, (low, high) in enumerate(waits):
        x, w = _LEFT + i * step + step * 0.15, step * 0.7
        title = f"<title>wait {i + 1}: {range_words(low, high)}</title>"
        tall, more = _BARS * low / top, _BARS * (high - low) / top
        yield f'<rect class="wait" x="{x:.1f}" y="{base - tall:.1f}" width="{w:.1f}" height="{tall:.1f}">{title}</rect>'
        if high > low:
            y = base - tall - more
            yield f'<rect class="jitter" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{more:.1f}">{title}</rect>'
        if len(waits) <= 20:
            yield f'<text class="small" x="{x + w / 2:.1f}" y="{base + 12}" text-anchor="middle">{i + 1}</text>'
    for ceiling in ceilings:
        y = base - _BARS * ceiling / top
        title = f"<title>ceiling {duration_words(ceiling)}</title>"
        yield (f'<line class="ceiling" x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}">{title}</line>')
    if not waits:
        yield f'<text x="{_LEFT + 10}" y="{base - _BARS / 2}">no retry</text>'


def _strip(lane: Lane) -> Iterator[str]:
    """When the attempts come, at best and at worst, and the time boxes."""
    waits = lane.waits[:MAX_BARS]
    y = _HEAD + _BARS + 28
    best, worst = _moments(lane, 0), _moments(lane, 1)
    far = max(worst[-1], 1)
    boxes = [b for b in lane.boxes_ns if b <= 2 * far]
    end = max([far, *boxes])
    width = WIDTH - _LEFT - _RIGHT
    yield f'<line class="axis" x1="{_LEFT}" y1="{y}" x2="{WIDTH - _RIGHT}" y2="{y}"/>'
    for name, moments, offset in (("best", best, -4), ("worst", worst, 4)):
        for k, moment in enumerate(moments):
            x = _LEFT + width * moment / end
            title = f"<title>{name} case: attempt {k + 1} at {duration_words(moment)}</title>"
            yield f'<circle class="{name}" cx="{x:.1f}" cy="{y + offset}" r="3">{title}</circle>'
    for box in boxes:
        x = _LEFT + width * box / end
        title = f"<title>time box {duration_words(box)}</title>"
        yield f'<line class="box" x1="{x:.1f}" y1="{y - 12}" x2="{x:.1f}" y2="{y + 12}">{title}</line>'
    words = f"best {duration_words(best[-1])}, worst {duration_words(worst[-1])}"
    if lane.goes_on or len(lane.waits) > len(waits):
        words += ", and so on"
    yield f'<text class="small" x="{WIDTH - _RIGHT}" y="{y + 18}" text-anchor="end">{words}</text>'


def _moments(lane: Lane, which: int) -> list[int]:
    at = 0
    moments = [0]
    for wait in lane.waits[:MAX_BARS]:
        at += lane.execution_ns + wait[which]
        moments.append(at)
    return moments
