"""A small reader of unified diffs: applies one to a text, checking every line of context."""

from __future__ import annotations

import re


def patched(text: str, diff: str) -> str:
    """The text after a unified diff of one file."""
    old = text.split("\n")
    lines = [f"{line}\n" for line in old[:-1]] + ([old[-1]] if old[-1] else [])
    out: list[str] = []
    at = 0
    rows = diff.split("\n")
    assert rows[0].startswith("--- a/"), rows[0]
    assert rows[1].startswith("+++ b/"), rows[1]
    number = 2
    while number < len(rows):
        head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", rows[number])
        if head is None:
            assert rows[number] == "", rows[number]
            number += 1
            continue
        count = int(head[2] or 1)
        start = int(head[1]) - (1 if count else 0)
        out += lines[at:start]
        at = start
        number += 1
        while number < len(rows) and not rows[number].startswith("@@") and rows[number]:
            sign, body = rows[number][0], rows[number][1:]
            bare = number + 1 < len(rows) and rows[number + 1].startswith("\\")
            line = body if bare else f"{body}\n"
            if sign in " -":
                assert lines[at] == line, (lines[at], line)
                at += 1
            if sign in " +":
                out.append(line)
            number += 2 if bare else 1
    return "".join([*out, *lines[at:]])
