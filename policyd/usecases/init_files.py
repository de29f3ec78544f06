"""The first files for a manifest: a policy test that passes, a baseline of what is known, and a workflow.

Source: interface, `init`; style 8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.edition import Edition, Rules
from policyd.findings import Finding, Report, Severity, visible
from policyd.usecases.deployments import Described, Selection
from policyd.usecases.init_expectations import Expected
from policyd.usecases.suppressions import baseline_json

BASELINE = ".policyd/baseline.json"
WORKFLOW = ".github/workflows/policyd.yml"

_SLUG = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class InitFile:
    """A file to write.

    Attributes:
        path: relative to the folder of the project, with `/`.
        text: its contents.
    """

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Project:
    """What the files are about.

    Attributes:
        manifest: its path, relative to the folder of the project, with `/`.
        application: its name.
        selection: as asked.
        rules: the edition.
    """

    manifest: str
    application: str
    selection: Selection
    rules: Rules


def init_files(project: Project, expected: Sequence[Expected], report: Report) -> tuple[InitFile, ...]:
    """The files for a project; without a policy test where nothing can be expected of any agent type."""
    tests = [row for row in expected if not row.is_empty]
    files = [InitFile(policy_path(project.application), _policy_text(project, tests))] if tests else []
    files.append(InitFile(BASELINE, baseline_text(report)))
    files.append(InitFile(WORKFLOW, _workflow_text(project, has_tests=bool(tests))))
    return tuple(files)


def policy_path(application: str) -> str:
    """Where the policy test of an application goes.

    >>> policy_path("shop"), policy_path("../a b")
    ('policies/shop.test.yaml', 'policies/a-b.test.yaml')
    """
    slug = _SLUG.sub("-", application).strip(".-")[:80]
    return f"policies/{slug or 'application'}.test.yaml"


def _policy_text(project: Project, tests: Sequence[Expected]) -> str:
    selection, rules = project.selection, project.rules
    out = [
        "# What the agents may and may not do. Every line was confirmed when the file was written: replace them by",
        "# what the application relies on; `policyd test --mutate` names what no test notices.",
        f"manifest: {quoted('../' + project.manifest)}",
    ]
    if selection.environment is not None:
        out.append(f"env: {quoted(selection.environment)}")
    if selection.presets is not None:
        out.append(f"presets: [{', '.join(map(quoted, selection.presets))}]")
    if selection.account:
        out.append(f"account: {quoted(selection.account)}")
    if selection.component:
        out.append(f"component: {quoted(selection.component)}")
    if rules.edition is not Edition.NEXT:
        out.append(f"edition: {rules.edition.value}")
    if rules.overrides:
        out.append("switches:")
        out += [f"  {name}: {quoted(value)}" for name, value in rules.overrides]
    out.append("tests:")
    for row in tests:
        out += [f"  - name: {quoted(f'what {row.agent} may do')}", f"    agent: {quoted(row.agent)}"]
        for key, text in (("allow", row.allow), ("deny", row.deny), ("never", row.never)):
            if text:
                out.append(f"    {key}: [{quoted(text)}]")
    return "\n".join(out) + "\n"


def baseline_text(report: Report) -> str:
    """A baseline that accepts the warnings and remarks of a report, each with its code as the reason to review it.

    Errors are not accepted: for most of them a deploy is refused.
    """
    accepting = baseline_json(accepted(report), "known when the baseline was written")
    return json.dumps(accepting, indent=2, ensure_ascii=False) + "\n"


def accepted(report: Report) -> tuple[Finding, ...]:
    """The findings that a first baseline accepts."""
    return tuple(f for f in report.findings if f.severity is not Severity.ERROR)


def _workflow_text(project: Project, *, has_tests: bool) -> str:
    out = [
        "# Audits the manifest" + (", and runs its policy tests." if has_tests else "."),
        "name: policyd",
        "on: [push, pull_request]",
        "permissions:",
        "  contents: read",
        "jobs:",
        "  policyd:",
        "    runs-on: ubuntu-latest",
        "    steps:",
        "      - uses: actions/checkout@v4",
        "      - uses: actions/setup-python@v5",
        "        with:",
        '          python-version: "3.12"',
        "      # The variables say where policyd is kept (owner/name), and the commit that was reviewed.",
        "      - uses: actions/checkout@v4",
        "        with:",
        "          repository: ${{ vars.POLICYD_REPOSITORY }}",
        "          ref: ${{ vars.POLICYD_COMMIT }}",
        "          path: .policyd-action",
        "      - uses: ./.policyd-action",
        "        with:",
        f"          manifest: {quoted(project.manifest)}",
    ]
    if project.selection.environment is not None:
        out.append(f"          env: {quoted(project.selection.environment)}")
    out += [f"          baseline: {BASELINE}", "          fail-on: warning"]
    if has_tests:
        out.append("      - run: policyd test policies/*.test.yaml")
    return "\n".join(out) + "\n"


def quoted(text: str) -> str:
    r"""A text as a YAML scalar in double quotes.

    >>> print(quoted('Cart("a\\b")'))
    "Cart(\"a\\b\")"
    """
    return '"' + visible(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def is_writable(project: Project, described: Described) -> bool:
    """Whether the names can stand in a workflow, where `${{` begins an expression of the runner."""
    names = (project.manifest, project.selection.environment or "", *described.deployment.presets)
    return not any("${{" in name for name in names)
