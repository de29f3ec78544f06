"""HOST006: a star inside a key, store or table, where it is no wildcard. Page: literal_star.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants.resources import Resource, StoreKey, TableName
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant on a kv, blob or table name that holds a star besides other characters."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            part = _literal_star(entry.grant.target.resource) if entry.is_written else ""
            if part:
                effect = "covers" if entry.bound.is_positive else "denies"
                yield rule.finding(
                    f"the star in {shown(part)} is no wildcard: the grant {effect} only what is literally named so",
                    entry.placed.span,
                    help="write `*` alone for every one, or each name in full; there are no prefixes",
                )


def _literal_star(resource: Resource) -> str:
    """The part with a star that is a plain name, empty if there is none."""
    match resource:
        case StoreKey(store, key):
            if "*" in store and store != "*":
                return store
            return key if "*" in key and key not in ("*", "**") else ""
        case TableName(database, schema, table):
            return next((part for part in (database, schema, table) if "*" in part and part != "*"), "")
        case _:
            return ""


RULE = Rule("HOST006", "literal_star", Severity.WARNING, Confidence.LIKELY, check)
