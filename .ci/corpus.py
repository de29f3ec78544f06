"""Load every file of a folder of real manifests under both editions and compare with what is expected of each.

    python .ci/corpus.py FOLDER [--write]

The expectation stands in corpus.tsv beside this file: path, and per edition `ok` or the codes of the errors.
"""

from __future__ import annotations

import sys
from pathlib import Path

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.findings import Severity
from policyd.manifest import load_manifest, resolve_environment
from policyd.usecases.audit_manifest import audit_manifest

TABLE = Path(__file__).with_name("corpus.tsv")


def outcome(path: Path, folder: Path) -> tuple[str, ...]:
    """Per edition: `ok`, or the codes of the errors; auditing must end, too."""
    words = []
    for rules in (NEXT, SNAPSHOT):
        loaded = load_manifest(path, rules=rules, include_root=folder)
        for name in [None, *(e.name for e in loaded.application.environments)]:
            resolve_environment(loaded.application, name, rules=rules)
        audit_manifest(loaded, rules=rules)
        codes = sorted({f.code for f in loaded.findings if f.severity is Severity.ERROR})
        if any(f.severity is Severity.ERROR and (f.span is None or not f.span.source) for f in loaded.findings):
            codes.append("without-a-place")
        words.append(",".join(codes) or "ok")
    return tuple(words)


def main() -> int:
    """Compare, or write the table anew."""
    folder = Path(sys.argv[1])
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".yaml", ".yml", ".json"))
    found = {str(p.relative_to(folder)): outcome(p, folder) for p in files}
    if "--write" in sys.argv:
        TABLE.write_text("".join("\t".join((name, *words)) + "\n" for name, words in found.items()), encoding="utf-8")
    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    expected = {row[0]: tuple(row[1:]) for row in rows}
    wrong = [name for name, words in found.items() if expected.get(name) != words]
    for name in wrong:
        print(f"{name}: expected {expected.get(name)}, got {found[name]}")
    print(f"real manifests: {len(found) - len(wrong)} as expected, {len(wrong)} not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
