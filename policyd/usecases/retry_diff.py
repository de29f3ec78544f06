"""What a change of the rules changes, for a release that someone must sign off.

Source: retry 8.6, 8.7; interface (`retry diff`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.edition import Rules
from policyd.core.retry import Limits, NamedPolicy, effective_rules
from policyd.core.retry.difference import Change, Changes, Difference, after_deploying, difference_of
from policyd.findings import visible_lines
from policyd.usecases.retry_limits import amount_words, total_words
from policyd.usecases.retry_resolve import properties_json


@dataclass(frozen=True, slots=True)
class RetryDifference:
    """The answer.

    Attributes:
        changes: what changes.
        skipped: rules of the manifest that a deployment skips because the environment has their names.
        rules: the edition.
    """

    changes: Changes
    skipped: tuple[str, ...]
    rules: Rules

    def fails(self, level: str) -> bool:
        """Whether something changed that `--fail-on` names.

        Args:
            level: `new-access` for more retries, `lost-access` for fewer, `any`.
        """
        found = [change for d in self.changes.differences if d.is_behavioural for change in d.changes]
        match level:
            case "any":
                return bool(found)
            case "lost-access":
                return any(change.allows_less for change in found)
            case _:
                return any(change.allows_more for change in found)


def compare_rules(
    before: Sequence[NamedPolicy], after: Sequence[NamedPolicy], rules: Rules, *, deploys: bool = False
) -> RetryDifference:
    """What `after` changes against `before`.

    Args:
        before: the rules of an environment, without the built-in one.
        after: other rules; with `deploys` those of a manifest that is deployed onto the environment.
        rules: the edition.
        deploys: whether existing names are skipped, as a deployment does.
    """
    skipped: tuple[str, ...] = ()
    if deploys:
        after, skipped = after_deploying(before, after)
    old, new = (tuple(e.rule for e in effective_rules(some)) for some in (before, after))
    return RetryDifference(difference_of(old, new, rules), skipped, rules)


def difference_text(difference: RetryDifference) -> str:
    """The answer in words."""
    changes = difference.changes
    out: list[str] = []
    for d in changes.differences:
        out += _lines(d)
    if not changes.differences:
        out.append("nothing changes for any call")
    for title, listed in (("added", changes.added), ("removed", changes.removed), ("edited", changes.edited)):
        if listed:
            out.append(f"{title}: {', '.join(f'`{n}`' for n in listed)}")
    if changes.latent:
        out.append(f"of these decide nowhere, before or after: {', '.join(f'`{n}`' for n in changes.latent)}")
    out += [f"new tie: `{one}` and `{other}` share a priority" for one, other in changes.new_ties]
    if difference.skipped:
        names = ", ".join(f"`{n}`" for n in difference.skipped)
        out.append(f"skipped, because the environment already has the name: {names}")
    out.append(f"edition: {difference.rules.label}")
    return visible_lines(out)


def _lines(d: Difference) -> list[str]:
    sites = ", ".join(site.slug for site in d.sites)
    words = ", ".join(change.value for change in d.changes)
    out = [
        f"{d.before.words} -> {d.after.words}: {words}",
        f"  at {sites}",
        f"  for {d.region.words}",
    ]
    if d.is_behavioural:
        out.append(f"  {_limits(d.limits_before)} -> {_limits(d.limits_after)}")
    if d.in_flight is not None:
        out.append(f"  of a sequence already running {d.in_flight.value}")
    if not d.is_certain:
        out.append("  by sampled values: other calls may be affected as well")
    return out


def _limits(limits: Limits | None) -> str:
    if limits is None:
        return "no retry"
    return f"{amount_words(limits.retries, 1)} attempts, {total_words(limits)}"


def difference_json(difference: RetryDifference) -> dict[str, object]:
    """The answer on the wire."""
    changes = difference.changes
    return {
        "differences": [
            {
                "sites": [site.slug for site in d.sites],
                "before": {"kind": d.before.kind.value, "rule": d.before.rule.name if d.before.rule else None},
                "after": {"kind": d.after.kind.value, "rule": d.after.rule.name if d.after.rule else None},
                "changes": [change.value for change in d.changes],
                "region": dict(d.region.parts),
                "witness": properties_json(d.witness),
                "retriesBefore": _retries(d.limits_before),
                "retriesAfter": _retries(d.limits_after),
                "inFlight": d.in_flight.name.lower() if d.in_flight else None,
                "confidence": "proved" if d.is_certain else "sampled",
            }
            for d in changes.differences
        ],
        "added": list(changes.added),
        "removed": list(changes.removed),
        "edited": list(changes.edited),
        "latent": list(changes.latent),
        "newTies": [list(pair) for pair in changes.new_ties],
        "skipped": list(difference.skipped),
        "edition": difference.rules.edition.value,
        "switches": dict(difference.rules.overrides),
    }


def _retries(limits: Limits | None) -> int | None:
    return 0 if limits is None else limits.retries.at_most


LEVELS = ("new-access", "lost-access", "any")
__all__ = ["LEVELS", "Change", "RetryDifference", "compare_rules", "difference_json", "difference_text"]
