"""Where the retries of every rule end, and of which sites each rule decides.

Source: retry 5.8, 5.9, 8.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.edition import Rules
from policyd.core.retry import Amount, Effective, Elapsed, LimitClass, Limits, NamedPolicy, Site
from policyd.core.retry.study import Study
from policyd.core.retry.together import Reach, reach_at
from policyd.findings import visible_lines
from policyd.report.durations import count_words, duration_words


@dataclass(frozen=True, slots=True)
class LimitsRow:
    """One rule.

    Attributes:
        rule: the rule.
        limits: over all sites where it decides; over any bag where it decides nowhere.
        sites: the slugs of the sites where it can decide.
    """

    rule: NamedPolicy
    limits: Limits
    sites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SiteRow:
    """One site: what its retries come to whichever rules take turns.

    Attributes:
        site: the place.
        reach: the rules that can decide, and the bound of all of them together.
    """

    site: Site
    reach: Reach


@dataclass(frozen=True, slots=True)
class LimitsTable:
    """The limits of a rule set."""

    rows: tuple[LimitsRow, ...]
    sites: tuple[SiteRow, ...]
    elapsed: Elapsed
    rules: Rules


def limits_table(effective: Sequence[Effective], rules: Rules) -> LimitsTable:
    """The limits per rule and per site.

    Args:
        effective: the rules in the order of selection.
        rules: the edition.
    """
    study = Study(tuple(e.rule for e in effective), rules)
    found = [SiteRow(site, reach_at(study, site)) for site in study.sites]
    rows = []
    for rule in study.policies:
        sites = tuple(row.site.slug for row in found if rule.name in row.reach.names)
        rows.append(LimitsRow(rule, study.limits_anywhere(rule), sites))
    return LimitsTable(tuple(rows), tuple(found), study.elapsed, rules)


def amount_words(amount: Amount, extra: int = 0) -> str:
    """A number, or what encloses it."""
    if amount.at_most is None:
        return "no end" if amount.exact else "unknown"
    return str(amount.at_most + extra) if amount.exact else f"at most {amount.at_most + extra}"


def total_words(limits: Limits) -> str:
    """The longest total wait."""
    amount = limits.total
    if limits.limit_class is LimitClass.DEGENERATE:
        return "0 s"
    if amount.at_most is None:
        return "no end" if amount.exact else "unknown"
    words = duration_words(amount.at_most)
    return words if amount.exact else f"at most {words}"


def limits_text(table: LimitsTable) -> str:
    """The table."""
    rows: list[tuple[str, ...]] = [("policy", "attempts", "total wait", "one wait", "bounded", "storm", "decides at")]
    for row in table.rows:
        limits = row.limits
        low, high = limits.delay_low_ns, limits.delay_high_ns
        wait = "-" if low is None or high is None else f"{duration_words(low)} to {duration_words(high)}"
        kind = limits.limit_class.value.replace("_", "-")
        rows.append(
            (
                row.rule.name,
                amount_words(limits.retries, 1),
                total_words(limits),
                wait,
                f"{limits.bounded.value} ({kind})",
                "yes" if limits.storm else "no",
                count_words(len(row.sites), "site") if row.sites else "nowhere",
            )
        )
    out = _aligned(rows)
    rows = [("site", "attempts", "rules that can decide")]
    for site in table.sites:
        names = ", ".join(site.reach.names) or "none"
        rows.append((site.site.slug, amount_words(site.reach.together, 1), names))
    out += ["", *_aligned(rows)]
    for site in table.sites:
        if site.reach.resets:
            pairs = ", ".join(f"`{a}` and `{b}`" for a, b in site.reach.resets[:3])
            out.append(f"note: at {site.site.slug} {pairs} start each other's count anew where they take turns")
    out.append(f"edition: {table.rules.label}; elapsed time: {table.elapsed.value}")
    return visible_lines(out)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def limits_json(table: LimitsTable) -> dict[str, object]:
    """The table on the wire; durations are decimal texts of nanoseconds."""
    return {
        "policies": [
            {"policy": row.rule.name, **one_limits_json(row.limits), "sites": list(row.sites)} for row in table.rows
        ],
        "sites": [
            {
                "site": row.site.slug,
                "rules": list(row.reach.names),
                "retries": _amount_json(row.reach.together),
                "resets": [list(pair) for pair in row.reach.resets],
            }
            for row in table.sites
        ],
        "edition": table.rules.edition.value,
        "switches": dict(table.rules.overrides),
    }


def _amount_json(amount: Amount) -> dict[str, object]:
    return {"max": amount.at_most, "exact": amount.exact}


def one_limits_json(limits: Limits) -> dict[str, object]:
    """The limits of one policy in the form of retry 5.8."""

    def text(ns: int | None) -> str | None:
        return None if ns is None else str(ns)

    return {
        "class": limits.limit_class.value,
        "bounded": limits.bounded.value,
        "by": [cause.value for cause in limits.causes],
        "retries": {**_amount_json(limits.retries), "minSimulated": limits.retries.at_least},
        "executionsMax": limits.executions_max,
        "delay": {"minNs": text(limits.delay_low_ns), "maxNs": text(limits.delay_high_ns)},
        "totalWait": {
            "supNs": text(limits.total.at_most),
            "exact": limits.total.exact,
            "infNs": text(limits.least_total_ns),
        },
        "timeHorizonNs": text(limits.horizon.at_most),
        "storm": limits.storm,
        "mode": "E" if limits.elapsed is Elapsed.REAL else "Z",
    }
