"""What a change of the rules changes, for a release that someone must sign off.

Source: retry 8.6, 8.7; interface (`retry diff`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from policyd.core.edition import Rules
from policyd.core.retry import Limits, NamedPolicy, PropertyValue, Site, effective_rules
from policyd.core.retry.difference import (
    Change,
    Changes,
    Difference,
    Kind,
    Outcome,
    after_deploying,
    difference_of,
)
from policyd.findings import visible_lines
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.retry_limits import amount_words, total_words
from policyd.usecases.retry_resolve import properties_json
from policyd.usecases.retry_sources import RetryEnvironment
from policyd.usecases.retry_stored import snapshot_words

TIMEOUT_MS = 250
"""For one question to the solver; past it a site stays open."""

MAX_QUESTIONS = 20
"""Questions of one difference; each further hundred rules count as one more."""

RULES_PER_QUESTION = 100

MAX_UNSETTLED = 3
"""After so many questions that the solver leaves open no more are put to it."""


@dataclass(frozen=True, slots=True)
class OpenSite:
    """A place where a change is not excluded.

    Attributes:
        site: where.
        witness: a call that fares otherwise in a way that is not listed; None where none is known.
    """

    site: Site
    witness: Mapping[str, PropertyValue] | None = None


@dataclass(frozen=True, slots=True)
class RetryDifference:
    """The answer.

    Attributes:
        changes: what changes.
        skipped: rules of the manifest that a deployment skips because the environment has their names.
        rules: the edition.
        open: sites where something else may change: only some values were tried, and the solver does not exclude more.
        sides: the snapshots that were compared, None for documents.
    """

    changes: Changes
    skipped: tuple[str, ...]
    rules: Rules
    open: tuple[OpenSite, ...] = ()
    sides: tuple[SnapshotInfo | None, SnapshotInfo | None] = (None, None)

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
    before: RetryEnvironment, after: RetryEnvironment, rules: Rules, *, deploys: bool = False
) -> RetryDifference:
    """What `after` changes against `before`.

    Args:
        before: an environment.
        after: another one; with `deploys` a manifest that is deployed onto the first.
        rules: the edition.
        deploys: whether existing names are skipped, as a deployment does.
    """
    skipped: tuple[str, ...] = ()
    there = after.rules
    if deploys:
        there, skipped = after_deploying(before.rules, there)
    old, new = (tuple(e.rule for e in effective_rules(some)) for some in (before.rules, there))
    changes = difference_of(old, new, rules)
    sides = (before.snapshot, after.snapshot)
    return RetryDifference(changes, skipped, rules, tuple(_open_sites(changes, old, new, rules)), sides)


def _open_sites(
    changes: Changes, old: Sequence[NamedPolicy], new: Sequence[NamedPolicy], rules: Rules
) -> Iterator[OpenSite]:
    """The sampled sites where the solver does not exclude another change; alike sites are asked about once."""
    if not changes.sampled:
        return
    # The solver is loaded only where it is needed.
    from policyd.solver.retry_differences import unseen_difference
    from policyd.solver.retry_questions import Exists, Impossible, Unsettled

    left, unsettled, known = MAX_QUESTIONS, 0, {}
    for site in changes.sampled:
        seen = frozenset((_end(d.before), _end(d.after)) for d in changes.differences if site in d.sites)
        key = (site.noun, site.resolver, site.verbs, site.always_present(rules), site.error_type, site.follows, seen)
        if key not in known:
            left -= 1 + (len(old) + len(new)) // RULES_PER_QUESTION
            is_asked = left >= 0 and unsettled < MAX_UNSETTLED
            known[key] = unseen_difference(site, rules, old, new, seen, TIMEOUT_MS) if is_asked else None
            unsettled += isinstance(known[key], Unsettled)
        match known[key]:
            case Impossible():
                continue
            case Exists(bag):
                yield OpenSite(site, bag)
            case _:
                yield OpenSite(site)


def _end(outcome: Outcome) -> tuple[str, str]:
    """An outcome as the solver names it."""
    name = outcome.rule.name if outcome.rule is not None else ""
    return ("rule" if outcome.kind is Kind.DEFAULT else outcome.kind.value), name


def difference_text(difference: RetryDifference) -> str:
    """The answer in words."""
    changes = difference.changes
    out = [
        f"{word}: {snapshot_words(info)}"
        for word, info in zip(("before", "after"), difference.sides, strict=True)
        if info is not None
    ]
    for d in changes.differences:
        out += _lines(d)
    if not changes.differences and not difference.open:
        out.append("nothing changes for any call")
    elif not changes.differences:
        out.append("no call was found for which something changes")
    for title, listed in (("added", changes.added), ("removed", changes.removed), ("edited", changes.edited)):
        if listed:
            out.append(f"{title}: {', '.join(f'`{n}`' for n in listed)}")
    if changes.latent:
        out.append(f"of these decide nowhere, before or after: {', '.join(f'`{n}`' for n in changes.latent)}")
    out += [f"new tie: `{one}` and `{other}` share a priority" for one, other in changes.new_ties]
    if difference.skipped:
        names = ", ".join(f"`{n}`" for n in difference.skipped)
        out.append(f"skipped, because the environment already has the name: {names}")
    out += _open_lines(difference.open)
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


def _open_lines(open: Sequence[OpenSite]) -> list[str]:
    if not open:
        return []
    out = [f"undecided: by sampled values only, more may change at {', '.join(o.site.slug for o in open)}"]
    for each in open:
        if each.witness is not None:
            said = ", ".join(f"{name} = {value}" for name, value in properties_json(each.witness).items())
            out.append(f"  such as at {each.site.slug}: {said}")
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
        "undecided": [
            {
                "site": open.site.slug,
                "witness": None if open.witness is None else properties_json(open.witness),
            }
            for open in difference.open
        ],
        "old": _side_json(difference.sides[0]),
        "new": _side_json(difference.sides[1]),
        "edition": difference.rules.edition.value,
        "switches": dict(difference.rules.overrides),
    }


def _side_json(info: SnapshotInfo | None) -> dict[str, object] | None:
    if info is None:
        return None
    return {
        "snapshot": f"@{info.number}",
        "environment": info.label,
        "revision": info.revision,
        "digest": info.digest,
    }


def _retries(limits: Limits | None) -> int | None:
    return 0 if limits is None else limits.retries.at_most


LEVELS = ("new-access", "lost-access", "any")
__all__ = ["LEVELS", "Change", "RetryDifference", "compare_rules", "difference_json", "difference_text"]
