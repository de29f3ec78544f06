"""Which further files a manifest includes, without leaving the folders it may read.

Source: manifest-format 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from policyd.findings import Finding, Severity
from policyd.manifest import codes
from policyd.manifest.located import LocatedScalar, shown

MAX_INCLUDED = 1000
"""So many files may be included."""

MAX_ENTRIES = 100_000
"""So many folder entries are looked at."""

MAX_ALTERNATIVES = 64
"""So many patterns may the `{a,b}` of one entry stand for."""

_WILD = re.compile(r"[*?\[]")


class _LimitError(Exception):
    """More entries than are looked at."""


@dataclass(slots=True)
class Includes:
    """One search below the folder of the root manifest.

    Attributes:
        folder: where the root manifest stands, resolved.
        include_root: a further folder that may be read, resolved; None for none.
        findings: what is wrong with the patterns.
    """

    folder: Path
    include_root: Path | None
    findings: list[Finding] = field(default_factory=list)
    _entries: int = 0

    def find(self, patterns: tuple[LocatedScalar, ...]) -> tuple[Path, ...]:
        """The resolved paths of all files that match, each once, in no particular order."""
        found: dict[Path, None] = {}
        for pattern in patterns:
            matches = 0
            try:
                for path in self._matches(pattern):
                    matches += 1
                    found[path] = None
                    if len(found) > MAX_INCLUDED:
                        raise _LimitError
            except _LimitError:
                message = f"`{shown(pattern.text)}` matches more than {MAX_INCLUDED} files or looks at too many folders"
                self._tell(codes.INCLUDE_LIMIT, message, pattern)
                break
            if not matches and not any(f.span == pattern.span for f in self.findings):
                self._tell(codes.INCLUDE_NOTHING, f"`{shown(pattern.text)}` matches no file", pattern, Severity.WARNING)
        return tuple(found)[:MAX_INCLUDED]

    def _tell(
        self, code: str, message: str, pattern: LocatedScalar, severity: Severity = Severity.ERROR, help_text: str = ""
    ) -> None:
        finding = Finding(code, severity, message, pattern.span, help_text)
        if finding not in self.findings:
            self.findings.append(finding)

    def _matches(self, pattern: LocatedScalar) -> Iterator[Path]:
        alternatives = _alternatives(pattern.text)
        if alternatives is None or not pattern.text or "\0" in pattern.text:
            self._tell(codes.BAD_GLOB, f"`{shown(pattern.text)}` is no include pattern", pattern)
            return
        for text in alternatives:
            steps = [step for step in text.split("/") if step not in ("", ".")]
            leaves = text.startswith("/") or ".." in steps
            if leaves and self.include_root is None:
                self._outside(pattern)
                continue
            try:
                wild = [_regex(step) if _WILD.search(step) and step != "**" else None for step in steps]
            except re.error:
                self._tell(codes.BAD_GLOB, f"`{shown(pattern.text)}` is no include pattern", pattern)
                continue
            start = Path("/") if text.startswith("/") else self.folder
            for match in self._walk(start, steps, wild, 0):
                resolved = match.resolve()
                if self._allowed(resolved):
                    yield resolved
                else:
                    self._outside(pattern)

    def _outside(self, pattern: LocatedScalar) -> None:
        self._tell(
            codes.INCLUDE_OUTSIDE,
            f"the include `{shown(pattern.text)}` leaves the folder that may be read",
            pattern,
            help_text="allow a wider folder with `--include-root`, or move the file below the root manifest",
        )

    def _allowed(self, path: Path) -> bool:
        if path.is_relative_to(self.folder):
            return True
        return self.include_root is not None and path.is_relative_to(self.include_root)

    def _walk(self, folder: Path, steps: list[str], wild: list[re.Pattern[str] | None], at: int) -> Iterator[Path]:
        """Files below `folder` that the steps from `at` on lead to."""
        if at == len(steps):
            return
        last = at == len(steps) - 1
        step, regex = steps[at], wild[at]
        if step != "**" and regex is None:
            path = folder / step
            if last:
                if _is_file(path):
                    yield path
            elif step == ".." or _is_folder(path):
                yield from self._walk(path, steps, wild, at + 1)
            return
        if not self._allowed(folder.resolve()):
            return
        if step == "**":
            yield from self._below(folder, steps, wild, at, last=last)
            return
        for entry in self._scan(folder):
            if regex is None or not regex.fullmatch(entry.name):
                continue
            if last:
                if _is_file(Path(entry.path)):
                    yield Path(entry.path)
            elif _is_folder(Path(entry.path)):
                yield from self._walk(Path(entry.path), steps, wild, at + 1)

    def _below(
        self, folder: Path, steps: list[str], wild: list[re.Pattern[str] | None], at: int, *, last: bool
    ) -> Iterator[Path]:
        """`**`: this folder and all below, links to folders not followed."""
        pending = [folder]
        while pending:
            here = pending.pop()
            if not last:
                yield from self._walk(here, steps, wild, at + 1)
            for entry in self._scan(here):
                if entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))
                elif last and _is_file(Path(entry.path)):
                    yield Path(entry.path)

    def _scan(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                found = []
                for entry in entries:
                    self._entries += 1
                    if self._entries > MAX_ENTRIES:
                        raise _LimitError
                    found.append(entry)
        except OSError:
            return []
        return sorted(found, key=lambda entry: entry.name)


def path_order(path: Path) -> tuple[bytes, ...]:
    """The key of the loading order: part by part, byte by byte.

    Source: manifest-format 1 (4).
    """
    return tuple(os.fsencode(part) for part in path.parts)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _regex(step: str) -> re.Pattern[str]:
    """One step of a pattern: `*`, `?` and `[…]`; `!` or `^` negates a class.

    Raises:
        re.error: for an open or empty class.
    """
    out, i = [], 0
    while i < len(step):
        char = step[i]
        i += 1
        if char == "*":
            while step[i : i + 1] == "*":
                i += 1
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[":
            end = step.find("]", i + 2 if step[i : i + 1] in ("!", "^") else i + 1)
            if end < 0:
                raise re.error("open class")
            body = step[i:end]
            negated = body[:1] in ("!", "^")
            body = body[1:] if negated else body
            escaped = body.replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
            out.append(f"[{'^' if negated else ''}{escaped}]")
            i = end + 1
        else:
            out.append(re.escape(char))
    return re.compile("".join(out), re.DOTALL)


def _alternatives(text: str) -> list[str] | None:
    """The patterns that the `{a,b}` of `text` stand for; None for an open brace or too many."""
    done: list[str] = []
    pending = [text]
    while pending:
        current = pending.pop()
        close = current.find("}")
        begin = current.rfind("{", 0, close) if close >= 0 else current.find("{")
        if close < 0 and begin < 0:
            done.append(current)
        elif close < 0 or begin < 0:
            return None
        else:
            choices = current[begin + 1 : close].split(",")
            pending += [current[:begin] + choice + current[close + 1 :] for choice in choices]
        if len(done) + len(pending) > MAX_ALTERNATIVES:
            return None
    return done
