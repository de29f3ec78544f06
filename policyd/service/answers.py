"""Answers as JSON responses: built once from core values, without a second validation on the way out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import Response

from policyd.core.edition import Rules
from policyd.store.snapshots import SnapshotInfo


def answered(info: SnapshotInfo, rules: Rules) -> dict[str, Any]:
    """Which snapshot was used, and under which rules."""
    return {
        "edition": rules.edition.value,
        "switches": dict(rules.overrides),
        "snapshot": f"@{info.number}",
        "digest": info.digest,
        "revision": info.revision,
    }


def snapshot_headers(info: SnapshotInfo) -> dict[str, str]:
    """Headers that name the snapshot revision that was read."""
    return {"Policyd-Snapshot": f"@{info.number}", "Policyd-Digest": info.digest}


def json_response(
    body: Mapping[str, Any],
    info: SnapshotInfo | None = None,
    headers: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    """A JSON response; every member is there already."""
    return Response(
        json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace"),
        status,
        {**(snapshot_headers(info) if info is not None else {}), **(headers or {})},
        "application/json",
    )
