"""Snapshots listed, shown, exported and named.

Source: interface, a place in the store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from policyd.core.edition import Rules
from policyd.findings import InputError, Report, Severity
from policyd.store.document import KIND, SECTIONS, VERSION, facts_json, finding_json, header_json
from policyd.store.facts import Deployment
from policyd.store.latest import Stamp, latest_stamp, stamp_of
from policyd.store.ordering import ordered
from policyd.store.session import Database
from policyd.store.snapshots import EVERYTHING, Scope, SnapshotInfo, load, resolve
from policyd.usecases.recent import Recent

_READ: ContextVar[list[SnapshotInfo] | None] = ContextVar("read", default=None)

_NUMBER = re.compile(r"@[0-9]{1,18}", re.ASCII)


@contextmanager
def reading_into(read: list[SnapshotInfo]) -> Iterator[None]:
    """Within the block each snapshot that is resolved is added to `read`, once, so that the answer can name it."""
    token = _READ.set(read)
    try:
        yield
    finally:
        _READ.reset(token)


class StoredSnapshots:
    """The snapshots of a database, as far as `scope` reaches.

    Args:
        database: migrated.
        scope: what lies outside does not exist.
        known: what was read about snapshots before, kept by their stamps; None to keep nothing.
    """

    def __init__(self, database: Database, scope: Scope = EVERYTHING, known: Recent | None = None) -> None:
        """Look at `database` through `scope`."""
        self.database, self.scope, self._known = database, scope, known

    def resolve(self, reference: str) -> SnapshotInfo:
        """The snapshot that `reference` names.

        Raises:
            InputError: STORE010 or STORE011.
        """
        info = self._resolved(reference)
        read = _READ.get()
        if read is not None and info not in read:
            read.append(info)
        return info

    def _resolved(self, reference: str) -> SnapshotInfo:
        stamp = None if self._known is None else self._stamp(reference)
        if stamp is None or self._known is None:
            return resolve(self.database, reference, self.scope)
        kept = self._known.kept(stamp)
        if isinstance(kept, SnapshotInfo) and self.scope.admits(kept.account, kept.application):
            return kept
        # what is out of reach takes the same steps as what is not there, so that not even the time tells them apart
        info = resolve(self.database, reference, self.scope)
        return self._known.get(stamp, lambda: info, lambda _: 1) if info.number == stamp.number else info

    def _stamp(self, reference: str) -> Stamp | None:
        """What the snapshot is now; None for what `resolve` is to refuse."""
        if _NUMBER.fullmatch(reference):
            return stamp_of(self.database, int(reference[1:]))
        names = reference[1:].split("/") if reference.startswith("@") else []
        return latest_stamp(self.database, *names) if len(names) == 3 else None

    def load(self, info: SnapshotInfo) -> Deployment:
        """All facts of a snapshot."""
        return load(self.database, info.number)


def is_place(text: str) -> bool:
    """Whether a user means a place in the store rather than a file.

    >>> is_place("@12"), is_place("@acme@x.io/shop/prod"), is_place("golem.yaml")
    (True, True, False)
    """
    return text.startswith("@")


def demand(info: SnapshotInfo, digest: str | None) -> None:
    """Refuse a snapshot that is not the one that the asker demands.

    Raises:
        InputError: STORE050.
    """
    if digest is not None and digest != info.digest:
        raise InputError.of(
            "STORE050",
            f"`@{info.number}` is another revision than the one demanded",
            None,
            f"its digest is `{info.digest}`",
        )


def used_json(info: SnapshotInfo | None) -> dict[str, object]:
    """Which snapshot an answer was read from, for its JSON; None for an answer about files."""
    if info is None:
        return {"snapshot": None}
    return {"snapshot": f"@{info.number}", "digest": info.digest, "revision": info.revision}


def used_words(info: SnapshotInfo) -> str:
    """Which snapshot an answer was read from, in one line of text."""
    return f"snapshot @{info.number} of {info.label}, revision {info.revision}, digest {info.digest[:12]}"


def snapshot_json(info: SnapshotInfo) -> dict[str, object]:
    """A snapshot without its facts."""
    return {
        "snapshot": f"@{info.number}",
        "number": info.number,
        "digest": info.digest,
        "account": info.account,
        "application": info.application,
        "environment": info.environment,
        "revision": info.revision,
        "isLatest": info.is_latest,
        "grants": info.grant_count,
        "manifestVersion": info.manifest_version,
        "edition": info.rules.edition.value,
        "switches": dict(info.rules.overrides),
        "createdAt": info.created_at,
        "createdBy": info.created_by,
        "importedAt": info.imported_at,
    }


def snapshot_line(info: SnapshotInfo) -> str:
    """A snapshot in one line."""
    latest = " latest" if info.is_latest else ""
    return (
        f"@{info.number}  {info.label}  revision {info.revision}{latest}"
        f"  {info.grant_count} grants  {info.imported_at}  {info.digest[:12]}"
    )


def export_lines(deployment: Deployment) -> Iterator[str]:
    """The whole document as `import` reads it again, piece by piece; joined they are one JSON text."""
    facts = ordered(deployment)
    head = json.dumps({"kind": KIND, "version": VERSION, **header_json(facts)}, ensure_ascii=False, indent=1)
    yield head[:-2]
    waiting = dict.fromkeys(SECTIONS, None)
    current = ""
    for name, fact in facts_json(facts, places=True):
        while name != current:
            skipped = next(iter(waiting))
            del waiting[skipped]
            yield f'{" ]" if current else ""},\n "{skipped}": ['
            current, first = skipped, True
        yield ("" if first else ",") + "\n  " + json.dumps(fact, ensure_ascii=False)
        first = False
    for skipped in waiting:
        yield f'{" ]" if current else ""},\n "{skipped}": ['
        current = skipped
    yield ' ],\n "findings": ['
    yield ",".join("\n  " + json.dumps(finding_json(f), ensure_ascii=False) for f in facts.findings)
    yield " ]\n}\n"


def stored_report(deployment: Deployment, info: SnapshotInfo, rules: Rules) -> Report:
    """What was found when the snapshot was imported, and which of its facts are not known.

    Raises:
        InputError: if another edition is asked about than the one it was imported under.
    """
    if rules != info.rules:
        raise InputError.of(
            "MANIF091",
            f"`@{info.number}` was audited under {info.rules.label}, not under {rules.label}",
            None,
            "import the manifest under the other edition, or audit the manifest",
        )
    unknown = [
        f"agents of type `{agent.name}`: their initial card is not known"
        if agent.card is None
        else f"agents of type `{agent.name}`: the component that implements them is not known"
        for agent in deployment.agent_types
        if agent.card is None or not agent.component
    ]
    return Report.of((fact.finding for fact in deployment.findings), unknown)


def findings_count(deployment: Deployment) -> dict[str, int]:
    """How many findings there are, by severity."""
    counted = {severity.value: 0 for severity in Severity}
    for fact in deployment.findings:
        counted[fact.finding.severity.value] += 1
    return counted
