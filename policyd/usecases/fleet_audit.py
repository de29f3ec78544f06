"""An audit of many applications: each by itself, so that one that cannot be read says nothing about the others.

Source: interface, `fleet audit`.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from policyd import __version__
from policyd.core.cards import Timestamp
from policyd.core.edition import Edition, Rules
from policyd.findings import InputError, InternalDefect, PolicydError, Report, Severity, visible
from policyd.manifest import LoadedManifest, load_manifest
from policyd.report.as_json import report_json
from policyd.settings import Settings
from policyd.store.session import Database
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.audit_manifest import DeployAnswer, audit_with_deploys
from policyd.usecases.snapshots import StoredSnapshots, stored_report
from policyd.usecases.suppressions import suppressed_report

ROOT_NAME = "golem.yaml"
MAX_ITEMS = 100_000
"""Applications of one fleet."""

MAX_FINDINGS = 50
"""Findings of one application that are kept one by one; all of them are counted."""

Json = dict[str, Any]


def items_at(places: Sequence[str], rules: Rules, now: Timestamp, include_root: Path | None = None) -> list[Json]:
    """The manifests of files, folders and patterns: every `golem.yaml` below a folder, every file that is named.

    Args:
        places: paths, folders, or patterns with `*` and `**`.
        rules: the edition.
        now: the moment for which accepted findings count.
        include_root: how far up included documents may lie.

    Raises:
        InputError: MANIF001 for a place where there is nothing, STORE072 for too many.
    """
    found: dict[str, None] = {}
    for place in places:
        before = len(found)
        for path in _manifests(place):
            found[os.path.normpath(path)] = None
            if len(found) > MAX_ITEMS:
                raise InputError.of("STORE072", f"more than {MAX_ITEMS} manifests are one fleet too many")
        if len(found) == before and not os.path.exists(place):
            raise InputError.of("MANIF001", f"there is no manifest at `{visible(place)}`")
    asked = _asked(rules, now) | {"includeRoot": str(include_root) if include_root is not None else ""}
    return [{"item": path, "kind": "manifest", **asked} for path in found]


def _manifests(place: str) -> Iterator[str]:
    if os.path.isdir(place):
        for folder, folders, files in os.walk(place):
            folders.sort()
            if ROOT_NAME in files:
                yield os.path.join(folder, ROOT_NAME)
    elif os.path.isfile(place):
        yield place
    elif glob.has_magic(place):
        for path in sorted(glob.iglob(place, recursive=True)):
            if os.path.basename(path) == ROOT_NAME and os.path.isfile(path):
                yield path


def stored_items(snapshots: Sequence[SnapshotInfo], url: str, rules: Rules, now: Timestamp) -> list[Json]:
    """The latest snapshots of a database as items; workers open the database by its address."""
    asked = _asked(rules, now)
    return [
        {"item": f"@{info.label}", "kind": "snapshot", "number": info.number, "database": url, **asked}
        for info in snapshots
    ]


def _asked(rules: Rules, now: Timestamp) -> Json:
    return {"edition": rules.edition.value, "switches": dict(rules.overrides), "now": now.text}


def with_known(items: Sequence[Json], known: Mapping[str, Json]) -> list[Json]:
    """The items, each with the result of an earlier run, which counts while what it was made from is the same."""
    return [item | {"known": known[item["item"]]} if item["item"] in known else item for item in items]


def audit_item(item: Json) -> Json:
    """The audit of one item: counts, findings and deploys, or why there is none; never raises.

    Returns:
        `item`, `digest` of what was read, `isReused`, and either `error` (`code`, `message`) or the counts.
    """
    try:
        return _audited(item)
    except InputError as error:
        first = error.findings[0]
        return _failed(item, first.code, f"{first.where}: {first.message}" if first.span else first.message)
    except InternalDefect as error:
        return _failed(item, "SOLVE900", str(error))
    except PolicydError as error:
        return _failed(item, "STORE073", str(error))
    except (MemoryError, RecursionError) as error:
        return _failed(item, "STORE073", f"the audit needs more than there is: {type(error).__name__}")
    except Exception as error:  # one item must not end the others
        return _failed(item, "SOLVE900", f"a defect of policyd: {type(error).__name__}")


def lost_item(item: Json) -> Json:
    """The result for an item over which workers died."""
    return _failed(item, "STORE074", "workers died over it; audit it by itself")


def _failed(item: Json, code: str, message: str) -> Json:
    return {"item": item["item"], "digest": "", "isReused": False, "error": {"code": code, "message": visible(message)}}


def _audited(item: Json) -> Json:
    rules = Rules(Edition(item["edition"]), tuple(item["switches"].items()))
    now = Timestamp.parse(item["now"])
    if item["kind"] == "snapshot":
        return _of_snapshot(item, rules)
    root = Path(item["includeRoot"]) if item["includeRoot"] else None
    loaded = load_manifest(Path(item["item"]), rules=rules, include_root=root)
    digest = _digest(loaded, item)
    known = item.get("known")
    if known is not None and known.get("digest") == digest:
        return {**known, "isReused": True}
    report, deploys = audit_with_deploys(loaded, rules=rules)
    report = suppressed_report(report, loaded, (), now, is_whole=True)
    if loaded.refused and any(d.root is None and not d.is_older for d in loaded.documents):
        worst = next(f for f in report.findings if f.severity is Severity.ERROR)
        return _failed(item, worst.code, f"{worst.where}: {worst.message}") | {"digest": digest}
    return _result(item, digest, report, deploys, len(loaded.application.environments), len(loaded.application.agents))


def _of_snapshot(item: Json, rules: Rules) -> Json:
    database = Database(Settings(database_url=item["database"]))
    try:
        snapshots = StoredSnapshots(database)
        info = snapshots.resolve(f"@{item['number']}")
        known = item.get("known")
        if known is not None and known.get("digest") == info.digest:
            return {**known, "isReused": True}
        facts = snapshots.load(info)
        return _result(item, info.digest, stored_report(facts, info, rules), None, 1, len(facts.agent_types)) | {
            "snapshot": item["number"]
        }
    finally:
        database.close()


def _digest(loaded: LoadedManifest, item: Json) -> str:
    """Of all documents, the edition, the day (comments accept findings until one) and the version of policyd."""
    made = sha256(
        f"{__version__}\n{item['edition']}\n{sorted(item['switches'].items())}\n{item['now'][:10]}\n".encode()
    )
    for document in loaded.documents:
        content = document.source.text.encode("utf-8", "surrogatepass")
        made.update(f"{document.name}\n{len(content)}\n".encode("utf-8", "surrogatepass"))
        made.update(content)
    return made.hexdigest()


def _result(
    item: Json, digest: str, report: Report, deploys: Sequence[DeployAnswer] | None, environments: int, agents: int
) -> Json:
    counts = {severity.value: 0 for severity in Severity}
    for finding in report.findings:
        counts[finding.severity.value] += 1
    kept = Report.of(
        sorted(report.findings, key=lambda f: (f.severity.rank, f.order))[:MAX_FINDINGS], report.not_analysed
    )
    return {
        "item": item["item"],
        "digest": digest,
        "isReused": False,
        "environments": environments,
        "agents": agents,
        "counts": counts,
        "deploysRefused": None if deploys is None else _refused(deploys),
        **report_json(kept),
        "moreFindings": max(0, len(report.findings) - MAX_FINDINGS),
    }


def _refused(deploys: Sequence[DeployAnswer]) -> int:
    """How many agent types are refused, each counted once, in however many environments."""
    return len({deploy.agent_type for deploy in deploys if deploy.is_accepted is False})


@dataclass(frozen=True, slots=True)
class FleetReport:
    """All results, sorted by item.

    Attributes:
        results: one for each item.
        level: as bad as this, findings fail the run.
    """

    results: tuple[Json, ...]
    level: Severity

    @classmethod
    def of(cls, results: Sequence[Json], level: Severity) -> FleetReport:
        """The report; the order in which results came does not matter."""
        return cls(tuple(sorted(results, key=lambda result: result["item"])), level)

    @property
    def failed(self) -> tuple[Json, ...]:
        """Items that could not be audited."""
        return tuple(result for result in self.results if "error" in result)

    @property
    def is_defect(self) -> bool:
        """Whether one of them failed by a defect of policyd."""
        return any(result["error"]["code"] == "SOLVE900" for result in self.failed)

    @property
    def is_bad(self) -> bool:
        """Whether something was found that is as bad as the level."""
        return any(
            result["counts"][severity.value] for result in self.results if "counts" in result
            for severity in Severity if severity.at_least(self.level)
        )  # fmt: skip

    @property
    def is_partial(self) -> bool:
        """Whether something was not analysed."""
        return any(result.get("notAnalysed") for result in self.results)

    def summary(self) -> str:
        """One line."""
        done = [result for result in self.results if "counts" in result]
        with_errors = sum(1 for result in done if result["counts"]["error"])
        with_warnings = sum(1 for result in done if result["counts"]["warning"])
        agents = sum(result["agents"] for result in done)
        refused = sum(1 for result in done if result["deploysRefused"])
        words = (
            f"{_count(len(self.results), 'application')}, {_count(agents, 'agent')}: {with_errors} with errors, "
            f"{with_warnings} with warnings, {refused} whose deploy would be refused"
        )
        reused = sum(1 for result in self.results if result["isReused"])
        words += f"; {len(self.failed)} could not be audited" if self.failed else ""
        return words + (f"; {reused} unchanged since an earlier run" if reused else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def fleet_json(report: FleetReport) -> Json:
    """The report on the wire; `isReused` is left out, so that two runs over the same input give the same bytes."""
    return {
        "applications": [{k: v for k, v in result.items() if k != "isReused"} for result in report.results],
        "count": len(report.results),
        "failed": len(report.failed),
        "version": __version__,
    }


_COLUMNS = ("errors", "warnings", "infos", "refused", "agents", "application")


def fleet_rows(report: FleetReport) -> list[tuple[str, ...]]:
    """The table: worst first, then by name; the head is the first row."""
    rows: list[tuple[str, ...]] = [_COLUMNS]
    for result in sorted(report.results, key=lambda r: (*_badness(r), r["item"])):
        name = visible(result["item"])
        if "error" in result:
            rows.append(("-", "-", "-", "-", "-", f"{name}: {result['error']['code']} {result['error']['message']}"))
            continue
        counts = result["counts"]
        refused = "-" if result["deploysRefused"] is None else str(result["deploysRefused"])
        partial = f" (not analysed: {len(result['notAnalysed'])})" if result["notAnalysed"] else ""
        rows.append(
            (
                str(counts["error"]), str(counts["warning"]), str(counts["info"]), refused,
                str(result["agents"]), name + partial,
            )
        )  # fmt: skip
    return rows


def _badness(result: Json) -> tuple[int, int, int, int]:
    if "error" in result:
        return (0, 0, 0, 0)
    counts = result["counts"]
    return (1, -counts["error"], -counts["warning"], -counts["info"])


def fleet_text(report: FleetReport) -> str:
    """The table and the summary."""
    rows = fleet_rows(report)
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS) - 1)]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=True)), row[-1]]) for row in rows
    ]
    return "\n".join([*lines, "", report.summary()]) + "\n"


def fleet_markdown(report: FleetReport) -> str:
    """The table for a wiki or a pull request."""
    head, *rows = fleet_rows(report)
    lines = [f"| {' | '.join(head)} |", "|" + "--:|" * (len(head) - 1) + "---|"]
    lines += [f"| {' | '.join([*row[:-1], _cell(row[-1])])} |" for row in rows]
    return "\n".join([report.summary(), "", *lines]) + "\n"


def _cell(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return escaped.replace("`", "'").replace("*", "\\*").replace("[", "\\[")
