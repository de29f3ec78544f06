"""Errors of databases, key-value stores and blob stores: E-05 to E-08 and E-45.

Source: host 2.5 to 2.7, 2.13, 4.7, 5.5.
"""

from __future__ import annotations

import re

from policyd.syntax.denials.hits import Hit, Scene
from policyd.syntax.denials.reading import OperationGuess
from policyd.syntax.denials.redaction import redacted_sql
from policyd.syntax.denials.shape_operations import BLOBS, DATABASES, KEY_VALUE, guesses_of

_EXTRACTION = re.compile(
    r"\s{0,4}:\s{0,4}(?:SQL\s+resource\s+set\s+cannot\s+be\s+extracted\s+safely\s{0,4}:\s{0,4})?([^\n]{1,300})"
)

_SQL_PLACE = re.compile(r"Line:?\s{0,4}([0-9]{1,9}),?\s{0,4}Column:?\s{0,4}([0-9]{1,9})", re.IGNORECASE)

_REASON_CUT = re.compile(r"\"[)}\],]|\"\s{0,4}$")

_REASON_END = re.compile(r"[\"'`]?\)+\s*$|[\"'`;]+\s*$")


def on_extraction(scene: Scene, at: int) -> Hit | None:
    """E-05 at `cannot safely determine SQL targets`: why, and where in the statement if that is told."""
    start = _back_to(scene, at, "RDBMS permission denied:")
    end = at + len("cannot safely determine SQL targets")
    part = scene.ahead(end, 400)
    found = _EXTRACTION.match(part.text)
    if found is None:
        return Hit("E-05", start, end)
    cut = _REASON_CUT.search(found[1])
    reason = _REASON_END.sub("", found[1][: cut.start()] if cut else found[1]).strip()
    place = _SQL_PLACE.search(reason)
    facts = {"reason": redacted_sql(reason)}
    if place:
        facts |= {"sql-line": place[1], "sql-column": place[2]}
    end = part.page_offset(found.start(1) + (cut.start() if cut else len(found[1])))
    return Hit("E-05", start, end, facts=facts)


def on_database_wildcard(scene: Scene, at: int) -> Hit | None:
    """E-06 at `cannot construct database wildcard`."""
    return Hit("E-06", _back_to(scene, at, "RDBMS permission denied:"), at + len("cannot construct database wildcard"))


def _back_to(scene: Scene, at: int, phrase: str) -> int:
    found = scene.text.rfind(phrase, max(0, at - 120), at)
    return at if found < 0 or "\n" in scene.text[found:at] else found


def on_rdbms(scene: Scene, at: int) -> Hit | None:
    """E-07 at `RDBMS permission denied:`, unless the text says that no target could be made."""
    end = at + len("RDBMS permission denied:")
    line = scene.text[end : end + 120]
    if "cannot safely determine" in line or "cannot construct" in line:
        return None
    return Hit("E-07", at, end)


def on_key_value(scene: Scene, at: int) -> Hit | None:
    """E-08 at `key-value permission denied:`."""
    return Hit("E-08", at, at + len("key-value permission denied:"))


_DRIVER = re.compile(
    r"(KeyValue|Blobstore|Postgres|MySql|Mysql|Ignite2?|Rdbms)Error\(([\w.-]{1,80})(?:,\s{0,4}([\w-]{1,60}))?\):\s{0,4}"
)

_POLICY_DETAIL = re.compile(
    r"[\"']?(?:key-value permission denied:|RDBMS permission denied:|The permission target"
    r"|Failed to evaluate permission target"
    r"|(?:permission denied|not permitted)\s*$)"
)

_DRIVER_KINDS = {"KeyValue": "kv", "Blobstore": "blob"}

_OF_DRIVER = {"kv": KEY_VALUE, "blob": BLOBS, "rdbms": DATABASES}

_SDK_OPERATIONS = {
    "get-or-set": "kv.cache.get-or-set",
    "begin-transaction": "rdbms.begin-transaction",
    "begin": "rdbms.begin-transaction",
    "query-stream": "rdbms.query-stream",
    "query": "rdbms.query",
    "execute": "rdbms.execute",
}

_KV = frozenset(["get", "exists", "get-many", "set", "set-many", "delete", "delete-many", "keys"])

_BLOB = frozenset(
    [
        "create-container",
        "get-container",
        "container-exists",
        "delete-container",
        "copy-object",
        "move-object",
        "get-data",
        "has-object",
        "object-info",
        "write-data",
        "delete-object",
        "delete-objects",
        "clear",
        "list-objects",
    ]
)

_CAMEL_STEP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def on_driver(scene: Scene, at: int) -> Hit | None:
    """E-45 at the name of a wrapper's error; a detail that says nothing of policy is an error of the back end."""
    part = scene.ahead(at, 300)
    found = _DRIVER.match(part.text)
    if found is None or not _POLICY_DETAIL.match(part.text[found.end() :].split("\n", 1)[0]):
        return None
    driver, name, reason = found.groups()
    kind = _DRIVER_KINDS.get(driver, "rdbms")
    operation = _sdk_operation(kind, name)
    guesses = guesses_of(_OF_DRIVER[kind], "the wrapper is that of its interface")
    if operation:
        guesses = (OperationGuess(operation, "certain", f"the wrapper names `{name}`"),)
    facts = {"driver": driver.lower(), "operation": name, **({"reason": reason} if reason else {})}
    return Hit("E-45", at, part.page_offset(found.end()), kind=kind, facts=facts, operations=guesses)


def _sdk_operation(kind: str, name: str) -> str:
    word = _CAMEL_STEP.sub("-", name.rpartition(".")[2]).replace("_", "-").lower()
    if kind == "kv":
        if name.lower().startswith("cache."):
            return f"kv.cache.{word}" if word in ("get", "exists", "set", "delete", "get-or-set") else ""
        return f"kv.{word}" if word in _KV else _SDK_OPERATIONS.get(word, "") if word == "get-or-set" else ""
    if kind == "blob":
        return f"blob.{word}" if word in _BLOB else ""
    return _SDK_OPERATIONS.get(word, "")
