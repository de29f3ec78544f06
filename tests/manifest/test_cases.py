"""Case files: what a manifest is told, and what it comes to in an environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from policyd.core.edition import Edition, Rules
from policyd.findings import Finding
from policyd.manifest import LoadedManifest, load_texts, resolve_environment
from policyd.manifest.resolve import ResolvedAgent

CASES = Path(__file__).parents[1] / "cases" / "manifest"


def read_cases() -> list[Any]:
    yaml = YAML(typ="safe", pure=True)
    return [
        pytest.param(case, id=f"{file.stem}: {case['title']}")
        for file in sorted(CASES.glob("*.yaml"))
        for case in yaml.load(file)
    ]


def place(finding: Finding) -> str:
    where = finding.where.removeprefix("golem.yaml:")
    return f"{finding.code} {where}"


def load(case: dict[str, Any]) -> LoadedManifest:
    rules = Rules.of(Edition(case.get("edition", "next")), case.get("switches"))
    documents = case.get("documents") or {"golem.yaml": case["text"]}
    return load_texts(tuple(documents.items()), rules=rules)


def as_expected(agent: ResolvedAgent, wanted: dict[str, Any]) -> dict[str, Any]:
    card = agent.card
    seen: dict[str, Any] = {
        "card": card.layer.label if card else "default",
        "grants": [grant.text for grant in card.card.grants] if card else [],
        "replaced": [layer.label for layer in card.replaced] if card else [],
        "declared": agent.is_declared,
        "named_in": list(agent.named_in),
        "component": agent.component,
        "assumed": agent.component_is_assumed,
        "complete": agent.is_complete,
        "files": [f"{f.target_path.text} {f.permissions}" for f in agent.merged.files],
        "env": [variable.name for variable in agent.merged.env],
        "unknown_env": {v.name: list(v.variables) for v in agent.merged.env if not v.is_known},
        "config": [".".join(path) for path, _ in agent.merged.config_paths],
        "plugins": [plugin.name for plugin in agent.merged.plugins],
        "tools": {
            b.name: {
                "environment": b.environment is not None,
                "owners": len(b.owners),
                "default": b.is_default,
                "declared": b.is_declared,
            }
            for b in agent.tools
        },
    }
    return {key: seen[key] for key in wanted}


@pytest.mark.parametrize("case", read_cases())
def test_case(case: dict[str, Any]) -> None:
    """A manifest is told exactly the findings of the case, and comes to what the case says."""
    loaded = load(case)
    assert [place(f) for f in loaded.findings] == case["findings"]
    assert loaded.refused is case["refused"]
    if "version" in case:
        assert loaded.version == case["version"]
    if "agents" in case:
        assert sorted(a.name for a in loaded.application.agents) == case["agents"]
    if "helps" in case:
        assert set(case["helps"]) <= {f.help for f in loaded.findings}
    if "not_analysed" in case:
        assert list(loaded.not_analysed) == case["not_analysed"]
    if "expect" in case:
        check_environment(loaded, case)


def check_environment(loaded: LoadedManifest, case: dict[str, Any]) -> None:
    asked, wanted = case["resolve"], case["expect"]
    resolved = resolve_environment(
        loaded.application,
        asked.get("environment"),
        asked.get("presets"),
        rules=loaded.rules,
        implements=asked.get("implements"),
        variables=asked.get("variables"),
    )
    seen: dict[str, Any] = {
        "environment": resolved.environment.name if resolved.environment else None,
        "chosen": resolved.is_chosen,
        "presets": list(resolved.presets),
        "account": resolved.account.name,
        "account_variable": resolved.account.variable,
        "account_filled": resolved.account.is_filled,
        "ineffective": [card.layer.label for card in resolved.ineffective],
        "findings": [place(f) for f in resolved.findings],
        "not_analysed": list(resolved.not_analysed),
        "layers": {c.name: [layer.label for layer in c.layers] for c in resolved.components},
        "agents": {
            name: as_expected(agent, agent_wanted)
            for name, agent_wanted in wanted.get("agents", {}).items()
            if (agent := resolved.agent(name)) is not None
        },
        "agent_names": [agent.name for agent in resolved.agents],
    }
    assert {key: seen[key] for key in wanted} == wanted
