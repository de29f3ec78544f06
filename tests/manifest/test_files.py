"""Manifests as files: includes, what they may read, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policyd.findings import InputError
from policyd.manifest import LoadedManifest, LocatedScalar, includes, load_manifest, source

ROOT = "manifestVersion: 1.6.0\napp: shop\nenvironments: {prod: {}}\nincludes: [%s]\n"
PART = "manifestVersion: 1.6.0\nagents: {%s: {}}\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "golem.yaml"


def told(loaded: LoadedManifest) -> list[str]:
    return [f"{f.code} {os.path.basename(f.span.source if f.span else '-')}" for f in loaded.findings]


def agents(loaded: LoadedManifest) -> list[str]:
    return sorted(agent.name for agent in loaded.application.agents)


@pytest.mark.parametrize(
    "patterns, found",
    [
        ('"a.yaml"', ["A"]),
        ('"*.yaml"', ["A"]),
        ('"x/*.yaml"', ["B"]),
        ('"./x/./?.yaml"', ["B"]),
        ('"**/*.yaml"', ["A", "B", "C"]),
        ('"**"', ["A", "B", "C"]),
        ('"x/**/c.yaml"', ["C"]),
        ('"x/**/b.yaml"', ["B"]),
        ('"{a,x/b}.yaml"', ["A", "B"]),
        ('"x/[a-b].yaml", "x/[!b].yaml"', ["B"]),
        ('"golem.yaml", "a.yaml", "a.yaml"', ["A"]),
        ('"x/y/*.yaml"', ["C"]),
    ],
)
def test_patterns(tmp_path: Path, patterns: str, found: list[str]) -> None:
    """Patterns are relative to the root manifest, match any name, and load each file once, the root too."""
    root = write(
        tmp_path,
        {
            "golem.yaml": ROOT % patterns,
            "a.yaml": PART % "A",
            "x/b.yaml": PART % "B",
            "x/y/c.yaml": PART % "C",
        },
    )
    loaded = load_manifest(root)
    assert agents(loaded) == found
    assert not loaded.refused


def test_documents_stand_in_path_order(tmp_path: Path) -> None:
    """The root is not first; the order is that of the paths, part by part."""
    root = write(
        tmp_path,
        {"golem.yaml": ROOT % '"**/*.yaml"', "a/z.yaml": PART % "A", "golem.yaml.d/x.yaml": PART % "B"},
    )
    names = [os.path.relpath(d.name, tmp_path) for d in load_manifest(root).documents]
    assert names == ["a/z.yaml", "golem.yaml", "golem.yaml.d/x.yaml"]


@pytest.mark.parametrize("pattern", ["../out.yaml", "/etc/passwd", "x/../../out.yaml", "../*.yaml", "{a,../out}.yaml"])
def test_includes_stay_below_the_root(tmp_path: Path, pattern: str) -> None:
    """Without a wider folder nothing above the root manifest is even looked at."""
    root = write(tmp_path, {"app/golem.yaml": ROOT % f'"{pattern}"', "out.yaml": PART % "Out"}).parent / "app"
    loaded = load_manifest(root / "golem.yaml")
    assert "MANIF061 golem.yaml" in told(loaded)
    assert agents(loaded) == []


def test_a_wider_folder_may_be_given(tmp_path: Path) -> None:
    """Includes may leave the folder as far as the given folder reaches."""
    write(tmp_path, {"in/app/golem.yaml": ROOT % '"../*.yaml"', "in/out.yaml": PART % "Out", "far.yaml": PART % "Far"})
    path = tmp_path / "in" / "app" / "golem.yaml"
    loaded = load_manifest(path, include_root=tmp_path / "in")
    assert agents(loaded) == ["Out"]
    assert not loaded.refused
    assert [os.path.relpath(d.name, tmp_path) for d in loaded.documents] == ["in/app/golem.yaml", "in/out.yaml"]
    path.write_text(ROOT % '"../../far.yaml"', encoding="utf-8")
    assert told(load_manifest(path, include_root=tmp_path / "in")) == ["MANIF061 golem.yaml"]


def test_links_do_not_lead_out(tmp_path: Path) -> None:
    """A link to a file or folder elsewhere is an include that leaves the folder."""
    write(tmp_path, {"app/golem.yaml": ROOT % '"*.yaml", "d/*.yaml", "**/e.yaml"', "out/e.yaml": PART % "Out"})
    (tmp_path / "app" / "link.yaml").symlink_to(tmp_path / "out" / "e.yaml")
    (tmp_path / "app" / "d").symlink_to(tmp_path / "out", target_is_directory=True)
    (tmp_path / "app" / "loop").symlink_to(tmp_path / "app", target_is_directory=True)
    loaded = load_manifest(tmp_path / "app" / "golem.yaml")
    assert agents(loaded) == []
    assert told(loaded).count("MANIF061 golem.yaml") == 1
    assert loaded.refused


def test_patterns_that_match_nothing_or_are_none(tmp_path: Path) -> None:
    """No match is a warning, a pattern that is none an error."""
    root = write(tmp_path, {"golem.yaml": ROOT % '"no/*.yaml", "x[", "{a", "", "dir"'})
    (tmp_path / "dir").mkdir()
    loaded = load_manifest(root)
    assert told(loaded) == [
        "MANIF062 golem.yaml",
        "MANIF069 golem.yaml",
        "MANIF069 golem.yaml",
        "MANIF069 golem.yaml",
        "MANIF062 golem.yaml",
    ]


def test_too_many_includes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of included files has a limit."""
    root = write(tmp_path, {"golem.yaml": ROOT % '"d/*"', **{f"d/{n}.yaml": PART % f"A{n}" for n in range(5)}})
    monkeypatch.setattr(includes, "MAX_INCLUDED", 3)
    loaded = load_manifest(root)
    assert "MANIF064 golem.yaml" in told(loaded)
    assert len(loaded.documents) == 4


