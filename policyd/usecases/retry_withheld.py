"""Findings on retry policies as they may be stored: without the values that predicates and policies hold.

Source: interface, findings of stored deployments; retry 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from policyd.core.edition import NEXT
from policyd.core.retry import SITES
from policyd.core.retry.kinds import BY_NAME
from policyd.findings import Finding

_QUOTED = re.compile(r"`([^`]*)`")
_WORD = re.compile(r"[\w-]+")
_FIXED = frozenset({"default", "true", "false", "predicate", "policy", "priority", "retryPolicyDefaults"}) | {
    "and",
    "or",
    "not",
}
WITHHELD = "`…`"
"""Stands in place of a quotation."""


def _known() -> frozenset[str]:
    properties = {name for site in SITES for name in (*site.always_present(NEXT), *site.sometimes_present())}
    kinds = {
        word
        for table in BY_NAME.values()
        for kind in table.values()
        for word in (kind.name, kind.canonical, kind.wit, *(n for f in kind.fields for n in (f.api, f.canonical) if n))
    }
    return _FIXED | properties | kinds | {site.slug for site in SITES}


_VOCABULARY = _known()


def without_values(finding: Finding, names: Iterable[str]) -> Finding:
    """The finding with every quotation left out that holds more than names and words of the platform.

    The document still shows the rest to whoever has it, at the place of the finding.

    Args:
        finding: of any family; others than `RETRY` are left as they are.
        names: of rules and environments, which may be told.
    """
    if not finding.code.startswith("RETRY"):
        return finding
    allowed = _VOCABULARY.union(names)

    def told(match: re.Match[str]) -> str:
        text = match[1]
        is_named = text in allowed or text.startswith("$") or all(w in allowed for w in _WORD.findall(text))
        return match[0] if is_named else WITHHELD

    return replace(
        finding,
        message=_QUOTED.sub(told, finding.message),
        help=_QUOTED.sub(told, finding.help),
        witness="",
        related=tuple(replace(r, message=_QUOTED.sub(told, r.message)) for r in finding.related),
    )
