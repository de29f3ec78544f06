"""Any bytes as a manifest, a wallet, a grant or recorded answers end in a diagnostic, never in a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policyd.cli.main import run

MANIFEST = (Path(__file__).parent.parent.parent / "examples" / "shop" / "golem.yaml").read_bytes()
WALLET = (Path(__file__).parent.parent.parent / "examples" / "wallet" / "wallet.json").read_bytes()
CHILD = b'{"lowerPositive": ["kv(a/b/c) @ * : read : a.b"]}'
RECORD = b'{"op": "parse", "in": {"flavor": "concrete", "grant": "kv(a/b/c) @ * : read : a.b"}, "out": {"ok": true}}\n'
ANSWERS = {0, 1, 2, 3}

TOKENS = (
    b"{{ X }}", b"&a ", b"*a", b"<<: ", b"\x00", b"\xff\xfe", "\u202e".encode(), b"- ", b": ",
    b"!!python/object:os.system ", b"[" * 200, b"{" * 200, b"9" * 500, b"?self", b"\t", b"\r\n", b"---\n", b"...\n",
    b"%YAML 1.1\n", b"null", b"~",
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, base: bytes) -> bytes:
    """A valid file with a few stretches cut, doubled or replaced by tokens that parsers dislike."""
    data = base
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        middle = draw(
            st.one_of(st.just(b""), st.sampled_from(TOKENS), st.binary(max_size=12), st.just(data[start:end] * 2))
        )
        data = data[:start] + middle + data[end:]
    return data


def files(base: bytes) -> st.SearchStrategy[bytes]:
    return st.one_of(mutated(base), st.binary(max_size=300))


quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(data=files(MANIFEST))
def test_manifests(data: bytes, tmp_path: Path) -> None:
    """check, audit, show, diff and prove on hostile manifests."""
    path = tmp_path / "golem.yaml"
    path.write_bytes(data)
    name = str(path)
    assert run(["check", name, "--agent", "Cart", "kv(?env) : read : orders.1"]) in ANSWERS
    assert run(["audit", name]) in ANSWERS
    assert run(["show", name, "--agent", "Cart"]) in ANSWERS
    assert run(["prove", name, "--agent", "Cart", "--never", "secret(any) : any : any"]) in ANSWERS


@quick
@given(data=files(WALLET))
def test_wallets(data: bytes, tmp_path: Path) -> None:
    """Check and the dry runs on hostile wallets."""
    path, child = tmp_path / "wallet.json", tmp_path / "child.json"
    path.write_bytes(data)
    child.write_bytes(CHILD)
    assert run(["check", "--wallet", str(path), "kv(acme@example.com/shop/prod) : read : orders.1"]) in ANSWERS
    assert run(["card", "derive", "--wallet", str(path), "--bounds", str(child)]) in ANSWERS
    card = "01930000-0000-7000-8000-000000000001"
    assert run(["card", "revoke", "--wallet", str(path), "--card", card]) in ANSWERS
    assert run(["card", "install", "--wallet", str(path), "--card", card, "--target", 'a/b/c/d/T("x")']) in ANSWERS


@quick
@given(data=files(CHILD))
def test_bounds(data: bytes, tmp_path: Path) -> None:
    """Hostile bounds for a derivation."""
    wallet, child = tmp_path / "wallet.json", tmp_path / "child.json"
    wallet.write_bytes(WALLET)
    child.write_bytes(data)
    assert run(["card", "derive", "--wallet", str(wallet), "--bounds", str(child)]) in ANSWERS


@quick
@given(data=files(RECORD))
def test_recorded_answers(data: bytes, tmp_path: Path) -> None:
    """Hostile files of recorded answers."""
    path = tmp_path / "v.jsonl"
    path.write_bytes(data)
    assert run(["conformance", str(path)]) in ANSWERS


@quick
@given(
    text=st.one_of(
        st.text(max_size=80),
        mutated(b"filesystem(?agent) @ ?agent : read : /data/**").map(lambda b: b.decode("utf-8", "replace")),
    )
)
def test_grants_and_targets(text: str, tmp_path: Path) -> None:
    """Hostile grants, targets and queries as arguments."""
    path = tmp_path / "golem.yaml"
    path.write_bytes(MANIFEST)
    assert run(["grant", "--", text]) in ANSWERS
    assert run(["check", str(path), "--agent", "Cart", "--", text]) in ANSWERS
    assert run(["prove", str(path), "--agent", "Cart", "--never", text]) in ANSWERS


DEEP = {
    "a million open brackets": b"[" * 1_000_000,
    "a million nested maps": b"{a: " * 1_000_000,
    "a bomb of aliases": b"a: &a [x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (c, c, b", ".join([b"*%c" % (c - 1)] * 9)) for c in range(ord("b"), ord("z"))
    ),
    "a gigantic number": b"manifestVersion: " + b"9" * 1_000_000,
    "a million lines of dashes": b"- \n" * 1_000_000,
    "only a byte order mark": b"\xef\xbb\xbf",
    "utf-16": "manifestVersion: 1.6.0".encode("utf-16"),
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_bombs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bombs end quickly, with a code and a place."""
    path = tmp_path / "golem.yaml"
    path.write_bytes(DEEP[name])
    assert run(["audit", str(path)]) in (1, 2)
    told = capsys.readouterr()
    assert "MANIF" in told.out + told.err
    assert "golem.yaml" in told.out + told.err


def test_json_bombs(tmp_path: Path) -> None:
    """Deep or gigantic JSON is refused as unreadable."""
    path = tmp_path / "wallet.json"
    for text in ("[" * 200_000, '{"holder": ' + "9" * 10_000 + "}", json.dumps({"holder": "a", "cards": [[]] * 1000})):
        path.write_text(text, encoding="utf-8")
        assert run(["check", "--wallet", str(path), "network() : connect : a.b:1"]) == 2
