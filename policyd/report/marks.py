"""What the forms of a report share: fingerprints that survive unrelated edits, and texts on one line.

Source: style 8; interface, Flags (`--format`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from policyd.findings import Finding, visible


def fingerprint(finding: Finding) -> str:
    """A name for the finding that survives edits elsewhere: code, document place and message.

    An element of a list of grants is known by its text, however it is spaced, and not by its number.
    """
    span = finding.span
    place = (span.path or span.source) if span is not None else ""
    if span is not None and span.text:
        place = f"{place.rpartition('[')[0]}[{' '.join(span.text.split())}]"
    return sha256(f"{finding.code}\0{place}\0{finding.message}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def distinct_fingerprints(findings: Sequence[Finding]) -> Iterator[str]:
    """A fingerprint for each finding, for receivers that drop what has a known one.

    The second finding with the same one gets another; which is the second does not depend on other findings.
    """
    seen: dict[str, int] = {}
    for finding in findings:
        mark = fingerprint(finding)
        count = seen[mark] = seen.get(mark, 0) + 1
        yield mark if count == 1 else sha256(f"{mark}\0{count}".encode()).hexdigest()[:32]


def told(finding: Finding) -> str:
    """Message, example and help of a finding on one line."""
    text = finding.message
    if finding.witness:
        text += f"; for example {finding.witness}"
    return visible(text + (f" ({finding.help})" if finding.help else ""))
