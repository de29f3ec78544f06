"""What holds of every text and of every target."""

from __future__ import annotations

import json
from dataclasses import replace

from debug_printer import debug_of, pretty
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.grants import ALL_CLASSES, Level, Owner, OwnerKind, PermissionClass, Recipient, ResourceKind, Target
from policyd.core.grants.names import ascii_lower
from policyd.core.grants.resources import (
    Argument,
    CardTarget,
    Exact,
    FilePath,
    HttpRoute,
    Invocation,
    NetworkResource,
    OplogRange,
    Ports,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.exact import ANY, EMPTY, NOTHING
from policyd.core.grants.resources.network import ANY_PORT
from policyd.syntax.denials import Denial, Reading, recognise
from policyd.syntax.denials.anchors import ANCHORS

_MARKS = st.characters(blacklist_categories=("Cs", "Cc", "Cf", "Zl", "Zp", "Zs", "Cn", "Co"))
_NAME = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
_FREE = st.text(_MARKS | st.sampled_from(" \n\t\"\\'{}()[],:"), min_size=1, max_size=16)
_IDENT = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
_LABEL = st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,6}[a-z0-9])?", fullmatch=True)
_UUID = st.uuids().map(str)
_SEGMENT = st.sampled_from(("*", "**")) | _FREE.filter(lambda s: s not in ("*", "**"))
_U64 = st.integers(0, 2**64 - 1)
_EXACT_IDENT = st.builds(Exact, st.just("name"), _IDENT)


def _owners(kind: OwnerKind) -> st.SearchStrategy[Owner]:
    if kind is OwnerKind.EMPTY:
        return st.just(Owner(kind))
    names = st.lists(_NAME, max_size=kind.depth).map(tuple)
    plain = names.map(lambda known: Owner(kind, (ascii_lower(known[0]), *known[1:]) if known else ()))
    if kind is OwnerKind.AGENT:
        leaf = st.tuples(*[_NAME] * 4, _FREE | st.just('Pay("9")')).map(lambda k: (ascii_lower(k[0]), *k[1:]))
        return plain | st.builds(Owner, st.just(kind), leaf, st.none(), st.booleans())
    return plain


def _ports() -> st.SearchStrategy[Ports]:
    port = st.integers(0, 65535)
    single = port.map(lambda p: Ports(p, p, "single"))
    return st.just(ANY_PORT) | single | st.tuples(port, port).map(lambda p: Ports(p[0], p[1], "range"))


_ARGUMENT = (
    st.from_regex(r"--[a-z][a-z0-9-]{0,5}(=[a-z\"' ]{1,6})?", fullmatch=True)
    | st.from_regex(r"-[A-Za-z]{1,4}", fullmatch=True)
    | _FREE.filter(lambda w: w[0] != "-")
).map(Argument)
_COMMAND = st.none() | st.lists(_IDENT, min_size=1, max_size=3).map(tuple)

_RESOURCES: dict[ResourceKind, st.SearchStrategy[Resource]] = {
    ResourceKind.FILES: st.lists(_SEGMENT, max_size=5).map(lambda s: FilePath(tuple(s))),
    ResourceKind.NETWORK: st.just(ANY)
    | st.builds(NetworkResource, st.lists(_LABEL, min_size=1, max_size=4).map(".".join) | st.just("*"), _ports()),
    ResourceKind.VARIABLE: st.just(ANY)
    | st.builds(Exact, st.just("variable"), st.from_regex(r"[A-Z_]{1,9}", fullmatch=True)),
    ResourceKind.OPLOG: st.just(ANY) | st.builds(OplogRange, st.none() | _U64, st.none() | _U64),
    ResourceKind.KEY: st.just(ANY)
    | st.lists(_SEGMENT, min_size=1, max_size=4).map(lambda s: SegmentPath(tuple(s), ".")),
    ResourceKind.AGENT: st.sampled_from((ANY, EMPTY))
    | st.builds(Exact, st.sampled_from(("method", "plugin")), _FREE)
    | st.builds(Exact, st.just("invocation-name"), _IDENT.map(lambda n: n + "!"))
    | st.builds(Exact, st.just("invocation-uuid"), _UUID)
    | st.builds(Exact, st.just("oplog-index"), _U64.map(str)),
    ResourceKind.TOOL: st.just(ANY) | st.builds(Invocation, _COMMAND, st.lists(_ARGUMENT, max_size=4).map(tuple)),
    ResourceKind.STORE_KEY: st.builds(StoreKey, _FREE, _FREE | st.just("**")),
    ResourceKind.TABLE: st.builds(TableName, _FREE | st.just("*"), _FREE | st.just("*"), _FREE | st.just("*")),
    ResourceKind.CARD: st.just(ANY)
    | st.lists(_NAME, min_size=5, max_size=5).map(
        lambda n: CardTarget(Recipient(Level.AGENT, (ascii_lower(n[0]), *n[1:])))
    ),
    ResourceKind.EMPTY: st.just(NOTHING),
    ResourceKind.APPLICATION: st.just(NOTHING),
    ResourceKind.PLAN: st.just(ANY)
    | _EXACT_IDENT.filter(lambda e: len(e.text) < 32)
    | st.builds(Exact, st.just("uuid"), _UUID),
    ResourceKind.UUID: st.just(ANY) | st.builds(Exact, st.just("uuid"), _UUID),
    ResourceKind.REVISION: st.just(ANY) | st.builds(Exact, st.just("revision"), _U64.map(lambda n: f"@rev={n}")),
    ResourceKind.DOMAIN: st.just(ANY)
    | st.builds(Exact, st.just("domain"), st.lists(_LABEL, min_size=1, max_size=3).map(".".join)),
    ResourceKind.ROUTE: st.just(ANY)
    | st.builds(HttpRoute, st.lists(_LABEL, min_size=1, max_size=3).map(".".join), st.just("/**")),
    ResourceKind.IDENTITY: st.just(ANY) | st.builds(Exact, st.just("identity"), _IDENT.map(lambda n: f"gh/{n}")),
    ResourceKind.INITIAL_FILES: st.lists(_SEGMENT, max_size=4).map(lambda s: SegmentPath(tuple(s), "/")),
    ResourceKind.IDENT: st.just(ANY) | _EXACT_IDENT,
    ResourceKind.DOTTED_IDENT: st.just(ANY) | _EXACT_IDENT,
    ResourceKind.NAME: st.just(ANY) | st.builds(Exact, st.just("name"), _FREE),
    ResourceKind.TOOL_NAME: st.just(ANY) | _EXACT_IDENT,
}


