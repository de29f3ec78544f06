"""The cases from public reports, put through `audit`, against the codes that each must and must not bring.

    python .ci/cases.py CASES [--list]

A case is a fragment. What its question needs and the fragment leaves out (version, application, environment, the
component of the holder) is filled in, always in the same way; nothing is filled in where the lack is the case itself.
`cases.tsv` holds the labels: `expected` codes must be reported, `forbidden` ones must not, `also` ones are true of the
case although nobody asked. Precision and recall are stated apart for the cases that were checked against the platform's
sources and for those derived from the report alone.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path

import yaml

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.manifest import load_texts
from policyd.usecases.audit_manifest import audit_manifest

HERE = Path(__file__).parent
EDITIONS = {"snapshot": SNAPSHOT, "next": NEXT}
ROOT_KEYS = {
    "manifestVersion", "app", "environments", "components", "componentTemplates", "agents", "tools",
    "secretDefaults", "retryPolicyDefaults", "resourceDefaults", "httpApi", "mcp",
}  # fmt: skip
BOUNDS = {
    "lowerPositive": ("lowerBound", "positive"),
    "lowerNegative": ("lowerBound", "negative"),
    "upperPositive": ("upperBound", "positive"),
    "upperNegative": ("upperBound", "negative"),
}
HOLDER = "owner@example.com/shop/prod/shop:cart/Cart"


def documents(case: dict) -> list[tuple[str, str]] | None:
    """The manifest documents of a case by path; None where it has nothing that a manifest could say."""
    if "documents" in case:
        return [(path, dump(document)) for path, document in case["documents"].items()]
    if "manifest" in case:
        written = case["manifest"]
        return [("golem.yaml", written if isinstance(written, str) else dump(completed(written)))]
    if isinstance(case.get("card"), dict):
        return [("golem.yaml", dump(with_card(case["card"], case.get("holder", {}).get("recipient", HOLDER))))]
    if "policies" in case or "policy" in case or "predicate" in case:
        return [("golem.yaml", dump(completed({"retryPolicyDefaults": policies(case)})))]
    kept = {key: value for key, value in case.items() if key in ROOT_KEYS}
    if not kept or any("card" in agent for agent in kept.get("agents", {}).values()):
        return None  # wallets in the notation of the cases: questions to `check` and `reach`
    return [("golem.yaml", dump(completed(kept)))]


def policies(case: dict) -> dict:
    """Each policy of a case as the only one of an environment, so that none stands in the light of another."""
    once = {"countBox": {"maxRetries": 1, "inner": "immediate"}}
    given = case.get("policies", {"prod": case.get("policy", once)})
    predicate = case.get("predicate", True)
    return {
        name: {"case": {"priority": 10, "predicate": predicate, "policy": policy}} for name, policy in given.items()
    }


def completed(fragment: dict) -> dict:
    """The fragment with what a manifest needs and its question does not touch."""
    whole = {"manifestVersion": "1.6.0", "app": "shop", **fragment}
    named = {name for key in ("retryPolicyDefaults", "secretDefaults") for name in fragment.get(key, {})}
    environments = dict(whole.get("environments", {}))
    for name in sorted(named or ({"prod"} if not environments else set())):
        environments.setdefault(name, {})
    whole["environments"] = {name: {"server": "cloud", **body} for name, body in environments.items()}
    whole.setdefault("components", {"shop:cart": {"dir": "cart", "templates": "rust"}})
    return whole


def with_card(card: dict, holder: str) -> dict:
    """A manifest that gives the card to the agents of the holder."""
    account, app, environment, component, agent = holder.split("/")
    bounds: dict = {}
    for key, (bound, sign) in BOUNDS.items():
        if card.get(key):
            bounds.setdefault(bound, {})[sign] = card[key]
    return {
        "manifestVersion": "1.6.0",
        "app": app,
        "environments": {environment: {"server": "cloud", "account": account}},
        "components": {component: {"dir": "a", "templates": "rust"}},
        "agents": {agent: {"initialCard": bounds}},
    }


def dump(value: object) -> str:
    """YAML text; a text as it stands."""
    return value if isinstance(value, str) else yaml.safe_dump(value, sort_keys=False)


def codes(case: dict, edition: str) -> set[str] | None:
    """The codes that `audit` reports."""
    written = documents(case)
    if written is None:
        return None
    loaded = load_texts(written, rules=EDITIONS[edition])
    return {finding.code for finding in audit_manifest(loaded, rules=EDITIONS[edition]).findings}


def words(cell: str | None) -> set[str]:
    """The codes in a cell of the table."""
    return set((cell or "").split()) - {"-"}


def main() -> int:
    """Compare with the labels and print both measures."""
    root, listing = Path(sys.argv[1]), "--list" in sys.argv
    with (HERE / "cases.tsv").open(encoding="utf-8", newline="") as table:
        labels = {(row["case"], row["edition"]): row for row in csv.DictReader(table, delimiter="\t")}
    counts: dict[str, Counter[str]] = {"checked": Counter(), "derived": Counter()}
    failures = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        case = yaml.safe_load((folder / "input.yaml").read_text(encoding="utf-8"))
        basis = "checked" if "Status: checked" in (folder / "expected.md").read_text(encoding="utf-8") else "derived"
        for edition in EDITIONS:
            found = codes(case, edition)
            if listing:
                print(folder.name, edition, "-" if found is None else " ".join(sorted(found)) or "none", sep="\t")
                continue
            label = labels.get((folder.name, edition))
            if label is None:
                failures.append(f"{folder.name} ({edition}): no label")
                continue
            count = counts[basis]
            if found is None:
                count["without a manifest"] += 1
                if label["expected"] != "none":
                    failures.append(f"{folder.name} ({edition}): has nothing to audit, but a label")
                continue
            expected, also, forbidden = words(label["expected"]), words(label["also"]), words(label["forbidden"])
            count["right"] += len(found & (expected | also))
            count["wrong"] += len(found - expected - also)
            count["seen"] += len(found & expected)
            count["missed"] += len(expected - found)
            count["cases"] += 1
            for what, which in (
                ("missed", expected - found),
                ("forbidden", found & forbidden),
                ("false alarm", found - expected - also - forbidden),
            ):
                failures += [f"{folder.name} ({edition}): {what} {code}" for code in sorted(which)]
    if listing:
        return 0
    for basis, count in counts.items():
        reported, wanted = count["right"] + count["wrong"], count["seen"] + count["missed"]
        print(
            f"{basis}: {count['cases']} audited (both editions), {count['without a manifest']} without a manifest; "
            f"precision {count['right']}/{reported}, recall {count['seen']}/{wanted}"
        )
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
