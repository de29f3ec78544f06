"""The platform's JSON: what is read as which fact, and what is refused at which place."""

import io
import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from policyd.core.cards import Bound
from policyd.findings import InputError
from policyd.store import json_stream
from policyd.store.facts import place_of
from policyd.store.platform import MAX_ERRORS, read_platform

CASES = Path(__file__).parent.parent / "cases" / "store" / "imports"
LISTS = ("cards", "wallets", "shares", "retry_policies", "tools", "revoked")


def cases(name):
    return YAML(typ="safe", pure=True).load(CASES / f"{name}.yaml")


def read(text):
    return read_platform(io.BytesIO(text.encode()), "in.json")


def told(span):
    return f"{span.where.removeprefix('in.json:')} {span.path}"


@pytest.mark.parametrize("case", cases("accepted"), ids=lambda case: case["title"])
def test_accepted(case):
    """Each document gives exactly the facts that its case counts, at the places that it names."""
    imported = read(case["document"])
    assert {name: len(getattr(imported, name)) for name in LISTS} == {name: case.get(name, 0) for name in LISTS}
    assert imported.count == sum(case.get(name, 0) for name in LISTS)
    lists = [(f.card.bounds, f.places) for f in imported.cards] + [(s.bounds, s.places) for s in imported.shares]
    spans = [place_of(places, b, i) for bounds, places in lists for b, i, _ in bounds.each()]
    if "grants" in case:
        assert len(spans) == case["grants"]
    if "places" in case:
        assert list(dict.fromkeys(told(span) for span in spans)) == case["places"]
    found = [
        f"{f.finding.code} {f.finding.where.removeprefix('in.json:')} {f.finding.message}" for f in imported.findings
    ]
    assert found == case.get("findings", [])
    assert [f"{p.name} {p.priority} {p.predicate} {p.policy}" for p in imported.retry_policies] == case.get("rules", [])


@pytest.mark.parametrize("case", cases("refused"), ids=lambda case: case.get("title", case["document"]))
def test_refused(case):
    """Each document is refused with exactly the reasons of its case."""
    with pytest.raises(InputError) as refusal:
        read(case["document"])
    reasons = [f"{f.code} {told(f.span)}" for f in refusal.value.findings]
    assert reasons[: 1 if case.get("first") else None] == case["reasons"][: 1 if case.get("first") else None]


def test_nothing_of_an_unknown_member_is_kept():
    """A member that policyd does not know may hold anything, so its value is nowhere in what was read."""
    document = cases("accepted")[1]["document"]
    assert "hunter2" in document
    assert "hunter2" not in repr(read(document))


def test_reasons_are_bounded():
    """A document with thousands of mistakes tells the first ones."""
    with pytest.raises(InputError) as refusal:
        read(json.dumps([{"cardId": str(n)} for n in range(1000)]))
    assert len(refusal.value.findings) == MAX_ERRORS


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_chunks_do_not_matter(monkeypatch, size):
    """Wherever the reading stops between two chunks, the same is read."""
    documents = [case["document"] for case in cases("accepted")]
    whole = [read(text) for text in documents]
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", size)
    assert [read(text) for text in documents] == whole


def test_a_number_may_go_on_in_the_next_chunk(monkeypatch):
    """A number at the end of a chunk is not cut."""
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", 1)
    pieces = json_stream.pieces(io.BytesIO(b" 1234 [12, 3.5e2]"), "n", frozenset())
    assert [piece.value for piece in pieces] == [1234, 12, 350.0]


def test_progress_counts_every_byte():
    """The bar is told of all bytes and of no more."""
    data = json.dumps([{"revokedCardIds": []}] * 20_000).encode()
    counted = []
    read_platform(io.BytesIO(data), "in.json", read=counted.append)
    assert sum(counted) == len(data)
    assert len(counted) > 2


def test_a_large_list_is_read_in_pieces():
    """Only a window of the source is kept: the text held stays small while a long list goes by."""
    sizes = []
    entry = json.dumps({"revokedCardIds": ["00000000-0000-7000-8000-000000000001"] * 20})

    class Source(io.RawIOBase):
        def __init__(self):
            self.left = 8_000

        def readable(self):
            return True

        def read(self, size=-1):
            sizes.append(size)
            if self.left == 8_000:
                self.left -= 1
                return b"[" + entry.encode()
            count = min(self.left, max(size // len(entry), 1))
            self.left -= count
            return ("," + entry).encode() * count if count else (b"]" if self.left == 0 and self._end() else b"")

        def _end(self):
            self.left = -1
            return True

    class Closing(Source):
        def read(self, size=-1):
            return b"" if self.left < 0 else super().read(size)

    count = sum(1 for _ in json_stream.pieces(Closing(), "big", frozenset()))
    assert count == 8_000
    assert max(sizes) <= 4 * json_stream.CHUNK_BYTES


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[\xff]", "UTF-8"),
        (b'["' + b"x" * 100, "not JSON"),
        (b"[" * 200_000, "too deeply"),
        (b"9" * 9_999, "not JSON"),
    ],
)
def test_hostile_bytes_are_refused(data, message):
    """Bytes that are no text, texts without an end, and depth without a bound end in a message."""
    with pytest.raises(InputError, match=message):
        read_platform(io.BytesIO(data), "in.json")


def test_sizes_are_bounded(monkeypatch):
    """A value and a document have greatest lengths."""
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", 16)
    monkeypatch.setattr(json_stream, "MAX_ITEM_CHARS", 100)
    with pytest.raises(InputError, match="STORE022"):
        read('["' + "x" * 1000)
    monkeypatch.setattr(json_stream, "MAX_DOCUMENT_BYTES", 50)
    with pytest.raises(InputError, match="STORE022"):
        read("[" + " " * 200 + "]")


def test_a_byte_order_mark_is_no_content():
    """Files that begin with the mark are read as if it were not there."""
    imported = read_platform(io.BytesIO(b"\xef\xbb\xbf" + b'{"revokedCardIds": []}'), "in.json")
    assert imported.count == 0


def test_every_bound_has_its_places():
    """The four lists keep their places apart."""
    texts = {b.value: [f"kv(a@x/p/e) @ * : read : s.{b.name.lower()}"] for b in Bound}
    card = {"type": "Concrete", "cardId": "00000000-0000-7000-8000-000000000001", "parentIds": [], **texts}
    fact = read(json.dumps({**card, "createdAt": "2026-01-01T00:00:00Z", "systemCard": False})).cards[0]
    for bound in Bound:
        assert place_of(fact.places, bound, 0).path == f"$.{bound.value}[0]"