@st.composite
def targets(draw: st.DrawFn) -> Target:
    cls: PermissionClass = draw(st.sampled_from(ALL_CLASSES))
    verb = draw(st.sampled_from((*cls.verbs, "*")))
    return Target(cls, draw(_owners(cls.owner)), verb, draw(_RESOURCES[cls.resource]))


def _told(reading: Reading) -> list[Denial]:
    return [replace(d, start=0, end=0, line=0, column=0, facts=dict(d.facts)) for d in reading.denials]


@given(targets(), st.integers(0, 2), st.booleans())
def test_reading_the_debug_form_of_a_target_gives_the_target_back(target: Target, levels: int, is_pretty: bool) -> None:
    """Whatever the class, on one line or many, embedded in JSON once or twice."""
    debug = debug_of(target)
    text = f"The permission target {pretty(debug) if is_pretty else debug} is not allowed"
    for _ in range(levels):
        text = json.dumps({"message": text}, ensure_ascii=levels == 1)
    reading = recognise(text)
    assert [d.target for d in reading.denials] == [target], text
    assert reading.denials[0].target_text == target.text


_PIECES = st.sampled_from([literal for literal, _ in ANCHORS]) | st.sampled_from(
    [
        "\n",
        '"',
        "'",
        "\\",
        "{",
        "}",
        "(",
        ")",
        ": ",
        "golem ",
        "Kv(",
        " is not allowed",
        "tag",
        '"tag":"',
        "denied",
        "403 ",
        "card ",
        "Agent Service",
        "#4: ",
        "errored: {",
    ]
)
_TEXTS = st.lists(_PIECES | st.text(max_size=12), max_size=30).map("".join)


@given(_TEXTS)
def test_no_text_raises(text: str) -> None:
    """Pieces of all shapes in any order, with any characters between them, are read to the end."""
    reading = recognise(text)
    for denial in reading.denials:
        assert 0 <= denial.start <= denial.end <= len(text)
        assert denial.line >= 1
        assert denial.column >= 1
        assert denial.shapes[0] == denial.shape
    assert bool(reading.unrecognised) is (not reading.denials)


@given(
    _TEXTS.filter(lambda t: t.isprintable() or "\n" in t),
    st.lists(st.integers(0, 400), max_size=12),
    st.integers(0, 97),
)
def test_colour_codes_change_nothing_but_the_places(text: str, places: list[int], code: int) -> None:
    """A terminal's colours anywhere in a text leave what is told as it was."""
    if not text.isascii() or "\x1b" in text or any(c in text for c in "[\\^"):
        text = "".join(c for c in text if c.isascii() and c not in "\x1b[\\^")
    coloured = text
    for place in sorted({min(p, len(text)) for p in places}, reverse=True):
        coloured = coloured[:place] + f"\x1b[{code}m" + coloured[place:]
    assert _told(recognise(coloured)) == _told(recognise(text))
    assert recognise(coloured).lines == recognise(text).lines


@given(st.lists(targets(), min_size=1, max_size=4, unique=True))
def test_several_errors_in_one_paste_stay_apart(wanted: list[Target]) -> None:
    """Each is told by itself and in order, and one that is repeated is counted."""
    lines = [f"2026-11-30 ERROR The permission target {debug_of(t)} is not allowed" for t in wanted]
    reading = recognise("\n".join([*lines, *lines, "INFO end"]))
    assert [(d.target, d.count) for d in reading.denials] == [(t, 2) for t in wanted]
