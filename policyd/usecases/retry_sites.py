"""The places that ask for a retry decision, as a list.

Source: retry 2.3; interface, Flags (`--site`).
"""

from __future__ import annotations

from policyd.core.edition import Rules
from policyd.core.retry import SITES


def sites_json(rules: Rules) -> list[dict[str, object]]:
    """One entry for each step of each site."""
    return [
        {
            "site": site.slug,
            "row": site.number,
            "title": site.title,
            "asked": site.is_asked(rules),
            "resolver": site.resolver.resolver(rules).value,
            "statusRulesOnly": site.resolver.filters_status,
            "always": sorted(site.always_present(rules)),
            "sometimes": sorted(site.sometimes_present()),
            "verbs": list(site.verbs),
            "otherwise": site.otherwise,
            "follows": site.follows or None,
        }
        for site in SITES
    ]


def sites_text(rules: Rules) -> str:
    """One paragraph for each step of each site."""
    out = []
    for site in SITES:
        asked = "" if site.is_asked(rules) else f" (asks nothing under edition {rules.label})"
        out.append(f"{site.slug}: {site.title}{asked}")
        filtered = ", only rules that mention `status-code`" if site.resolver.filters_status else ""
        out.append(f"  selects: {site.resolver.resolver(rules).value}{filtered}; otherwise {site.otherwise}")
        always = ", ".join(sorted(site.always_present(rules))) or "nothing"
        some = ", ".join(sorted(site.sometimes_present()))
        out.append(f"  sees: {always}" + (f"; perhaps {some}" if some else ""))
    out.append(f"edition: {rules.label}")
    return "\n".join(out)
