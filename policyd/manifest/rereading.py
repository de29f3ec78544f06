"""The same documents under another edition: what no edition touches is not read twice.

Source: manifest-format 0, 4; questions 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.edition import Rules
from policyd.findings import Finding
from policyd.manifest.check import Check
from policyd.manifest.generations import version_problem
from policyd.manifest.load import LoadedManifest
from policyd.manifest.shape import ROOT
from policyd.manifest.template_graph import template_findings


def under(loaded: LoadedManifest, rules: Rules) -> LoadedManifest:
    """What loading the documents of `loaded`, which is not refused, gives under other rules.

    Trees and the application are the same in all editions; only which keys, versions and templates are accepted
    differs. The lines that may be shown stay those of the first reading.
    """
    if rules == loaded.rules:
        return loaded
    before, after = set(_of_edition(loaded, loaded.rules)), set(_of_edition(loaded, rules))
    findings = tuple(sorted((set(loaded.findings) - before) | after, key=lambda f: f.order))
    return replace(loaded, findings=findings, rules=rules)


def _of_edition(loaded: LoadedManifest, rules: Rules) -> Iterator[Finding]:
    """The findings that another edition may not have."""
    for document in loaded.documents:
        problem = version_problem(document.source, document.root, rules)
        if problem is not None:
            yield problem
        if document.root is not None:
            yield from Check(rules, document.version).run(ROOT, document.root)
    yield from template_findings(loaded.application, rules)