@pytest.mark.parametrize("name, says", [("none.yaml", "does not exist"), ("folder", "is a folder"), ("a\0b", "read")])
def test_unreadable_roots(tmp_path: Path, name: str, says: str) -> None:
    """A root manifest that cannot be read is an input error with its code."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError) as caught:
        load_manifest(tmp_path / name)
    (finding,) = caught.value.findings
    assert finding.code == "MANIF001"
    assert says in finding.message


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    """A pipe is no manifest, and an included one is not waited for."""
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError):
        load_manifest(tmp_path / "pipe.yaml")
    root = write(tmp_path, {"golem.yaml": ROOT % '"p*.yaml"'})
    assert told(load_manifest(root)) == ["MANIF062 golem.yaml"]


@pytest.mark.parametrize(
    "data, code, where",
    [
        (b"app: sh\xffop\n", "MANIF003", "golem.yaml:1:8"),
        ("é: ü\n".encode() + b"\xc3", "MANIF003", "golem.yaml:2:1"),
        ("app: shop\n".encode("utf-16"), "MANIF003", "golem.yaml:1:1"),
        (b"\xef\xbb\xbfapp: \x00\n", "MANIF004", "golem.yaml:1:6"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, code: str, where: str) -> None:
    """Bytes that are no UTF-8 text are a finding with a place."""
    (tmp_path / "golem.yaml").write_bytes(data)
    loaded = load_manifest(tmp_path / "golem.yaml")
    assert loaded.refused
    assert loaded.findings[0].code == code
    assert loaded.findings[0].where.endswith(where)


def test_large_documents_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document beyond the size limit is refused and has no text."""
    monkeypatch.setattr(source, "MAX_DOCUMENT_BYTES", 10)
    (tmp_path / "golem.yaml").write_bytes(b"manifestVersion: 1.6.0\n")
    loaded = load_manifest(tmp_path / "golem.yaml")
    assert [f.code for f in loaded.findings] == ["MANIF002"]
    assert loaded.documents[0].shown_line(1) == ""


def test_an_included_file_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An included file that cannot be read is a finding; the rest is loaded."""
    root = write(tmp_path, {"golem.yaml": ROOT % '"*.yaml"', "a.yaml": PART % "A", "b.yaml": PART % "B"})
    found = includes.Includes.find

    def find(self: includes.Includes, patterns: tuple[LocatedScalar, ...]) -> tuple[Path, ...]:
        paths = found(self, patterns)
        (tmp_path / "a.yaml").unlink()
        return paths

    monkeypatch.setattr(includes.Includes, "find", find)
    loaded = load_manifest(root)
    assert told(loaded) == ["MANIF063 golem.yaml"]
    assert agents(loaded) == ["B"]
