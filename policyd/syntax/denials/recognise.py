"""Recognition: literal anchors, a reader at each, and neighbouring finds put together.

Every step is bounded and looks at a character a bounded number of times, so that the time grows with the length of the
paste whatever it holds: anchors are found by plain text search, forms are read by a balanced reader of bounded size,
and the patterns that look around an anchor are bounded in every repetition.

Source: host 5.1, 5.5.
"""

from __future__ import annotations

from dataclasses import replace

from policyd.findings import Finding, Severity
from policyd.syntax.denials.absences import absence_denials
from policyd.syntax.denials.anchors import find_hits
from policyd.syntax.denials.bare import bare_hit
from policyd.syntax.denials.grouping import denial_of, groups_of
from policyd.syntax.denials.hits import SMALL_CHARS, SMALL_LINES, Hit, Scene
from policyd.syntax.denials.oplog_entries import card_events
from policyd.syntax.denials.paste import MAX_CHARS, MAX_WRAPPED, Lines, Page, clean_page, joined_pages
from policyd.syntax.denials.reading import Denial, Reading

MAX_DENIALS = 200
"""Different denials that are listed; further ones are counted."""

_HOLDERS = frozenset({"E-26", "E-28", "E-45"})
"""Shapes that are told by what stands behind them."""

BEHIND = 160
"""Characters behind a find in which a wrapped line may have hidden it."""

TOO_LARGE = "HOST101"

WHAT_TO_PASTE = (
    "nothing here is a denial that is known; paste the error as the program printed it with a few lines around it, the"
    " body of the HTTP answer, the oplog entries around the failure, or name the operation with `--op`"
)


def recognise(text: str, *, absence: str | None = None) -> Reading:
    """The denials in a pasted text, in order of appearance; never raises, whatever the text is.

    Args:
        text: an error, a log, an excerpt of an oplog, a response body, output of the command line.
        absence: what the user says is missing, in words (`none`, `empty list`, `404`, `variable X`), if that is
            what the paste is about.

    Source: host 5.
    """
    read = text[:MAX_CHARS]
    page = clean_page(read)
    lines = Lines(read)
    is_small = len(page.text) <= SMALL_CHARS and page.text.count("\n") < SMALL_LINES
    scene = Scene(page.text, is_small=is_small)
    hits, missed = find_hits(scene)
    hits = _with_wrapped(page, hits, is_small=is_small)
    if not hits and (bare := bare_hit(scene)) is not None:
        hits = [bare]
    denials: dict[tuple[object, ...], Denial] = {}
    more = missed
    for group in groups_of(hits, scene):
        denial = denial_of(group, scene, page, lines)
        key = _identity(denial)
        if key in denials:
            denials[key] = _counted(denials[key])
        elif len(denials) < MAX_DENIALS:
            denials[key] = denial
        else:
            more += 1
    found = tuple(denials.values())
    found += absence_denials(absence, read, found)
    findings = (_cut(len(text)),) if len(text) > MAX_CHARS else ()
    events = card_events(page.text, lines, page)
    return Reading(found, "" if found else WHAT_TO_PASTE, Lines(page.text).count, more, events, findings)


def _identity(denial: Denial) -> tuple[object, ...]:
    facts = tuple(sorted(denial.facts.items()))
    return (denial.shapes, denial.kind, denial.target, denial.target_text, denial.operations, facts)


def _counted(denial: Denial) -> Denial:
    return replace(denial, count=denial.count + 1)


def _with_wrapped(page: Page, hits: list[Hit], *, is_small: bool) -> list[Hit]:
    """`hits` and what is found only with wrapped lines joined, at its place in `page`.

    A find without its target gives way to one in the same place that has it.
    """
    if len(page.text) > MAX_WRAPPED:
        return hits
    for joined in joined_pages(page):
        known = {
            shape: _covered(len(page.text), [h for h in hits if h.shape == shape]) for shape in {h.shape for h in hits}
        }
        known["whole"] = _covered(len(page.text), [hit for hit in hits if _is_whole(hit)])
        better: list[Hit] = []
        for hit in find_hits(Scene(joined.text, is_small=is_small, is_joined=True))[0]:
            start, end = joined.origin(hit.start), joined.end_origin(hit.end)
            taken = known.get("whole" if _is_whole(hit) else hit.shape, b"")
            if (
                page.text.find("\n", start, end + (BEHIND if hit.shape in _HOLDERS else 0)) < 0
                or taken.find(1, start, end) >= 0
            ):
                continue
            better.append(replace(hit, start=start, end=end, reach=max(end, joined.end_origin(hit.limit))))
        whole = _covered(len(page.text), [hit for hit in better if _is_whole(hit)])
        hits = [h for h in hits if h.shape != "E-01" or _is_whole(h) or whole.find(1, h.start, h.end) < 0] + better
    return hits


def _is_whole(hit: Hit) -> bool:
    return hit.read is not None and hit.read.target is not None


def _covered(length: int, hits: list[Hit]) -> bytearray:
    """A byte per character, 1 where one of the finds stands."""
    cover = bytearray(length)
    for hit in hits:
        cover[hit.start : hit.end] = b"\1" * (hit.end - hit.start)
    return cover


def _cut(length: int) -> Finding:
    return Finding(
        TOO_LARGE,
        Severity.WARNING,
        f"only the first {MAX_CHARS} of {length} characters of the paste were read",
        help="paste the part around the failure",
    )
